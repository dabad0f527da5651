"""Fixtures of the Python tests: the device that a test runs on, and arrays there.

BNAPI_TEST_DEVICE chooses: "cpu" (default), "cuda" (the GPU, or the emulated one of a test build), or "all".
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# The tests share modules (oracle, layouts, cases), which lie beside them.
sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).resolve().parent.parent.parent


def _devices() -> list[str]:
    chosen = os.environ.get("BNAPI_TEST_DEVICE", "cpu")
    return ["cpu", "cuda"] if chosen == "all" else [chosen]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "nightly: too long or too large for every run; BNAPI_NIGHTLY=1 runs it"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("BNAPI_NIGHTLY"):
        return
    skip = pytest.mark.skip(reason="nightly: BNAPI_NIGHTLY=1 runs it")
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(skip)


@pytest.fixture(params=_devices())
def device(request: pytest.FixtureRequest):
    """A `TestDevice`: current on this thread while the test runs."""
    from devices import TestDevice

    with TestDevice.of_type(request.param) as chosen:
        yield chosen


@pytest.fixture
def on_cpu():
    """Streams, executors and memory of the test belong to the CPU, also where a GPU comes first."""
    import pybn_api

    with pybn_api.Device.cpu() as device:
        yield device
