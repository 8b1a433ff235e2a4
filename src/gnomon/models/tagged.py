"""Sentences as columns: words and, if they are known, tags; from files, corpora or lists."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.corpus import conllu
from gnomon.corpus.document import Document
from gnomon.corpus.files import decoded, lines, shown
from gnomon.corpus.store import Corpus
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

Codes = NDArray[np.int64]
BATCH = 10_000  # words, so that 100 columns of predictions take some megabytes
COLUMNS = ("xpos", "upos")
_DOCUMENT = "# doc = "


@dataclass(frozen=True, eq=False)
class Tagged:
    """Sentences as columns: words, their gold tags if known, and where sentences begin.

    `offsets` has the first word of each sentence and, last, the number of words; a sentence may be
    empty. `documents`, if known, names the document of each sentence.

    >>> data = Tagged.of([["the", "dial"], ["it", "works"]], [["DT", "NN"], ["PRP", "VBZ"]])
    >>> data.sentences, len(data), list(data.take([1]).words)
    (2, 4, ['it', 'works'])
    """

    words: Strings
    tags: Strings | None
    offsets: NDArray[np.int64]
    documents: Strings | None = None

    def __post_init__(self) -> None:
        n, offsets = len(self.words), np.asarray(self.offsets)
        if self.tags is not None and len(self.tags) != n:
            problem = f"{len(self.tags)} tags for {n} words"
            raise InputError("tags", problem, "give one tag a word")
        whole = offsets.ndim == 1 and len(offsets) > 0 and offsets.dtype.kind in "iu"
        if not whole or offsets[0] != 0 or offsets[-1] != n or np.any(np.diff(offsets) < 0):
            problem = f"they do not cut {n} words into sentences"
            raise InputError("offsets", problem, f"let them rise from 0 to {n}")
        if self.documents is not None and len(self.documents) != self.sentences:
            problem = f"{len(self.documents)} for {self.sentences} sentences"
            raise InputError("documents", problem, "name one a sentence")

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(
        cls, words: Iterable[Sequence[str]], tags: Iterable[Sequence[str]] | None = None
    ) -> "Tagged":
        """The columns of sentences given as lists of words and, if known, lists of tags."""
        sentences = list(words)
        sizes = [len(sentence) for sentence in sentences]
        column = _filled(sentences, "word")
        if tags is None:
            return cls(column, None, _offsets(sizes))
        given = list(tags)
        for number, (sentence, own) in enumerate(zip(sentences, given, strict=False), 1):
            if len(sentence) != len(own):
                problem = f"{len(own)} tags for {len(sentence)} words"
                raise InputError(f"sentence {number}", problem, "give one tag a word")
        if len(given) != len(sentences):
            problem = f"{len(given)} sentences of tags for {len(sentences)} of words"
            raise InputError("tags", problem, "give one tag a word")
        return cls(column, _filled(given, "tag"), _offsets(sizes))

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return len(self.offsets) - 1

    def take(self, which: "slice | Sequence[int] | NDArray[Any]") -> "Tagged":
        """Some of the sentences: a slice, their numbers, or a mask."""
        index = np.arange(self.sentences)[which if isinstance(which, slice) else np.asarray(which)]
        sizes = np.diff(self.offsets)[index]
        offsets = _offsets(sizes)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[index] - offsets[:-1], sizes)
        return Tagged(
            self.words[rows],
            None if self.tags is None else self.tags[rows],
            offsets,
            None if self.documents is None else self.documents[index],
        )

    def batches(self, words: int = BATCH) -> Iterator["Tagged"]:
        """All sentences in order, at most `words` words at a time, or one sentence if longer."""
        if words < 1:
            raise InputError("batch", f"{words} words", "give 1 or more")
        start = 0
        while start < self.sentences:
            reach = np.searchsorted(self.offsets, self.offsets[start] + words, side="right")
            end = max(int(reach) - 1, start + 1)
            yield self.take(slice(start, end))
            start = end

    def pair_places(self) -> Codes:
        """The words that have a right neighbour in their sentence."""
        last = np.zeros(len(self) + 1, dtype=np.bool_)
        last[self.offsets[1:]] = True  # the place after a sentence's last word
        return np.flatnonzero(~last[1:])

    def gold(self, tags: Sequence[str]) -> Codes:
        """Each word's gold tag as its place in `tags`; -1 for a tag that is not there."""
        if self.tags is None:
            raise InputError("data", "its words have no tags", "give tagged words")
        place = {tag: k for k, tag in enumerate(tags)}
        own = np.array([place.get(tag, -1) for tag in self.tags.values], dtype=np.int64)
        return own[self.tags.codes]


