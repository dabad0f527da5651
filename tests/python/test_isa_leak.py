"""No instruction of a newer CPU outside the objects that are compiled for it.

Looked for in the linked library, not in the objects: where several objects hold the same inline function the
linker keeps one copy, and that copy must not be the AVX one.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("BNAPI_PRESET", "dev")
LIBRARY = ROOT / "build" / PRESET / "lib" / "libbn_api.so"

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="about x86-64"),
    pytest.mark.skipif(
        PRESET not in {"dev", "simt"}, reason="reads the symbols of an unsanitized build tree"
    ),
    pytest.mark.skipif(shutil.which("objdump") is None, reason="needs binutils"),
]

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\t(\S+)\s*(.*)")
# What VEX and EVEX encode begins with v (but for a few system instructions); BMI instructions beside it.
NEWER = re.compile(
    r"^(?!verr|verw|vm(call|clear|launch|mcall|ptr|read|resume|write|xo))v[a-z]"
    r"|^(andn|bextr|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx|blsi|blsr|blsmsk)$"
    r"|^k(mov|and|or|xor|not|test|unpck|shift|add)"
)
ALLOWED = re.compile(r"\bavx2::|\bavx512::")


def functions_with_newer_instructions() -> Iterator[tuple[str, str]]:
    """Pairs of function and its first such instruction."""
    command = ["objdump", "-d", "-C", "--no-show-raw-insn", "--section=.text", str(LIBRARY)]
    function, reported = "", False
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if match := FUNCTION.match(line):
                function, reported = match[1], False
            elif not reported and (match := INSTRUCTION.match(line)) and NEWER.match(match[1]):
                reported = True
                yield function, f"{match[1]} {match[2]}".strip()


@pytest.fixture(scope="module")
def found() -> list[tuple[str, str]]:
    return list(functions_with_newer_instructions())


def test_the_search_sees_such_instructions(found: list[tuple[str, str]]) -> None:
    assert any("avx2::" in function for function, _ in found)
    assert any("avx512::" in function for function, _ in found)


def test_none_outside_the_objects_made_for_them(found: list[tuple[str, str]]) -> None:
    leaks = [f"{function}: {what}" for function, what in found if not ALLOWED.search(function)]
    assert leaks == []
