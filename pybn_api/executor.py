"""Executors and the device memory that they work in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from pybn_api._lib import ffi, lib
from pybn_api.errors import alive, check, disown
from pybn_api.runtime import Device, Stream, handle_of, on_device


class Memory:
    """Device memory from the library, freed with its object, after the work queued on its device.

    >>> Memory(256).size
    256
    """

    __slots__ = ("_pointer", "device", "size")

    def __init__(self, size: int, device: Device | None = None) -> None:
        self.device = device or Device.current()
        self.size = size
        out = ffi.new("void **")
        with on_device(self.device.id):
            check(lib.bnapiMalloc(out, size))
        self._pointer = ffi.gc(out[0], lib.bnapiFree)

    @property
    def pointer(self) -> Any:
        """The C pointer."""
        return alive(self._pointer, self)

    @property
    def address(self) -> int:
        return int(ffi.cast("uintptr_t", self.pointer))

    def close(self) -> None:
        """Frees it now."""
        pointer, self._pointer = self._pointer, ffi.NULL
        if pointer != ffi.NULL:
            check(lib.bnapiFree(disown(pointer)))

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Executor:
    """A planned call of an operator: phase one in the constructor, phase two in `run`.

    `operator` is the C name without prefix; `arguments` are those of the C function, in its order, up to the
    two outgoing pointers: tensors, scalars and bool arrays as the objects of this package or None, numbers as
    they are.

    >>> import numpy as np
    >>> from pybn_api import Tensor
    >>> x = np.arange(12, dtype=np.float32).reshape(4, 3)
    >>> mean, invstd = np.empty(3, np.float32), np.empty(3, np.float32)
    >>> with Executor("BatchNormStats", Tensor.of(x), 1e-5, Tensor.of(mean), Tensor.of(invstd)) as executor:
    ...     executor.run()
    >>> Device.current().synchronize()
    >>> mean
    array([4.5, 5.5, 6.5], dtype=float32)
    """

    __slots__ = ("_handle", "_repeatable", "_run", "_workspace", "operator", "workspace_bytes")

    def __init__(self, operator: str, *arguments: Any, names: Mapping[str, str] | None = None) -> None:
        self.operator = operator
        plan = getattr(lib, f"bnapi{operator}GetWorkspaceSize")
        self._run = getattr(lib, f"bnapi{operator}")
        size, out = ffi.new("uint64_t *"), ffi.new("bnapiOpExecutor **")
        check(plan(*[_c_argument(argument) for argument in arguments], size, out), names)
        self._handle = ffi.gc(out[0], lib.bnapiDestroyOpExecutor)
        self._repeatable = False
        self._workspace: Memory | None = None
        self.workspace_bytes = int(size[0])

    @property
    def handle(self) -> Any:
        """The C handle."""
        return alive(self._handle, self)

    def make_repeatable(self) -> Executor:
        """Lets `run` be called any number of times."""
        check(lib.bnapiSetOpExecutorRepeatable(self.handle))
        self._repeatable = True
        return self

    def set_addresses(self, addresses: Sequence[int]) -> None:
        """Aims the first places, inputs then outputs, at new memory; 0 leaves a place as it is."""
        pointers = ffi.new("void *[]", [ffi.cast("void *", address) for address in addresses])
        check(lib.bnapiSetTensorAddrs(self.handle, pointers, len(addresses)))

    def run(self, workspace: Memory | None = None, stream: Stream | None = None) -> None:
        """Enqueues the work. The workspace is made here if none is given. Unless repeatable, only once."""
        if workspace is None and self.workspace_bytes:
            if self._workspace is None:
                self._workspace = Memory(self.workspace_bytes, stream.device if stream else None)
            workspace = self._workspace
        pointer, size = (ffi.NULL, 0) if workspace is None else (workspace.pointer, workspace.size)
        queue, handle = handle_of(stream), self.handle
        if not self._repeatable:
            disown(handle)  # phase two frees it, whatever it returns
        check(self._run(pointer, size, handle, queue))

    def close(self) -> None:
        """Destroys an executor that was not used up."""
        handle, self._handle = self._handle, ffi.NULL
        if handle != ffi.NULL:
            # Used up, it is gone already: the status of that is of no interest here.
            lib.bnapiDestroyOpExecutor(disown(handle))

    def __enter__(self) -> Executor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _c_argument(argument: Any) -> Any:
    if argument is None:
        return ffi.NULL
    return getattr(argument, "handle", argument)
