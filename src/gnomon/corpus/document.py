"""A document as columns: words with their tags and trees, sentences, mentions, relations.

Words are numbered from 0 through the whole document. A head is a word number too, −1 for a root.
Multiword tokens are kept as `Fusions` beside the words; empty nodes are not words and not kept.
"""

import calendar
import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

Ints = NDArray[np.int32]


def ints(values: "list[int] | Ints" = ()) -> Ints:  # type: ignore[assignment]
    """A column of word, sentence or entity numbers."""
    return np.asarray(values, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Fusions:
    """Multiword tokens ("don't" for "do" and "n't"): words `start` to `end`, written as `form`."""

    start: Ints = field(default_factory=ints)
    end: Ints = field(default_factory=ints)
    form: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.start)

    def same_as(self, other: "Fusions") -> bool:
        """Whether every column is the same."""
        return self.form == other.form and _same_arrays(self, other, "start", "end")


@dataclass(frozen=True, eq=False)
class Mentions:
    """Mentions of entities: words `start` to `end` (exclusive), the head word, the entity's number.

    `entities` names the numbers, `kind` is the annotation's entity type ("" where it has none) and
    `attributes` what else a gold annotation says of a mention, which no model may see. A mention
    in several pieces has its hull in `start` and `end` and its pieces in `pieces`.
    """

    start: Ints = field(default_factory=ints)
    end: Ints = field(default_factory=ints)
    head: Ints = field(default_factory=ints)
    entity: Ints = field(default_factory=ints)
    entities: tuple[str, ...] = ()
    kind: Strings = field(default_factory=lambda: Strings.of(()))
    attributes: Strings = field(default_factory=lambda: Strings.of(()))
    pieces: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start)

    def same_as(self, other: "Mentions") -> bool:
        """Whether every column is the same."""
        return (
            _same_arrays(self, other, "start", "end", "head", "entity")
            and self.entities == other.entities
            and _same_strings(self.kind, other.kind)
            and _same_strings(self.attributes, other.attributes)
            and dict(self.pieces) == dict(other.pieces)
        )


@dataclass(frozen=True)
class Relation:
    """A discourse relation: its type, sense and connective, and the words of its three parts.

    `connective_words`, `first` and `second` are spans (start, end), end exclusive; an implicit
    relation has no connective words.
    """

    type: str
    sense: str
    connective: str
    connective_words: tuple[tuple[int, int], ...]
    first: tuple[tuple[int, int], ...]
    second: tuple[tuple[int, int], ...]
    word: int  # the word at which the annotation is written


@dataclass(frozen=True, eq=False)
class Document:
    """One text with everything known about it, as columns of equal length.

    `sentence` holds the first word of each sentence and, last, the number of words; `paragraph`
    the numbers of the sentences that begin a paragraph. `sentence_id`, `speaker` and `comments`
    have one string a sentence.
    """

    id: str
    form: Strings
    lemma: Strings
    upos: Strings
    xpos: Strings
    feats: Strings
    head: Ints
    deprel: Strings
    space_after: NDArray[np.bool_]
    sentence: Ints
    date: datetime.date | None = None
    title: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)
    misc: Strings = field(default_factory=lambda: Strings.of(()))
    paragraph: Ints = field(default_factory=ints)
    sentence_id: Strings = field(default_factory=lambda: Strings.of(()))
    speaker: Strings = field(default_factory=lambda: Strings.of(()))
    comments: Strings = field(default_factory=lambda: Strings.of(()))
    fusions: Fusions = field(default_factory=Fusions)
    mentions: Mentions | None = None
    relations: tuple[Relation, ...] | None = None

    def __len__(self) -> int:
        return len(self.head)

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return max(len(self.sentence) - 1, 0)

    def text(self, start: int = 0, end: int | None = None) -> str:
        """The words as written, with a blank line between paragraphs."""
        return self._layout(start, len(self) if end is None else end)[0]

    def offsets(self) -> tuple[Ints, Ints]:
        """Where each word starts and ends in `text()`; the words of a fusion share its place."""
        return self._layout(0, len(self))[1:]

    def _layout(self, start: int, end: int) -> tuple[str, Ints, Ints]:
        words = list(self.form[start:end])
        gap = [" " if space else "" for space in self.space_after[start:end].tolist()]
        if words:
            gap[-1] = ""
        for first in self.sentence[self.paragraph].tolist():
            if start < first < end:
                gap[first - 1 - start] = "\n\n"
        fused: dict[int, tuple[int, str]] = {}
        for a, b, form in zip(
            self.fusions.start.tolist(), self.fusions.end.tolist(), self.fusions.form, strict=True
        ):
            if start <= a and b <= end:
                fused[a - start] = (b - start, form)
        pieces: list[str] = []
        starts, ends = np.zeros((2, len(words)), dtype=np.int32)
        at = k = 0
        while k < len(words):
            last, piece = fused.get(k, (k + 1, words[k]))
            starts[k:last] = at
            ends[k:last] = at + len(piece)
            pieces += (piece, gap[last - 1])
            at += len(piece) + len(gap[last - 1])
            k = last
        return "".join(pieces), starts, ends

    def sentence_of(self) -> Ints:
        """The sentence of each word."""
        return np.repeat(np.arange(self.sentences, dtype=np.int32), np.diff(self.sentence))

    def same_as(self, other: "Document") -> bool:
        """Whether two documents say the same, in every column and layer.

        A column of strings that was left out is the same as one of empty strings.
        """
        plain = ("id", "date", "title", "relations")
        texts = ("form", "lemma", "upos", "xpos", "feats", "deprel", "misc",
                 "sentence_id", "speaker", "comments")  # fmt: skip
        a, b = self.mentions, other.mentions
        return (
            all(getattr(self, name) == getattr(other, name) for name in plain)
            and dict(self.meta) == dict(other.meta)
            and _same_arrays(self, other, "head", "space_after", "sentence", "paragraph")
            and all(_same_strings(getattr(self, name), getattr(other, name)) for name in texts)
            and self.fusions.same_as(other.fusions)
            and (a is b if a is None or b is None else a.same_as(b))
        )


