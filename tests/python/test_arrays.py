"""The arrays that people have: numpy in any shape of memory, PyTorch, DLPack, `__cuda_array_interface__`."""

from __future__ import annotations

import gc
import weakref

import ml_dtypes
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS, Guarded

import pybn_api

pytestmark = pytest.mark.usefixtures("on_cpu")

NAMES = ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")
BF16 = np.dtype(ml_dtypes.bfloat16)


def sums_are_right(result, dy, x, mean, invstd):
    expected = oracle.reduce_backward(dy, x, mean, invstd)
    for name, value in zip(NAMES, result, strict=True):
        expected[name].check(value, name)


def example(shape=(3, 4, 5), dtype="f4"):
    random = np.random.default_rng(0)
    dy, x = (random.standard_normal(shape).astype(dtype) for _ in range(2))
    return dy, x, random.standard_normal(shape[1]).astype("f4"), random.uniform(1, 2, shape[1]).astype("f4")


@pytest.mark.parametrize("dtype", ["f4", "f2", "f8", BF16], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_numpy_layouts(layout, dtype):
    dy, x, mean, invstd = example(dtype=dtype)
    lay = LAYOUTS[layout]
    sums_are_right(pybn_api.batch_norm_reduce_backward(lay(dy), lay(x), mean, invstd), dy, x, mean, invstd)


@st.composite
def views(draw):
    """A view of some memory: any rank, extents, strides of any sign and size, and offset."""
    rank = draw(st.integers(2, 5))
    shape = tuple(draw(st.integers(1, 5)) for _ in range(rank))
    strides = tuple(draw(st.integers(-7, 7)) for _ in range(rank))
    low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    high = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    start = draw(st.integers(0, 3))
    seed = draw(st.integers(0, 2**16))
    return shape, strides, start - low, start - low + high + 1, seed


def view_of(description, dtype):
    shape, strides, first, size, seed = description
    raw = np.random.default_rng(seed).standard_normal(size).astype(dtype)
    item = raw.itemsize
    return np.lib.stride_tricks.as_strided(raw[first:], shape, [s * item for s in strides])


@settings(max_examples=150, deadline=None)
@given(views(), views(), st.sampled_from(["f4", "f2", "f8", BF16]))
def test_any_strides(first, second, dtype):
    """Overlapping, broadcast and reversed inputs, each with strides of its own."""
    x = view_of(first, dtype)
    shape = x.shape
    strides = (second[1] * 5)[: len(shape)]
    low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    high = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    dy = view_of((shape, strides, -low, high - low + 1, second[4]), dtype)
    mean, invstd = np.linspace(-1, 1, shape[1], dtype="f4"), np.linspace(1, 2, shape[1], dtype="f4")
    result = pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd)
    sums_are_right(result, dy, x, mean, invstd)


def test_strides_off_the_item_size_are_an_error():
    packed = np.zeros((3, 4), np.dtype([("a", "u1"), ("b", "f4")]))["b"]
    assert packed.strides[1] % 4
    dy, _, mean, invstd = example((3, 4))
    with pytest.raises(pybn_api.InvalidArgument, match="input: strides"):
        pybn_api.batch_norm_reduce_backward(dy, packed, mean, invstd)


def test_read_only_outputs_are_refused():
    dy, x, mean, invstd = example()
    out = np.empty(4, "f4")
    out.flags.writeable = False
    with pytest.raises(pybn_api.InvalidArgument, match="sum_dy: a read-only array"):
        pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd, out=(out, None, None, None))
    running = np.zeros(4, "f4")
    running.flags.writeable = False
    with pytest.raises(pybn_api.InvalidArgument, match="running_mean: a read-only array"):
        pybn_api.batch_norm(x, running_mean=running, training=True)
    pybn_api.batch_norm(x, running_mean=running, training=False)
    x.flags.writeable = False
    pybn_api.batch_norm_stats(x)


def test_a_plan_notices_an_output_turned_read_only():
    dy, x, mean, invstd = example()
    out = tuple(np.empty(4, "f4") for _ in range(4))
    plan = pybn_api.plan.batch_norm_reduce_backward(dy, x, mean, invstd)
    plan(dy, x, mean, invstd, out=out)
    out[2].flags.writeable = False
    with pytest.raises(pybn_api.InvalidArgument, match="grad_weight: a read-only array"):
        plan(dy, x, mean, invstd, out=out)


