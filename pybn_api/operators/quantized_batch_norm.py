"""Batch norm of quantized data."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

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
        "QuantizedBatchNorm",
        "quantized_batch_norm",
        "input mean var inputScale:float_scalar inputZeroPoint:int_scalar outputScale:float_scalar"
        " outputZeroPoint:int_scalar weight? bias? epsilon:float -> output",
    ),
    _outputs,
    _make,
)
def quantized_batch_norm(
    input: Array,
    mean: Array,
    var: Array,
    input_scale: float,
    input_zero_point: int,
    output_scale: float,
    output_zero_point: int,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    epsilon: float = 1e-5,
    out: Array | None = None,
    stream: Stream | None = None,
) -> Bound:
    """Batch normalization of quantized data with given statistics.

    With ``x = (input - input_zero_point) * input_scale`` and
    ``y = (x - mean) / sqrt(var + epsilon) * weight + bias``, the output is ``y / output_scale +
    output_zero_point`` rounded, ties away from zero, and saturated; NaN gives 0.

    Parameters
    ----------
    input : rank 4, not empty, channels on axis 1: int8, uint8 or int32.
    mean, var : [C], float32; var is a variance.
    input_scale, input_zero_point, output_scale, output_zero_point : numbers; the scales are rounded to
        float32.
    weight, bias : [C], float32, or None for 1 and 0.
    epsilon : what is added to the variance, rounded to float32.
    out : the array to write to; may be ``input``.
    stream : where to queue the work; without it, NumPy calls return when the result is there.

    Returns
    -------
    An array of input's dtype, shape and memory order.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> q = np.array([-7, -5, 0, 1, 3], np.int8).reshape(1, 1, 1, 5)
    >>> mean, var = np.zeros(1, np.float32), np.ones(1, np.float32)
    >>> quantized_batch_norm(q, mean, var, 0.5, 0, 1.0, 0, epsilon=0.0).ravel()
    array([-4, -3,  0,  1,  2], dtype=int8)
    """
    source, target = float(input_scale), float(output_scale)
    attributes = source, index(input_zero_point), target, index(output_zero_point), float(epsilon)
    return [input, mean, var, weight, bias], attributes, out, stream
