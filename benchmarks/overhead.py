"""What a call costs on top of its work: operators on small arrays, from Python and from C.

Every variant takes its turn within a round, and the median over rounds counts; the fastest round, in
parentheses, tells how much of it is the machine's unrest. From Python: a plain call, a
planned one, and a planned one with `out=`, on (2, 8, 4, 4) float32 numpy arrays. From C: what
benchmarks/c/overhead.c measures, compiled here against the same build.

    python benchmarks/overhead.py --build build/release
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SHAPE = (2, 8, 4, 4)
ROUNDS = 21
CALLS = 500


def cases() -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments by function; "batch_norm eval" is batch_norm in inference."""
    random = np.random.default_rng(0)
    x, dy = (random.standard_normal(SHAPE, dtype=np.float32) for _ in range(2))
    channels = SHAPE[1]
    mean, invstd, weight, bias = (random.uniform(0.5, 2, channels).astype(np.float32) for _ in range(4))
    running = np.zeros(channels, np.float32), np.ones(channels, np.float32)
    backward = (dy, x, weight, *running, mean, invstd)
    return {
        "batch_norm_reduce_backward": ((dy, x, mean, invstd, weight), {}),
        "batch_norm train": ((x, weight, bias, *running), {"training": True}),
        "batch_norm eval": ((x, weight, bias, *running), {"training": False}),
        "batch_norm_backward": (backward, {"training": True}),
        "batch_norm_stats": ((x,), {}),
        "batch_norm_elemt": ((x, weight, bias, mean, invstd), {}),
        "batch_norm_elemt_backward": (
            (dy, x, mean, invstd, weight, mean, invstd, np.array([32.0], "f4")),
            {},
        ),
    }


def turn(call: Callable[[], Any]) -> float:
    """Microseconds per call."""
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin) / CALLS * 1e6


def measure_python() -> dict[str, dict[str, list[float]]]:
    """Microseconds in each round, sorted, by operator and kind of call."""
    import pybn_api

    table = {}
    for name, (arguments, keywords) in cases().items():
        function = getattr(pybn_api, name.split()[0])
        plan = getattr(pybn_api.plan, name.split()[0])(*arguments, **keywords)
        out = function(*arguments, **keywords)
        calls: dict[str, Callable[[], Any]] = {
            "plain": lambda f=function, a=arguments, k=keywords: f(*a, **k),
            "plan": lambda f=plan, a=arguments, k=keywords: f(*a, **k),
            "plan, out=": lambda f=plan, a=arguments, k=keywords, o=out: f(*a, out=o, **k),
        }
        rounds: dict[str, list[float]] = {kind: [] for kind in calls}
        for _ in range(ROUNDS):
            for kind, call in calls.items():
                rounds[kind].append(turn(call))
        table[name] = {kind: sorted(times) for kind, times in rounds.items()}
    return table


def measure_c(build: Path) -> str:
    """The report of the C program."""
    program = build / "bin" / "overhead"
    program.parent.mkdir(exist_ok=True)
    source = ROOT / "benchmarks" / "c" / "overhead.c"
    library = build / "lib"
    flags = ["-std=c99", "-O2", f"-I{ROOT / 'include'}", f"-L{library}", "-lbn_api", f"-Wl,-rpath,{library}"]
    subprocess.run([os.environ.get("CC", "cc"), str(source), *flags, "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


def machine() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return platform.processor()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="the tree to measure")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    # Before anything else of that name: the script's own directory leads to no package.
    sys.path.insert(0, str(build / "python"))

    print(
        f"{datetime.date.today()}, {machine()}, Python {platform.python_version()}, numpy {np.__version__}\n"
    )
    print(f"{'µs per call from Python':<28}{'plain':>14}{'plan':>14}{'plan, out=':>14}")
    for name, row in measure_python().items():
        cells = (f"{statistics.median(times):.1f} ({times[0]:.1f})" for times in row.values())
        print(f"{name:<28}" + "".join(f"{cell:>14}" for cell in cells))
    print(f"\n{measure_c(build)}", end="")


if __name__ == "__main__":
    main()
