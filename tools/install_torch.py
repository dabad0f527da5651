"""Installs PyTorch for the tests and benchmarks that compare with it, if pip offers a CPU build.

A build for CUDA brings several gigabytes that nothing here needs. Where pip offers only such a build this
script says so and succeeds: what needs PyTorch is then skipped. Whatever is installed already stays as it is.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

REQUIREMENT = "torch==2.13.0"


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, text=True, capture_output=True)


def skip(reason: str) -> None:
    print(
        f"PyTorch: {reason}; what compares with it is skipped.\n"
        "         To have it, install a CPU build into this virtual environment."
    )
    sys.exit(0)


def main() -> None:
    if importlib.util.find_spec("torch"):
        return
    plan = pip("install", "--dry-run", "--quiet", "--report", "-", REQUIREMENT)
    if plan.returncode != 0:
        skip(f"pip offers no {REQUIREMENT} for this Python")
    items: list[dict[str, Any]] = json.loads(plan.stdout)["install"]
    names = {item["metadata"]["name"].lower() for item in items}
    if any(name.startswith("nvidia-") or name == "triton" for name in names):
        skip("pip offers only a CUDA build of several gigabytes")
    print(f"PyTorch: installing {REQUIREMENT} (CPU build)", flush=True)
    if pip("install", "--quiet", REQUIREMENT).returncode != 0:
        skip("the installation did not succeed")


if __name__ == "__main__":
    main()
