"""BatchNormReduceBackward against the float64 oracle: dtypes, layouts, shapes, masks, optional inputs."""

from __future__ import annotations

import itertools

import driver
import ml_dtypes
import numpy as np
import oracle
import pytest
from layouts import LAYOUTS, Guarded, broadcast

OPERATOR = "BatchNormReduceBackward"
OUTPUTS = ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")
ALL = {"input_g": True, "weight_g": True, "bias_g": True}

BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {"f32": np.dtype("f4"), "f16": np.dtype("f2"), "bf16": BF16, "f64": np.dtype("f8")}

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
MIXED = [
    ("contiguous", "channels_last"),
    ("channels_last", "contiguous"),
    ("negative", "gapped"),
    ("permuted", "row_gapped"),
    ("row_gapped", "channels_last"),
]


def data(shape, dtype, seed=0, scale=1.0, shift=0.5):
    """dy, x, and statistics that are near those of x."""
    random = np.random.default_rng([seed, *shape])
    channels = shape[1]
    offset = oracle.per_channel(shift + random.standard_normal(channels), len(shape))
    dy = random.standard_normal(shape).astype(dtype)
    x = (offset + scale * random.standard_normal(shape)).astype(dtype)
    mean = random.normal(shift, 1, channels)
    invstd = random.uniform(0.3, 3, channels)
    return dy, x, mean, invstd


def compare(
    device, dy, x, mean, invstd, out_dtype, attributes=ALL, exact=False, weight=None, out_layout=None
):
    channels = x.shape[1]
    wanted = {
        "sum_dy": attributes["input_g"],
        "sum_dy_xmu": attributes["input_g"],
        "grad_weight": attributes["weight_g"],
        "grad_bias": attributes["bias_g"],
    }
    layout = (out_layout,) if out_layout else ()
    outs = {name: Guarded((channels,), out_dtype, *layout) for name in OUTPUTS if wanted[name]}
    tensors = {"grad_out": dy, "input": x, "mean": mean, "invstd": invstd, "weight": weight, **outs}
    driver.run(device, OPERATOR, tensors, attributes)
    expected = oracle.reduce_backward(dy, x, mean, invstd, exact=exact)
    for name, out in outs.items():
        expected[name].check(out.view, name)
    return {name: out.view for name, out in outs.items()}


@pytest.mark.parametrize("layouts", [(name, name) for name in LAYOUTS] + MIXED, ids="-".join)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_layouts(device, dtype, layouts):
    for shape in ((3, 5, 7, 11), (2, 37, 3, 4), (4, 64, 16, 16)):
        dy, x, mean, invstd = data(shape, dtype)
        first, second = (LAYOUTS[name] for name in layouts)
        compare(device, first(dy), second(x), mean.astype("f4"), invstd.astype("f4"), np.dtype("f8"))


@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "gapped"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_shapes(device, dtype, shape, layout):
    dy, x, mean, invstd = data(shape, dtype)
    lay = LAYOUTS[layout]
    compare(
        device,
        lay(dy),
        lay(x),
        mean.astype(dtype),
        invstd.astype(dtype),
        dtype,
        exact=dtype == np.dtype("f8"),
    )


@pytest.mark.parametrize("masks", list(itertools.product((False, True), repeat=3)), ids=str)
def test_masks(device, masks):
    """A masked-off output may be absent; so may the weight."""
    dy, x, mean, invstd = data((3, 5, 7), np.dtype("f4"))
    weight = np.ones(5, "f2")
    attributes = dict(zip(("input_g", "weight_g", "bias_g"), masks, strict=True))
    for given in (None, weight):
        compare(
            device, dy, x, mean.astype("f4"), invstd.astype("f4"), np.dtype("f4"), attributes, weight=given
        )


@pytest.mark.parametrize("out", DTYPES.values(), ids=DTYPES)
@pytest.mark.parametrize("statistics", DTYPES.values(), ids=DTYPES)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_mixed_dtypes(device, dtype, statistics, out):
    dy, x, mean, invstd = data((3, 5, 29), dtype)
    compare(device, dy, x, mean.astype(statistics), invstd.astype(statistics), out)
    compare(device, dy, x, mean.astype("f4"), invstd.astype(statistics), out)


@pytest.mark.parametrize("layout", ["gapped", "negative"])
def test_parameter_layouts(device, layout):
    """Statistics and outputs with strides of their own."""
    dy, x, mean, invstd = data((3, 5, 29), np.dtype("f4"))
    lay = LAYOUTS[layout]
    compare(device, dy, x, lay(mean), lay(invstd), np.dtype("f4"), weight=lay(mean), out_layout=lay)


