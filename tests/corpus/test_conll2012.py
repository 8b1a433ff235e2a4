"""CoNLL-2012 in and out: brackets pair as in the official scorer, faults are named by line."""

import gzip
import io
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon.corpus import conll2012
from gnomon.corpus.document import Document, Mentions, ints
from gnomon.corpus.source import Raw, Refused
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

Span = tuple[int, int, str]

SAMPLE = """\
#begin document (bn/abc/00/abc_0001); part 000
bn/abc/00/abc_0001   0   0       The   DT   (TOP(S(NP*     -    -   -   Ann_Lee   *      *   (12|(3
bn/abc/00/abc_0001   0   1     mayor   NN            *)    -    -   -   Ann_Lee   *      *       3)
bn/abc/00/abc_0001   0   2       and   CC            *     -    -   -   Ann_Lee   *      *        -
bn/abc/00/abc_0001   0   3       she  PRP            *     -    -   -   Ann_Lee   *      *  (12)|12)
bn/abc/00/abc_0001   0   4       run  VBP            *   run   01   1   Ann_Lee   *   (V*)        -

bn/abc/00/abc_0001   0   0     -LRB-  -LRB-          *     -    -   -         -   *   (7|(12)

#end document
#begin document (bn/abc/00/abc_0001); part 001
bn/abc/00/abc_0001   1   0       Yes   UH            *     -    -   -         -   *   (0)

#end document
"""


