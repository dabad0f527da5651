"""Refuses what should not be committed: large or binary files, over-long sources, trailing blanks, tabs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST_BYTES = 500_000
LONGEST_LINES = 900
SOURCES = {".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".py"}
TEXT = SOURCES | {".cmake", ".json", ".md", ".sh", ".toml", ".txt", ".yaml", ".yml"}
PICTURES = {".png", ".svg"}


def complaints(path: Path) -> list[str]:
    found: list[str] = []
    data = path.read_bytes()
    if len(data) > LARGEST_BYTES:
        found.append(f"{len(data)} bytes: more than {LARGEST_BYTES}")
    if b"\0" in data:
        if path.suffix not in PICTURES:
            found.append("a binary file")
        return found
    lines = data.decode().splitlines()
    if path.suffix in SOURCES and len(lines) > LONGEST_LINES:
        found.append(f"{len(lines)} lines: more than {LONGEST_LINES}")
    if path.suffix in TEXT:
        found += [f"line {n}: blank at the end" for n, line in enumerate(lines, 1) if line != line.rstrip()]
        found += [f"line {n}: tab" for n, line in enumerate(lines, 1) if "\t" in line]
        if data and not data.endswith(b"\n"):
            found.append("no newline at the end")
    return found


def main() -> int:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    failed = False
    for name in filter(None, names.decode().split("\0")):
        path = ROOT / name
        if path.is_symlink() or not path.is_file():
            continue
        for complaint in complaints(path):
            print(f"{name}: {complaint}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
