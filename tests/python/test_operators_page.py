"""docs/operators.md is what the headers say, and says it of every operator."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "docs" / "generate_operators.py"


def test_the_page_is_current():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout


def test_each_signature_is_in_its_table():
    """The comment's table lists the parameters of the declaration below it, in order."""
    page = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    declared = {}
    for header in (ROOT / "include" / "bn_api").glob("*.h"):
        text = header.read_text(encoding="utf-8")
        for operator, parameters in re.findall(r"bnapi(\w+)GetWorkspaceSize\(([^)]*)\);", text):
            names = [parameter.split()[-1].lstrip("*") for parameter in parameters.split(",")]
            declared[operator] = names[:-2]  # workspaceSize and executor
    assert declared.keys() == sections.keys()
    for operator, names in declared.items():
        assert re.findall(r"^\| `(\w+)` \|", sections[operator], re.MULTILINE) == names, operator
