"""DLPack from a producer that is no array library: structures by hand, both protocols, oddities included."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

import pybn_api

pytestmark = pytest.mark.usefixtures("on_cpu")

CPU, METAL = 1, 8
FLOAT, BFLOAT = 2, 4
READ_ONLY = 1


class Tensor(ctypes.Structure):
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


class Managed(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Producer:
    """Shares a numpy array's memory, and counts how often it is given back."""

    def __init__(
        self,
        array: np.ndarray,
        *,
        versioned: bool = True,
        with_strides: bool = True,
        byte_offset: int = 0,
        flags: int = 0,
        major: int = 1,
        lanes: int = 1,
        device_type: int = CPU,
        code: int = FLOAT,
        name: bytes | None = None,
    ) -> None:
        self.array, self.versioned, self.device_type = array, versioned, device_type
        self.deleted = 0
        rank = array.ndim
        self.shape = (ctypes.c_int64 * rank)(*array.shape)
        self.strides = (ctypes.c_int64 * rank)(*(stride // array.itemsize for stride in array.strides))
        tensor = Tensor(
            data=array.__array_interface__["data"][0] - byte_offset,
            device_type=device_type,
            ndim=rank,
            code=code,
            bits=8 * array.itemsize,
            lanes=lanes,
            shape=self.shape,
            strides=self.strides if with_strides else None,
            byte_offset=byte_offset,
        )
        self.deleter = DELETER(self._delete)
        address = ctypes.cast(self.deleter, ctypes.c_void_p)
        if versioned:
            self.managed = Versioned(major=major, deleter=address, flags=flags, tensor=tensor)
        else:
            self.managed = Managed(tensor=tensor, deleter=address)
        self.name = name or (b"dltensor_versioned" if versioned else b"dltensor")

    def _delete(self, pointer: int) -> None:
        assert pointer == ctypes.addressof(self.managed)
        self.deleted += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_type, 0

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None, **arguments: object) -> object:
        if not self.versioned and max_version is not None:
            raise TypeError("unexpected keyword argument 'max_version'")
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


def example(shape=(3, 4, 5)):
    return np.random.default_rng(0).standard_normal(shape, np.float32)


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"with_strides": False}, {"byte_offset": 64}], ids=["plain", "no strides", "offset"]
)
def test_a_producer_of_its_own(versioned, options):
    x = example()
    producer = Producer(x, versioned=versioned, **options)
    got = pybn_api.batch_norm_stats(producer)
    np.testing.assert_array_equal(got.mean, pybn_api.batch_norm_stats(x).mean)
    gc.collect()
    assert producer.deleted == 1


def test_strides_of_a_producer():
    x = example((3, 4, 5, 2)).transpose(0, 3, 1, 2)[:, ::-1]
    got = pybn_api.batch_norm(Producer(x), training=True)
    want = pybn_api.batch_norm(x, training=True)
    np.testing.assert_array_equal(got.output, want.output)
    assert got.output.strides == want.output.strides


def test_bfloat16_of_a_producer():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = example().astype(ml_dtypes.bfloat16)
    got = pybn_api.batch_norm_stats(Producer(x, code=BFLOAT))
    np.testing.assert_array_equal(got.mean, pybn_api.batch_norm_stats(x).mean)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lanes": 4}, "lanes"),
        ({"major": 2}, "version 2"),
        ({"name": b"something else"}, "something else"),
        ({"device_type": METAL}, "device type 8"),
    ],
    ids=["vectors", "version", "capsule", "device"],
)
def test_what_cannot_be_taken_over(options, message):
    producer = Producer(example(), **options)
    with pytest.raises(pybn_api.InvalidArgument, match=message):
        pybn_api.batch_norm_stats(producer)
    gc.collect()
    # Given back once if it was taken over, and never twice.
    assert producer.deleted <= 1


def test_a_read_only_output_of_a_producer():
    x, y = example(), np.zeros((3, 4, 5), np.float32)
    with pytest.raises(pybn_api.InvalidArgument, match="output: a read-only array"):
        pybn_api.batch_norm(x, training=True, out=(Producer(y, flags=READ_ONLY), None, None))
    np.testing.assert_array_equal(y, 0)
    pybn_api.batch_norm_stats(Producer(x, flags=READ_ONLY))  # to be read it may be


def test_memory_is_held_until_the_stream_has_passed():
    x = np.ones((64, 8, 3000), np.float32)
    producer = Producer(x)
    with pybn_api.Stream() as stream:
        gate = pybn_api.Event()
        mean = pybn_api.batch_norm_stats(producer, stream=stream).mean
        gate.record(stream)
        gc.collect()
        if not gate.query():
            assert producer.deleted == 0
        stream.synchronize()
        del gate
    gc.collect()
    assert producer.deleted == 1
    np.testing.assert_array_equal(mean, 1)


def test_a_refused_call_gives_the_memory_back():
    producer = Producer(example((3, 4, 5)))
    with pytest.raises(pybn_api.InvalidArgument):
        pybn_api.batch_norm_elemt(producer, None, None, np.ones(7, "f4"), np.ones(7, "f4"))
    gc.collect()
    assert producer.deleted == 1
