"""Normalization with given statistics."""

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
    Spec("BatchNormElemt", "batch_norm_elemt", "input weight? bias? mean invstd eps:double -> output"),
    _outputs,
    _make,
)
def batch_norm_elemt(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array,
    invstd: Array,
    eps: float = 1e-5,
    *,
    out: Array | None = None,
    stream: Stream | None = None,
) -> Bound:
    """Normalization with given statistics: ``(x - mean) * invstd * weight + bias``.

    Parameters
    ----------
    input : x, [N, C, ...], rank 2 to 8, channels on axis 1: float32, float16, bfloat16 or float64.
    weight, bias : [C] or None for 1 and 0; any of the four dtypes.
    mean, invstd : [C]; any of the four dtypes.
    eps : without effect: invstd contains it already.
    out : the array to write to; may be ``input``.
    stream : where to queue the work; without it, NumPy calls return when the result is there.

    Returns
    -------
    An array of x's dtype, shape and memory order.

    Raises
    ------
    InvalidArgument : a required array is None; a dtype, shape or layout is not among the above; C is 0.

    >>> import numpy as np
    >>> x = np.array([[1, -2, 0.5], [4, 3, -1]], np.float32)
    >>> mean, invstd = np.array([1, 2, -1], np.float32), np.array([0.5, 4, 10], np.float32)
    >>> batch_norm_elemt(x, None, None, mean, invstd)
    array([[  0. , -16. ,  15. ],
           [  1.5,   4. ,   0. ]], dtype=float32)
    """
    return [input, weight, bias, mean, invstd], (float(eps),), out, stream
