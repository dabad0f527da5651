"""Devices, streams and events: thin owners of the C library's handles."""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeAlias

from pybn_api._lib import ffi, lib
from pybn_api.errors import alive, check, disown, error

_Raised: TypeAlias = "type[BaseException] | None"

# Counts the times that every handle died: by finalize(), or by a fork, in the child.
epoch = 0


def _new_epoch() -> None:
    global epoch
    epoch += 1


os.register_at_fork(after_in_child=_new_epoch)


def init(config_path: str | None = None) -> None:
    """Starts the library. Optional: everything starts itself on first use."""
    check(lib.bnapiInit(ffi.NULL if config_path is None else config_path.encode()))


def finalize() -> None:
    """Waits for all work and releases every stream, event, executor, tensor, scalar and array still alive."""
    _new_epoch()
    check(lib.bnapiFinalize())


def version() -> tuple[int, int, int]:
    """The version of the loaded library."""
    parts = ffi.new("int32_t[3]")
    check(lib.bnapiGetVersion(parts, parts + 1, parts + 2))
    return parts[0], parts[1], parts[2]


def build_info() -> str:
    """One line about the loaded library: version, backends, instruction sets, threads."""
    return ffi.string(lib.bnapiGetBuildInfo()).decode()


def isa() -> str:
    """The CPU instruction set in use: ``"avx512"``, ``"avx2"`` or ``"baseline"``; BNAPI_ISA forces a lower
    one."""
    return ffi.string(lib.bnapiGetIsa()).decode()


def num_threads() -> int:
    """Threads that CPU work may use."""
    return int(lib.bnapiGetNumThreads())


def set_num_threads(threads: int) -> None:
    """Changes that number for work started from now on. Results do not depend on it."""
    check(lib.bnapiSetNumThreads(threads))


class _Entered(threading.local):
    """The blocks of devices that this thread is in, each with the device that was current before."""

    def __init__(self) -> None:
        self.devices: list[tuple[Device, int]] = []


_entered = _Entered()


