"""The bundled pipeline is the one its card speaks of, small enough, and as good as it says."""

import json
import sys
from importlib import resources
from pathlib import Path

import pytest

from gnomon.corpus.parse import BUNDLED, pipeline

HOME = Path(str(resources.files("gnomon"))) / "resources" / BUNDLED
FIGURES = json.loads((HOME / "figures.json").read_text(encoding="utf-8"))
CARD = (HOME / "README.md").read_text(encoding="utf-8")


def test_it_is_small() -> None:
    assert (HOME / "pipeline.xz").stat().st_size <= 12_000_000


def test_the_figures_are_of_this_pipeline() -> None:
    assert FIGURES["pipeline"] == pipeline().version


def test_the_card_has_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = Path(__file__).parents[2] / "scripts"
    monkeypatch.setattr(sys, "path", [str(scripts), *sys.path])
    from evaluate_pipeline import table

    assert table(FIGURES["figures"]) in CARD


def test_it_is_as_good_as_the_card_says(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = Path(__file__).parents[2] / "scripts"
    monkeypatch.setattr(sys, "path", [str(scripts), *sys.path])
    from evaluate_pipeline import evaluate

    found, told = evaluate(BUNDLED, "gum/dev"), FIGURES["figures"]["gum/dev"]
    for name in ("words", "sentences", "TAG", "UAS", "LAS"):
        assert found[name] == pytest.approx(told[name], abs=0.1)
