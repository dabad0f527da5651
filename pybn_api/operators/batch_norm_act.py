"""Batch norm, residual and activation in one pass, forward."""

from __future__ import annotations

from collections.abc import Sequence

from pybn_api._lib import lib
from pybn_api.arrays.base import Array, View
from pybn_api.errors import invalid
from pybn_api.operators.batch_norm import Normalized, forward_outputs, make_normalized
from pybn_api.operators.call import Bound, operator
from pybn_api.operators.spec import Attribute, Output, Spec
from pybn_api.runtime import Stream


def activation_code(function: str, activation: str) -> int:
    """The library's number for an activation's name."""
    codes = {"identity": lib.BNAPI_ACTIVATION_IDENTITY, "relu": lib.BNAPI_ACTIVATION_RELU}
    if activation not in codes:
        raise invalid(f"{function}: activation: {activation!r}, where {', '.join(codes)} are known")
    return codes[activation]


def _outputs(inputs: Sequence[View], attributes: Sequence[Attribute]) -> Sequence[Output | None]:
    return forward_outputs(inputs[0], attributes[0], attributes[4])


@operator(
    Spec(
        "BatchNormAct",
        "batch_norm_act",
        "input weight? bias? runningMean& runningVar& residual? training:bool momentum:double eps:double"
        " activation:enum format:label -> output saveMean saveInvstd",
    ),
    _outputs,
    make_normalized,
)
def batch_norm_act(
    input: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    residual: Array | None = None,
    *,
    training: bool,
    momentum: float = 0.1,
    eps: float = 1e-5,
    activation: str = "relu",
    format: str | None = None,
    out: Normalized | Sequence[Array | None] | None = None,
    stream: Stream | None = None,
) -> Bound:
    """Batch normalization, an optional residual and an activation in one pass over the data.

    ``output = activation((x - mean) * invstd * weight + bias + residual)``; see `batch_norm` for the
    statistics.

    Parameters
    ----------
    input, weight, bias, running_mean, running_var : as `batch_norm`.
    residual : of input's dtype and shape, in any layout; None for 0.
    activation : "relu", which keeps NaN, or "identity".
    training, momentum, eps, format, out, stream : as `batch_norm`.

    Returns
    -------
    Normalized, as `batch_norm`.

    Raises
    ------
    InvalidArgument : a required array is None, or a dtype, shape or layout is not among the above.

    >>> import numpy as np
    >>> x = np.array([[1.0], [3.0]], np.float32)
    >>> batch_norm_act(x, residual=np.full_like(x, 0.5), training=True, eps=0.0).output
    array([[0. ],
           [1.5]], dtype=float32)
    """
    code = activation_code("batch_norm_act", activation)
    attributes = bool(training), float(momentum), float(eps), code, format
    return [input, weight, bias, running_mean, running_var, residual], attributes, out, stream
