"""`python -m pybn_api doctor`: what is here, and a self-test of every operator on every device.

The expected numbers are computed in float64 with numpy, here, by the formulas of the documentation.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pybn_api
from pybn_api import operators
from pybn_api.runtime import Device

Vector = np.ndarray[Any, Any]
Put = Callable[[Vector], Any]
Check = Callable[[Put], dict[str, tuple[Any, Vector]]]

EPS = 1e-5


def _data() -> tuple[Vector, Vector, Vector, Vector]:
    """x, dy, weight, bias."""
    random = np.random.default_rng(7)
    x = (3 + 2 * random.standard_normal((5, 6, 4, 7))).astype(np.float32)
    dy = random.standard_normal(x.shape).astype(np.float32)
    return x, dy, random.uniform(0.5, 2, 6).astype(np.float32), random.standard_normal(6).astype(np.float32)


def _spread(values: Vector) -> Vector:
    return values.reshape(1, -1, 1, 1)


def _forward(relu: bool, residual: Vector | None) -> tuple[Vector, Vector, Vector]:
    x, _, weight, bias = (array.astype(np.float64) for array in _data())
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    invstd = 1 / np.sqrt(var + EPS)
    y = (x - _spread(mean)) * _spread(invstd * weight) + _spread(bias)
    y = y if residual is None else y + residual
    return np.maximum(y, 0) if relu else y, mean, invstd


def _gradients(dy: Vector) -> tuple[Vector, Vector, Vector]:
    x, _, weight, _ = (array.astype(np.float64) for array in _data())
    _, mean, invstd = _forward(False, None)
    xhat, n = (x - _spread(mean)) * _spread(invstd), x.size / 6
    grad_weight, grad_bias = (dy * xhat).sum((0, 2, 3)), dy.sum((0, 2, 3))
    dx = _spread(weight * invstd) * (dy - _spread(grad_bias / n) - xhat * _spread(grad_weight / n))
    return dx, grad_weight, grad_bias


def _batch_norm(put: Put) -> dict[str, tuple[Any, Vector]]:
    x, _, weight, bias = map(put, _data())
    y, mean, invstd = operators.batch_norm(x, weight, bias, training=True, eps=EPS)
    want = _forward(False, None)
    return {"output": (y, want[0]), "save_mean": (mean, want[1]), "save_invstd": (invstd, want[2])}


def _batch_norm_act(put: Put) -> dict[str, tuple[Any, Vector]]:
    x, dy, weight, bias = map(put, _data())
    y = operators.batch_norm_act(x, weight, bias, residual=dy, training=True, eps=EPS).output
    return {"output": (y, _forward(True, _data()[1].astype(np.float64))[0])}


def _statistics() -> tuple[Vector, Vector]:
    _, mean, invstd = _forward(False, None)
    return mean.astype(np.float32), invstd.astype(np.float32)


def _backward(function: Callable[..., Any]) -> Check:
    def check(put: Put) -> dict[str, tuple[Any, Vector]]:
        x, dy, weight, _ = map(put, _data())
        mean, invstd = map(put, _statistics())
        got = function(dy, x, weight, save_mean=mean, save_invstd=invstd, training=True)
        return dict(
            zip(got._fields, zip(got, _gradients(_data()[1].astype(np.float64)), strict=True), strict=True)
        )

    return check


def _act_backward(put: Put) -> dict[str, tuple[Any, Vector]]:
    x, dy, weight, _ = map(put, _data())
    mean, invstd = map(put, _statistics())
    output = _data()[3].reshape(1, -1, 1, 1) + _data()[1]
    masked = np.where(output > 0, _data()[1], 0).astype(np.float64)
    got = operators.batch_norm_act_backward(
        dy, x, put(output), weight, save_mean=mean, save_invstd=invstd, training=True
    )
    want = (*_gradients(masked), masked)
    return dict(zip(got._fields, zip(got, want, strict=True), strict=True))


def _stats(put: Put) -> dict[str, tuple[Any, Vector]]:
    got = operators.batch_norm_stats(put(_data()[0]), EPS)
    _, mean, invstd = _forward(False, None)
    return {"mean": (got.mean, mean), "invstd": (got.invstd, invstd)}


def _elemt(put: Put) -> dict[str, tuple[Any, Vector]]:
    x, _, weight, bias = map(put, _data())
    return {
        "output": (
            operators.batch_norm_elemt(x, weight, bias, *map(put, _statistics())),
            _forward(False, None)[0],
        )
    }


def _reduce_backward(put: Put) -> dict[str, tuple[Any, Vector]]:
    x, dy, _, _ = map(put, _data())
    got = operators.batch_norm_reduce_backward(dy, x, *map(put, _statistics()))
    _, grad_weight, grad_bias = _gradients(_data()[1].astype(np.float64))
    return {"grad_weight": (got.grad_weight, grad_weight), "grad_bias": (got.grad_bias, grad_bias)}


def _elemt_backward(put: Put) -> dict[str, tuple[Any, Vector]]:
    x, dy, weight, _ = map(put, _data())
    mean, invstd = _statistics()
    dx, grad_weight, grad_bias = _gradients(_data()[1].astype(np.float64))
    sum_dy = put(grad_bias.astype(np.float32))
    sum_dy_xmu = put((grad_weight / _forward(False, None)[2]).astype(np.float32))
    counter = put(np.array([140], np.int32))
    got = operators.batch_norm_elemt_backward(
        dy, x, put(mean), put(invstd), weight, sum_dy, sum_dy_xmu, counter
    )
    return {"grad_input": (got, dx)}


def _gather(put: Put) -> dict[str, tuple[Any, Vector]]:
    x = _data()[0]
    parts = x[:2], x[2:]
    rows = [
        [p.astype(np.float64).mean((0, 2, 3)), 1 / np.sqrt(p.astype(np.float64).var((0, 2, 3)) + EPS)]
        for p in parts
    ]
    mean, invstd = (put(np.array([row[k] for row in rows])) for k in (0, 1))
    counts = put(np.array([part.size / 6 for part in parts]))
    got = operators.batch_norm_gather_stats_with_counts(put(x), mean, invstd, counts, eps=EPS)
    _, want_mean, want_invstd = _forward(False, None)
    return {"mean_all": (got.mean_all, want_mean), "invstd_all": (got.invstd_all, want_invstd)}


def _sync(put: Put) -> dict[str, tuple[Any, Vector]]:
    x = _data()[0].astype(np.float64)
    sums, squares = x.sum((0, 2, 3))[None], (x * x).sum((0, 2, 3))[None]
    running = put(np.zeros(6)), put(np.ones(6))
    got = operators.sync_batch_norm_gather_stats(
        put(sums), put(squares), put(np.array([140], np.int32)), *running, eps=EPS
    )
    _, mean, invstd = _forward(False, None)
    return {"batch_mean": (got.batch_mean, mean), "batch_invstd": (got.batch_invstd, invstd)}


def _reduce(put: Put) -> dict[str, tuple[Any, Vector]]:
    x = _data()[0].astype(np.float64)
    got = operators.batch_norm_reduce(put(_data()[0]))
    return {"sum": (got.sum, x.sum((0, 2, 3))), "square_sum": (got.square_sum, (x * x).sum((0, 2, 3)))}


def _quantized(put: Put) -> dict[str, tuple[Any, Vector]]:
    q = np.array([-7, -5, -3, -1, 0, 1, 3, 5], np.int8).reshape(1, 1, 1, 8)
    zero, one = put(np.zeros(1, np.float32)), put(np.ones(1, np.float32))
    got = operators.quantized_batch_norm(put(q), zero, one, 0.5, 0, 1.0, 0, epsilon=0.0)
    return {"output": (got, np.array([-4, -3, -2, -1, 0, 1, 2, 3], np.float64).reshape(q.shape))}


CHECKS: dict[str, Check] = {
    "batch_norm": _batch_norm,
    "batch_norm_act": _batch_norm_act,
    "batch_norm_act_backward": _act_backward,
    "batch_norm_backward": _backward(operators.batch_norm_backward),
    "batch_norm_elemt": _elemt,
    "batch_norm_elemt_backward": _elemt_backward,
    "batch_norm_gather_stats_with_counts": _gather,
    "batch_norm_reduce": _reduce,
    "batch_norm_reduce_backward": _reduce_backward,
    "batch_norm_stats": _stats,
    "fast_batch_norm_backward": _backward(operators.fast_batch_norm_backward),
    "quantized_batch_norm": _quantized,
    "sync_batch_norm_gather_stats": _sync,
}
# float32 inputs and statistics of order 1, sums of 140 terms: some float32 roundings of the largest value.
TOLERANCE = 2e-5


def _verdict(device: Device, check: Check) -> str:
    def put(array: Vector) -> Any:
        return array if device.type == "cpu" else pybn_api.DeviceArray.from_numpy(array, device)

    try:
        worst = 0.0
        for got, want in check(put).values():
            values = got if isinstance(got, np.ndarray) else got.to_numpy()
            error = np.abs(values.astype(np.float64) - want).max() / max(1.0, np.abs(want).max())
            worst = max(worst, float(error) if np.isfinite(error) else float("inf"))
    except pybn_api.BnApiError as problem:
        return f"FAILED ({problem.name}: {problem.message})"
    return "ok" if worst <= TOLERANCE else f"FAILED (off by {worst:.2g})"


def _driver(path: Path = Path("/proc/driver/nvidia/version")) -> str:
    """The driver's version as the kernel tells it."""
    try:
        line = path.read_text().partition("\n")[0]
    except OSError:
        return "none"
    found = re.search(r"\d+\.\d+(?:\.\d+)?", line)
    return found[0] if found else line


