"""Peers that are called from Python: this library's facade, PyTorch on the CPU, and numpy.

Started by the driver as ``arrays.py ours|torch|numpy``; speaks the protocol of peers/peer.h.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Run = Callable[[], Any]
EPS, MOMENTUM = 1e-5, 0.1


@dataclass(frozen=True)
class Case:
    """One operation on one shape, as the driver names it."""

    op: str
    dtype: str
    layout: str
    shape: tuple[int, int, int, int]


class Skip(Exception):
    """What a peer does not offer."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def numpy_data(case: Case, seed: int) -> np.ndarray[Any, Any]:
    """Random data of the case's shape, type and layout."""
    n, c, h, w = case.shape
    values = np.random.default_rng(seed).standard_normal((n, h, w, c), dtype=np.float32) + 0.5
    values = values.astype(numpy_dtype(case.dtype))
    view = values.transpose(0, 3, 1, 2)
    return view if case.layout == "channels_last" else np.ascontiguousarray(view)


def per_channel(case: Case, seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform(0.5, 1.5, case.shape[1]).astype(np.float32)


def prepare_ours(case: Case) -> Run:
    import pybn_api as bn

    x, dy = numpy_data(case, 1), numpy_data(case, 2)
    mean, invstd, weight, bias = (per_channel(case, s) for s in range(4))
    calls: dict[str, Run] = {
        "forward_train": lambda: bn.batch_norm(
            x, weight, bias, mean, invstd, training=True, momentum=MOMENTUM, eps=EPS
        ),
        "forward_eval": lambda: bn.batch_norm(x, weight, bias, mean, invstd, training=False, eps=EPS),
        "backward": lambda: bn.batch_norm_backward(
            dy, x, weight, save_mean=mean, save_invstd=invstd, training=True, eps=EPS
        ),
        "elemt": lambda: bn.batch_norm_elemt(x, weight, bias, mean, invstd, eps=EPS),
        "stats": lambda: bn.batch_norm_stats(x, eps=EPS),
        "reduce_backward": lambda: bn.batch_norm_reduce_backward(dy, x, mean, invstd, weight),
    }
    return calls[case.op]


def prepare_torch(case: Case) -> Run:
    import torch

    dtype = getattr(torch, case.dtype)

    def data(seed: int) -> Any:
        values = torch.from_numpy(numpy_data(Case(case.op, "float32", "contiguous", case.shape), seed)).to(
            dtype
        )
        return values.to(memory_format=torch.channels_last) if case.layout == "channels_last" else values

    x, dy = data(1), data(2)
    mean, invstd, weight, bias = (torch.from_numpy(per_channel(case, s)) for s in range(4))
    native, backward = torch.ops.aten.native_batch_norm, torch.ops.aten.native_batch_norm_backward
    calls: dict[str, Run] = {
        "forward_train": lambda: native(x, weight, bias, mean, invstd, True, MOMENTUM, EPS),
        "forward_eval": lambda: native(x, weight, bias, mean, invstd, False, MOMENTUM, EPS),
        "elemt": lambda: native(x, weight, bias, mean, invstd, False, MOMENTUM, EPS),
        "stats": lambda: torch.ops.aten.batch_norm_update_stats(x, mean, invstd, MOMENTUM),
        "backward": lambda: backward(
            dy, x, weight, mean, invstd, mean, invstd, True, EPS, [True, True, True]
        ),
        # The nearest thing on the CPU: the full backward with the input's gradient masked off.
        "reduce_backward": lambda: backward(
            dy, x, weight, mean, invstd, mean, invstd, True, EPS, [False, True, True]
        ),
    }
    call = calls[case.op]

    def run() -> Any:
        with torch.no_grad():
            return call()

    return run


def prepare_numpy(case: Case) -> Run:
    if case.dtype != "float32":
        raise Skip("numpy has no arithmetic of its own for this type")
    x, dy = numpy_data(case, 1), numpy_data(case, 2)
    mean, invstd, weight, bias = (per_channel(case, s)[:, None, None] for s in range(4))
    axes = (0, 2, 3)

    def normalize(mu: Any, r: Any) -> Any:
        return (x - mu) * (r * weight) + bias

    def forward_train() -> Any:
        mu = x.mean(axis=axes, keepdims=True)
        return normalize(mu, 1.0 / np.sqrt(x.var(axis=axes, keepdims=True) + EPS))

    def reduce_backward() -> Any:
        return dy.sum(axis=axes), np.einsum("nchw,nchw->c", dy, x - mean)

    def backward() -> Any:
        sum_dy, dot = reduce_backward()
        count = x.size // x.shape[1]
        slope = (invstd[:, 0, 0] ** 2 * dot / count)[:, None, None]
        return (dy - (sum_dy / count)[:, None, None] - (x - mean) * slope) * (invstd * weight)

    calls: dict[str, Run] = {
        "forward_train": forward_train,
        "forward_eval": lambda: normalize(mean, invstd),
        "elemt": lambda: normalize(mean, invstd),
        "stats": lambda: (x.mean(axis=axes), x.var(axis=axes)),
        "backward": backward,
        "reduce_backward": reduce_backward,
    }
    return calls[case.op]


def measure(run: Run, seconds: float) -> float:
    """Median seconds of one run, over as many as fit."""
    times: list[float] = []
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds or len(times) < 3:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def serve(prepare: Callable[[Case], Run]) -> None:
    run: Run | None = None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "quit":
            return
        if words[0] == "prepare":
            op, dtype, layout, *shape = words[1:]
            try:
                run = prepare(
                    Case(op, dtype, layout, (int(shape[0]), int(shape[1]), int(shape[2]), int(shape[3])))
                )
                for _ in range(3):
                    run()
                answer = "ok"
            except Exception as error:
                run, answer = None, "skip " + str(error).replace("\n", " ")
        else:
            answer = "skip not prepared" if run is None else repr(measure(run, float(words[1])))
        print(answer, flush=True)


if __name__ == "__main__":
    serve({"ours": prepare_ours, "torch": prepare_torch, "numpy": prepare_numpy}[sys.argv[1]])
