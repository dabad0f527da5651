"""Any operator, any way to call it, on any shape, every tensor in a layout of its own, against the oracle.

The same examples every time; BNAPI_FUZZ_EXAMPLES sets how many, and then they are new ones (nightly run).
"""

from __future__ import annotations

import math
import os
from typing import Any

import driver
import numpy as np
import oracle_family
from family import BF16, F16, F32, F64, WAYS, Inputs, Way
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layouts import Guarded, Layout, broadcast

EXAMPLES = os.environ.get("BNAPI_FUZZ_EXAMPLES")
MOST_ELEMENTS = 6000
# Operators that want parameters of the data's dtype or float32.
STRICT = {"BatchNormBackward", "BatchNormActBackward"}


def layouts(rank: int) -> st.SearchStrategy[Layout]:
    """Axes in memory in any order, each forwards or backwards, with gaps of 0 to 2 elements, anywhere."""
    return st.builds(
        _layout,
        st.permutations(range(rank)),
        st.lists(st.booleans(), min_size=rank, max_size=rank),
        st.lists(st.sampled_from([1, 1, 1, 2, 3]), min_size=rank, max_size=rank),
        st.integers(0, 3),
    )


def _layout(order: list[int], backwards: list[bool], steps: list[int], start: int) -> Layout:
    def lay(array: np.ndarray) -> np.ndarray:
        extents = [array.shape[axis] * steps[axis] for axis in order]
        memory = np.full(math.prod(extents) + start, _poison(array.dtype), array.dtype)
        view = memory[start:].reshape(extents).transpose(np.argsort(order))
        view = view[
            tuple(
                slice(None, None, -step if back else step)
                for step, back in zip(steps, backwards, strict=True)
            )
        ]
        view[...] = array
        return view

    return lay


def _poison(dtype: np.dtype) -> float:
    return np.nan if dtype.kind == "f" or dtype == BF16 else 77


@st.composite
def shapes(draw: st.DrawFn, rank: int | None) -> tuple[int, ...]:
    """Mostly odd extents and vector boundaries; at most MOST_ELEMENTS."""
    count = rank or draw(st.integers(2, 8))
    extents = st.sampled_from([1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 49, 64, 65, 100, 257])
    shape = [draw(extents)]
    for _ in range(count - 1):
        shape.append(draw(extents.filter(lambda n: n * math.prod(shape) <= MOST_ELEMENTS)))
    return tuple(draw(st.permutations(shape)))


@st.composite
def calls(draw: st.DrawFn) -> tuple[Way, dict[str, Any], Any]:
    way = draw(st.sampled_from(WAYS))
    dtype = draw(st.sampled_from(way.dtypes))
    parameters = [dtype, F32] if way.operator in STRICT else [F32, F16, BF16, F64]
    example = way.make(
        Inputs(
            draw(shapes(way.rank)),
            dtype,
            draw(st.sampled_from(parameters)),
            seed=draw(st.integers(0, 999)),
            shift=draw(st.sampled_from([0.5, 0.5, 100])),
        )
    )
    for name, array in example.data.items():
        axis = draw(st.integers(-3 * array.ndim, array.ndim - 1))
        if axis >= 0 and array.dtype.kind != "i":  # stride 0 now and then
            example.data[name] = broadcast(array, axis)
    tensors: dict[str, Any] = {}
    for name, array in example.inputs().items():
        kept = array is None or 0 in getattr(array, "strides", ())
        tensors[name] = array if kept else draw(layouts(array.ndim))(array)
    for name, (shape, kind) in example.outputs.items():
        tensors[name] = Guarded(shape, kind, draw(layouts(len(shape))))
    for name, array in example.updated.items():
        tensors[name] = Guarded(array.shape, array.dtype, draw(layouts(array.ndim))).fill(array)
    return way, tensors, example


@settings(
    max_examples=int(EXAMPLES or 300),
    derandomize=EXAMPLES is None,
    deadline=None,
    # The device is only current on this thread; examples do not change it.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(call=calls())
def test_against_the_oracle(device, call):
    way, tensors, example = call
    expected = oracle_family.expected(way.operator, example.inputs(), example.attributes, example.format)
    driver.run(device, way.operator, tensors, example.attributes, format=example.format)
    for name in (*example.outputs, *example.updated):
        expected[name].check(tensors[name].view, f"{way} {name} {tensors[name].view.shape}")
