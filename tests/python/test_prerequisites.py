"""On a machine that lacks something, the front door names the packages to install and stops."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "check_prerequisites.sh"
TOOLS = ("sh", "g++", "gcc", "cc", "c++", "env", "dirname")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A directory with the programs of a complete machine, python3 a script that a test may replace."""
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            (tmp_path / name).symlink_to(found)
    python(tmp_path, "exit 0")
    return tmp_path


def python(machine: Path, body: str) -> None:
    """Puts a python3 there that runs `body` for each question; $2 is the question."""
    path = machine / "python3"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def check(machine: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(machine)}
    return subprocess.run(["/bin/sh", str(SCRIPT)], env=environment, text=True, capture_output=True)


def test_a_complete_machine_passes_in_silence(machine: Path) -> None:
    result = check(machine)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("lacking", "answer", "package"),
    [
        ("venv", 'case "$2" in *ensurepip*) exit 1;; esac; exit 0', "python3-venv"),
        ("headers", 'case "$2" in *Python.h*) exit 1;; esac; exit 0', "python3-dev"),
    ],
)
def test_python_without_a_part(machine: Path, lacking: str, answer: str, package: str) -> None:
    python(machine, answer)
    result = check(machine)
    assert result.returncode == 1
    assert result.stderr.splitlines()[0].split("Install: ")[1].split() == [package], lacking


def test_no_compiler(machine: Path) -> None:
    for name in ("g++", "c++"):
        (machine / name).unlink(missing_ok=True)
    result = check(machine)
    assert result.returncode == 1
    assert "Install: g++" in result.stderr


def test_no_python(machine: Path) -> None:
    (machine / "python3").unlink()
    result = check(machine)
    assert result.returncode == 1
    assert "python3 python3-venv python3-dev" in result.stderr


def test_old_python(machine: Path) -> None:
    python(machine, 'case "$1" in -V) echo "Python 3.8.18"; exit 0;; esac; exit 1')
    result = check(machine)
    assert result.returncode == 1
    assert "3.10" in result.stderr
    assert "3.8.18" in result.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_stops_there(machine: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """`make` itself stops before it makes anything, with that message as its last word."""
    python(machine, 'case "$2" in *ensurepip*) exit 1;; esac; exit 0')
    venv = tmp_path_factory.mktemp("make") / "venv"
    command = [
        shutil.which("make") or "make",
        "-C",
        str(ROOT),
        "demo",
        f"PYTHON={machine / 'python3'}",
        f"VENV={venv}",
    ]
    # Without a sanitizer's library, which would watch make itself.
    environment = {
        name: value for name, value in os.environ.items() if name not in {"LD_PRELOAD", "MAKEFLAGS"}
    }
    result = subprocess.run(
        command, env=environment, text=True, capture_output=True, stdin=subprocess.DEVNULL
    )
    assert result.returncode != 0
    assert "python3-venv" in result.stderr
    assert not (venv / "bin").exists()


def test_the_real_python_is_judged_as_it_is() -> None:
    """Run on this interpreter, the questions have the answers that this test's own machine gives."""
    result = subprocess.run(["/bin/sh", str(SCRIPT), sys.executable], text=True, capture_output=True)
    assert result.returncode == 0, result.stderr
