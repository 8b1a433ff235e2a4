"""Raw text in: every format, what is refused and why, and how a text falls into paragraphs."""

import datetime
import gzip
import io
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import tables
from gnomon.corpus import text
from gnomon.corpus.paragraphs import paragraphs
from gnomon.corpus.source import Raw, Refused
from gnomon.errors import InputError

DAY = datetime.date(2005, 3, 2)


def file(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def jsonl(path: Path, records: Iterable[object]) -> Path:
    return file(path, "".join(json.dumps(record) + "\n" for record in records))


def taken(source: str | Path, **options: object) -> tuple[list[Raw], list[Refused]]:
    """The documents and the refusals of a source."""
    refused: list[Refused] = []
    read = text.read(source, quarantine=refused.append, **options)  # type: ignore[arg-type]
    return list(read), refused


def refusal(source: str | Path, **options: object) -> InputError:
    """The error that strict reading stops at, which must be one line."""
    with pytest.raises(InputError) as caught:
        list(text.read(source, **options))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return caught.value


def test_json_lines_become_documents(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "news.jsonl",
        [
            {"id": "a", "date": "2005-03-02", "title": " Two\nlines ", "text": "One.\r\nTwo."},
            {"id": 17, "text": "Rain.", "page": 3, "front": True, "by": None, "tags": ["x", "y"]},
            {"text": "Snow.", "place": {"lat": 1.5, "name": "Ål"}, "list": ["a;b", "c"]},
        ],
    )
    assert list(text.read(path)) == [
        Raw("a", "text", "One.\nTwo.", f"{path}, line 1", 1, DAY, "Two lines"),
        Raw(
            "17", "text", "Rain.", f"{path}, line 2", 2,
            meta={"page": "3", "front": "true", "tags": "x;y"},
        ),
        Raw(
            "news-3", "text", "Snow.", f"{path}, line 3", 3,
            meta={"place": '{"lat":1.5,"name":"Ål"}', "list": '["a;b","c"]'},
        ),
    ]  # fmt: skip
    assert text.count(path) == 3


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz", "a.unknown", "a"])
def test_json_lines_are_known_by_name_or_content(tmp_path: Path, name: str) -> None:
    content = b'\xef\xbb\xbf\n{"text": "One."}\r\n\n{"text": "Two."}'
    path = file(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert [document.text for document in text.read(path)] == ["One.", "Two."]
    assert [document.id for document in text.read(path)] == ["a-2", "a-4"]
    assert text.count(path) == 2


@pytest.mark.parametrize("zipped", [False, True])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, zipped: bool) -> None:
    content = b'{"text": "One."}\n{"text": "Two."}\n'
    buffer = io.BytesIO(gzip.compress(content) if zipped else content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer))
    assert text.count("-") is None
    assert [(d.id, d.where) for d in text.read("-")] == [
        ("stdin-1", "standard input, line 1"),
        ("stdin-2", "standard input, line 2"),
    ]
    with pytest.raises(InputError, match="standard input: a stream can be read only once"):
        text.digest("-")


def test_fields_can_have_other_names(tmp_path: Path) -> None:
    record = {"key": "k", "content": "Words.", "day": 20050302, "text": "Notes."}
    names = {"text": "content", "id": "key", "date": "day"}
    wanted = [("k", "Words.", DAY, {"text": "Notes."})]
    table = tmp_path / "a.csv"
    tables.write(pl.DataFrame([record]), table)
    for path in (jsonl(tmp_path / "a.jsonl", [record]), table):
        found = text.read(path, fields=names)
        assert [(d.id, d.text, d.date, d.meta) for d in found] == wanted
    error = refusal(table, fields={"text": "contents"})
    assert "no column 'contents'; did you mean 'content'?" in str(error)
    error = refusal(table, fields={"texts": "content"})
    assert str(error) == "fields: 'texts' is not a field of ours; use text, id, date, title"


def test_wire_records_need_no_options(tmp_path: Path) -> None:
    """Records shaped as those of Reuters-21578: body, lists, padded dates, controls, gaps."""
    path = jsonl(
        tmp_path / "wire.jsonl",
        [
            {"id": "1", "title": "CORN", "body": "Corn fell.\n Wire\n\x03", "topics": ["corn"]},
            {"id": "2", "title": "RAIN\n", "date": " 2-MAR-2005 11:02:31.04\x05\x05F"},
            {"id": "3", "date": "2-MAR-2005", "places": ["peru", "chile"]},
            {"id": "4", "text": "", "body": "Rain."},
        ],
    )
    documents, refused = taken(path)
    assert [(d.id, d.title, d.text, d.date, d.meta) for d in documents] == [
        ("1", "CORN", "Corn fell.\n Wire\n ", None, {"topics": "corn"}),
        ("2", "RAIN", "", DAY, {}),
        ("4", "", "Rain.", None, {}),
    ]
    assert [(r.id, r.where, r.problem) for r in refused] == [
        ("3", f"{path}, line 3", "there is neither a text nor a title")
    ]


