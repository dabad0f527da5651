"""Streams of the CUDA backend: those of other owners."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_runtime import Runtime
from devices import TestDevice

import pybn_api


@pytest.fixture
def cuda(device):
    return Runtime(device)


def normalized(device: TestDevice, x: np.ndarray) -> np.ndarray:
    """What batch_norm gives on the device's default stream."""
    return pybn_api.batch_norm(device.put(x), training=True).output.to_numpy()


# ---- streams of other owners ---------------------------------------------------------------------------


def test_wrapped_stream_that_its_owner_has_destroyed(device, cuda):
    """What concerns the whole device no longer touches it, and waits for its work all the same."""
    x = np.random.default_rng(0).standard_normal((4, 3, 8, 8), np.float32)
    want = normalized(device, x)
    native = cuda.create_stream()
    stream = pybn_api.Stream(device.device, native=native)
    assert stream.native == native
    result = pybn_api.batch_norm(device.put(x), training=True, stream=stream)
    cuda.destroy_stream(native)
    device.device.synchronize()
    np.testing.assert_array_equal(result.output.to_numpy(), want)
    # So does freeing memory.
    pybn_api.Memory(64, device.device).close()
    stream.close()
    device.device.synchronize()


@pytest.mark.parametrize("owner_first", [False, True])
def test_destroying_a_wrapper_waits_for_its_work(device, cuda, owner_first):
    x = np.random.default_rng(1).standard_normal((4, 3, 8, 8), np.float32)
    want = normalized(device, x)
    native = cuda.create_stream()
    stream = pybn_api.Stream(device.device, native=native)
    result = pybn_api.batch_norm(device.put(x), training=True, stream=stream)
    if owner_first:
        cuda.destroy_stream(native)
    stream.close()
    # The copy to the host has a stream of its own, which waits for nothing.
    np.testing.assert_array_equal(result.output.to_numpy(), want)
    if not owner_first:
        cuda.destroy_stream(native)


def test_end_of_the_library_with_wrapped_streams(device, cuda):
    x = np.random.default_rng(2).standard_normal((4, 3, 8, 8), np.float32)
    want = normalized(device, x)
    natives = [cuda.create_stream() for _ in range(2)]
    streams = [pybn_api.Stream(device.device, native=native) for native in natives]
    results = [pybn_api.batch_norm(device.put(x), training=True, stream=stream) for stream in streams]
    cuda.destroy_stream(natives[0])
    pybn_api.finalize()
    pybn_api.init()
    for result in results:
        np.testing.assert_array_equal(result.output.to_numpy(), want)
    cuda.destroy_stream(natives[1])
