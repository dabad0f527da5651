"""CUDA kernels that run several stages: when they are taken, and that they give the bits of separate ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from devices import TestDevice
from family import F16, F32, F64, WAYS, Inputs, Way, parameter_dtype
from layouts import LAYOUTS
from test_determinism import bits
from test_family import run_and_compare

ALL = "reduce + finalize + map"
# Shape, dtype, layout: rows that share a block; a block for each channel; splits inside the block, whole
# vectors and single elements; more shared memory than kernels usually have; columns in the same ways.
FUSED = {
    "short rows": ((4, 33, 7, 7), F32, "contiguous"),
    "vectors": ((8, 5, 16, 16), F16, "contiguous"),
    "long rows": ((2, 3, 1000), F64, "contiguous"),
    "split rows": ((1, 64, 4099), F16, "contiguous"),
    "split vectors": ((1, 64, 26000), F32, "contiguous"),
    "much memory": ((1, 64, 14003), F32, "contiguous"),
    "columns": ((37, 24, 5), F32, "channels_last"),
    "narrow columns": ((64, 64, 7, 3), F16, "channels_last"),
    "odd columns": ((9, 67, 5), F64, "channels_last"),
    "split columns": ((1100, 512, 2), F32, "channels_last"),
    "misaligned": ((3, 8, 64), F32, "unaligned_start"),
    "strided": ((3, 8, 60), F32, "gapped"),
}
# Cases that a block with 99 KB, as of sm_86, sm_89 and sm_120, has no room for, and those in which it has
# none for two tensors: the backward operators in training keep two.
TOO_LARGE = ("split vectors",)
TOO_LARGE_FOR_TWO = (*TOO_LARGE, "much memory", "split columns")
OPERATORS = (
    "BatchNorm-train",
    "BatchNormBackward-train",
    "BatchNormBackward-eval",
    "BatchNormActBackward-train_relu",
)
CASES = [(way, case) for way in WAYS if str(way) in OPERATORS for case in FUSED]


def too_large(way: Way, case: str) -> bool:
    two = "Backward" in way.operator and not str(way).endswith("eval")
    return case in (TOO_LARGE_FOR_TWO if two else TOO_LARGE)


# What else runs in fewer kernels.
FEWER = {
    "BatchNormStats-all": "reduce + finalize",
    "BatchNormReduce-nchw": "reduce + finalize",
    "BatchNormReduceBackward-all": "reduce + finalize",
    "BatchNormBackward-train_parameters": "reduce + finalize",
    "BatchNorm-eval": "finalize + map",
    "BatchNormElemt-all": "finalize + map",
    "BatchNormElemtBackward-all": "finalize + map",
    "QuantizedBatchNorm-int8": "finalize + map",
}


@pytest.fixture(autouse=True)
def on_emulated_device():
    TestDevice.of_type("cuda")


@pytest.mark.parametrize(("way", "case"), CASES, ids=str)
def test_against_the_oracle(way, case):
    shape, dtype, layout = FUSED[case]
    with TestDevice.of_type("cuda") as device:
        run_and_compare(device, way, way.make(Inputs(shape, dtype, parameter_dtype(dtype))), LAYOUTS[layout])


def calls() -> Iterator[tuple[Way, tuple[int, ...], np.dtype, str, str]]:
    """Way, shape, dtype and layout of each call, and its kernels."""
    for way, case in CASES:
        yield way, *FUSED[case], ALL
    for way in WAYS:
        if str(way) in FEWER:
            for dtype in way.dtypes:
                yield way, (4, 6, 5, 7), dtype, "contiguous", FEWER[str(way)]


def main() -> None:
    """For a process of its own: makes every call and prints the bits of its outputs."""
    with TestDevice.of_type("cuda") as device:
        for way, shape, dtype, layout, _ in calls():
            print(way, shape, dtype, layout, bits(device, way, shape, dtype, layout), flush=True)


def run_all(**environment: str) -> tuple[list[str], list[str]]:
    """The lines of `main`, and the kernels of each call."""
    program = "import sys; sys.path.insert(0, sys.argv[1])\nimport test_fused; test_fused.main()"
    result = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent)],
        env={**os.environ, "BNAPI_VERBOSE": "1", **environment},
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    kernels = re.findall(r"^bn_api: .* strides \S+ [a-z_ ]+, (.*) cuda \(", result.stderr, re.M)
    lines = result.stdout.splitlines()
    assert len(kernels) == len(lines)
    return lines, kernels


def test_kernels_and_bits():
    fused, kernels = run_all()
    expected = [stages for *_, stages in calls()]
    assert list(zip(fused, kernels, strict=True)) == list(zip(fused, expected, strict=True))
    separate, kernels = run_all(BNAPI_CUDA_FUSE="0")
    assert fused == separate
    assert not any("+" in stages for stages in kernels)
    smaller, kernels = run_all(BNAPI_SIMT_SHARED="99")
    assert fused == smaller
    expected = ["reduce, finalize, map" if too_large(way, case) else ALL for way, case in CASES]
    assert kernels[: len(CASES)] == expected
