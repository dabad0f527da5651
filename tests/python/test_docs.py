"""Every code block of the documentation runs.

Blocks of Python run page by page, each page in a process of its own; a comment behind a `print` is what it
prints. C programs are compiled and run, and the block that follows shows their output; fragments of C are
compiled in a function that declares what they use. Commands are run, or, those that build or install, looked
up.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import run

import pybn_api

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("BNAPI_PRESET", "dev")
BUILD = ROOT / "build" / PRESET
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
# Languages that are no code: output, formulas, messages, drawings.
SILENT = {"text", "mermaid"}

plain_build = pytest.mark.skipif(
    PRESET in {"asan", "tsan", "simt", "installed"},
    reason="links programs against the plain library of a build tree",
)


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str
    shown: str | None  # the block of text that follows, if only a few words lie between

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    found = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        after = re.match(r"\s*(?:It prints\s*)?```text\n(.*?)```", text[match.end() :], re.DOTALL)
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, match[1], match[2], after[1] if after else None))
    return found


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def blocks(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def test_every_block_is_of_a_kind_that_runs():
    known = {"python", "c", "cmake", "bash"} | SILENT
    assert [str(block) for block in BLOCKS if block.language not in known] == []
    for language in ("python", "c", "cmake", "bash"):
        assert blocks(language)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_code_hides_in_an_indented_block(page):
    """Four spaces make a block as well, which has no language and would not be found here."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    paragraphs = re.findall(r"\n\n((?:    .*\n)+)", text)
    # Continued items of lists are indented, too.
    assert [p for p in paragraphs if not re.match(r"\s+[-*\d]", p)] == []


# ---- Python


def expected_prints(code: str) -> list[str]:
    return re.findall(r"^\s*print\(.*\)  # (.*)$", code, re.MULTILINE)


@pytest.mark.parametrize("page", sorted({b.page for b in blocks("python")}), ids=lambda page: page.name)
def test_python(page, tmp_path):
    code = "\n".join(block.text for block in blocks("python") if block.page == page)
    script = tmp_path / "page.py"
    script.write_text("import pybn_api\npybn_api.Device.cpu().use()\n" + code)
    printed = run(sys.executable, script, cwd=tmp_path).splitlines()
    wanted = expected_prints(code)
    assert [line for line in printed if line in wanted] == wanted


# ---- C and CMake

FRAGMENT = """
#include <stdbool.h>
#include <stdio.h>
#include "bn_api.h"
extern bnapiTensor *gradOut, *input, *mean, *invstd, *sumDy, *sumDyXmu, *gradWeight, *gradBias;
void fragment(void);
void fragment(void) {
%s
}
"""


@plain_build
@pytest.mark.parametrize("block", blocks("c"), ids=str)
def test_c(block, tmp_path):
    is_program = "int main(" in block.text
    code = block.text if is_program else FRAGMENT % block.text.replace('#include "bn_api.h"', "")
    source = tmp_path / "first.c"
    source.write_text(code)
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{ROOT / 'include'}"]
    if not is_program:
        run("gcc", *strict, "-c", source, "-o", tmp_path / "first.o")
        return
    library = BUILD / "lib"
    run("gcc", *strict, source, f"-L{library}", "-lbn_api", f"-Wl,-rpath,{library}", "-o", tmp_path / "first")
    assert run(tmp_path / "first", BNAPI_DEVICES="cpu") == block.shown


@plain_build
@pytest.mark.parametrize("block", blocks("cmake"), ids=str)
def test_cmake(block, tmp_path):
    """Against an installation, with the page's own C program."""
    program = next(b for b in blocks("c") if b.page == block.page and "int main(" in b.text)
    (tmp_path / "first.c").write_text(program.text)
    (tmp_path / "CMakeLists.txt").write_text(block.text)
    run("cmake", "--install", BUILD, "--prefix", tmp_path / "prefix")
    where = f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}"
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", where)
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "first", BNAPI_DEVICES="cpu") == program.shown


# ---- commands

# Run elsewhere: by the wheel's test, and by the test of the page on porting.
INSTALLS = ("pip install .", "pre-commit install")
ELSEWHERE = {"porting.md"}
OPTIONS = re.compile(r"python -m pybn_api (--\w[\w-]*|doctor|bench)")


@pytest.mark.parametrize("block", [b for b in blocks("bash") if b.page.name not in ELSEWHERE], ids=str)
def test_commands(block, tmp_path):
    for line in block.text.splitlines():
        command = line.partition("#")[0].strip()
        if command in INSTALLS or not command:
            continue
        if command.startswith("make "):
            targets = [word for word in command.split()[1:] if "=" not in word]
            makefile = (ROOT / "Makefile").read_text()
            for target in targets:
                assert re.search(rf"^{target}(?: .*)?:|^[\w ]* {target}[ :]", makefile, re.MULTILINE), target
        else:
            option = OPTIONS.match(command)
            assert option, f"a command that no test runs: {command}"
            if option[1] in ("doctor", "bench"):  # tests/python/test_main.py runs them
                continue
            result = subprocess.run(
                [sys.executable, *command.split()[1:]],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            # Only an installed package carries headers and libraries; here it says so.
            installed = (Path(pybn_api.__file__).parent / "include").exists()
            assert result.returncode == (0 if installed else 1), result.stderr
            assert installed or "carries no" in result.stderr


def test_every_status_is_explained():
    """docs/troubleshooting.md has a row for each, with the header's number."""
    header = (ROOT / "include" / "bn_api" / "types.h").read_text()
    statuses = re.findall(r"#define (BNAPI_ERR_\w+)\s*\\?\s*(\d+)", header)
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (\w+) \| \S.*\|$", page, re.MULTILINE)
    assert len(statuses) > 20
    assert sorted((name, code) for code, name in rows) == sorted(statuses)


def test_the_site_builds(tmp_path):
    """mkdocs, where it is installed, with dead links as errors."""
    if shutil.which("mkdocs") is None:
        pytest.skip("no mkdocs")
    run("mkdocs", "build", "--strict", "--site-dir", tmp_path / "site", cwd=ROOT, NO_MKDOCS_2_WARNING="1")
    assert (tmp_path / "site" / "getting-started" / "index.html").exists()
