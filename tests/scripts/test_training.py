"""Training the pipeline is deterministic, and a killed training ends with the same weights."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import spacy

from gnomon import wire
from gnomon.corpus.document import Document
from gnomon.corpus.parse import pipeline
from gnomon.corpus.source import Raw


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The training script, with generated news in place of the treebanks."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "scripts"), *sys.path])
    import train_parser

    raws = [Raw(a.id, "text", a.text, "wire") for a in wire.articles(12, seed=5)]
    chunks = [
        chunk
        for document in pipeline().parse(raws)
        if isinstance(document, Document)
        for chunk in train_parser.chunks(document, longest=10, silver=False)
    ]
    monkeypatch.setattr(train_parser, "gold", lambda: chunks[:20])
    monkeypatch.setattr(train_parser, "silver", lambda: chunks[20:])
    monkeypatch.setattr(train_parser, "quick_figures", lambda nlp: "")
    monkeypatch.setattr(train_parser, "SILVER_ROUNDS", 1)
    monkeypatch.setattr(train_parser, "GOLD_ROUNDS", 2)
    return train_parser


def weights(folder: Path) -> dict[str, bytes]:
    nlp = spacy.load(folder / "final")
    return {
        f"{name}/{k}/{parameter}": np.asarray(node.get_param(parameter)).tobytes()
        for name, component in nlp.pipeline
        for k, node in enumerate(component.model.walk())  # type: ignore[attr-defined]
        for parameter in node.param_names
        if node.has_param(parameter)
    }


def test_stopped_and_continued(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.train(tmp_path / "whole")
    say = script.say

    def stop(text: str) -> None:
        say(text)
        if text.startswith("round 2"):
            raise KeyboardInterrupt

    monkeypatch.setattr(script, "say", stop)
    with pytest.raises(KeyboardInterrupt):
        script.train(tmp_path / "stopped")
    monkeypatch.setattr(script, "say", say)
    script.train(tmp_path / "stopped")
    first, second = weights(tmp_path / "whole"), weights(tmp_path / "stopped")
    assert len(first) > 20
    assert first == second
