"""Every operator, every way to call it, against the float64 oracle."""

from __future__ import annotations

import driver
import numpy as np
import oracle_family
import pytest
from family import BF16, DTYPES, F16, F32, F64, WAYS, Example, Inputs, Way, combinations, parameter_dtype
from layouts import LAYOUTS, Guarded, Layout

SHAPES = {
    "one_element": (1, 1),
    "one_channel": (5, 1, 7),
    "rank_2": (37, 13),
    "primes": (3, 5, 7, 11),
    "many_channels": (2, 521, 3),
    "long_channels": (2, 3, 4099),
    "planes_of_49": (4, 33, 7, 7),
    "whole_vectors": (4, 64, 16, 16),
    "rank_5": (2, 3, 2, 3, 5),
    "rank_8": (2, 3, 1, 2, 3, 1, 2, 5),
}
LAYOUT_PAIRS = [(name, name) for name in LAYOUTS] + [
    ("contiguous", "channels_last"),
    ("channels_last", "contiguous"),
    ("negative", "gapped"),
]
BY_DTYPE = list(combinations())
IDS = [f"{way}-{dtype}" for way, dtype in BY_DTYPE]


def run_and_compare(
    device, way: Way, example: Example, layout: Layout, other: Layout | None = None
) -> dict[str, Guarded]:
    tensors = example.laid_out(layout, other)
    expected = oracle_family.expected(way.operator, example.inputs(), example.attributes, example.format)
    driver.run(device, way.operator, tensors, example.attributes, format=example.format)
    results = {name: tensors[name] for name in (*example.outputs, *example.updated)}
    for name, output in results.items():
        expected[name].check(output.view, f"{name} {example.attributes}")
    return results


