#!/usr/bin/env bash
# Installs what is missing, builds kvbudget and runs its tests. Works from a fresh Debian 12 or Ubuntu 24.04.
#   scripts/test.sh [PRESET]        gcc (default), gcc-asan, clang-14, clang-19, libcxx, release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh

preset=${1:-gcc}
case $preset in
  gcc | gcc-asan) compiler=(g++) ;;
  clang-14 | clang-19) compiler=("$preset" g++) ;; # g++ brings the standard library
  libcxx) compiler=(clang-14 libc++-14-dev libc++abi-14-dev) ;;
  release) compiler=(g++ libbenchmark-dev) ;;
  *)
    echo "No preset $preset; there are gcc, gcc-asan, clang-14, clang-19, libcxx and release." >&2
    exit 2
    ;;
esac

echo "== Packages: a compiler (${compiler[*]}), CMake, Ninja and the libraries of the tests"
need_packages "${compiler[@]}" cmake ninja-build pkg-config catch2 libfmt-dev nlohmann-json3-dev libcli11-dev
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

echo "== Configure: build/$preset"
cmake --preset "$preset"
echo "== Build"
cmake --build --preset "$preset" -j "$(nproc)"
echo "== Test"
ctest --preset "$preset" -j "$(nproc)"
