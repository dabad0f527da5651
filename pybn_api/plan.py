"""Operators made ready for loops: plan once, call on any arrays of the same dtypes, shapes and strides.

Each function here takes the arguments of the operator of the same name and returns a plan, which is called
with the operator's arguments again. It reuses the executor and the workspace.

>>> import numpy as np, pybn_api
>>> x = np.ones((8, 3, 4, 4), np.float32)
>>> mean, invstd = np.zeros(3, np.float32), np.ones(3, np.float32)
>>> reduce = pybn_api.plan.batch_norm_reduce_backward(x, x, mean, invstd)
>>> reduce(x, 2 * x, mean, invstd).sum_dy_xmu
array([256., 256., 256.], dtype=float32)
"""

from __future__ import annotations

from pybn_api import operators as _functions
from pybn_api.operators.call import Plan, planner

__all__ = [
    "Plan",
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
    "fast_batch_norm_backward",
    "quantized_batch_norm",
    "sync_batch_norm_gather_stats",
]

batch_norm = planner(_functions.batch_norm)
batch_norm_act = planner(_functions.batch_norm_act)
batch_norm_act_backward = planner(_functions.batch_norm_act_backward)
batch_norm_backward = planner(_functions.batch_norm_backward)
batch_norm_elemt = planner(_functions.batch_norm_elemt)
batch_norm_elemt_backward = planner(_functions.batch_norm_elemt_backward)
batch_norm_gather_stats_with_counts = planner(_functions.batch_norm_gather_stats_with_counts)
batch_norm_reduce = planner(_functions.batch_norm_reduce)
batch_norm_reduce_backward = planner(_functions.batch_norm_reduce_backward)
batch_norm_stats = planner(_functions.batch_norm_stats)
fast_batch_norm_backward = planner(_functions.fast_batch_norm_backward)
quantized_batch_norm = planner(_functions.quantized_batch_norm)
sync_batch_norm_gather_stats = planner(_functions.sync_batch_norm_gather_stats)
