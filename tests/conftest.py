"""Where the package under test comes from.

BNAPI_PRESET names the build tree (default: dev), whose package directory build/<preset>/python goes first on
the path; "installed" leaves the path alone, for a package that pip installed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRESET = os.environ.get("BNAPI_PRESET", "dev")

if PRESET != "installed":
    package_dir = str(ROOT / "build" / PRESET / "python")
    sys.path.insert(0, package_dir)
    # Programs that tests start import the same package.
    inherited = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = package_dir + (os.pathsep + inherited if inherited else "")
