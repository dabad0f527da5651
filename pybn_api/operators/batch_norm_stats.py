"""The batch's statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pybn_api.arrays.base import Array, View
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec, channels, statistics_dtype, vector
from pybn_api.runtime import Stream


class Stats(NamedTuple):
    """What `batch_norm_stats` returns."""

    mean: Array
    invstd: Array


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    statistic = vector(channels(inputs[0]), statistics_dtype(inputs[0]))
    return statistic, statistic


def _make(outputs: Sequence[Array]) -> Stats:
    return tuple.__new__(Stats, outputs)  # a third of what the class itself takes


@operator(Spec("BatchNormStats", "batch_norm_stats", "input eps:double -> mean invstd"), _outputs, _make)
def batch_norm_stats(
    input: Array,
    eps: float = 1e-5,
    *,
    out: Stats | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """Mean and inverse standard deviation per channel: ``invstd = 1 / sqrt(var + eps)``, var biased.

    Parameters
    ----------
    input : x, [N, C, ...], rank 2 to 8, channels on axis 1: float32, float16, bfloat16 or float64.
    eps : what is added to the variance.
    out : arrays to write to; float32, or float64.
    stream : where to queue the work; without it, NumPy calls return when the results are there.

    Returns
    -------
    Stats of [C] arrays: float32, for float64 data float64. An empty batch gives mean 0 and invstd NaN.

    Raises
    ------
    InvalidArgument : input is None; a dtype, shape or layout is not among the above; C is 0.

    >>> import numpy as np
    >>> batch_norm_stats(np.array([[30000], [30001], [30002], [30005]], np.float32))
    Stats(mean=array([30002.], dtype=float32), invstd=array([0.5345217], dtype=float32))
    """
    return [input], (float(eps),), out, stream