@pytest.mark.parametrize(
    "bad",
    [[1.0, 2.0], 3.0, "text", object(), np.ma.masked_array(np.zeros((2, 2)), True)],
    # The same names in every process that runs tests.
    ids=lambda bad: type(bad).__name__,
)
def test_what_is_no_array(bad):
    with pytest.raises(TypeError, match="batch_norm_stats: input"):
        pybn_api.batch_norm_stats(bad)


@pytest.mark.parametrize("dtype", ["i4", "c8", "U3", "O", ">f4", "M8[s]"])
def test_dtypes_that_no_operator_takes(dtype):
    x = np.zeros((3, 4, 5), "f4").astype(dtype)
    with pytest.raises(pybn_api.InvalidArgument, match="input"):
        pybn_api.batch_norm_stats(x)


def test_out_is_written_and_returned():
    dy, x, mean, invstd = example()
    guarded = [Guarded((4,), np.dtype(d), LAYOUTS["gapped"]) for d in ("f4", "f8", "f2", BF16)]
    result = pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd, out=[g.view for g in guarded])
    for g, value in zip(guarded, result, strict=True):
        assert value is g.view
        g.check()
    sums_are_right(result, dy, x, mean, invstd)
    some = np.empty(4, "f4")
    result = pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd, out=(None, some, None, None))
    assert result.sum_dy_xmu is some
    sums_are_right(result, dy, x, mean, invstd)
    with pytest.raises(pybn_api.InvalidArgument, match="out: 2 arrays, where there are 4"):
        pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd, out=(some, some))


def test_masked_off_outputs_are_none_and_untouched():
    dy, x, mean, invstd = example()
    mine = np.full(4, 7, "f4")
    result = pybn_api.batch_norm_reduce_backward(
        dy, x, mean, invstd, weight_g=False, out=(None, None, mine, None)
    )
    assert result.grad_weight is None
    np.testing.assert_array_equal(mine, 7)


def test_messages_use_python_names():
    dy, x, mean, invstd = example()
    with pytest.raises(pybn_api.InvalidArgument) as caught:
        pybn_api.batch_norm_reduce_backward(None, x, mean, invstd)
    assert caught.value.code == 161001
    assert caught.value.name == "BNAPI_ERR_PARAM_NULLPTR"
    assert str(caught.value).startswith("batch_norm_reduce_backward: grad_out:")
    assert isinstance(caught.value, ValueError)
    with pytest.raises(pybn_api.BnApiError, match=r"^batch_norm_reduce_backward: .*invstd"):
        pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd[:2])


def test_outputs_keep_the_memory_order():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5), np.float32)
    for layout in ("contiguous", "channels_last", "permuted", "channels_outermost"):
        view = LAYOUTS[layout](x)
        y = pybn_api.batch_norm(view, training=True).output
        assert y.strides == view.strides, layout


def test_queued_work_keeps_its_arrays():
    """Temporaries may be dropped at once: the stream holds them until it has passed the work."""
    with pybn_api.Stream() as stream:
        results = []
        for step in range(40):
            x = np.full((8, 16, 50), step, np.float32)
            results.append(pybn_api.batch_norm_stats(x[:, ::2], stream=stream).mean)
            watch = weakref.ref(x)
            del x
        assert watch() is not None
        stream.synchronize()
        gc.collect()
        assert watch() is None
        for step, mean in enumerate(results):
            np.testing.assert_array_equal(mean, step)


def test_a_dropped_stream_finishes_its_work():
    for _ in range(20):
        stream = pybn_api.Stream()
        x = np.ones((64, 8, 300), np.float32)
        mean = pybn_api.batch_norm_stats(x, stream=stream).mean
        del x, stream
        np.testing.assert_array_equal(mean, 1)


def test_plans_refuse_another_signature():
    dy, x, mean, invstd = example()
    plan = pybn_api.plan.batch_norm_reduce_backward(dy, x, mean, invstd)
    sums_are_right(plan(2 * dy, x, mean, invstd), 2 * dy, x, mean, invstd)
    with pytest.raises(pybn_api.InvalidArgument, match=r"input: .* where the plan was made for"):
        plan(dy, x.astype("f8"), mean, invstd)
    with pytest.raises(pybn_api.InvalidArgument, match="weight_g: False, where the plan"):
        plan(dy, x, mean, invstd, weight_g=False)


def test_plans_outlive_finalize():
    dy, x, mean, invstd = example()
    plan = pybn_api.plan.batch_norm_reduce_backward(dy, x, mean, invstd)
    plan(dy, x, mean, invstd)
    pybn_api.finalize()
    sums_are_right(plan(dy, x, mean, invstd), dy, x, mean, invstd)
    sums_are_right(pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd), dy, x, mean, invstd)
    pybn_api.init()