BAD_LINES = {
    "{": "not JSON at column 2 (Expecting property name enclosed in double quotes)",
    "[1]": "not an object",
    '{"text": "a\tb"}': "not JSON at column 12 (Invalid control character at)",
    '{"text": "\\ud83d"}': "not JSON we can take",
    '{"text": ' + "1" * 5000 + "}": "not JSON we can take (Exceeds the limit",
    '{"text": ' + "[" * 100_000: "not JSON we can take (maximum recursion depth",
    '{"text": 5}': "'text' is no string",
    '{"text": ["a"]}': "'text' is no string",
    '{"text": " \\n"}': "there is neither a text nor a title",
    "{}": "there is neither a text nor a title",
    '{"id": ["a"], "text": "b"}': "'id' is a list or an object",
    '{"text": "b", "date": "soon"}': "'soon' is not a date",
    '{"text": "b", "date": "2005-02-30"}': "'2005-02-30' is no day of the calendar",
    '{"text": "bin\\u0000ary"}': "character 4 of a text is NUL (U+0000)",
    '{"text": "b", "page": "\\u0000"}': "character 1 of a text is NUL (U+0000)",
    '{"id": "first", "text": "b"}': "the id 'first' came before",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: line[:30])
def test_a_bad_line_is_refused_and_the_rest_is_read(tmp_path: Path, line: str) -> None:
    good = '{"id": "first", "text": "One."}', '{"id": "last", "text": "Two."}'
    path = file(tmp_path / "a.jsonl", "\n".join((good[0], line, good[1])))
    documents, (refused,) = taken(path)
    assert [document.id for document in documents] == ["first", "last"]
    assert refused.where == f"{path}, line 2"
    assert refused.problem.startswith(BAD_LINES[line])
    assert refused.remedy
    assert str(refusal(path)) == str(refused.error())
    refused.text.encode()  # can be written down


def test_what_is_not_utf8_is_refused_by_its_byte(tmp_path: Path) -> None:
    line = '{"id": "b", "text": "café"}'.encode("latin-1")
    path = file(tmp_path / "a.jsonl", b'{"text": "One."}\n' + line)
    documents, (refused,) = taken(path)
    assert len(documents) == 1
    assert refused.where == f"{path}, line 2"
    assert refused.problem == "byte 25 of the line (0xE9) is not UTF-8"
    assert refused.remedy == "convert the file, for example: iconv -f WINDOWS-1252 -t UTF-8"
    path = file(tmp_path / "b.txt", b"\xef\xbb\xbfone\ntwo caf\xe9")
    assert str(refusal(path)).startswith(f"{path}, line 2: byte 8 of the line (0xE9)")
    path = file(tmp_path / "c.txt", "wide".encode("utf-16"))
    assert str(refusal(path)).endswith("iconv -f UTF-16 -t UTF-8")


def test_controls_become_blanks_and_line_ends_one_kind(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"text": "a\r\nb\rc\fd\te\x03f\x7fg\x85é", "m": "x\x1by"}])
    (document,) = text.read(path)
    assert (document.text, document.meta) == ("a\nb\nc\nd\te f g\x85é", {"m": "x y"})


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    file(tmp_path / "b" / "2005-03-02_storm.txt", "Storm.")
    file(tmp_path / "b" / "a.b.TXT", "Dots.")
    file(tmp_path / "a-20050302.txt.gz", gzip.compress(b"\xef\xbb\xbfCalm.\r\n"))
    file(tmp_path / "c" / "d" / "20050302 to 20050309.txt", "Both.")
    file(tmp_path / "c" / "d" / "20059999.txt", "No day.")
    file(tmp_path / "c" / "2005030212.txt", "Ten digits.")
    file(tmp_path / "c" / "empty.txt", "")
    file(tmp_path / "c" / "._hidden.txt", b"\0\1")
    file(tmp_path / ".git" / "x.txt", "Hidden.")
    file(tmp_path / "readme.md", "No text file.")
    documents, (refused,) = taken(tmp_path)
    assert [(d.id, d.text, d.date) for d in documents] == [
        ("a-20050302", "Calm.\n", DAY),
        ("b/2005-03-02_storm", "Storm.", DAY),
        ("b/a.b", "Dots.", None),
        ("c/2005030212", "Ten digits.", None),
        ("c/d/20050302 to 20050309", "Both.", None),
        ("c/d/20059999", "No day.", None),
    ]
    assert (refused.id, refused.problem) == ("c/empty", "there is neither a text nor a title")
    assert text.count(tmp_path) == 7
    file(tmp_path / "b" / "a.b.txt.gz", gzip.compress(b"Again."))
    assert refusal(tmp_path / "b").problem == "the id 'a.b' came before"