def file(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def document(
    sentences: list[list[str]],
    spans: list[Span],
    *,
    id: str = "a",
    speakers: list[str] | None = None,
    pieces: dict[int, tuple[tuple[int, int], ...]] | None = None,
) -> Document:
    words = [word for sentence in sentences for word in sentence]
    entities = list(dict.fromkeys(entity for _, _, entity in spans))
    blank = Strings.all_equal("", len(words))
    return Document(
        id=id,
        form=Strings.of(words),
        lemma=Strings.of(word.lower() for word in words),
        upos=blank,
        xpos=Strings.all_equal("NN", len(words)),
        feats=blank,
        head=np.full(len(words), -1, dtype=np.int32),
        deprel=blank,
        space_after=np.ones(len(words), dtype=np.bool_),
        sentence=ints([0, *np.cumsum([len(sentence) for sentence in sentences]).tolist()]),
        speaker=Strings.of(speakers or ()),
        mentions=Mentions(
            start=ints([start for start, _, _ in spans]),
            end=ints([end for _, end, _ in spans]),
            head=ints([end - 1 for _, end, _ in spans]),
            entity=ints([entities.index(entity) for _, _, entity in spans]),
            entities=tuple(entities),
            kind=Strings.all_equal("", len(spans)),
            attributes=Strings.all_equal("", len(spans)),
            pieces=pieces or {},
        ),
    )


def spans_of(found: Document) -> Counter[Span]:
    """The mentions as spans with the names of their entities."""
    mentions = found.mentions
    assert mentions is not None
    columns = mentions.start.tolist(), mentions.end.tolist(), mentions.entity.tolist()
    return Counter((s, e, mentions.entities[k]) for s, e, k in zip(*columns, strict=True))


def chains_of(found: Document) -> Counter[tuple[tuple[int, int], ...]]:
    """The entities as sets of spans, whatever they are called."""
    chains = defaultdict[str, list[tuple[int, int]]](list)
    for (start, end, entity), times in spans_of(found).items():
        chains[entity] += [(start, end)] * times
    return Counter(tuple(sorted(chain)) for chain in chains.values())


def official(text: str) -> Counter[Span]:
    """The mentions of one document by the rules of the official scorer, cell by cell.

    One-word mentions are taken out of a cell first, then what opens, then what closes, and a
    closing bracket takes the last open one of its entity (`GetCoreference` in `CorScorer.pm` of
    the reference scorers). It splits lines at tabs.
    """
    found, half, word = Counter[Span](), defaultdict[str, list[int]](list), 0
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        cell = line.split("\t")[-1]
        for entity in re.findall(r"\((\d+)\)", cell):
            found[word, word + 1, entity] += 1
        cell = re.sub(r"\(\d+\)", "", cell)
        for entity in re.findall(r"\((\d+)", cell):
            half[entity].append(word)
        for entity in re.findall(r"(\d+)\)", cell):
            found[half[entity].pop(), word + 1, entity] += 1
        word += 1
    assert not any(half.values())
    return found


def refusals(path: Path) -> tuple[list[str], list[Refused]]:
    """The ids of what is read, and what is refused; strict reading stops at the first of these."""
    refused: list[Refused] = []
    read = [found.id for found in conll2012.read(path, quarantine=refused.append)]
    if refused:
        with pytest.raises(InputError) as caught:
            list(conll2012.read(path))
        assert str(caught.value) == str(refused[0].error())
    return read, refused


@pytest.mark.parametrize("zipped", [False, True])
def test_columns_are_read(tmp_path: Path, zipped: bool) -> None:
    sample = SAMPLE.replace("(7|(12)", "(7)|(12)").encode()
    path = file(tmp_path / "a.gold_conll", gzip.compress(sample) if zipped else sample)
    first, second = conll2012.read(path)
    assert (first.id, second.id) == ("bn/abc/00/abc_0001", "bn/abc/00/abc_0001#1")
    assert list(first.form) == ["The", "mayor", "and", "she", "run", "-LRB-"]
    assert list(first.xpos) == ["DT", "NN", "CC", "PRP", "VBP", "-LRB-"]
    assert list(first.lemma) == ["", "", "", "", "run", ""]
    assert list(first.speaker) == ["Ann_Lee", ""]
    assert first.sentence.tolist() == [0, 5, 6]
    assert first.head.tolist() == [-1] * 6
    assert list(first.deprel) == list(first.upos) == [""] * 6
    mentions = first.mentions
    assert mentions is not None
    assert mentions.entities == ("12", "3", "7")
    assert mentions.start.tolist() == [0, 0, 3, 5, 5]
    assert mentions.end.tolist() == [4, 2, 4, 6, 6]
    assert mentions.head.tolist() == [3, 1, 3, 5, 5]
    assert mentions.entity.tolist() == [0, 1, 0, 2, 0]
    assert len(mentions.kind) == len(mentions.attributes) == 5


def test_short_lines_comments_and_headers_of_others(tmp_path: Path) -> None:
    lines = [
        "# made by hand",
        "",
        "#begin document (a/b);",
        "# a comment",
        "x\t0\t0\tNew\u00a0York\t(e1)",
        "#end document",
        "# begin document plain name ",
        "#x 0 0 Yes _",
        "# end document",
    ]
    path = file(tmp_path / "a.conll", "\ufeff" + "\r\n".join(lines))
    first, second = conll2012.read(path)
    assert (first.id, list(first.form), spans_of(first)) == (
        "a/b", ["New\u00a0York"], {(0, 1, "e1"): 1},
    )  # fmt: skip
    assert (second.id, list(second.form), spans_of(second)) == ("plain name", ["Yes"], {})


def test_brackets_of_one_entity_nest() -> None:
    spans = [(0, 5, "4"), (0, 3, "4"), (0, 1, "4"), (2, 3, "4"), (1, 3, "4"), (4, 5, "4")]
    text = conll2012.dumps(document([["a", "b", "c"], ["d", "e"]], spans))
    cells = [line.split("\t")[-1] for line in text.splitlines() if "\t" in line]
    assert cells[0] == "(4|(4|(4)"
    assert official(text) == Counter(spans)


def test_what_is_written_is_the_format(tmp_path: Path) -> None:
    found = document(
        [["New York", "is"], ["\u3000"]],
        [(0, 2, "e7"), (2, 3, "e5")],
        id="x#3",
        speakers=["A B", ""],
    )
    path = tmp_path / "a.conll.gz"
    assert conll2012.write([found], path) == 0
    assert gzip.decompress(path.read_bytes()).decode() == conll2012.dumps(found)
    assert conll2012.dumps(found) == (
        "#begin document (x); part 003\n"
        "x\t3\t0\tNew_York\tNN\t*\tnew_york\t-\t-\tA_B\t*\t(0\n"
        "x\t3\t1\tis\tNN\t*\tis\t-\t-\tA_B\t*\t0)\n"
        "\n"
        "x\t3\t0\t_\tNN\t*\t_\t-\t-\t-\t*\t(1)\n"
        "\n"
        "#end document\n"
    )
    before = path.read_bytes()
    conll2012.write([found], path)
    assert path.read_bytes() == before


def test_what_the_format_cannot_hold_is_counted(tmp_path: Path) -> None:
    words = [["a", "b", "c", "d", "e"]]
    path = tmp_path / "a.conll"
    assert conll2012.write([document(words, [(0, 3, "1"), (1, 5, "2")])], path) == 0
    assert conll2012.write([document(words, [(0, 3, "1"), (1, 5, "1")])], path) == 2
    (back,) = conll2012.read(path)
    assert spans_of(back) == {(1, 3, "1"): 1, (0, 5, "1"): 1}
    broken = document(words, [(0, 4, "1")], pieces={0: ((0, 1), (3, 4))})
    assert conll2012.write([broken, document(words, [(0, 0, "1")], id="b")], path) == 2
    hull, nothing = conll2012.read(path)
    assert (spans_of(hull), spans_of(nothing)) == ({(0, 4, "1"): 1}, {})


def test_documents_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    one = document([["a"]], [])
    with pytest.raises(InputError, match="document 'a': it is written twice"):
        conll2012.write([one, one], path)
    with pytest.raises(InputError, match="there is a line end in its id"):
        conll2012.write([document([["a"]], [], id="a\nb")], path)
    with pytest.raises(InputError, match=r"'\\ud83d' is half a character"):
        conll2012.write([document([["\ud83d"]], [])], path)
    assert not path.exists()


IDS = st.text(alphabet="a#01/ );(", max_size=8) | st.sampled_from(
    ["", "#", "a#1#0", "a#0", "#12", "a); part 005", "#begin document (a)", "#end document"]
)


@given(ids=st.lists(IDS, min_size=1, max_size=4, unique=True))
def test_ids_come_back(tmp_path_factory: pytest.TempPathFactory, ids: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "ids.conll"
    conll2012.write([document([["w"]], [], id=id) for id in ids], path)
    assert [found.id for found in conll2012.read(path)] == ids


@given(name=IDS, part=st.integers(0, 12))
def test_names_and_parts_come_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, part: int
) -> None:
    header = f"#begin document ({name}); part {part:03d}\n"
    path = file(tmp_path_factory.getbasetemp() / "parts.conll", header + "#end document\n")
    (found,) = conll2012.read(path)
    assert conll2012.dumps(found).startswith(header)


WORDS = st.text(alphabet="aé-#(|)*\u00a0 ", min_size=1, max_size=3)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=4)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    sentences = draw(SENTENCES)
    n = sum(map(len, sentences))
    span = st.tuples(st.integers(0, n - 1), st.integers(1, n), st.sampled_from(["0", "1", "12"]))
    spans = draw(st.lists(span.filter(lambda s: s[0] < s[1]), max_size=8))
    speakers = draw(st.lists(st.sampled_from(["", "A"]), min_size=len(sentences),
                             max_size=len(sentences)))  # fmt: skip
    return document(sentences, spans, speakers=speakers)


