"""The oracle of the whole family: `expected(operator, tensors, attributes, format)` by the names of `Spec`.

Bounds of element-wise outputs. The map computes in float32 for data of 32 bits and less (u = 2^-24), in
float64 for float64 data (u = 2^-53), with coefficients from float64. For y = a * (x - mean) + b with a =
weight * invstd:

    coefficient a, one rounding                         u |a (x - mean)|
    x - mean, the mean kept as two floats: two          2 u |a (x - mean)|
    the product                                         u |a (x - mean)|
    b as a float (none if it is one)                    u |b|
    the sum, which for a float32 y is its own rounding  u |y|, or half an ulp of y
    what the second float of the mean cannot hold       u^2 |a mean|

and for dx = (dy - offset - (x - mean) * slope) * scale in the same way, see `_backward_map`. Statistics that
were computed on the way carry their own bound along, to first order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from oracle import REDUCTION, Bounded, U, channel_sums, f64, per_channel, reduce_backward

TINY = 2.0**-149  # the spacing of float32 subnormals: intermediate results are no finer
Tensors = Mapping[str, Any]
Attributes = Mapping[str, Any]


def _unit(data: np.ndarray) -> float:
    return U if data.dtype == np.float64 else 2.0**-24


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, 0.0)


def _or(tensors: Tensors, name: str, channels: int, default: float) -> np.ndarray:
    values = tensors.get(name)
    return np.full(channels, default) if values is None or np.size(values) == 0 else f64(values)


def _moments(x: np.ndarray) -> tuple[Bounded, Bounded]:
    """Mean and biased variance. The kernels centre on an early element, and so the bounds know how far that
    is off."""
    count = x.size // x.shape[1]
    mean = channel_sums(x, False) / count
    centred = x - per_channel(mean, x.ndim)
    # A second pass takes out the rounding of the mean: that of a constant channel is the constant.
    mean = mean + _finite(channel_sums(centred, False) / count)
    centred = x - per_channel(mean, x.ndim)
    variance = channel_sums(centred * centred, False) / count
    start = np.abs(_finite(np.moveaxis(centred, 1, 0).reshape(x.shape[1], -1)[:, 0]))
    spread = _finite(channel_sums(np.abs(centred), False) / count)
    mean_slack = REDUCTION * U * (spread + start) + 4 * U * np.abs(_finite(mean))
    variance_slack = REDUCTION * U * (_finite(variance) + start**2)
    # Tiles are merged by the distance of their means; each mean is rounded, by U |mean|, and the distance
    # squared.
    variance_slack = variance_slack + 8 * U * np.abs(_finite(mean)) * spread
    return Bounded(mean, mean_slack), Bounded(variance, variance_slack)


def _invstd(variance: Bounded, eps: float) -> Bounded:
    value = 1.0 / np.sqrt(variance.value + eps)
    finite = _finite(value)
    return Bounded(value, 0.5 * finite**3 * variance.slack + 4 * U * finite)


def _blend(old: np.ndarray, batch: Bounded, momentum: float) -> Bounded:
    value = (1 - momentum) * old + momentum * batch.value
    terms = np.abs(_finite((1 - momentum) * old)) + np.abs(_finite(momentum * batch.value))
    return Bounded(value, abs(momentum) * batch.slack + 4 * U * terms)


def _given(values: np.ndarray) -> Bounded:
    return Bounded(values, np.zeros_like(values))


def _normalize(
    x: np.ndarray, mean: Bounded, invstd: Bounded, weight: np.ndarray, bias: np.ndarray, unit: float
) -> Bounded:
    def spread(values: np.ndarray) -> np.ndarray:
        return per_channel(values, x.ndim)

    scale = spread(weight * invstd.value)
    centred = x - spread(mean.value)
    scaled = scale * centred
    y = scaled + spread(bias)
    size = np.abs(_finite(scaled))
    slack = unit * (4 * size + np.abs(spread(_finite(bias))) + np.abs(_finite(y)))
    slack = slack + unit**2 * np.abs(_finite(scale * spread(mean.value)))
    slack = slack + np.abs(_finite(scale)) * spread(mean.slack)
    slack = slack + np.abs(_finite(spread(weight) * centred)) * spread(invstd.slack)
    return Bounded(y, slack + TINY * (2 + np.abs(_finite(scale))))


def _forward(tensors: Tensors, attributes: Attributes) -> tuple[dict[str, Bounded], float]:
    data = tensors["input"]
    x, unit = f64(data), _unit(data)
    channels = x.shape[1]
    weight, bias = _or(tensors, "weight", channels, 1.0), _or(tensors, "bias", channels, 0.0)
    expected: dict[str, Bounded] = {}
    if x.size == 0:
        nothing = _given(np.zeros(channels))
        return {
            "output": _given(x),
            "save_mean": nothing,
            "save_invstd": _given(np.full(channels, np.nan)),
            **{
                n: _given(f64(tensors[n]))
                for n in ("running_mean", "running_var")
                if tensors.get(n) is not None
            },
        }, unit
    if attributes["training"]:
        count = x.size // channels
        mean, variance = _moments(x)
        invstd = _invstd(variance, attributes["eps"])
        expected["save_mean"], expected["save_invstd"] = mean, invstd
        factor = np.float64(count) / np.float64(count - 1)
        unbiased = Bounded(variance.value * factor, variance.slack * (factor if count > 1 else 0))
        for name, batch in (("running_mean", mean), ("running_var", unbiased)):
            if tensors.get(name) is not None:
                expected[name] = _blend(f64(tensors[name]), batch, attributes["momentum"])
    else:
        mean = _given(_or(tensors, "running_mean", channels, 0.0))
        invstd = _given(1.0 / np.sqrt(_or(tensors, "running_var", channels, 1.0) + attributes["eps"]))
        invstd = Bounded(invstd.value, 4 * U * _finite(invstd.value))
        for name in ("running_mean", "running_var"):
            if tensors.get(name) is not None:
                expected[name] = _given(f64(tensors[name]))
    expected["output"] = _normalize(x, mean, invstd, weight, bias, unit)
    return expected, unit


def batch_norm(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    return _forward(tensors, attributes)[0]


def batch_norm_act(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    expected, unit = _forward(tensors, attributes)
    y = expected["output"]
    value, slack = y.value, y.slack
    if tensors.get("residual") is not None:
        value = value + f64(tensors["residual"])
        slack = slack + unit * (np.abs(_finite(y.value)) + np.abs(_finite(value)))
    if attributes["activation"]:
        value = np.where(value < 0, 0.0, value)
    return {**expected, "output": Bounded(value, slack)}


def _backward_map(
    dy: np.ndarray, x: np.ndarray, mean: np.ndarray, invstd: np.ndarray, weight: np.ndarray,
    mean_dy: Bounded, mean_dy_xmu: Bounded, unit: float,
) -> Bounded:  # fmt: skip
    """dx = (dy - offset - (x - mean) * slope) * scale: offset, slope and scale are rounded once each, x -
    mean twice, then each operation once."""

    def spread(values: np.ndarray) -> np.ndarray:
        return per_channel(values, x.ndim)

    offset, slope = spread(mean_dy.value), spread(invstd**2 * mean_dy_xmu.value)
    scale, centred = spread(weight * invstd), x - spread(mean)
    product = centred * slope
    rest = dy - offset - product
    value = rest * scale
    slack = unit * (np.abs(_finite(offset)) + 4 * np.abs(_finite(product)) + np.abs(_finite(dy - offset)))
    slack = slack + unit**2 * np.abs(_finite(spread(mean) * slope))
    of_slope = spread(_finite(invstd**2) * mean_dy_xmu.slack)
    slack = slack + spread(mean_dy.slack) + np.abs(_finite(centred)) * of_slope
    size = np.abs(_finite(scale))
    return Bounded(value, slack * size + 4 * unit * np.abs(_finite(value)) + TINY * (2 + 2 * size))


def _backward(
    tensors: Tensors, attributes: Attributes, masked: np.ndarray | None = None
) -> dict[str, Bounded]:
    x = f64(tensors["input"])
    dy = f64(tensors["grad_out"]) if masked is None else masked
    channels, unit = x.shape[1], _unit(tensors["input"])
    weight = _or(tensors, "weight", channels, 1.0)
    if x.size == 0:
        zero = _given(np.zeros(channels))
        return {"grad_input": _given(x), "grad_weight": zero, "grad_bias": zero}
    count = x.size // channels
    if attributes["training"]:
        mean, invstd = _or(tensors, "save_mean", channels, 0.0), _or(tensors, "save_invstd", channels, 1.0)
    else:
        mean = _or(tensors, "running_mean", channels, 0.0)
        invstd = 1.0 / np.sqrt(_or(tensors, "running_var", channels, 1.0) + attributes["eps"])
    sums = reduce_backward(dy, x, mean, invstd)
    sums["grad_weight"].slack += 4 * U * np.abs(_finite(sums["grad_weight"].value))
    if attributes["training"]:

        def over_count(total: Bounded) -> Bounded:
            value = total.value / count
            return Bounded(value, total.slack / count + 2 * U * np.abs(_finite(value)))

        grad_input = _backward_map(
            dy, x, mean, invstd, weight, over_count(sums["sum_dy"]), over_count(sums["sum_dy_xmu"]), unit
        )
    else:
        value = dy * per_channel(weight * invstd, x.ndim)
        grad_input = Bounded(value, 3 * unit * np.abs(_finite(value)) + 2 * TINY)
    return {"grad_input": grad_input, "grad_weight": sums["grad_weight"], "grad_bias": sums["grad_bias"]}


def batch_norm_backward(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    return _backward(tensors, attributes)


def batch_norm_act_backward(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    dy = f64(tensors["grad_out"])
    if attributes["activation"]:
        dy = np.where(f64(tensors["output"]) > 0, dy, 0.0)
    return {**_backward(tensors, attributes, dy), "grad_residual": _given(dy)}


def batch_norm_stats(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    x = f64(tensors["input"])
    if x.size == 0:
        return {"mean": _given(np.zeros(x.shape[1])), "invstd": _given(np.full(x.shape[1], np.nan))}
    mean, variance = _moments(x)
    return {"mean": mean, "invstd": _invstd(variance, attributes["eps"])}


def batch_norm_elemt(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    data = tensors["input"]
    x = f64(data)
    channels = x.shape[1]
    weight, bias = _or(tensors, "weight", channels, 1.0), _or(tensors, "bias", channels, 0.0)
    mean, invstd = _given(f64(tensors["mean"])), _given(f64(tensors["invstd"]))
    return {"output": _normalize(x, mean, invstd, weight, bias, _unit(data))}


def batch_norm_elemt_backward(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    dy, x = f64(tensors["grad_out"]), f64(tensors["input"])
    # Mixed dtypes are computed in the wider of the two.
    unit = min(_unit(tensors["grad_out"]), _unit(tensors["input"]))
    if tensors["grad_out"].dtype != tensors["input"].dtype:
        unit = 2.0**-24
    channels = x.shape[1]
    count = f64(tensors["counter"]).sum()

    def over_count(name: str) -> Bounded:
        value = f64(tensors[name]) / count
        return Bounded(value, 2 * U * np.abs(_finite(value)))

    weight = _or(tensors, "weight", channels, 1.0)
    mean, invstd = f64(tensors["mean"]), f64(tensors["invstd"])
    grad = _backward_map(dy, x, mean, invstd, weight, over_count("sum_dy"), over_count("sum_dy_xmu"), unit)
    return {"grad_input": grad}


def batch_norm_gather_stats_with_counts(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    counts = f64(tensors["counts"])
    kept = counts > 0
    n, mean, invstd = counts[kept][:, None], f64(tensors["mean"])[kept], f64(tensors["invstd"])[kept]
    channels = tensors["mean"].shape[1]
    running = {k: tensors[k] for k in ("running_mean", "running_var") if tensors.get(k) is not None}
    if not kept.any():
        unchanged = {k: _given(f64(v)) for k, v in running.items()}
        nothing = {"mean_all": _given(np.zeros(channels)), "invstd_all": _given(np.full(channels, np.nan))}
        return {**nothing, **unchanged}
    total, eps = n.sum(), attributes["eps"]
    mean_all = Bounded((n * mean).sum(0) / total, 64 * U * (n * np.abs(mean)).sum(0) / total)
    spread = (mean - mean_all.value) ** 2
    squares = (n * (1 / invstd**2 - eps + spread)).sum(0)
    slack = 64 * U * (n * (1 / invstd**2 + eps + spread + mean**2 * 2 * U)).sum(0)
    variance = Bounded(squares / total, slack / total)
    expected = {"mean_all": mean_all, "invstd_all": _invstd(variance, eps)}
    factor = np.float64(1) / np.float64(total - 1)
    unbiased = Bounded(squares * factor, slack * (factor if total > 1 else 0))
    for name, batch in (("running_mean", mean_all), ("running_var", unbiased)):
        if name in running:
            expected[name] = _blend(f64(running[name]), batch, attributes["momentum"])
    return expected


def sync_batch_norm_gather_stats(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    sums, squares = f64(tensors["total_sum"]), f64(tensors["total_square_sum"])
    n = np.trunc(f64(tensors["sample_count"])).sum()
    momentum, eps = float(np.float32(attributes["momentum"])), float(np.float32(attributes["eps"]))
    mean = Bounded(sums.sum(0) / n, 64 * U * np.abs(sums).sum(0) / n)
    value = squares.sum(0) / n - mean.value**2
    slack = 64 * U * (np.abs(squares).sum(0) / n + mean.value**2)
    variance = Bounded(np.where(value < 0, 0.0, value), slack)
    factor = n / np.float64(n - 1)
    unbiased = Bounded(variance.value * factor, slack * (factor if n > 1 else 0))
    return {
        "batch_mean": mean,
        "batch_invstd": _invstd(variance, eps),
        "mean": _blend(f64(tensors["mean"]), mean, momentum),
        "variance": _blend(f64(tensors["variance"]), unbiased, momentum),
    }


def batch_norm_reduce(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    x = f64(tensors["x"])
    return {
        "sum": Bounded(channel_sums(x, False), REDUCTION * U * _finite(channel_sums(np.abs(x), False))),
        "square_sum": Bounded(
            channel_sums(x * x, False), REDUCTION * U * _finite(channel_sums(x * x, False))
        ),
    }


def quantized_batch_norm(tensors: Tensors, attributes: Attributes) -> dict[str, Bounded]:
    q = f64(tensors["input"])
    channels = q.shape[1]
    weight, bias = _or(tensors, "weight", channels, 1.0), _or(tensors, "bias", channels, 0.0)
    scale_in, scale_out = (float(np.float32(attributes[n])) for n in ("input_scale", "output_scale"))

    def spread(values: np.ndarray) -> np.ndarray:
        return per_channel(values, q.ndim)

    x = (q - attributes["input_zero_point"]) * scale_in
    invstd = 1 / np.sqrt(f64(tensors["var"]) + float(np.float32(attributes["epsilon"])))
    y = (x - spread(f64(tensors["mean"]))) * spread(weight * invstd) + spread(bias)
    real = y / scale_out + attributes["output_zero_point"]
    low, high = np.iinfo(tensors["input"].dtype).min, np.iinfo(tensors["input"].dtype).max
    rounded = np.sign(real) * np.floor(np.abs(real) + 0.5)
    value = np.where(np.isnan(real), 0.0, np.clip(np.where(np.isnan(real), 0.0, rounded), low, high))
    # Within the roundings of the chain of a tie, either neighbour is right.
    terms = np.abs(x) + np.abs(spread(f64(tensors["mean"])))
    terms = terms * np.abs(spread(weight * invstd)) + np.abs(spread(bias))
    error = 16 * U * terms / scale_out + 4 * U * np.abs(real)
    near_tie = np.abs(np.abs(real - np.trunc(real)) - 0.5) <= np.nan_to_num(error)
    return {"output": Bounded(value, np.where(near_tie, 1.0, 0.0))}


_ORACLES: dict[str, Callable[[Tensors, Attributes], dict[str, Bounded]]] = {
    "BatchNorm": batch_norm,
    "BatchNormAct": batch_norm_act,
    "BatchNormActBackward": batch_norm_act_backward,
    "BatchNormBackward": batch_norm_backward,
    "BatchNormElemt": batch_norm_elemt,
    "BatchNormElemtBackward": batch_norm_elemt_backward,
    "BatchNormGatherStatsWithCounts": batch_norm_gather_stats_with_counts,
    "BatchNormReduce": batch_norm_reduce,
    "BatchNormReduceBackward": lambda t, a: reduce_backward(
        t["grad_out"], t["input"], t["mean"], t["invstd"]
    ),
    "BatchNormStats": batch_norm_stats,
    "FastBatchNormBackward": batch_norm_backward,
    "QuantizedBatchNorm": quantized_batch_norm,
    "SyncBatchNormGatherStats": sync_batch_norm_gather_stats,
}


def expected(
    operator: str, tensors: Tensors, attributes: Attributes, format: str | None = None
) -> dict[str, Bounded]:
    """What every output of a call has to be, masks aside."""
    last = format in ("NHWC", "NDHWC")

    def channel_first(array: Any) -> Any:
        return np.moveaxis(array, -1, 1) if last and array is not None and np.ndim(array) > 2 else array

    inputs = {name: channel_first(array) for name, array in tensors.items()}
    with np.errstate(all="ignore"):
        results = _ORACLES[operator](inputs, attributes)
    if last:
        for result in results.values():
            if result.value.ndim > 2:
                result.value = np.moveaxis(result.value, 1, -1)
                result.slack = np.moveaxis(result.slack, 1, -1)
    return results
