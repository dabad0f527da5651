"""Contiguous images of few pixels, the rows of whose channels follow each other in memory: vectors hold
elements of two channels there, and none of the ends falls on a vector's.
"""

from __future__ import annotations

import numpy as np
import pytest
from devices import TestDevice
from family import DTYPES, F32, F64, WAYS, Inputs, parameter_dtype
from layouts import LAYOUTS
from test_family import run_and_compare

# Each map, with and without its variants.
NAMES = (
    "BatchNorm-train",
    "BatchNorm-eval",
    "BatchNormAct-train_relu_residual",
    "BatchNormElemt-all",
    "BatchNormBackward-train",
    "BatchNormBackward-eval",
    "BatchNormActBackward-train_relu",
    "BatchNormElemtBackward-all",
)
MAPS = [way for way in WAYS if str(way) in NAMES]
# Around a vector, a pair of them, and the lengths where rows are mapped one by one.
LENGTHS = (8, 15, 16, 17, 31, 32, 33, 49, 63, 64, 65, 196, 255, 257, 511, 513, 1025)


@pytest.fixture
def cpu():
    with TestDevice.of_type("cpu") as device:
        yield device


def test_the_ways_are_known():
    assert len(MAPS) == len(NAMES)


@pytest.mark.parametrize("layout", ["contiguous", "unaligned_start", "row_gapped"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", MAPS, ids=str)
def test_row_lengths(cpu, way, dtype, layout):
    kind = DTYPES[dtype]
    for length in LENGTHS:
        shape = (2, 11, 1, length)
        run_and_compare(cpu, way, way.make(Inputs(shape, kind, parameter_dtype(kind))), LAYOUTS[layout])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", MAPS, ids=str)
def test_blocks_of_channels(cpu, way, dtype):
    """One channel, two, and more than are mapped together, in several samples."""
    kind = DTYPES[dtype]
    for channels in (1, 2, 64, 131):
        shape = (3, channels, 7, 7)
        example = way.make(Inputs(shape, kind, parameter_dtype(kind)))
        run_and_compare(cpu, way, example, LAYOUTS["contiguous"])


@pytest.mark.parametrize("layout", ["contiguous", "unaligned_start"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", MAPS, ids=str)
def test_outputs_past_the_caches(cpu, way, dtype, layout):
    """More than 4 MB of outputs, in runs of several rows."""
    kind = DTYPES[dtype]
    shape = ((4 << 20) // kind.itemsize // (49 * 515) + 1, 515, 7, 7)
    run_and_compare(cpu, way, way.make(Inputs(shape, kind, parameter_dtype(kind))), LAYOUTS[layout])


@pytest.mark.parametrize("way", [way for way in MAPS if way.operator == "BatchNormElemt"], ids=str)
def test_a_channel_that_float32_coefficients_cannot_serve(cpu, way):
    """Among others that they can: its scale is above the largest float32."""
    example = way.make(Inputs((2, 11, 7, 7), F32, F64))
    example.others["invstd"] = np.full(11, 1.0)
    example.others["invstd"][5] = 2.0**120
    example.others["weight"][5] = 2.0**20
    example.data["input"][:, 5] = 2.0**-60 * example.data["input"][:, 5]
    example.others["mean"][5] = 0.0
    run_and_compare(cpu, way, example, LAYOUTS["contiguous"])
