"""The reader on real treebanks: known counts, other programs' counts, and the way back."""

import gzip
import logging
import re
from itertools import islice
from pathlib import Path

import pytest
from documents import raw

from gnomon.corpus import conllu
from gnomon.corpus.document import Document
from gnomon.corpus.source import Refused

# Words, sentences and mentions, as the data folder's own description gives them; sentences of
# ontogum are those of gum, and None is a figure it does not give.
COUNTS: dict[str, tuple[int, int | None, int]] = {
    "gum/train": (177_410, 10_224, 49_649),
    "gum/dev": (28_119, 1_575, 7_897),
    "gum/test": (28_397, 1_464, 7_927),
    "ontogum/train": (177_410, 10_224, 23_320),
    "ontogum/dev": (28_119, 1_575, 3_818),
    "ontogum/test": (28_397, 1_464, 3_581),
    "ewt/train": (204_577, None, 0),
    "ewt/dev": (25_147, 2_001, 0),
    "ewt/test": (25_094, 2_077, 0),
}
AMALGUM = ("news", "interview", "bio", "academic", "voyage", "whow", "fiction")


def file(data: Path, name: str) -> Path:
    return data / f"{name}.conllu.gz"


def unzipped(data: Path, name: str) -> str:
    return gzip.decompress(file(data, name).read_bytes()).decode()


def rows(text: str) -> list[list[str]]:
    """The rows of CoNLL-U without empty nodes and without DEPS, cell by cell."""
    cells = [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]
    return [row[:8] + row[9:] for row in cells if "." not in row[0]]


def reads_back(document: Document) -> bool:
    return conllu.parse(raw(conllu.dumps(document), document.id)).same_as(document)


@pytest.mark.parametrize("name", COUNTS)
def test_counts_and_the_way_back(data: Path, name: str) -> None:
    documents = list(conllu.read(file(data, name)))
    words, sentences, mentions = COUNTS[name]
    assert sum(map(len, documents)) == words
    assert sentences in (None, sum(document.sentences for document in documents))
    assert sum(len(document.mentions or ()) for document in documents) == mentions
    for document in documents:
        assert reads_back(document), document.id


@pytest.mark.parametrize("name", ["gum/dev", "gum/test", "ewt/dev", "ewt/test"])
def test_what_is_written_is_what_was_read_to_the_letter(data: Path, name: str) -> None:
    before = unzipped(data, name)
    after = "".join(map(conllu.dumps, conllu.read(file(data, name))))
    assert rows(after) == rows(before)

    def kept(text: str) -> list[str]:
        wanted = ("# text =", "# sent_id", "# speaker", "# newdoc", "# newpar")
        lines = [line for line in text.split("\n") if line.startswith(wanted)]
        # A no-break space between two words is the one thing `# text` knows better.
        return sorted(line.rstrip().replace("\xa0", " ") for line in lines)

    assert kept(after) == kept(before)


def test_relations_are_as_many_as_a_plain_search_finds(data: Path) -> None:
    for name in ("gum/dev", "gum/test"):
        cells = re.findall(r"[\t|]PDTB=([^|\n]*)", unzipped(data, name))
        types = [part.split(":")[0] for cell in cells for part in cell.split(";")]
        documents = conllu.read(file(data, name))
        found = [r.type for document in documents for r in document.relations or ()]
        assert found == types
        assert len(types) > 1000


@pytest.mark.parametrize("name", ["gum/dev", "ontogum/dev"])
def test_mentions_are_those_of_udapi(
    data: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    udapi = pytest.importorskip("udapi.core.document")
    caplog.set_level(logging.CRITICAL)
    theirs: dict[str, dict[str, list[tuple[int, int]]]] = {}
    first, word, where = {}, 0, ""
    document = udapi.Document()
    document.from_conllu_string(unzipped(data, name))
    for tree in document.trees:
        if tree.newdoc:
            where, word = tree.newdoc, 0
            theirs[where] = {}
        for node in tree.descendants:
            first[node] = (where, word)
            word += 1
    for entity in document.coref_entities:
        for mention in entity.mentions:
            place, start = first[mention.words[0]]
            chain = theirs[place].setdefault(entity.eid, [])
            chain.append((start, first[mention.words[-1]][1] + 1))
    for ours in conllu.read(file(data, name)):
        mentions = ours.mentions
        assert mentions is not None
        chains: dict[str, list[tuple[int, int]]] = {}
        columns = (mentions.entity.tolist(), mentions.start.tolist(), mentions.end.tolist())
        for entity, start, end in zip(*columns, strict=True):
            chains.setdefault(mentions.entities[entity], []).append((start, end))
        assert len(chains) == len(mentions.entities)
        assert sorted(map(sorted, chains.values())) == sorted(map(sorted, theirs[ours.id].values()))


def test_machine_parsed_news_is_read_but_for_sentences_with_two_roots(data: Path) -> None:
    refused: list[Refused] = []
    documents = list(conllu.read(file(data, "amalgum/news"), quarantine=refused.append))
    assert len(documents) + len(refused) == 808
    assert {each.problem for each in refused} == {"the sentence has 2 roots"}
    assert len(refused) == 2
    left_out = sum(row[0].isdecimal() for each in refused for row in rows(each.text))
    assert sum(map(len, documents)) + left_out == 590_830
    assert all(document.date for document in documents)


@pytest.mark.parametrize("genre", AMALGUM)
def test_kind_first_brackets_find_the_way_back(data: Path, genre: str) -> None:
    sample = list(
        islice(conllu.read(file(data, f"amalgum/{genre}"), quarantine=lambda refused: None), 25)
    )
    for document in sample:
        assert reads_back(document), document.id
        assert document.mentions is not None
        assert all(document.mentions.kind)
        cells = re.findall(r"[\t|]Entity=([^|\n]*)", conllu.dumps(document))
        assert sum(cell.count("(") for cell in cells) == len(document.mentions)
