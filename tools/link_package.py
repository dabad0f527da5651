"""Makes build/<preset>/python/pybn_api: the package as links to its sources, beside the built C module.

Tests and samples run from there, so an edited Python file needs no build, and each preset has its own module.
"""

from __future__ import annotations

import argparse
from pathlib import Path

PATTERNS = ("*.py", "*.pyi", "py.typed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("destination", type=Path)
    arguments = parser.parse_args()
    source, destination = arguments.source.resolve(), arguments.destination

    wanted = {path.relative_to(source) for pattern in PATTERNS for path in source.rglob(pattern)}
    for link in destination.rglob("*"):
        if link.is_symlink() and link.relative_to(destination) not in wanted:
            link.unlink()
    for name in sorted(wanted):
        link = destination / name
        if link.is_symlink() and link.readlink() == source / name:
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(source / name)


if __name__ == "__main__":
    main()
