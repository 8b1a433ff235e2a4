"""`gnomon tag` as a person at a terminal meets it."""

import json
from pathlib import Path

import numpy as np
import pytest

from gnomon.cli import run

TAGS = ("NN", "VB", "DT")


def write(path: Path, sentences: int, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    text = ""
    for _ in range(sentences):
        for tag in rng.choice(TAGS, size=rng.integers(2, 7)):
            text += f"{str(tag).lower()}{rng.integers(5)}\t{tag}\n"
        text += "\n"
    path.write_text(text)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "train.tsv", 60, 1)
    write(tmp_path / "dev.tsv", 20, 2)
    return tmp_path


@pytest.mark.parametrize("model", ["hmm", "crf"])
def test_train_predict_evaluate(
    folder: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["tag", "train", "train.tsv", "--dev", "dev.tsv", "--out", "m.npz"]
    assert run([*command, "--model", model, "--temperature"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{model.upper()} of 3 tags from 60 sentences")
    assert "development accuracy" in out
    assert run(["tag", "predict", "m.npz", "dev.tsv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    words = [line.split("\t")[0] for line in lines if line]
    assert words == [
        line.split("\t")[0] for line in Path("dev.tsv").read_text().split("\n") if line
    ]
    assert run(["tag", "evaluate", "m.npz", "dev.tsv", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert 0.5 < said["accuracy"] <= 1
    assert {row["group"] for row in said["groups"]} == set(TAGS)
    assert run(["tag", "evaluate", "m.npz", "dev.tsv", "--pairs", "4", "--bin-size", "50"]) == 0
    assert "over all 4 groups" in capsys.readouterr().out


def test_marginals_samples_and_best(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tag", "train", "train.tsv", "--out", "m.npz", "--model", "hmm"]) == 0
    capsys.readouterr()
    Path("words.txt").write_text("dt1\nnn2\n\nvb0\n")
    outs = {}
    for give in ("marginals", "samples", "best"):
        assert run(["tag", "predict", "m.npz", "words.txt", "--give", give]) == 0
        outs[give] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["words"] for row in outs["marginals"]] == [["dt1", "nn2"], ["vb0"]]
    assert next(iter(outs["marginals"][0]["marginals"][0])) == "DT"
    assert len(outs["samples"][1]["samples"]) == 10
    assert outs["best"][1]["best"][0]["tags"] == ["VB"]
    assert len(outs["best"][1]["best"]) == 3
    assert sum(np.exp(b["log_probability"]) for b in outs["best"][1]["best"]) == pytest.approx(1)


def test_pages_and_charts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tag", "train", "train.tsv", "--out", "m.npz", "--model", "hmm"]) == 0
    command = ["tag", "evaluate", "m.npz", "dev.tsv", "--html", "a.html", "--chart", "a.png"]
    assert run(command) == 0
    assert "<svg" in Path("a.html").read_text() or "vega" in Path("a.html").read_text()
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "train.tsv", "--out", "m.txt"], "end the name in .npz"),
        (["train", "train.tsv", "--out", "m.npz", "--model", "lstm"], "'lstm' is not a model"),
        (["train", "nothing.tsv", "--out", "m.npz"], "nothing.tsv: cannot be read"),
        (["train", "train.tsv", "--out", "m.npz", "--temperature"], "nothing to choose it by"),
        (["train", "train.tsv", "--out", "m.npz", "--c2", "1", "--c2", "2"], "nothing to choose"),
        (["predict", "train.tsv", "train.tsv"], "train.tsv"),
        (["evaluate", "none.npz", "train.tsv"], "none.npz"),
    ],
)
def test_wrong_arguments_get_one_line(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tag", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
