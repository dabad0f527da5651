"""`python -m pybn_api`: where the package's C side lies, and whether it works here."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def prefix() -> Path:
    """The install prefix that the package carries: lib, include, and the Ascend tree."""
    if not (PACKAGE / "include" / "bn_api.h").exists():
        raise SystemExit(
            f"{PACKAGE} carries no headers, as in a source tree: install it with pip, or use make install."
        )
    return PACKAGE


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pybn_api", description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--prefix", action="store_true", help="the directory with include/ and lib/")
    where.add_argument("--cflags", action="store_true", help="C and C++ compiler flags, quoted for a shell")
    where.add_argument("--libs", action="store_true", help="linker flags, with a run path")
    where.add_argument("--cmakedir", action="store_true", help="for CMake: -Dbn_api_DIR=...")
    where.add_argument("--ascend-home", action="store_true", help="for programs written for aclnn")
    where.add_argument("--version", action="store_true", help="the library's version")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("doctor", help="devices, and a self-test of every operator on each")
    bench = commands.add_parser("bench", help="bandwidth of the operators on this machine")
    bench.add_argument("--quick", action="store_true", help="one shape, a few seconds")
    bench.add_argument("--plot", type=Path, help="write a roofline plot (needs matplotlib)")
    options = parser.parse_args(arguments)

    if options.prefix:
        print(prefix())
    elif options.cflags:
        print(shlex.quote(f"-I{prefix() / 'include'}"))
    elif options.libs:
        lib = prefix() / "lib"
        print(shlex.join([f"-L{lib}", "-lbn_api", f"-Wl,-rpath,{lib}"]))
    elif options.cmakedir:
        print(prefix() / "lib" / "cmake" / "bn_api")
    elif options.ascend_home:
        print(prefix() / "ascend")
    elif options.version:
        import pybn_api

        print(pybn_api.__version__)
    elif options.command == "doctor":
        from pybn_api.doctor import doctor

        return doctor()
    elif options.command == "bench":
        from pybn_api.bench import bench as run

        run(quick=options.quick, plot=options.plot)
    else:
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
