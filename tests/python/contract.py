"""Phase one with arguments as they are written in a table: which status, and what the message names.

A call is a mapping from the C parameter names, in the order of the signature, to `D` (a tensor descriptor
without data), None (a null pointer), a list (a bool array), a `S` (a scalar) or a plain attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pybn_api._lib import ffi, lib

NULLPTR, INVALID, INNER_NULLPTR = 161001, 161002, 561103

FLOAT, FLOAT16, INT8, INT32, UINT8, INT64, DOUBLE, BOOL, BF16 = 0, 1, 2, 3, 4, 9, 11, 12, 27
NOT_FLOATS = (-1, INT8, INT32, INT64, BOOL, 16, 33, 34, 63, 64, 1000)

NCHW, NHWC, ND, HWCN, NDHWC, NCDHW, NC, NCL = 0, 1, 2, 16, 27, 30, 35, 47
PRIVATE = (3, 4, 12, 29, 32, 33, 50, 51, 52, 53, 54, -1, 5, 63, 64, 99)  # and undefined and unknown ones


@dataclass(frozen=True)
class D:
    """A tensor descriptor, without memory unless `data` is given."""

    shape: tuple[int, ...]
    dtype: int = FLOAT
    label: int = ND
    strides: tuple[int, ...] | None = None
    offset: int = 0
    data: Any = ffi.NULL


@dataclass(frozen=True)
class S:
    """A scalar."""

    value: float
    dtype: int = FLOAT


Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A change of a valid call, and what comes of it."""

    status: int
    names: str  # what the message starts with after the operator: the parameter
    changes: dict[str, Any] = field(default_factory=dict)
    # Checked even where an empty tensor ends the checks early.
    when_empty: bool = False

    def __str__(self) -> str:
        return f"{self.status} {self.names} {self.changes}"


def phase_one(operator: str, arguments: Arguments, run: bool = False) -> tuple[int, str]:
    """Status and message of phase one, and where that succeeds and `run` is set, of phase two."""
    owned: list[tuple[Any, Any]] = []
    values = []
    for value in arguments.values():
        made, destroy = _made(value)
        if destroy is not None:
            owned.append((destroy, made))
        values.append(made)
    size, out = ffi.new("uint64_t *", 12345), ffi.new("bnapiOpExecutor **")
    pointers = (size, out)
    for i, name in ((-2, "workspaceSize"), (-1, "executor")):
        values[i] = pointers[i] if arguments[name] else ffi.NULL
    status = getattr(lib, f"bnapi{operator}GetWorkspaceSize")(*values)
    if status:
        assert out[0] == ffi.NULL and size[0] == 12345, "phase one failed and wrote its results"
    else:
        assert arguments["executor"] and out[0] != ffi.NULL
        status = _phase_two(operator, out[0], size[0]) if run else lib.bnapiDestroyOpExecutor(out[0])
    message = ffi.string(lib.bnapiGetRecentErrMsg()).decode() if status else ""
    for destroy, made in owned:
        assert destroy(made) == 0
    return status, message


def _phase_two(operator: str, executor: Any, size: int) -> int:
    memory = ffi.new("char[]", size + 64)
    address = int(ffi.cast("uintptr_t", memory))
    workspace = ffi.cast("void *", address + -address % 64) if size else ffi.NULL
    status: int = getattr(lib, f"bnapi{operator}")(workspace, size, executor, ffi.NULL)
    return status or lib.bnapiSynchronizeStream(ffi.NULL)


