"""From a Python call to the two phases: plans, and the cache of plans behind plain calls.

A plan is a repeatable executor with its workspace, made once for a signature (dtypes, shapes, strides,
attributes) and aimed at each call's arrays. Plain calls find theirs in a cache, so only the first of its kind
pays for planning.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np

from pybn_api import runtime
from pybn_api._lib import ffi, lib
from pybn_api.arrays import Array, View, adopt, families, family_of
from pybn_api.arrays.adopted import Adopted
from pybn_api.arrays.base import Family, dense_strides
from pybn_api.arrays.numpy_family import DATA_OFFSET
from pybn_api.errors import BnApiError, check, error, invalid
from pybn_api.executor import Executor, Memory
from pybn_api.operators.spec import Attribute, Output, OutputRule, Parameter, Spec
from pybn_api.runtime import Device, Stream, default_stream, on_device
from pybn_api.tensor import FORMATS, BoolArray, Scalar, Tensor, format_of_rank

P = ParamSpec("P")
R = TypeVar("R")

# What an operator's Python signature becomes: input tensors and attributes in the C order, outputs, stream.
Bound: TypeAlias = tuple[list[Array], tuple[Attribute, ...], Any, "Stream | None"]
Key: TypeAlias = list[Hashable]


class _Ready(NamedTuple):
    """An executor that waits to be run."""

    executor: Executor
    handle: Any
    workspace: Any
    workspace_size: int
    memory: Memory | None


class Planned:
    """One signature of an operator, ready to run on arrays that have it."""

    MOST_STREAMS = 64

    def __init__(
        self, operation: Operation, arrays: Sequence[Array], attributes: Sequence[Attribute], out: Any
    ):
        spec = self.spec = operation.spec
        self.attributes = tuple(attributes)
        views = [_view(spec, p, a) for p, a in zip(spec.inputs, arrays, strict=True)]
        given = [None] * len(spec.outputs) if out is None else out
        complete = all(views[i] is not None for i in spec.required)
        rule = operation.outputs(views, attributes) if complete else [None] * len(spec.outputs)
        self.wanted = [output is not None for output in rule]
        outs = [
            None if output is None else _view(spec, p, array) or output
            for p, output, array in zip(spec.outputs, rule, given, strict=True)
        ]
        self.views: list[View | Output | None] = [*views, *outs]
        self.device = self._device(arrays)
        self._refuse_read_only(views, outs)

        self.phase_two = ffi.addressof(lib, f"bnapi{spec.operator}")
        self.places = len(self.views)
        self.epoch = runtime.epoch
        self.idle: dict[int, list[_Ready]] = {}
        self.idle.setdefault(0, []).append(self._ready())
        if not complete:
            raise error(lib.BNAPI_ERR_INNER, f"{spec.function}: planned without a required array")

        # Only now: what the library refuses cannot always be allocated.
        like = arrays[0]
        self.family = _known(like)
        self.allocators = [
            self.family.allocator(like, output.shape, output.dtype, output.order)
            if isinstance(output, Output)
            else None
            for output in outs
        ]
        # Results of adopted arrays are made in a plain array type, for the caller's library to take over.
        self.finishes = isinstance(like, Adopted)
        kinds = [type(a) for a in (*arrays, *given) if a is not None]
        self.indirect = DATA_OFFSET is not None and all(issubclass(kind, np.ndarray) for kind in kinds)
        # numpy arrays are passed as objects, whose data pointers C reads itself.
        self.offset = DATA_OFFSET or 0 if self.indirect else 0
        self.absent = id(None) if self.indirect else 0
        self.only_device = Device.count() == 1

    def _device(self, arrays: Sequence[Array]) -> int:
        named = zip((*self.spec.inputs, *self.spec.outputs), self.views, strict=True)
        devices = [(p, view.device) for p, view in named if isinstance(view, View)]
        if not devices:
            return Device.current().id
        first, device = devices[0]
        for parameter, other in devices:
            if other != device:
                places = f"on {Device(other)}, where {first.name} is on {Device(device)}"
                raise invalid(f"{self.spec.function}: {parameter.name}: {places}")
        return device

    def _refuse_read_only(self, views: Sequence[View | None], outs: Sequence[View | Output | None]) -> None:
        written = [(self.spec.inputs[i], views[i]) for i in self.spec.written(self.attributes)]
        for parameter, view in (*written, *zip(self.spec.outputs, outs, strict=True)):
            if isinstance(view, View) and not view.writable:
                raise invalid(
                    f"{self.spec.function}: {parameter.name}: a read-only array, where it is written to"
                )

    def _ready(self) -> _Ready:
        """Phase one. The tensors exist only inside: the executor keeps what it needs of them."""
        spec, views = self.spec, iter(self.views)
        attributes = iter(self.attributes)
        label = None if spec.label is None else self.attributes[spec.label]
        arguments: list[Any] = []
        for parameter in (*spec.parameters, *spec.outputs):
            if parameter in spec.attributes:
                value = next(attributes)
                if parameter.kind != "label":
                    arguments.append(_attribute(parameter, value))
            else:
                arguments.append(_tensor(next(views), label))
        with on_device(self.device):
            executor = Executor(spec.operator, *arguments, names=spec.names).make_repeatable()
            size = executor.workspace_bytes
            memory = Memory(size) if size else None
        pointer = ffi.NULL if memory is None else memory.pointer
        return _Ready(executor, executor.handle, pointer, size, memory)

    def run(self, arrays: Sequence[Array], out: Any, stream: Stream | None) -> list[Array]:
        """Phase two on these arrays. Without a stream: in the current one of the arrays' library, else at
        once."""
        if out is None:
            outs = [None if make is None else make() for make in self.allocators]
        else:
            outs = [
                (given if wanted else None) if make is None else make()
                for make, given, wanted in zip(self.allocators, out, self.wanted, strict=True)
            ]
        if self.indirect:
            places = [*map(id, arrays), *map(id, outs)]
        else:
            places = [0 if a is None else _known(a).address(a) for a in (*arrays, *outs)]

        wait, keep = False, stream is not None
        if stream is None:
            if self.family.stream_ordered:
                stream = self.family.stream(arrays[0])
            if stream is None:
                wait = True
                if not self.only_device:
                    stream = default_stream(self.device)
        elif stream.device.id != self.device:
            where = f"of {stream.device}, where the arrays are on {Device(self.device)}"
            raise invalid(f"{self.spec.function}: stream: {where}")

        if self.epoch != runtime.epoch:
            self.idle, self.epoch = {}, runtime.epoch
        handle, queue = (ffi.NULL, 0) if stream is None else (stream.handle, id(stream))
        idle = self.idle.get(queue)
        if idle is None:
            if len(self.idle) >= self.MOST_STREAMS:
                self.idle = {}
            idle = self.idle[queue] = []
        try:
            ready = idle.pop()
        except IndexError:
            ready = self._ready()
        status = lib.bnpyRun(
            self.phase_two,
            ready.handle,
            places,
            self.places,
            self.absent,
            self.offset,
            ready.workspace,
            ready.workspace_size,
            handle,
            wait,
        )
        if status:
            check(status, self.spec.names)
        # Its workspace is free for the next call: the same stream runs calls one after the other.
        idle.append(ready)
        if keep and stream is not None:
            stream.keep((arrays, outs, ready))
        if self.finishes:
            return [
                o if make is None else self.family.finish(o, arrays[0])
                for o, make in zip(outs, self.allocators, strict=True)
            ]
        return outs


def _known(array: Array) -> Family:
    family = family_of(array)
    assert family is not None, type(array)
    return family


def _view(spec: Spec, parameter: Parameter, array: Array) -> View | None:
    if array is None:
        return None
    try:
        return _known(array).view(array)
    except BnApiError as problem:
        raise error(problem.code, f"{spec.function}: {parameter.name}: {problem.message}") from None


def _tensor(view: View | Output | None, label: str | None) -> Tensor | None:
    if view is None:
        return None
    strides = view.strides if isinstance(view, View) else dense_strides(view.shape, view.order)
    rank = len(view.shape)
    format_ = format_of_rank(rank) if label is None or rank < 2 else FORMATS[label]
    return Tensor(view.shape, view.dtype, strides, format=format_)


def _attribute(parameter: Parameter, value: Attribute) -> Any:
    if parameter.kind == "mask":
        return BoolArray(value)
    if parameter.kind == "float_scalar":
        return Scalar(value, "float32")
    if parameter.kind == "int_scalar":
        return Scalar(value, "int32")
    return value


class Operation:
    """An operator's function: how its arguments bind, what it returns, and the plans made so far."""

    MOST_PLANS = 256

    def __init__(
        self,
        spec: Spec,
        outputs: OutputRule,
        make: Callable[[Sequence[Array]], Any],
        bind: Callable[..., Bound],
    ) -> None:
        self.spec = spec
        self.outputs = outputs
        self.make = make
        self.bind = bind
        self.plans: dict[Hashable, Planned] = {}
        self.lock = threading.Lock()

    def inputs_key(self, arrays: list[Array]) -> Key:
        """The signatures of the inputs. Arrays of unknown types are replaced by what was adopted of them."""
        key: Key = []
        for index, array in enumerate(arrays):
            if type(array) is np.ndarray:
                key.append((array.dtype, array.shape, array.strides))
            elif array is None:
                key.append(None)
            else:
                arrays[index], signature = self._signature(self.spec.inputs[index], array)
                key.append(signature)
        for index in self.spec.updated:
            if arrays[index] is not None:
                key.append(_known(arrays[index]).writable(arrays[index]))
        return key

    def outputs_key(self, out: Any) -> tuple[Any, Key]:
        """The outputs that came, as a list, and their signatures."""
        if not isinstance(out, (tuple, list)):
            out = (out,)
        if len(out) != len(self.spec.outputs):
            names = ", ".join(p.name for p in self.spec.outputs)
            count = f"{len(out)} arrays, where there are {len(self.spec.outputs)} ({names})"
            raise invalid(f"{self.spec.function}: out: {count}")
        outs = list(out)
        key: Key = []
        for index, array in enumerate(outs):
            if array is None:
                key.append(None)
            elif type(array) is np.ndarray:
                key.append((array.dtype, array.shape, array.strides, array.flags.writeable))
            else:
                outs[index], signature = self._signature(self.spec.outputs[index], array)
                key.append((signature, _known(outs[index]).writable(outs[index])))
        return outs, key

    def _signature(self, parameter: Parameter, array: Array) -> tuple[Array, Hashable]:
        try:
            family = families.get(type(array)) or family_of(array)
            if family is None:
                array = adopt(array)
                family = families[type(array)]
            return array, family.signature(array)
        except BnApiError as problem:
            raise error(problem.code, f"{self.spec.function}: {parameter.name}: {problem.message}") from None
        except TypeError as problem:
            raise TypeError(f"{self.spec.function}: {parameter.name}: {problem}") from None

    def planned(self, key: Key, arrays: list[Array], attributes: tuple[Attribute, ...], outs: Any) -> Planned:
        whole = (attributes, *key)
        plan = self.plans.get(whole)
        if plan is None:
            plan = Planned(self, arrays, attributes, outs)
            with self.lock:
                while len(self.plans) >= self.MOST_PLANS:
                    del self.plans[next(iter(self.plans))]
                self.plans[whole] = plan
        return plan

    def call(
        self, arrays: list[Array], attributes: tuple[Attribute, ...], out: Any, stream: Stream | None
    ) -> Any:
        key, outs = self.inputs_key(arrays), None
        if out is not None:
            outs, more = self.outputs_key(out)
            key.append(None)
            key += more
        results = self.planned(key, arrays, attributes, outs).run(arrays, outs, stream)
        if out is not None:
            results = self._as_given(out, results)
        return self.make(results)

    def _as_given(self, out: Any, results: list[Array]) -> list[Array]:
        """The caller's own objects where outputs were given, also those that came in by DLPack."""
        if Adopted not in map(type, results):
            return results
        given = out if isinstance(out, (tuple, list)) else (out,)
        return [
            mine if theirs is None or mine is None else theirs
            for theirs, mine in zip(given, results, strict=True)
        ]


