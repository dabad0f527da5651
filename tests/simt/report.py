"""What the CUDA kernels move, and what they need of the chip, without a GPU.

First table: every kernel that walks the data, at the shapes of ResNet-50, in both layouts and in mixes of
them, per dtype: the bytes that warps asked for over the bytes of the 32-byte sectors that they touched, as
the emulator counts them on a sample of the blocks, and the barriers of a block. Then what ptxas reports, per
kernel and per source (ptxas.py).

Ends with 1 if a judged kernel moves more than `GOAL` allows, or spills, or uses local memory. Judged are
channels-last, and contiguous runs of at least `LONG_RUN` bytes. Of two inputs in different layouts, a warp
that takes the same elements of both reads only one along its memory: that ratio is shown, not judged.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import ptxas

ROOT = Path(__file__).resolve().parent.parent.parent
GOAL = 0.9
LONG_RUN = 512
BATCH = 32
SAMPLE = 96  # blocks of a launch that are run
# Channels and side of the feature maps that ResNet-50 normalizes.
RESNET_50 = ((64, 112), (64, 56), (256, 56), (128, 28), (512, 28), (256, 14), (1024, 14), (512, 7), (2048, 7))
MIXED_SHAPES = ((64, 56), (256, 14), (2048, 7))
NCHW, NHWC = (0, 1, 2, 3), (0, 2, 3, 1)  # the axes, from the outermost in memory
# The order of the first data tensor of a call, and of the second.
LAYOUTS = {"contiguous": (NCHW, NCHW), "channels-last": (NHWC, NHWC)}
MIXED = {"nchw, nhwc": (NCHW, NHWC), "nhwc, nchw": (NHWC, NCHW)}
DTYPES = {"float32": 0, "float16": 1, "bfloat16": 27, "float64": 11}
ITEM_SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}


@dataclass(frozen=True)
class Case:
    operator: str
    channels: int
    side: int
    layout: str
    dtype: str

    @property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        return (LAYOUTS | MIXED)[self.layout]

    @property
    def judged(self) -> bool:
        run = self.side**2 * ITEM_SIZES[self.dtype]
        return self.layout == "channels-last" or (self.layout == "contiguous" and run >= LONG_RUN)


@dataclass(frozen=True)
class Row:
    case: Case
    kernel: str
    useful: int
    moved: int
    barriers: float

    @property
    def ratio(self) -> float:
        return self.useful / self.moved

    def __str__(self) -> str:
        case = self.case
        mark = "" if not case.judged else "ok" if self.ratio >= GOAL else "BELOW"
        shape = f"{BATCH}x{case.channels}x{case.side}x{case.side}"
        return (
            f"{case.operator:23} {self.kernel:20} {shape:16} {case.layout:14} {case.dtype:9}"
            f" {self.ratio:6.3f} {self.barriers:9.1f}  {mark}"
        )


def operators() -> dict[str, Callable[[Callable[[], Any], Callable[[], Any]], object]]:
    """Per operator, a call with a maker of data tensors and one of vectors with a number per channel."""
    import numpy as np

    import pybn_api as bn

    def counter() -> Any:
        return bn.DeviceArray.from_numpy(np.ones(1, np.int32))

    return {
        "BatchNormStats": lambda x, c: bn.batch_norm_stats(x()),
        "BatchNormReduceBackward": lambda x, c: bn.batch_norm_reduce_backward(x(), x(), c(), c(), c()),
        "BatchNormElemt": lambda x, c: bn.batch_norm_elemt(x(), c(), c(), c(), c()),
        "BatchNormElemtBackward": lambda x, c: bn.batch_norm_elemt_backward(
            x(), x(), c(), c(), c(), c(), c(), counter()
        ),
        "BatchNorm": lambda x, c: bn.batch_norm(x(), c(), c(), c(), c(), training=True),
        "BatchNormBackward": lambda x, c: bn.batch_norm_backward(
            x(), x(), c(), c(), c(), c(), c(), training=True
        ),
    }


def cases() -> Iterator[Case]:
    for operator in operators():
        for channels, side in RESNET_50:
            for layout in LAYOUTS:
                for dtype in DTYPES:
                    yield Case(operator, channels, side, layout, dtype)
    for operator in ("BatchNormReduceBackward", "BatchNormElemtBackward", "BatchNormBackward"):
        for channels, side in MIXED_SHAPES:
            for layout in MIXED:
                for dtype in DTYPES:
                    yield Case(operator, channels, side, layout, dtype)


def measure(build: Path) -> Iterator[Row]:
    sys.path.insert(0, str(build / "python"))
    import pybn_api as bn

    emulator = ctypes.CDLL(str(build / "lib" / "libbn_simt.so"))
    emulator.bn_simt_report.restype = ctypes.c_char_p
    device = next((d for d in bn.Device.all() if d.type == "cuda"), None)
    if device is None:
        sys.exit(f"{build} has no emulated device: configure it with the preset simt")
    emulator.bn_simt_set_counting(True)
    # What finalize leaves decides which path a map takes: it is run whole.
    emulator.bn_simt_set_sample(SAMPLE, b"finalize")
    with device:
        for case in cases():
            emulator.bn_simt_reset_report()
            shape = (BATCH, case.channels, case.side, case.side)
            orders = iter(case.orders)
            operators()[case.operator](
                partial(_data, shape, DTYPES[case.dtype], orders),
                partial(bn.DeviceArray.empty, shape[1:2], 0),
            )
            device.synchronize()
            for kernel in json.loads(emulator.bn_simt_report()):
                if kernel["kernel"].startswith(("finalize", "fill")):
                    continue  # a few numbers per channel
                loads, stores = kernel["load"], kernel["store"]
                yield Row(
                    case,
                    kernel["kernel"],
                    loads["useful_bytes"] + stores["useful_bytes"],
                    loads["moved_bytes"] + stores["moved_bytes"],
                    kernel["block_barriers"] / max(1, kernel["blocks_run"]),
                )


def _data(shape: tuple[int, ...], code: int, orders: Iterator[tuple[int, ...]]) -> Any:
    import pybn_api as bn

    return bn.DeviceArray.empty(shape, code, order=next(orders))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "simt", help="a build of the preset simt"
    )
    parser.add_argument(
        "--arch",
        default=",".join(ptxas.ARCHITECTURES),
        help="what ptxas compiles for, separated by commas (default: %(default)s); none: leave it out",
    )
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    head = (
        f"{'operator':23} {'kernel':20} {'shape':16} {'layout':14} {'dtype':9} {'useful':>6} {'barriers':>9}"
    )
    print(f"{head}\n{'':86} {'/moved':>6} {'per block':>9}")
    rows = []
    for row in measure(arguments.build):
        print(row, flush=True)
        rows.append(row)
    judged = [row for row in rows if row.case.judged]
    below = [row for row in judged if row.ratio < GOAL]
    print(f"{len(judged)} judged, {len(below)} below {GOAL}; the worst:")
    print(min(judged, key=lambda row: row.ratio, default=None))
    print("Two inputs of different layouts:")
    for kernel in sorted({row.kernel for row in rows if row.case.layout in MIXED}):
        ratios = [row.ratio for row in rows if row.kernel == kernel and row.case.layout in MIXED]
        print(f"{kernel:20} {min(ratios):6.3f} to {max(ratios):.3f}")
    fine = arguments.arch == "none" or ptxas.report(arguments.arch.split(","), arguments.jobs)
    return 0 if fine and judged and not below else 1


if __name__ == "__main__":
    sys.exit(main())