def _made(value: Any) -> tuple[Any, Any]:
    if value is None:
        return ffi.NULL, None
    if isinstance(value, list):
        return lib.bnapiCreateBoolArray(ffi.new("bool[]", value), len(value)), lib.bnapiDestroyBoolArray
    if isinstance(value, S):
        memory = ffi.new(
            "int32_t *" if value.dtype == INT32 else _SCALARS.get(value.dtype, "float *"), value.value
        )
        return lib.bnapiCreateScalar(memory, value.dtype), lib.bnapiDestroyScalar
    if isinstance(value, D):
        strides = ffi.NULL if value.strides is None else ffi.new("int64_t[]", value.strides)
        tensor = lib.bnapiCreateTensor(
            ffi.new("int64_t[]", value.shape),
            len(value.shape),
            value.dtype,
            strides,
            value.offset,
            value.label,
            ffi.NULL,
            0,
            value.data,
        )
        assert tensor != ffi.NULL
        return tensor, lib.bnapiDestroyTensor
    return value, None


_SCALARS = {DOUBLE: "double *", 9: "int64_t *"}


class Rows:
    """Collects the rows of one operator's table, as changes of `valid`."""

    def __init__(self, operator: str, valid: Arguments) -> None:
        self.operator = operator
        self.valid = {**valid, "workspaceSize": True, "executor": True}
        self.rows: list[Row] = []
        self.accepted: list[dict[str, Any]] = []
        self.empty: list[dict[str, Any]] = []
        self._shortcut_at: list[int] = []
        for name in ("workspaceSize", "executor"):
            self.row(NULLPTR, name, {name: None})

    def row(self, status: int, names: str, changes: dict[str, Any], when_empty: bool = False) -> None:
        self.rows.append(Row(status, names, changes, when_empty))

    def nulls(self, *names: str) -> None:
        for name in names:
            self.row(NULLPTR, name, {name: None})

    def change(self, names: str, status: int = INVALID, when_empty: bool = False, **fields: Any) -> None:
        """One row for each of the parameters, with these fields of its descriptor changed."""
        for name in names.split():
            self.row(status, name, {name: replace(self.valid[name], **fields)}, when_empty)

    def together(self, names: str, named: str, status: int = INVALID, **fields: Any) -> None:
        """One row in which all of the parameters have changed."""
        self.row(status, named, self.changed(names, **fields))

    def changed(self, names: str, **fields: Any) -> dict[str, Any]:
        return {name: replace(self.valid[name], **fields) for name in names.split()}

    def not_floats(self, names: str, when_empty: bool = False) -> None:
        for dtype in NOT_FLOATS:
            self.change(names, dtype=dtype, when_empty=when_empty)

    def impossible(self, names: str, when_empty: bool = False) -> None:
        """Extents below 0, and views that no memory holds."""
        for name in names.split():
            rank = len(self.valid[name].shape)
            self.change(name, shape=(-1,) * rank, when_empty=when_empty)
            self.change(name, shape=(2**33,) * rank, strides=(2**33,) * rank, when_empty=when_empty)
            self.change(name, shape=(3,) * rank, strides=(2**62,) * rank, when_empty=when_empty)
            self.change(name, offset=2**61, when_empty=when_empty)

    def twice(self, names: str, when_empty: bool = False) -> None:
        """Outputs that address an element twice."""
        for name in names.split():
            shape = self.valid[name].shape
            self.change(name, strides=(0,) * len(shape), when_empty=when_empty)
            if len(shape) == 4:
                n, c, h, w = shape
                assert (n, c, h, w) == (2, 3, 4, 5)
                self.change(name, strides=(60, 20, 0, 1))
                self.change(name, strides=(60, 20, -4, 1))
                self.change(name, strides=(60, 20, 4, 1))
                self.change(name, strides=(14, 7, 100, 1000))  # 1 * 14 is 2 * 7
                self.accept(**self.changed(name, strides=(7, 14, 100, 1000)))  # interleaved, but apart

    def shortcut(self, changes: dict[str, Any]) -> None:
        """Accepted, whatever later rows say."""
        self.rows.append(Row(0, "", changes))

    def accept(self, **changes: Any) -> None:
        self.accepted.append(changes)

    def status(self, *changes: dict[str, Any]) -> tuple[int, str]:
        arguments = dict(self.valid)
        for change in changes:
            assert change.keys() <= arguments.keys(), change
            arguments.update(change)
        return phase_one(self.operator, arguments)
