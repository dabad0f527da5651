"""Batch norm, residual and activation, backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pybn_api.arrays.base import Array, View
from pybn_api.operators.batch_norm_act import activation_code
from pybn_api.operators.batch_norm_backward import gradient_outputs, mask_of
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec, like
from pybn_api.runtime import Stream


class ActGradients(NamedTuple):
    """What `batch_norm_act_backward` returns; what the mask leaves out is None."""

    grad_input: Array | None
    grad_weight: Array | None
    grad_bias: Array | None
    grad_residual: Array | None


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    data, _, _, weight, running_mean, _, save_mean, _ = inputs
    training, _, _, mask, label = attributes
    gradients = gradient_outputs(data, save_mean if training else running_mean, weight, mask, label)
    return [*gradients, like(data) if len(mask) > 3 and mask[3] else None]


def _make(outputs: Sequence[Array]) -> ActGradients:
    return tuple.__new__(ActGradients, outputs)  # a third of what the class itself takes


@operator(
    Spec(
        "BatchNormActBackward",
        "batch_norm_act_backward",
        "gradOut input output? weight? runningMean? runningVar? saveMean? saveInvstd? training:bool"
        " eps:double activation:enum outputMask:mask format:label -> gradInput gradWeight"
        " gradBias gradResidual",
    ),
    _outputs,
    _make,
)
def batch_norm_act_backward(
    grad_out: Array,
    input: Array,
    output: Array | None = None,
    weight: Array | None = None,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    save_mean: Array | None = None,
    save_invstd: Array | None = None,
    *,
    training: bool,
    eps: float = 1e-5,
    activation: str = "relu",
    output_mask: Sequence[bool] = (True, True, True, True),
    format: str | None = None,
    out: ActGradients | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """The gradients of `batch_norm_act`: those of `batch_norm_backward` with dy masked by the activation.

    ``g = dy`` where ``output > 0`` (for "identity" everywhere), else 0; ``grad_residual = g``.

    Parameters
    ----------
    grad_out, input, weight, running_mean, running_var, save_mean, save_invstd : as `batch_norm_backward`.
    output : what the forward pass returned; needed for "relu".
    activation : "relu" or "identity", as in the forward pass.
    output_mask : which of the four gradients are wanted.
    training, eps, format, out, stream : as `batch_norm_backward`.

    Returns
    -------
    ActGradients: those of `batch_norm_backward`, and grad_residual in grad_out's dtype, shape and memory
    order.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> from pybn_api import batch_norm_act
    >>> x, dy = np.array([[1.0], [3.0]], np.float32), np.array([[1.0], [2.0]], np.float32)
    >>> y, mean, invstd = batch_norm_act(x, training=True, eps=0.0)
    >>> grads = batch_norm_act_backward(dy, x, y, save_mean=mean, save_invstd=invstd, training=True)
    >>> grads.grad_residual.ravel(), grads.grad_bias
    (array([0., 2.], dtype=float32), array([2.], dtype=float32))
    """
    code = activation_code("batch_norm_act_backward", activation)
    attributes = bool(training), float(eps), code, mask_of(output_mask), format
    arrays = [grad_out, input, output, weight, running_mean, running_var, save_mean, save_invstd]
    return arrays, attributes, out, stream
