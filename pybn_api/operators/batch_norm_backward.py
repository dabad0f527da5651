"""Batch norm, backward."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from pybn_api.arrays.base import Array, View
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import (
    Attribute,
    Output,
    Spec,
    channels,
    floating,
    like,
    statistics_dtype,
    vector,
)
from pybn_api.runtime import Stream


class Gradients(NamedTuple):
    """What the backward operators return; what the mask leaves out is None."""

    grad_input: Array | None
    grad_weight: Array | None
    grad_bias: Array | None


def gradient_outputs(
    data: View, statistics: View | None, weight: View | None, mask: Sequence[bool], label: str | None
) -> Sequence[Output | None]:
    """The input's gradient like grad_out, the parameters' in the dtype of weight, else of the statistics."""
    source = weight or statistics
    dtype = statistics_dtype(data) if source is None else floating(source.dtype)
    parameter = vector(channels(data, label), dtype)
    rows = (like(data), parameter, parameter)
    # A mask of another length is for the library to refuse.
    return [row if wanted else None for row, wanted in itertools.zip_longest(rows, mask[:3])]


_MASKS = {mask: mask for length in (3, 4) for mask in itertools.product((False, True), repeat=length)}


def mask_of(output_mask: Sequence[bool]) -> tuple[bool, ...]:
    """The mask as a tuple of bools; quickly so for those that are one already."""
    try:
        return _MASKS[output_mask]  # type: ignore[index]
    except (KeyError, TypeError):
        return tuple(map(bool, output_mask))


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    data, _, weight, running_mean, _, save_mean, _ = inputs
    training, _, mask, label = attributes
    return gradient_outputs(data, save_mean if training else running_mean, weight, mask, label)


def make_gradients(outputs: Sequence[Array]) -> Gradients:
    return tuple.__new__(Gradients, outputs)  # a third of what the class itself takes


@operator(
    Spec(
        "BatchNormBackward",
        "batch_norm_backward",
        "gradOut input weight? runningMean? runningVar? saveMean? saveInvstd? training:bool eps:double"
        " outputMask:mask format:label -> gradInput gradWeight gradBias",
    ),
    _outputs,
    make_gradients,
)
def batch_norm_backward(
    grad_out: Array,
    input: Array,
    weight: Array | None = None,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    save_mean: Array | None = None,
    save_invstd: Array | None = None,
    *,
    training: bool,
    eps: float = 1e-5,
    output_mask: Sequence[bool] = (True, True, True),
    format: str | None = None,
    out: Gradients | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """The gradients of batch normalization with respect to its input, weight and bias.

    ``grad_bias = sum(dy)`` and ``grad_weight = sum(dy * (x - mean)) * invstd``. In training
    ``grad_input = weight * invstd * (dy - grad_bias / n - (x - mean) * invstd * grad_weight / n)``; in
    inference, where the statistics are constants, ``grad_input = weight * invstd * dy``.

    Parameters
    ----------
    grad_out, input : dy and x, [N, C, ...], rank 2 to 8, one dtype: float32, float16, bfloat16 or float64.
    weight : [C] or None for 1.
    running_mean, running_var : [C], read in inference; None for 0 and 1.
    save_mean, save_invstd : [C], the batch's statistics from the forward pass, read in training; None for 0
        and 1. The parameters and statistics have grad_out's dtype or float32 (or float64), each pair the
        same.
    training : which statistics the forward pass used.
    eps : what was added to the variance; read in inference.
    output_mask : which of the three gradients are wanted.
    format : "NHWC" or "NDHWC" if the channels are the last axis.
    out : arrays to write to, in the order of the result; None for one that is to be allocated. ``grad_input``
        may be ``grad_out`` or ``input``.
    stream : where to queue the work; without it, NumPy calls return when the results are there.

    Returns
    -------
    Gradients: grad_input in grad_out's dtype, shape and memory order; grad_weight and grad_bias, [C], in
    weight's dtype, without a weight in that of the statistics. An empty batch gives zeros.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> from pybn_api import batch_norm
    >>> x, dy = np.array([[1.0], [3.0]], np.float32), np.array([[1.0], [0.0]], np.float32)
    >>> _, mean, invstd = batch_norm(x, training=True, eps=0.0)
    >>> batch_norm_backward(dy, x, save_mean=mean, save_invstd=invstd, training=True).grad_weight
    array([-1.], dtype=float32)
    """
    attributes = bool(training), float(eps), mask_of(output_mask), format
    arrays = [grad_out, input, weight, running_mean, running_var, save_mean, save_invstd]
    return arrays, attributes, out, stream
