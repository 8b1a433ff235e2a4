"""Making a corpus: every format, bad documents aside, the same bytes however it is run."""

import datetime
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gnomon.corpus.build import build
from gnomon.corpus.store import Corpus
from gnomon.errors import InputError

WORDS = ("the", "army", "town", "river", "said", "attacked", "left", "by", "on", "Friday", "it")


def record(k: int, rng: random.Random) -> dict[str, Any]:
    sentences = [" ".join(rng.choices(WORDS, k=rng.randint(4, 14))) for _ in range(4)]
    return {
        "id": f"n{k}",
        "date": str(datetime.date(2004, 1, 1) + datetime.timedelta(days=k)),
        "title": f"Title {k}",
        "text": ". ".join(s.capitalize() for s in sentences) + ".",
    }


def jsonl(path: Path, n: int) -> Path:
    rng = random.Random(7)
    path.write_text("".join(json.dumps(record(k, rng)) + "\n" for k in range(n)), encoding="utf-8")
    return path


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a corpus."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_texts_with_bad_ones_among_them(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl", 6)
    lines = source.read_text().splitlines()
    lines[1] = lines[1].replace("2004-01-02", "2004-13-02")
    lines[2] = lines[2][:-20]
    lines[4] = lines[4].replace('"n4"', '"n3"')
    lines.append('{"id": "empty", "text": "   "}')
    lines.append('{"id": "../../etc/passwd", "text": "It rained."}')
    source.write_text("\n".join(lines))
    summary = build(source, tmp_path / "corpus", workers=0)
    corpus = Corpus(tmp_path / "corpus")
    assert [d.id for d in corpus.documents()] == ["n0", "n3", "n5", "../../etc/passwd"]
    assert summary.rows == 4
    assert summary.problems == 4
    problems = list(corpus.problems())
    assert [p["where"].rpartition("line ")[2] for p in problems] == ["2", "3", "5", "7"]
    assert {p.name for p in (tmp_path / "corpus").rglob("*") if p.is_file()} == {
        "manifest.json", "part-00000.parquet", "documents-00000.jsonl"
    }  # fmt: skip


def test_strict_stops_at_the_first(tmp_path: Path) -> None:
    source = tmp_path / "news.jsonl"
    source.write_text('{"id": "a", "text": "It rained."}\n{"id": "b"}\n')
    with pytest.raises(InputError, match="line 2"):
        build(source, tmp_path / "corpus", workers=0, strict=True)


def test_limit_dates_and_titles(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl", 9)
    build(source, tmp_path / "a", workers=0, limit=3)
    assert [d.id for d in Corpus(tmp_path / "a").documents()] == ["n0", "n1", "n2"]
    since, until = datetime.date(2004, 1, 3), datetime.date(2004, 1, 5)
    build(source, tmp_path / "b", workers=0, since=since, until=until, title=True)
    found = list(Corpus(tmp_path / "b").documents())
    assert [d.id for d in found] == ["n2", "n3", "n4"]
    assert found[0].text().startswith("Title 2\n\n")


def test_dates_of_annotated_documents(tmp_path: Path) -> None:
    word = "1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
    source = tmp_path / "in.conllu"
    source.write_text(
        "".join(f"# newdoc id = d{k}\n# meta::dateCreated = 200{k}\n{word}" for k in range(4))
    )
    build(source, tmp_path / "c", workers=0, since=datetime.date(2002, 1, 1))
    assert [d.id for d in Corpus(tmp_path / "c").documents()] == ["d2", "d3"]


def test_a_folder_of_conllu_files(tmp_path: Path) -> None:
    word = "1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
    folder = tmp_path / "in"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "two.conllu").write_text(f"# newdoc id = x\n{word}# newdoc id = y\n{word}")
    (folder / "one.conllu").write_text(f"# newdoc id = x\n{word}")
    summary = build(folder, tmp_path / "c", workers=0)
    assert [d.id for d in Corpus(tmp_path / "c").documents()] == ["x", "y"]
    assert summary.problems == 1
    [problem] = Corpus(tmp_path / "c").problems()
    assert "one.conllu, line 1" in problem["where"]
    with pytest.raises(InputError, match="no conll2012 file in this folder"):
        build(folder, tmp_path / "d", workers=0, format="conll2012")


