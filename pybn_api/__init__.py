"""Two-phase batch normalization operators on CPUs and NVIDIA GPUs.

Functions, one per operator, take the arrays you have (NumPy, PyTorch, CuPy, anything that speaks DLPack)
without copies and return arrays of the same kind. `pybn_api.plan` makes them cheap in loops, `pybn_api.nn`
has layers with state, and `pybn_api.ffi` and `pybn_api.lib` are the C library itself.
"""

from __future__ import annotations

from pybn_api import plan
from pybn_api._lib import ffi, lib
from pybn_api.arrays.device_array import DeviceArray
from pybn_api.errors import (
    BnApiError,
    DeviceError,
    InvalidArgument,
    InvalidHandle,
    OutOfMemory,
    Timeout,
    Unsupported,
)
from pybn_api.executor import Executor, Memory
from pybn_api.operators.reduce_backward import ReduceBackward, batch_norm_reduce_backward
from pybn_api.runtime import (
    Device,
    Event,
    Stream,
    build_info,
    finalize,
    init,
    isa,
    num_threads,
    set_num_threads,
    version,
)
from pybn_api.tensor import BoolArray, Scalar, Tensor

__version__ = ".".join(map(str, version()))

__all__ = [
    "BnApiError",
    "BoolArray",
    "Device",
    "DeviceArray",
    "DeviceError",
    "Event",
    "Executor",
    "InvalidArgument",
    "InvalidHandle",
    "Memory",
    "OutOfMemory",
    "ReduceBackward",
    "Scalar",
    "Stream",
    "Tensor",
    "Timeout",
    "Unsupported",
    "batch_norm_reduce_backward",
    "build_info",
    "ffi",
    "finalize",
    "init",
    "isa",
    "lib",
    "num_threads",
    "plan",
    "set_num_threads",
    "version",
]
