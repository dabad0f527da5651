"""Batch norm, forward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pybn_api.arrays.base import Array, View
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec, channels, like, statistics_dtype, vector
from pybn_api.runtime import Stream


class Normalized(NamedTuple):
    """What the forward operators return; the statistics are None in inference."""

    output: Array
    save_mean: Array | None
    save_invstd: Array | None


def forward_outputs(data: View, training: bool, label: str | None) -> Sequence[Output | None]:
    """The output like the input; in training the batch's statistics, float32 (float64 for float64 data)."""
    saved = vector(channels(data, label), statistics_dtype(data)) if training else None
    return like(data), saved, saved


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    return forward_outputs(inputs[0], attributes[0], attributes[3])


def make_normalized(outputs: Sequence[Array]) -> Normalized:
    return tuple.__new__(Normalized, outputs)  # a third of what the class itself takes


@operator(
    Spec(
        "BatchNorm",
        "batch_norm",
        "input weight? bias? runningMean& runningVar& training:bool momentum:double eps:double format:label"
        " -> output saveMean saveInvstd",
    ),
    _outputs,
    make_normalized,
)
def batch_norm(
    input: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    *,
    training: bool,
    momentum: float = 0.1,
    eps: float = 1e-5,
    format: str | None = None,
    out: Normalized | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """Batch normalization, forward: ``output = (x - mean) * invstd * weight + bias`` per channel.

    In training, mean and (biased) variance are the batch's, ``invstd = 1 / sqrt(var + eps)``, and the running
    statistics become ``(1 - momentum) * running + momentum * batch``, with the unbiased variance, in place.
    In inference they are the running statistics.

    Parameters
    ----------
    input : x, [N, C, ...], rank 2 to 8: float32, float16, bfloat16 or float64.
    weight, bias : [C] or None for 1 and 0; any of the four dtypes.
    running_mean, running_var : [C]. None in training: not updated; in inference: 0 and 1.
    training : normalize with the batch's own statistics.
    momentum, eps : the batch's weight in the running statistics; what is added to the variance.
    format : "NHWC" or "NDHWC" if the channels are the last axis of x.
    out : arrays to write to, in the order of the result; None for one that is to be allocated. ``output`` may
        be ``input``.
    stream : where to queue the work; without it, NumPy calls return when the results are there.

    Returns
    -------
    Normalized: the output in x's dtype, shape and memory order; in training the batch's mean and invstd, [C],
    for the backward pass. An empty batch gives mean 0 and invstd NaN, and leaves the running statistics
    alone.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> x = np.array([[1, -2], [2, 8], [6, 3]], np.float32)
    >>> result = batch_norm(x, training=True)
    >>> result.output.round(3)
    array([[-0.926, -1.225],
           [-0.463,  1.225],
           [ 1.389,  0.   ]], dtype=float32)
    >>> result.save_mean
    array([3., 3.], dtype=float32)
    """
    attributes = bool(training), float(momentum), float(eps), format
    return [input, weight, bias, running_mean, running_var], attributes, out, stream
