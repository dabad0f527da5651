"""Raw sums per channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pybn_api.arrays.base import Array, View
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec, channels, statistics_dtype, vector
from pybn_api.runtime import Stream


class Sums(NamedTuple):
    """What `batch_norm_reduce` returns."""

    sum: Array
    square_sum: Array


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    total = vector(channels(inputs[0], attributes[0]), statistics_dtype(inputs[0]))
    return total, total


def _make(outputs: Sequence[Array]) -> Sums:
    return tuple.__new__(Sums, outputs)  # a third of what the class itself takes


@operator(Spec("BatchNormReduce", "batch_norm_reduce", "x format:label -> sum squareSum"), _outputs, _make)
def batch_norm_reduce(
    x: Array,
    *,
    format: str | None = None,
    out: Sums | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """Sum and sum of squares per channel, not centred: ``sum = sum(x)``, ``square_sum = sum(x * x)``.

    Parameters
    ----------
    x : rank 4: float32, float16, bfloat16 or float64.
    format : "NHWC" if the channels are the last axis of x.
    out : arrays to write to; float32, or float64.
    stream : where to queue the work; without it, NumPy calls return when the results are there.

    Returns
    -------
    Sums of [C] arrays: float32, for float64 data float64. An empty array gives zeros.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> batch_norm_reduce(np.array([[[[1, -2], [0.5, 4]]]], np.float32))
    Sums(sum=array([3.5], dtype=float32), square_sum=array([21.25], dtype=float32))
    """
    return [x], (format,), out, stream
