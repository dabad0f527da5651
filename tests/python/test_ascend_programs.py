"""Programs written for aclnn, built on an installed tree the ways their authors build them, and run."""

from __future__ import annotations

import os
import platform
import re
import shutil
from pathlib import Path

import pytest
from commands import run

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("BNAPI_PRESET", "dev")
BUILD = ROOT / "build" / PRESET
SAMPLE = ROOT / "samples" / "cpp" / "reduce_backward_ascend.cpp"
GENERATED = ROOT / "csrc" / "ascend" / "generated"
VENDOR_PROJECT = ROOT / "tests" / "c" / "ascend" / "vendor_project"
LIBRARIES = {
    "ascendcl": "acl",
    "acl_rt": "acl",
    "nnopbase": "nnopbase",
    "opapi": "opapi",
    "opapi_nn": "opapi",
    "opapi_math": "empty",
    "cust_opapi": "empty",
    "acl_op_compiler": "empty",
    "aclnn_ops_infer": "empty",
    "aclnn_ops_train": "empty",
    "aclnn_math": "empty",
}

pytestmark = pytest.mark.skipif(
    PRESET in {"asan", "tsan", "simt", "installed"},
    reason="links programs against the plain libraries of a build tree",
)


@pytest.fixture(scope="module")
def ascend(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Ascend tree of an installation that was moved after it was made."""
    made = tmp_path_factory.mktemp("made") / "here"
    run("cmake", "--install", BUILD, "--prefix", made)
    moved = tmp_path_factory.mktemp("moved") / "prefix"
    shutil.move(made, moved)
    return moved / "ascend"


@pytest.fixture(scope="module")
def seed_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vendor's own example, where its document is at hand."""
    seeds = list((ROOT.parent / "shared" / "seeds").glob("003*.txt"))
    if not seeds:
        pytest.skip("the document with the vendor's example is not here")
    text = seeds[0].read_text()
    program = tmp_path_factory.mktemp("seed") / "prog.cpp"
    program.write_text(text[text.index("#include <iostream>") :])
    return program


def plain_line(program: Path, ascend: Path, folder: Path, *libraries: str) -> Path:
    libraries = libraries or ("-lascendcl", "-lnnopbase", "-lopapi")
    out = folder / "a.out"
    run("g++", "-std=c++11", f"-I{ascend}/include", program, f"-L{ascend}/lib64", *libraries, "-o", out)
    return out


SEED_RESULTS = [7, 8, 21, 30, 21, 30, 7, 8]


def seed_results(output: str) -> list[float]:
    return [float(value) for value in re.findall(r"is: (\S+)", output)]


# ---- the tree


def test_the_tree_holds_real_files(ascend: Path) -> None:
    arch = f"{platform.machine()}-linux"
    for folder in (ascend / "lib64", ascend / arch / "lib64"):
        assert {path.name for path in folder.iterdir()} == {f"lib{name}.so" for name in LIBRARIES}
    assert {path.name for path in (ascend / "opp" / "lib64").iterdir()} >= {
        "libopapi_nn.so",
        "libopapi_math.so",
    }
    headers = {path.relative_to(ROOT / "include/ascend") for path in (ROOT / "include/ascend").rglob("*.h")}
    for folder in (ascend / "include", ascend / arch / "include"):
        assert {path.relative_to(folder) for path in folder.rglob("*.h")} == headers
    assert [path for path in ascend.rglob("*") if path.is_symlink()] == []


@pytest.mark.parametrize("name", LIBRARIES)
def test_what_a_library_exports(ascend: Path, name: str) -> None:
    library = ascend / "lib64" / f"lib{name}.so"
    exports = set()
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        kind, symbol = line.split()[-2:]
        assert kind == "T", f"{symbol}: only functions leave the library"
        assert "@" not in symbol, "the vendor's symbols have no versions"
        exports.add(symbol)
    script = (GENERATED / f"{LIBRARIES[name]}.map").read_text()
    promised = set(re.findall(r"^    (\w+);$", script.partition("global:")[2], flags=re.MULTILINE))
    assert exports == promised
    dynamic = run("readelf", "-d", library)
    assert f"[lib{name}.so]" in next(line for line in dynamic.splitlines() if "SONAME" in line)
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", dynamic))
    assert ("libbn_api.so" in needed) == bool(promised)
    # Clients look up the descriptors' functions through the operators' library.
    assert ("libnnopbase.so" in needed) == (name not in {"ascendcl", "acl_rt", "nnopbase"})
    assert not any(entry.startswith("libstdc++") for entry in needed)


def test_both_names_of_the_runtime_have_everything_declared(ascend: Path) -> None:
    headers = list((ROOT / "include/ascend/acl").glob("*.h"))
    declared = set()
    for header in headers:
        declared |= set(re.findall(r"ACL_FUNC_VISIBILITY[^;(]*?\b(acl\w+)\s*\(", header.read_text()))
    assert len(declared) > 200
    for name in ("ascendcl", "acl_rt"):
        exports = set(re.findall(r" T (\w+)", run("nm", "-D", ascend / "lib64" / f"lib{name}.so")))
        assert declared - exports == set()


# ---- building as programs do


@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20"])
def test_own_program_by_the_plain_line(ascend: Path, tmp_path: Path, standard: str) -> None:
    flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", f"-std={standard}", f"-I{ascend}/include"]
    libraries = [f"-L{ascend}/lib64", "-lascendcl", "-lnnopbase", "-lopapi"]
    run("g++", *flags, SAMPLE, *libraries, "-o", tmp_path / "sample")
    output = run(tmp_path / "sample", LD_LIBRARY_PATH=f"{ascend}/lib64")
    for line in ("sumDy       7 8", "sumDyXmu    21 30", "gradWeight  21 30", "gradBias    7 8"):
        assert line in output


@pytest.mark.parametrize(
    "libraries",
    [
        ("-lopapi_nn", "-lopapi_math", "-lascendcl", "-lnnopbase"),
        ("-lopapi_nn", "-lopapi_math", "-lacl_rt", "-lnnopbase"),
        ("-lascendcl", "-lacl_op_compiler", "-lnnopbase", "-lopapi"),
        ("-lcust_opapi", "-lopapi", "-lopapi_math", "-lascendcl", "-lnnopbase"),
    ],
    ids=" ".join,
)
def test_other_link_lines(ascend: Path, tmp_path: Path, libraries: tuple[str, ...]) -> None:
    program = plain_line(SAMPLE, ascend, tmp_path, *libraries)
    assert "sumDy       7 8" in run(program, LD_LIBRARY_PATH=f"{ascend}/lib64")


def test_the_architecture_folder_and_the_operators_folder(ascend: Path, tmp_path: Path) -> None:
    arch = ascend / f"{platform.machine()}-linux"
    program = plain_line(SAMPLE, arch, tmp_path)
    assert "sumDy       7 8" in run(program, LD_LIBRARY_PATH=f"{arch}/lib64")
    opp = ascend / "opp" / "lib64"
    out = tmp_path / "opp"
    places = [f"-L{opp}", f"-L{ascend}/lib64"]
    run(
        *(
            "g++",
            f"-I{ascend}/include",
            SAMPLE,
            *places,
            "-lopapi_nn",
            "-lopapi_math",
            "-lascendcl",
            "-lnnopbase",
        ),
        *("-o", out),
    )
    assert "sumDy       7 8" in run(out, LD_LIBRARY_PATH=f"{opp}:{ascend}/lib64")


def test_two_copies_in_one_process_have_one_state(ascend: Path, tmp_path: Path) -> None:
    """The program's libraries from one folder, and the same names once more from another."""
    source = tmp_path / "two.cpp"
    source.write_text(
        """
#include <dlfcn.h>
#include <cstdio>
#include "acl/acl.h"
int main(int, char** argv) {
  void* other = dlmopen(LM_ID_BASE, argv[1], RTLD_NOW | RTLD_LOCAL);
  if (other == nullptr) { puts(dlerror()); return 1; }
  auto get = reinterpret_cast<decltype(&aclrtGetDevice)>(dlsym(other, "aclrtGetDevice"));
  int32_t device = -1;
  if (aclrtSetDevice(0) != 0 || get(&device) != 0 || device != 0) return 2;
  puts(get == &aclrtGetDevice ? "one library" : "two libraries");
  return 0;
}
"""
    )
    program = plain_line(source, ascend, tmp_path)
    other = tmp_path / "libcopy.so"
    arch = ascend / f"{platform.machine()}-linux" / "lib64"
    shutil.copy(arch / "libacl_rt.so", other)
    path = f"{ascend}/lib64:{ascend.parent}/lib"
    assert "two libraries" in run(program, other, LD_LIBRARY_PATH=path)


def test_the_vendors_cmake_project(ascend: Path, tmp_path: Path) -> None:
    build_vendor_project(ascend, tmp_path, SAMPLE)
    output = run(tmp_path / "bin" / "opapi_test", LD_LIBRARY_PATH=f"{ascend}/lib64")
    assert "gradWeight  21 30" in output


def build_vendor_project(ascend: Path, folder: Path, program: Path) -> None:
    source = folder / "project"
    source.mkdir()
    shutil.copy(VENDOR_PROJECT / "CMakeLists.txt", source)
    shutil.copy(program, source / "test_program.cpp")
    run("cmake", "-S", source, "-B", folder / "build", "-G", "Ninja", ASCEND_CUSTOM_PATH=str(ascend))
    run("cmake", "--build", folder / "build", ASCEND_CUSTOM_PATH=str(ascend))
    (folder / "bin").mkdir()
    shutil.move(folder / "build" / "bin" / "opapi_test", folder / "bin")


# ---- the vendor's example, not one character changed


def test_the_vendors_example_by_the_plain_line(ascend: Path, seed_program: Path, tmp_path: Path) -> None:
    program = plain_line(seed_program, ascend, tmp_path)
    assert seed_results(run(program, LD_LIBRARY_PATH=f"{ascend}/lib64")) == SEED_RESULTS


def test_the_vendors_example_by_its_cmake_project(ascend: Path, seed_program: Path, tmp_path: Path) -> None:
    build_vendor_project(ascend, tmp_path, seed_program)
    assert seed_results(run(tmp_path / "bin/opapi_test", LD_LIBRARY_PATH=f"{ascend}/lib64")) == SEED_RESULTS


# ---- set_env.sh


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_set_env(ascend: Path, tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    program = plain_line(SAMPLE, ascend, tmp_path)
    script = f"set -e; cd /; . {ascend}/set_env.sh; env; {program}"
    output = run(shell, "-c", script, LD_LIBRARY_PATH="/somewhere")
    for line in (
        f"ASCEND_HOME_PATH={ascend}",
        f"ASCEND_TOOLKIT_HOME={ascend}",
        f"ASCEND_OPP_PATH={ascend}/opp",
        f"LD_LIBRARY_PATH={ascend}/lib64:/somewhere",
    ):
        assert f"{line}\n" in output
    assert "sumDy       7 8" in output


def test_set_env_in_a_plain_shell(ascend: Path) -> None:
    output = run("sh", "-c", f"cd {ascend} && . ./set_env.sh && env", LD_LIBRARY_PATH="")
    assert f"ASCEND_HOME_PATH={ascend}\n" in output
    assert f"LD_LIBRARY_PATH={ascend}/lib64\n" in output


# ---- docs/porting.md


def test_the_five_minutes(ascend: Path, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "porting.md").read_text()
    commands, printed = (
        re.search(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)[1]  # type: ignore[index]
        for language in ("bash", "text")
    )
    first, rest = commands.split("\n", 1)
    assert first == "make install PREFIX=$HOME/bn"
    shutil.copytree(ascend.parent, tmp_path / "bn")
    script = f"set -e; cp -r {ROOT}/samples {tmp_path}; cd {tmp_path}\n{rest}"
    assert run("bash", "-c", script, HOME=str(tmp_path)) == printed


# ---- a sample for every operator: the interface's worked examples, as printed with up to 6 digits

WORKED = {
    "batch_norm": {
        "output": [
            *(-0.380070446, 0.25, 2.77028178, 1.0647211, 1.58248991, 0.158625691),
            *(0.880070446, -2.27028178, 0.25, 0.546952295, 1.1941633, 1.4530477),
        ],
        "saveMean": [2, 0.75],
        "saveInvstd": [0.420046964, 0.517768806],
        "runningMean": [8.4, -3.05],
        "runningVar": [2.96, 1.295],
    },
    "batch_norm_backward": {
        "gradInput": [
            *(-0.39839829, -1.18138209, 1.35731674, -0.265884457, 0.0232943139, 0.263590305),
            *(-0.546707379, 1.32048265, -0.55131164, -0.425621026, 0.583063444, -0.17844258),
        ],
        "gradWeight": [-3.67541093, -6.47211007],
        "gradBias": [5.25, -1],
    },
    "fast_batch_norm_backward": {
        "gradInput": [0.909090909, -0.909090909, 0.454545455, 1.81818182],
        "gradWeight": [17.2727273],
        "gradBias": [2.5],
    },
    "batch_norm_stats": {"mean": [30002], "invstd": [0.53452172]},
    "batch_norm_elemt": {"output": [0, 17, 3.5, 3, -3, -1]},
    "batch_norm_gather_stats_with_counts": {
        "meanAll": [2.5, -0.125],
        "invstdAll": [0.632455532, 0.274883253],
        "runningMean": [0.25, 0.8875],
        "runningVar": [1.16656, 4.11156],
    },
    "reduce_backward": {"sumDy": [7, 8], "sumDyXmu": [21, 30], "gradWeight": [21, 30], "gradBias": [7, 8]},
    "batch_norm_elemt_backward": {"gradInput": [0.528, -6, -2.928, -10]},
    "sync_batch_norm_gather_stats": {
        "batchMean": [1.8, 1.2],
        "batchInvstd": [0.624998779, 0.43193381],
        "mean": [1.08, 0.12],
        "variance": [2.12, 5.17],
    },
    # Twice: as NCHW, then the same numbers as NHWC.
    "batch_norm_reduce": {"sum": [3.5, 5.25] * 2, "squareSum": [21.25, 19.0625, 11.25, 29.0625]},
    "quantized_batch_norm": {"output": [0, 103, 0, 255]},
}


def test_every_operator_has_a_sample() -> None:
    assert {path.stem for path in SAMPLE.parent.glob("*.cpp")} == {f"{name}_ascend" for name in WORKED}
    exported = re.findall(r"aclnn(\w+)GetWorkspaceSize;", (GENERATED / "opapi.map").read_text())
    called = "".join(path.read_text() for path in SAMPLE.parent.glob("*.cpp"))
    for operator in set(exported) - {"Add", "Mul", "Relu", "ReduceSum"}:
        assert f"aclnn{operator}GetWorkspaceSize(" in called


@pytest.mark.parametrize("name", WORKED)
def test_sample(ascend: Path, tmp_path: Path, name: str) -> None:
    program = plain_line(SAMPLE.with_name(f"{name}_ascend.cpp"), ascend, tmp_path)
    printed: dict[str, list[float]] = {}
    for line in run(program, LD_LIBRARY_PATH=f"{ascend}/lib64").splitlines():
        quantity, *values = line.split()
        printed.setdefault(quantity, []).extend(float(value) for value in values)
    # Half a unit of the sixth digit printed, and the float32 rounding before it.
    assert printed == {
        quantity: pytest.approx(values, rel=5.1e-6, abs=0) for quantity, values in WORKED[name].items()
    }
