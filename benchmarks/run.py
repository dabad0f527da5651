"""Times this library against its peers, side by side; report.py makes docs/performance.md of what it writes.

Every peer is a process of its own (benchmarks/peers). They take turns within a round, rounds are repeated,
and the median over rounds counts, so that a change in the machine's speed meets everybody. Between two turns
there is a rest, in which the threads of the peer before stop spinning: OpenMP's go on for some milliseconds.
The ceiling is measured the same way: the least memory traffic the operation needs (peers/traffic.cpp).

    python benchmarks/run.py --quick                 a few cases
    python benchmarks/run.py                         all of them, over an hour on 2 cores
    python benchmarks/run.py --only reduce_backward
    python benchmarks/run.py --resume                those that the results file does not have yet
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cases import CASES, QUICK, Case

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Peer:
    """A process that runs operations on demand."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None

    def ask(self, line: str) -> str:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=os.environ | self.environment,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline().strip() or "skip the peer ended"
        except BrokenPipeError:
            return "skip the peer ended"

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@dataclass
class Result:
    """Median seconds of one run, per peer."""

    case: Case
    seconds: dict[str, float]

    def best_peer(self) -> tuple[str, float] | None:
        peers = {n: s for n, s in self.seconds.items() if n not in ("ours (C)", "ours (Python)", "ceiling")}
        return min(peers.items(), key=lambda item: item[1]) if peers else None


def threads() -> int:
    return int(os.environ.get("BNAPI_NUM_THREADS", len(os.sched_getaffinity(0))))


def find_peers(build: Path, onednn: Path) -> list[Peer]:
    """The peers that are there: compiled ones from the build folder, the others as Python processes."""
    count = str(threads())
    pinned = {"OMP_NUM_THREADS": count, "BNAPI_NUM_THREADS": count}
    arrays = [sys.executable, str(ROOT / "benchmarks" / "peers" / "arrays.py")]
    found = [
        Peer("ceiling", [str(build / "bench_traffic"), count]),
        Peer("ours (C)", [str(build / "bench_bn_api")], pinned),
        Peer("ours (Python)", [*arrays, "ours"], pinned),
        Peer("PyTorch", [*arrays, "torch"], pinned),
        Peer("numpy", [*arrays, "numpy"], pinned),
    ]
    for program in sorted(onednn.glob("*/bench_onednn")):
        lib = program.parent / "lib"
        # Current releases run on SYCL, whose CPU device is found through these; they talk by default.
        sycl = {
            "OCL_ICD_FILENAMES": str(lib / "libintelocl.so"),
            "LD_LIBRARY_PATH": str(lib),
            "ONEDNN_VERBOSE": "0",
        }
        found.append(Peer(f"oneDNN {program.parent.name}", [str(program)], pinned | sycl))
    return [p for p in found if Path(p.command[0]).exists()]


def time_case(case: Case, peers: list[Peer], rounds: int, turn: float, rest: float) -> Result:
    ready = [p for p in peers if p.ask(f"prepare {case.line()}") == "ok"]
    samples: dict[str, list[float]] = {p.name: [] for p in ready}
    for _ in range(rounds):
        for peer in ready:
            time.sleep(rest)
            answer = peer.ask(f"time {turn}")
            if not answer.startswith("skip"):
                samples[peer.name].append(float(answer))
    return Result(case, {name: statistics.median(times) for name, times in samples.items() if times})


def with_progress(cases: list[Case]) -> Iterator[Case]:
    try:
        from tqdm import tqdm

        yield from tqdm(cases, unit="case", file=sys.stderr)
    except ImportError:
        yield from cases


def machine() -> dict[str, str]:
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    flags = Path("/proc/cpuinfo").read_text()
    isa = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "baseline"
    return {
        "processor": f"{model}, {threads()} threads, {isa}",
        "date": time.strftime("%Y-%m-%d"),
        "command": "python " + " ".join(sys.argv),
    }


def show(results: list[Result]) -> None:
    for r in results:
        ours = r.seconds.get("ours (C)")
        if ours is None:
            print(f"{r.case}: not run")
            continue
        parts = [f"{name} {s * 1e3:.4g} ms" for name, s in r.seconds.items()]
        ceiling, best = r.seconds.get("ceiling"), r.best_peer()
        if ceiling:
            parts.append(f"ceiling/ours {ceiling / ours:.2f}")
        if best:
            parts.append(f"{best[0]}/ours {best[1] / ours:.2f}")
        print(f"{r.case}: " + ", ".join(parts))


def save(results: list[Result], path: Path, earlier: list[dict[str, Any]]) -> None:
    rows: list[dict[str, Any]] = json.loads(
        json.dumps([{"case": asdict(r.case), "seconds": r.seconds} for r in results])
    )
    measured = [row["case"] for row in rows]
    rows = [row for row in earlier if row["case"] not in measured] + rows
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), "results": rows}, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few cases only")
    parser.add_argument(
        "--only", default="", help="cases whose name contains this text (commas: any of them)"
    )
    parser.add_argument(
        "--peers", default="", help="peers whose name contains this text (commas: any of them)"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--turn", type=float, default=0.04, help="seconds that a peer runs in each round")
    parser.add_argument("--rest", type=float, default=0.02, help="seconds between two turns")
    parser.add_argument("--append", action="store_true", help="keep other cases that the results file has")
    parser.add_argument("--resume", action="store_true", help="time only the cases that it does not have")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "bench", help="where the compiled peers are"
    )
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench" / "results.json")
    arguments = parser.parse_args()

    def chosen(name: str, words: str) -> bool:
        return not words or any(w in name for w in words.split(","))

    cases = [c for c in (QUICK if arguments.quick else CASES) if chosen(str(c), arguments.only)]
    peers = [
        p for p in find_peers(arguments.build, arguments.build / "onednn") if chosen(p.name, arguments.peers)
    ]
    print("peers: " + ", ".join(p.name for p in peers), file=sys.stderr)
    earlier: list[dict[str, Any]] = []
    if (arguments.append or arguments.resume) and arguments.json.exists():
        earlier = json.loads(arguments.json.read_text())["results"]
    if arguments.resume:
        known = {Case.from_json(row["case"]) for row in earlier}
        cases = [c for c in cases if c not in known]
    results: list[Result] = []
    try:
        for case in with_progress(cases):
            results.append(time_case(case, peers, arguments.rounds, arguments.turn, arguments.rest))
            show(results[-1:])
            save(results, arguments.json, earlier)
    finally:
        for peer in peers:
            peer.stop()


if __name__ == "__main__":
    main()
