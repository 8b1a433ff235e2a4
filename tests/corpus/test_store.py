"""A corpus on the disk: what goes in comes out, by id, date and part, and without Gnomon."""

import datetime
from pathlib import Path

import polars as pl
import pytest

from gnomon.corpus import conllu, store
from gnomon.corpus.build import build
from gnomon.corpus.document import Document
from gnomon.corpus.rows import from_table, to_table
from gnomon.corpus.source import Raw
from gnomon.corpus.store import Corpus
from gnomon.errors import InputError

SENTENCE = (
    "1\tRain\train\tNOUN\tNN\tNumber=Sing\t2\tnsubj\t_\t_\n"
    "2\tfell\tfall\tVERB\tVBD\t_\t0\troot\t_\t_\n\n"
)


def conllu_file(folder: Path, documents: int, bad: frozenset[int] = frozenset()) -> Path:
    """A file of dated one-sentence documents, some with a head that does not exist."""
    text = ""
    for k in range(documents):
        sentence = SENTENCE.replace("\t2\tnsubj", "\t7\tnsubj") if k in bad else SENTENCE
        date = datetime.date(2001, 1, 1) + datetime.timedelta(days=k)
        text += f"# newdoc id = d{k}\n# meta::dateCreated = {date}\n{sentence}"
    path = folder / "in.conllu"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    source = conllu_file(tmp_path, 10, bad=frozenset({4}))
    build(source, tmp_path / "corpus", workers=0, shard=3)
    return Corpus(tmp_path / "corpus")


def test_documents_come_back_in_order(corpus: Corpus) -> None:
    assert [d.id for d in corpus.documents()] == [f"d{k}" for k in range(10) if k != 4]
    assert len(corpus) == 9
    assert corpus.counts["words"] == 18
    assert corpus.counts["dated"] == 9


def test_by_id_date_and_part(corpus: Corpus) -> None:
    assert corpus.document("d7").date == datetime.date(2001, 1, 8)
    assert [d.id for d in corpus.documents(ids=["d8", "d1"])] == ["d1", "d8"]
    since, until = datetime.date(2001, 1, 3), datetime.date(2001, 1, 4)
    assert [d.id for d in corpus.documents(since=since, until=until)] == ["d2", "d3"]
    assert [d.id for d in corpus.documents(parts=[1])] == ["d3", "d5"]
    with pytest.raises(InputError, match="there is no document 'nobody'"):
        corpus.document("nobody")
    with pytest.raises(InputError, match="there is no part 9"):
        list(corpus.documents(parts=[9]))


def test_what_was_put_aside(corpus: Corpus) -> None:
    [problem] = corpus.problems()
    assert problem["id"] == "d4"
    assert "in.conllu, line 23" in problem["where"]
    assert problem["text"].startswith("# newdoc id = d4")


def test_readable_without_gnomon(corpus: Corpus) -> None:
    table = pl.read_parquet([str(path) for path in corpus.parts])
    assert table["form"].explode().to_list() == ["Rain", "fell"] * 9
    assert table.schema["form"] == pl.List(pl.String)
    assert table.schema["date"] == pl.Date
    assert corpus.scan().select(pl.col("head").list.len().sum()).collect().item() == 18


def test_layers_survive(data: Path) -> None:
    documents = list(conllu.read(data / "gum" / "dev.conllu.gz"))
    for before, after in zip(documents, from_table(to_table(documents)), strict=True):
        assert before.same_as(after), before.id


def test_a_missing_layer_is_not_an_empty_one() -> None:
    document = conllu.parse(Raw("a", "conllu", f"# newdoc id = a\n{SENTENCE}", "here"))
    assert document.mentions is None
    [back] = from_table(to_table([document]))
    assert back.mentions is None
    assert back.relations is None
    assert back.same_as(document)


def test_equal_documents_give_equal_bytes() -> None:
    raw = Raw("a", "conllu", f"# newdoc id = a\n{SENTENCE}", "here")
    one, two = (store.outcome([conllu.parse(raw)]) for _ in range(2))
    assert one.content == two.content
    assert one.counts == two.counts


def test_not_a_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no corpus"):
        Corpus(tmp_path)


def test_a_newer_format(corpus: Corpus) -> None:
    path = corpus.folder / "manifest.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(InputError, match="newer Gnomon"):
        Corpus(corpus.folder)


def test_a_damaged_part_is_named(corpus: Corpus) -> None:
    part = corpus.parts[1]
    content = bytearray(part.read_bytes())
    content[4:200] = b"\0" * 196
    part.write_bytes(content)
    with pytest.raises(InputError, match=r"part-00001\.parquet"):
        list(Corpus(corpus.folder).documents())


def test_a_cut_off_part_is_seen_at_once(corpus: Corpus) -> None:
    part = corpus.parts[0]
    part.write_bytes(part.read_bytes()[:-10])
    with pytest.raises(InputError, match=r"part-00000\.parquet"):
        Corpus(corpus.folder)


def test_no_documents_at_all() -> None:
    empty: list[Document] = []
    assert list(from_table(to_table(empty))) == []
