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
from pybn_api._caller import Caller, Quick
from pybn_api._lib import ffi, lib
from pybn_api.arrays import Array, View, adopt, families, family_of
from pybn_api.arrays.adopted import Adopted
from pybn_api.arrays.base import Family, dense_strides
from pybn_api.arrays.numpy_family import READ_IN_PLACE
from pybn_api.errors import BnApiError, check, error, invalid
from pybn_api.executor import Executor, Memory
from pybn_api.operators.spec import Attribute, Output, OutputRule, Parameter, Spec
from pybn_api.runtime import Device, Stream, away_stream, default_stream, on_device
from pybn_api.tensor import BoolArray, Scalar, Tensor, format_code, format_of_rank

P = ParamSpec("P")
R = TypeVar("R")

# What an operator's Python signature becomes: input tensors and attributes in the C order, outputs, stream.
Bound: TypeAlias = tuple[list[Array], tuple[Attribute, ...], Any, "Stream | None"]
Key: TypeAlias = list[Hashable]


class _Ready(NamedTuple):
    """An executor that waits to be run."""

    caller: Caller
    executor: Executor
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

        self.functions = _address("bnapiSetTensorAddrs"), _address(f"bnapi{spec.operator}"), _SYNCHRONIZE
        self.epoch = runtime.epoch
        self.idle: dict[int, list[_Ready]] = {}
        ready = self._ready()
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
        self.at_once = not self.family.stream_ordered and Device.count() == 1
        kinds = {type(array) for array in (*arrays, *given) if array is not None}
        # numpy arrays are passed as objects, which C reads by itself; others as addresses.
        self.in_place = READ_IN_PLACE and all(issubclass(kind, np.ndarray) for kind in kinds)
        self.is_plain = READ_IN_PLACE and kinds == {np.ndarray}
        self.quick: Callable[[list[Any], list[Any] | None], list[Any] | int | None] | None = None
        self._prepare(ready, arrays, out)

    def _prepare(self, ready: _Ready, arrays: Sequence[Array], out: list[Array] | None) -> None:
        """Keeps an executor for quick calls on arrays like these where they are all numpy's, else for any."""
        given = [None] * len(self.wanted) if out is None else out
        ignored = any(
            not wanted and array is not None for wanted, array in zip(self.wanted, given, strict=True)
        )
        if not self.is_plain or ignored:
            self.idle[0] = [ready]
            return
        written = self.spec.written(self.attributes)
        flags = [index in written for index in range(len(arrays))]
        several: tuple[int, int, int] = 0, 0, 0
        self.away = None
        if Device.count() > 1:
            self.away = away_stream(self.device)
            several = _GET_DEVICE, self.device, int(ffi.cast("uintptr_t", self.away.handle))
        self.quick = Quick(np.ndarray, ready.caller, list(arrays), flags, out, self.allocators, *several).call
        self.quick_ready = ready

    def attempt(
        self,
        arrays: list[Array],
        attributes: tuple[Attribute, ...],
        outs: list[Array] | None,
        stream: Stream | None,
    ) -> list[Array] | None:
        """The outputs of a synchronous call on numpy arrays, if it is certain at a glance that they are like
        those of the plan. Else None, and nothing was done: ask `Operation.inputs_key`."""
        if self.quick is None or stream is not None or attributes != self.attributes:
            return None
        if self.epoch != runtime.epoch:
            return None
        outputs = self.quick(arrays, outs)
        if isinstance(outputs, int):
            check(outputs, self.spec.names)
            return None
        return outputs

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
                arguments.append(_tensor(spec, next(views), label))
        with on_device(self.device):
            executor = Executor(spec.operator, *arguments, names=spec.names).make_repeatable()
            size = executor.workspace_bytes
            memory = Memory(size) if size else None
        handle = int(ffi.cast("uintptr_t", executor.handle))
        caller = Caller(*self.functions, handle, 0 if memory is None else memory.address, size)
        return _Ready(caller, executor, memory)

    def run(self, arrays: list[Array], out: list[Array] | None, stream: Stream | None) -> list[Array]:
        """Phase two on these arrays. Without a stream: in the current one of the arrays' library, else at
        once."""
        if out is None:
            outs = [None if make is None else make() for make in self.allocators]
        else:
            outs = [
                (given if wanted else None) if make is None else make()
                for make, given, wanted in zip(self.allocators, out, self.wanted, strict=True)
            ]
        if self.in_place:
            inputs, outputs = arrays, outs
        else:
            inputs = self._addresses(self.spec.inputs, arrays)
            outputs = self._addresses(self.spec.outputs, outs)

        if self.epoch != runtime.epoch:
            self.idle, self.epoch = {}, runtime.epoch
            self._prepare(self._ready(), arrays, out)
        keep = stream
        wait = stream is None and self.at_once
        handle = queue = 0
        if not wait:
            stream, wait = self._queue(arrays, stream)
            if stream is not None:
                handle, queue = int(ffi.cast("uintptr_t", stream.handle)), id(stream)
        idle = self.idle.get(queue)
        if idle is None:
            if len(self.idle) >= self.MOST_STREAMS:
                self.idle = {}
            idle = self.idle[queue] = []
        try:
            ready = idle.pop()
        except IndexError:
            ready = self._ready()
        status = ready.caller.run(inputs, outputs, handle, wait)
        if status:
            check(status, self.spec.names)
        # Its workspace is free for the next call: the same stream runs calls one after the other.
        idle.append(ready)
        if keep is not None:
            keep.keep((arrays, outs, ready))
        if self.finishes:
            return [
                o if make is None else self.family.finish(o, arrays[0])
                for o, make in zip(outs, self.allocators, strict=True)
            ]
        return outs

    def _addresses(self, parameters: Sequence[Parameter], arrays: list[Array]) -> list[int | None]:
        found: list[int | None] = []
        for parameter, array in zip(parameters, arrays, strict=True):
            family = None if array is None else _known(array)
            address = None if family is None else family.address(array)
            # To an executor, address 0 would mean the memory of the call before.
            if family is not None and address == 0 and 0 not in family.view(array).shape:
                raise invalid(f"{self.spec.function}: {parameter.name}: an array without memory")
            found.append(address)
        return found

    def _queue(self, arrays: list[Array], stream: Stream | None) -> tuple[Stream | None, bool]:
        """The stream to use, None for the device's default one, and whether to wait for it."""
        if stream is not None:
            if not isinstance(stream, Stream):
                kind = type(stream).__name__
                raise TypeError(f"{self.spec.function}: stream: a {kind}, where a pybn_api.Stream is needed")
            if stream.device.id != self.device:
                where = f"of {stream.device}, where the arrays are on {Device(self.device)}"
                raise invalid(f"{self.spec.function}: stream: {where}")
            return stream, False
        if self.family.stream_ordered:
            stream = self.family.stream(arrays[0])
            if stream is not None:
                return stream, False
        return default_stream(self.device), True


