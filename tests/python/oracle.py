"""The right answers, in float64 numpy, and how far from them a result may be.

Nothing here shares code or algebra with the library: formulas as documented, in two passes, on the inputs as
stored. Where the output is float64 the sums are math.fsum's, exact but for one rounding.

Bounds. A reduction accumulates in float64 and rounds once, so with U = 2^-53

    |got - exact| <= 0.5 ulp(exact, output dtype) + REDUCTION * U * sum(|terms|)

where REDUCTION covers the additions of one lane in a tile, the merging of lanes and tiles, and the roundings
in a term (a difference and a product). Not a fraction of the result: sums cancel. Float64 data are summed
with compensation, which the same bound covers with room to spare; the oracle's own error, one pairwise numpy
sum, is below log2(n) * U * sum(|terms|), inside REDUCTION for any n here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

U = 2.0**-53
REDUCTION = 512


def f64(array: Any) -> np.ndarray:
    """The stored values, exactly."""
    return np.asarray(array).astype(np.float64)


def axes_but(channel: int, rank: int) -> tuple[int, ...]:
    return tuple(axis for axis in range(rank) if axis != channel)


def per_channel(values: np.ndarray, rank: int, channel: int = 1) -> np.ndarray:
    """[C] as it broadcasts against the data."""
    shape = [1] * rank
    shape[channel] = -1
    return np.reshape(values, shape)


def ulp(values: Any, dtype: np.dtype) -> np.ndarray:
    """Distance of neighbouring values of `dtype` at |value|, in float64; for values past its largest, that of
    the largest."""
    dtype = np.dtype(dtype)
    if np.issubdtype(dtype, np.integer):
        return np.zeros(np.shape(values))
    digits, lowest = {
        "float64": (53, -1022),
        "float32": (24, -126),
        "float16": (11, -14),
        "bfloat16": (8, -126),
    }[dtype.name]
    magnitude = np.abs(f64(values))
    finite = np.where(np.isfinite(magnitude), magnitude, 1.0)
    _, exponent = np.frexp(finite)
    exponent = np.where(finite > 0, exponent - 1, lowest)
    return np.ldexp(1.0, np.maximum(exponent, lowest) - (digits - 1))


def channel_sums(terms: np.ndarray, exact: bool, channel: int = 1) -> np.ndarray:
    """Sums over all axes but the channel's; by math.fsum if `exact`."""
    rows = np.moveaxis(terms, channel, 0).reshape(terms.shape[channel], -1)
    if exact and np.isfinite(rows).all():
        return np.array([math.fsum(row) for row in rows.tolist()], np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        return rows.sum(axis=1, dtype=np.float64)


@dataclass
class Bounded:
    """An exact value and the allowed distance from it, apart from the rounding to the output's dtype."""

    value: np.ndarray
    slack: np.ndarray

    def worst(self, got: Any, dtype: np.dtype | None = None) -> float:
        """How much of the bound the worst element used; above 1 is wrong."""
        stored = np.asarray(got)
        have, want = f64(stored), self.value
        assert have.shape == want.shape, f"shape {have.shape}, expected {want.shape}"
        largest = _largest(stored.dtype if dtype is None else dtype)
        with np.errstate(invalid="ignore", over="ignore"):
            bound = 0.5 * ulp(want, stored.dtype if dtype is None else dtype) + self.slack
            # NaN and infinity have to be the same; past the largest finite value both it and infinity may
            # come.
            special = ~np.isfinite(want)
            same = np.where(np.isnan(want), np.isnan(have), have == want)
            overflow = (
                np.isinf(have)
                & ~special
                & (np.sign(have) == np.sign(want))
                & (np.abs(want) + bound >= largest)
            )
            used = np.where(
                special | overflow, np.where(same | overflow, 0.0, np.inf), np.abs(have - want) / bound
            )
            used = np.where(~special & (have == want), 0.0, used)
            used = np.where(np.isnan(used), np.inf, used)
        return float(used.max()) if used.size else 0.0

    def check(self, got: Any, name: str) -> float:
        used = self.worst(got)
        assert used <= 1, f"{name}: off by {used:.3g} times its bound"
        return used


def _largest(dtype: np.dtype) -> float:
    """Halfway between the largest finite value and what would come next: from here on rounding gives
    infinity."""
    if np.issubdtype(dtype, np.integer):
        return float("inf")
    digits, exponent = {
        "float64": (53, 1023),
        "float32": (24, 127),
        "float16": (11, 15),
        "bfloat16": (8, 127),
    }[np.dtype(dtype).name]
    return float("inf") if digits == 53 else (2.0 - 2.0**-digits) * 2.0**exponent


def reduce_backward(
    grad_out: Any, input: Any, mean: Any, invstd: Any, *, exact: bool = False
) -> dict[str, Bounded]:
    """sumDy, sumDyXmu, gradWeight and gradBias by the names of the Python result."""
    dy, x = f64(grad_out), f64(input)
    with np.errstate(invalid="ignore", over="ignore"):
        centred = x - per_channel(f64(mean), x.ndim)
        products = dy * centred
        sum_dy, sum_dy_xmu = channel_sums(dy, exact), channel_sums(products, exact)
        slack_dy = REDUCTION * U * _finite(channel_sums(np.abs(dy), False))
        slack_xmu = REDUCTION * U * _finite(channel_sums(np.abs(products), False))
        scale = f64(invstd)
        weight = Bounded(
            sum_dy_xmu * scale,
            slack_xmu * np.abs(_finite(scale)) + 2 * U * np.abs(_finite(sum_dy_xmu * scale)),
        )
    return {
        "sum_dy": Bounded(sum_dy, slack_dy),
        "sum_dy_xmu": Bounded(sum_dy_xmu, slack_xmu),
        "grad_weight": weight,
        "grad_bias": Bounded(sum_dy, slack_dy),
    }


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, 0.0)
