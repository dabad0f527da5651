"""The Ascend headers: clean in every language standard, with the vendor's names, numbers and signatures,
and made from one table that is current."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include" / "ascend"
PROGRAMS = ROOT / "tests" / "c" / "ascend"
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h"))
COMPILERS = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if all(map(shutil.which, pair))]
STRICT = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]

# The operators of the interface, by header; kept apart from the table that makes our headers.
OPERATORS = {
    "batch_norm": "BatchNorm",
    "batch_norm_backward": "BatchNormBackward",
    "batch_norm_backward_reduce": "BatchNormReduceBackward",
    "batch_norm_elemt": "BatchNormElemt",
    "batch_norm_elemt_backward": "BatchNormElemtBackward",
    "batch_norm_gather_stats_with_counts": "BatchNormGatherStatsWithCounts",
    "batch_norm_reduce": "BatchNormReduce",
    "batch_norm_stats": "BatchNormStats",
    "fast_batch_norm_backward": "FastBatchNormBackward",
    "quantized_batch_norm": "QuantizedBatchNorm",
    "sync_batch_norm_gather_stats": "SyncBatchNormGatherStats",
}


def compile_text(text: str, tmp_path: Path, command: list[str], *flags: str) -> None:
    source = tmp_path / "source.c"
    source.write_text(text)
    result = subprocess.run([*command, *flags, str(source)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def included(headers: list[str]) -> str:
    return "".join(f'#include "{header}"\n' for header in headers) + "int unit;\n"


@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20"])
@pytest.mark.parametrize("pair", COMPILERS, ids=lambda pair: pair[0])
def test_each_header_compiles_alone(pair: tuple[str, str], standard: str, tmp_path: Path) -> None:
    for header in HEADERS:
        command = [pair[1], "-x", "c++", f"-std={standard}"]
        compile_text(included([header, header]), tmp_path, command, *STRICT, "-pedantic", "-I", str(INCLUDE))


@pytest.mark.parametrize("pair", COMPILERS, ids=lambda pair: pair[0])
def test_each_header_is_also_c11(pair: tuple[str, str], tmp_path: Path) -> None:
    for header in HEADERS:
        command = [pair[0], "-x", "c", "-std=c11"]
        compile_text(included([header, header]), tmp_path, command, *STRICT, "-pedantic", "-I", str(INCLUDE))


def test_every_way_to_name_a_header(tmp_path: Path) -> None:
    names = [
        "aclnn/aclnn_base.h",
        "aclnn_base.h",
        "acl_meta.h",
        "aclnnop/aclnn_batch_norm_backward_reduce.h",
        "aclnnop/level2/aclnn_batch_norm_backward_reduce.h",
        "aclnn_batch_norm_backward_reduce.h",
    ]
    folders = [f"-I{INCLUDE}", f"-I{INCLUDE / 'aclnn'}", f"-I{INCLUDE / 'aclnnop'}"]
    compile_text(included(names), tmp_path, ["g++", "-x", "c++", "-std=c++11"], *STRICT, *folders)


def test_level2_holds_identical_copies() -> None:
    for path in (INCLUDE / "aclnnop").glob("*.h"):
        assert (INCLUDE / "aclnnop" / "level2" / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_client_may_bring_its_own_types(tmp_path: Path) -> None:
    text = """
#include <cstdint>
#define ACLNN_META
typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef int32_t aclnnStatus;
static const int OK = 7;  // ours, not the header's
#include "aclnn/acl_meta.h"
static_assert(OK == 7, "");
"""
    flags = [*STRICT, "-I", str(INCLUDE)]
    compile_text(text, tmp_path, ["g++", "-x", "c++", "-std=c++11"], *flags, "-Wno-unused-variable")


def test_what_programs_take_from_the_operator_headers_alone(tmp_path: Path) -> None:
    text = """
#include "aclnnop/aclnn_batch_norm_backward.h"
aclTensor* tensor; aclBoolArray* mask; aclrtStream stream; aclnnStatus status = OK;
int64_t wide; uint16_t narrow; size_t size; std::array<bool, 3> flags;
void leave() { free(nullptr); exit(ACLNN_SUCCESS); }
"""
    compile_text(text, tmp_path, ["g++", "-x", "c++", "-std=c++11"], *STRICT, "-I", str(INCLUDE))


@pytest.mark.parametrize("program", ["prototypes.cpp", "values.cpp"])
def test_names_numbers_and_signatures(program: str) -> None:
    command = ["g++", "-std=c++11", *STRICT, "-I", str(INCLUDE), str(PROGRAMS / program)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_generated_files_are_current() -> None:
    command = [sys.executable, str(ROOT / "csrc/ascend/generate.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_table_has_every_operator() -> None:
    table = tomllib.loads((ROOT / "csrc/ops/operators.toml").read_text())["operator"]
    assert {row["aclnn"]: row["name"] for row in table if "aclnn" in row} == OPERATORS
    assert {path.stem for path in (INCLUDE / "aclnnop").glob("*.h")} == {
        "aclnn_util",
        *(f"aclnn_{header}" for header in OPERATORS),
    }


KINDS = {
    "input": "const bnapiTensor*",
    "mutable": "bnapiTensor*",
    "inplace": "bnapiTensor*",
    "output": "bnapiTensor*",
    "scalar": "const bnapiScalar*",
    "bool_array": "const bnapiBoolArray*",
    "activation": "bnapiActivation",
}


def test_the_table_agrees_with_the_neutral_headers() -> None:
    rows = tomllib.loads((ROOT / "csrc/ops/operators.toml").read_text())["operator"]
    not_operators = {"executor.h", "runtime.h", "tensor.h", "types.h"}
    headers = {path.name for path in (ROOT / "include/bn_api").glob("*.h")} - not_operators
    assert headers == {f"{row['header']}.h" for row in rows}
    for row in rows:
        text = (ROOT / f"include/bn_api/{row['header']}.h").read_text()
        found = re.search(rf"bnapi{row['name']}GetWorkspaceSize\(([^)]*)\);", text)
        assert found, row["name"]
        declared = [" ".join(parameter.split()) for parameter in found[1].split(",")]
        expected = [f"{KINDS.get(p['kind'], p['kind'])} {p['name']}" for p in row["parameters"]]
        assert declared == [*expected, "uint64_t* workspaceSize", "bnapiOpExecutor** executor"], row["name"]
