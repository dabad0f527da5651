"""Writes pybn_api/_lib.pyi, the types of the Python package's raw module, from the public headers.

python tools/make_stub.py           rewrites it
python tools/make_stub.py --check   ends non-zero if it is not what the headers say
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from cffi_module import declarations, headers_of

ROOT = Path(__file__).resolve().parent.parent
UMBRELLA = ROOT / "include" / "bn_api.h"
STUB = ROOT / "pybn_api" / "_lib.pyi"
FUNCTION = re.compile(r"^\s*([\w\s\*]+?)\s*\b(bnapi\w+)\s*\(([^()]*)\)\s*;", re.MULTILINE)
CONSTANT = re.compile(r"^#define (\w+) \.\.\.", re.MULTILINE)
ENUM_BODY = re.compile(r"enum\s+\w+\s*\{([^}]*)\}")

PREAMBLE = '''"""The C library, as cffi gives it. Made by tools/make_stub.py from the public headers."""

from collections.abc import Callable
from typing import Any, TypeAlias

# A C pointer, handle, array or struct; cffi has no finer types to offer.
CData: TypeAlias = Any

class FFI:
    NULL: CData
    error: type[Exception]
    def new(self, cdecl: Any, init: Any = ...) -> CData: ...
    def cast(self, cdecl: Any, source: Any) -> CData: ...
    def gc(self, cdata: CData, destructor: Callable[[CData], Any] | None, size: int = ...) -> CData: ...
    def string(self, cdata: CData, maxlen: int = ...) -> bytes: ...
    def buffer(self, cdata: CData, size: int = ...) -> Any: ...
    def from_buffer(self, cdecl: Any, python_buffer: Any = ..., require_writable: bool = ...) -> CData: ...
    def addressof(self, cdata: CData, *fields: str | int) -> CData: ...
    def typeof(self, cdecl: Any) -> Any: ...
    def sizeof(self, cdecl: Any) -> int: ...
    def unpack(self, cdata: CData, length: int) -> Any: ...
    def memmove(self, dest: Any, src: Any, n: int) -> None: ...
    def callback(self, cdecl: str, python_callable: Any = ..., error: Any = ...) -> Any: ...

class Lib:
'''

RETURNS = {"bnapiStatus": "int", "int32_t": "int", "size_t": "int", "uint64_t": "int", "void": "None"}
NUMBERS = {
    "int": "int",
    "int32_t": "int",
    "int64_t": "int",
    "uint64_t": "int",
    "size_t": "int",
    "bool": "bool",
}
NUMBERS |= {"double": "float", "float": "float", "bnapiStatus": "int", "bnapiDataType": "int"}
NUMBERS |= {"bnapiFormat": "int", "bnapiMemcpyKind": "int"}


def argument(text: str, position: int) -> str:
    """One C parameter as a Python one."""
    words = text.replace("*", " * ").split()
    name = words[-1] if len(words) > 1 and words[-1].isidentifier() else f"a{position}"
    kind = "CData"
    if "*" not in words:
        kind = NUMBERS.get(next(word for word in words if word != "const"), "CData")
    return f"{name + '_' * keyword.iskeyword(name)}: {kind}"


def stub() -> str:
    text = "\n".join(declarations(header) for header in headers_of(UMBRELLA, UMBRELLA.parent, []))
    constants = CONSTANT.findall(text)
    for body in ENUM_BODY.findall(text):
        constants += re.findall(r"\b(BNAPI_\w+)", body)
    lines = [f"    {name}: int" for name in constants]
    for returned, name, parameters in FUNCTION.findall(text):
        plain = " ".join(word for word in returned.split() if word not in ("extern", "const"))
        parts = [p.strip() for p in parameters.split(",") if p.strip() not in ("", "void")]
        arguments = ", ".join(["self", *(argument(p, i) for i, p in enumerate(parts)), "/"])
        lines.append(f"    def {name}({arguments}) -> {RETURNS.get(plain, 'CData')}: ...")
    return PREAMBLE + "\n".join(lines) + "\n\nffi: FFI\nlib: Lib\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if not arguments.check:
        STUB.write_text(stub())
    elif STUB.read_text() != stub():
        raise SystemExit(f"{STUB} is not current: run tools/make_stub.py")


if __name__ == "__main__":
    main()
