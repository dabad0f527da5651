"""Builds the compiled peers of the benchmark into build/bench; fetches oneDNN's releases from PyPI.

A release that cannot be had is left out, with a line that says so: the benchmark then runs with fewer peers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / "peers"

# Two releases of oneDNN, since the newer one is not faster everywhere: the last wheel built on GNU
# OpenMP, and the current one.
ONEDNN = {
    "2023.2": ["onednn-cpu-gomp==2023.2.0", "onednn-devel-cpu-gomp==2023.2.0"],
    "2026.1": ["onednn==2026.1.0", "onednn-devel==2026.1.0"],
}


def compile_peer(source: str, output: Path, *flags: str) -> None:
    newest = max(p.stat().st_mtime for p in (PEERS / source, PEERS / "peer.h"))
    if output.exists() and output.stat().st_mtime > newest:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    command = ["g++", "-O3", "-std=c++17", str(PEERS / source), "-o", str(output), "-pthread", *flags]
    subprocess.run(command, check=True)


def build_onednn(release: str, packages: list[str], folder: Path) -> None:
    """A virtual environment holds the wheel: its libraries land in lib/, its headers in include/."""
    if not (folder / "bench_onednn").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
    lib = folder / "lib"
    # The linker is told where to find what the library itself needs; it is not asked to resolve it all.
    flags = [f"-I{folder / 'include'}", f"-L{lib}", "-ldnnl", f"-Wl,-rpath,{lib}", "-Wl,--disable-new-dtags"]
    compile_peer("onednn.cpp", folder / "bench_onednn", *flags, "-Wl,--allow-shlib-undefined")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--library", type=Path, default=ROOT / "build" / "release" / "lib", help="folder of libbn_api.so"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench")
    arguments = parser.parse_args()
    library = arguments.library.resolve()
    compile_peer("traffic.cpp", arguments.output / "bench_traffic", "-march=native")
    compile_peer(
        "bn_api.cpp",
        arguments.output / "bench_bn_api",
        f"-I{ROOT / 'include'}",
        f"-L{library}",
        "-lbn_api",
        f"-Wl,-rpath,{library}",
    )
    for release, packages in ONEDNN.items():
        try:
            build_onednn(release, packages, arguments.output / "onednn" / release)
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"oneDNN {release} is left out: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
