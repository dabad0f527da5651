#!/usr/bin/env python3
"""Writes what the Ascend layer has per operator and per declaration.

From csrc/ops/operators.toml, the table of operators:
    include/ascend/aclnnop/aclnn_<op>.h and its copy in level2/   the operators' headers
    csrc/ascend/generated/operators.cpp                           forwarders to the neutral functions
From the headers include/ascend/acl/*.h and aclnn/*.h:
    csrc/ascend/generated/unsupported.cpp    a refusal for every function that they declare and that no
                                             csrc/ascend/*.cpp defines, so that what compiles also links
    csrc/ascend/generated/<library>.map      the symbols that each library exports

The results are checked in; run this after a change of the table or the headers. With --check it writes
nothing and fails if a file is not what it would write.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "csrc/ops/operators.toml"
HEADERS = ROOT / "include/ascend"
GENERATED = ROOT / "csrc/ascend/generated"
BANNER = "Written by csrc/ascend/generate.py; do not edit."
WIDTH = 110

# kind of parameter: its type in the aclnn signature, and whether the forwarder casts it
KINDS = {
    "input": ("const aclTensor*", True),
    "mutable": ("aclTensor*", True),
    "inplace": ("aclTensor*", True),
    "output": ("aclTensor*", True),
    "bool": ("bool", False),
    "int": ("int", False),
    "float": ("float", False),
    "double": ("double", False),
    "scalar": ("const aclScalar*", True),
    "bool_array": ("const aclBoolArray*", True),
}


@dataclass(frozen=True)
class Function:
    """A function that a header declares."""

    name: str
    result: str
    parameters: str
    header: str


def wrapped(head: str, items: list[str], tail: str, indent: str = "    ") -> str:
    """`head(items)tail`, on one line if it fits, else broken after the parenthesis."""
    line = f"{head}({', '.join(items)}){tail}"
    if len(line) <= WIDTH:
        return line
    lines = [f"{head}("]
    current = indent
    for position, item in enumerate(items):
        piece = item + (", " if position + 1 < len(items) else f"){tail}")
        if len((current + piece).rstrip()) > WIDTH:
            lines.append(current.rstrip())
            current = indent
        current += piece
    return "\n".join([*lines, current])


def signature(operator: dict[str, Any]) -> list[str]:
    """The parameters of phase one in C."""
    parameters = [f"{KINDS[p['kind']][0]} {p['name']}" for p in operator["parameters"]]
    return [*parameters, "uint64_t* workspaceSize", "aclOpExecutor** executor"]


def stream_type(operator: dict[str, Any]) -> str:
    return "const aclrtStream" if operator.get("const_stream") else "aclrtStream"


def header(operator: dict[str, Any]) -> str:
    """aclnnop/aclnn_<op>.h."""
    name = f"aclnn{operator['name']}"
    guard = f"ACLNN_{operator['aclnn'].upper()}_H_"
    array = "#ifdef __cplusplus\n#include <array>\n#endif\n\n" if operator.get("array") else ""
    phase_one = wrapped(f"ACLNN_API aclnnStatus {name}GetWorkspaceSize", signature(operator), ";")
    phase_two = wrapped(
        f"ACLNN_API aclnnStatus {name}",
        [
            "void* workspace",
            "uint64_t workspaceSize",
            "aclOpExecutor* executor",
            f"{stream_type(operator)} stream",
        ],
        ";",
    )
    return f"""\
/* {BANNER}
 *
 * {name}
 * {operator["summary"]}
 * Formula, shapes, types and status codes are those of bnapi{operator["name"]}, in
 * bn_api/{operator["header"]}.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef {guard}
#define {guard}

{array}#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {{
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
{phase_one}

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
{phase_two}

#ifdef __cplusplus
}}
#endif
#endif /* {guard} */
"""


UTIL_HEADER = f"""\
/* {BANNER} */
#ifndef ACLNN_ACLNN_UTIL_H_
#define ACLNN_ACLNN_UTIL_H_

#if defined(__GNUC__)
#define ACLNN_API __attribute__((visibility("default")))
#else
#define ACLNN_API
#endif

