"""The sums of batch norm's backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pybn_api.arrays.base import Array, View
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec, channels, floating, vector
from pybn_api.runtime import Stream


class ReduceBackward(NamedTuple):
    """What `batch_norm_reduce_backward` returns; what was not asked for is None."""

    sum_dy: Array | None
    sum_dy_xmu: Array | None
    grad_weight: Array | None
    grad_bias: Array | None


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    _, data, mean, _, weight = inputs
    input_g, weight_g, bias_g = attributes
    sums = vector(channels(data), floating(mean.dtype))
    grads = vector(channels(data), floating(mean.dtype if weight is None else weight.dtype))
    return (
        sums if input_g else None,
        sums if input_g else None,
        grads if weight_g else None,
        grads if bias_g else None,
    )


def _make(outputs: Sequence[Array]) -> ReduceBackward:
    return tuple.__new__(ReduceBackward, outputs)  # a third of what the class itself takes


@operator(
    Spec(
        "BatchNormReduceBackward",
        "batch_norm_reduce_backward",
        "gradOut input mean invstd weight? inputG:bool weightG:bool biasG:bool"
        " -> sumDy sumDyXmu gradWeight gradBias",
    ),
    _outputs,
    _make,
)
def batch_norm_reduce_backward(
    grad_out: Array,
    input: Array,
    mean: Array,
    invstd: Array,
    weight: Array | None = None,
    *,
    input_g: bool = True,
    weight_g: bool = True,
    bias_g: bool = True,
    out: ReduceBackward | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """The per-channel sums that batch norm's backward pass needs, over every axis but axis 1.

    ``sum_dy = sum(dy)``, ``sum_dy_xmu = sum(dy * (x - mean))``, ``grad_weight = sum_dy_xmu * invstd``,
    ``grad_bias = sum(dy)``.

    Parameters
    ----------
    grad_out, input : dy and x, [N, C, ...], rank 2 to 8, one dtype: float32, float16, bfloat16 or float64.
    mean, invstd : [C]; ``invstd`` is ``1 / sqrt(variance + eps)``. Any of the four dtypes.
    weight : [C] or None; enters no result, but its dtype is that of the parameter gradients.
    input_g : want ``sum_dy`` and ``sum_dy_xmu``.
    weight_g, bias_g : want ``grad_weight``; want ``grad_bias``.
    out : arrays to write to, in the order of the result; None for one that is to be allocated.
    stream : where to queue the work; without it, NumPy calls return when the results are there.

    Returns
    -------
    ReduceBackward of [C] arrays: the sums in mean's dtype, the gradients in weight's (mean's without one).
    An empty batch gives zeros.

    Raises
    ------
    InvalidArgument : a required array is None; a dtype, shape or layout is not among the above; C is 0.

    >>> import numpy as np
    >>> dy = np.array([[1, -1], [0.5, 2], [-2, 3]], np.float32)
    >>> x = np.array([[2, 0], [4, 1], [9, -5]], np.float32)
    >>> mean, invstd = np.array([5, -1], np.float32), np.array([0.25, 2], np.float32)
    >>> sums = batch_norm_reduce_backward(dy, x, mean, invstd, bias_g=False)
    >>> sums.sum_dy, sums.sum_dy_xmu, sums.grad_bias
    (array([-0.5,  4. ], dtype=float32), array([-11.5,  -9. ], dtype=float32), None)
    """
    return [grad_out, input, mean, invstd, weight], (bool(input_g), bool(weight_g), bool(bias_g)), out, stream