@given(documents())
def test_documents_come_back(tmp_path_factory: pytest.TempPathFactory, found: Document) -> None:
    path = tmp_path_factory.getbasetemp() / "round.conll"
    altered = conll2012.write([found], path)
    (back,) = conll2012.read(path)
    assert list(back.form) == [re.sub(r"\s+", "_", form) for form in found.form]
    assert list(back.xpos) == list(found.xpos)
    assert back.sentence.tolist() == found.sentence.tolist()
    assert list(back.speaker) == list(found.speaker)
    assert spans_of(back) == official(path.read_text())
    assert altered == (spans_of(found) - spans_of(back)).total()
    assert len(back.mentions or ()) == len(found.mentions or ())


def crosses(one: Span, other: Span) -> bool:
    """Whether two mentions of one entity overlap and neither holds the other."""
    return one[2] == other[2] and one[0] < other[0] < one[1] < other[1]


@given(documents())
def test_mentions_that_do_not_cross_come_back_whole(
    tmp_path_factory: pytest.TempPathFactory, found: Document
) -> None:
    spans = spans_of(found)
    assume(not any(crosses(one, other) for one in spans for other in spans))
    path = tmp_path_factory.getbasetemp() / "whole.conll"
    assert conll2012.write([found], path) == 0
    (back,) = conll2012.read(path)
    assert spans_of(back) == spans


def test_mentions_of_gum_come_back(data: Path, tmp_path: Path) -> None:
    conllu = pytest.importorskip("gnomon.corpus.conllu")
    gold = list(conllu.read(data / "gum" / "dev.conllu.gz"))
    path = tmp_path / "gum.conll"
    altered = conll2012.write(gold, path)
    back = list(conll2012.read(path))
    assert [found.id for found in back] == [found.id for found in gold]
    assert sum(map(len, back)) == 28_119
    assert sum(found.sentences for found in back) == 1_575
    assert sum(len(found.mentions or ()) for found in back) == 7_897
    assert altered == 0
    for one, other in zip(gold, back, strict=True):
        assert chains_of(one) == chains_of(other)
        assert list(one.speaker) == list(other.speaker)