#endif /* ACLNN_ACLNN_UTIL_H_ */
"""


def forwarder(operator: dict[str, Any]) -> str:
    name = operator["name"]
    arguments = [
        f"neutral({p['name']})" if KINDS[p["kind"]][1] else p["name"] for p in operator["parameters"]
    ]
    call = wrapped(
        f"  return call.done(bnapi{name}GetWorkspaceSize",
        [*arguments, "workspaceSize", "neutral(executor)"],
        ");",
        indent="      ",
    )
    run = wrapped(
        f"  return call.done(bnapi{name}",
        ["workspace", "workspaceSize", "neutral(executor)", "call.stream(stream)"],
        ");",
        indent="      ",
    )
    phase_one = wrapped(f"aclnnStatus aclnn{name}GetWorkspaceSize", signature(operator), " {")
    phase_two = wrapped(
        f"aclnnStatus aclnn{name}",
        [
            "void* workspace",
            "uint64_t workspaceSize",
            "aclOpExecutor* executor",
            f"{stream_type(operator)} stream",
        ],
        " {",
    )
    return f"""\
{phase_one}
  AscendCall call(__func__);
{call}
}}

{phase_two}
  AscendCall call(__func__);
{run}
}}
"""


def forwarders(operators: list[dict[str, Any]]) -> str:
    includes = [f'#include "aclnnop/aclnn_{o["aclnn"]}.h"' for o in operators]
    neutral = [f'#include "bn_api/{o["header"]}.h"' for o in operators]
    return "\n".join(
        [
            f"// {BANNER}",
            "//",
            "// The operators under the vendor's names: the neutral functions, called in the Ascend dialect.",
            "// clang-format off",
            *includes,
            *neutral,
            '#include "ascend/forward.h"',
            "",
            'extern "C" {',
            "",
            *[forwarder(o) for o in operators],
            '}  // extern "C"',
            "",
        ]
    )


def bare(text: str) -> str:
    """C without comments and preprocessor lines."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)


def declared(headers: list[Path]) -> list[Function]:
    """The functions that headers declare, in their order."""
    functions = []
    pattern = re.compile(
        r"(?:ACL_FUNC_VISIBILITY|ACLNN_API)\s+([^;()]*?)\s*\b(\w+)\s*\((.*?)\)\s*;", re.DOTALL
    )
    for path in headers:
        for result, name, parameters in pattern.findall(bare(path.read_text())):
            functions.append(Function(name, result, " ".join(parameters.split()), path.name))
    return functions


def defined(sources: list[Path]) -> set[str]:
    """The acl functions that sources define: a name at a line's start, behind its type, with a body."""
    names: set[str] = set()
    for path in sources:
        text = bare(path.read_text())
        names |= set(re.findall(r"^[\w][\w \t*]*?\b(\w+)\([^;{}]*?\)\s*{", text, flags=re.MULTILINE))
    return names


def marked(source: Path) -> list[str]:
    """The functions of a source that no header declares and that are exported all the same."""
    return re.findall(r"(?:ACL_FUNC_VISIBILITY|ACLNN_API)\s+\w+\s+(\w+)\(", bare(source.read_text()))


def unnamed(parameters: str) -> list[str]:
    """The types of a parameter list, without names, as nothing uses them."""
    if parameters in ("", "void"):
        return []
    out = []
    for parameter in re.split(r",(?![^()]*\))", parameters):
        parameter = parameter.strip()
        function_pointer = re.match(r"(.*\(\*(?:const)?\s*)(\w+)(\).*)", parameter)
        array = re.match(r"(.*?)(\w+)((?:\[\w*\])+)$", parameter)
        if parameter == "...":
            out.append(parameter)
        elif function_pointer:
            out.append(f"{function_pointer[1].rstrip()}{function_pointer[3]}")
        elif array:
            out.append(f"{array[1].rstrip()} {array[3]}")
        else:
            out.append(re.sub(r"\s*\b\w+$", "", parameter))
    return out


