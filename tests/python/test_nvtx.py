"""Ranges for NVIDIA's profilers (backends/cuda/range.h), as a small profiler sees them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import run

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
#include "backends/cuda/range.h"

int main() {
  const bn::cuda::ProfilerRange outer("BatchNorm");
  const bn::cuda::ProfilerRange inner("BatchNormStats");
}
"""

# NVTX loads it into the program, and it takes the place of three of NVTX's functions.
PROFILER = """
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static nvtxDomainHandle_t create(const char* name) { return (nvtxDomainHandle_t)name; }

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return printf("%s begins %s\\n", (const char*)domain, attributes->message.ascii);
}

static int pop(nvtxDomainHandle_t domain) { return printf("%s ends\\n", (const char*)domain); }

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const NvtxExportTableCallbacks* callbacks = get(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned size;
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size);
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
"""
FLAGS = ("-Wall", "-Wextra", "-Werror")


@pytest.fixture
def program(tmp_path):
    source = tmp_path / "program.cpp"
    source.write_text(PROGRAM)

    def build(*flags: str) -> Path:
        run(
            "g++",
            "-std=c++17",
            *FLAGS,
            *flags,
            f"-I{ROOT / 'csrc'}",
            source,
            "-o",
            tmp_path / "program",
            "-ldl",
        )
        return tmp_path / "program"

    return build


def toolkit_headers(folder: Path) -> Path:
    """Where nvcc, if there is one, finds the headers of its toolkit."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("needs nvcc")
    (folder / "empty.cu").touch()
    command = [nvcc, "--dryrun", "-c", str(folder / "empty.cu")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    top = re.search(r"^#\$ TOP=(.*)$", said, re.M)
    assert top is not None, said
    headers = Path(top[1]) / "include"
    if not (headers / "nvtx3" / "nvToolsExt.h").exists():
        pytest.skip("needs NVTX in the CUDA toolkit")
    return headers


def test_a_profiler_sees_ranges(tmp_path, program):
    headers = f"-I{toolkit_headers(tmp_path)}"
    source, profiler = tmp_path / "profiler.c", tmp_path / "profiler.so"
    source.write_text(PROFILER)
    run("gcc", *FLAGS, "-shared", "-fPIC", headers, source, "-o", profiler)
    built = program(headers)
    assert run(built) == ""
    assert run(built, NVTX_INJECTION64_PATH=str(profiler)).splitlines() == [
        "bn_api begins BatchNorm",
        "bn_api begins BatchNormStats",
        "bn_api ends",
        "bn_api ends",
    ]


def test_without_nvtx(program):
    """The compiler that CMake fetches comes without its header."""
    assert run(program()) == ""