def test_a_text_file_is_a_document(tmp_path: Path) -> None:
    path = file(tmp_path / "speech-2005-03-02.txt", "One.\n\nTwo.")
    assert list(text.read(path)) == [
        Raw("speech-2005-03-02", "text", "One.\n\nTwo.", str(path), date=DAY)
    ]
    assert text.count(path) == 1
    renamed = file(tmp_path / "speech.md", "One.")
    assert "tell the format" in refusal(renamed).problem
    assert [document.id for document in text.read(renamed, format="txt")] == ["speech"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet"])
def test_a_table_of_texts(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"news.{suffix}"
    frame = pl.DataFrame(
        {
            "id": [1, 2, None, 2],
            "date": ["2005-03-02", None, "", "2005-03-03"],
            "title": ["A", "", None, "D"],
            "text": ["It rained, he said.", None, "Rain.", "Snow."],
            "page": [1, 2, 3, 4],
        }
    )
    tables.write(frame, path)
    documents, refused = taken(path)
    assert [(d.id, d.title, d.text, d.date, d.meta) for d in documents] == [
        ("1", "A", "It rained, he said.", DAY, {"page": "1"}),
        ("news-3", "", "Rain.", None, {"page": "3"}),
        ("2", "D", "Snow.", datetime.date(2005, 3, 3), {"page": "4"}),
    ]
    assert [(r.where, r.problem) for r in refused] == [
        (f"{path}, row 2", "there is neither a text nor a title")
    ]
    assert text.count(path) == 4


def test_tables_keep_types_as_strings(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    moment = datetime.datetime(2005, 3, 2, 10)
    tables.write(pl.DataFrame({"body": ["x"], "date": [moment], "tags": [["a", "b"]]}), path)
    (document,) = text.read(path)
    assert (document.text, document.date, document.meta) == ("x", DAY, {"tags": "a;b"})
    file(tmp_path / "b.csv", "text\n1984\n")
    assert [document.text for document in text.read(tmp_path / "b.csv")] == ["1984"]
    file(tmp_path / "c.csv", "speech\nWords.\n")
    assert str(refusal(tmp_path / "c.csv")).endswith("no column 'text'; the columns are 'speech'")


def test_a_range_of_dates(tmp_path: Path) -> None:
    days = ["2005-03-01", "2005-03-02", "2005-03-03", "2005-03-04", ""]
    path = jsonl(tmp_path / "a.jsonl", [{"id": d or "none", "date": d, "text": "x"} for d in days])
    left_out: list[Raw] = []
    last = datetime.date(2005, 3, 3)
    documents, refused = taken(path, since=DAY, until=last, skipped=left_out.append)
    assert [d.id for d in documents] == days[1:3]
    assert [d.id for d in left_out] == [days[0], days[3], "none"]
    assert not refused
    assert [d.id for d in text.read(path, since=last)] == days[2:4]
    assert [d.id for d in text.read(path, until=DAY)] == days[:2]
    assert len(list(text.read(path))) == 5
    error = refusal(path, since=last, until=DAY)
    assert str(error) == "since: 2005-03-03 is after until, 2005-03-02; exchange the two"


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    def problem(name: str, content: bytes | None = None, **options: object) -> str:
        if content is not None:
            file(tmp_path / name, content)
        refused: list[Refused] = []
        error = refusal(tmp_path / name, quarantine=refused.append, **options)
        assert error.where in (str(tmp_path / name), "format")
        return error.problem

    long = json.dumps({"text": random.Random(1).randbytes(40_000).hex()}).encode()
    cut = gzip.compress(b'{"text": "One."}\n' + long)[:-2000]
    assert problem("missing.jsonl") == "cannot be read (No such file or directory)"
    assert problem("missing", format="folder") == "cannot be read (No such file or directory)"
    assert problem("nul\0.jsonl") == "cannot be read (embedded null byte)"
    assert problem("empty.jsonl", b"") == "there is no document in it"
    assert problem("blank.jsonl", b"\n \n") == "there is no document in it"
    assert problem("cut.jsonl.gz", cut).startswith("the gzip data are cut off or damaged")
    assert problem("cut.txt.gz", cut).startswith("the gzip data are cut off or damaged")
    assert problem("array.json", b'[{"text": "One."}]') == "this is one JSON array"
    assert problem("a.csv", b"") == "the file is empty"
    assert problem("a.txt", b"x", format="word") == "'word' is not a format of texts"
    (tmp_path / "folder").mkdir()
    assert problem("folder") == "there is no .txt or .txt.gz file in this folder"
    assert problem("folder", format="csv") == "this is a folder, not a csv file"


def test_documents_before_a_cut_are_read(tmp_path: Path) -> None:
    lines = b"".join(
        json.dumps({"text": random.Random(n).randbytes(20_000).hex()}).encode() + b"\n"
        for n in range(200)
    )
    path = file(tmp_path / "a.jsonl.gz", gzip.compress(lines)[:-100_000])
    found: list[str] = []
    with pytest.raises(InputError, match="cut off"):
        found.extend(document.id for document in text.read(path))
    assert 100 < len(found) < 200


def test_reading_streams(tmp_path: Path) -> None:
    """The second line of a pipe has not been written when the first is a document."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    keeper = os.open(path, os.O_RDWR)  # so that neither end waits for the other
    documents = None
    for number in (1, 2):
        os.write(keeper, b'{"text": "One."}\n')
        documents = documents or text.read(path)
        assert next(documents).id == f"pipe-{number}"
    assert text.count(path) is None
    os.close(keeper)


def test_digests_tell_names_and_bytes(tmp_path: Path) -> None:
    one = file(tmp_path / "one" / "a.txt", "x")
    two = file(tmp_path / "two" / "a.txt", "x")
    assert text.digest(one) == text.digest(two)
    assert len(text.digest(one)) == 32
    assert text.digest(one.parent) == text.digest(two.parent)
    before = text.digest(two.parent)
    file(tmp_path / "two" / "note.md", "not a document")
    assert text.digest(two.parent) == before
    two.rename(tmp_path / "two" / "b.txt")
    renamed = text.digest(two.parent)
    file(tmp_path / "two" / "b.txt", "y")
    assert len({before, renamed, text.digest(two.parent)}) == 3
    with pytest.raises(InputError, match="No such file"):
        text.digest(tmp_path / "none")


PARAGRAPHS = {
    "": [],
    " \n\u200b\n\t": [],
    "One line.": ["One line."],
    "A\u00a0b\u202fc \t d.\n\nE\u00adf\u200bg.\n \t\n\n\nH.": ["A b c d.", "Efg.", "H."],
    # Wrapped lines with indented paragraphs, a sign-off that is indented less, a blank before it.
    "Wheat rose today in\nthin trade, dealers\nsaid.\n    Corn was flat.\n    Oats fell in\nlate trade.\n Wire": [  # noqa: E501
        "Wheat rose today in thin trade, dealers said.",
        "Corn was flat.",
        "Oats fell in late trade.",
        "Wire",
    ],
    "Wheat rose today in\nthin trade.\n    Corn was flat.\n   \n Wire\n ": [
        "Wheat rose today in thin trade.",
        "Corn was flat.",
        "Wire",
    ],
    # Rows of figures: each is indented, but for the first.
    "Shr 5 cts vs 3\n    Net 1,000 vs 900\n    Revs 12 vs 11": [
        "Shr 5 cts vs 3",
        "Net 1,000 vs 900",
        "Revs 12 vs 11",
    ],
    # A hanging indent continues in lower case.
    "- the first point is\n    continued here\n- the second": [
        "- the first point is continued here - the second"
    ],
    # Wrapped, no indent: a line may end with a sentence by chance.
    "The mill by the river\nburnt down on Monday.\nNobody was hurt, but\nit was not insured.": [
        "The mill by the river burnt down on Monday. Nobody was hurt, but it was not insured."
    ],
    # One line a paragraph, told by the ends of sentences, or by lines nobody would wrap at.
    "It rained all day.\nThe river rose.\nBoats were out": [
        "It rained all day.",
        "The river rose.",
        "Boats were out",
    ],
    "He asked: “Why?”\nNobody knew (or said.)\nThe end": [
        "He asked: “Why?”",
        "Nobody knew (or said.)",
        "The end",
    ],
    "word " * 30 + "\n" + "Next " * 30: [("word " * 30).strip(), ("Next " * 30).strip()],
    # All lines are indented: the indent says nothing.
    "    A quotation that is\n    wrapped twice and\n    indented.": [
        "A quotation that is wrapped twice and indented."
    ],
    "one\u2029two\u2028three": ["one", "two three"],
    "a wrapped exam\u00ad\nple": ["a wrapped example"],
    "a\r\n\r\nb\rc": ["a", "b c"],
}


@pytest.mark.parametrize("written", PARAGRAPHS, ids=lambda written: repr(written)[:30])
def test_paragraphs(written: str) -> None:
    assert paragraphs(written) == PARAGRAPHS[written]


@given(st.text(alphabet="aB. \t\n\r\u00a0\u00ad\u2029\u200b:”"))
def test_paragraphs_lose_nothing_but_blanks(written: str) -> None:
    found = paragraphs(written)
    assert all(" ".join(paragraph.split()) == paragraph != "" for paragraph in found)
    letters = "aB.:”"
    assert [c for c in "".join(found) if c in letters] == [c for c in written if c in letters]
    assert paragraphs("\n\n".join(found)) == found


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Bytes with a few of them changed, cut out, doubled or put in."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.randint(0, 12))
        insert = [b"\0", b'"', b"{", b"\n", b"\xff", b",", b"\\u0000", b"\\ud800", b"\xef\xbb\xbf"]
        data[start:end] = chance.choice([b"", data[start:end] * 2, chance.choice(insert)])
    return bytes(data[: chance.randrange(len(data) + 1)] if chance.random() < 0.1 else data)


SEEDS = {
    "jsonl": b'{"id": "a", "date": "2005-03-02", "text": "One \\u00e9.", "n": [1, {"a": 2}]}\n'
    b'{"id": 2, "body": "Two.\\n", "topics": ["x", "y"]}\n{"title": "Three", "date": null}\n',
    "txt": "One line – and another.\r\n\r\n    The end.\n".encode(),
    "csv": b'id,date,title,text,n\na,2005-03-02,T,"One, two ""three""",1\nb,,,"x\ny",2\n',
}


@pytest.mark.parametrize(("format", "times"), [("jsonl", 3200), ("txt", 1000), ("csv", 800)])
def test_damage_is_reported_never_raised_otherwise(
    monkeypatch: pytest.MonkeyPatch, format: str, times: int
) -> None:
    chance = random.Random(7)
    outcomes = Counter[str]()
    for turn in range(times):
        content = mutated(SEEDS[format], chance)
        if turn % 10 == 0:
            content = mutated(gzip.compress(content), chance)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        refused: list[Refused] = []
        try:
            documents = list(text.read("-", format=format, quarantine=refused.append))
        except InputError as error:
            outcomes["raised" if "\n" not in str(error) else "many lines"] += 1
            continue
        outcomes["read"] += bool(documents)
        assert len({document.id for document in documents}) == len(documents)
        for document in documents:
            assert document.id
            assert document.title or document.text.strip()
            assert not set("\0\r\x03") & set(document.text)
            f"{document.id}{document.text}{document.title}{document.meta}".encode()
            paragraphs(document.text)
        assert all("\n" not in str(r.error()) for r in refused)
    assert outcomes["read"] > times // 10
    assert outcomes["raised"] > times // 100
    assert not outcomes["many lines"]


def test_every_reuters_story_is_read_or_has_nothing_to_read(data: Path) -> None:
    documents, refused = taken(data / "reuters21578" / "documents.jsonl.gz")
    assert len(documents) == 20_841
    assert Counter(r.problem for r in refused) == {"there is neither a text nor a title": 737}
    assert sum(not document.text for document in documents) == 1_798
    assert {document.date.year for document in documents if document.date} == {1987}
    assert all(document.date for document in documents)
    fell = [paragraphs(document.text) for document in documents]
    signed = sum(parts[-1].strip(".^M ").lower() == "reuter" for parts in fell if parts)
    assert signed > 0.98 * (20_841 - 1_798)  # nearly all end in the agency's name, on its own
    assert sum(len(parts) for parts in fell) > 120_000


def test_every_wikinews_article_is_read(data: Path) -> None:
    path = data / "wikinews" / "articles.jsonl.gz"
    documents = list(text.read(path))
    assert len(documents) == text.count(path) == 12_711
    assert all(document.date and document.title and document.text for document in documents)
    for document in documents:
        blocks = [part for part in document.text.split("\n\n") if part.strip()]
        assert len(paragraphs(document.text)) == len(blocks)
