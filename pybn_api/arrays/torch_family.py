"""PyTorch tensors, on the CPU and on CUDA devices. Results carry no gradient history: see `pybn_api.torch`
for that."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import torch

from pybn_api._lib import lib
from pybn_api.arrays.base import Array, Family, View, dense_strides
from pybn_api.arrays.streams import foreign_stream
from pybn_api.dtypes import CODES, NAMES
from pybn_api.errors import invalid
from pybn_api.runtime import Stream, device_id

_codes = {getattr(torch, name): code for name, code in CODES.items() if hasattr(torch, name)}


class TorchFamily(Family):
    stream_ordered = True  # the caching allocator hands memory on in the stream's order

    def signature(self, array: Array) -> Hashable:
        return array.dtype, array.shape, array.stride(), array.device

    def view(self, array: Array) -> View:
        if array.layout != torch.strided:
            raise invalid(f"a {array.layout} tensor, where a strided one is needed")
        if array.is_neg() or array.is_conj():
            raise invalid("a tensor with a pending negation or conjugation: resolve it first")
        return View(
            tuple(array.shape),
            array.stride(),
            _codes.get(array.dtype, lib.BNAPI_DT_UNDEFINED),
            array.data_ptr(),
            self._device(array.device),
            True,
        )

    @staticmethod
    def _device(device: torch.device) -> int:
        if device.type == "cpu":
            return device_id(lib.BNAPI_DEVICE_CPU, 0)
        if device.type == "cuda":
            return device_id(lib.BNAPI_DEVICE_CUDA, device.index or 0)
        raise invalid(f"a tensor on {device}, where cpu and cuda are known")

    def address(self, array: Array) -> int:
        return int(array.data_ptr())

    def writable(self, array: Array) -> bool:
        return True

    def allocator(
        self, like: Array, shape: Sequence[int], dtype: int, order: Sequence[int]
    ) -> Callable[[], Array]:
        strides = dense_strides(shape, order)
        kind = getattr(torch, NAMES[dtype])
        return partial(torch.empty_strided, tuple(shape), strides, dtype=kind, device=like.device)

    def stream(self, array: Array) -> Stream | None:
        if array.device.type != "cuda":
            return None
        native = torch.cuda.current_stream(array.device).cuda_stream
        return foreign_stream(self._device(array.device), native)
