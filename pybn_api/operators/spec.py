"""What Python knows about an operator: its parameters in the C order, and the outputs that it makes by
itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from pybn_api.arrays.base import View, memory_order
from pybn_api.dtypes import BF16, DOUBLE, FLOAT, FLOAT16

# A value of an attribute; a bool array is a tuple of bools.
Attribute: TypeAlias = Any


class Output(NamedTuple):
    """An output to be allocated: `order` lists its axes from the outermost in memory to the innermost."""

    shape: tuple[int, ...]
    dtype: int
    order: tuple[int, ...]


# views of the inputs (None: not given), attributes -> outputs (None: not wanted)
OutputRule: TypeAlias = Callable[[Sequence[Any], Sequence[Attribute]], Sequence["Output | None"]]


@dataclass(frozen=True)
class Parameter:
    """One parameter of the C function."""

    c_name: str
    # "in", "optional", "inplace" (optional, updated), "update" (required, updated), "out"; or a type.
    kind: str
    name: str = field(init=False)  # as Python spells it

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", re.sub(r"(?<!^)([A-Z])", r"_\1", self.c_name).lower())


_SUFFIXES = {"?": "optional", "&": "inplace", "!": "update"}


class Spec:
    """An operator's parameters, written as the words of its C signature.

    `gradOut` is a tensor, `weight?` may be NULL, `runningMean&` may be NULL and is updated, `mean!` is
    updated; `eps:double` is an attribute (bool, double, float, int, enum, mask, float_scalar, int_scalar);
    outputs follow `->`. `format:label` is not passed on: it says which axis of the data tensors holds the
    channels.
    """

    def __init__(self, operator: str, function: str, signature: str) -> None:
        self.operator = operator
        self.function = function
        inputs, _, outputs = signature.partition("->")
        self.parameters = [_parameter(word) for word in inputs.split()]
        self.outputs = [Parameter(word, "out") for word in outputs.split()]
        tensor_kinds = ("in", *_SUFFIXES.values())
        self.inputs = [p for p in self.parameters if p.kind in tensor_kinds]
        self.attributes = [p for p in self.parameters if p.kind not in tensor_kinds]
        self.updated = tuple(i for i, p in enumerate(self.inputs) if p.kind in ("inplace", "update"))
        self.required = tuple(i for i, p in enumerate(self.inputs) if p.kind in ("in", "update"))
        self.training = next((i for i, p in enumerate(self.attributes) if p.name == "training"), None)
        self.label = next((i for i, p in enumerate(self.attributes) if p.kind == "label"), None)
        # From the words of the C messages to those of Python.
        self.names = {p.c_name: p.name for p in (*self.parameters, *self.outputs)}
        self.names[operator] = self.names[f"bnapi{operator}"] = function

    def written(self, attributes: Sequence[Attribute]) -> tuple[int, ...]:
        """The inputs that a call updates: in inference, none."""
        if self.training is not None and not attributes[self.training]:
            return ()
        return self.updated


def _parameter(word: str) -> Parameter:
    name, _, type_ = word.partition(":")
    if type_:
        return Parameter(name, type_)
    return Parameter(name.rstrip("?&!"), _SUFFIXES.get(word[-1], "in"))


# ---- pieces of output rules ----------------------------------------------------------------------------


def channels(data: View, label: str | None = None) -> int:
    """Extent of the channel axis: 1, or the last one of the labels NHWC and NDHWC."""
    axis = len(data.shape) - 1 if label in ("NHWC", "NDHWC") else 1
    # A rank that is too low is for the library to refuse.
    return data.shape[axis] if len(data.shape) > 1 else 0


def vector(length: int, dtype: int) -> Output:
    """A tensor of one value per channel."""
    return Output((length,), dtype, (0,))


def like(data: View) -> Output:
    """A dense tensor with the dtype, shape and memory order of another."""
    return Output(data.shape, data.dtype, memory_order(data))


def statistics_dtype(data: View) -> int:
    """float64 beside float64 data, else float32."""
    return DOUBLE if data.dtype == DOUBLE else FLOAT


def floating(dtype: int) -> int:
    """The dtype itself if it is a floating one, else float32."""
    return dtype if dtype in (FLOAT, FLOAT16, BF16, DOUBLE) else FLOAT
