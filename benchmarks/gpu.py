"""Times the operators on a GPU beside PyTorch's CUDA operators and a copy, and writes a Markdown page.

All contenders work in one CUDA stream and are timed by the same events. They take turns within a round,
rounds are repeated, and the median over rounds counts, so that a change of the GPU's clock meets everybody.
Batches of ResNet-50's shapes are chosen so large that no cache holds a tensor.

    python benchmarks/gpu.py --output build/gpu.md
    python benchmarks/gpu.py --tiny --device cpu         that it works; the figures say nothing

`make gpu-check` runs it after the tests.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases import DTYPES, LAYOUTS, RESNET50, Case
from gpu_calls import PASSES, Call, Ours, Torch, torch_stream, torch_version

import pybn_api as bn

ROOT = Path(__file__).resolve().parent.parent
TINY = ((2, 8, 4, 4), (3, 5, 7, 2))
ITEM_SIZES = {"float32": 4, "float16": 2, "bfloat16": 2}


@dataclass(frozen=True)
class Settings:
    rounds: int
    calls: int  # of one contender in a round
    tensor_bytes: int  # a tensor has at least so many; 0: the tiny shapes


@dataclass(frozen=True)
class Row:
    """Median milliseconds of one call, per contender."""

    case: Case
    milliseconds: dict[str, float]

    @property
    def bytes(self) -> int:
        n, c, h, w = self.case.shape
        return PASSES[self.case.op] * n * c * h * w * ITEM_SIZES[self.case.dtype]

    def cells(self) -> list[str]:
        ours, copy = self.milliseconds["ours"], self.milliseconds["copy"]
        theirs = self.milliseconds.get("torch")
        # The copy reads and writes one tensor.
        ideal = copy / 2 * PASSES[self.case.op]
        return [
            f"{self.case.op} {'x'.join(map(str, self.case.shape))}",
            f"{ours:.4g}",
            f"{self.bytes / ours / 1e6:.4g}",
            f"{ideal / ours:.0%}",
            "-" if theirs is None else f"{theirs:.4g}",
            "-" if theirs is None else f"{theirs / ours:.2f}",
        ]


def shapes(dtype: str, settings: Settings) -> Iterator[tuple[int, int, int, int]]:
    if settings.tensor_bytes == 0:
        yield from TINY
        return
    for channels, side in RESNET50:
        image = channels * side * side * ITEM_SIZES[dtype]
        batch = -(-settings.tensor_bytes // image)
        yield -(-batch // 32) * 32, channels, side, side


def sample(call: Call, calls: int, stream: bn.Stream, events: tuple[bn.Event, bn.Event]) -> float:
    """Milliseconds per call."""
    start, end = events
    start.record(stream)
    for _ in range(calls):
        call()
    end.record(stream)
    end.synchronize()
    return start.elapsed_ms(end) / calls


def time_case(case: Case, contenders: dict[str, Call], stream: bn.Stream, settings: Settings) -> Row:
    events = bn.Event(), bn.Event()
    for name, call in list(contenders.items()):
        try:
            sample(call, 2, stream, events)  # first calls load kernels and get memory
        except RuntimeError as problem:
            if name != "torch":
                raise
            print(f"{case}: PyTorch: {str(problem)[:80]}", file=sys.stderr)
            del contenders[name]
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(settings.rounds):
        for name, call in contenders.items():
            samples[name].append(sample(call, settings.calls, stream, events))
    return Row(case, {name: statistics.median(times) for name, times in samples.items()})


def measure(device: bn.Device, settings: Settings) -> Iterator[Row]:
    with_torch = torch_version(device) is not None
    stream = bn.Stream(device)
    for dtype in DTYPES:
        for shape in shapes(dtype, settings):
            for layout in LAYOUTS:
                tensor = Case("stats", dtype, layout, shape).bytes()
                free, _ = device.memory_info()
                if 9 * tensor > free:
                    print(f"{shape} {dtype}: left out, {free >> 20} MiB are free", file=sys.stderr)
                    continue
                yield from measure_tensors(Case("", dtype, layout, shape), stream, with_torch, settings)


def measure_tensors(like: Case, stream: bn.Stream, with_torch: bool, settings: Settings) -> Iterator[Row]:
    """Every operation on tensors of one shape, type and layout."""
    ours = Ours(like, stream)
    with torch_stream(stream) if with_torch else nullcontext():
        torch = Torch(like, stream.device) if with_torch else None
        stream.device.synchronize()
        for operation in PASSES:
            contenders = {"copy": ours.copy(), "ours": ours.call(operation)}
            if torch is not None:
                contenders["torch"] = torch.call(operation)
            yield time_case(
                Case(operation, like.dtype, like.layout, like.shape), contenders, stream, settings
            )
        stream.device.synchronize()


def machine(device: bn.Device) -> dict[str, str]:
    driver = "no driver"
    tool = shutil.which("nvidia-smi")
    if tool is not None and device.type == "cuda":
        query = [tool, f"--id={device.ordinal}", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        driver = "driver " + subprocess.run(query, capture_output=True, text=True).stdout.strip()
    torch = torch_version(device)
    return {
        "device": device.name,
        "driver": driver,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "command": "python " + " ".join(sys.argv),
        "library": bn.build_info(),
        "torch": "without PyTorch" if torch is None else f"PyTorch {torch}",
    }


HEAD = (
    "| operation, shape | ms | GB/s | of a copy | PyTorch (ms) | times faster |",
    "|---|---|---|---|---|---|",
)
EXPLANATION = (
    "Milliseconds are medians over {rounds} rounds of {calls} calls each. GB/s count each pass over the data"
    " that an operation needs once no cache holds a tensor: {passes}. *Of a copy* is the time that a copy on"
    " the same device needs for so many bytes, over the time of the operation. PyTorch's operators are"
    " `batch_norm_stats`, `batch_norm_backward_reduce`, `batch_norm_elemt`, `batch_norm_backward_elemt`,"
    " `native_batch_norm` and `native_batch_norm_backward`."
)


def page(rows: list[Row], about: dict[str, str], settings: Settings) -> str:
    passes = ", ".join(f"{name} {count}" for name, count in PASSES.items())
    lines = [
        "# Measurements on a GPU",
        "",
        f"Measured on {about['date']} on {about['device']}, {about['driver']}, {about['torch']}, with"
        f" `{about['command']}`.",
        "",
        f"Library: {about['library']}",
        "",
        EXPLANATION.format(rounds=settings.rounds, calls=settings.calls, passes=passes),
        "",
    ]
    for dtype in DTYPES:
        for layout in LAYOUTS:
            part = [row for row in rows if (row.case.dtype, row.case.layout) == (dtype, layout)]
            if part:
                table = ["| " + " | ".join(row.cells()) + " |" for row in part]
                lines += [f"## {dtype}, {layout.replace('_', ' ')}", "", *HEAD, *table, ""]
    return "\n".join(lines)


def find(kind: str) -> bn.Device:
    for device in bn.Device.all():
        if device.type == kind:
            return device
    sys.exit(f"gpu.py: no {kind} device: {bn.build_info()}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small shapes and few rounds, to try it out")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=10, help="calls in a contender's turn")
    parser.add_argument("--megabytes", type=int, default=256, help="least size of a tensor")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "gpu.md")
    arguments = parser.parse_args()
    settings = Settings(arguments.rounds, arguments.calls, arguments.megabytes << 20)
    if arguments.tiny:
        settings = Settings(2, 2, 0)

    device = find(arguments.device)
    about = machine(device)
    print(f"{about['device']}, {about['driver']}, {about['torch']}", file=sys.stderr)
    rows: list[Row] = []
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with device:
        for row in measure(device, settings):
            print(f"{row.case.dtype} {row.case.layout} " + " ".join(row.cells()), file=sys.stderr)
            rows.append(row)
            # After every row: what is measured is kept, whatever comes.
            arguments.output.write_text(page(rows, about, settings))
    everything: list[dict[str, Any]] = [{**vars(row.case), "milliseconds": row.milliseconds} for row in rows]
    arguments.output.with_suffix(".json").write_text(
        json.dumps({"machine": about, "results": everything}, indent=1)
    )


if __name__ == "__main__":
    main()