def _address(function: str) -> int:
    return int(ffi.cast("uintptr_t", ffi.addressof(lib, function)))


_SYNCHRONIZE = _address("bnapiSynchronizeStream")
_GET_DEVICE = _address("bnapiGetDevice")


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


def _tensor(spec: Spec, view: View | Output | None, label: str | None) -> Tensor | None:
    if view is None:
        return None
    strides = view.strides if isinstance(view, View) else dense_strides(view.shape, view.order)
    rank = len(view.shape)
    format_ = format_of_rank(rank) if label is None or rank < 2 else format_code(spec.function, label)
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
        self.recent: Planned | None = None
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

    def outputs_key(self, outs: list[Array]) -> Key:
        """The signatures of the outputs that came. Those of unknown types are replaced, as inputs are."""
        if len(outs) != len(self.spec.outputs):
            names = ", ".join(p.name for p in self.spec.outputs)
            count = f"{len(outs)} arrays, where there are {len(self.spec.outputs)} ({names})"
            raise invalid(f"{self.spec.function}: out: {count}")
        key: Key = []
        for index, array in enumerate(outs):
            if array is None:
                key.append(None)
            elif type(array) is np.ndarray:
                key.append((array.dtype, array.shape, array.strides, array.flags.writeable))
            else:
                outs[index], signature = self._signature(self.spec.outputs[index], array)
                key.append((signature, _known(outs[index]).writable(outs[index])))
        return key

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
        outs, recent = _listed(out), self.recent
        if recent is not None:
            results = recent.attempt(arrays, attributes, outs, stream)
            if results is not None:
                return self.make(results)
        key = self.inputs_key(arrays)
        if outs is not None:
            key.append(None)
            key += self.outputs_key(outs)
        planned = self.recent = self.planned(key, arrays, attributes, outs)
        return self.make(self._as_given(out, planned.run(arrays, outs, stream)))

    def _as_given(self, out: Any, results: list[Array]) -> list[Array]:
        """The caller's own objects where outputs were given, also those that came in by DLPack."""
        given = _listed(out)
        if given is None or Adopted not in map(type, results):
            return results
        return [
            mine if theirs is None or mine is None else theirs
            for theirs, mine in zip(given, results, strict=True)
        ]


def _listed(out: Any) -> list[Array] | None:
    """The outputs that came, as a list of our own."""
    return None if out is None else [*out] if isinstance(out, (tuple, list)) else [out]


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

    __slots__ = ("_attributes", "_inputs", "_operation", "_planned", "_recent")

    def __init__(
        self, operation: Operation, arrays: list[Array], attributes: tuple[Attribute, ...], out: Any
    ) -> None:
        self._operation = operation
        self._attributes = attributes
        self._inputs = operation.inputs_key(arrays)
        self._planned: dict[Hashable, Planned] = {}
        self._recent = self._plan(arrays, _listed(out))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        operation = self._operation
        arrays, attributes, out, stream = operation.bind(*args, **kwargs)
        outs = _listed(out)
        results = self._recent.attempt(arrays, attributes, outs, stream)
        if results is None:
            if operation.inputs_key(arrays) != self._inputs or attributes != self._attributes:
                raise self._mismatch(arrays, attributes)
            planned = self._recent = self._plan(arrays, outs)
            results = operation._as_given(out, planned.run(arrays, outs, stream))
        made: R = operation.make(results)
        return made

    def _plan(self, arrays: list[Array], outs: list[Array] | None) -> Planned:
        """The plan for these outputs, to be allocated or given."""
        key = None if outs is None else tuple(self._operation.outputs_key(outs))
        planned = self._planned.get(key)
        if planned is None:
            planned = self._planned[key] = Planned(self._operation, arrays, self._attributes, outs)
        return planned

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
