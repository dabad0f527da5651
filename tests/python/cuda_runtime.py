"""CUDA's own runtime beside the library: streams of other owners, and graphs.

On the emulated device it is the emulator's library, on a GPU the toolkit's libcudart, which shares the
device's context with the copy inside libbn_api.so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from devices import TestDevice

from pybn_api import _lib

_Handle = ctypes.c_void_p
_Out = ctypes.POINTER(_Handle)
_GLOBAL = 0  # the strictest mode of capture
_SIGNATURES: dict[str, tuple[type, ...]] = {
    "cudaSetDevice": (ctypes.c_int,),
    "cudaStreamCreateWithFlags": (_Out, ctypes.c_uint),
    "cudaStreamDestroy": (_Handle,),
    "cudaStreamQuery": (_Handle,),
    "cudaStreamSynchronize": (_Handle,),
    "cudaStreamBeginCapture": (_Handle, ctypes.c_int),
    "cudaStreamEndCapture": (_Handle, _Out),
    "cudaGraphInstantiate": (_Out, _Handle, ctypes.c_ulonglong),
    "cudaGraphGetNodes": (_Handle, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)),
    "cudaGraphLaunch": (_Handle, _Handle),
    "cudaGraphExecDestroy": (_Handle,),
    "cudaGraphDestroy": (_Handle,),
}


def _first(*names: str) -> ctypes.CDLL | None:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@cache
def emulator() -> ctypes.CDLL | None:
    """The emulator's library, with its controls (tests/simt/include/bn_simt.h)."""
    return _first(str(Path(_lib.__file__).resolve().parents[2] / "lib" / "libbn_simt.so"))


@cache
def _runtime() -> ctypes.CDLL | None:
    library = emulator() or _first("libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13")
    if library is not None:
        for function, arguments in _SIGNATURES.items():
            getattr(library, function).argtypes = arguments
    return library


class Runtime:
    """Calls that have to succeed, on one device."""

    def __init__(self, device: TestDevice) -> None:
        library = None if device.is_cpu else _runtime()
        if library is None:
            pytest.skip("needs a CUDA device, and CUDA's runtime as a shared library")
        self.library = library
        self.call("cudaSetDevice", device.device.ordinal)

    def call(self, function: str, *arguments: object) -> None:
        error = getattr(self.library, function)(*arguments)
        assert error == 0, f"{function}: error {error}"

    def _make(self, function: str, *arguments: object) -> int:
        out = _Handle()
        self.call(function, ctypes.byref(out), *arguments)
        assert out.value
        return out.value

    def create_stream(self) -> int:
        return self._make("cudaStreamCreateWithFlags", 1)  # does not wait for the null stream

    def destroy_stream(self, stream: int) -> None:
        self.call("cudaStreamDestroy", stream)

    def is_busy(self, stream: int) -> bool:
        return bool(self.library.cudaStreamQuery(stream))

    @contextmanager
    def stream(self) -> Iterator[int]:
        stream = self.create_stream()
        yield stream
        self.destroy_stream(stream)

    @contextmanager
    def capture(self, stream: int) -> Iterator[Graph]:
        """What is put into the stream inside becomes the graph. Anything that is not allowed meanwhile
        spoils it."""
        graph = Graph(self)
        self.call("cudaStreamBeginCapture", stream, _GLOBAL)
        try:
            yield graph
        finally:
            out = _Handle()
            error = self.library.cudaStreamEndCapture(stream, ctypes.byref(out))
        assert error == 0, f"the capture was spoilt: error {error}"
        graph.take(out)


class Graph:
    """A captured stream, ready to be launched."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.nodes = 0
        self.executable: int | None = None

    def take(self, graph: ctypes.c_void_p) -> None:
        count = ctypes.c_size_t()
        self.runtime.call("cudaGraphGetNodes", graph, None, ctypes.byref(count))
        self.nodes = count.value
        self.executable = self.runtime._make("cudaGraphInstantiate", graph, 0)
        self.runtime.call("cudaGraphDestroy", graph)

    def launch(self, stream: int) -> None:
        """Runs it once, and waits."""
        self.runtime.call("cudaGraphLaunch", self.executable, stream)
        self.runtime.call("cudaStreamSynchronize", stream)

    def close(self) -> None:
        self.runtime.call("cudaGraphExecDestroy", self.executable)
