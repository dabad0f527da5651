"""Merging the statistics of several ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pybn_api.arrays.base import Array, View
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec, channels, floating, vector
from pybn_api.runtime import Stream


class GatheredStats(NamedTuple):
    """What `batch_norm_gather_stats_with_counts` returns."""

    mean_all: Array
    invstd_all: Array


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    statistic = vector(channels(inputs[0]), floating(inputs[1].dtype))
    return statistic, statistic


def _make(outputs: Sequence[Array]) -> GatheredStats:
    return tuple.__new__(GatheredStats, outputs)  # a third of what the class itself takes


@operator(
    Spec(
        "BatchNormGatherStatsWithCounts",
        "batch_norm_gather_stats_with_counts",
        "input mean invstd runningMean& runningVar& momentum:double eps:double counts -> meanAll invstdAll",
    ),
    _outputs,
    _make,
)
def batch_norm_gather_stats_with_counts(
    input: Array,
    mean: Array,
    invstd: Array,
    counts: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    *,
    momentum: float = 0.1,
    eps: float = 1e-5,
    out: GatheredStats | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """The statistics of all ranks' data together, from each rank's mean, invstd and count.

    ``mean_all = sum(mean * counts) / n`` and the merged variance
    ``V / n = sum((1 / invstd^2 - eps + (mean - mean_all)^2) * counts) / n``; running statistics are updated
    in place as in `batch_norm`, with ``V / (n - 1)``. A rank with count 0 contributes nothing.

    Parameters
    ----------
    input : [N, C, ...]; only its shape and dtype are looked at.
    mean, invstd : [K, C], one row per rank: float32, float16, bfloat16 or float64.
    counts : [K], elements per channel of each rank, in one of those dtypes.
    running_mean, running_var : [C] or None.
    momentum, eps : as in `batch_norm`.
    out : arrays to write to, in the order of the result; None for one that is to be allocated.
    stream : where to queue the work; without it, NumPy calls return when the results are there.

    Returns
    -------
    GatheredStats of [C] arrays in mean's dtype. No rank, or all counts 0: mean 0, invstd NaN.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> x = np.zeros((1, 1, 1), np.float32)
    >>> mean, invstd = np.array([[1.0], [3.0]]), np.array([[0.5], [0.5]])
    >>> batch_norm_gather_stats_with_counts(x, mean, invstd, np.array([4.0, 12.0]), eps=0.0).mean_all
    array([2.5])
    """
    arrays = [input, mean, invstd, running_mean, running_var, counts]
    return arrays, (float(momentum), float(eps)), out, stream