_operations: dict[Any, Operation] = {}


def operator(
    spec: Spec, outputs: OutputRule, make: Callable[[Sequence[Array]], R]
) -> Callable[[Callable[P, Bound]], Callable[P, R]]:
    """Makes an operator's function of one that only sorts its arguments.

    `outputs` says which outputs there are and what they look like; `make` turns them into the result.
    """

    def decorate(bind: Callable[P, Bound]) -> Callable[P, R]:
        operation = Operation(spec, outputs, make, bind)
        call_operation = operation.call

        @functools.wraps(bind)
        def function(*args: P.args, **kwargs: P.kwargs) -> R:
            result: R = call_operation(*bind(*args, **kwargs))
            return result

        returns = inspect.signature(make, eval_str=False).return_annotation
        signature = inspect.signature(bind).replace(return_annotation=returns)
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__annotations__["return"] = returns
        _operations[function] = operation
        return function

    return decorate


class Plan(Generic[P, R]):
    """An operator made ready for one signature: call it with the operator's own arguments, on any arrays of
    that signature and with the same attributes. Any number of threads may call it."""

    __slots__ = ("_attributes", "_inputs", "_operation", "_planned")

    def __init__(
        self, operation: Operation, arrays: list[Array], attributes: tuple[Attribute, ...], out: Any
    ) -> None:
        self._operation = operation
        self._attributes = attributes
        self._inputs = operation.inputs_key(arrays)
        self._planned: dict[Hashable, Planned] = {}
        outs, key = (None, None) if out is None else operation.outputs_key(out)
        self._planned[None if key is None else tuple(key)] = Planned(operation, arrays, attributes, outs)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        operation = self._operation
        arrays, attributes, out, stream = operation.bind(*args, **kwargs)
        if operation.inputs_key(arrays) != self._inputs or attributes != self._attributes:
            raise self._mismatch(arrays, attributes)
        if out is None:
            planned = self._planned.get(None)
            if planned is None:
                planned = self._planned[None] = Planned(operation, arrays, attributes, None)
            result: R = operation.make(planned.run(arrays, None, stream))
            return result
        outs, key = operation.outputs_key(out)
        planned = self._planned.get(tuple(key))
        if planned is None:
            planned = self._planned[tuple(key)] = Planned(operation, arrays, attributes, outs)
        results = operation._as_given(out, planned.run(arrays, outs, stream))
        made: R = operation.make(results)
        return made

    def _mismatch(self, arrays: list[Array], attributes: tuple[Attribute, ...]) -> BnApiError:
        spec = self._operation.spec
        key = self._operation.inputs_key(arrays)
        for index, parameter in enumerate(spec.inputs):
            if key[index] != self._inputs[index]:
                return invalid(
                    f"{spec.function}: {parameter.name}: {_words(key[index])}, where the plan was made for "
                    f"{_words(self._inputs[index])}"
                )
        for parameter, came, planned in zip(spec.attributes, attributes, self._attributes, strict=True):
            if came != planned:
                return invalid(
                    f"{spec.function}: {parameter.name}: {came}, where the plan was made for {planned}"
                )
        return invalid(f"{spec.function}: a read-only array, where the plan was made for a writable one")


def _words(signature: Any) -> str:
    if signature is None:
        return "None"
    dtype, shape, strides, *rest = signature
    return f"{dtype} {tuple(shape)} with strides {tuple(strides)}" + (f" on {rest[0]}" if rest else "")


def planner(function: Callable[P, R]) -> Callable[P, Plan[P, R]]:
    """The function that makes plans of an operator's function."""
    operation = _operations[function]

    @functools.wraps(function)
    def plan(*args: P.args, **kwargs: P.kwargs) -> Plan[P, R]:
        arrays, attributes, out, _ = operation.bind(*args, **kwargs)
        return Plan(operation, arrays, attributes, out)

    plan.__doc__ = (
        f"Plans `pybn_api.{operation.spec.function}` for arrays like these. The plan is called with the same "
        "arguments, on any arrays of the same dtypes, shapes and strides; making it computes nothing."
    )
    return plan
