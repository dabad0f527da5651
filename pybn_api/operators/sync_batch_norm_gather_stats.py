"""Statistics from the ranks' sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pybn_api.arrays.base import Array, View
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec, floating, vector
from pybn_api.runtime import Stream


class SyncedStats(NamedTuple):
    """What `sync_batch_norm_gather_stats` returns."""

    batch_mean: Array
    batch_invstd: Array


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    totals = inputs[0]
    length = totals.shape[1] if len(totals.shape) > 1 else 0
    statistic = vector(length, floating(totals.dtype))
    return statistic, statistic


def _make(outputs: Sequence[Array]) -> SyncedStats:
    return tuple.__new__(SyncedStats, outputs)  # a third of what the class itself takes


@operator(
    Spec(
        "SyncBatchNormGatherStats",
        "sync_batch_norm_gather_stats",
        "totalSum totalSquareSum sampleCount mean! variance! momentum:float eps:float"
        " -> batchMean batchInvstd",
    ),
    _outputs,
    _make,
)
def sync_batch_norm_gather_stats(
    total_sum: Array,
    total_square_sum: Array,
    sample_count: Array,
    mean: Array,
    variance: Array,
    *,
    momentum: float = 0.1,
    eps: float = 1e-5,
    out: SyncedStats | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """The batch's statistics from each rank's raw sums; the running mean and variance are updated in place.

    ``batch_mean = sum(total_sum) / n`` and
    ``batch_invstd = 1 / sqrt(sum(total_square_sum) / n - batch_mean^2 + eps)``.
    Sums of squares lose the variance of data whose mean is large: `batch_norm_gather_stats_with_counts` does
    not.

    Parameters
    ----------
    total_sum, total_square_sum : [N, C], one row per rank, N > 0: float32, float16, bfloat16 or float64.
    sample_count : [N], elements per channel of each rank: int32 or one of those dtypes.
    mean, variance : [C], the running statistics, in total_sum's dtype.
    momentum, eps : as in `batch_norm`, rounded to float32.
    out : arrays to write to, in the order of the result; None for one that is to be allocated.
    stream : where to queue the work; without it, NumPy calls return when the results are there.

    Returns
    -------
    SyncedStats of [C] arrays in total_sum's dtype.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> sums, squares = np.array([[12.0]]), np.array([[36.0]])
    >>> mean, variance = np.array([-1.0]), np.array([0.5])
    >>> count = np.array([4], np.int32)
    >>> sync_batch_norm_gather_stats(sums, squares, count, mean, variance, momentum=0.25).batch_mean, mean
    (array([3.]), array([0.]))
    """
    arrays = [total_sum, total_square_sum, sample_count, mean, variance]
    return arrays, (float(momentum), float(eps)), out, stream
