#!/bin/bash
# Runs all tests of one preset's build: the C programs by ctest, then pytest. Further arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
build=build/$preset
status=0

export BNAPI_PRESET=$preset
# Reports of a sanitizer end the program that they concern. Absurd sizes are asked for on purpose.
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1:second_deadlock_stack=1
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:strict_string_checks=1:detect_stack_use_after_return=1:check_initialization_order=1

if [ "$preset" = simt-asan ]; then
  # A kernel's thread would get a stack beside its stack each time: seven times slower.
  ASAN_OPTIONS=$ASAN_OPTIONS:detect_stack_use_after_return=0
fi

if [ -f "$build/CTestTestfile.cmake" ]; then
  echo "== C and C++ tests ($preset)"
  ctest --test-dir "$build" --output-on-failure --no-tests=ignore || status=$?
fi

# Python itself is not instrumented: the sanitizer's run-time library has to be there before the module is, and
# the C++ library with it, so that exceptions are seen. Python leaks on purpose at exit.
preload=
tests=()
case $preset in
  asan | simt-asan)
    preload="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    ;;
  simt) export BNAPI_TEST_DEVICE=${BNAPI_TEST_DEVICE:-all} ;;
  tsan)
    preload="$(g++ -print-file-name=libtsan.so) $(g++ -print-file-name=libstdc++.so)"
    TSAN_OPTIONS="$TSAN_OPTIONS:suppressions='$PWD/tools/tsan.suppressions'"
    ;;
esac
if [ "$preset" = simt-asan ]; then
  # The operators on the emulated device; the CPU and the rest have the preset asan.
  export BNAPI_TEST_DEVICE=${BNAPI_TEST_DEVICE:-cuda}
  tests=(tests/python/test_{reduce_backward,family,cuda_streams,cuda_graphs,cupy}.py)
fi

echo "== Python tests ($preset)"
env ${preload:+LD_PRELOAD="$preload"} python -m pytest -n auto --dist worksteal "${tests[@]}" "$@" || status=$?
exit $status