def test_a_folder_of_several_kinds_is_not_guessed_at(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "readme.txt").write_text("Read me.")
    (folder / "one.conllu").write_text("1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(InputError, match="several kinds: conllu, txt"):
        build(folder, tmp_path / "c", workers=0)
    build(folder, tmp_path / "d", workers=0, format="conllu")
    assert [d.id for d in Corpus(tmp_path / "d").documents()] == ["one"]


def test_strict_raises_the_first_fault_of_the_file(tmp_path: Path) -> None:
    good = "1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
    bad = good.replace("\t0\troot", "\t7\tdep")
    source = tmp_path / "in.conllu"
    source.write_text(f"# newdoc id = a\n{bad}# newdoc id = b\n{good}# newdoc id = b\n{good}")
    with pytest.raises(InputError, match="line 2"):
        build(source, tmp_path / "c", workers=0, strict=True)


def test_an_empty_document_takes_no_other_with_it(tmp_path: Path) -> None:
    good = "1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
    source = tmp_path / "in.conllu"
    source.write_text(f"# newdoc id = empty\n# newdoc id = full\n{good}")
    summary = build(source, tmp_path / "c", workers=0)
    assert [d.id for d in Corpus(tmp_path / "c").documents()] == ["full"]
    assert summary.problems == 1


def test_what_failed_at_once_may_be_corrected(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl", 3)
    until, since = datetime.date(2004, 1, 1), datetime.date(2005, 1, 1)
    with pytest.raises(InputError, match="is after until"):
        build(source, tmp_path / "c", workers=0, since=since, until=until)
    assert build(source, tmp_path / "c", workers=0).rows == 3


def test_other_peoples_folders_are_left_alone(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl", 3)
    with pytest.raises(InputError, match="has other things in it"):
        build(source, tmp_path, workers=0)
    assert [path.name for path in tmp_path.iterdir()] == ["news.jsonl"]


def test_a_part_damaged_at_its_length_is_made_again(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl", 6)
    build(source, tmp_path / "c", workers=0, shard=2)
    before = content(tmp_path / "c")
    part = tmp_path / "c" / "documents" / "part-00001.parquet"
    part.write_bytes(b"x" * len(part.read_bytes()))
    build(source, tmp_path / "c", workers=0, shard=2)
    assert content(tmp_path / "c") == before


def test_other_settings_do_not_continue(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl", 3)
    build(source, tmp_path / "corpus", workers=0)
    with pytest.raises(InputError, match="made with title False, not True"):
        build(source, tmp_path / "corpus", workers=0, title=True)
    with source.open("a") as handle:
        handle.write('{"text": "More."}\n')
    with pytest.raises(InputError, match="made with input"):
        build(source, tmp_path / "corpus", workers=0)


def test_workers_do_not_matter(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl", 30)
    build(source, tmp_path / "here", workers=0, shard=4)
    build(source, tmp_path / "there", workers=2, shard=4)
    assert content(tmp_path / "here") == content(tmp_path / "there")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_cluster_does_not_matter(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    source = jsonl(tmp_path / "news.jsonl", 30)
    build(source, tmp_path / "here", workers=0, shard=4)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        build(source, tmp_path / "there", cluster=cluster.scheduler_address, shard=4)
    assert content(tmp_path / "here") == content(tmp_path / "there")


def test_killed_and_continued(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl", 80)
    build(source, tmp_path / "whole", workers=0, shard=2)
    target = tmp_path / "killed"
    program = "from gnomon.cli import main; main()"
    command = [sys.executable, "-c", program, "parse", str(source), str(target)]
    rng = random.Random(11)
    for parts in (3, 11, 23):  # killed when it has made about so many
        process = subprocess.Popen([*command, "--shard", "2", "--workers", "1"])
        deadline = time.monotonic() + 60
        while len(list(target.glob("documents/part-*"))) < parts and time.monotonic() < deadline:
            time.sleep(0.01 * rng.random())
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    made = len(list(target.glob("documents/part-*")))
    assert 23 <= made < 40, "it should have been killed in the middle"
    summary = build(source, target, workers=0, shard=2)
    assert summary.resumed
    assert content(target) == content(tmp_path / "whole")