def _same_arrays(a: object, b: object, *names: str) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


def _same_strings(a: Strings, b: Strings) -> bool:
    if len(a) and len(b):
        return a == b
    return not any(a) and not any(b)


def tree_fault(head: Ints, sentence: Ints) -> tuple[int, str] | None:
    """The first sentence whose heads are not one tree, and what is wrong; None if all are trees.

    >>> tree_fault(ints([1, -1, 1]), ints([0, 3])) is None
    True
    >>> tree_fault(ints([1, 0, 1]), ints([0, 3]))
    (0, 'no root')
    """
    n = len(head)
    if n == 0:
        return None
    sizes = np.diff(sentence)
    own = np.repeat(np.arange(len(sizes)), sizes)
    words = np.arange(n)
    root = head == -1
    inside = root | ((head >= sentence[:-1][own]) & (head < sentence[1:][own]) & (head != words))
    roots = np.bincount(own[root], minlength=len(sizes))
    # Pointer jumping: after log2(longest sentence) doublings every word of a tree is at a root.
    up = np.where(root | ~inside, words, head)
    for _ in range(int(max(sizes.max(), 1)).bit_length()):
        up = up[up]
    stuck = ~root[up]
    bad = np.flatnonzero((roots != 1) | np.bincount(own[~inside | stuck], minlength=len(sizes)) > 0)
    if len(bad) == 0:
        return None
    s = int(bad[0])
    if not inside[own == s].all():
        return s, "a head outside the sentence or on the word itself"
    if roots[s] != 1:
        return s, "no root" if roots[s] == 0 else f"{roots[s]} roots"
    return s, "a cycle of heads"


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def parse_date(text: str, where: str) -> datetime.date:
    """A date from `2005-03-02`, `2005-03-02T10:00:00Z`, `20050302`, `2005-03`, `2005`, or Reuters'
    `26-FEB-1987 15:01:01.79`; a missing month or day is the first.

    >>> parse_date(" 7-APR-1987 11:02:31.04", "line 1")
    datetime.date(1987, 4, 7)
    """
    stripped = text.strip()
    match = re.fullmatch(r"(\d{1,2})-([A-Za-z]{3})-(\d{4})(?:[ T].*)?", stripped)
    if match:
        month = match[2].upper()
        if month in _MONTHS:
            return _date((int(match[3]), _MONTHS.index(month) + 1, int(match[1])), text, where)
    match = re.fullmatch(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?", stripped)
    match = match or re.fullmatch(r"(\d{4})(\d{2})(\d{2})", stripped)
    if not match:
        raise InputError(where, f"{text[:40]!r} is not a date", "write it as YYYY-MM-DD")
    return _date((int(match[1]), int(match[2] or 1), int(match[3] or 1)), text, where)


def last_day(text: str, where: str) -> datetime.date:
    """The last day of what `parse_date` reads: of a year, of a month, or the day itself.

    >>> print(last_day("2004", "--until"), last_day("2004-02", "--until"))
    2004-12-31 2004-02-29
    """
    first = parse_date(text, where)
    digits = text.strip()
    if re.fullmatch(r"\d{4}", digits):
        return first.replace(month=12, day=31)
    if re.fullmatch(r"\d{4}-\d{1,2}", digits):
        return first.replace(day=calendar.monthrange(first.year, first.month)[1])
    return first


def _date(parts: tuple[int, int, int], text: str, where: str) -> datetime.date:
    try:
        return datetime.date(*parts)
    except ValueError:
        raise InputError(
            where, f"{text[:40]!r} is no day of the calendar", "write it as YYYY-MM-DD"
        ) from None
