"""CuPy arrays on a CUDA device: CuPy's own where it is installed, else a stand-in with the same attributes.

The stand-in lies over plain device memory, so that the emulated device sees this code, too.
"""

from __future__ import annotations

import sys
import types

import numpy as np
import oracle
import pytest

import pybn_api
from pybn_api import arrays
from pybn_api.arrays import device_array


def stand_in(stream: pybn_api.Stream) -> types.ModuleType:
    """What pybn_api.arrays.cupy_family uses of CuPy; its current stream is the one given."""
    module = types.ModuleType("cupy")

    class Device:
        def __init__(self, id: int) -> None:
            self.id = id

        def __enter__(self) -> Device:
            return self

        def __exit__(self, *exception: object) -> None: ...

    class ndarray:
        def __init__(self, held: pybn_api.DeviceArray) -> None:
            self.held = held
            self.shape, self.dtype, self.itemsize = held.shape, held.dtype, held.dtype.itemsize
            self.strides = tuple(stride * self.itemsize for stride in held.strides)
            self.device = Device(held.device.ordinal)
            self.data = types.SimpleNamespace(ptr=held.address)

        def transpose(self, axes: tuple[int, ...]) -> ndarray:
            held = self.held
            shape, strides = ([of[axis] for axis in axes] for of in (held.shape, held.strides))
            return ndarray(device_array.DeviceArray(held.memory, shape, strides, held.code, held.offset))

        def get(self) -> np.ndarray:
            return self.held.to_numpy()

    def empty(shape: tuple[int, ...], dtype: np.dtype) -> ndarray:
        code = arrays.view_of(np.empty(0, dtype)).dtype
        return ndarray(pybn_api.DeviceArray.empty(shape, code, device=stream.device))

    ndarray.__module__ = "cupy"
    asked: list[int] = []

    def get_current_stream(device_id: int) -> types.SimpleNamespace:
        asked.append(device_id)
        return types.SimpleNamespace(ptr=stream.native)

    module.ndarray, module.empty, module.asked = ndarray, empty, asked  # type: ignore[attr-defined]
    module.cuda = types.SimpleNamespace(Device=Device, get_current_stream=get_current_stream)  # type: ignore[attr-defined]
    module.asarray = lambda array: ndarray(pybn_api.DeviceArray.from_numpy(array, stream.device))  # type: ignore[attr-defined]
    return module


@pytest.fixture
def cupy(device, monkeypatch):
    if device.is_cpu:
        pytest.skip("CuPy's arrays are on CUDA devices")
    try:
        import cupy
    except ImportError:
        with pybn_api.Stream(device.device) as stream:
            known = dict(arrays.families)
            module = stand_in(stream)
            monkeypatch.setitem(sys.modules, "cupy", module)
            monkeypatch.delitem(sys.modules, "pybn_api.arrays.cupy_family", raising=False)
            yield module
            stream.synchronize()
            arrays.families.clear()
            arrays.families.update(known)
            sys.modules.pop("pybn_api.arrays.cupy_family", None)
    else:
        yield cupy


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1)], ids=["contiguous", "channels last"])
def test_arrays_of_cupy(cupy, device, order):
    random = np.random.default_rng(0)
    shape = (3, 4, 5, 2)
    back = tuple(np.argsort(order))
    dy, x = (random.standard_normal([shape[a] for a in order], np.float32).transpose(back) for _ in range(2))
    mean, invstd = random.standard_normal(4).astype("f4"), random.uniform(1, 2, 4).astype("f4")
    on_device = [cupy.asarray(array) for array in (dy, x, mean, invstd)]
    for _ in range(2):
        result = pybn_api.batch_norm_reduce_backward(*on_device)
        assert all(type(value) is cupy.ndarray for value in result)
        device.device.synchronize()
        want = oracle.reduce_backward(dy, x, mean, invstd)
        for name, value in zip(result._fields, result, strict=True):
            want[name].check(value.get(), name)
    y = pybn_api.batch_norm(on_device[1], training=True).output
    assert y.strides == x.strides
    device.device.synchronize()
    np.testing.assert_array_equal(
        y.get(), device.get(pybn_api.batch_norm(device.put(x), training=True).output)
    )
    if hasattr(cupy, "asked"):
        # The library's current stream was looked up for each of the three calls.
        assert len(cupy.asked) == 3


def test_cupy_and_numpy_do_not_mix(cupy):
    x, mean = cupy.asarray(np.ones((2, 3, 4), "f4")), np.ones(3, "f4")
    with pytest.raises(pybn_api.InvalidArgument, match="mean: on"):
        pybn_api.batch_norm_reduce_backward(x, x, mean, mean)
