"""Batch norm, backward, by the vendor's second interface."""

from __future__ import annotations

from collections.abc import Sequence

from pybn_api.arrays.base import Array, View
from pybn_api.operators.batch_norm_backward import Gradients, gradient_outputs, make_gradients, mask_of
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec
from pybn_api.runtime import Stream


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    data, _, weight, running_mean, _, save_mean, _ = inputs
    training, _, mask, _ = attributes
    return gradient_outputs(data, save_mean if training else running_mean, weight, mask, None)


@operator(
    Spec(
        "FastBatchNormBackward",
        "fast_batch_norm_backward",
        "gradOut input weight? runningMean? runningVar? saveMean? saveInvstd? training:bool eps:double"
        " outputMask:mask version:int -> gradInput gradWeight gradBias",
    ),
    _outputs,
    make_gradients,
)
def fast_batch_norm_backward(
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
    version: int = 0,
    out: Gradients | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """As `batch_norm_backward`, with channels on axis 1 always and no relation between the dtypes.

    ``grad_bias = sum(dy)`` and ``grad_weight = sum(dy * (x - mean)) * invstd``. In training ``grad_input =
    weight * invstd * (dy - grad_bias / n - (x - mean) * invstd * grad_weight / n)``; in inference
    ``grad_input = weight * invstd * dy``.

    Parameters
    ----------
    grad_out, input, weight, running_mean, running_var, save_mean, save_invstd : as `batch_norm_backward`;
        each parameter and statistic may have any of the four dtypes.
    training, eps, output_mask, out, stream : as `batch_norm_backward`.
    version : 0 or 1; without effect.

    Returns
    -------
    Gradients, as `batch_norm_backward`.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> dy = np.array([[1.0], [-1.0], [0.5], [2.0]], np.float32)
    >>> fast_batch_norm_backward(dy, dy, training=False, output_mask=(False, False, True)).grad_bias
    array([2.5], dtype=float32)
    """
    attributes = bool(training), float(eps), mask_of(output_mask), int(version)
    arrays = [grad_out, input, weight, running_mean, running_var, save_mean, save_invstd]
    return arrays, attributes, out, stream