def _filled(lists: Sequence[Sequence[str]], what: str) -> Strings:
    column = Strings.of(each for own in lists for each in own)
    if (empty := column.where(lambda text: not text.strip())).any():
        problem = f"number {int(empty.argmax()) + 1} is empty"
        raise InputError(f"{what}s", problem, "give each word as text, and its tag")
    return column


def _offsets(sizes: "Sequence[int] | NDArray[Any]") -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def read_tagged(source: str | Path, *, tagged: bool = True) -> Tagged:
    """Sentences from a file with `word<TAB>tag` lines and blank lines between sentences.

    Lines that begin with "#" and have no tab are comments; "# doc = NAME" names the document of
    the sentences below it. The file may be gzipped. Where tags are not wanted they may be missing.
    """
    name = shown(source)
    words: list[str] = []
    tags: list[str] = []
    ends = [0]
    documents: list[str] = []
    document = ""
    for number, line in lines(source):
        text = decoded(line, name, number).rstrip("\r\n")
        if not text or (text[0] == "#" and "\t" not in text):
            if len(words) > ends[-1]:
                ends.append(len(words))
                documents.append(document)
            if text.startswith(_DOCUMENT):
                document = text.removeprefix(_DOCUMENT)
            continue
        cells = text.split("\t")
        where = f"{name}, line {number}"
        if not tagged:
            cells = [cells[0], "-"]
        if len(cells) != 2:
            problem = f"{len(cells)} column{'s' if len(cells) > 1 else ''}, not 2"
            raise InputError(where, problem, "write a word, a tab and its tag")
        for cell, what in zip(cells, ("word", "tag"), strict=True):
            if not cell.strip():
                raise InputError(where, f"the {what} is empty", "write a word, a tab and its tag")
        words.append(cells[0])
        tags.append(cells[1])
    if len(words) > ends[-1]:
        ends.append(len(words))
        documents.append(document)
    if not words:
        raise InputError(name, "there are no sentences", "write a word, a tab and its tag a line")
    named = Strings.of(documents) if any(documents) else None
    known = Strings.of(tags) if tagged else None
    return Tagged(Strings.of(words), known, np.array(ends, dtype=np.int64), named)


def of_documents(documents: Iterable[Document], column: str | None = "xpos") -> Tagged:
    """The sentences of documents, tagged by a column ("xpos" or "upos"); None leaves tags out.

    >>> of_documents([]).sentences
    0
    """
    if column is not None and column not in COLUMNS:
        raise InputError("column", f"{column!r} has no tags", f"name one of {', '.join(COLUMNS)}")
    words, tags, names = _Joined(), _Joined(), _Joined()
    sizes: list[NDArray[np.int32]] = []
    for document in documents:
        sizes.append(np.diff(document.sentence))
        words.add(document.form)
        names.add(Strings.all_equal(document.id, document.sentences))
        if column is not None:
            own: Strings = getattr(document, column)
            if len(own) != len(document) or own.is_in({""}).any():
                problem = f"some of its words have no {column}"
                raise InputError(f"document {document.id}", problem, "leave it out, or tag it")
            tags.add(own)
    offsets = _offsets(np.concatenate([np.empty(0, np.int32), *sizes]))
    return Tagged(
        words.column(), None if column is None else tags.column(), offsets, names.column()
    )


def read_sentences(source: str | Path, column: str | None = "xpos") -> Tagged:
    """Sentences of a corpus folder, a CoNLL-U file or a file of `word<TAB>tag` lines.

    With `column` None tags are not asked for, and the lines of a file may hold words alone.
    """
    if Path(source).is_dir():
        return of_documents(Corpus(source).documents(), column)
    name = Path(source).name.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".csv", ".parquet")):
        problem = "these are texts, not words"
        raise InputError(str(source), problem, "make a corpus of them first: gnomon parse")
    if name.endswith(".conllu"):
        return of_documents(conllu.read(source), column)
    return read_tagged(source, tagged=column is not None)


class _Joined:
    """Columns of strings one after the other, each distinct value kept once."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.codes: list[NDArray[np.int32]] = [np.empty(0, np.int32)]

    def add(self, strings: Strings) -> None:
        used, inverse = np.unique(strings.codes, return_inverse=True)
        own = [self.index.setdefault(strings.values[k], len(self.index)) for k in used.tolist()]
        self.codes.append(np.array(own, dtype=np.int32)[inverse])

    def column(self) -> Strings:
        return Strings(np.concatenate(self.codes), tuple(self.index))
