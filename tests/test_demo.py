"""The demonstration tells the truth."""

from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.cli import run
from gnomon.demo import calibrate_truth, predictions
from gnomon.errors import InputError


def test_predictions_are_as_true_as_they_say() -> None:
    said = predictions(50_000, seed=3)
    for genre in ("news", "chat"):
        own = said.genre == genre
        assert abs(said.label[own].mean() - said.truth[own].mean()) < 0.01
    np.testing.assert_allclose(
        said.truth[said.genre == "news"], said.probability[said.genre == "news"]
    )


def test_the_known_error_is_covered_about_as_often_as_promised() -> None:
    covered = 0
    for seed in range(60):
        said = predictions(2000, seed=seed)
        result = gnomon.calibrate(said.probability, said.label)
        error = result.calibration_error
        covered += error.low <= calibrate_truth(said, result.bin_size or 1.0) <= error.high
    assert 52 <= covered <= 60


def test_the_commands_it_shows_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["demo"]) == 0
    told = capsys.readouterr().out
    commands = [line.split()[1:] for line in told.splitlines() if line.startswith("   gnomon ")]
    assert len(commands) == 6
    files = [path for path in (tmp_path / "demo").iterdir() if path.is_file()]
    assert {path.suffix for path in files} == {".csv", ".png", ".html", ".json"}
    assert "300 documents" in told
    for command in commands:
        assert run(command) == 0
        shown = capsys.readouterr().out
        if command[0] == "calibrate" and "--group" not in command:
            first = next(
                line for line in shown.splitlines() if line.startswith("calibration error")
            )
            assert first in told


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("")
    from gnomon.demo import tell

    with pytest.raises(InputError, match="is not a folder"):
        list(tell(tmp_path / "demo", rows=100))
