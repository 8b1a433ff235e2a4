"""What the README shows is what the program prints."""

import re
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import run
from gnomon.demo import predictions

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_output_shown_is_the_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["demo"]) == 0
    capsys.readouterr()
    assert run(["calibrate", "demo/predictions.csv"]) == 0
    printed = capsys.readouterr().out
    shown = re.search(r"\$ gnomon calibrate demo/predictions.csv\n(.*?)\n```", README, re.DOTALL)
    assert shown
    assert printed.startswith(shown.group(1))


def test_the_python_example() -> None:
    said = predictions()
    result = gnomon.calibrate(said.probability, said.label)
    assert f"# {result.calibration_error}" in README
    assert f"# {result.verdict()}" in README
