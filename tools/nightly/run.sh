#!/bin/bash
# What takes too long, or needs too much, for every change: other processors, the big cases, a fresh machine, the
# wheel. Needs root for apt-get and debootstrap.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/steps.sh
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1
exec </dev/null

packages="g++-aarch64-linux-gnu qemu-user debootstrap pkg-config binutils"
machine() {
  # shellcheck disable=SC2086 # a list of words
  dpkg -s $packages >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages; }
}

# A CPU without AVX. Python and NumPy run there too, so the same tests do; those that start compilers do not.
nehalem() {
  local cpu="qemu-x86_64 -cpu Nehalem .venv/bin/python" isa
  export PATH=$PWD/.venv/bin:$PATH  # tests start CMake
  # The first entry of the path is the working directory, whose package has no module.
  isa=$(PYTHONPATH=build/dev/python $cpu -c "import sys; sys.path.pop(0); import pybn_api; print(pybn_api.isa())")
  echo "instruction set in use on a Nehalem: $isa"
  [ "$isa" = baseline ] && $cpu -m pytest -q -p no:xdist -p no:cacheprovider tests/python \
    --ignore-glob='*test_headers.py' --ignore-glob='*test_install.py' --ignore-glob='*test_prerequisites.py' \
    --ignore-glob='*test_symbols.py' --ignore-glob='*test_isa_leak.py' \
    --ignore-glob='*test_ascend_headers.py' --ignore-glob='*test_ascend_programs.py'
}

aarch64() {
  export PATH=$PWD/.venv/bin:$PATH  # CMake finds Ninja there
  cmake --preset aarch64 && cmake --build --preset aarch64 && ctest --test-dir build/aarch64 --output-on-failure
}

big_cases() {
  make build && BNAPI_NIGHTLY=1 .venv/bin/python -m pytest -q tests/python -m nightly
}

# New examples, many of them.
fuzz() {
  BNAPI_FUZZ_EXAMPLES=20000 .venv/bin/python -m pytest -q tests/python/test_fuzz.py
}

wheel() {
  make wheel CUDA=off && make wheel-test && tools/nightly/manylinux_wheel.sh &&
    BNAPI_WHEELS=dist/manylinux .venv/bin/python -m pytest -q tests/wheel
}

# The emulated device with threads and blocks in other orders than usual; the random ones are others every day.
schedules() {
  local schedule status=0
  for schedule in reversed "random:$(date +%j)" "random:$(date +%Y%j)"; do
    echo "== schedule $schedule"
    BNAPI_SIMT_SCHEDULE=$schedule BNAPI_TEST_DEVICE=cuda make simt PYTEST_ARGS=-q || status=1
  done
  return $status
}

# Array libraries that are too large for every machine's tests.
jax() {
  python3 -m venv build/jax && build/jax/bin/pip install -q jax cffi -r tools/requirements/test.txt &&
    build/jax/bin/python -m pytest -q -p no:cacheprovider tests/python/test_arrays.py tests/python/test_dlpack.py
}

export packages
export -f machine nehalem aarch64 big_cases fuzz schedules wheel jax

step 600 "machine" machine
step 1800 "make test" make test
step 3600 "no AVX: qemu, Nehalem" nehalem
step 1800 "AArch64: cross compiler, qemu" aarch64
step 3600 "big cases" big_cases
step 1800 "fuzz" fuzz
step 1800 "thread sanitizer" make tsan
step 3600 "emulated GPU, other schedules" schedules
step 3600 "emulated GPU, sanitizers" make simt-asan
step 900 "arrays of JAX" jax
step 600 "documentation" make docs
if command -v nvcc >/dev/null; then
  step 3600 "CUDA, all architectures" make cuda
  step 3600 "CUDA: traffic, registers, spills" make cuda-report
fi
step 1800 "wheel, manylinux_2_28" wheel
step 3600 "fresh Debian" tests/fresh/run.sh

steps_end
