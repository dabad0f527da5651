"""The public headers compile alone, in every language standard that callers use, without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
HEADERS = ["bn_api.h", *sorted(f"bn_api/{path.name}" for path in (INCLUDE / "bn_api").glob("*.h"))]
COMPILERS = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if all(map(shutil.which, pair))]
STANDARDS = ["c99", "c11", "c++11", "c++20"]


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("pair", COMPILERS, ids=lambda pair: pair[0])
def test_each_header_compiles_alone(pair: tuple[str, str], standard: str, tmp_path: Path) -> None:
    language = "c++" if "++" in standard else "c"
    for header in HEADERS:
        source = tmp_path / "alone.c"
        # Twice: the include guard is part of the promise.
        source.write_text(f'#include "{header}"\n#include "{header}"\n')
        compiler = pair[language == "c++"]
        flags = [f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
        command = [compiler, *flags, "-I", str(INCLUDE), "-x", language, str(source)]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, f"{header}: {result.stderr}"


def test_the_umbrella_includes_every_header() -> None:
    umbrella = (INCLUDE / "bn_api.h").read_text()
    missing = [header for header in HEADERS[1:] if f'#include "{header}"' not in umbrella]
    assert not missing
