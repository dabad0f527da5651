#!/bin/bash
# On a machine with a GPU: the whole suite on the device and on the CPU, against the same float64 references; the
# reduction's tests under compute-sanitizer where that is installed; then measurements beside a copy, and beside
# PyTorch where .venv has one for CUDA. Further arguments go to gpu.py.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v nvidia-smi >/dev/null || { echo "gpu-check: no NVIDIA driver on this machine (nvidia-smi is missing)"; exit 1; }
echo "== $(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
BNAPI_TEST_DEVICE=all tools/run_tests.sh cuda
if command -v compute-sanitizer >/dev/null; then
  BNAPI_PRESET=cuda BNAPI_TEST_DEVICE=cuda compute-sanitizer --error-exitcode 1 --target-processes all \
    python -m pytest -q -x tests/python/test_reduce_backward.py
fi
echo "== Measurements: build/gpu.md"
PYTHONPATH=build/cuda/python python benchmarks/gpu.py --output build/gpu.md "$@"