def test_statistics_with_stride_0(device):
    dy, x, _, _ = data((3, 5, 29), np.dtype("f4"))
    mean, invstd = np.broadcast_to(np.float32(0.25), 5), np.broadcast_to(np.float32(2), 5)
    compare(device, dy, x, mean, invstd, np.dtype("f4"))


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_broadcast_inputs(device, axis):
    dy, x, mean, invstd = data((3, 5, 7, 6), np.dtype("f4"))
    mean, invstd = mean.astype("f4"), invstd.astype("f4")
    compare(device, broadcast(dy, axis), x, mean, invstd, np.dtype("f8"))
    compare(device, dy, broadcast(x, axis), mean, invstd, np.dtype("f8"))
    compare(device, broadcast(dy, axis), broadcast(x, axis), mean, invstd, np.dtype("f8"))


@pytest.mark.parametrize("shape", [(2, 3, 4096), (64, 5, 32, 64), (131072, 1), (7, 300, 31)])
@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "row_gapped"])
@pytest.mark.parametrize("dtype", [np.dtype("f4"), np.dtype("f2"), BF16], ids=["f32", "f16", "bf16"])
def test_small_integers_are_summed_exactly(device, dtype, layout, shape):
    """|dy| and |x - mean| up to 7 and at most 2^17 terms keep every partial sum below 2^24: whatever the
    order of additions, even in float32, no element may be lost or counted twice."""
    random = np.random.default_rng([3, *shape])
    lay = LAYOUTS[layout]
    dy = lay(random.integers(-7, 8, shape).astype(dtype))
    mean = random.integers(-4, 5, shape[1])
    x = lay((random.integers(-7, 8, shape) + oracle.per_channel(mean, len(shape))).astype(dtype))
    outs = {name: Guarded((shape[1],), np.dtype("f4")) for name in OUTPUTS}
    tensors = {
        "grad_out": dy,
        "input": x,
        "mean": mean.astype("f4"),
        "invstd": np.full(shape[1], 0.5, "f4"),
        **outs,
    }
    driver.run(device, OPERATOR, tensors, ALL)
    axes = oracle.axes_but(1, len(shape))
    d, c = dy.astype(np.int64), x.astype(np.int64) - oracle.per_channel(mean, len(shape))
    np.testing.assert_array_equal(outs["sum_dy"].view, d.sum(axes))
    np.testing.assert_array_equal(outs["grad_bias"].view, d.sum(axes))
    np.testing.assert_array_equal(outs["sum_dy_xmu"].view, (d * c).sum(axes))
    np.testing.assert_array_equal(outs["grad_weight"].view, (d * c).sum(axes) * 0.5)


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("layout", ["contiguous", "channels_last"])
@pytest.mark.parametrize("dtype", [np.dtype("f4"), np.dtype("f8")], ids=["f32", "f64"])
def test_large_means(device, dtype, layout, ratio):
    """A mean far above the spread: only sums of centred values keep any digits."""
    shape = (4, 6, 33, 31)
    dy, x, _, invstd = data(shape, dtype, shift=ratio)
    mean = oracle.f64(x).mean(axis=(0, 2, 3)).astype(dtype)
    lay = LAYOUTS[layout]
    compare(
        device, lay(dy), lay(x), mean, invstd.astype(dtype), np.dtype("f8"), exact=dtype == np.dtype("f8")
    )


@pytest.mark.parametrize("dtype", [np.dtype("f4"), np.dtype("f8")], ids=["f32", "f64"])
def test_sums_that_cancel(device, dtype):
    """Terms of 1e8 that sum to about 1: the error is measured against the terms' size, and so are we."""
    random = np.random.default_rng(5)
    half = random.normal(0, 1e8, (2, 3, 5000)).astype(dtype)
    dy = np.concatenate([half, -half, random.standard_normal((1, 3, 5000)).astype(dtype)])
    x = np.ones_like(dy) + dtype.type(0.5)
    compare(device, dy, x, np.zeros(3, dtype), np.ones(3, dtype), dtype, exact=True)


def test_ten_million_elements_per_channel(device):
    if not device.is_cpu:
        pytest.skip("too long on an emulated device")
    random = np.random.default_rng(11)
    x = random.standard_normal((1, 2, 10_000_000), np.float32)
    x += np.float32(1e3)
    dy = random.uniform(0, 1, x.shape).astype("f4")
    mean = x.mean(axis=(0, 2), dtype=np.float64).astype("f4")
    compare(device, dy, x, mean, np.ones(2, "f4"), np.dtype("f8"))