def doctor() -> int:
    """Prints the report; 0 if every operator passes on every device."""
    print(pybn_api.build_info())
    machine = f"{platform.machine()} {platform.system()}"
    print(f"python {platform.python_version()}, numpy {np.__version__}, {machine}")
    print(f"threads {pybn_api.num_threads()}, instruction set {pybn_api.isa()}")
    chosen = {k: v for k, v in os.environ.items() if k.startswith("BNAPI_")}
    if chosen:
        print("environment: " + " ".join(f"{k}={v}" for k, v in sorted(chosen.items())))
    print(f"NVIDIA driver: {_driver()}")
    devices = Device.all()
    for device in devices:
        free, total = device.memory_info()
        print(f"device {device.id}: {device.name}, {free / 2**30:.1f} of {total / 2**30:.1f} GiB free")

    failed = 0
    width = max(map(len, CHECKS))
    print()
    print(" ".join([f"{'operator':{width}}", *(f"device {device.id}" for device in devices)]))
    for name, check in CHECKS.items():
        verdicts = []
        for device in devices:
            with device:
                verdicts.append(_verdict(device, check))
        failed += sum(verdict != "ok" for verdict in verdicts)
        print(" ".join([f"{name:{width}}", *(f"{verdict:8}" for verdict in verdicts)]).rstrip())
    print()
    print("all operators pass on all devices" if failed == 0 else f"{failed} failures")
    return 0 if failed == 0 else 1
