"""The same bits: on every run, for any number of threads, on every instruction set, whatever the caller's
floating-point environment."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import driver
import numpy as np
import pytest
from family import BF16, F16, F32, F64, WAYS, Inputs, parameter_dtype
from layouts import LAYOUTS

import pybn_api

SHAPES = ((2, 67, 5, 9), (1, 2, 257, 129), (33, 3, 40))


def bits(device, way, shape, dtype, layout) -> str:
    """A hash of every output bit of one call."""
    example = way.make(Inputs(shape, dtype, parameter_dtype(dtype)))
    tensors = example.laid_out(LAYOUTS[layout])
    driver.run(device, way.operator, tensors, example.attributes, format=example.format)
    result = hashlib.sha256()
    for name in (*example.outputs, *example.updated):
        result.update(np.ascontiguousarray(tensors[name].view).tobytes())
    return result.hexdigest()


def digest(device) -> str:
    """A hash of every output bit of every operator, over dtypes, layouts and shapes."""
    result = hashlib.sha256()
    for way in WAYS:
        for dtype in way.dtypes:
            for shape in SHAPES:
                if way.rank not in (None, len(shape)):
                    continue
                for layout in ("contiguous", "channels_last"):
                    result.update(bits(device, way, shape, dtype, layout).encode())
    return result.hexdigest()


def test_any_number_of_threads(device):
    before = pybn_api.num_threads()
    try:
        digests = set()
        for threads in (1, 2, 3, 8):
            pybn_api.set_num_threads(threads)
            digests.add(digest(device))
    finally:
        pybn_api.set_num_threads(before)
    assert len(digests) == 1


@pytest.mark.parametrize("threads", [2, 5, 32])
def test_large_tensors_on_several_threads(device, threads):
    """Work that is split inside a channel, and over channels: equal bits with one thread and with several."""
    if not device.is_cpu:
        pytest.skip("large")
    before = pybn_api.num_threads()
    random = np.random.default_rng(1)
    for shape in ((4, 2, 331, 257), (2, 3, 700, 800), (16, 64, 28, 28), (3, 1100, 19, 19), (40000, 9)):
        x, dy = (random.standard_normal(shape, np.float32) for _ in range(2))
        for layout in ("contiguous", "channels_last"):
            a, b = LAYOUTS[layout](x), LAYOUTS[layout](dy)
            results = []
            for count in (1, threads):
                pybn_api.set_num_threads(count)
                # Plans of their own: a plain call would find the one that was made for other threads.
                forward = pybn_api.plan.batch_norm(a, training=True)(a, training=True)
                saved = {"save_mean": forward.save_mean, "save_invstd": forward.save_invstd, "training": True}
                backward = pybn_api.plan.batch_norm_backward(b, a, **saved)(b, a, **saved)
                # Statistics in float64 show what rounding to float32 would hide.
                exact = [np.empty(x.shape[1]) for _ in range(2)]
                pybn_api.plan.batch_norm_stats(a, out=exact)(a, out=exact)
                results.append([array.tobytes() for array in (*forward, *backward, *exact)])
            pybn_api.set_num_threads(before)
            assert results[0] == results[1]


def in_subprocess(**environment: str) -> tuple[str, str]:
    """The instruction set in use, and the digest, of a fresh process."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import pybn_api, test_determinism, devices\n"
        "device = devices.TestDevice.of_type('cpu')\n"
        "print(pybn_api.isa(), test_determinism.digest(device))\n"
    )
    result = subprocess.run(
        [
            sys.executable,
            "-P" if sys.version_info >= (3, 11) else "-s",
            "-c",
            program,
            str(Path(__file__).parent),
        ],
        env={**os.environ, "BNAPI_DEVICES": "cpu", **environment},
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    isa, value = result.stdout.split()
    return isa, value


def test_every_instruction_set():
    here = in_subprocess()
    seen = {here[0]}
    for isa in ("baseline", "avx2", "avx512"):
        got, value = in_subprocess(BNAPI_ISA=isa)
        seen.add(got)
        assert value == here[1], f"{got} differs from {here[0]}"
    assert "baseline" in seen


def test_flush_to_zero_changes_nothing(device):
    """Subnormals count, with the caller's flush-to-zero and denormals-are-zero on or off; and what the caller
    set stays set."""
    torch = pytest.importorskip("torch")
    if not device.is_cpu:
        pytest.skip("about the host's floating-point environment")
    tiny = np.full((3, 4, 50), 1e-41, F32)
    ones = np.ones(4, F32)
    plain = pybn_api.batch_norm_reduce_backward(tiny, tiny + 1, ones * 0, ones)
    scaled = pybn_api.batch_norm_elemt(tiny, None, None, ones * 0, ones * np.float32(0.5))
    assert plain.sum_dy[0] > 0
    assert scaled[0, 0, 0] > 0
    if not torch.set_flush_denormal(True):
        pytest.skip("this CPU has no flush-to-zero")
    try:
        flushed = pybn_api.batch_norm_reduce_backward(tiny, tiny + 1, ones * 0, ones)
        again = pybn_api.batch_norm_elemt(tiny, None, None, ones * 0, ones * np.float32(0.5))
        still = float(np.float32(1e-41) * np.float32(1))
    finally:
        torch.set_flush_denormal(False)
    assert still == 0, "the call changed the caller's floating-point environment"
    for before, after in zip(plain, flushed, strict=True):
        assert before.tobytes() == after.tobytes()
    assert scaled.tobytes() == again.tobytes()


def test_two_runs_of_one_executor(device):
    if not device.is_cpu:
        pytest.skip("runs on host arrays")
    random = np.random.default_rng(2)
    for dtype in (F32, F16, BF16, F64):
        x = random.standard_normal((3, 7, 5, 5)).astype(dtype)
        plan = pybn_api.plan.batch_norm(x, training=True)
        first, second = plan(x, training=True), plan(x, training=True)
        for a, b in zip(first, second, strict=True):
            assert a.tobytes() == b.tobytes()