def test_many_signatures():
    """More than the cache of plans holds."""
    for size in range(1, 400):
        x = np.full((2, 1, size), size, np.float32)
        assert pybn_api.batch_norm_stats(x).mean[0] == size


# ---- other libraries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "permuted", "broadcast"])
def test_torch(dtype, layout):
    torch = pytest.importorskip("torch")
    kind = getattr(torch, dtype)
    generator = torch.Generator().manual_seed(0)
    dy, x = (torch.randn(2, 3, 4, 5, generator=generator).to(kind) for _ in range(2))
    if layout == "channels_last":
        dy, x = (t.contiguous(memory_format=torch.channels_last) for t in (dy, x))
    elif layout == "permuted":
        dy, x = (t.transpose(2, 3) for t in (dy, x))
    elif layout == "broadcast":
        x = x[:1].expand(2, 3, 4, 5)
    mean, invstd = torch.linspace(-1, 1, 3), torch.linspace(1, 2, 3)
    result = pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd)
    assert all(isinstance(value, torch.Tensor) and value.dtype == torch.float32 for value in result)
    host = [t.double().numpy() for t in (dy, x)]
    sums_are_right([value.numpy() for value in result], *host, mean.numpy(), invstd.numpy())
    y = pybn_api.batch_norm(x, training=True).output
    assert y.dtype == kind
    if layout != "broadcast":
        assert y.stride() == x.stride()
    running = torch.zeros(3)
    pybn_api.batch_norm(x, running_mean=running, training=True, momentum=1.0)
    expected = x.double().mean((0, 2, 3))
    assert torch.allclose(running.double(), expected, atol=1e-6)


class Dlpack:
    """An array that shows nothing but DLPack, of the old or the new protocol."""

    def __init__(self, array, versioned=True):
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        if not self.versioned:
            if arguments:
                raise TypeError("an old producer")
            return self.array.__dlpack__()
        return self.array.__dlpack__(**arguments)


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack(versioned):
    dy, x, mean, invstd = example()
    x = LAYOUTS["channels_last"](x)
    result = pybn_api.batch_norm_reduce_backward(
        Dlpack(dy, versioned), Dlpack(x, versioned), Dlpack(mean, versioned), invstd
    )
    sums_are_right(result, dy, x, mean, invstd)


def test_dlpack_releases_its_memory_once():
    dy, x, mean, invstd = example()
    watch = weakref.ref(dy)
    for _ in range(5):
        pybn_api.batch_norm_reduce_backward(Dlpack(dy), x, mean, invstd)
    del dy
    gc.collect()
    assert watch() is None


def test_dlpack_outputs():
    x = example()[1]
    y = np.empty_like(x)
    wrapped = Dlpack(y)
    result = pybn_api.batch_norm(x, training=True, out=(wrapped, None, None))
    assert result.output is wrapped
    np.testing.assert_array_equal(y, pybn_api.batch_norm(x, training=True).output)


def test_dlpack_read_only_output_is_refused():
    x = example()[1]
    y = np.empty_like(x)
    y.flags.writeable = False
    with pytest.raises((pybn_api.InvalidArgument, BufferError)):
        pybn_api.batch_norm(x, training=True, out=(Dlpack(y), None, None))


def test_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    x = jnp.asarray(example()[1])
    result = pybn_api.batch_norm(x, training=True)
    assert isinstance(result.output, jax.Array)
    y = pybn_api.batch_norm(x.astype(jnp.bfloat16), training=True).output
    assert isinstance(y, jax.Array)
    assert y.dtype == jnp.bfloat16


class CudaInterface:
    """An array that shows nothing but `__cuda_array_interface__`."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_cuda_array_interface(device):
    if device.is_cpu:
        pytest.skip("the interface is that of CUDA memory")
    dy, x, mean, invstd = example()
    x = LAYOUTS["channels_last"](x)
    arrays = [device.put(a) for a in (dy, x, mean, invstd)]
    for wrap in (lambda a: a, CudaInterface):
        result = pybn_api.batch_norm_reduce_backward(*map(wrap, arrays))
        assert all(isinstance(value, pybn_api.DeviceArray) for value in result)
        sums_are_right([device.get(value) for value in result], dy, x, mean, invstd)
    with pytest.raises(pybn_api.InvalidArgument, match="mean: on"):
        pybn_api.batch_norm_reduce_backward(arrays[0], arrays[1], mean, invstd)
