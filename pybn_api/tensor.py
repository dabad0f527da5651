"""Descriptors: tensors, scalars and bool arrays as the C functions take them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from pybn_api._lib import ffi, lib
from pybn_api.dtypes import CODES, NAMES
from pybn_api.errors import alive, check, check_handle, disown, invalid

FORMATS: dict[str, int] = {
    "NCHW": lib.BNAPI_FORMAT_NCHW,
    "NHWC": lib.BNAPI_FORMAT_NHWC,
    "ND": lib.BNAPI_FORMAT_ND,
    "HWCN": lib.BNAPI_FORMAT_HWCN,
    "NDHWC": lib.BNAPI_FORMAT_NDHWC,
    "NCDHW": lib.BNAPI_FORMAT_NCDHW,
    "NC": lib.BNAPI_FORMAT_NC,
    "NCL": lib.BNAPI_FORMAT_NCL,
}
# The label of an array of a given rank whose channel axis is axis 1.
_BY_RANK = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}


def format_code(function: str, name: str) -> int:
    """The number of a label that a function was given."""
    if name not in FORMATS:
        raise invalid(f"{function}: format: {name!r}, where {', '.join(FORMATS)} are known")
    return FORMATS[name]


def format_of_rank(rank: int) -> int:
    """The usual label of an [N, C, ...] tensor."""
    return FORMATS[_BY_RANK.get(rank, "ND")]


class _Owner:
    """Common to the three: a handle that goes with its object, by close(), or at the end of a with block."""

    __slots__ = ("_handle",)
    _destroy: Any

    def __init__(self, handle: Any) -> None:
        check_handle(handle)
        self._handle = ffi.gc(handle, self._destroy)

    @property
    def handle(self) -> Any:
        """The C handle."""
        return alive(self._handle, self)

    def close(self) -> None:
        """Destroys the C object now. This object cannot be used afterwards."""
        handle, self._handle = self._handle, ffi.NULL
        if handle != ffi.NULL:
            check(type(self)._destroy(disown(handle)))

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Tensor(_Owner):
    """Describes a view of memory; owns no data.

    `strides` and `offset` count elements, and `address` is where the memory starts (0: to be set later).

    >>> with Tensor((2, 3), "float32") as tensor:
    ...     tensor.shape, tensor.strides, tensor.dtype
    ((2, 3), (3, 1), 'float32')
    """

    __slots__ = ()
    _destroy = staticmethod(lib.bnapiDestroyTensor)

    def __init__(
        self,
        shape: Sequence[int],
        dtype: str | int,
        strides: Sequence[int] | None = None,
        *,
        offset: int = 0,
        format: str | int | None = None,
        storage_shape: Sequence[int] | None = None,
        address: int = 0,
    ) -> None:
        if format is None:
            format = format_of_rank(len(shape))
        label = format_code("Tensor", format) if isinstance(format, str) else format
        if isinstance(dtype, str) and dtype not in CODES:
            raise invalid(f"Tensor: dtype: {dtype!r}, where {', '.join(CODES)} are known")
        if strides is not None and len(strides) != len(shape):
            raise invalid(f"Tensor: strides: {len(strides)}, where the shape has {len(shape)} axes")
        storage = list(shape if storage_shape is None else storage_shape)
        super().__init__(
            lib.bnapiCreateTensor(
                list(shape),
                len(shape),
                CODES[dtype] if isinstance(dtype, str) else dtype,
                ffi.NULL if strides is None else list(strides),
                offset,
                label,
                storage,
                len(storage),
                ffi.cast("void *", address),
            )
        )

    @staticmethod
    def of(array: Any, *, format: str | int | None = None) -> Tensor:
        """Describes an array of any library, which must stay alive as long as the tensor is used."""
        from pybn_api.arrays import view_of

        view = view_of(array)
        return Tensor(view.shape, view.dtype, view.strides, format=format, address=view.address)

    def _dims(self, getter: Any) -> tuple[int, ...]:
        dims, count = ffi.new("int64_t **"), ffi.new("uint64_t *")
        check(getter(self.handle, dims, count))
        values = tuple(dims[0][0 : count[0]])
        lib.bnapiReleaseDims(dims[0])
        return values

    @property
    def shape(self) -> tuple[int, ...]:
        return self._dims(lib.bnapiGetViewShape)

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
        return self._dims(lib.bnapiGetViewStrides)

    @property
    def storage_shape(self) -> tuple[int, ...]:
        return self._dims(lib.bnapiGetStorageShape)

    def _value(self, getter: Any, ctype: str) -> Any:
        value = ffi.new(ctype)
        check(getter(self.handle, value))
        return value[0]

    @property
    def offset(self) -> int:
        return int(self._value(lib.bnapiGetViewOffset, "int64_t *"))

    @property
    def dtype(self) -> str:
        code = int(self._value(lib.bnapiGetDataType, "bnapiDataType *"))
        return NAMES.get(code, str(code))

    @property
    def format(self) -> str:
        code = int(self._value(lib.bnapiGetFormat, "bnapiFormat *"))
        return next((name for name, value in FORMATS.items() if value == code), str(code))

    @property
    def address(self) -> int:
        return int(ffi.cast("uintptr_t", self._value(lib.bnapiGetRawTensorAddr, "void **")))

    @address.setter
    def address(self, address: int) -> None:
        check(lib.bnapiSetRawTensorAddr(self.handle, ffi.cast("void *", address)))

    def __enter__(self) -> Tensor:
        return self


class Scalar(_Owner):
    """A number with a dtype.

    >>> Scalar(0.5, "float32").value
    0.5
    """

    __slots__ = ()
    _destroy = staticmethod(lib.bnapiDestroyScalar)
    _CTYPES = {  # noqa: RUF012
        "float32": "float *",
        "float64": "double *",
        "int8": "int8_t *",
        "uint8": "uint8_t *",
        "int16": "int16_t *",
        "uint16": "uint16_t *",
        "int32": "int32_t *",
        "uint32": "uint32_t *",
        "int64": "int64_t *",
        "uint64": "uint64_t *",
        "bool": "bool *",
    }

    def __init__(self, value: float | int | bool, dtype: str) -> None:
        if dtype not in self._CTYPES:
            raise ValueError(f"a scalar is one of {', '.join(self._CTYPES)}, not {dtype}")
        stored = ffi.new(self._CTYPES[dtype], value)
        super().__init__(lib.bnapiCreateScalar(stored, CODES[dtype]))

    @property
    def dtype(self) -> str:
        code = ffi.new("bnapiDataType *")
        check(lib.bnapiGetScalarDataType(self.handle, code))
        return NAMES[code[0]]

    @property
    def value(self) -> float | int | bool:
        value = ffi.new(self._CTYPES[self.dtype])
        check(lib.bnapiGetScalarValue(self.handle, value))
        return value[0]  # type: ignore[no-any-return]

    def __enter__(self) -> Scalar:
        return self


class BoolArray(_Owner):
    """Some booleans, copied; an operator's output mask.

    >>> BoolArray([True, False]).values
    (True, False)
    """

    __slots__ = ()
    _destroy = staticmethod(lib.bnapiDestroyBoolArray)

    def __init__(self, values: Sequence[bool]) -> None:
        super().__init__(lib.bnapiCreateBoolArray([bool(v) for v in values], len(values)))

    @property
    def values(self) -> tuple[bool, ...]:
        size = ffi.new("uint64_t *")
        check(lib.bnapiGetBoolArraySize(self.handle, size))
        values = ffi.new("bool[]", max(1, size[0]))
        check(lib.bnapiGetBoolArrayValues(self.handle, values, size[0]))
        return tuple(bool(v) for v in values[0 : size[0]])

    def __len__(self) -> int:
        return len(self.values)

    def __enter__(self) -> BoolArray:
        return self
