"""What `make cuda-report` makes of ptxas's words: a kernel with local memory of any kind does not pass."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

path = Path(__file__).resolve().parents[1] / "simt" / "ptxas.py"
_spec = importlib.util.spec_from_file_location("bn_simt_ptxas", path)
assert _spec is not None and _spec.loader is not None
ptxas = sys.modules["bn_simt_ptxas"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(ptxas)


def entry(name: str, frames: str, used: str) -> str:
    return (
        f"ptxas info    : Compiling entry function '{name}' for 'sm_90'\n"
        f"ptxas info    : Function properties for {name}\n{frames}"
        f"ptxas info    : Used {used}\nptxas info    : Compile time = 78.805 ms\n"
    )


NO_FRAME = "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
CLEAN = entry("clean", NO_FRAME, "44 registers, used 0 barriers, 1024 bytes smem, 520 bytes cmem[0]")
WRONG = {
    "stores": entry("k", NO_FRAME.replace("0 bytes spill stores", "8 bytes spill stores"), "255 registers"),
    "loads": entry("k", NO_FRAME.replace("0 bytes spill loads", "12 bytes spill loads"), "255 registers"),
    "stack": entry(
        "k", "    40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n", "9 registers"
    ),
    "cumulative": entry("k", NO_FRAME, "30 registers, used 1 barriers, 32 bytes cumulative stack size"),
    "local": entry("k", NO_FRAME, "30 registers, 16 bytes lmem"),
    # A function that was not made part of the kernel.
    "callee": entry(
        "k",
        NO_FRAME
        + "ptxas info    : Function properties for callee\n"
        + "    0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n",
        "30 registers",
    ),
}


def test_a_kernel_without_local_memory():
    (kernel,) = ptxas.parse("ptxas info    : 0 bytes gmem\n" + CLEAN)
    assert (kernel.kernel, kernel.registers, kernel.shared) == ("clean", 44, 1024)
    assert not kernel.wrong
    assert ptxas.print_tables([ptxas.Compiled("a.cu", "sm_90", [kernel], 1.0)]) == 0


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_kernels_with_local_memory(text, capsys):
    kernels = ptxas.parse(CLEAN + text + CLEAN)
    assert [kernel.wrong for kernel in kernels] == [False, True, False]
    assert ptxas.print_tables([ptxas.Compiled("a.cu", "sm_90", kernels, 1.0)]) == 1
    assert capsys.readouterr().out.count("LOCAL MEMORY") == 1


@pytest.mark.parametrize(
    "text", [entry("k", "", "30 registers"), entry("k", NO_FRAME, "30 shoes")], ids=["frame", "registers"]
)
def test_words_that_are_not_understood(text):
    with pytest.raises(ValueError, match="something else"):
        ptxas.parse(text)


def test_without_a_compiler(monkeypatch):
    """Nothing known is not the same as nothing wrong."""
    monkeypatch.setenv("PATH", "")
    assert not ptxas.report(["sm_90"], 1)
