"""Reading DLPack capsules: the consumer's side of https://dmlc.github.io/dlpack, versions 0 and 1."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from pybn_api._lib import ffi, lib
from pybn_api.dtypes import itemsize
from pybn_api.errors import invalid

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_READ_ONLY = 1  # bit of a versioned tensor's flags

# (type code, bits) -> the library's number. Codes: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool.
_DTYPES = {
    (2, 32): lib.BNAPI_FLOAT,
    (2, 16): lib.BNAPI_FLOAT16,
    (4, 16): lib.BNAPI_BF16,
    (2, 64): lib.BNAPI_DOUBLE,
    (0, 8): lib.BNAPI_INT8,
    (1, 8): lib.BNAPI_UINT8,
    (0, 16): lib.BNAPI_INT16,
    (1, 16): lib.BNAPI_UINT16,
    (0, 32): lib.BNAPI_INT32,
    (1, 32): lib.BNAPI_UINT32,
    (0, 64): lib.BNAPI_INT64,
    (1, 64): lib.BNAPI_UINT64,
    (6, 8): lib.BNAPI_BOOL,
}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


class _ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_capsule_rename = ctypes.pythonapi.PyCapsule_SetName
_capsule_rename.restype, _capsule_rename.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)

# A capsule keeps the pointer to its name, so the names live as long as the process.
_USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}


class Imported(NamedTuple):
    """A DLPack tensor that is ours until `owner` dies, which calls the producer's deleter, once."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: int
    address: int
    device_type: int
    device_id: int
    read_only: bool
    owner: Any


def consume(array: Any) -> Imported:
    """Takes an object's memory over DLPack. On CUDA, the data is ready for work in the legacy default
    stream."""
    arguments: dict[str, Any] = {}
    if array.__dlpack_device__()[0] in (CUDA, CUDA_MANAGED):
        arguments["stream"] = 1
    try:
        capsule = array.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:  # a producer from before version 1
        capsule = array.__dlpack__(**arguments)
    name = _capsule_name(capsule)
    if name not in _USED:
        raise invalid(f"__dlpack__ returned a capsule named {name!r}")
    pointer = _capsule_pointer(capsule, name)
    kind = _ManagedVersioned if name == b"dltensor_versioned" else _Managed
    managed = ctypes.cast(pointer, ctypes.POINTER(kind)).contents
    if isinstance(managed, _ManagedVersioned) and managed.major > 1:
        raise invalid(f"a DLPack tensor of version {managed.major}, where 1 is known")
    _capsule_rename(capsule, _USED[name])
    deleter = managed.deleter
    # The structure must not be touched once the deleter ran: the closure keeps only the function.
    owner = ffi.gc(ffi.cast("void *", pointer), (lambda _: deleter(pointer)) if deleter else (lambda _: None))
    return _imported(managed.tensor, bool(getattr(managed, "flags", 0) & _READ_ONLY), owner)


def _imported(tensor: _Tensor, read_only: bool, owner: Any) -> Imported:
    if tensor.lanes != 1:
        raise invalid(f"a DLPack tensor of vectors ({tensor.lanes} lanes)")
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim))
    else:
        steps, step = [0] * tensor.ndim, 1
        for axis in reversed(range(tensor.ndim)):
            steps[axis] = step
            step *= max(1, shape[axis])
        strides = tuple(steps)
    dtype = _DTYPES.get((tensor.code, tensor.bits), lib.BNAPI_DT_UNDEFINED)
    address = (tensor.data or 0) + tensor.byte_offset
    size = itemsize(dtype)
    if size and address % size:
        raise invalid(f"memory at {address:#x}, which is no multiple of the item size {size}")
    return Imported(shape, strides, dtype, address, tensor.device_type, tensor.device_id, read_only, owner)
