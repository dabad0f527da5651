"""Streams of other libraries, wrapped once each."""

from __future__ import annotations

from pybn_api import runtime
from pybn_api.runtime import Device, Stream

_wrapped: dict[tuple[int, int, int], Stream] = {}
_MOST = 64


def foreign_stream(device: int, native: int) -> Stream:
    """The wrapper of a cudaStream_t. The owner may destroy its stream at any time; wrapping leaves it
    alone."""
    key = (runtime.epoch, device, native)
    stream = _wrapped.get(key)
    if stream is None:
        if len(_wrapped) >= _MOST:
            _wrapped.clear()
        stream = _wrapped[key] = Stream(Device(device), native=native)
    return stream
