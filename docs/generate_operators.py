"""Writes docs/operators.md from the comments of the operators' headers, which are its only source.

python docs/generate_operators.py           rewrites it
python docs/generate_operators.py --check   ends non-zero if it is not what the headers say
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "bn_api"
PAGE = ROOT / "docs" / "operators.md"
ENTRY = re.compile(
    r"/\*\*\n(?P<comment>.*?)\n \*/\nBNAPI_EXPORT bnapiStatus bnapi(?P<operator>\w+)GetWorkspaceSize\(",
    re.DOTALL,
)

PREAMBLE = """\
# Operators

<!-- Made by docs/generate_operators.py from include/bn_api/*.h. -->

Every operator is a pair of C functions. `bnapi<Operator>GetWorkspaceSize` checks its arguments, plans, and
gives the bytes of workspace and an executor; `bnapi<Operator>` enqueues the planned work on a stream. The
tables list the parameters of the first in their order; `uint64_t* workspaceSize` and `bnapiOpExecutor**
executor` follow them. In Python the operator is a function of the same name in snake_case.

Types: `f16` FLOAT16, `bf16` BF16, `f32` FLOAT, `f64` DOUBLE, `i8` INT8, `u8` UINT8, `i32` INT32; "weight's
f32 f64" is the type of `weight`, or one of the others. The `aclnn` names do not accept `f64`. `C` is the
number of channels. Tensors may have any strides, also 0 and negative ones; an output must not address an
element twice.
"""


def cell(text: str) -> str:
    """Text of a comment as Markdown: names of the interface as code, nothing else as markup."""
    pieces = re.split(r"(\b(?:BNAPI_|bnapi[A-Z])\w+)", text)
    return "".join(f"`{piece}`" if i % 2 else escape(piece) for i, piece in enumerate(pieces))


def escape(text: str) -> str:
    return re.sub(r"([|*_\[])", r"\\\1", text).replace("<", "&lt;")


def columns_of(header: str) -> list[int]:
    return [header.index(word) for word in ("parameter", "dir", "shape", "dtype", "meaning")]


def table(lines: list[str]) -> list[str]:
    """The comment's table: columns begin where their titles do; a line without a name continues."""
    starts = columns_of(lines[0])
    rows: list[list[str]] = []
    for line in lines[1:]:
        parts = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        if parts[0]:
            rows.append(parts)
        else:
            rows[-1][-1] += " " + parts[-1]
    out = ["| Parameter | | Shape | Type | Meaning; what NULL means |", "|---|---|---|---|---|"]
    for name, direction, shape, dtype, meaning in rows:
        out.append(f"| `{name}` | {direction} | {cell(shape)} | {cell(dtype)} | {cell(meaning)} |")
    return out


def paragraphs(lines: list[str]) -> list[tuple[str, str]]:
    """(label, text) of the paragraphs below the table; the last one is the statuses."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith("@return "):
            found.append(("Returns", line[len("@return ") :]))
        elif line[0] != " ":
            # The label takes 13 columns, or a line of its own.
            label, text = (line[:13], line[13:]) if line[12:13].isspace() else (line, "")
            found.append((label.strip(), text.strip()))
        else:
            label, text = found[-1]
            found[-1] = (label, f"{text} {line.strip()}".strip())
    return found


def section(operator: str, comment: str) -> str:
    lines = [line[3:] for line in comment.split("\n")]
    first_row = next(i for i, line in enumerate(lines) if line.startswith("parameter "))
    last_row = next(i for i, line in enumerate(lines) if line.startswith("workspaceSize "))
    head = [line for line in lines[:first_row] if line.strip()]
    formula = [line for line in head if line.startswith("    ")]
    prose = [line for line in head if not line.startswith("    ")]
    below = [line for line in lines[last_row + 2 :] if line.strip()]

    parts = [f"## {operator}", "", *(cell(line) for line in prose), "", "```text"]
    parts += [line[4:] for line in formula]
    parts += ["```", "", *table(lines[first_row:last_row])]
    for label, text in paragraphs(below):
        if label == "Returns":
            parts += ["", "**Returns**:", "", *(f"- {cell(status)}" for status in text.split("; "))]
        else:
            parts += ["", f"**{cell(label)}**: {cell(text)}"]
    return "\n".join(parts) + "\n"


def page() -> str:
    sections = []
    for header in sorted(HEADERS.glob("*.h")):
        for entry in ENTRY.finditer(header.read_text(encoding="utf-8")):
            sections.append((entry["operator"], section(entry["operator"], entry["comment"])))
    index = [f"- [{operator}](#{operator.lower()})" for operator, _ in sorted(sections)]
    return "\n".join([PREAMBLE, *index, "", *(text for _, text in sorted(sections))])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page():
        return 0
    print(f"{PAGE.relative_to(ROOT)} is not current; run docs/generate_operators.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
