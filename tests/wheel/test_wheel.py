"""The wheel in dist/ as a user meets it: a clean virtual environment, away from the source tree.

Run by `make wheel-test`, after `make wheel`. BNAPI_WHEELS names another directory to look in.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "install" / "program.c"
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


def run(*command: str | Path, cwd: Path) -> str:
    """Runs a command outside the source tree and returns what it printed; a failure shows it."""
    environment = {
        name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "BNAPI_PRESET"}
    }
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.fixture(scope="module")
def wheel() -> Path:
    directory = ROOT / os.environ.get("BNAPI_WHEELS", "dist")
    wheels = sorted(directory.glob("pybn_api-*.whl"), key=lambda path: path.stat().st_mtime)
    assert wheels, f"no wheel in {directory}: make wheel"
    return wheels[-1]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("away from the sources")


@pytest.fixture(scope="module")
def python(wheel: Path, place: Path) -> Path:
    """The interpreter of a clean virtual environment that holds the wheel and what it requires."""
    directory = place / "venv"
    venv.create(directory, with_pip=True)
    interpreter = directory / "bin" / "python"
    run(interpreter, "-m", "pip", "install", "--quiet", wheel, cwd=place)
    return interpreter


def ask(python: Path, option: str, place: Path) -> str:
    return run(python, "-m", "pybn_api", option, cwd=place).strip()


def test_what_the_wheel_carries(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "pybn_api/__init__.py",
        "pybn_api/py.typed",
        "pybn_api/_lib.pyi",
        "pybn_api/lib/libbn_api.so",
        "pybn_api/include/bn_api.h",
        "pybn_api/include/bn_api/types.h",
        "pybn_api/lib/cmake/bn_api/bn_api-config.cmake",
        "pybn_api/lib/pkgconfig/bn_api.pc",
        "pybn_api/ascend/include/acl/acl.h",
        "pybn_api/ascend/lib64/libascendcl.so",
    ):
        assert name in names, name
    modules = [name for name in names if name.startswith(("pybn_api/_lib.", "pybn_api/_caller."))]
    assert len([name for name in modules if name.endswith(".so")]) == 2, modules
    assert not [name for name in names if name.endswith((".cpp", ".o", "CMakeLists.txt")) or "tests/" in name]


def test_its_name_promises_every_later_python(wheel: Path) -> None:
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        assert "-cp310-abi3-" in wheel.name
    assert platform.machine() in wheel.name


def test_import_and_a_result(python: Path, place: Path) -> None:
    code = (
        "import numpy as np, pybn_api\n"
        "x = np.arange(24, dtype=np.float32).reshape(2, 3, 4); dy = np.ones_like(x)\n"
        "mean = x.mean(axis=(0, 2)); invstd = np.ones(3, np.float32)\n"
        "out = pybn_api.batch_norm_reduce_backward(dy, x, mean, invstd)\n"
        "assert out.grad_bias.tolist() == [8, 8, 8], out\n"
        "assert out.sum_dy_xmu.tolist() == [0, 0, 0], out\n"
        "print(pybn_api.__file__)"
    )
    where = run(python, "-c", code, cwd=place)
    assert str(place) in where


def test_doctor(python: Path, place: Path) -> None:
    run(python, "-m", "pybn_api", "doctor", cwd=place)


@pytest.mark.parametrize(("compiler", "language"), [("gcc", "c99"), ("g++", "c++11")])
def test_compile_with_its_flags(python: Path, place: Path, compiler: str, language: str) -> None:
    flags = shlex.split(ask(python, "--cflags", place))
    libs = shlex.split(ask(python, "--libs", place))
    source = place / ("program.c" if compiler == "gcc" else "program.cpp")
    source.write_text(PROGRAM.read_text())
    binary = place / f"program-{compiler}"
    run(compiler, f"-std={language}", *STRICT, *flags, source, *libs, "-o", binary, cwd=place)
    library_path = Path(ask(python, "--prefix", place)) / "lib"
    assert "works" in run("env", f"LD_LIBRARY_PATH={library_path}", binary, cwd=place)


def test_find_package(python: Path, place: Path) -> None:
    config = f"-Dbn_api_DIR={ask(python, '--cmakedir', place)}"
    run("cmake", "-S", PROGRAM.parent, "-B", place / "cmake", "-G", "Ninja", config, cwd=place)
    run("cmake", "--build", place / "cmake", cwd=place)
    assert "works" in run(place / "cmake" / "program_c", cwd=place)


def test_a_program_written_for_aclnn(python: Path, place: Path) -> None:
    """The vendor's own build line, with this package's directory for the vendor's."""
    home = Path(ask(python, "--ascend-home", place))
    source = ROOT / "samples" / "cpp" / "reduce_backward_ascend.cpp"
    libraries = ["-L", home / "lib64", "-lascendcl", "-lnnopbase", "-lopapi", f"-Wl,-rpath,{home / 'lib64'}"]
    binary = place / "ascend"
    run(
        "g++",
        "-std=c++11",
        "-Wall",
        "-Wextra",
        "-I",
        home / "include",
        source,
        *libraries,
        "-o",
        binary,
        cwd=place,
    )
    assert run(binary, cwd=place)
