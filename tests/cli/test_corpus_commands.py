"""`gnomon parse` and `gnomon corpus` as a person at a terminal meets them."""

import json
from pathlib import Path

import pytest

from gnomon.cli import run

NEWS = [
    {"id": "a", "date": "2005-03-02", "title": "Rain", "text": "Rain fell in the north."},
    {"id": "b", "date": "2005-04-02", "title": "Sun", "text": "The sun shone.\n\nIt was warm."},
    {"id": "c", "date": "yesterday", "title": "Fog", "text": "Fog came."},
    {"id": "d", "title": "Wind", "text": "Wind blew."},
]


@pytest.fixture
def news(tmp_path: Path) -> Path:
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in NEWS))
    return path


@pytest.fixture
def corpus(news: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = news.parent / "corpus"
    assert run(["parse", str(news), str(folder), "--workers", "0"]) == 0
    capsys.readouterr()
    return folder


def test_parse_says_what_it_made(news: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = news.parent / "corpus"
    assert run(["parse", str(news), str(folder), "--workers", "0"]) == 0
    out = capsys.readouterr().out
    assert "3 documents, 17 words, 4 sentences in 1 parts" in out
    assert "1 documents were put aside; see: gnomon corpus info" in out
    assert run(["parse", str(news), str(folder), "--workers", "0", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["documents"] == 3
    assert said["quarantined"] == 1
    assert said["continued"] is True


def test_info(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["corpus", "info", str(corpus), "--verify"]) == 0
    out = capsys.readouterr().out
    assert "2005-03-02 to 2005-04-02, 1 without" in out
    assert "en_gnomon_sm" in out
    assert "line 3" in out
    assert "'yesterday' is not a date" in out
    assert run(["corpus", "info", str(corpus), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["first_date"] == "2005-03-02"
    assert said["words"] == 17
    assert said["finished"] is True


def test_until_a_year_is_until_its_end(news: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = news.parent / "year"
    command = ["parse", str(news), str(folder), "--workers", "0", "--until", "2005", "--json"]
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 2


def test_export(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["corpus", "export", str(corpus), "-", "--format", "jsonl", "--id", "b"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == NEWS[1]
    target = corpus.parent / "out.conllu.gz"
    assert run(["corpus", "export", str(corpus), str(target)]) == 0
    again = corpus.parent / "again"
    assert run(["parse", str(target), str(again), "--workers", "0"]) == 0
    capsys.readouterr()
    assert run(["corpus", "export", str(again), "-", "--format", "conllu"]) == 0
    once = capsys.readouterr().out
    assert run(["corpus", "export", str(corpus), "-", "--format", "conllu"]) == 0
    assert capsys.readouterr().out == once


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parse", "nothing.jsonl", "c"], "nothing.jsonl: cannot be read"),
        (["parse", "news.jsonl", "c", "--pipeline", "xx_none"], "it cannot be loaded"),
        (["parse", "news.jsonl", "c", "--since", "soon"], "--since: 'soon' is not a date"),
        (["parse", "news.jsonl", "c", "--field", "text"], "--field: 'text' is not of the form"),
        (["parse", "news.jsonl", "c", "--field", "words=text"], "'words' is not a field of ours"),
        (["parse", "news.jsonl", "c", "--format", "pdf"], "--format: 'pdf' is not a format"),
        (["parse", "news.jsonl", "c", "--strict"], "line 3"),
        (["parse", "news.jsonl", "c", "--limit", "0"], "--limit"),
        (["parse", "news.jsonl", "news.jsonl"], "news.jsonl"),
        (["parse", "news.jsonl", "c", "--since", "2006", "--until", "2005"], "is after until"),
        (["parse", "news.jsonl", "c", "--field", "text=nope"], "not one of its 4 documents"),
        (["parse", "news.jsonl", "c", "--until", "1999"], "not one of its 1 documents"),
        (["corpus", "info", "nowhere"], "nowhere: this is no corpus"),
        (["corpus", "export", "nowhere", "x.pdf"], "x.pdf: its name does not tell the format"),
    ],
)
def test_wrong_arguments_get_one_line(
    news: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(news.parent)
    if arguments[0] == "parse":
        arguments = [*arguments, "--workers", "0"]
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1
