"""Statuses of the C library as exceptions.

Every failure is a `BnApiError` with the status (`code`), its C name (`name`) and the library's sentence
(`message`). The subclasses are also the built-in exception that a caller would expect: `except ValueError`
catches a wrong shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pybn_api._lib import ffi, lib


class BnApiError(Exception):
    """A call of the library failed."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(message or name)
        self.code = code
        self.name = name
        self.message = message

    def __reduce__(self) -> tuple[type[BnApiError], tuple[int, str, str]]:
        return type(self), (self.code, self.name, self.message)


class InvalidArgument(BnApiError, ValueError):
    """An argument's dtype, shape, layout or value is not allowed, or a required one is missing."""


class InvalidHandle(BnApiError, ValueError):
    """A tensor, stream, event or executor that was destroyed or used up, or belongs to another device."""


class OutOfMemory(BnApiError, MemoryError):
    """The device or the host is out of memory."""


class Timeout(BnApiError, TimeoutError):
    """Work was not finished in the time given."""


class Unsupported(BnApiError, NotImplementedError):
    """This build, device or driver cannot do it."""


class DeviceError(BnApiError, RuntimeError):
    """The device runtime refused or failed."""


_CLASSES: dict[int, type[BnApiError]] = {
    lib.BNAPI_ERR_PARAM_NULLPTR: InvalidArgument,
    lib.BNAPI_ERR_PARAM_INVALID: InvalidArgument,
    lib.BNAPI_ERR_INVALID_PARAM: InvalidArgument,
    lib.BNAPI_ERR_INVALID_FILE: InvalidArgument,
    lib.BNAPI_ERR_RT_PARAM_INVALID: InvalidArgument,
    lib.BNAPI_ERR_RT_INVALID_DEVICEID: InvalidArgument,
    lib.BNAPI_ERR_INNER: InvalidHandle,
    lib.BNAPI_ERR_INNER_NULLPTR: InvalidHandle,
    lib.BNAPI_ERR_RT_INVALID_HANDLE: InvalidHandle,
    lib.BNAPI_ERR_RT_STREAM_CONTEXT: InvalidHandle,
    lib.BNAPI_ERR_INNER_CREATE_EXECUTOR: OutOfMemory,
    lib.BNAPI_ERR_RT_MEMORY_ALLOCATION: OutOfMemory,
    lib.BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT: Timeout,
    lib.BNAPI_ERR_RT_EVENT_SYNC_TIMEOUT: Timeout,
    lib.BNAPI_ERR_RT_FEATURE_NOT_SUPPORT: Unsupported,
    lib.BNAPI_ERR_RT_NO_DEVICE: Unsupported,
    lib.BNAPI_ERR_RUNTIME_ERROR: DeviceError,
    lib.BNAPI_ERR_RT_INTERNAL_ERROR: DeviceError,
    lib.BNAPI_ERR_RT_DEVICE_EXCEPTION: DeviceError,
}


def status_name(code: int) -> str:
    """The C name of a status, e.g. ``"BNAPI_ERR_PARAM_INVALID"``."""
    return ffi.string(lib.bnapiStatusName(code)).decode()


def recent_message() -> str:
    """The sentence that the library keeps for this thread's latest failure."""
    return ffi.string(lib.bnapiGetRecentErrMsg()).decode(errors="replace")


def error(code: int, message: str) -> BnApiError:
    """The exception that stands for `code`."""
    return _CLASSES.get(code, BnApiError)(code, status_name(code), message)


def invalid(message: str) -> BnApiError:
    """An argument that this package refuses before the C library sees it."""
    return error(lib.BNAPI_ERR_PARAM_INVALID, message)


def check(code: int, names: Mapping[str, str] | None = None) -> None:
    """Raises for a status other than success. `names` maps the words of the C message to the Python ones."""
    if code == 0:
        return
    message = recent_message()
    if names:
        message = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), message)
    raise error(code, message)


def check_handle(handle: object) -> None:
    """Raises if a function that returns a handle gave NULL."""
    if handle == ffi.NULL:
        raise error(lib.BNAPI_ERR_RT_MEMORY_ALLOCATION, recent_message())


def alive(handle: Any, kind: object) -> Any:
    """The handle, if its object was not closed. To C, NULL would mean something else."""
    if handle == ffi.NULL:
        raise error(lib.BNAPI_ERR_RT_INVALID_HANDLE, f"{type(kind).__name__}: closed already")
    return handle


def disown(handle: Any) -> Any:
    """The handle, no longer destroyed with its Python object."""
    ffi.gc(handle, None)
    return handle
