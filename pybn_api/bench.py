"""`python -m pybn_api bench`: the operators' bandwidth on this machine, beside what a copy and a sum reach.

GB/s count the bytes that a call has to move: each input read once, each output written once. What fits into
the caches may be faster than memory.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import pybn_api
from pybn_api import plan

Case = tuple[str, int, Callable[[], Any]]  # name, bytes, call

SHAPES = ((32, 64, 56, 56), (8, 256, 28, 28), (64, 512, 7, 7), (16, 32, 128, 128))
SECONDS = 0.4  # per case


def _cases(shape: tuple[int, ...], channels_last: bool) -> Iterator[Case]:
    random = np.random.default_rng(0)
    x, dy = (random.standard_normal(shape, np.float32) for _ in range(2))
    if channels_last:
        x, dy = (np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 1, -1)), -1, 1) for a in (x, dy))
    y = np.empty_like(x)
    size = x.nbytes
    stats = plan.batch_norm_stats(x)
    mean, invstd = stats(x)
    forward = plan.batch_norm(x, training=True)
    inference = plan.batch_norm(x, None, None, mean, invstd, training=False)
    backward = plan.batch_norm_backward(dy, x, save_mean=mean, save_invstd=invstd, training=True)
    reduce = plan.batch_norm_reduce_backward(dy, x, mean, invstd)
    yield "stats", size, lambda: stats(x)
    yield "reduce_backward", 2 * size, lambda: reduce(dy, x, mean, invstd)
    yield "forward, training", 2 * size, lambda: forward(x, training=True, out=(y, None, None))
    yield (
        "forward, inference",
        2 * size,
        lambda: inference(x, None, None, mean, invstd, training=False, out=(y, None, None)),
    )
    yield (
        "backward",
        3 * size,
        lambda: backward(dy, x, save_mean=mean, save_invstd=invstd, training=True, out=(y, None, None)),
    )


def _median_seconds(call: Callable[[], Any]) -> float:
    call()
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _ceiling() -> dict[str, float]:
    """GB/s of numpy on arrays past every cache, with as many threads as operators use: reading, copying."""
    # Written to, both: memory that never was is one page of zeros, which the cache holds.
    a, b = np.full(1 << 25, 1, np.float32), np.full(1 << 25, 2, np.float32)
    threads = pybn_api.num_threads()
    parts = list(zip(np.array_split(a, threads), np.array_split(b, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        copy = _median_seconds(lambda: list(pool.map(lambda part: np.copyto(part[1], part[0]), parts)))
        read = _median_seconds(lambda: list(pool.map(lambda part: part[0].max(), parts)))
    return {
        "read from memory (numpy max)": a.nbytes / read / 1e9,
        "copy in memory (numpy)": 2 * a.nbytes / copy / 1e9,
    }


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        filled = 30 * done // total
        end = "\r" if done < total else "\r" + " " * 50 + "\r"
        print(f"[{'#' * filled}{' ' * (30 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def bench(*, quick: bool = False, plot: Path | None = None) -> list[tuple[str, str, str, float, float]]:
    """Prints the table, and returns its rows: shape, layout, operator, milliseconds, GB/s."""
    print(pybn_api.build_info())
    shapes = SHAPES[:1] if quick else SHAPES
    ceiling = _ceiling()
    for name, speed in ceiling.items():
        print(f"{name}: {speed:.1f} GB/s")
    print()
    print(f"{'shape':18} {'layout':14} {'operator':20} {'ms':>8} {'GB/s':>7}")
    rows: list[tuple[str, str, str, float, float]] = []
    total = len(shapes) * 2 * 5
    for shape in shapes:
        for channels_last in (False, True):
            layout = "channels-last" if channels_last else "contiguous"
            for name, size, call in _cases(shape, channels_last):
                seconds = _median_seconds(call)
                rows.append(("x".join(map(str, shape)), layout, name, seconds * 1e3, size / seconds / 1e9))
                print(f"{rows[-1][0]:18} {layout:14} {name:20} {rows[-1][3]:8.3f} {rows[-1][4]:7.1f}")
                _progress(len(rows), total)
    if plot is not None:
        _plot(rows, ceiling, plot)
        print(f"plot: {plot}")
    return rows


# Floating-point operations per byte moved, in float32: counted from the formulas.
_INTENSITY = {
    "stats": 3 / 4,
    "reduce_backward": 4 / 8,
    "forward, training": 6 / 8,
    "forward, inference": 3 / 8,
    "backward": 9 / 12,
}


def _plot(rows: list[tuple[str, str, str, float, float]], ceiling: dict[str, float], path: Path) -> None:
    """A roofline: operations per second over operations per byte, under the bandwidth that was measured."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5))
    edge = np.array([0.2, 1.5])
    for (name, speed), style in zip(ceiling.items(), ("--", "-"), strict=True):
        axes.plot(edge, edge * speed, style, color="0.4", label=f"{name}: {speed:.0f} GB/s")
    for name, intensity in _INTENSITY.items():
        for layout, marker in (("contiguous", "o"), ("channels-last", "^")):
            points = [row[4] * intensity for row in rows if row[1] == layout and row[2] == name]
            axes.plot([intensity] * len(points), points, marker, label=f"{name}, {layout}")
    axes.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="10^9 operations per second")
    axes.legend(fontsize=7)
    axes.set_title("pybn_api, float32")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
