"""The calls that gpu.py times: this library's executors, and PyTorch's operators of the same meaning."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from cases import Case

import pybn_api as bn
from pybn_api import dtypes
from pybn_api._lib import ffi, lib

Call = Callable[[], object]
EPS, MOMENTUM = 1e-5, 0.1
# How often the data have to pass between memory and chip, for tensors far larger than any cache: a training
# step reads its input again once the sums are known.
PASSES = {
    "stats": 1,
    "reduce_backward": 2,
    "elemt": 2,
    "elemt_backward": 3,
    "forward_eval": 2,
    "forward_train": 3,
    "backward": 5,
}
_ORDERS = {"contiguous": (0, 1, 2, 3), "channels_last": (0, 2, 3, 1)}
_CHUNK = 1 << 22  # random elements, repeated through a tensor


def _fill(memory: bn.Memory, dtype: np.dtype[Any], low: float = -2, high: float = 2) -> None:
    """Random numbers: how fast a GPU is depends on its power, and that on the bits that change."""
    count = min(_CHUNK, memory.size // dtype.itemsize)
    chunk = np.random.default_rng(0).uniform(low, high, count).astype(np.float32).astype(dtype)
    source = bn.DeviceArray.from_numpy(chunk, memory.device)
    for start in range(0, memory.size, chunk.nbytes):
        size = min(chunk.nbytes, memory.size - start)
        kind = lib.BNAPI_MEMCPY_DEVICE_TO_DEVICE
        bn.errors.check(lib.bnapiMemcpy(_at(memory, start), size, source.memory.pointer, size, kind))


def _at(memory: bn.Memory, offset: int) -> Any:
    return ffi.cast("void *", memory.address + offset)


class Ours:
    """Repeatable executors over device memory of the library's own."""

    def __init__(self, case: Case, stream: bn.Stream) -> None:
        self.stream, device = stream, stream.device
        code, channels = dtypes.CODES[case.dtype], case.shape[1]

        def data() -> bn.DeviceArray:
            return bn.DeviceArray.empty(case.shape, code, device=device, order=_ORDERS[case.layout])

        def row(low: float = 0.5, high: float = 1.5) -> bn.DeviceArray:
            made = bn.DeviceArray.empty((channels,), dtypes.FLOAT, device=device)
            _fill(made.memory, np.dtype("f4"), low, high)
            return made

        self.x, self.dy, self.out = data(), data(), data()
        for array in (self.x, self.dy):
            _fill(array.memory, dtypes.numpy_dtype(code))
        x, dy, out = self.x, self.dy, self.out
        mean, invstd, weight, bias, running_mean, running_var = (row() for _ in range(6))
        sums = row(), row()
        results = [row() for _ in range(4)]
        count = bn.DeviceArray.from_numpy(np.array([int(np.prod(case.shape)) // channels], np.int32), device)
        mask = bn.BoolArray((True,) * 3)
        affine, running = (weight, bias), (running_mean, running_var)
        self.arguments: dict[str, tuple[Any, ...]] = {
            "stats": ("BatchNormStats", x, EPS, *results[:2]),
            "reduce_backward": (
                "BatchNormReduceBackward", dy, x, mean, invstd, weight, True, True, True, *results
            ),
            "elemt": ("BatchNormElemt", x, *affine, mean, invstd, EPS, out),
            "elemt_backward": ("BatchNormElemtBackward", dy, x, mean, invstd, weight, *sums, count, out),
            "forward_eval": ("BatchNorm", x, *affine, *running, False, MOMENTUM, EPS, out, None, None),
            "forward_train": ("BatchNorm", x, *affine, *running, True, MOMENTUM, EPS, out, *results[:2]),
            "backward": (
                "BatchNormBackward", dy, x, weight, *running, mean, invstd, True, EPS, mask, out, *results[:2]
            ),
        }  # fmt: skip

    def call(self, operation: str) -> Call:
        operator, *arguments = self.arguments[operation]
        tensors = [bn.Tensor.of(a) if isinstance(a, bn.DeviceArray) else a for a in arguments]
        with self.stream.device:
            executor = bn.Executor(operator, *tensors).make_repeatable()
            workspace = bn.Memory(max(1, executor.workspace_bytes), self.stream.device)
        return lambda: executor.run(workspace, self.stream)

    def copy(self) -> Call:
        """One tensor to another, on the device."""
        target, source, stream = self.out.memory, self.x.memory, self.stream
        kind = lib.BNAPI_MEMCPY_DEVICE_TO_DEVICE

        def run() -> None:
            bn.errors.check(
                lib.bnapiMemcpyAsync(
                    target.pointer, target.size, source.pointer, source.size, kind, stream.handle
                )
            )

        return run


def torch_version(device: bn.Device) -> str | None:
    """None where PyTorch is missing, or does not see the device."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    usable = device.type == "cpu" or (torch.cuda.is_available() and "emulated" not in device.name)
    return torch.__version__ if usable else None


def torch_stream(stream: bn.Stream) -> AbstractContextManager[object]:
    """PyTorch works in the same CUDA stream, so that the same events measure both."""
    import torch

    if stream.device.type == "cpu":
        return nullcontext()
    return torch.cuda.stream(torch.cuda.ExternalStream(stream.native, stream.device.ordinal))


class Torch:
    """PyTorch's operators. Those that its CPU does not have raise NotImplementedError."""

    def __init__(self, case: Case, device: bn.Device) -> None:
        import torch

        place = torch.device("cpu" if device.type == "cpu" else f"cuda:{device.ordinal}")
        order = torch.channels_last if case.layout == "channels_last" else torch.contiguous_format

        def data() -> torch.Tensor:
            values = torch.empty(case.shape, dtype=getattr(torch, case.dtype), device=place)
            return values.uniform_(-2, 2).contiguous(memory_format=order)

        def row() -> torch.Tensor:
            return torch.empty(case.shape[1], device=place).uniform_(0.5, 1.5)

        x, dy = data(), data()
        mean, invstd, weight, bias, running_mean, running_var, sum_dy, sum_dy_xmu = (row() for _ in range(8))
        count = torch.tensor([x.numel() // case.shape[1]], dtype=torch.int32, device=place)
        affine, running = (weight, bias), (running_mean, running_var)
        backward = torch.ops.aten.native_batch_norm_backward
        self.calls: dict[str, Call] = {
            "stats": lambda: torch.batch_norm_stats(x, EPS),
            "reduce_backward": lambda: torch.batch_norm_backward_reduce(
                dy, x, mean, invstd, weight, True, True, True
            ),
            "elemt": lambda: torch.batch_norm_elemt(x, *affine, mean, invstd, EPS),
            "elemt_backward": lambda: torch.batch_norm_backward_elemt(
                dy, x, mean, invstd, weight, sum_dy, sum_dy_xmu, count
            ),
            "forward_eval": lambda: torch.native_batch_norm(x, *affine, *running, False, MOMENTUM, EPS),
            "forward_train": lambda: torch.native_batch_norm(x, *affine, *running, True, MOMENTUM, EPS),
            "backward": lambda: backward(dy, x, weight, *running, mean, invstd, True, EPS, [True] * 3),
        }

    def call(self, operation: str) -> Call:
        return self.calls[operation]
