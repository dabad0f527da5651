"""numpy arrays, by their array interface: any strides, any alignment, ml_dtypes' bfloat16."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pybn_api._caller import peek
from pybn_api._lib import lib
from pybn_api.arrays.base import Array, Family, View
from pybn_api.dtypes import code_of, numpy_dtype
from pybn_api.errors import invalid
from pybn_api.runtime import device_id


def _interface_pointer(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _reads_right(array: np.ndarray[Any, Any]) -> bool:
    told = _interface_pointer(array), array.shape, array.strides, array.dtype, array.flags.writeable
    return bool(peek(array) == told)


# Where ndarray objects keep their data pointer, shape and strides is fixed in numpy's ABI. Reading them there
# takes a tenth of what the attributes cost. False: not so in this interpreter, use the attributes.
READ_IN_PLACE: bool = all(
    _reads_right(array)
    for array in (
        np.zeros(3),
        np.zeros((4, 5), np.float32)[1:, ::-1],
        np.broadcast_to(np.float16(1), (2, 3)),
        np.array(1),
    )
)


class NumpyFamily(Family):
    def signature(self, array: Array) -> Hashable:
        return array.dtype, array.shape, array.strides

    def view(self, array: Array) -> View:
        itemsize = array.itemsize
        for stride, extent in zip(array.strides, array.shape, strict=True):
            if stride % itemsize and extent > 1:
                raise invalid(
                    f"strides of {array.strides} bytes, "
                    f"where {array.dtype} elements need multiples of {itemsize}"
                )
        return View(
            array.shape,
            tuple(stride // itemsize for stride in array.strides),
            code_of(array.dtype),
            self.address(array),
            device_id(lib.BNAPI_DEVICE_CPU, 0),
            array.flags.writeable,
        )

    def address(self, array: Array) -> int:
        return _interface_pointer(array)

    def writable(self, array: Array) -> bool:
        return bool(array.flags.writeable)

    def allocator(
        self, like: Array, shape: Sequence[int], dtype: int, order: Sequence[int]
    ) -> Callable[[], Array]:
        return numpy_allocator(shape, dtype, order)


def numpy_allocator(shape: Sequence[int], dtype: int, order: Sequence[int]) -> Callable[[], Array]:
    """Makes uninitialised numpy arrays whose axes lie in memory as `order` says."""
    kind = numpy_dtype(dtype)
    if list(order) == sorted(order):
        return partial(np.empty, tuple(shape), kind)
    in_memory = tuple(shape[axis] for axis in order)
    back = tuple(int(axis) for axis in np.argsort(order))
    return lambda: np.empty(in_memory, kind).transpose(back)
