"""The package beside the headers: names, stub, documentation; what runs while C runs; very large tensors."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import driver
import numpy as np
import pytest

import pybn_api
import pybn_api.plan
from pybn_api._lib import lib

pytestmark = pytest.mark.usefixtures("on_cpu")

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / "include" / "bn_api"
PROTOTYPE = re.compile(r"bnapiStatus\s+bnapi(\w+?)GetWorkspaceSize\(([^;]*)\);")


def prototypes() -> dict[str, list[str]]:
    """Parameter names of every operator's phase one, from the headers."""
    found = {}
    for header in HEADERS.glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        for operator, parameters in PROTOTYPE.findall(text):
            names = [re.findall(r"\w+", parameter)[-1] for parameter in parameters.split(",")]
            found[operator] = names[:-2]  # without workspaceSize and executor
    return found


def test_every_operator_has_its_python_signature():
    headers = prototypes()
    assert headers
    specs = {
        name: [p.c_name for p in (*spec.parameters, *spec.outputs) if p.kind != "label"]
        for name, spec in driver.SPECS.items()
    }
    assert specs == headers
    for spec in driver.SPECS.values():
        assert callable(getattr(pybn_api, spec.function))
        assert callable(getattr(pybn_api.plan, spec.function))
        assert spec.function in pybn_api.__all__
        assert spec.function in pybn_api.plan.__all__


def test_every_function_of_the_headers_is_in_the_module():
    names = set()
    for header in HEADERS.glob("*.h"):
        names |= set(
            re.findall(r"\b(bnapi[A-Z]\w+)\(", re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S))
        )
    missing = [name for name in names if not hasattr(lib, name)]
    assert names
    assert not missing


def test_the_stub_is_current():
    pytest.importorskip("cffi")
    result = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_stub.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "module",
    [
        m.name
        for m in pkgutil.walk_packages(pybn_api.__path__, "pybn_api.")
        if not m.name.endswith("__main__")
    ],
)
def test_examples_in_the_documentation(module):
    try:
        loaded = importlib.import_module(module)
    except ImportError as missing:
        if missing.name in ("cupy", "torch", "mpi4py"):
            pytest.skip(f"no {missing.name}")
        raise
    assert doctest.testmod(loaded).failed == 0


@pytest.mark.parametrize("spec", driver.SPECS.values(), ids=lambda spec: spec.function)
def test_what_a_docstring_tells(spec):
    """Formula, parameters, results, errors and an example; and each parameter by its name."""
    text = getattr(pybn_api, spec.function).__doc__
    for piece in ("``", "Parameters\n", "Returns\n", "Raises\n", ">>> "):
        assert piece in text, piece
    parameters = text.partition("Parameters\n")[2].partition("Returns\n")[0]
    named = set(re.findall(r"\w+", " ".join(re.findall(r"^ {4}(\w[\w, \n]*?) :", parameters, re.MULTILINE))))
    assert {p.name for p in spec.parameters} | {"out", "stream"} == named


def test_other_threads_run_while_c_runs():
    """The interpreter is free during a call: another thread counts while one works."""
    x = np.broadcast_to(np.float32(1), (64, 8, 1 << 16))
    mean, invstd = np.zeros(8, "f4"), np.ones(8, "f4")
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody is asked to let go: only a call that drops the lock makes room
    other = threading.Thread(target=count)
    try:
        other.start()
        before = counted
        pybn_api.batch_norm_reduce_backward(x, x, mean, invstd)
        progress = counted - before
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        other.join()
    assert progress > 0


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1025, 2, 1 << 20), 0), pytest.param((2, 2, (1 << 29) + 3), 2, marks=pytest.mark.nightly)],
    ids=["rows", "elements"],
)
def test_more_than_2_31_elements(device, shape, axis):
    """Stride 0 makes the size without the memory; 64-bit counts make the sums right."""
    if not device.is_cpu:
        pytest.skip("too long on an emulated device")
    assert np.prod(shape, dtype=np.int64) > 1 << 31
    small = [1 if a == axis else extent for a, extent in enumerate(shape)]
    x, dy = (np.broadcast_to(np.full(small, value, np.float32), shape) for value in (1.5, 0.5))
    mean, invstd = np.array([1, 0.5], "f4"), np.array([1, 2], "f4")
    got = pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd)
    count = x.size // 2
    np.testing.assert_array_equal(got.sum_dy, np.float32(0.5 * count))
    np.testing.assert_array_equal(got.sum_dy_xmu, np.array([0.25 * count, 0.5 * count], "f4"))
    np.testing.assert_array_equal(got.grad_weight, np.array([0.25 * count, count], "f4"))


