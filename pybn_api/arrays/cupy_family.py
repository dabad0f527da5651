"""CuPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import cupy  # pyright: ignore[reportMissingImports]

from pybn_api._lib import lib
from pybn_api.arrays.base import Array, Family, View
from pybn_api.arrays.streams import foreign_stream
from pybn_api.dtypes import code_of, numpy_dtype
from pybn_api.errors import invalid
from pybn_api.runtime import Stream, device_id


class CupyFamily(Family):
    stream_ordered = True  # the memory pool hands memory on in the stream's order

    def signature(self, array: Array) -> Hashable:
        return array.dtype, array.shape, array.strides, array.device.id

    def view(self, array: Array) -> View:
        itemsize = array.itemsize
        if any(stride % itemsize for stride in array.strides):
            raise invalid(
                f"strides of {array.strides} bytes, where {array.dtype} elements need multiples of {itemsize}"
            )
        return View(
            array.shape,
            tuple(stride // itemsize for stride in array.strides),
            code_of(array.dtype),
            int(array.data.ptr),
            device_id(lib.BNAPI_DEVICE_CUDA, array.device.id),
            True,
        )

    def address(self, array: Array) -> int:
        return int(array.data.ptr)

    def writable(self, array: Array) -> bool:
        return True

    def allocator(
        self, like: Array, shape: Sequence[int], dtype: int, order: Sequence[int]
    ) -> Callable[[], Array]:
        kind = numpy_dtype(dtype)
        in_memory = tuple(shape[axis] for axis in order)
        back = tuple(sorted(range(len(order)), key=lambda axis: order[axis]))
        device = like.device.id

        def allocate() -> Array:
            with cupy.cuda.Device(device):
                return cupy.empty(in_memory, kind).transpose(back)

        return allocate

    def stream(self, array: Array) -> Stream | None:
        native = cupy.cuda.get_current_stream(array.device.id).ptr
        return foreign_stream(device_id(lib.BNAPI_DEVICE_CUDA, array.device.id), native)
