"""Arrays of any other library: what `__cuda_array_interface__` or DLPack say about them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from pybn_api._lib import lib
from pybn_api.arrays import dlpack
from pybn_api.arrays.base import Array, Family, View
from pybn_api.arrays.device_array import DeviceArray
from pybn_api.arrays.numpy_family import numpy_allocator
from pybn_api.arrays.streams import foreign_stream
from pybn_api.dtypes import BF16, CODES, code_of
from pybn_api.errors import BnApiError, invalid
from pybn_api.runtime import Device, device_id


class Adopted:
    """A foreign array's view, with what keeps its memory alive."""

    __slots__ = ("origin", "owner", "view")

    def __init__(self, view: View, origin: Any, owner: Any) -> None:
        self.view = view
        self.origin = origin
        self.owner = owner

    @staticmethod
    def of(array: Any) -> Adopted:
        """Wraps an object without copying; raises TypeError if it is no array."""
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is not None:
            return Adopted(_view_of_interface(array, interface), array, array)
        if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
            return _of_dlpack(array)
        raise TypeError(
            f"an object of type {type(array).__name__}, where an array is needed: "
            "numpy, PyTorch, CuPy, or one with __dlpack__ or __cuda_array_interface__"
        )


def _of_dlpack(array: Any) -> Adopted:
    try:
        tensor = dlpack.consume(array)
    except (BufferError, RuntimeError) as problem:
        if isinstance(problem, BnApiError):
            raise
        raise invalid(f"the array cannot be shared by DLPack ({problem})") from problem
    if tensor.device_type in (dlpack.CPU, dlpack.CUDA_HOST):
        device = device_id(lib.BNAPI_DEVICE_CPU, 0)
    elif tensor.device_type in (dlpack.CUDA, dlpack.CUDA_MANAGED):
        device = device_id(lib.BNAPI_DEVICE_CUDA, tensor.device_id)
        # Our calls on such arrays are synchronous, in a stream that need not order itself with the legacy
        # one.
        foreign_stream(device, 0).synchronize()
    else:
        raise invalid(f"a tensor on DLPack device type {tensor.device_type}, where CPU and CUDA are known")
    view = View(tensor.shape, tensor.strides, tensor.dtype, tensor.address, device, not tensor.read_only)
    return Adopted(view, array, tensor.owner)


def _view_of_interface(array: Any, interface: dict[str, Any]) -> View:
    if interface.get("mask") is not None:
        raise invalid("a masked array: fill it first (the mask would be ignored)")
    dtype = np.dtype(interface["typestr"])
    # bfloat16 has no type string of its own: the owner's dtype tells.
    code = CODES.get(str(getattr(array, "dtype", "")).rpartition(".")[2], code_of(dtype))
    if dtype.kind != "V" and code == BF16:
        code = code_of(dtype)
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        steps = [1] * len(shape)
        for axis in reversed(range(len(shape) - 1)):
            steps[axis] = steps[axis + 1] * max(1, shape[axis + 1])
        elements = tuple(steps)
    else:
        if any(stride % dtype.itemsize for stride in strides):
            raise invalid(
                f"strides of {strides} bytes, where {dtype} elements need multiples of {dtype.itemsize}"
            )
        elements = tuple(stride // dtype.itemsize for stride in strides)
    address, read_only = interface["data"]
    device = _device_of(array)
    stream = interface.get("stream")
    if stream:
        foreign_stream(device, stream).synchronize()
    return View(shape, elements, code, address, device, not read_only)


def _device_of(array: Any) -> int:
    # The interface does not say which device. Owners that do say it: CuPy's and numba's `device`, our own.
    device = getattr(array, "device", None)
    if isinstance(device, Device):
        return device.id
    ordinal = getattr(device, "id", None)
    if isinstance(ordinal, int):
        return device_id(lib.BNAPI_DEVICE_CUDA, ordinal)
    current = Device.current()
    return current.id if current.type == "cuda" else device_id(lib.BNAPI_DEVICE_CUDA, 0)


class AdoptedFamily(Family):
    def signature(self, array: Array) -> Hashable:
        view = array.view
        return view.dtype, view.shape, view.strides, view.device

    def view(self, array: Array) -> View:
        view: View = array.view
        return view

    def address(self, array: Array) -> int:
        return int(array.view.address)

    def writable(self, array: Array) -> bool:
        return bool(array.view.writable)

    def allocator(
        self, like: Array, shape: Sequence[int], dtype: int, order: Sequence[int]
    ) -> Callable[[], Array]:
        device = Device(like.view.device)
        if device.type == "cpu":
            return numpy_allocator(shape, dtype, order)
        return lambda: DeviceArray.empty(shape, dtype, device=device, order=order)

    def finish(self, result: Array, like: Array) -> Array:
        """The result in the origin's array type, where that type's library can take memory over."""
        namespace = _namespace(like.origin)
        if namespace is None:
            return result
        if isinstance(result, np.ndarray) and code_of(result.dtype) == BF16:
            return namespace.asarray(result)  # numpy has no DLPack type for it
        return namespace.from_dlpack(result)


def _namespace(array: Any) -> Any:
    if isinstance(array, DeviceArray):
        return None
    get = getattr(array, "__array_namespace__", None)
    return None if get is None else get()
