"""A plain array in device memory, for devices whose own array library is not at hand."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from pybn_api._lib import ffi, lib
from pybn_api.arrays.base import Array, Family, View, dense_strides
from pybn_api.dtypes import code_of, itemsize, numpy_dtype
from pybn_api.errors import check
from pybn_api.executor import Memory
from pybn_api.runtime import Device, on_device


def _byte_bounds(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The addresses of the first byte that the array covers, and past the last."""
    start = int(array.__array_interface__["data"][0])
    if not array.size:
        return start, start
    spans = [stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True)]
    low = start + sum(span for span in spans if span < 0)
    return low, start + sum(span for span in spans if span > 0) + array.itemsize


class DeviceArray:
    """Device memory with shape, strides (in elements) and dtype. CuPy, PyTorch and numba take it as it is.

    >>> import numpy as np
    >>> array = DeviceArray.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    >>> array.shape, array.to_numpy().sum()
    ((2, 3), np.float32(15.0))
    """

    __slots__ = ("code", "memory", "offset", "shape", "strides")

    def __init__(
        self, memory: Memory, shape: Sequence[int], strides: Sequence[int], code: int, offset: int = 0
    ) -> None:
        self.memory = memory
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.code = code
        self.offset = offset  # elements, from the memory's start to element 0

    @staticmethod
    def empty(
        shape: Sequence[int], dtype: int, *, device: Device | None = None, order: Sequence[int] | None = None
    ) -> DeviceArray:
        """An uninitialised, dense array; `order` lists the axes from the outermost in memory to the
        innermost."""
        count = int(np.prod(shape, dtype=np.int64))
        memory = Memory(max(1, count * itemsize(dtype)), device)
        return DeviceArray(memory, shape, dense_strides(shape, order or range(len(shape))), dtype)

    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any], device: Device | None = None) -> DeviceArray:
        """Copies the memory that a numpy array spans, gaps included, and describes the same view of it."""
        low, high = _byte_bounds(array)
        size = max(1, high - low)
        memory = Memory(size, device)
        start = array.__array_interface__["data"][0] - low
        result = DeviceArray(
            memory,
            array.shape,
            tuple(stride // array.itemsize for stride in array.strides),
            code_of(array.dtype),
            start // array.itemsize,
        )
        if array.size:
            with on_device(memory.device.id):
                check(
                    lib.bnapiMemcpy(
                        memory.pointer, size, ffi.cast("void *", low), high - low, lib.BNAPI_MEMCPY_DEFAULT
                    )
                )
        return result

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Copies the memory back, gaps included, and gives the same view of it."""
        raw = np.empty(self.memory.size, np.uint8)
        with on_device(self.device.id):
            check(
                lib.bnapiMemcpy(
                    ffi.cast("void *", raw.ctypes.data),
                    raw.size,
                    self.memory.pointer,
                    raw.size,
                    lib.BNAPI_MEMCPY_DEFAULT,
                )
            )
        size = itemsize(self.code)
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        view: np.ndarray[Any, Any] = np.ndarray(
            self.shape,
            self.dtype,
            raw.data,
            self.offset * size,
            tuple(stride * size for stride in self.strides),
        )
        return view

    @property
    def dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.code)

    @property
    def device(self) -> Device:
        return self.memory.device

    @property
    def address(self) -> int:
        """Of element 0."""
        return self.memory.address + self.offset * itemsize(self.code)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device.type != "cuda":
            raise AttributeError("the array is not on a CUDA device")
        size = itemsize(self.code)
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": tuple(stride * size for stride in self.strides),
            "stream": None,  # calls on these arrays wait for their results
        }

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.dtype}, {self.device})"


class DeviceArrayFamily(Family):
    def signature(self, array: Array) -> Hashable:
        return array.code, array.shape, array.strides, array.memory.device.id

    def view(self, array: Array) -> View:
        return View(array.shape, array.strides, array.code, array.address, array.device.id, True)

    def address(self, array: Array) -> int:
        return int(array.address)

    def writable(self, array: Array) -> bool:
        return True

    def allocator(
        self, like: Array, shape: Sequence[int], dtype: int, order: Sequence[int]
    ) -> Callable[[], Array]:
        device = like.device
        return lambda: DeviceArray.empty(shape, dtype, device=device, order=order)
