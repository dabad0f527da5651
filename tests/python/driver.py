"""Runs an operator through its two C phases, under the conditions that every case is tested in.

The tensors are destroyed between the phases; the workspace has exactly the planned size, is filled with NaN
bytes and, on the CPU, lies between guard bytes; outputs lie between guard elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from devices import TestDevice
from layouts import Guarded

import pybn_api
from pybn_api._lib import ffi, lib
from pybn_api.dtypes import code_of
from pybn_api.operators.call import _operations
from pybn_api.operators.spec import Spec
from pybn_api.tensor import FORMATS, format_of_rank

SPECS: dict[str, Spec] = {operation.spec.operator: operation.spec for operation in _operations.values()}
_GUARD = 0xA5


class Workspace:
    """Exactly `size` bytes, 64-byte aligned, full of NaN; `check` sees writes beside it."""

    def __init__(self, device: TestDevice, size: int) -> None:
        self.size = size
        self.memory: pybn_api.Memory | None = None
        self.raw: np.ndarray | None = None
        self.pointer = ffi.NULL
        if size == 0:
            return
        if device.is_cpu:
            self.raw = np.full(size + 256, _GUARD, np.uint8)
            address = self.raw.ctypes.data
            self.start = -address % 64 + 64
            self.raw[self.start : self.start + size] = 0xFF
            self.pointer = ffi.cast("void *", address + self.start)
        else:
            self.memory = pybn_api.Memory(size, device.device)
            self.pointer = self.memory.pointer
            assert lib.bnapiMemset(self.pointer, size, 0xFF, size) == 0

    def check(self) -> None:
        if self.raw is not None:
            beside = np.delete(self.raw, slice(self.start, self.start + self.size))
            assert (beside == _GUARD).all(), "bytes beside the workspace were written"


def describe(array: Any, format: str | int | None = None) -> pybn_api.Tensor | None:
    """A descriptor of a numpy array, a device array, or a guarded output on the host."""
    if array is None or isinstance(array, pybn_api.Tensor):
        return array
    if isinstance(array, Guarded):
        array = array.view
    return pybn_api.Tensor.of(array, format=format)


class Call:
    """One operator call: phase one in the constructor, so that its status can be looked at."""

    def __init__(
        self,
        device: TestDevice,
        operator: str,
        tensors: Mapping[str, Any],
        attributes: Mapping[str, Any] | None = None,
        format: str | None = None,
        formats: Mapping[str, str | int] | None = None,
    ) -> None:
        self.device = device
        self.spec = SPECS[operator]
        self.operator = operator
        self.guarded: list[tuple[str, Guarded, Any]] = []
        self._alive: list[Any] = []
        arguments: list[Any] = []
        for parameter in (*self.spec.parameters, *self.spec.outputs):
            name = parameter.name
            if parameter in self.spec.attributes:
                if parameter.kind != "label":
                    arguments.append(_attribute(parameter.kind, (attributes or {})[name]))
                continue
            array = tensors.get(name)
            label: str | int | None = (formats or {}).get(name, format if _rank(array) >= 2 else None)
            arguments.append(self._tensor(name, array, label))
        size, out = ffi.new("uint64_t *", 12345), ffi.new("bnapiOpExecutor **")
        plan = getattr(lib, f"bnapi{operator}GetWorkspaceSize")
        handles = [getattr(a, "handle", ffi.NULL if a is None else a) for a in arguments]
        self.status: int = plan(*handles, size, out)
        self.message = ffi.string(lib.bnapiGetRecentErrMsg()).decode() if self.status else ""
        self.executor = out[0]
        self.workspace_bytes = int(size[0])
        if self.status:
            assert self.executor == ffi.NULL
            assert size[0] == 12345, "phase one failed and wrote workspaceSize"
        for argument in arguments:  # destroyed between the phases
            if hasattr(argument, "close"):
                argument.close()

    def _tensor(self, name: str, array: Any, label: str | int | None) -> pybn_api.Tensor | None:
        if not isinstance(array, Guarded):
            moved = self.device.put(array) if isinstance(array, np.ndarray) else array
            self._alive.append(moved)
            return describe(moved, label)
        if self.device.is_cpu:
            self.guarded.append((name, array, None))
            return describe(array, label)
        raw = pybn_api.DeviceArray.from_numpy(array.raw, self.device.device)
        self.guarded.append((name, array, raw))
        view = pybn_api.DeviceArray(
            raw.memory, array.view.shape, array.strides, code_of(array.dtype), array.offset
        )
        return describe(view, label)

    def run(self, stream: pybn_api.Stream | None = None) -> int:
        """Phase two and a wait; the outputs are back in their `Guarded`."""
        assert self.status == 0, self.message
        workspace = Workspace(self.device, self.workspace_bytes)
        handle = ffi.NULL if stream is None else stream.handle
        status: int = getattr(lib, f"bnapi{self.operator}")(
            workspace.pointer, self.workspace_bytes, self.executor, handle
        )
        if status == 0:
            status = lib.bnapiSynchronizeStream(handle)
        self.message = ffi.string(lib.bnapiGetRecentErrMsg()).decode() if status else ""
        workspace.check()
        for name, output, raw in self.guarded:
            if raw is not None:
                output.raw[...] = raw.to_numpy()
            output.check(name)
        return status


def _rank(array: Any) -> int:
    if isinstance(array, Guarded):
        return array.view.ndim
    return 0 if array is None else len(array.shape)


def _attribute(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "mask":
        return pybn_api.BoolArray(value)
    if kind == "float_scalar":
        return pybn_api.Scalar(value, "float32")
    if kind == "int_scalar":
        return pybn_api.Scalar(value, "int32")
    return value


def run(
    device: TestDevice,
    operator: str,
    tensors: Mapping[str, Any],
    attributes: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> None:
    """A call that has to succeed."""
    call = Call(device, operator, tensors, attributes, **keywords)
    assert call.status == 0, call.message
    assert call.run() == 0, call.message


def status(
    device: TestDevice,
    operator: str,
    tensors: Mapping[str, Any],
    attributes: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> tuple[int, str]:
    """Phase one's answer to a call that may be refused; the executor of an accepted one is destroyed."""
    call = Call(device, operator, tensors, attributes, **keywords)
    if call.status == 0:
        assert lib.bnapiDestroyOpExecutor(call.executor) == 0
    return call.status, call.message


def outputs(spec: Mapping[str, tuple[Sequence[int], Any]]) -> dict[str, Guarded]:
    """Guarded contiguous outputs by name."""
    return {name: Guarded(tuple(shape), np.dtype(dtype)) for name, (shape, dtype) in spec.items()}


__all__ = ["FORMATS", "Call", "Guarded", "describe", "format_of_rank", "outputs", "run", "status"]
