"""The files: what is in them, the same for the same seed, whole or not at all."""

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import typer

from gnomon import tables
from gnomon.cli.wire import demo_wire
from gnomon.errors import InputError
from gnomon.wire import articles, truth, write
from gnomon.wire.folder import FILES, cell
from gnomon.wire.process import Process

N = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wire") / "deep" / "wire"
    write(path, N, seed=4)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_the_files_hold_the_articles(folder: Path) -> None:
    wire = list(articles(N, seed=4))
    lines = (folder / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": a.id, "date": a.date.isoformat(), "title": a.title, "text": a.text} for a in wire
    ]
    mentions = rows(folder / "mentions.csv")
    assert [(r["document"], r["text"]) for r in mentions] == [
        (a.id, m.text) for a in wire for m in a.mentions
    ]
    texts = {a.id: a.text for a in wire}
    for row in mentions:
        assert texts[row["document"]][int(row["start"]) : int(row["end"])] == row["text"]
    facts = rows(folder / "facts.csv")
    assert [(r["document"], r["kind"], r["actor"], int(r["agent"])) for r in facts] == [
        (a.id, f.kind, f.actor, f.agent) for a in wire for f in a.facts
    ]
    assert [tuple(r.values()) for r in rows(folder / "truth.csv")] == [
        tuple(map(str, row)) for a in wire for row in truth(a)
    ]
    assert any("," in row["text"] for row in mentions)  # so that quotation was needed


def test_the_truth_is_what_the_facts_say(folder: Path) -> None:
    facts = rows(folder / "facts.csv")
    said = {(f["document"], f["actor"], f["kind"]) for f in facts if f["lemma"] == "attack"}
    violent = {
        (f["document"], f["actor"])
        for f in facts
        if f["lemma"] != "attack" and f["kind"] == "asserted"
    }
    struck = {
        (f["document"], f["target"])
        for f in facts
        if f["lemma"] == "attack" and f["kind"] in ("asserted", "agentless")
    }
    table = rows(folder / "truth.csv")
    assert len({(r["document"], r["actor"]) for r in table}) == len(table)
    kinds = ("nominal", "negated", "future", "attributed", "ordered", "figurative", "other_sense")
    for row in table:
        key = row["document"], row["actor"]
        assert row["attacked"] == str(int((*key, "asserted") in said))
        assert row["violent"] == str(int(key in violent))
        assert row["victim"] == str(int(key in struck))
        assert all(row[kind] == str(int((*key, kind) in said)) for kind in kinds)
    listed = {(r["document"], r["actor"]) for r in table}
    assert {(d, actor) for d, actor, _ in said if actor} <= listed
    counts = Counter((m["document"], m["actor"]) for m in rows(folder / "mentions.csv"))
    assert all(counts[r["document"], r["actor"]] == int(r["mentions"]) for r in table)


def test_the_rates_are_the_process_s(folder: Path) -> None:
    table = tables.read(folder / "rates.csv")
    assert table.columns == ["period", "start", "end", "actor", "probability", "rate"]
    chance = Process(4, *_dates()).attack_probability()
    assert {(r["period"], r["actor"]): r["probability"] for r in table.iter_rows(named=True)} == (
        pytest.approx(chance, rel=1e-8)
    )
    assert (table["rate"] - N * table["probability"]).abs().max() < 1e-6  # type: ignore[operator]


def _dates() -> tuple[Any, Any]:
    from gnomon.wire.compose import SINCE, UNTIL

    return SINCE, UNTIL


def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "again", N, seed=4)
    for name in (*FILES, "README.txt"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_a_longer_wire_starts_with_a_shorter(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "longer", N + 250, seed=4)
    for name in FILES[:-1]:
        longer = (tmp_path / "longer" / name).read_bytes()
        assert longer.startswith((folder / name).read_bytes())


def test_gzip_holds_the_same(folder: Path, tmp_path: Path) -> None:
    done = write(tmp_path, N, seed=4, zipped=True)
    assert sorted(done.files) == sorted(path.name for path in tmp_path.iterdir())
    for name in FILES:
        packed = (tmp_path / f"{name}.gz").read_bytes()
        assert gzip.decompress(packed) == (folder / name).read_bytes()
    write(tmp_path / "again", N, seed=4, zipped=True)
    assert (tmp_path / "again" / "truth.csv.gz").read_bytes() == (
        tmp_path / "truth.csv.gz"
    ).read_bytes()


def test_a_full_folder_is_refused_unless_told(tmp_path: Path) -> None:
    write(tmp_path, 20, zipped=True)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"is not empty; name another folder or use --overwrite$"):
        write(tmp_path, 10)
    write(tmp_path, 10, overwrite=True)
    assert {path.name for path in tmp_path.iterdir()} == {*FILES, "README.txt", "notes.txt"}


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for name in ("file", "file/below", "x" * 300, "zero\0byte"):
        path = tmp_path / name
        with pytest.raises(InputError, match="cannot be a folder to write into"):
            write(path, 5)


def test_an_unwritable_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the refusal of the system is played."""

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", forbidden)
    with pytest.raises(InputError, match=r"\(Permission denied\); name a folder you may write to$"):
        write(tmp_path / "wire", 5)


def test_nothing_is_left_of_an_interrupted_wire(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        assert (done, total) == (500, 1200)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "wire", 1200, progress=stop)
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "wire", 20, seed=1)
    before = {path.name: path.read_bytes() for path in (tmp_path / "wire").iterdir()}
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "wire", 1200, seed=2, overwrite=True, progress=stop)
    assert {path.name: path.read_bytes() for path in (tmp_path / "wire").iterdir()} == before


def test_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="documents: 0 documents; ask for 1 or more"):
        write(tmp_path / "wire", 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["plain", "a, b", 'say "so"', "two\nlines", 'all, "of"\r\nit', ""])
def test_cells_are_escaped(text: str) -> None:
    assert next(csv.reader([*f"{cell(text)},end\n".splitlines(keepends=True)])) == [text, "end"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()
    app.command()(demo_wire)
    arguments = [
        str(tmp_path / "w"),
        "--documents",
        "30",
        "--since",
        "2016",
        "--until",
        "2016-06-30",
    ]
    app([*arguments, "--json"], standalone_mode=False)
    printed = json.loads(capsys.readouterr().out)
    assert printed["documents"] == 30
    assert (printed["since"], printed["until"]) == ("2016-01-01", "2016-06-30")
    assert printed["attacks"] == sum(int(r["attacked"]) for r in rows(tmp_path / "w" / "truth.csv"))
    app([*arguments, "--overwrite"], standalone_mode=False)
    assert "30 articles from 2016-01-01 to 2016-06-30, seed 0" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"--until: 'soon' is not a date; write it as YYYY-MM-DD"):
        app([str(tmp_path / "x"), "--until", "soon"], standalone_mode=False)