class Device:
    """A device by its number. As a context manager it is the thread's current device inside the block.

    >>> Device.all()[-1].type
    'cpu'
    """

    __slots__ = ("id",)

    def __init__(self, id: int) -> None:
        self.id = id

    @staticmethod
    def count() -> int:
        count = ffi.new("uint32_t *")
        check(lib.bnapiGetDeviceCount(count))
        return int(count[0])

    @staticmethod
    def all() -> list[Device]:
        """Every device: CUDA devices first, the CPU last."""
        return [Device(i) for i in range(Device.count())]

    @staticmethod
    def current() -> Device:
        """This thread's device; the first one if it never chose."""
        device = ffi.new("int32_t *")
        check(lib.bnapiGetDevice(device))
        return Device(device[0])

    @staticmethod
    def cpu() -> Device:
        """The CPU."""
        return Device(device_id(lib.BNAPI_DEVICE_CPU, 0))

    @property
    def type(self) -> str:
        """``"cpu"`` or ``"cuda"``."""
        type_ = ffi.new("bnapiDeviceType *")
        check(lib.bnapiGetDeviceType(self.id, type_))
        return "cuda" if type_[0] == lib.BNAPI_DEVICE_CUDA else "cpu"

    @property
    def ordinal(self) -> int:
        """Its number in its own backend, e.g. the CUDA ordinal."""
        ordinal = ffi.new("int32_t *")
        check(lib.bnapiGetDeviceOrdinal(self.id, ordinal))
        return int(ordinal[0])

    @property
    def name(self) -> str:
        return ffi.string(lib.bnapiGetDeviceName(self.id)).decode()

    def use(self) -> None:
        """Makes it this thread's current device."""
        check(lib.bnapiSetDevice(self.id))

    def synchronize(self) -> None:
        """Waits for everything queued on it; raises the first asynchronous error."""
        with self:
            check(lib.bnapiSynchronizeDevice())

    def memory_info(self) -> tuple[int, int]:
        """Bytes free, and in all."""
        sizes = ffi.new("size_t[2]")
        with self:
            check(lib.bnapiGetMemInfo(sizes, sizes + 1))
        return int(sizes[0]), int(sizes[1])

    def __enter__(self) -> Device:
        previous = Device.current().id
        self.use()
        _entered.devices.append((self, previous))
        return self

    def __exit__(self, kind: _Raised, value: BaseException | None, trace: TracebackType | None) -> None:
        # Threads may share the object: each has blocks of its own.
        last = next(i for i in reversed(range(len(_entered.devices))) if _entered.devices[i][0] is self)
        check(lib.bnapiSetDevice(_entered.devices.pop(last)[1]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(("pybn_api.Device", self.id))

    def __repr__(self) -> str:
        return f"Device({self.id}: {self.name})"


_device_ids: dict[tuple[int, int], int] = {}


def device_id(backend: int, ordinal: int) -> int:
    """The library's number for a backend's device; raises `Unsupported` if the library has no such device."""
    if not _device_ids:
        for device in Device.all():
            kind = lib.BNAPI_DEVICE_CUDA if device.type == "cuda" else lib.BNAPI_DEVICE_CPU
            _device_ids[kind, device.ordinal] = device.id
    if (backend, ordinal) not in _device_ids:
        name = "cuda" if backend == lib.BNAPI_DEVICE_CUDA else "cpu"
        raise error(
            lib.BNAPI_ERR_RT_NO_DEVICE, f"the library has no device {name}:{ordinal} ({build_info()})"
        )
    return _device_ids[backend, ordinal]


_LONGEST_MS = (1 << 31) - 1  # 24 days


def milliseconds(timeout: float | None) -> int:
    """A timeout in seconds, None or infinity for ever, as the C functions take it."""
    if timeout is None or timeout == math.inf:
        return -1
    return min(max(0, round(timeout * 1000)), _LONGEST_MS)


class Event:
    """A mark in a stream that can be waited for and timed."""

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        out = ffi.new("bnapiEvent *")
        check(lib.bnapiCreateEvent(out))
        self._handle = ffi.gc(out[0], lib.bnapiDestroyEvent)

    @property
    def handle(self) -> Any:
        """The C handle."""
        return alive(self._handle, self)

    def record(self, stream: Stream | None = None) -> Event:
        """Marks the end of what is queued on the stream so far."""
        check(lib.bnapiRecordEvent(self.handle, handle_of(stream)))
        return self

    def query(self) -> bool:
        """Has it happened? True if it was never recorded."""
        complete = ffi.new("bool *")
        check(lib.bnapiQueryEvent(self.handle, complete))
        return bool(complete[0])

    def synchronize(self, timeout: float | None = None) -> None:
        """Waits until it has happened, at most `timeout` seconds (then raises `Timeout`)."""
        check(lib.bnapiSynchronizeEventWithTimeout(self.handle, milliseconds(timeout)))

    def elapsed_ms(self, end: Event) -> float:
        """Milliseconds from this event to `end`."""
        elapsed = ffi.new("float *")
        check(lib.bnapiEventElapsedTime(elapsed, self.handle, end.handle))
        return float(elapsed[0])

    def close(self) -> None:
        """Releases the event now. The object cannot be used afterwards."""
        handle, self._handle = self._handle, ffi.NULL
        if handle != ffi.NULL:
            check(lib.bnapiDestroyEvent(disown(handle)))

    def __enter__(self) -> Event:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Kept:
    """Objects that queued work uses, let go once an event says that the stream has passed them."""

    __slots__ = ("closed", "lock", "open")

    GROUP = 16  # calls per event

    def __init__(self) -> None:
        self.open: list[object] = []
        self.closed: deque[tuple[Event, list[object]]] = deque()
        self.lock = threading.Lock()

    def add(self, stream: Stream, objects: object) -> None:
        with self.lock:
            self.open.append(objects)
            if len(self.open) >= self.GROUP:
                group, self.open = self.open, []
                self.closed.append((Event().record(stream), group))
            while self.closed and self.closed[0][0].query():
                self.closed.popleft()

    def take(self) -> tuple[deque[tuple[Event, list[object]]], list[object]]:
        """Everything kept so far; it goes when the caller lets go of it, unless given back."""
        with self.lock:
            taken = self.closed, self.open
            self.closed, self.open = deque(), []
        return taken

    def give_back(self, taken: tuple[deque[tuple[Event, list[object]]], list[object]]) -> None:
        with self.lock:
            self.closed = taken[0] + self.closed
            self.open = taken[1] + self.open

    def __len__(self) -> int:
        return len(self.open) + sum(len(group) for _, group in self.closed)


class Stream:
    """A queue of work on a device, in order and asynchronous, on the CPU too.

    Arrays of queued work are kept alive until the stream has passed them.

    >>> with Stream() as stream:
    ...     stream.query()
    True
    """

    __slots__ = ("_handle", "_kept", "device")

    def __init__(self, device: Device | None = None, *, native: int | None = None) -> None:
        """A new stream on `device` (default: the current one), or a wrapper of a CUDA stream's address."""
        self.device = device or Device.current()
        out = ffi.new("bnapiStream *")
        with self.device:
            if native is None:
                check(lib.bnapiCreateStream(out))
            else:
                check(lib.bnapiStreamFromNative(ffi.cast("void *", native), out))
        kept = self._kept = _Kept()

        # The destructor waits for the work; what the work uses must outlive that wait, so it is held here.
        def destroy(handle: Any) -> None:
            lib.bnapiDestroyStream(handle)
            kept.take()

        self._handle = ffi.gc(out[0], destroy)

    @property
    def handle(self) -> Any:
        """The C handle."""
        return alive(self._handle, self)

    @property
    def native(self) -> int:
        """The cudaStream_t behind it; 0 on the CPU."""
        out = ffi.new("void **")
        check(lib.bnapiStreamGetNative(self.handle, out))
        return int(ffi.cast("uintptr_t", out[0]))

    def keep(self, objects: object) -> None:
        """Keeps `objects` alive until the work queued so far is done."""
        self._kept.add(self, objects)

    def query(self) -> bool:
        """Is everything that was queued done?"""
        complete = ffi.new("bool *")
        check(lib.bnapiStreamQuery(self.handle, complete))
        return bool(complete[0])

    def synchronize(self, timeout: float | None = None) -> None:
        """Waits for the work, at most `timeout` seconds (then raises `Timeout`); raises its first error."""
        before = self._kept.take()
        try:
            check(lib.bnapiSynchronizeStreamWithTimeout(self.handle, milliseconds(timeout)))
        except BaseException:
            self._kept.give_back(before)
            raise

    def wait(self, event: Event) -> None:
        """Later work waits for the event as it is recorded now."""
        check(lib.bnapiStreamWaitEvent(self.handle, event.handle))

    def close(self) -> None:
        """Waits for the work and releases the stream. The object cannot be used afterwards."""
        handle, self._handle = self._handle, ffi.NULL
        if handle != ffi.NULL:
            try:
                check(lib.bnapiDestroyStream(disown(handle)))
            finally:
                self._kept.take()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def handle_of(stream: Stream | None) -> Any:
    """The C handle of a stream; NULL, the current device's default stream, for None."""
    return ffi.NULL if stream is None else stream.handle


_default_streams: dict[int, tuple[int, Stream]] = {}


def default_stream(device: int) -> Stream | None:
    """The stream that calls without one use: None where the device's own default stream serves.

    That one belongs to the thread's current device; for any other device there is a stream of ours.
    """
    return None if Device.current().id == device else away_stream(device)


def away_stream(device: int) -> Stream:
    """The stream that calls use while another device is current."""
    made_in, stream = _default_streams.get(device, (-1, None))
    if stream is None or made_in != epoch:
        stream = Stream(Device(device))
        _default_streams[device] = (epoch, stream)
    return stream


@contextmanager
def on_device(device: int) -> Iterator[None]:
    """Makes `device` current inside the block; free if it is already."""
    if Device.current().id == device:
        yield
        return
    with Device(device):
        yield