def _shape_for(way: Way, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    return shape if way.rank in (None, len(shape)) else None


@pytest.mark.parametrize("layouts", LAYOUT_PAIRS, ids="-".join)
@pytest.mark.parametrize(("way", "dtype"), BY_DTYPE, ids=IDS)
def test_layouts(device, way, dtype, layouts):
    kind = DTYPES[dtype]
    first, second = (LAYOUTS[name] for name in layouts)
    for shape in ((3, 5, 7, 11), (2, 36, 8, 5), (2, 17, 2, 3, 4)):
        if _shape_for(way, shape):
            run_and_compare(device, way, way.make(Inputs(shape, kind, parameter_dtype(kind))), first, second)


@pytest.mark.parametrize(("way", "dtype"), BY_DTYPE, ids=IDS)
def test_shapes(device, way, dtype):
    kind = DTYPES[dtype]
    for shape in SHAPES.values():
        if _shape_for(way, shape):
            for layout in ("contiguous", "channels_last"):
                run_and_compare(device, way, way.make(Inputs(shape, kind, kind)), LAYOUTS[layout])


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_parameter_dtypes(device, way):
    """Parameters and statistics of every dtype beside data of every dtype, where the operator takes the
    mix."""
    strict = way.operator in ("BatchNormBackward", "BatchNormActBackward")
    shape = (2, 6, 3, 2) if way.rank in (None, 4) else (2, 6, 1, 3, 2)
    for dtype in way.dtypes:
        for parameter in (F32, F16, BF16, F64):
            if strict and parameter not in (dtype, F32):
                continue
            run_and_compare(device, way, way.make(Inputs(shape, dtype, parameter)), LAYOUTS["contiguous"])


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_large_means(device, way):
    """Means far above the spread, up to 1e6 times: what is not centred first has no digits left."""
    shape = (4, 3, 17, 13) if way.rank in (None, 4) else (4, 3, 2, 9, 13)
    if way.operator in ("SyncBatchNormGatherStats", "QuantizedBatchNorm"):
        pytest.skip("takes no data, or bounded data")
    for shift in (1e2, 1e4, 1e6):
        for dtype in (F32, F64):
            for layout in ("contiguous", "channels_last"):
                example = way.make(Inputs(shape, dtype, F64 if dtype == F64 else F32, shift=shift))
                run_and_compare(device, way, example, LAYOUTS[layout])


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_special_values_stay_in_their_channel(device, way, special):
    shape = (3, 9, 4, 5) if way.rank in (None, 4) else (3, 9, 2, 2, 5)
    if way.operator in ("SyncBatchNormGatherStats", "QuantizedBatchNorm", "BatchNormGatherStatsWithCounts"):
        pytest.skip("reads no floating data")
    for dtype in (F32, F16):
        for layout in ("contiguous", "channels_last"):
            example = way.make(Inputs(shape, dtype))
            for index, array in enumerate(example.data.values()):
                where = [1, 1, 1, 1, 1][: array.ndim]
                where[-1 if example.format in ("NHWC", "NDHWC") else 1] = 2 + 3 * index
                array[tuple(where)] = special
            run_and_compare(device, way, example, LAYOUTS[layout])


@pytest.mark.parametrize("dtype", [F32, F64], ids=["f32", "f64"])
@pytest.mark.parametrize("operator", ["BatchNorm", "BatchNormStats", "BatchNormAct"])
def test_constant_channels_have_no_variance(device, operator, dtype):
    way = next(way for way in WAYS if way.operator == operator)
    for layout in ("contiguous", "channels_last", "gapped"):
        for shape in ((2, 6, 3, 3), (3, 6, 41, 37)):
            example = way.make(Inputs(shape, dtype, dtype))
            constants = np.array([100, -3, 0.1, 1234.5, 1e10, 1e-30]).reshape(1, 6, 1, 1)
            example.data["input"] = np.broadcast_to(constants, shape).astype(dtype)
            results = run_and_compare(device, way, example, LAYOUTS[layout])
            invstd = results["invstd" if operator == "BatchNormStats" else "save_invstd"].view
            exact = np.full(6, 1 / np.sqrt(example.attributes["eps"])).astype(dtype)
            np.testing.assert_array_equal(invstd, exact)


@pytest.mark.parametrize(
    ("way", "shape"),
    [
        (way, shape)
        for way in WAYS
        for shape in ((0, 3), (2, 3, 0), (0, 3, 2, 2), (2, 3, 0, 2))
        if way.rank in (None, len(shape))
    ],
    ids=lambda value: str(value),
)
def test_empty_batches(device, way, shape):
    if way.operator == "QuantizedBatchNorm":
        pytest.skip("refuses empty tensors")
    example = way.make(Inputs(shape, F32))
    run_and_compare(device, way, example, LAYOUTS["contiguous"])


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "gapped"])
def test_outputs_in_the_place_of_inputs(device, layout, training):
    """The aliases that are allowed: an output that is exactly the view of an input."""
    lay = LAYOUTS[layout]
    cases = {
        "BatchNorm-train" if training else "BatchNorm-eval": ("input", "output"),
        "BatchNormElemt-all": ("input", "output"),
        "BatchNormElemtBackward-all": ("grad_out", "grad_input"),
        "BatchNormBackward-train" if training else "BatchNormBackward-eval": ("input", "grad_input"),
        "FastBatchNormBackward-train": ("grad_out", "grad_input"),
        "BatchNormAct-train_relu_residual": ("residual", "output"),
        "QuantizedBatchNorm-int8": ("input", "output"),
    }
    for way in WAYS:
        if str(way) not in cases:
            continue
        source, target = cases[str(way)]
        for shape in ((3, 5, 7, 11), (4, 64, 16, 16)):
            example = way.make(Inputs(shape, F32))
            expected = oracle_family.expected(way.operator, example.inputs(), example.attributes)
            tensors = example.laid_out(lay)
            shared = Guarded(shape, example.data[source].dtype, lay).fill(example.data[source])
            tensors[source] = tensors[target] = shared
            if not device.is_cpu:
                tensors[source] = tensors[target] = device.put(shared.view)
            driver.run(device, way.operator, tensors, example.attributes)
            got = shared.view if device.is_cpu else device.get(tensors[target])
            expected[target].check(got, f"{way}: {target}")


def test_running_statistics_may_share_memory_with_parameters(device):
    """The output is made from the values before the update."""
    if not device.is_cpu:
        pytest.skip("shares host memory")
    way = WAYS[0]
    example = way.make(Inputs((3, 5, 7, 11), F32))
    example.others["bias"] = example.updated["running_mean"]
    example.others["weight"] = example.updated["running_var"]
    expected = oracle_family.expected(way.operator, example.inputs(), example.attributes)
    tensors = example.laid_out(LAYOUTS["contiguous"])
    tensors["bias"], tensors["weight"] = tensors["running_mean"].view, tensors["running_var"].view
    driver.run(device, way.operator, tensors, example.attributes)
    for name in ("output", "running_mean", "running_var", "save_mean"):
        expected[name].check(tensors[name].view, name)