HEAD, END = "#begin document (x); part 000", "#end document"
FAULTS: dict[str, tuple[list[str], str]] = {
    "never closed": ([HEAD, "x 0 0 a (1", "", END], "line 2: the bracket (1 is never closed"),
    "never opened": ([HEAD, "x 0 0 a (2", "x 0 1 b 2)|1)", END], "line 3: the bracket 1) was"),
    "no bracket": ([HEAD, "x 0 0 a (1)|2", END], "line 2: '2' is no bracket of an entity"),
    "name column": ([HEAD, "x 0 0 a *", END], "line 2: '*' is no bracket of an entity"),
    "empty bracket": ([HEAD, "x 0 0 a ()", END], "line 2: '()' is no bracket of an entity"),
    "columns": ([HEAD, "x 0 0 a -", "x 0 1 b NN -", END], "line 3: 6 columns after lines of 5"),
    "few columns": ([HEAD, "x 0 0 -", END], "line 2: 4 columns"),
    "lost column": ([HEAD, "x 0 0 a NN * - - - - *", END], "line 2: 11 columns"),
    "number": ([HEAD, "x 0 0 a -", "x 0 2 b -", END], "line 3: the word's number is '2', not 1"),
    "from one": ([HEAD, "x 0 1 a -", END], "line 2: the word's number is '1', not 0"),
    "no end": ([HEAD, "x 0 0 a -", ""], "line 1: the document has no end"),
    "no begin": ([END], "line 1: no document has begun here"),
    "words outside": (["", "x 0 0 a -"], "line 2: no document has begun here"),
    "no name": (["#begin document", END], "line 1: the document has no name"),
    "long part": (["#begin document (x); part 1234567890", END], "line 1: the document has no"),
    "return in name": (["#begin document (x\ry); part 000", END], "line 1: the document has no"),
    "binary": ([HEAD, "x 0 0 a\0b -", END], "line 2: a NUL (U+0000)"),
    "double": ([HEAD, END, HEAD, END], "line 3: the document 'x' came before"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused_and_the_rest_is_read(tmp_path: Path, fault: str) -> None:
    lines, message = FAULTS[fault]
    good = ["#begin document (good); part 002", "good 2 0 a -", "", END]
    path = file(tmp_path / "a.conll", "\n".join([*lines, *good]))
    read, (refused,) = refusals(path)
    assert read == (["x", "good#2"] if fault == "double" else ["good#2"])
    assert str(refused.error()).startswith(f"{path}, {message}")
    assert refused.remedy
    assert refused.text.strip()
    assert refused.text in path.read_bytes().decode()


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    bad = f"{HEAD}\nx 0 0 caf".encode() + b"\xe9 -\n#end document\n"
    path = file(tmp_path / "a.conll", bad + b"#begin document (y); part 000\n#end document\n")
    read, (refused,) = refusals(path)
    assert (read, refused.id) == (["y"], "x")
    assert str(refused.error()).startswith(f"{path}, line 2: byte 10 of the line (0xE9)")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def problem(name: str, content: bytes) -> str:
        with pytest.raises(InputError) as caught:
            list(conll2012.read(file(tmp_path / name, content), quarantine=lambda refused: None))
        return caught.value.problem

    assert problem("empty.conll", b"") == "there is no document in it"
    assert problem("blank.conll", b"\n# nothing\n") == "there is no document in it"
    cut = gzip.compress(SAMPLE.encode())[:-20]
    assert problem("cut.conll.gz", cut).startswith("the gzip data are cut off or damaged")
    with pytest.raises(InputError, match="No such file"):
        next(conll2012.read(tmp_path / "none.conll"))


def test_damage_is_reported_never_raised_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(11)
    whole = SAMPLE.replace("(7|(12)", "(7)|(12)").replace("   ", " ").encode()
    outcomes = Counter[str]()
    pieces = [b"(12", b"12)", b"|", b"\n", b"\n\n", b"#end document\n", b"\xff", b"\0", b"#", b"-"]
    for turn in range(5000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(data) + 1)
            end = min(len(data), start + chance.choice([0, 1, 1, 5, 60]))
            data[start:end] = chance.choice([b"", data[start:end] * 2, chance.choice(pieces)])
        content = gzip.compress(data)[: chance.randint(5, 400)] if turn % 20 == 0 else bytes(data)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        refused: list[Refused] = []
        try:
            found = list(conll2012.read("-", quarantine=refused.append))
        except InputError as error:
            outcomes["raised" if "\n" not in str(error) else "many lines"] += 1
            continue
        outcomes["read"] += bool(found)
        outcomes["refused"] += bool(refused)
        outcomes["many lines"] += any("\n" in str(one.error()) for one in refused)
        for one in found:
            again = conll2012.parse(Raw(one.id, "conll2012", conll2012.dumps(one), "again"))
            assert chains_of(again) == chains_of(one)
            assert list(again.form) == [re.sub(r"\s+", "_", form) for form in one.form]
    assert outcomes["read"] > 2000
    assert outcomes["refused"] > 2000
    assert outcomes["raised"] > 100
    assert not outcomes["many lines"]
