#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is needed, builds and runs all tests:
#   tests/run.sh            with gcc, as a user would build it
#   tests/run.sh --all      ... then clang, the sanitizers and portable code
#   tests/run.sh PRESET...  the given presets of CMakePresets.json
set -eu
cd "$(dirname "$0")/.."

tools/install-packages.sh build test

jobs=$(getconf _NPROCESSORS_ONLN)

# What a build says, only if it fails.
build() {
    log=$(mktemp)
    if ! cmake --build "$@" -j "$jobs" >"$log" 2>&1; then
        tail -n 60 "$log"
        rm -f "$log"
        exit 1
    fi
    tail -n 1 "$log"
    rm -f "$log"
}

# An address space layout that is too random for the shadow memory of
# ThreadSanitizer's older versions makes it stop at once.
run_preset() {
    preset=$1
    shift
    echo "== $preset"
    cmake --preset "$preset" >/dev/null
    build --preset "$preset"
    case $preset in
    tsan) setarch "$(uname -m)" -R ctest --preset "$preset" -j "$jobs" "$@" ;;
    *) ctest --preset "$preset" -j "$jobs" "$@" ;;
    esac
}

# What another compiler or other instructions could change.
library_tests='^(unit|property|format|fuzz)\.'

clang_build() {
    echo "== clang"
    cmake -S . -B build/clang -G Ninja -DCMAKE_C_COMPILER=clang \
        -DCMAKE_BUILD_TYPE=Release -DKSV_WERROR=ON \
        -DKSV_BUILD_TESTS=ON -DKSV_BUILD_BENCHMARKS=ON >/dev/null
    build build/clang
    ctest --test-dir build/clang --output-on-failure -j "$jobs" \
        -R "$library_tests"
}

case ${1:-} in
"") run_preset dev ;;
--all)
    # One organisation each; the sanitizers' builds have all.
    (export KSV_ORGANISATION=hash && run_preset scalar -R "$library_tests")
    (export KSV_ORGANISATION=sorted && clang_build)
    run_preset tsan
    run_preset asan-ubsan
    run_preset dev
    ;;
*) for preset in "$@"; do run_preset "$preset"; done ;;
esac
