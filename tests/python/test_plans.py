"""Plans, and the quick way in for numpy arrays that look as they did before: nothing slips through it."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from oracle import f64

import pybn_api
from pybn_api._caller import Caller, Quick, peek
from pybn_api.arrays import numpy_family

pytestmark = pytest.mark.usefixtures("on_cpu")


def make(seed=0, shape=(4, 3, 5, 2)):
    random = np.random.default_rng(seed)
    return random.standard_normal(shape, dtype=np.float32)


def mean_is_right(x, result):
    """float32 statistics of a few dozen numbers: some roundings of the mean and of what was summed."""
    want = f64(x).mean(axis=(0, 2, 3))
    scale = np.abs(f64(x)).mean(axis=(0, 2, 3))
    np.testing.assert_array_less(np.abs(result.mean - want), 4 * 2.0**-24 * scale)


def test_arrays_are_read_where_numpy_keeps_them():
    assert numpy_family.READ_IN_PLACE
    frozen = np.zeros((2, 0, 3), np.int8)
    frozen.flags.writeable = False
    for array in (make(), make()[::2, :, ::-1], np.ones((), "f4"), frozen, np.zeros(4, ">f8")):
        told = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype
        assert peek(array) == (*told, array.flags.writeable)


@pytest.mark.parametrize("call", [pybn_api.batch_norm_stats, pybn_api.plan.batch_norm_stats(make())])
def test_every_call_reads_its_own_arrays(call):
    for seed in range(5):
        x = make(seed)
        mean_is_right(x, call(x))


@pytest.mark.parametrize(
    "other",
    [
        make(shape=(4, 3, 2, 5)),
        make(shape=(4, 3, 10)),
        make(shape=(8, 3, 5, 2))[::2],
        make().astype("f8"),
        make().astype(">f4"),
        make().astype("i4"),
    ],
    ids=["shape", "rank", "strides", "dtype", "byte order", "integers"],
)
def test_other_arrays_do_not_pass_as_planned(other):
    """Same first extents, same bytes, or the same strides: one difference suffices."""
    plan = pybn_api.plan.batch_norm_stats(make())
    plan(make())
    with pytest.raises(pybn_api.InvalidArgument, match=r"input: .* where the plan was made for"):
        plan(other)
    pybn_api.batch_norm_stats(make())
    if other.dtype.kind == "f" and other.dtype.isnative:
        got = pybn_api.batch_norm_stats(other)
        np.testing.assert_allclose(got.mean, f64(other).mean((0, *range(2, other.ndim))), atol=1e-6)
    else:
        with pytest.raises(pybn_api.InvalidArgument):
            pybn_api.batch_norm_stats(other)


def test_equal_dtypes_that_are_not_the_same_object():
    odd = np.dtype("f4", metadata={"unit": "m"})
    plan = pybn_api.plan.batch_norm_stats(make())
    x = make(3).astype(odd)
    assert x.dtype is not make().dtype
    mean_is_right(x, plan(x))


def test_subclasses_take_part():
    class Mine(np.ndarray):
        pass

    plan = pybn_api.plan.batch_norm_stats(make())
    x = make(4).view(Mine)
    mean_is_right(x.view(np.ndarray), plan(x))


@pytest.mark.parametrize("planned", [True, False])
def test_read_only_arrays_are_refused_also_later(planned):
    x, running = make(), [np.zeros(3, "f4"), np.ones(3, "f4")]
    call = pybn_api.batch_norm
    if planned:
        call = pybn_api.plan.batch_norm(x, None, None, *running, training=True)
    call(x, None, None, *running, training=True)
    frozen = [np.zeros(3, "f4"), np.ones(3, "f4")]
    frozen[0].flags.writeable = False
    with pytest.raises(pybn_api.InvalidArgument, match="read-only"):
        call(x, None, None, *frozen, training=True)
    out = [np.empty_like(x), np.empty(3, "f4"), np.empty(3, "f4")]
    call(x, None, None, *running, training=True, out=out)
    out[0].setflags(write=False)
    before = out[0].copy()
    with pytest.raises(pybn_api.InvalidArgument, match="read-only"):
        call(x, None, None, *running, training=True, out=out)
    np.testing.assert_array_equal(out[0], before)


def test_read_only_statistics_serve_inference():
    x, running = make(), [np.zeros(3, "f4"), np.ones(3, "f4")]
    for array in running:
        array.flags.writeable = False
    want = x / np.sqrt(np.float32(1) + np.float32(1e-5))
    for _ in range(2):
        got = pybn_api.batch_norm(x, None, None, *running, training=False)
        np.testing.assert_allclose(got.output, want, rtol=1e-6)


def test_outputs_some_given_some_made():
    x = make()
    plan = pybn_api.plan.batch_norm(x, training=True)
    want = pybn_api.batch_norm(x, training=True)
    for pattern in [(1, 0, 0), (0, 1, 1), (1, 1, 1), (0, 0, 0), (1, 0, 0)]:
        given = [np.full_like(w, 9) if g else None for g, w in zip(pattern, want, strict=True)]
        for call in (plan, pybn_api.batch_norm):
            got = call(x, training=True, out=given)
            for g, result, w in zip(given, got, want, strict=True):
                assert g is None or result is g
                np.testing.assert_array_equal(result, w)


def test_a_masked_off_output_stays_untouched():
    x, mean, invstd = make(), np.zeros(3, "f4"), np.ones(3, "f4")
    sums = [np.empty(3, "f4"), np.empty(3, "f4"), np.empty(3, "f4"), np.full(3, 7, "f4")]
    for _ in range(3):
        got = pybn_api.batch_norm_reduce_backward(x, x, mean, invstd, bias_g=False, out=sums)
        assert got.grad_bias is None
        np.testing.assert_array_equal(sums[3], 7)


def test_a_single_output():
    x, vector = make(), np.ones(3, "f4")
    y = np.empty_like(x)
    plan = pybn_api.plan.batch_norm_elemt(x, vector, vector, vector, vector)
    for _ in range(3):
        y.fill(0)
        assert plan(x, vector, vector, vector, vector, out=y) is y
        # (x - 1) * 1 * 1 + 1: one rounding of the difference, one of the sum
        np.testing.assert_allclose(y, x, atol=2.0**-23 * (np.abs(x).max() + 1))


def test_errors_of_the_library_come_through_the_quick_way():
    """A status of the run becomes its exception, with the Python names."""
    x = make()
    plan = pybn_api.plan.batch_norm_stats(x)
    plan(x)
    pybn_api.lib.bnapiDestroyOpExecutor(plan._recent.quick_ready.executor.handle)
    with pytest.raises(pybn_api.InvalidHandle, match="spent or destroyed"):
        plan(x)


def test_a_plan_is_quick_again_after_finalize():
    x = make()
    plan = pybn_api.plan.batch_norm_stats(x)
    pybn_api.finalize()
    mean_is_right(x, plan(x))
    assert plan._recent.attempt([x], (1e-5,), None, None) is not None
    pybn_api.init()


def test_the_current_device_does_not_matter():
    """Numpy arrays are on the CPU, whatever device the thread chose."""
    plan = pybn_api.plan.batch_norm_stats(make())
    for device in pybn_api.Device.all():
        with device:
            for seed in range(3):
                x = make(seed)
                mean_is_right(x, plan(x))
                mean_is_right(x, pybn_api.batch_norm_stats(x))


def test_threads_share_a_plan():
    """While one thread is inside, others use executors of their own."""
    plan = pybn_api.plan.batch_norm_stats(np.zeros((2, 3, 4000), "f4"))
    wrong = []

    def work(value):
        x = np.full((2, 3, 4000), value, "f4")
        for _ in range(200):
            if not (plan(x).mean == value).all():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    "arguments",
    [
        (np.ndarray, None, [1], [True], None, [], 0, 0, 0),
        (np.ndarray, None, [None], [], None, [], 0, 0, 0),
        (np.ndarray, None, [None], [True], [None], [], 0, 0, 0),
        (np.ndarray, None, [None] * 17, [True] * 17, None, [], 0, 0, 0),
        (3, None, [], [], None, [], 0, 0, 0),
    ],
    ids=["no array", "lengths", "outputs", "too many", "no type"],
)
def test_the_module_refuses_what_it_cannot_use(arguments):
    with pytest.raises(TypeError):
        Quick(*arguments)
    caller = Caller(0, 0, 0, 0, 0, 0)
    for lists in [((), []), ([None] * 9, [None] * 9)]:
        with pytest.raises(TypeError):
            caller.run(*lists, 0, True)
