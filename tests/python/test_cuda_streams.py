"""Streams of the CUDA backend: those of other owners, and of other devices."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import driver
import numpy as np
import pytest
from cuda_runtime import Runtime
from devices import TestDevice
from layouts import Guarded

import pybn_api
from pybn_api._lib import ffi, lib

RUNTIME_ERROR, STREAM_CONTEXT = 361001, 107003


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


# ---- a stream of another device ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pairs() -> list[tuple[pybn_api.Device, pybn_api.Device]]:
    devices = pybn_api.Device.all()
    found = [(a, b) for a in devices for b in devices if a.id != b.id]
    if not found:
        pytest.skip("needs two devices")
    return found


def planned(device: pybn_api.Device) -> driver.Call:
    """A call on the device, after phase one."""
    tensors: dict[str, Any] = {"input": np.ones((4, 3, 8, 8), np.float32)}
    tensors |= {name: Guarded((3,), np.dtype("f4")) for name in ("mean", "invstd")}
    with device:
        call = driver.Call(TestDevice(device), "BatchNormStats", tensors, {"eps": 1e-5})
    assert call.status == 0, call.message
    return call


def test_executor_in_a_stream_of_another_device(pairs):
    for mine, other in pairs:
        with pybn_api.Stream(other) as stream:
            for current in (mine, other):  # which is the current one makes no difference
                call = planned(mine)
                with mine:
                    workspace = driver.Workspace(TestDevice(mine), call.workspace_bytes)
                with current:
                    status = lib.bnapiBatchNormStats(
                        workspace.pointer, call.workspace_bytes, call.executor, stream.handle
                    )
                    message = ffi.string(lib.bnapiGetRecentErrMsg()).decode()
                assert status == RUNTIME_ERROR
                why = f"stream: of device {other.id}; the executor was planned on device {mine.id}"
                assert message == f"bnapiBatchNormStats: {why}"
            stream.synchronize()


def test_call_of_the_package_in_a_stream_of_another_device(pairs):
    for mine, other in pairs:
        x = TestDevice(mine).put(np.ones((4, 3, 8, 8), np.float32))
        with pybn_api.Stream(other) as stream, pytest.raises(pybn_api.InvalidArgument, match="stream: of"):
            pybn_api.batch_norm(x, training=True, stream=stream)


def test_event_in_a_stream_of_another_device(pairs):
    for mine, other in pairs:
        with mine:
            event = pybn_api.Event()
        with pybn_api.Stream(other) as stream:
            with pytest.raises(pybn_api.BnApiError, match=f"of device {other.id}") as caught:
                event.record(stream)
            assert caught.value.code == STREAM_CONTEXT
            # Waiting for one is what events are for.
            stream.wait(event)
            stream.synchronize()


def test_two_cuda_devices():
    """The tests above with two emulated devices beside the CPU."""
    if os.environ.get("BNAPI_SIMT_DEVICES") or os.environ.get("BNAPI_PRESET") != "simt":
        pytest.skip("needs the emulator, once")
    chosen = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__, "-k", "another_device"]
    environment = {**os.environ, "BNAPI_SIMT_DEVICES": "2"}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *chosen], env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
