"""The input's gradient from given sums."""

from __future__ import annotations

from collections.abc import Sequence

from pybn_api.arrays.base import Array, View
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec, like
from pybn_api.runtime import Stream


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    return (like(inputs[0]),)


def _make(outputs: Sequence[Array]) -> Array:
    return outputs[0]


@operator(
    Spec(
        "BatchNormElemtBackward",
        "batch_norm_elemt_backward",
        "gradOut input mean invstd weight? sumDy sumDyXmu counter -> gradInput",
    ),
    _outputs,
    _make,
)
def batch_norm_elemt_backward(
    grad_out: Array,
    input: Array,
    mean: Array,
    invstd: Array,
    weight: Array | None,
    sum_dy: Array,
    sum_dy_xmu: Array,
    counter: Array,
    *,
    out: Array | None = None,
    stream: Stream | None = None,
) -> Bound:
    """The input's gradient from the sums of all ranks.

    ``(dy - sum_dy / n - (x - mean) * invstd^2 * sum_dy_xmu / n) * invstd * weight``, n the sum of
    ``counter``.

    Parameters
    ----------
    grad_out, input : dy and x, [N, C, ...], rank 2 to 8, channels on axis 1: float32, float16, bfloat16,
        float64.
    mean, invstd : [C]; any of the four dtypes.
    weight : [C] or None for 1.
    sum_dy, sum_dy_xmu : [C], those of `batch_norm_reduce_backward`, added over the ranks.
    counter : elements per channel, as any number of int32, float16 or float32 values (or float64) that are
        added.
    out : the array to write to; may be ``grad_out`` or ``input``.
    stream : where to queue the work; without it, NumPy calls return when the result is there.

    Returns
    -------
    An array of grad_out's dtype, shape and memory order.

    Raises
    ------
    InvalidArgument : a required array is None; a dtype, shape or layout is not among the above; C is 0.

    >>> import numpy as np
    >>> dy, x = np.array([[2.0], [-1.0]]), np.array([[3.0], [7.0]])
    >>> one = np.ones(1)
    >>> batch_norm_elemt_backward(dy, x, 5 * one, 0.5 * one, None, one, -6 * one, np.array([4], np.int32))
    array([[ 0.5 ],
           [-0.25]])
    """
    arrays = [grad_out, input, mean, invstd, weight, sum_dy, sum_dy_xmu, counter]
    return arrays, (), out, stream
