"""The order in which the emulated device runs threads and blocks makes no difference to any bit.

What one thread reads of another's without a barrier between, or one block of another's, differs from order to
order. tools/nightly/run.sh runs the whole suite in other orders; this is a sample of every operator.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

import cuda_runtime
import driver
import numpy as np
import pytest
from family import BF16, F16, F32, F64, WAYS, Inputs, Way, parameter_dtype
from layouts import LAYOUTS

SCHEDULES = ("order", "reversed", "random:1", "random:2")
LAYOUT_PAIRS = [(name, name) for name in LAYOUTS] + [("contiguous", "channels_last"), ("negative", "gapped")]
# Odd planes, and many short ones.
SHAPES = {4: ((3, 7, 5, 9), (4, 70, 2, 2)), 5: ((3, 6, 2, 3, 5),)}
# Whole vectors, and several blocks for a channel: in the dense layouts only, for the sake of time.
LARGE = (2, 5, 64, 72)
DTYPE_OF_LAYOUT = (F32, F16, BF16, F64)


@pytest.fixture
def emulator(device) -> Iterator[ctypes.CDLL]:
    library = None if device.is_cpu else cuda_runtime.emulator()
    if library is None:
        pytest.skip("needs the emulated device")
    yield library
    library.bn_simt_set_schedule(os.environ.get("BNAPI_SIMT_SCHEDULE", "order").encode())


def bits(device, way: Way, shape: tuple[int, ...], index: int) -> bytes:
    """Every bit of the results of one call, in the layouts of a number."""
    first, second = (LAYOUTS[name] for name in LAYOUT_PAIRS[index])
    dtype = DTYPE_OF_LAYOUT[index % 4]
    if dtype not in way.dtypes:
        dtype = way.dtypes[0]
    example = way.make(Inputs(shape, dtype, parameter_dtype(dtype)))
    tensors = example.laid_out(first, second)
    driver.run(device, way.operator, tensors, example.attributes, format=example.format)
    results = (tensors[name].view for name in (*example.outputs, *example.updated))
    return b"".join(np.ascontiguousarray(result).tobytes() for result in results)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_other_schedules(device, emulator, way):
    for index, layouts in enumerate(LAYOUT_PAIRS):
        large = (LARGE,) if set(layouts) <= {"contiguous", "channels_last"} else ()
        for shape in (*SHAPES[way.rank or 4], *(large if way.rank in (None, 4) else ())):
            found = set()
            for schedule in SCHEDULES:
                assert emulator.bn_simt_set_schedule(schedule.encode())
                found.add(bits(device, way, shape, index))
            assert len(found) == 1, f"{shape} {layouts}"