def refusal(function: Function) -> str:
    """The definition of a function that is declared and not supported."""
    code = (
        "ACL_ERROR_RT_FEATURE_NOT_SUPPORT"
        if function.name.startswith("aclrt")
        else "ACL_ERROR_FEATURE_UNSUPPORTED"
    )
    result = function.result
    value = {
        "aclError": f"return refused({code}, __func__);",
        "void": f"refused({code}, __func__);",
        "aclDataType": f"return refused({code}, __func__), ACL_DT_UNDEFINED;",
        "aclFormat": f"return refused({code}, __func__), ACL_FORMAT_UNDEFINED;",
    }.get(result)
    if value is None:
        pointer = result.endswith("*") or result in ("aclrtBinary", "aclrtAllocatorDesc")
        value = f"return refused({code}, __func__), {'nullptr' if pointer else '0'};"
    one_line = f"{result} {function.name}({', '.join(unnamed(function.parameters))}) {{ {value} }}"
    if len(one_line) <= WIDTH:
        return one_line
    head = wrapped(f"{result} {function.name}", unnamed(function.parameters), " {")
    return f"{head}\n  {value}\n}}"


def unsupported(functions: list[Function], headers: list[Path]) -> str:
    """unsupported.cpp: one refusal each."""
    blocks = []
    for path in headers:
        mine = [f for f in functions if f.header == path.name]
        if mine:
            blocks += [f"// ---- {path.name}", "", *[refusal(f) for f in mine], ""]
    return "\n".join(
        [
            f"// {BANNER}",
            "//",
            "// Functions that the headers declare, so that programs compile and link, and that this library",
            "// does not have: each returns a status that says so, or null, and leaves a text.",
            "// clang-format off",
            *[f'#include "acl/{p.name}"' for p in headers],
            '#include "ascend/forward.h"',
            "",
            'extern "C" {',
            "",
            *blocks,
            '}  // extern "C"',
            "",
        ]
    )


def version_script(symbols: list[str]) -> str:
    """An anonymous version script: it hides everything else and gives no versions."""
    if not symbols:
        return f"# {BANNER}\n{{\n  local:\n    *;\n}};\n"
    lines = "\n".join(f"    {name};" for name in sorted(symbols))
    return f"# {BANNER}\n{{\n  global:\n{lines}\n  local:\n    *;\n}};\n"


def outputs() -> dict[Path, str]:
    """Every file this script writes, with its content."""
    table = tomllib.loads(TABLE.read_text())["operator"]
    operators = [o for o in table if "aclnn" in o and (ROOT / f"include/bn_api/{o['header']}.h").exists()]

    files: dict[Path, str] = {}
    for folder in (HEADERS / "aclnnop", HEADERS / "aclnnop/level2"):
        files[folder / "aclnn_util.h"] = UTIL_HEADER
        for operator in operators:
            files[folder / f"aclnn_{operator['aclnn']}.h"] = header(operator)
    files[GENERATED / "operators.cpp"] = forwarders(operators)

    acl_headers = sorted((HEADERS / "acl").glob("*.h"))
    meta_headers = [HEADERS / "aclnn/acl_meta.h", HEADERS / "aclnn/aclnn_base.h"]
    sources = sorted((ROOT / "csrc/ascend").glob("*.cpp"))
    acl = declared(acl_headers)
    meta = declared(meta_headers)
    have = defined(sources)
    missing = [f.name for f in meta if f.name not in have]
    if missing and sources:
        raise SystemExit(f"csrc/ascend defines no {', '.join(missing)}")
    files[GENERATED / "unsupported.cpp"] = unsupported([f for f in acl if f.name not in have], acl_headers)

    operator_symbols = [f"aclnn{o['name']}{suffix}" for o in operators for suffix in ("", "GetWorkspaceSize")]
    files[GENERATED / "acl.map"] = version_script([f.name for f in acl])
    files[GENERATED / "nnopbase.map"] = version_script(
        [f.name for f in meta] + marked(ROOT / "csrc/ascend/acl_meta.cpp")
    )
    files[GENERATED / "opapi.map"] = version_script(
        operator_symbols + marked(ROOT / "csrc/ascend/neighbours.cpp")
    )
    files[GENERATED / "empty.map"] = version_script([])
    return files


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args().check

    files = outputs()
    folders = {path.parent for path in files}
    stray = [p for folder in folders for p in sorted(folder.iterdir()) if p.is_file() and p not in files]
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if check:
        for path in [*stale, *stray]:
            print(f"out of date: {path.relative_to(ROOT)}; run csrc/ascend/generate.py", file=sys.stderr)
        return 1 if stale or stray else 0
    for path in stray:
        path.unlink()
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path])
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
