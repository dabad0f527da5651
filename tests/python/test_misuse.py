"""Arguments that Python lets through and C could not survive, or would understand as something else."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

import pybn_api
from pybn_api import Device, InvalidArgument, Stream, Tensor


def example() -> np.ndarray:
    return np.arange(60, dtype=np.float32).reshape(4, 3, 5)


@pytest.mark.parametrize("strides", [(), (1,), (1, 2, 3)])
def test_a_stride_for_each_axis(strides):
    with pytest.raises(InvalidArgument, match=f"strides: {len(strides)}, where the shape has 2 axes"):
        Tensor((2, 3), "float32", strides)


def test_unknown_names():
    with pytest.raises(InvalidArgument, match="dtype: 'float8', where float32, "):
        Tensor((2, 3), "float8")
    with pytest.raises(InvalidArgument, match="format: 'NCX', where NCHW, "):
        Tensor((2, 3), "float32", format="NCX")
    with pytest.raises(InvalidArgument, match="batch_norm: format: 'nhwc', where NCHW, "):
        pybn_api.batch_norm(np.zeros((1, 2, 3, 4), "f4"), training=True, format="nhwc")


@pytest.mark.parametrize("mask", [(), (True,), (True, True), (True,) * 5])
def test_masks_of_other_lengths(mask):
    x = example()
    for function in (
        pybn_api.batch_norm_backward,
        pybn_api.fast_batch_norm_backward,
        pybn_api.batch_norm_act_backward,
    ):
        arrays = (x, x, x) if function is pybn_api.batch_norm_act_backward else (x, x)
        with pytest.raises(InvalidArgument, match=f"output_mask: length {len(mask)}; expected"):
            function(*arrays, training=True, output_mask=mask)


@pytest.mark.parametrize("point", [1.5, 1.0, "1", None])
def test_zero_points_are_integers(point):
    q, values = np.zeros((1, 2, 2, 2), np.int8), np.ones(2, np.float32)
    with pytest.raises(TypeError, match="integer"):
        pybn_api.quantized_batch_norm(q, values, values, 0.1, point, 0.1, 0)
    with pytest.raises(TypeError, match="integer"):
        pybn_api.quantized_batch_norm(q, values, values, 0.1, 0, 0.1, point)
    pybn_api.quantized_batch_norm(q, values, values, 0.1, np.int64(3), 0.1, np.uint8(4))


def test_what_is_no_stream():
    for stream in (5, "stream", Device.cpu()):
        with pytest.raises(TypeError, match=r"batch_norm_stats: stream: .* pybn_api\.Stream is needed"):
            pybn_api.batch_norm_stats(example(), stream=stream)


@pytest.mark.parametrize("timeout", [0, -1, 1e-9, 1e9, 1e300, math.inf, None])
def test_any_timeout_of_work_that_is_done(timeout):
    with Stream() as stream, pybn_api.Event() as event:
        event.record(stream)
        stream.synchronize()
        stream.synchronize(timeout)
        event.synchronize(timeout)


def test_arrays_without_memory_are_not_those_of_the_call_before():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(example())
    pybn_api.batch_norm_stats(x)
    plan = pybn_api.plan.batch_norm_stats(x)
    plan(x)
    gone = torch.empty_like(x)
    gone.untyped_storage().resize_(0)  # as training frameworks free a parameter that comes back later
    assert gone.data_ptr() == 0 and gone.shape == x.shape and gone.stride() == x.stride()
    for call in (pybn_api.batch_norm_stats, plan):
        with pytest.raises(InvalidArgument, match="batch_norm_stats: input: an array without memory"):
            call(gone)
    mean = torch.empty(3)
    mean.untyped_storage().resize_(0)
    with pytest.raises(InvalidArgument, match="batch_norm_stats: mean: an array without memory"):
        pybn_api.batch_norm_stats(x, out=(mean, None))
    # Nothing is read of an empty one.
    assert (pybn_api.batch_norm_stats(torch.empty(0, 3, 5)).mean == 0).all()


def test_threads_share_a_device_object():
    """Each thread goes back to the device it came from, in whatever order blocks end."""
    if Device.count() < 2:
        pytest.skip("needs two devices")
    shared = Device(0)
    inside, leave, left = threading.Event(), threading.Event(), []

    def other() -> None:
        Device(1).use()
        with shared:
            inside.set()
            leave.wait()
        left.append(Device.current().id)

    thread = threading.Thread(target=other)
    with Device(0):
        thread.start()
        inside.wait()
        with shared:
            leave.set()
            thread.join()
            assert left == [1]
        assert Device.current().id == 0
