"""What ptxas says that each kernel needs of the chip: registers, and no local memory.

Every CUDA source is compiled for every architecture asked for. A kernel that spills registers, or has a stack
frame, or any other local memory, or calls a function that has, is wrong.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "csrc" / "backends" / "cuda"
ARCHITECTURES = ("sm_90", "sm_80")


@dataclass(frozen=True)
class Resources:
    """Of one kernel; stack and spills with those of the functions that were compiled along with it."""

    kernel: str
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    local: int
    shared: int

    @property
    def wrong(self) -> bool:
        return any((self.stack, self.spill_stores, self.spill_loads, self.local))


@dataclass(frozen=True)
class Compiled:
    source: str
    arch: str
    kernels: list[Resources]
    seconds: float


def parse(text: str) -> list[Resources]:
    """The kernels in the output of `nvcc -Xptxas -v`."""
    found = []
    for block in re.split(r"ptxas info\s*: Compiling entry function ", text)[1:]:
        name = re.match(r"'([^']+)'", block)
        frames = re.findall(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", block
        )
        registers = re.search(r"Used (\d+) registers", block)
        if name is None or registers is None or not frames:
            raise ValueError(f"ptxas said something else than expected: {block[:200]}")
        stack, stores, loads = (sum(int(frame[i]) for frame in frames) for i in range(3))
        cumulative = _bytes(block, "cumulative stack size")
        shared = _bytes(block, "smem")
        found.append(
            Resources(
                name[1],
                int(registers[1]),
                max(stack, cumulative),
                stores,
                loads,
                _bytes(block, "lmem"),
                shared,
            )
        )
    return found


def _bytes(block: str, what: str) -> int:
    found = re.search(rf"(\d+) bytes {what}", block)
    return int(found[1]) if found else 0


def compile_for(nvcc: str, arch: str, source: Path) -> Compiled:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++17", "-O3", "--fmad=false", f"-arch={arch}", "-cubin", "-Xptxas", "-v"]
        command += [f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'include'}", str(source), "-o", f"{folder}/out.cubin"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return Compiled(source.name, arch, parse(result.stderr + result.stdout), time.monotonic() - started)


def demangle(names: list[str]) -> list[str]:
    tool = shutil.which("c++filt")
    if tool is None or not names:
        return names
    shown = subprocess.run([tool], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    # Enumerators by number, then without parameter list, return type and namespaces.
    lines = [re.sub(r"\(bn::Map\)(\d+)", r"\1", line) for line in shown.splitlines()]
    lines = [re.sub(r"\(bn::.*|\(.*\)$", "", line.replace("(anonymous namespace)::", "")) for line in lines]
    return [re.sub(r"bn::(cuda::)?|^void ", "", line) for line in lines]


def print_tables(compiled: Sequence[Compiled]) -> int:
    """One line per kernel, then one per source; the number of kernels that are wrong."""
    entries = [(unit, kernel) for unit in compiled for kernel in unit.kernels]
    names = demangle([kernel.kernel for _, kernel in entries])
    print(f"\n{'kernel':86} {'arch':6} {'regs':>4} {'stack':>6} {'spills':>6} {'local':>6} {'shared':>6}")
    for name, (unit, kernel) in sorted(zip(names, entries, strict=True), key=lambda e: (e[0], e[1][0].arch)):
        spills = kernel.spill_stores + kernel.spill_loads
        print(
            f"{name:86} {unit.arch:6} {kernel.registers:4} {kernel.stack:6} {spills:6} {kernel.local:6}"
            f" {kernel.shared:6}  {'LOCAL MEMORY' if kernel.wrong else ''}"
        )
    print(f"\n{'source':24} {'arch':6} {'kernels':>7} {'most regs':>9} {'wrong':>6} {'seconds':>8}")
    for unit in compiled:
        most = max((kernel.registers for kernel in unit.kernels), default=0)
        wrong = sum(kernel.wrong for kernel in unit.kernels)
        count = len(unit.kernels)
        print(f"{unit.source:24} {unit.arch:6} {count:7} {most:9} {wrong:6} {unit.seconds:8.1f}")
    bad = sum(kernel.wrong for _, kernel in entries)
    print(f"{len(entries)} kernels, {bad} with local memory or spills")
    return bad


def report(architectures: Sequence[str], jobs: int) -> bool:
    """Compiles and prints; is everything as it should be?"""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        print("No nvcc on PATH, so nothing is known of registers and spills (--arch none leaves them out).")
        return False
    units = [(arch, source) for arch in architectures for source in sorted(SOURCES.glob("*.cu"))]
    with ThreadPoolExecutor(jobs) as pool:
        compiled = list(pool.map(lambda unit: compile_for(nvcc, *unit), units))
    bad = print_tables(compiled)
    return bad == 0 and any(unit.kernels for unit in compiled)
