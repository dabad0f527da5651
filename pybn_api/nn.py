"""Layers with state, over arrays: batch normalization with an optional residual and ReLU, and its replicas.

`BatchNorm` keeps parameters, running statistics and what the backward pass needs. `Replicas` runs one layer
over a batch that is split into parts, each with a layer of its own, and keeps their statistics, gradients and
parameters in step: as if one layer had seen the whole batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pybn_api import operators
from pybn_api.arrays import Array
from pybn_api.errors import invalid
from pybn_api.runtime import Event, Stream

__all__ = ["BatchNorm", "Replicas"]

Vector = np.ndarray[Any, Any]


@dataclass
class _Saved:
    """What the backward pass needs of the forward pass."""

    input: Array
    output: Array
    mean: Array | None
    invstd: Array | None
    residual: bool
    training: bool


class BatchNorm:
    """Batch normalization over axis 1 with state: ``activation((x - mean) * invstd * weight + bias +
    residual)``.

    Parameters
    ----------
    num_features : channels.
    eps : added to the variance.
    momentum : the batch's weight in the running statistics; None for the plain average of all batches so far.
    affine : learn weight (initially 1) and bias (initially 0).
    track_running_stats : keep running statistics (initially 0 and 1), used in inference; without them
        inference uses the batch's own.
    activation : "identity" or "relu".
    dtype : of parameters and statistics: float32, or float64 for float64 data.
    profiling : measure each call; `elapsed_ms` holds the last call's milliseconds by name.

    Inputs are arrays on the CPU, of any library, and results are of the same; parameters, their gradients and
    statistics are numpy arrays. `save_mean` and `save_invstd` are the last batch's.

    >>> layer = BatchNorm(2, activation="relu")
    >>> x = np.array([[1, -2], [2, 8], [6, 3]], np.float32)
    >>> layer(x).round(3)
    array([[0.   , 0.   ],
           [0.   , 1.225],
           [1.389, 0.   ]], dtype=float32)
    >>> grad_input = layer.backward(np.ones_like(x))
    >>> layer.grad_bias
    array([1., 1.], dtype=float32)
    """

    def __init__(
        self,
        num_features: int,
        *,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        activation: str = "identity",
        dtype: Any = np.float32,
        profiling: bool = False,
    ) -> None:
        if activation not in ("identity", "relu"):
            raise invalid(f"BatchNorm: activation: {activation!r}, where identity, relu are known")
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.activation = activation
        self.training = True
        self.profiling = profiling
        self.elapsed_ms: dict[str, float] = {}
        self.weight: Vector | None = np.ones(num_features, dtype) if affine else None
        self.bias: Vector | None = np.zeros(num_features, dtype) if affine else None
        self.running_mean: Vector | None = np.zeros(num_features, dtype) if track_running_stats else None
        self.running_var: Vector | None = np.ones(num_features, dtype) if track_running_stats else None
        self.num_batches_tracked = 0
        self.grad_weight: Vector | None = None
        self.grad_bias: Vector | None = None
        self._saved: _Saved | None = None

    # ---- modes -----------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> BatchNorm:
        """Normalize with the batch's own statistics from now on, and update the running ones."""
        self.training = mode
        return self

    def eval(self) -> BatchNorm:
        """Normalize with the running statistics from now on."""
        return self.train(False)

    # ---- forward and backward --------------------------------------------------------------------------

    def __call__(self, input: Array, residual: Array | None = None, *, stream: Stream | None = None) -> Array:
        return self.forward(input, residual, stream=stream)

    def forward(self, input: Array, residual: Array | None = None, *, stream: Stream | None = None) -> Array:
        """The layer's output; input and output are kept for `backward`."""
        training = self.training or self.running_mean is None
        momentum = self._next_momentum() if training else 0.0
        with _Timed(self, "forward", stream):
            result = operators.batch_norm_act(
                input,
                self.weight,
                self.bias,
                self.running_mean,
                self.running_var,
                residual,
                training=training,
                momentum=momentum,
                eps=self.eps,
                activation=self.activation,
                stream=stream,
            )
        self._saved = _Saved(
            input, result.output, result.save_mean, result.save_invstd, residual is not None, training
        )
        return result.output

    def backward(self, grad_out: Array, *, stream: Stream | None = None) -> Any:
        """The input's gradient (with a residual: a pair, with the residual's); sets `grad_weight`,
        `grad_bias`."""
        saved = self._taken()
        affine = self.weight is not None
        with _Timed(self, "backward", stream):
            gradients = operators.batch_norm_act_backward(
                grad_out,
                saved.input,
                saved.output,
                self.weight,
                None if saved.training else self.running_mean,
                None if saved.training else self.running_var,
                saved.mean,
                saved.invstd,
                training=saved.training,
                eps=self.eps,
                activation=self.activation,
                output_mask=(True, affine, affine, saved.residual),
                stream=stream,
            )
        self.grad_weight, self.grad_bias = _vector(gradients.grad_weight), _vector(gradients.grad_bias)
        if saved.residual:
            return gradients.grad_input, gradients.grad_residual
        return gradients.grad_input

    def step(self, learning_rate: float) -> None:
        """Plain gradient descent on weight and bias."""
        for parameter, gradient in ((self.weight, self.grad_weight), (self.bias, self.grad_bias)):
            if parameter is not None and gradient is not None:
                parameter -= parameter.dtype.type(learning_rate) * gradient.astype(parameter.dtype)

    @property
    def save_mean(self) -> Vector | None:
        """The mean that the last forward pass in training normalized with; None without one."""
        return None if self._saved is None else _vector(self._saved.mean)

    @property
    def save_invstd(self) -> Vector | None:
        """As `save_mean`, the inverse standard deviation."""
        return None if self._saved is None else _vector(self._saved.invstd)

    def _taken(self) -> _Saved:
        if self._saved is None:
            raise RuntimeError("backward before forward")
        return self._saved

    def _next_momentum(self) -> float:
        self.num_batches_tracked += 1
        return 1.0 / self.num_batches_tracked if self.momentum is None else self.momentum

    # ---- state -----------------------------------------------------------------------------------------

    _STATE = ("weight", "bias", "running_mean", "running_var")

    def state_dict(self) -> dict[str, Any]:
        """Copies of parameters and statistics, by PyTorch's names."""
        state = {name: getattr(self, name).copy() for name in self._STATE if getattr(self, name) is not None}
        if self.running_mean is not None:
            state["num_batches_tracked"] = self.num_batches_tracked
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state_dict` gave, of this class or of PyTorch's."""
        expected = set(self.state_dict())
        if set(state) != expected:
            raise KeyError(f"state has {sorted(state)}, where {sorted(expected)} are expected")
        for name in self._STATE:
            mine = getattr(self, name)
            if mine is not None:
                theirs = np.asarray(state[name])
                if theirs.shape != mine.shape:
                    raise invalid(f"{name}: shape {theirs.shape}, where the layer's is {mine.shape}")
                mine[...] = theirs
        if self.running_mean is not None:
            self.num_batches_tracked = int(state["num_batches_tracked"])

    def __repr__(self) -> str:
        return f"BatchNorm({self.num_features}, eps={self.eps}, momentum={self.momentum}, {self.activation})"


def _vector(values: Array | None) -> Vector | None:
    """Per-channel results in numpy; those of other libraries on the CPU share their memory."""
    return None if values is None else np.asarray(values)


class _Timed:
    """Records the milliseconds of a call, from events, where the layer asks for it."""

    def __init__(self, layer: BatchNorm | Replicas, name: str, stream: Stream | None) -> None:
        self.layer, self.name, self.stream = layer, name, stream
        self.start = Event().record(stream) if layer.profiling else None

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        if self.start is None or exception[0] is not None:
            return
        end = Event().record(self.stream)
        end.synchronize()
        self.layer.elapsed_ms[self.name] = self.start.elapsed_ms(end)


class Replicas:
    """One batch norm over a batch in parts, with a layer per part, in one process.

    Statistics are those of all parts together; parameter gradients are summed over the parts; every replica's
    parameters and running statistics stay equal, bit for bit. Parts may have different sizes, also none. If
    the layer is profiled, `elapsed_ms` holds the milliseconds of the last calls for all parts.

    >>> replicas = Replicas(BatchNorm(1), 2)
    >>> a, b = np.array([[1.0], [2.0]], np.float32), np.array([[6.0]], np.float32)
    >>> [y.ravel().round(3) for y in replicas([a, b])]
    [array([-0.926, -0.463], dtype=float32), array([1.389], dtype=float32)]
    """

    def __init__(self, layer: BatchNorm, count: int) -> None:
        self.layers = [layer]
        for _ in range(count - 1):
            copy = BatchNorm(
                layer.num_features,
                eps=layer.eps,
                momentum=layer.momentum,
                affine=layer.weight is not None,
                track_running_stats=layer.running_mean is not None,
                activation=layer.activation,
                dtype=(np.float32 if layer.weight is None else layer.weight.dtype),
                profiling=layer.profiling,
            )
            copy.load_state_dict(layer.state_dict())
            self.layers.append(copy)
        self.profiling = layer.profiling
        self.elapsed_ms: dict[str, float] = {}
        self._counts: Vector | None = None

    def state_dict(self) -> dict[str, Any]:
        """The state of any replica: they are the same."""
        return self.layers[0].state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Gives every replica this state."""
        for layer in self.layers:
            layer.load_state_dict(state)

    def train(self, mode: bool = True) -> Replicas:
        """As `BatchNorm.train`, for every replica."""
        for layer in self.layers:
            layer.train(mode)
        return self

    def eval(self) -> Replicas:
        """As `BatchNorm.eval`, for every replica."""
        return self.train(False)

    def __call__(self, parts: Sequence[Array], residuals: Sequence[Array] | None = None) -> list[Array]:
        return self.forward(parts, residuals)

    def forward(self, parts: Sequence[Array], residuals: Sequence[Array] | None = None) -> list[Array]:
        """Each part's output, normalized with the statistics of all parts."""
        if len(parts) != len(self.layers):
            raise invalid(f"Replicas: {len(parts)} parts, where there are {len(self.layers)} replicas")
        extra: Sequence[Array | None] = [None] * len(parts) if residuals is None else residuals
        with _Timed(self, "forward", None):
            return self._forward(parts, extra)

    def _forward(self, parts: Sequence[Array], extra: Sequence[Array | None]) -> list[Array]:
        first = self.layers[0]
        if not first.training and first.running_mean is not None:
            return [layer(x, r) for layer, x, r in zip(self.layers, parts, extra, strict=True)]
        mean, invstd = self._statistics(parts)
        outputs = []
        for layer, x, residual in zip(self.layers, parts, extra, strict=True):
            # Normalization with given statistics, residual and activation: inference with those as running
            # ones.
            variance = 1.0 / np.square(invstd) - layer.eps
            with _Timed(layer, "forward", None):
                y = operators.batch_norm_act(
                    x,
                    layer.weight,
                    layer.bias,
                    mean,
                    variance,
                    residual,
                    training=False,
                    eps=layer.eps,
                    activation=layer.activation,
                ).output
            layer._saved = _Saved(x, y, mean, invstd, residual is not None, True)
            outputs.append(y)
        return outputs

    def _statistics(self, parts: Sequence[Array]) -> tuple[Vector, Vector]:
        """Mean and invstd of all parts in float64; updates every replica's running statistics with them."""
        first = self.layers[0]
        rows = [np.empty((2, first.num_features)) for _ in parts]
        for x, row in zip(parts, rows, strict=True):
            operators.batch_norm_stats(x, first.eps, out=(row[0], row[1]))
        counts = np.array([np.prod(x.shape, dtype=np.float64) / max(1, x.shape[1]) for x in parts])
        self._counts = counts
        mean, invstd = np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
        merged = None
        for layer in self.layers:
            momentum = layer._next_momentum()
            merged = operators.batch_norm_gather_stats_with_counts(
                parts[0],
                mean,
                invstd,
                counts,
                layer.running_mean,
                layer.running_var,
                momentum=momentum,
                eps=layer.eps,
            )
        assert merged is not None
        return np.asarray(merged.mean_all), np.asarray(merged.invstd_all)

    def backward(self, grad_outs: Sequence[Array]) -> list[Any]:
        """Each part's gradient, as `BatchNorm.backward`; every replica gets the parameter gradients of the
        whole."""
        with _Timed(self, "backward", None):
            return self._backward(grad_outs)

    def _backward(self, grad_outs: Sequence[Array]) -> list[Any]:
        saved = [layer._taken() for layer in self.layers]
        if not saved[0].training:
            results = [layer.backward(g) for layer, g in zip(self.layers, grad_outs, strict=True)]
            self._share([(layer.grad_weight, layer.grad_bias) for layer in self.layers])
            return results
        masked = [self._masked(layer, g) for layer, g in zip(self.layers, grad_outs, strict=True)]
        sums: list[Any] = []
        for layer, g in zip(self.layers, masked, strict=True):
            kept = layer._taken()
            sums.append(operators.batch_norm_reduce_backward(g, kept.input, kept.mean, kept.invstd))
        sum_dy = np.sum([s.sum_dy for s in sums], axis=0)
        sum_dy_xmu = np.sum([s.sum_dy_xmu for s in sums], axis=0)
        results = []
        for layer, g in zip(self.layers, masked, strict=True):
            kept = layer._taken()
            with _Timed(layer, "backward", None):
                grad_input = operators.batch_norm_elemt_backward(
                    g, kept.input, kept.mean, kept.invstd, layer.weight, sum_dy, sum_dy_xmu, self._total()
                )
            results.append((grad_input, g) if kept.residual else grad_input)
        self._share([(s.grad_weight, s.grad_bias) for s in sums])
        return results

    def _masked(self, layer: BatchNorm, grad_out: Array) -> Array:
        """The output's gradient as the activation lets it through."""
        saved = layer._taken()
        if layer.activation == "identity":
            return grad_out
        mask = (False, False, False, True)
        masked = operators.batch_norm_act_backward(
            grad_out, saved.input, saved.output, training=True, activation=layer.activation, output_mask=mask
        )
        return masked.grad_residual

    def _total(self) -> Vector:
        assert self._counts is not None
        return np.array([self._counts.sum()], np.int32)

    def _share(self, gradients: Sequence[tuple[Any, Any]]) -> None:
        if self.layers[0].weight is None:
            return
        dtype = self.layers[0].weight.dtype
        weight = np.sum([g[0] for g in gradients], axis=0, dtype=np.float64).astype(dtype)
        bias = np.sum([g[1] for g in gradients], axis=0, dtype=np.float64).astype(dtype)
        for layer in self.layers:
            layer.grad_weight, layer.grad_bias = weight.copy(), bias.copy()

    def step(self, learning_rate: float) -> None:
        """Gradient descent on every replica: they had the same gradients, and so stay equal."""
        for layer in self.layers:
            layer.step(learning_rate)
