"""benchmarks/gpu.py works, on tiny shapes: with PyTorch on the CPU, and on the emulated GPU. What it measures
there says nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pybn_api

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = [
    "stats",
    "reduce_backward",
    "elemt",
    "elemt_backward",
    "forward_eval",
    "forward_train",
    "backward",
]
ONLY_ON_GPUS = OPERATIONS[:4]  # in PyTorch


@pytest.fixture(scope="module")
def program() -> Path:
    path = ROOT / "benchmarks" / "gpu.py"
    if not path.exists():
        pytest.skip("not in a checkout")
    return path


def expected_of_torch(device) -> tuple[list[str], list[str]]:
    """The operations that PyTorch is measured on, and those that it refuses."""
    if importlib.util.find_spec("torch") is None or "emulated" in device.device.name:
        return [], []
    import torch

    if device.is_cpu:
        return OPERATIONS[4:], ONLY_ON_GPUS
    return (OPERATIONS, []) if torch.cuda.is_available() else ([], [])


def test_a_whole_run(device, program, tmp_path):
    output = tmp_path / "gpu.md"
    options = ["--tiny", "--device", device.device.type, "--output", str(output)]
    command = [sys.executable, str(program), *options]
    # Where an emulator runs this test, the program runs on the processor itself.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "BNAPI_ISA": pybn_api.isa()}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    compared, refused = expected_of_torch(device)
    for name in OPERATIONS:
        # PyTorch got the arguments that it expects, and refused for want of a kernel only.
        lines = [line for line in result.stderr.splitlines() if line.startswith(f"{name} ")]
        why = [line for line in lines if "PyTorch:" in line]
        assert all("Could not run 'aten::batch_norm" in line for line in why), why
        assert bool(why) == (name in refused)

    text = output.read_text()
    assert device.device.name.partition(",")[0] in text  # the CPU adds its number of threads
    sections = text.split("\n## ")[1:]
    titles = [section.splitlines()[0] for section in sections]
    types = ("float32", "bfloat16", "float16")
    assert titles == [f"{dtype}, {layout}" for dtype in types for layout in ("contiguous", "channels last")]
    for section in sections:
        rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
        assert [row[0].split()[0] for row in rows] == OPERATIONS * 2
        for row in rows:
            operation = row[0].split()[0]
            assert float(row[1]) > 0
            assert float(row[2]) > 0
            assert row[3].endswith("%")
            assert (row[4] != "-") == (row[5] != "-") == (operation in compared)
    written = json.loads(output.with_suffix(".json").read_text())
    assert len(written["results"]) == len(sections) * len(OPERATIONS) * 2


def test_sizes(program, monkeypatch):
    """In earnest every tensor has at least the bytes asked for, and not many times more."""
    monkeypatch.syspath_prepend(str(program.parent))
    import gpu

    for dtype, item in gpu.ITEM_SIZES.items():
        found = list(gpu.shapes(dtype, gpu.Settings(1, 1, 256 << 20)))
        assert len(found) == 10
        for batch, channels, height, width in found:
            assert 1 <= batch * channels * height * width * item / (256 << 20) < 1.5


def test_a_device_that_is_not_there(program, tmp_path):
    environment = {**os.environ, "BNAPI_DEVICES": "cpu"}
    command = [sys.executable, str(program), "--tiny", "--output", str(tmp_path / "gpu.md")]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 1
    assert "no cuda device" in result.stderr
