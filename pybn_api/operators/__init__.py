"""The operators, one file each."""

from pybn_api.operators.batch_norm import batch_norm
from pybn_api.operators.batch_norm_act import batch_norm_act
from pybn_api.operators.batch_norm_act_backward import batch_norm_act_backward
from pybn_api.operators.batch_norm_backward import batch_norm_backward
from pybn_api.operators.batch_norm_elemt import batch_norm_elemt
from pybn_api.operators.batch_norm_elemt_backward import batch_norm_elemt_backward
from pybn_api.operators.batch_norm_gather_stats_with_counts import batch_norm_gather_stats_with_counts
from pybn_api.operators.batch_norm_reduce import batch_norm_reduce
from pybn_api.operators.batch_norm_reduce_backward import batch_norm_reduce_backward
from pybn_api.operators.batch_norm_stats import batch_norm_stats
from pybn_api.operators.fast_batch_norm_backward import fast_batch_norm_backward
from pybn_api.operators.quantized_batch_norm import quantized_batch_norm
from pybn_api.operators.sync_batch_norm_gather_stats import sync_batch_norm_gather_stats

__all__ = [
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
