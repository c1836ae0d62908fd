#!/usr/bin/env bash
# What including and using kvbudget costs the compiler, next to things everyone knows, as a Markdown table.
# The runs are interleaved, so a busy moment hits all rows alike.
#   benchmarks/compile_time.sh [RUNS]                 15 by default
#   COMPILERS="g++ clang++-14" FLAGS=-fsyntax-only    what is run
#
# The rows of 1,000 estimates and allocations come from thousand_*.cpp.in: the lines between `// @repeat` and
# `// @end` are written 1,000 times with @N@ replaced by 0 to 999.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
runs=${1:-15}
read -r -a compilers <<<"${COMPILERS:-g++ clang++-14}"
read -r -a flags <<<"${FLAGS:--fsyntax-only}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names=(empty array)
: >"$work/empty.cpp"
echo '#include <array>' >"$work/array.cpp"
declare -A title=([empty]='empty file' [array]='`#include <array>`' [umbrella]='`#include "kvbudget/kvbudget.hpp"`'
  [estimates]='1,000 estimates' [allocations]='1,000 allocations of vLLM')
if [ -e "$root/include/kvbudget/kvbudget.hpp" ]; then
  echo '#include "kvbudget/kvbudget.hpp"' >"$work/umbrella.cpp"
  names+=(umbrella)
fi
for what in estimates allocations; do
  [ -e "$root/benchmarks/thousand_$what.cpp.in" ] || continue
  awk '
    /^[ \t]*\/\/ @repeat/ { inside = 1; count = 0; next }
    /^[ \t]*\/\/ @end/    { inside = 0
                            for (n = 0; n < 1000; ++n)
                              for (i = 0; i < count; ++i) { text = line[i]; gsub(/@N@/, n, text); print text }
                            next }
    inside                { line[count++] = $0; next }
                          { print }' "$root/benchmarks/thousand_$what.cpp.in" >"$work/$what.cpp"
  names+=("$what")
done

for compiler in "${compilers[@]}"; do
  if ! command -v "$compiler" >/dev/null; then
    echo "$compiler is not installed" >&2
    continue
  fi
  for name in "${names[@]}"; do : >"$work/$name.times"; done
  for ((run = 0; run <= runs; ++run)); do # the first one only warms the file cache
    for name in "${names[@]}"; do
      start=${EPOCHREALTIME/[.,]/}
      "$compiler" -std=c++20 "${flags[@]}" -I "$root/include" "$work/$name.cpp"
      if ((run > 0)); then echo $((${EPOCHREALTIME/[.,]/} - start)) >>"$work/$name.times"; fi
    done
  done

  printf '\n%s, `%s`, %d interleaved runs\n\n' "$("$compiler" --version | head -n 1)" "${flags[*]}" "$runs"
  echo '| translation unit | min ms | median ms | min over the empty file, ms | of what `<array>` adds |'
  echo '|---|---:|---:|---:|---:|'
  for name in "${names[@]}"; do
    sort -n "$work/$name.times" | awk -v name="$name" '
      { t[NR] = $1 / 1000 }
      END { print name, t[1], NR % 2 ? t[(NR + 1) / 2] : (t[NR / 2] + t[NR / 2 + 1]) / 2 }'
  done | while read -r name min median; do
    [ "$name" = empty ] && empty=$min
    [ "$name" = array ] && array=$min
    awk -v title="${title[$name]}" -v min="$min" -v median="$median" -v empty="$empty" -v array="${array:-0}" 'BEGIN {
      share = array > empty ? sprintf("%.2f ×", (min - empty) / (array - empty)) : "–"
      printf "| %s | %.1f | %.1f | %.1f | %s |\n", title, min, median, min - empty, share }'
  done
done