def test_products_beyond_float32(device):
    """1e30 * 1e30 is no float32; the sum is, and float64 holds the terms."""
    dy = np.full((2, 2, 5), 1e30, "f4")
    x = dy.copy()
    x[1] = -x[1]
    x[0, :, 0] += np.float32(1e24)
    compare(device, dy, x, np.zeros(2, "f4"), np.full(2, 1e-30, "f4"), np.dtype("f4"))


def test_subnormal_inputs_count(device):
    for dtype in (np.dtype("f4"), np.dtype("f2"), BF16):
        tiny = ml_dtypes.finfo(dtype).smallest_subnormal
        dy = np.full((3, 2, 41), tiny, dtype)
        x = np.full((3, 2, 41), 1, dtype)
        compare(device, dy, x, np.zeros(2, "f4"), np.ones(2, "f4"), np.dtype("f8"))


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "channels_last"])
def test_special_values_stay_in_their_channel(device, layout, special):
    dy, x, mean, invstd = data((3, 9, 7, 5), np.dtype("f4"))
    dy[1, 2, 3, 4] = special
    x[0, 5, 0, 0] = special
    lay = LAYOUTS[layout]
    compare(device, lay(dy), lay(x), mean.astype("f4"), invstd.astype("f4"), np.dtype("f4"))


def test_nan_results_are_canonical(device):
    dy, x, mean, invstd = data((3, 4, 7), np.dtype("f4"))
    payload = np.array([0xFFC12345], np.uint32).view("f4")[0]
    dy[0, 1, 2] = payload
    for out, bits, quiet in (
        ("f4", np.uint32, 0x7FC00000),
        ("f2", np.uint16, 0x7E00),
        (BF16, np.uint16, 0x7FC0),
    ):
        got = compare(device, dy, x, mean.astype("f4"), invstd.astype("f4"), np.dtype(out))
        assert got["sum_dy"].view(bits)[1] == quiet


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4, 4), (2, 3, 0), (2, 3, 4, 0, 5)])
def test_empty_batches_give_zeros(device, shape):
    dy = np.zeros(shape, "f4")
    outs = {name: Guarded((3,), np.dtype("f4")) for name in OUTPUTS}
    tensors = {"grad_out": dy, "input": dy, "mean": np.ones(3, "f4"), "invstd": np.ones(3, "f4"), **outs}
    driver.run(device, OPERATOR, tensors, ALL)
    for out in outs.values():
        np.testing.assert_array_equal(out.view, 0)


def test_worked_examples(device):
    """The two examples of the operator's documentation, computed by hand."""
    outs = {name: Guarded((2,), np.dtype("f4")) for name in OUTPUTS}
    tensors = {
        "grad_out": np.array([[1, -1], [0.5, 2], [-2, 3]], "f4"),
        "input": np.array([[2, 0], [4, 1], [9, -5]], "f4"),
        "mean": np.array([5, -1], "f4"),
        "invstd": np.array([0.25, 2], "f4"),
    }
    driver.run(device, OPERATOR, {**tensors, **outs}, ALL)
    expected = {
        "sum_dy": [-0.5, 4],
        "sum_dy_xmu": [-11.5, -9],
        "grad_weight": [-2.875, -18],
        "grad_bias": [-0.5, 4],
    }
    for name, values in expected.items():
        np.testing.assert_array_equal(outs[name].view, values)

    outs = {name: Guarded((1,), np.dtype("f4")) for name in OUTPUTS}
    tensors = {
        "grad_out": np.array([[[1, 3]], [[-2, 0.125]]], "f4"),
        "input": np.array([[[4097, 4095.5]], [[4096.25, 4095.25]]], "f4"),
        "mean": np.array([4096], "f4"),
        "invstd": np.array([1.5], "f4"),
    }
    driver.run(device, OPERATOR, {**tensors, **outs}, ALL)
    expected = {"sum_dy": 2.125, "sum_dy_xmu": -1.09375, "grad_weight": -1.640625, "grad_bias": 2.125}
    for name, value in expected.items():
        assert outs[name].view[0] == value


@pytest.mark.parametrize("layout", ["contiguous", "channels_last"])
def test_the_oracle_notices_a_lost_element(device, layout):
    """The bound is worth something: with one of 2000 elements missing, it is exceeded a hundredfold."""
    dy, x, mean, invstd = data((2, 3, 1000), np.dtype("f4"))
    lay = LAYOUTS[layout]
    got = compare(device, lay(dy), lay(x), mean.astype("f4"), invstd.astype("f4"), np.dtype("f4"))
    dy[1, :, 517] = 0
    damaged = oracle.reduce_backward(dy, x, mean.astype("f4"), invstd.astype("f4"))
    for name in ("sum_dy", "sum_dy_xmu"):
        assert damaged[name].worst(got[name]) > 100