def test_many_threads_at_once():
    """Plain calls, plans and streams from several threads, each with data of its own."""
    errors = []

    def work(seed: int) -> None:
        try:
            x = np.full((4, 3, 40), seed, np.float32)
            plan = shared
            with pybn_api.Stream(pybn_api.Device.cpu()) as stream:
                for step in range(60):
                    assert (pybn_api.batch_norm_stats(x).mean == seed).all()
                    assert (plan(x).mean == seed).all()
                    late = pybn_api.batch_norm_stats(x + step, stream=stream)
                    stream.synchronize()
                    assert (late.mean == seed + step).all()
        except BaseException as problem:  # reported by the main thread
            errors.append(problem)

    shared = pybn_api.plan.batch_norm_stats(np.zeros((4, 3, 40), np.float32))
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_streams_and_events():
    x = np.ones((16, 8, 4096), np.float32)
    with (
        pybn_api.Stream() as first,
        pybn_api.Stream() as second,
        pybn_api.Event() as start,
        pybn_api.Event() as end,
    ):
        start.record(first)
        forward = pybn_api.batch_norm(x, training=True, stream=first)
        end.record(first)
        second.wait(end)
        again = pybn_api.batch_norm_stats(forward.output, stream=second)
        second.synchronize()
        assert end.query()
        assert start.elapsed_ms(end) >= 0
        np.testing.assert_array_equal(again.mean, 0)
        first.synchronize(timeout=5)
        assert first.query()
    with pytest.raises(pybn_api.InvalidHandle, match="closed already"):
        first.query()


def test_executor_objects():
    x = np.ones((4, 3, 5), np.float32)
    mean, invstd = np.empty(3, "f4"), np.empty(3, "f4")
    tensors = pybn_api.Tensor.of(x), pybn_api.Tensor.of(mean), pybn_api.Tensor.of(invstd)
    with pybn_api.Executor("BatchNormStats", tensors[0], 0.0, *tensors[1:]).make_repeatable() as executor:
        other = np.empty(3, "f4")
        for target in (mean, other):
            executor.set_addresses([0, target.ctypes.data, 0])
            executor.run()
            pybn_api.Device.current().synchronize()
            np.testing.assert_array_equal(target, 1)
    for tensor in tensors:
        tensor.close()
    with pytest.raises(pybn_api.InvalidHandle):
        executor.run()
    with pytest.raises(pybn_api.InvalidArgument, match="BatchNormStats: input"):
        pybn_api.Executor("BatchNormStats", None, 0.0, None, None)


def test_exceptions_pickle():
    import pickle

    with pytest.raises(pybn_api.InvalidArgument) as caught:
        pybn_api.batch_norm_stats(None)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.code, copy.name, str(copy)) == (161001, "BNAPI_ERR_PARAM_NULLPTR", str(caught.value))


def test_devices():
    devices = pybn_api.Device.all()
    assert devices[-1].type == "cpu"
    with devices[-1] as cpu:
        assert pybn_api.Device.current() == cpu
        free, total = cpu.memory_info()
        assert 0 < free <= total
    with pytest.raises(pybn_api.InvalidArgument):
        pybn_api.Device(99).use()
