"""The installed library, moved, as other builds see it: CMake package, pkg-config, plain flags."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from commands import run

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("BNAPI_PRESET", "dev")
BUILD = ROOT / "build" / PRESET
PROGRAM = ROOT / "tests" / "install" / "program.c"
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
LANGUAGES = {"c99": ["gcc", "-std=c99"], "c++11": ["g++", "-std=c++11", "-x", "c++"]}

pytestmark = pytest.mark.skipif(
    PRESET in {"asan", "tsan", "simt", "installed"},
    reason="links programs against the plain library of a build tree",
)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation that was moved after it was made."""
    made = tmp_path_factory.mktemp("made") / "here"
    run("cmake", "--install", BUILD, "--prefix", made)
    moved = tmp_path_factory.mktemp("moved") / "some where else"
    shutil.move(made, moved)
    return moved


def test_what_is_installed(prefix: Path) -> None:
    for name in ("lib/libbn_api.so", "lib/pkgconfig/bn_api.pc", "lib/cmake/bn_api/bn_api-config.cmake"):
        assert (prefix / name).is_file(), name
    installed = {str(path.relative_to(prefix / "include")) for path in prefix.glob("include/bn_api/*.h")}
    assert installed == {f"bn_api/{path.name}" for path in (ROOT / "include" / "bn_api").glob("*.h")}
    assert (prefix / "include" / "bn_api.h").is_file()
    assert not list(prefix.rglob("*.py"))


def test_no_file_knows_where_it_was_made(prefix: Path) -> None:
    texts = [path for path in prefix.rglob("*") if path.suffix in {".cmake", ".pc", ".sh"}]
    assert texts
    for path in texts:
        content = path.read_text()
        assert str(ROOT) not in content, path
        assert "/made" not in content, path


def test_find_package(prefix: Path, tmp_path: Path) -> None:
    run("cmake", "-S", PROGRAM.parent, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    for name in ("program_c", "program_cpp"):
        assert "installed bn_api works" in run(tmp_path / name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_pkg_config(prefix: Path, language: str, tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config on this machine")
    search = str(prefix / "lib" / "pkgconfig")
    # Blanks in a path come out of pkg-config escaped, as a shell wants them.
    command = (
        f"{' '.join(LANGUAGES[language])} {' '.join(STRICT)} '{PROGRAM}' -x none -o '{tmp_path}/program' "
        "$(pkg-config --cflags --libs bn_api)"
    )
    run("sh", "-c", f'eval "{command}"', PKG_CONFIG_PATH=search)
    assert "works" in run(tmp_path / "program", LD_LIBRARY_PATH=str(prefix / "lib"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_flags(prefix: Path, language: str, tmp_path: Path) -> None:
    run(
        *LANGUAGES[language],
        *STRICT,
        PROGRAM,
        *("-x", "none", "-I", prefix / "include", "-L", prefix / "lib", "-lbn_api"),
        *(f"-Wl,-rpath,{prefix / 'lib'}", "-o", tmp_path / "program"),
    )
    assert "works" in run(tmp_path / "program")
