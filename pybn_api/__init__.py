"""Two-phase batch normalization operators on CPUs and NVIDIA GPUs.

Functions, one per operator, take the arrays you have (NumPy, PyTorch, CuPy, anything that speaks DLPack)
without copies and return arrays of the same kind. `pybn_api.plan` makes them cheap in loops, `pybn_api.nn`
has layers with state, and `pybn_api.ffi` and `pybn_api.lib` are the C library itself.
"""

from __future__ import annotations

from pybn_api import nn, plan
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
from pybn_api.operators.batch_norm import Normalized, batch_norm
from pybn_api.operators.batch_norm_act import batch_norm_act
from pybn_api.operators.batch_norm_act_backward import ActGradients, batch_norm_act_backward
from pybn_api.operators.batch_norm_backward import Gradients, batch_norm_backward
from pybn_api.operators.batch_norm_elemt import batch_norm_elemt
from pybn_api.operators.batch_norm_elemt_backward import batch_norm_elemt_backward
from pybn_api.operators.batch_norm_gather_stats_with_counts import (
    GatheredStats,
    batch_norm_gather_stats_with_counts,
)
from pybn_api.operators.batch_norm_reduce import Sums, batch_norm_reduce
from pybn_api.operators.batch_norm_reduce_backward import ReduceBackward, batch_norm_reduce_backward
from pybn_api.operators.batch_norm_stats import Stats, batch_norm_stats
from pybn_api.operators.fast_batch_norm_backward import fast_batch_norm_backward
from pybn_api.operators.quantized_batch_norm import quantized_batch_norm
from pybn_api.operators.sync_batch_norm_gather_stats import SyncedStats, sync_batch_norm_gather_stats
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
    "ActGradients",
    "BnApiError",
    "BoolArray",
    "Device",
    "DeviceArray",
    "DeviceError",
    "Event",
    "Executor",
    "GatheredStats",
    "Gradients",
    "InvalidArgument",
    "InvalidHandle",
    "Memory",
    "Normalized",
    "OutOfMemory",
    "ReduceBackward",
    "Scalar",
    "Stats",
    "Stream",
    "Sums",
    "SyncedStats",
    "Tensor",
    "Timeout",
    "Unsupported",
    "batch_norm",
    "batch_norm_act",
    "batch_norm_act_backward",
    "batch_norm_backward",
    "batch_norm_elemt",
    "batch_norm_elemt_backward",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_reduce",
    "batch_norm_reduce_backward",
    "batch_norm_stats",
    "build_info",
    "fast_batch_norm_backward",
    "ffi",
    "finalize",
    "init",
    "isa",
    "lib",
    "nn",
    "num_threads",
    "plan",
    "quantized_batch_norm",
    "set_num_threads",
    "sync_batch_norm_gather_stats",
    "version",
]
