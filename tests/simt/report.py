"""What the CUDA kernels move, and what they need of the chip, without a GPU.

First table: every kernel that walks the data, at the shapes of ResNet-50, in both layouts, per dtype: the
bytes that warps asked for over the bytes of the 32-byte sectors that they touched, as the emulator counts
them on a sample of the blocks, and the barriers of a block. Second table: what ptxas reports per kernel.

Ends with 1 if a judged kernel moves more than `GOAL` allows, or spills, or uses local memory. Judged are
channels-last, and contiguous runs of at least `LONG_RUN` bytes.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
GOAL = 0.9
LONG_RUN = 512
BATCH = 32
SAMPLE = 96  # blocks of a launch that are run
# Channels and side of the feature maps that ResNet-50 normalizes.
RESNET_50 = ((64, 112), (64, 56), (256, 56), (128, 28), (512, 28), (256, 14), (1024, 14), (512, 7), (2048, 7))
LAYOUTS = {"contiguous": (0, 1, 2, 3), "channels-last": (0, 2, 3, 1)}
DTYPES = {"float32": 0, "float16": 1, "bfloat16": 27, "float64": 11}


@dataclass(frozen=True)
class Row:
    operator: str
    kernel: str
    channels: int
    side: int
    layout: str
    dtype: str
    useful: int
    moved: int
    barriers: float
    judged: bool

    @property
    def ratio(self) -> float:
        return self.useful / self.moved

    def __str__(self) -> str:
        mark = "" if not self.judged else "ok" if self.ratio >= GOAL else "BELOW"
        shape = f"{BATCH}x{self.channels}x{self.side}x{self.side}"
        return (
            f"{self.operator:22} {self.kernel:20} {shape:16} {self.layout:14} {self.dtype:9}"
            f" {self.ratio:6.3f} {self.barriers:9.1f}  {mark}"
        )


def operators() -> dict[str, Callable[[Callable[[], Any], Callable[[], Any], int], None]]:
    """Per operator, a call with a maker of data tensors and of per-channel ones (float32), and a dtype."""
    import numpy as np

    import pybn_api as bn

    def counter() -> Any:
        return bn.DeviceArray.from_numpy(np.ones(1, np.int32))

    return {
        "BatchNormStats": lambda x, c, _: bn.batch_norm_stats(x()) and None,
        "BatchNormReduceBackward": lambda x, c, _: (
            bn.batch_norm_reduce_backward(x(), x(), c(), c(), c()) and None
        ),
        "BatchNormElemt": lambda x, c, _: bn.batch_norm_elemt(x(), c(), c(), c(), c()) and None,
        "BatchNormElemtBackward": lambda x, c, _: (
            bn.batch_norm_elemt_backward(x(), x(), c(), c(), c(), c(), c(), counter()) and None
        ),
        "BatchNorm": lambda x, c, _: bn.batch_norm(x(), c(), c(), c(), c(), training=True) and None,
        "BatchNormBackward": lambda x, c, _: (
            bn.batch_norm_backward(x(), x(), c(), c(), c(), c(), c(), training=True) and None
        ),
    }


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
        for name, call in operators().items():
            for channels, side in RESNET_50:
                for layout, order in LAYOUTS.items():
                    for dtype, code in DTYPES.items():
                        shape = (BATCH, channels, side, side)
                        run_bytes = side * side * {0: 4, 1: 2, 27: 2, 11: 8}[code]
                        judged = layout == "channels-last" or run_bytes >= LONG_RUN
                        emulator.bn_simt_reset_report()
                        call(
                            lambda shape=shape, code=code, order=order: bn.DeviceArray.empty(
                                shape, code, order=order
                            ),
                            lambda channels=channels: bn.DeviceArray.empty((channels,), 0),
                            code,
                        )
                        device.synchronize()
                        for kernel in json.loads(emulator.bn_simt_report()):
                            if not kernel["kernel"].startswith(("reduce", "map")):
                                continue  # finalize: a few numbers per channel
                            loads, stores = kernel["load"], kernel["store"]
                            yield Row(
                                name,
                                kernel["kernel"],
                                channels,
                                side,
                                layout,
                                dtype,
                                loads["useful_bytes"] + stores["useful_bytes"],
                                loads["moved_bytes"] + stores["moved_bytes"],
                                kernel["block_barriers"] / max(1, kernel["blocks_run"]),
                                judged,
                            )


@dataclass(frozen=True)
class Resources:
    kernel: str
    registers: int
    stack: int
    spills: int
    shared: int


def parse_ptxas(text: str) -> list[Resources]:
    """The kernels in the output of `nvcc -Xptxas -v`."""
    found = []
    for block in re.split(r"ptxas info\s*: Compiling entry function ", text)[1:]:
        name = re.match(r"'([^']+)'", block)
        stack = re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", block
        )
        registers = re.search(r"Used (\d+) registers", block)
        shared = re.search(r"(\d+) bytes smem", block)
        if name is None or stack is None or registers is None:
            raise ValueError(f"ptxas said something else than expected: {block[:200]}")
        found.append(
            Resources(
                name[1],
                int(registers[1]),
                int(stack[1]),
                int(stack[2]) + int(stack[3]),
                int(shared[1]) if shared else 0,
            )
        )
    return found


def compile_for(nvcc: str, arch: str, source: Path) -> list[Resources]:
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++17", "-O3", "--fmad=false", f"-arch={arch}", "-cubin", "-Xptxas", "-v"]
        command += [
            "-I",
            str(ROOT / "csrc"),
            "-I",
            str(ROOT / "include"),
            str(source),
            "-o",
            f"{folder}/out.cubin",
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return parse_ptxas(result.stderr + result.stdout)


def demangle(names: list[str]) -> list[str]:
    tool = shutil.which("c++filt")
    if tool is None or not names:
        return names
    shown = subprocess.run([tool], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    # Enumerators by number, then without parameter list, return type and namespaces.
    lines = [re.sub(r"\(bn::Map\)(\d+)", r"\1", line) for line in shown.splitlines()]
    lines = [re.sub(r"\(bn::.*|\(.*\)$", "", line.replace("(anonymous namespace)::", "")) for line in lines]
    return [re.sub(r"bn::(cuda::)?|^void ", "", line) for line in lines]


def ptxas_table(arch: str, jobs: int) -> int:
    """Prints the table; the number of kernels that spill or use local memory."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        print("No nvcc on PATH: no registers to report.")
        return 0
    sources = sorted((ROOT / "csrc" / "backends" / "cuda").glob("*.cu"))
    with ThreadPoolExecutor(jobs) as pool:
        kernels = [k for found in pool.map(lambda s: compile_for(nvcc, arch, s), sources) for k in found]
    print(f"\nptxas, {arch}: registers, stack frame, spilled bytes, static shared memory")
    bad = 0
    for kernel, name in sorted(
        zip(kernels, demangle([k.kernel for k in kernels]), strict=True), key=lambda e: e[1]
    ):
        wrong = kernel.stack != 0 or kernel.spills != 0
        bad += wrong
        print(
            f"{name:86} {kernel.registers:4} {kernel.stack:6} {kernel.spills:6} {kernel.shared:6}"
            f"  {'LOCAL MEMORY' if wrong else ''}"
        )
    print(f"{len(kernels)} kernels, {bad} with local memory or spills")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "simt", help="a build of the preset simt"
    )
    parser.add_argument("--arch", default="sm_90", help="what ptxas compiles for; none: leave it out")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    head = (
        f"{'operator':22} {'kernel':20} {'shape':16} {'layout':14} {'dtype':9} {'useful':>6} {'barriers':>9}"
    )
    print(f"{head}\n{'':84} {'/moved':>6} {'per block':>9}")
    judged = below = 0
    worst: Row | None = None
    for row in measure(arguments.build):
        print(row, flush=True)
        if row.judged:
            judged += 1
            below += row.ratio < GOAL
            worst = row if worst is None or row.ratio < worst.ratio else worst
    print(f"{judged} judged, {below} below {GOAL}; the worst:\n{worst}")
    bad = 0 if arguments.arch == "none" else ptxas_table(arguments.arch, arguments.jobs)
    return 1 if below or bad or judged == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
