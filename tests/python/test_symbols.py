"""What libbn_api.so shows to the linker: bnapi* functions with a version, a plain name, few needs."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from commands import run

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("BNAPI_PRESET", "dev")
LIBRARY = ROOT / "build" / PRESET / "lib" / "libbn_api.so"
SYSTEM_LIBRARIES = {
    "libc",
    "libm",
    "libdl",
    "librt",
    "libpthread",
    "libstdc++",
    "libgcc_s",
    "ld-linux-x86-64",
}

pytestmark = [
    pytest.mark.skipif(PRESET == "installed", reason="looks at the library of a build tree"),
    pytest.mark.skipif(shutil.which("nm") is None, reason="needs binutils"),
]


def exported() -> dict[str, str]:
    """Symbol to version, for what the library defines."""
    listing = run("nm", "-D", "--defined-only", "--with-symbol-versions", str(LIBRARY))
    symbols: dict[str, str] = {}
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # the version's own node
            symbol, _, version = name.partition("@@")
            symbols[symbol] = version
    return symbols


def declared() -> set[str]:
    """The functions that the public headers promise."""
    names: set[str] = set()
    for header in (ROOT / "include" / "bn_api").glob("*.h"):
        names |= set(re.findall(r"BNAPI_EXPORT[^;(]*?\b(bnapi\w+)\(", header.read_text()))
    return names


def test_only_bnapi_symbols_each_with_its_version() -> None:
    symbols = exported()
    assert symbols
    assert [name for name in symbols if not name.startswith("bnapi")] == []
    assert set(symbols.values()) == {"BNAPI_0.1"}


def test_every_declared_function_is_exported() -> None:
    assert declared() - exported().keys() == set()


def test_what_is_exported_beyond_the_headers_serves_the_forwarders() -> None:
    beyond = exported().keys() - declared()
    assert [name for name in beyond if not name.startswith("bnapiAscend")] == []


def test_every_export_meets_failing_allocations() -> None:
    """A new function needs a case in the test that makes allocations fail."""
    sources = (ROOT / "tests" / "c" / "robust").glob("alloc_failure*")
    words = set(re.findall(r"\w+", "".join(path.read_text() for path in sources)))
    words |= {"bnapiStreamFromNative"}  # of CUDA streams only; refused before anything is made
    assert sorted(exported().keys() - words) == []


def test_soname_and_needs() -> None:
    dynamic = run("readelf", "-d", str(LIBRARY))
    assert re.search(r"SONAME.*\[(.+)\]", dynamic)[1] == "libbn_api.so"  # type: ignore[index]
    assert "TEXTREL" not in dynamic
    needed = {name.split(".so")[0] for name in re.findall(r"NEEDED.*\[(.+)\]", dynamic)}
    if PRESET not in {"asan", "tsan", "simt"}:
        assert needed <= SYSTEM_LIBRARIES
        assert "RPATH" not in dynamic
        assert "RUNPATH" not in dynamic


def test_the_stack_is_not_executable() -> None:
    headers = run("readelf", "-lW", str(LIBRARY))
    stack = next(line for line in headers.splitlines() if "GNU_STACK" in line)
    assert "RWE" not in stack
