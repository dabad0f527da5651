"""Writes the C source of the Python package's raw module, `pybn_api._lib`.

The declarations come from the public headers themselves, so nothing is typed twice: this script strips what
cffi's parser does not read (comments, directives, export markers) and leaves values to the C compiler.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import cffi

INCLUDE = re.compile(r'^\s*#\s*include\s+"(bn_api/[^"]+)"', re.MULTILINE)
INTEGER_MACRO = re.compile(r"^#define\s+(BNAPI_\w+)\s+\(?-?(?:0x[0-9A-Fa-f]+|\d+)[uUlL]*\)?$")


def headers_of(header: Path, root: Path, found: list[Path]) -> list[Path]:
    """The public headers that one includes, directly or not, each behind those that it needs itself."""
    for name in INCLUDE.findall(header.read_text()):
        included = root / name
        if included not in found:
            headers_of(included, root, found)
            found.append(included)
    return found


def declarations(header: Path) -> str:
    """The declarations of one header, as cffi reads them. Macros with integer values become constants."""
    text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", "", text).replace("\\\n", " ")
    lines: list[str] = []
    in_cplusplus = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#if") and "__cplusplus" in stripped:
            in_cplusplus = True
        elif in_cplusplus:
            in_cplusplus = not stripped.startswith("#endif")
        elif macro := INTEGER_MACRO.match(stripped):
            lines.append(f"#define {macro[1]} ...")
        elif not stripped.startswith("#"):
            lines.append(line.replace("BNAPI_EXPORT ", ""))
    body = "\n".join(line.rstrip() for line in lines)
    if "static inline" in body or "{" in re.sub(r"(enum|struct|union)\s*\w*\s*\{[^}]*\}", "", body):
        raise SystemExit(
            f"{header}: a function body or an unknown construct: the module cannot be made from it"
        )
    return re.sub(r"\n{2,}", "\n", body).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("umbrella", type=Path, help="include/bn_api.h")
    parser.add_argument("output", type=Path, help="the C file to write")
    parser.add_argument("--depfile", type=Path, help="write a make-style list of the headers read")
    arguments = parser.parse_args()

    headers = headers_of(arguments.umbrella, arguments.umbrella.parent, [])
    builder = cffi.FFI()
    for header in headers:
        builder.cdef(declarations(header))
    builder.set_source("pybn_api._lib", '#include "bn_api.h"')
    builder.emit_c_code(str(arguments.output))
    if arguments.depfile:
        inputs = " ".join(str(path) for path in [arguments.umbrella, *headers])
        arguments.depfile.write_text(f"{arguments.output}: {inputs}\n")


if __name__ == "__main__":
    main()
