"""`python -m pybn_api`: the report on this machine, and the paths of what the package carries."""

from __future__ import annotations

import pytest

import pybn_api
from pybn_api import bench, doctor
from pybn_api.__main__ import PACKAGE, main


def test_doctor_passes_and_tests_every_operator(capsys):
    assert main(["doctor"]) == 0
    report = capsys.readouterr().out
    assert set(doctor.CHECKS) == {n for n in pybn_api.plan.__all__ if n != "Plan"}
    for name in doctor.CHECKS:
        assert f"\n{name} " in report
    assert "all operators pass" in report


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Wed Aug 27 17:29:24 UTC 2025\nGCC",
            "580.82.07",
        ),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.44  Release Build", "590.44"),
        (None, "none"),
    ],
)
def test_doctor_names_the_driver(tmp_path, text, version):
    path = tmp_path / "version"
    if text is not None:
        path.write_text(text)
    assert doctor._driver(path) == version


def test_doctor_notices_a_wrong_result(capsys, monkeypatch):
    good = doctor.CHECKS["batch_norm_stats"]

    def wrong(put):
        return {name: (got, want + 0.01) for name, (got, want) in good(put).items()}

    monkeypatch.setitem(doctor.CHECKS, "batch_norm_stats", wrong)
    assert main(["doctor"]) == 1
    assert "batch_norm_stats" in capsys.readouterr().out


def test_paths():
    if (PACKAGE / "include" / "bn_api.h").exists():
        pytest.skip("installed: the wheel's test covers it")
    with pytest.raises(SystemExit, match="carries no headers"):
        main(["--prefix"])


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == pybn_api.__version__


def test_bench_prints_a_table_and_plots(capsys, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(bench, "SHAPES", ((2, 8, 14, 14),))
    monkeypatch.setattr(bench, "SECONDS", 0.0)
    monkeypatch.setattr(bench, "_ceiling", lambda: {"read": 10.0, "copy": 8.0})
    assert main(["bench", "--quick", "--plot", str(tmp_path / "roofline.png")]) == 0
    assert "channels-last" in capsys.readouterr().out
    assert (tmp_path / "roofline.png").stat().st_size > 1000
