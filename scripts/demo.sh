#!/usr/bin/env bash
# Installs what is missing, builds the examples and shows them. Works from a fresh Debian 12 or Ubuntu 24.04.
#   scripts/demo.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh

echo "== Packages: a compiler, CMake, Ninja and the libraries of the examples"
need_packages g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

echo "== Build: the examples, in build/demo"
cmake -S . -B build/demo -G Ninja -DKVBUDGET_BUILD_TESTS=OFF # not optimised: ready in half the time
cmake --build build/demo -j "$(nproc)"

# Prints a command, then runs it.
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}
kvbudget=build/demo/examples/kvbudget
model=(--model llama-3.1-70b --weights fp8_e4m3 --kv-cache-dtype fp8 --context 32768 --sequences 1)
picture=build/llama-3.1-70b.svg

show build/demo/examples/article_144gb
show "$kvbudget" estimate "${model[@]}" --gpu nvidia-h100-sxm-80gbx2
show "$kvbudget" estimate "${model[@]}" --gpu nvidia-h100-sxm-80gbx2 --svg "$picture" >/dev/null
[ -s "$picture" ]
printf '\nThe same estimate as a picture: %s\n' "$PWD/$picture"
