"""CoNLL-U: what a document's lines mean, what is refused and where, files in and out."""

import datetime
import gzip
import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from documents import documents, raw, row
from hypothesis import given, settings

from gnomon.corpus import conllu
from gnomon.corpus.document import Document, Fusions, Mentions, Relation, ints
from gnomon.corpus.source import Refused
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

SENTENCE = row(1, "Rain", 2) + row(2, "falls") + "\n"
EXAMPLE = (
    "# newdoc id = weather\n"
    "# global.Entity = GRP-etype-infstat\n"
    "# meta::title = On  rain\n"
    "# meta::dateCreated = 2011-05-03\n"
    "# meta::genre = news\n"
    "# newpar\n"
    "# newpar_block = head\n"
    "# sent_id = weather-1\n"
    "# text = Ann doesn't like Bo's rain.\n"
    "# s_type = decl\n"
    "1\tAnn\tAnn\tPROPN\tNNP\tNumber=Sing\t4\tnsubj\t4:nsubj\tEntity=(1-person-new)\n"
    "2-3\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tdoes\tdo\tAUX\tVBZ\t_\t4\taux\t4:aux\t_\n"
    "3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t4:advmod\tMSeg=n't\n"
    "3.1\tghost\tghost\tNOUN\tNN\t_\t_\t_\t4:obj\t_\n"
    "4\tlike\tlike\tVERB\tVB\t_\t0\troot\t0:root\tDiscourse=a:1|PDTB=Explicit:S.T:as:5:1-4:5-6,7|X=1\n"
    "5-6\tBo's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "5\tBo\tBo\tPROPN\tNNP\t_\t7\tnmod\t_\tEntity=(3-object-new(2-person-new\n"
    "6\t's\t's\tPART\tPOS\t_\t5\tcase\t_\tEntity=2)\n"
    "7\train\train\tNOUN\tNN\t_\t4\tobj\t_\tEntity=3)|SpaceAfter=No\n"
    "8\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_\n"
    "\n"
    "# sent_id = weather-2\n"
    "# speaker = Ann\n"
    "# text = _\n"
    "1\t_\t_\tSYM\t_\t_\t0\troot\t_\t_\n"
    "\n"
)


def test_what_the_lines_of_a_document_mean() -> None:
    document = conllu.parse(raw(EXAMPLE, "weather"))
    assert (document.id, document.title, document.date) == (
        "weather", "On  rain", datetime.date(2011, 5, 3),
    )  # fmt: skip
    assert document.meta == {"global.Entity": "GRP-etype-infstat", "genre": "news"}
    assert list(document.form) == ["Ann", "does", "n't", "like", "Bo", "'s", "rain", ".", "_"]
    assert list(document.lemma)[-2:] == [".", "_"]
    assert list(document.xpos)[-2:] == [".", ""]
    assert list(document.feats) == ["Number=Sing"] + [""] * 8
    assert document.head.tolist() == [3, 3, 3, -1, 6, 4, 3, 3, -1]
    assert document.sentence.tolist() == [0, 8, 9]
    assert document.paragraph.tolist() == [0]
    assert list(document.sentence_id) == ["weather-1", "weather-2"]
    assert list(document.speaker) == ["", "Ann"]
    assert list(document.comments) == ["newpar_block = head\ns_type = decl", ""]
    assert list(document.misc) == ["", "", "MSeg=n't", "Discourse=a:1|X=1"] + [""] * 5
    assert document.fusions.form == ("doesn't", "Bo's")
    assert document.fusions.start.tolist() == [1, 4]
    assert document.fusions.end.tolist() == [3, 6]
    assert document.space_after.tolist() == [
        True,
        False,
        True,
        True,
        False,
        False,
        False,
        True,
        True,
    ]
    assert document.text() == "Ann doesn't like Bo'srain. _"
    assert document.relations == (
        Relation("Explicit", "S.T", "as", ((4, 5),), ((0, 4),), ((4, 6), (6, 7)), 3),
    )
    mentions = document.mentions
    assert mentions is not None
    assert mentions.entities == ("1", "3", "2")
    assert mentions.start.tolist() == [0, 4, 4]
    assert mentions.end.tolist() == [1, 7, 6]
    assert mentions.head.tolist() == [0, 6, 4]


def test_what_is_written() -> None:
    text = conllu.dumps(conllu.parse(raw(EXAMPLE, "weather")))
    lines = text.splitlines()
    assert "# text = Ann doesn't like Bo'srain." in lines
    assert "5-6\tBo's" + "\t_" * 7 + "\tSpaceAfter=No" in lines
    kept = [line for line in EXAMPLE.splitlines() if line and not line.startswith(("#", "3.1"))]
    enhanced = ["\t".join([*(c := line.split("\t"))[:8], "_", c[9]]) for line in kept]
    assert [line for line in lines if line and not line.startswith("#")] == enhanced
    assert text.endswith("\n\n")


@given(documents())
@settings(max_examples=300)
def test_any_document_reads_back_the_same(document: Document) -> None:
    text = conllu.dumps(document)
    again = conllu.parse(raw(text, document.id))
    assert again.same_as(document)
    assert conllu.dumps(again) == text


def test_columns_left_out_are_written_as_none() -> None:
    bare = Document(
        "d", Strings.of(["Go"]), *(Strings.of([""]),) * 4, ints([-1]), Strings.of([""]),
        np.array([True]), ints([0, 1]), datetime.date(2001, 2, 3), "A\ntitle ",
    )  # fmt: skip
    again = conllu.parse(raw(conllu.dumps(bare)))
    assert again.same_as(replace(bare, title="A title"))


@pytest.mark.parametrize("key", ["dateCreated", "date"])
def test_a_date_in_another_form_is_kept_as_it_is(key: str) -> None:
    document = conllu.parse(raw(f"# meta::{key} = 2011-05\n" + SENTENCE))
    assert document.date == datetime.date(2011, 5, 1)
    assert document.meta == {key: "2011-05"}
    text = conllu.dumps(document)
    assert text.count("2011") == 1
    assert conllu.parse(raw(text)).same_as(document)


def test_windows_line_ends_and_paragraph_ids() -> None:
    text = "# newpar id = p1\n" + SENTENCE
    document = conllu.parse(raw(text.replace("\n", "\r\n")))
    assert document.same_as(conllu.parse(raw(text)))
    assert document.paragraph.tolist() == [0]
    assert list(document.comments) == ["newpar id = p1"]
    assert conllu.dumps(document).count("newpar") == 1


def many(n: int) -> str:
    """A sentence of n words, each the head of the next."""
    return "".join(row(k, "w", k - 1) for k in range(1, n + 1))


def test_a_very_long_sentence() -> None:
    document = conllu.parse(raw(many(2500)))
    assert document.head.tolist() == list(range(-1, 2499))


FAULTS = {
    "1\tRain\n": (1, "2 columns, not 10"),
    SENTENCE + "# x\n1\tRain\n": (5, "2 columns, not 10"),
    row(1, "a").rstrip("\n") + "\tx\n": (1, "11 columns"),
    row(2, "a"): (1, "the id '2' where 1 was expected"),
    row(1, "a") + row(1, "b", 1): (2, "the id '1' where 2"),
    row("x", "a"): (1, "the id 'x'"),
    row(1, "a") + row("²", "b", 1): (2, "the id '²'"),
    row(1, "a", "x"): (1, "the head 'x' is not a number"),
    row(1, "a", "-1"): (1, "the head '-1' is not"),
    row(1, "a", "9" * 5000): (1, "is not a number"),
    row(1, "a", 2): (1, "the head 2 is not a word"),
    row(1, "a", 0) + row(2, "b", 2000): (2, "the head 2000 is not a word"),
    row(1, "a", 1) + row(2, "b", 0): (1, "on the word itself"),
    row(1, "a", 2) + row(2, "b", 1) + row(3, "c", 0): (1, "a cycle"),
    SENTENCE + row(1, "a", 2) + row(2, "b", 1): (4, "no root"),
    SENTENCE + row(1, "a", 0) + row(2, "b", 0): (4, "2 roots"),
    row(1, ""): (1, "the FORM column is empty"),
    SENTENCE + row(1, "a", deprel=""): (4, "the DEPREL column is empty"),
    row(1, "a", misc=""): (1, "the MISC column is empty"),
    row("1-2", "ab", "_") + row(1, "a"): (1, "the multiword token 1-2 is longer"),
    row("1-1", "ab", "_") + row(1, "a"): (1, "the multiword token 1-1 does not fit"),
    row(1, "a") + row("1-2", "ab", "_") + row(2, "b", 1): (2, "1-2 does not fit after word 1"),
    row("1-3", "x", "_") + row(1, "a") + row("2-3", "y", "_") + row(2, "b", 1) + row(3, "c", 1): (
        3, "2-3 does not fit",
    ),
    row("1-2", "", "_") + SENTENCE: (1, "the FORM column is empty"),
    row("1-2", "ab", "_", "Entity=(1)") + SENTENCE: (1, "Entity on a multiword token"),
    row("2.1", "a", "_") + row(1, "a"): (1, "the empty node 2.1 does not fit"),
    row(1, "a") + row("1.2", "a", "_"): (2, "the empty node 1.2 does not fit"),
    row(1, "a") + row("1.1", "a", "_", "Entity=(1)"): (2, "an empty node"),
    row("0.1", "a", "_"): (1, "a sentence without words"),
    row(1, "a", misc="Entity=(1|Entity=1)"): (1, "a second Entity attribute"),
    row("1-2", "ab", "_") + row(1, "a") + row(2, "b", 1, "Entity=1)"): (3, "was never opened"),
    row(1, "a", misc="Entity=(1"): (1, "is never closed"),
    SENTENCE + row(1, "a", misc="PDTB=x"): (4, "has 1 fields, not 6"),
    "# meta::dateCreated = yesterday\n" + SENTENCE: (1, "'yesterday' is not a date"),
    "# a\n# meta::date = 2011-13-01\n" + SENTENCE: (2, "no day of the calendar"),
    "# meta::k = 1\n" + SENTENCE + "# meta::k = 2\n" + SENTENCE: (5, "a second value for 'k'"),
    "# sent_id = 1\n# sent_id = 2\n" + SENTENCE: (2, "a second `# sent_id`"),
    "# newdoc\n" + SENTENCE + "# newdoc\n" + SENTENCE: (5, "a second `# newdoc`"),
    SENTENCE + "# lonely\n\n" + SENTENCE: (2, "comments without a sentence"),
    row(1, "a") + "# c\n" + row(2, "b", 1): (1, "a comment follows inside the sentence"),
    "# only\n\n": (1, "comments without a sentence"),
    "\n\n": (1, "a document without words"),
    SENTENCE + "1\ta\rb\n": (4, "a carriage return"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FAULTS.items(), ids=[p for _, p in FAULTS.values()])
def test_faults_are_named_with_their_line(text: str, expected: tuple[int, str]) -> None:
    with pytest.raises(InputError) as caught:
        conllu.parse(raw(text))
    assert caught.value.where == f"f.conllu, line {expected[0]}"
    assert expected[1] in caught.value.problem
    assert "\n" not in str(caught.value)


def test_a_fault_is_counted_from_the_first_line_of_the_document(tmp_path: Path) -> None:
    path = tmp_path / "two.conllu"
    path.write_text("# newdoc id = a\n" + SENTENCE + "# newdoc id = b\n" + row(1, "x", 7))
    with pytest.raises(InputError, match=r"two\.conllu, line 6: the head 7"):
        list(conllu.read(path))


def ids(path: Path) -> list[str]:
    return [each.id for each in conllu.split(path)]


def test_documents_are_named_and_placed(tmp_path: Path) -> None:
    path = tmp_path / "news.conllu"
    path.write_text(SENTENCE)
    assert ids(path) == ["news"]
    text = (
        "# newdoc\n" + SENTENCE + "# c\n# newdoc id =  b c \r\n" + SENTENCE + "#newdoc\n" + SENTENCE
    )
    path.write_text(text, newline="")
    found = list(conllu.split(path))
    assert [(each.id, each.line) for each in found] == [("news-1", 1), ("b c", 5), ("news-3", 10)]
    assert "".join(each.text for each in found) == text
    path.write_text("\n" + SENTENCE + "# newdoc id = b\n" + SENTENCE + "# newdocs = 2\n" + SENTENCE)
    assert ids(path) == ["news-1", "b"]
    path.write_bytes(b"\xef\xbb\xbf# newdoc id = c\n" + SENTENCE.encode())
    assert ids(path) == ["c"]
    path.write_text("# newdoc id = a\n" + SENTENCE.rstrip() + "\n# newdoc id = b\n" + SENTENCE)
    assert [len(document) for document in conllu.read(path)] == [2, 2]


def test_blocks_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.conllu"
    path.write_text("".join(f"# k = {k}\n# newdoc id = d{k}\n{SENTENCE}" for k in range(9)))
    whole = list(conllu.split(path))
    assert len(whole) == 9
    for block in (1, 2, 7, 64, 100):
        monkeypatch.setattr("gnomon.corpus.conllu_files._BLOCK", block)
        assert list(conllu.split(path)) == whole


def test_zipped_files_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = conllu.parse(raw(EXAMPLE, "weather"))
    for name in ("a.conllu", "a.conllu.gz"):
        conllu.write([document, replace(document, id="again")], tmp_path / name)
        found = list(conllu.read(tmp_path / name))
        assert [each.id for each in found] == ["weather", "again"]
        assert found[0].same_as(document)
        data = (tmp_path / name).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert [each.where for each in conllu.split("-")] == ["standard input"] * 2
    assert data[:2] == b"\x1f\x8b"
    handle = io.StringIO()
    conllu.write([document], handle)
    assert handle.getvalue() == conllu.dumps(document)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def problem(path: Path) -> str:
        with pytest.raises(InputError) as caught:
            list(conllu.read(path, quarantine=lambda refused: None))
        assert caught.value.where.startswith(str(path))
        return caught.value.problem

    path = tmp_path / "x.conllu"
    assert "cannot be read (No such file" in problem(path)
    path.write_bytes(b"\n\n")
    assert problem(path) == "the file is empty"
    zipped = tmp_path / "x.conllu.gz"
    zipped.write_bytes(gzip.compress((EXAMPLE * 50).encode())[:-20])
    assert "cut off or damaged" in problem(zipped)
    zipped.write_text(SENTENCE)
    assert "cut off or damaged" in problem(zipped)
    assert "cannot be read" in problem(tmp_path)


def test_only_documents_with_faults_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    good, bad = SENTENCE.encode(), row(1, "a", 5).encode()
    path.write_bytes(
        b"# newdoc id = a\n" + good + b"# newdoc id = b\n" + bad + b"\n# newdoc id = c\n# \xff\n"
        + good + b"# newdoc id = a\n" + good + b"# newdoc id = e\n" + good
    )  # fmt: skip
    refused: list[Refused] = []
    found = [document.id for document in conllu.read(path, quarantine=refused.append)]
    assert found == ["a", "e"]
    assert [(each.id, each.where.split(", ")[-1], each.problem) for each in refused] == [
        ("b", "line 6", "the head 5 is not a word of the sentence"),
        ("c", "line 9", "not UTF-8 (byte 0xff)"),
        ("a", "line 13", "a second document named 'a'"),
    ]
    assert refused[0].text == "# newdoc id = b\n" + bad.decode() + "\n"
    with pytest.raises(InputError, match="the head 5"):
        list(conllu.read(path))


UNWRITABLE: dict[str, dict[str, object]] = {
    "a tab or line end": {"form": Strings.of(["a\tb", "c"])},
    "without a form": {"form": Strings.of(["", "c"])},
    "in misc": {"misc": Strings.of(["A=1|SpaceAfter=No", ""])},
    "a blank at the wrong place": {"sentence_id": Strings.of([" 1"])},
    "the comment": {"comments": Strings.of(["sent_id = 4"])},
    "2 roots": {"head": ints([-1, -1])},
    "the key": {"meta": {"a=b": "1"}},
    "the date": {"date": datetime.date(2000, 1, 1), "meta": {"dateCreated": "1999"}},
    "brackets cannot say": {
        "mentions": Mentions(
            ints([0]), ints([2]), ints([1]), ints([0]), ("a(b",), Strings.of([""]), Strings.of([""])
        )
    },
    "PDTB attributes cannot say": {
        "relations": (Relation("a:b", "c", "d", (), ((0, 1),), ((1, 2),), 0),)
    },
    "the multiword token": {"fusions": Fusions(ints([1]), ints([2]), ("b",))},
    "a space inside": {"fusions": Fusions(ints([0]), ints([2]), ("ab",))},
    "no id": {"id": ""},
}


@pytest.mark.parametrize("problem", UNWRITABLE)
def test_what_cannot_be_read_back_is_not_written(problem: str, tmp_path: Path) -> None:
    document = replace(conllu.parse(raw(SENTENCE)), **UNWRITABLE[problem])  # type: ignore[arg-type]
    path = tmp_path / "out.conllu"
    path.write_text("before")
    with pytest.raises(InputError, match=problem):
        conllu.write([document], path)
    assert path.read_text() == "before"


def test_documents_are_written_under_different_names_and_not_none(tmp_path: Path) -> None:
    document = conllu.parse(raw(SENTENCE))
    with pytest.raises(InputError, match="a second document"):
        conllu.write([document, document], tmp_path / "x")
    with pytest.raises(InputError, match="there are none"):
        conllu.write([], tmp_path / "x")
    with pytest.raises(InputError, match="half a character"):
        conllu.write([replace(document, form=Strings.of(["\ud800", "b"]))], tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_documents_that_differ_are_not_the_same() -> None:
    document = conllu.parse(raw(EXAMPLE, "weather"))
    assert document.same_as(conllu.parse(raw(EXAMPLE, "weather")))
    assert document.mentions is not None
    changed: dict[str, object] = {
        "id": "x", "title": "x", "date": None, "meta": {}, "head": document.head[::-1],
        "form": document.lemma, "lemma": document.form, "upos": document.form,
        "xpos": document.form, "feats": document.form, "deprel": document.form,
        "misc": document.form, "space_after": ~document.space_after, "sentence": ints([0, 7, 9]),
        "paragraph": ints(), "sentence_id": Strings.of(()), "speaker": Strings.of(()),
        "comments": Strings.of(()), "fusions": Fusions(), "mentions": None, "relations": None,
    }  # fmt: skip
    assert set(changed) == set(Document.__dataclass_fields__)
    for name, value in changed.items():
        assert not document.same_as(replace(document, **{name: value})), name  # type: ignore[arg-type]
    inner: dict[str, object] = {
        "entities": ("a", "b", "c"),
        "kind": Strings.of(["x"] * 3),
        "attributes": Strings.of([""] * 3),
        "head": ints([1, 6, 4]),
        "pieces": {0: ((0, 1),)},
    }
    for name, value in inner.items():
        mentions = replace(document.mentions, **{name: value})  # type: ignore[arg-type]
        assert not document.same_as(replace(document, mentions=mentions)), name
