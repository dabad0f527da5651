"""One table of ways to call each operator: with everything given, with nothing optional, in both modes,
labels, masks.

A `Way` makes the tensors of a call for a shape and dtypes. Tests lay them out, run them and compare with the
oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from layouts import Guarded, Layout, contiguous
from oracle import per_channel

BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, F64 = np.dtype("f2"), np.dtype("f4"), np.dtype("f8")
DTYPES = {"f32": F32, "f16": F16, "bf16": BF16, "f64": F64}

EPS = 1e-5
NOTHING: Mapping[str, Any] = {}


def parameter_dtype(dtype: np.dtype) -> np.dtype:
    """Parameters beside the data: float32, for float64 data float64."""
    return F64 if dtype == F64 else F32


@dataclass
class Example:
    """The tensors of one call, values only: `data` are [N, C, ...], `others` the rest, `outputs` shape and
    dtype."""

    data: dict[str, np.ndarray]
    others: dict[str, np.ndarray | None]
    outputs: dict[str, tuple[tuple[int, ...], np.dtype]]
    updated: dict[str, np.ndarray] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    format: str | None = None

    def inputs(self) -> dict[str, Any]:
        return {**self.data, **self.others, **self.updated}

    def laid_out(self, layout: Layout, other: Layout | None = None) -> dict[str, Any]:
        """The arguments of a call: every second data tensor in the other layout, outputs and updated ones
        guarded."""
        layouts = [layout, other or layout]
        tensors: dict[str, Any] = dict(self.others)
        for index, (name, array) in enumerate(self.data.items()):
            tensors[name] = layouts[index % 2](array)
        for name, (shape, dtype) in self.outputs.items():
            tensors[name] = Guarded(shape, dtype, layout if len(shape) > 1 else contiguous)
        for name, array in self.updated.items():
            tensors[name] = Guarded(array.shape, array.dtype).fill(array)
        return tensors


Maker = Callable[["Inputs"], Example]


@dataclass(frozen=True)
class Way:
    """A way to call an operator, for data of one rank only if `rank` says so."""

    operator: str
    name: str
    make: Maker
    rank: int | None = None
    dtypes: tuple[np.dtype, ...] = (F32, F16, BF16, F64)

    def __str__(self) -> str:
        return f"{self.operator}-{self.name}"


class Inputs:
    """Random data of a shape, with statistics near its own, and parameters of dtype `parameter`."""

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype,
        parameter: np.dtype = F32,
        seed: int = 0,
        shift: float = 0.5,
    ) -> None:
        self.shape, self.dtype, self.parameter = shape, dtype, parameter
        self.random = np.random.default_rng([seed, *shape])
        self.channels = shape[1]
        centre = per_channel(shift + self.random.standard_normal(self.channels), len(shape))
        scale = per_channel(self.random.uniform(0.5, 2, self.channels), len(shape))
        self.x = (centre + scale * self.random.standard_normal(shape)).astype(dtype)
        self.shift = shift

    def normal(self) -> np.ndarray:
        return self.random.standard_normal(self.shape).astype(self.dtype)

    def vector(self, low: float = -2, high: float = 2, dtype: np.dtype | None = None) -> np.ndarray:
        return self.random.uniform(low, high, self.channels).astype(dtype or self.parameter)

    def positive(self, dtype: np.dtype | None = None) -> np.ndarray:
        return self.vector(0.4, 2.5, dtype)

    def mean(self) -> np.ndarray:
        return (self.shift + self.random.standard_normal(self.channels)).astype(self.parameter)

    def last(self, array: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.moveaxis(array, 1, -1))

    @property
    def per_channel(self) -> tuple[tuple[int, ...], np.dtype]:
        return (self.channels,), self.parameter

    @property
    def like_x(self) -> tuple[tuple[int, ...], np.dtype]:
        return self.shape, self.dtype


# ---- forward -------------------------------------------------------------------------------------------


def _forward(i: Inputs, training: bool, optional: bool = True, format: str | None = None) -> Example:
    x = i.last(i.x) if format else i.x
    affine = {"weight": i.vector(), "bias": i.vector()} if optional else {}
    running = {"running_mean": i.mean(), "running_var": i.positive()} if optional else {}
    outputs = {"output": (x.shape, i.dtype)}
    if training:
        outputs |= {"save_mean": i.per_channel, "save_invstd": i.per_channel}
    attributes = {"training": training, "momentum": 0.2, "eps": EPS}
    return Example({"input": x}, affine, outputs, running, attributes, format)


def _act(i: Inputs, training: bool, relu: bool, residual: bool) -> Example:
    example = _forward(i, training)
    if residual:
        example.data["residual"] = i.normal()
    example.attributes["activation"] = int(relu)
    return example


def _elemt(i: Inputs, optional: bool = True) -> Example:
    others = {"mean": i.mean(), "invstd": i.positive()}
    if optional:
        others |= {"weight": i.vector(), "bias": i.vector()}
    return Example({"input": i.x}, others, {"output": i.like_x}, attributes={"eps": EPS})


# ---- backward ------------------------------------------------------------------------------------------


def _backward(
    i: Inputs,
    training: bool,
    optional: bool = True,
    mask: tuple[bool, ...] = (True,) * 3,
    format: str | None = None,
) -> Example:
    data = {"grad_out": i.normal(), "input": i.x}
    if format:
        data = {name: i.last(array) for name, array in data.items()}
    others: dict[str, np.ndarray | None] = {}
    if optional:
        others = {"weight": i.vector(), "running_mean": i.mean(), "running_var": i.positive()}
        others |= {"save_mean": i.mean(), "save_invstd": i.positive()}
    outputs = {
        "grad_input": (data["input"].shape, i.dtype),
        "grad_weight": i.per_channel,
        "grad_bias": i.per_channel,
    }
    wanted = {name: row for (name, row), on in zip(outputs.items(), mask, strict=True) if on}
    attributes = {"training": training, "eps": EPS, "output_mask": mask}
    return Example(data, others, wanted, attributes=attributes, format=format)


def _fast(i: Inputs, training: bool, optional: bool = True) -> Example:
    example = _backward(i, training, optional)
    example.attributes["version"] = 1
    return example


def _act_backward(
    i: Inputs, training: bool, relu: bool, residual: bool = True, mask: tuple[bool, ...] = (True,) * 3
) -> Example:
    example = _backward(i, training, mask=mask)
    if relu:
        # The saved output: about half of it zero, and both signs of zero.
        example.data["output"] = np.maximum(i.normal(), 0).astype(i.dtype)
        example.data["output"][:1, :1] = -0.0
    if residual:
        example.outputs["grad_residual"] = i.like_x
    example.attributes |= {"activation": int(relu), "output_mask": (*mask, residual)}
    return example


def _reduce_backward(i: Inputs) -> Example:
    names = ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")
    others = {"mean": i.mean(), "invstd": i.positive(), "weight": i.vector()}
    attributes = {"input_g": True, "weight_g": True, "bias_g": True}
    outputs = dict.fromkeys(names, i.per_channel)
    return Example({"grad_out": i.normal(), "input": i.x}, others, outputs, attributes=attributes)


def _elemt_backward(i: Inputs, counter: Any, optional: bool = True) -> Example:
    others = {"mean": i.mean(), "invstd": i.positive(), "counter": np.asarray(counter)}
    others |= {"sum_dy": i.vector(-9, 9), "sum_dy_xmu": i.vector(-9, 9)}
    if optional:
        others["weight"] = i.vector()
    return Example({"grad_out": i.normal(), "input": i.x}, others, {"grad_input": i.like_x})


# ---- statistics ----------------------------------------------------------------------------------------


def _stats(i: Inputs) -> Example:
    row = ((i.channels,), F64 if i.parameter == F64 else F32)
    return Example({"input": i.x}, {}, {"mean": row, "invstd": row}, attributes={"eps": EPS})


def _gather(i: Inputs, counts: list[float], running: bool = True) -> Example:
    ranks = len(counts)
    mean = i.random.standard_normal((ranks, i.channels)).astype(i.parameter)
    invstd = i.random.uniform(0.4, 2.5, (ranks, i.channels)).astype(i.parameter)
    updated = {"running_mean": i.mean(), "running_var": i.positive()} if running else {}
    others = {"mean": mean, "invstd": invstd, "counts": np.array(counts, i.parameter)}
    outputs = {"mean_all": i.per_channel, "invstd_all": i.per_channel}
    return Example({"input": i.x}, others, outputs, updated, {"momentum": 0.3, "eps": EPS})


def _sync(i: Inputs, count_dtype: np.dtype) -> Example:
    ranks = 5
    count = i.random.integers(3, 60, ranks)
    sums = (i.random.normal(0.3, 0.5, (ranks, i.channels)) * count[:, None]).astype(i.parameter)
    squares = (i.random.uniform(1, 3, (ranks, i.channels)) * count[:, None]).astype(i.parameter)
    others = {"total_sum": sums, "total_square_sum": squares, "sample_count": count.astype(count_dtype)}
    updated = {"mean": i.mean(), "variance": i.positive()}
    outputs = {"batch_mean": i.per_channel, "batch_invstd": i.per_channel}
    return Example({}, others, outputs, updated, {"momentum": 0.3, "eps": EPS})


def _reduce(i: Inputs, format: str) -> Example:
    x = i.last(i.x) if format == "NHWC" else i.x
    row = ((i.channels,), F64 if i.parameter == F64 else F32)
    return Example({"x": x}, {}, {"sum": row, "square_sum": row}, format=format)


def _quantized(i: Inputs, dtype: str, optional: bool = True) -> Example:
    info = np.iinfo(dtype)
    size = min(info.max, 2**20)
    q = i.random.integers(max(info.min, -size), size + 1, i.shape).astype(dtype)
    others = {"mean": i.mean().astype(F32), "var": i.positive(F32)}
    if optional:
        others |= {"weight": i.vector(dtype=F32), "bias": i.vector(dtype=F32)}
    scale = 0.05 if size < 1000 else 1e-3
    attributes = {"input_scale": scale, "input_zero_point": 3, "output_scale": 0.06, "output_zero_point": -7}
    if info.min == 0:
        attributes["output_zero_point"] = 100
    attributes["epsilon"] = EPS
    return Example({"input": q}, others, {"output": (i.shape, np.dtype(dtype))}, attributes=attributes)


WAYS = [
    Way("BatchNorm", "train", lambda i: _forward(i, True)),
    Way("BatchNorm", "train_bare", lambda i: _forward(i, True, optional=False)),
    Way("BatchNorm", "eval", lambda i: _forward(i, False)),
    Way("BatchNorm", "eval_bare", lambda i: _forward(i, False, optional=False)),
    Way("BatchNorm", "train_nhwc", lambda i: _forward(i, True, format="NHWC"), rank=4),
    Way("BatchNorm", "eval_ndhwc", lambda i: _forward(i, False, format="NDHWC"), rank=5),
    Way("BatchNormAct", "train_relu_residual", lambda i: _act(i, True, True, True)),
    Way("BatchNormAct", "train_relu", lambda i: _act(i, True, True, False)),
    Way("BatchNormAct", "eval_relu_residual", lambda i: _act(i, False, True, True)),
    Way("BatchNormAct", "train_residual", lambda i: _act(i, True, False, True)),
    Way("BatchNormElemt", "all", _elemt),
    Way("BatchNormElemt", "bare", lambda i: _elemt(i, optional=False)),
    Way("BatchNormBackward", "train", lambda i: _backward(i, True)),
    Way("BatchNormBackward", "train_bare", lambda i: _backward(i, True, optional=False)),
    Way("BatchNormBackward", "eval", lambda i: _backward(i, False)),
    Way("BatchNormBackward", "eval_bare", lambda i: _backward(i, False, optional=False)),
    Way("BatchNormBackward", "train_parameters", lambda i: _backward(i, True, mask=(False, True, True))),
    Way("BatchNormBackward", "train_input", lambda i: _backward(i, True, mask=(True, False, False))),
    Way("BatchNormBackward", "eval_input", lambda i: _backward(i, False, mask=(True, False, False))),
    Way("BatchNormBackward", "eval_bias", lambda i: _backward(i, False, mask=(False, False, True))),
    Way("BatchNormBackward", "train_nhwc", lambda i: _backward(i, True, format="NHWC"), rank=4),
    Way("FastBatchNormBackward", "train", lambda i: _fast(i, True)),
    Way("FastBatchNormBackward", "eval_bare", lambda i: _fast(i, False, optional=False)),
    Way("BatchNormActBackward", "train_relu", lambda i: _act_backward(i, True, True)),
    Way("BatchNormActBackward", "train_relu_only", lambda i: _act_backward(i, True, True, residual=False)),
    Way("BatchNormActBackward", "train_identity", lambda i: _act_backward(i, True, False)),
    Way("BatchNormActBackward", "eval_relu", lambda i: _act_backward(i, False, True)),
    Way("BatchNormActBackward", "residual_only", lambda i: _act_backward(i, True, True, mask=(False,) * 3)),
    Way(
        "BatchNormActBackward",
        "residual_and_parameters",
        lambda i: _act_backward(i, True, True, mask=(False, True, True)),
    ),
    Way("BatchNormActBackward", "eval_residual", lambda i: _act_backward(i, False, True, mask=(False,) * 3)),
    Way("BatchNormReduceBackward", "all", _reduce_backward),
    Way("BatchNormElemtBackward", "all", lambda i: _elemt_backward(i, np.array([7, 30], np.int32))),
    Way(
        "BatchNormElemtBackward",
        "bare",
        lambda i: _elemt_backward(i, np.array([[1.5], [4]], F32), optional=False),
    ),
    Way("BatchNormStats", "all", _stats),
    Way("BatchNormGatherStatsWithCounts", "all", lambda i: _gather(i, [4, 12, 0, 37])),
    Way("BatchNormGatherStatsWithCounts", "bare", lambda i: _gather(i, [9], running=False)),
    Way("SyncBatchNormGatherStats", "int_counts", lambda i: _sync(i, np.dtype("i4"))),
    Way("SyncBatchNormGatherStats", "float_counts", lambda i: _sync(i, F32)),
    Way("BatchNormReduce", "nchw", lambda i: _reduce(i, "NCHW"), rank=4),
    Way("BatchNormReduce", "nhwc", lambda i: _reduce(i, "NHWC"), rank=4),
    Way("QuantizedBatchNorm", "int8", lambda i: _quantized(i, "i1"), rank=4, dtypes=(F32,)),
    Way("QuantizedBatchNorm", "uint8", lambda i: _quantized(i, "u1", optional=False), rank=4, dtypes=(F32,)),
    Way("QuantizedBatchNorm", "int32", lambda i: _quantized(i, "i4"), rank=4, dtypes=(F32,)),
]


def combinations() -> Iterator[tuple[Way, str]]:
    """Every way with every dtype that it takes."""
    for way in WAYS:
        for name, dtype in DTYPES.items():
            if dtype in way.dtypes:
                yield way, name
