"""Element types: the library's numbers, numpy's dtypes, and the names in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from pybn_api._lib import lib

# The data type's name, as numpy and PyTorch spell it, and its number in the library.
CODES: dict[str, int] = {
    "float32": lib.BNAPI_FLOAT,
    "float16": lib.BNAPI_FLOAT16,
    "bfloat16": lib.BNAPI_BF16,
    "float64": lib.BNAPI_DOUBLE,
    "int8": lib.BNAPI_INT8,
    "uint8": lib.BNAPI_UINT8,
    "int16": lib.BNAPI_INT16,
    "uint16": lib.BNAPI_UINT16,
    "int32": lib.BNAPI_INT32,
    "uint32": lib.BNAPI_UINT32,
    "int64": lib.BNAPI_INT64,
    "uint64": lib.BNAPI_UINT64,
    "bool": lib.BNAPI_BOOL,
}
NAMES: dict[int, str] = {code: name for name, code in CODES.items()}

FLOAT = lib.BNAPI_FLOAT
FLOAT16 = lib.BNAPI_FLOAT16
BF16 = lib.BNAPI_BF16
DOUBLE = lib.BNAPI_DOUBLE

_codes_of_numpy: dict[np.dtype[Any], int] = {}
_numpy_of_codes: dict[int, np.dtype[Any]] = {}


def code_of(dtype: np.dtype[Any]) -> int:
    """The library's number for a numpy dtype (ml_dtypes' bfloat16 included); BNAPI_DT_UNDEFINED for any
    other.

    Operators refuse what they do not take, and say so; this function has no opinion.
    """
    code = _codes_of_numpy.get(dtype)
    if code is None:
        code = CODES.get(dtype.name, lib.BNAPI_DT_UNDEFINED) if dtype.isnative else lib.BNAPI_DT_UNDEFINED
        _codes_of_numpy[dtype] = code
    return code


def numpy_dtype(code: int) -> np.dtype[Any]:
    """The numpy dtype of a library number. bfloat16 needs the package ml_dtypes."""
    dtype = _numpy_of_codes.get(code)
    if dtype is None:
        name = NAMES[code]
        if name == "bfloat16":
            import ml_dtypes

            dtype = np.dtype(ml_dtypes.bfloat16)
        else:
            dtype = np.dtype(name)
        _numpy_of_codes[code] = dtype
    return dtype


def itemsize(code: int) -> int:
    """Bytes of one element."""
    return int(lib.bnapiDataTypeSize(code))
