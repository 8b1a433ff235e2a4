"""Mentions as CorefUD writes them in CoNLL-U: `Entity=(1-person(2-place)` ... `Entity=1)`.

`(LABEL` opens a mention, `ID)` closes it, `(LABEL)` is a mention of one word; brackets may nest,
cross and close in any order, but two mentions of one entity that cross cannot be told apart from
nested ones. A mention in pieces has `ID[1/2]`, `ID[2/2]` in its brackets. The fields of a label are
declared by the comment `# global.Entity`; the last may hold hyphens. Without a declaration, labels
are `KIND-ID`, closed by the whole label, if they look like it, and `ID-KIND-...` otherwise.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from gnomon.corpus.document import Ints, Mentions, ints
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

Fault = Callable[[int, str, str], InputError]
"""Makes the error for a word: its number, what is wrong, what to do."""

Cells = Sequence[tuple[int, str]]
"""The words that carry an annotation, in order, with its text."""

Pieces = tuple[tuple[int, int], ...]

_PIECE = re.compile(r"(.+)\[([1-9]\d{0,3})/([1-9]\d{0,3})\]")
_ID_FIELDS = ("GRP", "eid")
_KIND_FIELDS = ("etype", "entity")
_PAIR = "write `(ID-...` at the first word of a mention and `ID)` at its last"


@dataclass(frozen=True)
class Labels:
    """What the fields of a label mean: how many there are, which is the id and which the kind."""

    fields: int
    id_at: int
    kind_at: int | None

    @classmethod
    def declared(cls, header: str) -> "Labels | None":
        """The fields that a `global.Entity` declaration names; None if it names no id.

        >>> Labels.declared("GRP-etype-infstat")
        Labels(fields=3, id_at=0, kind_at=1)
        """
        names = header.split("-")
        ids = [k for k, name in enumerate(names) if name in _ID_FIELDS]
        kinds = [k for k, name in enumerate(names) if name in _KIND_FIELDS]
        return cls(len(names), ids[0], kinds[0] if kinds else None) if ids else None

    def key(self, label: str) -> str:
        """What closes a mention of this label: its id, and the fields before it."""
        if self.fields == 1:
            return label
        if self.id_at == 0:
            return label.partition("-")[0]
        return "-".join(label.split("-", self.fields - 1)[: self.id_at + 1])

    def parts(self, label: str) -> tuple[str, str, str]:
        """The id, the kind and the other fields, joined; "" for what is not there.

        >>> Labels.declared("GRP-etype-infstat").parts("3-person-new")
        ('3', 'person', 'new')
        """
        values = label.split("-", self.fields - 1)
        id_ = values[self.id_at] if self.id_at < len(values) else ""
        kind = ""
        if self.kind_at is not None and self.kind_at < len(values):
            kind = values[self.kind_at]
        rest = [v for k, v in enumerate(values) if k not in (self.id_at, self.kind_at)]
        return id_, kind, "-".join(rest)

    def columns(self, labels: list[str]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        """The parts of many labels, as columns."""
        if not labels:
            return (), (), ()
        if self.id_at == 0 and self.kind_at == 1 and self.fields > 2:
            split = [label.split("-", 2) for label in labels]
            if set(map(len, split)) == {3}:  # what is usual needs no look at each
                ids, kinds, attributes = zip(*split, strict=True)
                return ids, kinds, attributes
        ids, kinds, attributes = zip(*map(self.parts, labels), strict=True)
        return ids, kinds, attributes

    def label(self, id: str, kind: str, attributes: str) -> str:
        """The label of these parts.

        >>> Labels.declared("GRP-etype-infstat").label("3", "person", "new")
        '3-person-new'
        """
        values = attributes.split("-") if attributes else []
        if self.kind_at is None:
            values.insert(self.id_at, id)
        elif self.kind_at < self.id_at:
            values.insert(self.kind_at, kind)
            values.insert(self.id_at, id)
        else:
            values.insert(self.id_at, id)
            if kind or self.kind_at < len(values):
                values.insert(self.kind_at, kind)
        return "-".join(values)


KIND_FIRST = Labels(2, 1, 0)
ID_FIRST = Labels(3, 0, 1)


def column(strings: Sequence[str]) -> Strings:
    """A column of strings, its values in the order of first appearance, made with no loop."""
    index: defaultdict[str, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(index.__getitem__, strings), dtype=np.int32, count=len(strings))
    return Strings(codes, tuple(index))


class _Spans(NamedTuple):
    """What brackets enclose, in the order in which they open; `pieces` of those in several."""

    start: list[int]
    end: list[int]
    label: list[str]
    pieces: dict[int, Pieces]


def read_mentions(cells: Cells, header: str | None, head: Ints, fault: Fault) -> Mentions:
    """The mentions that the `Entity` attributes of a document's words say, by (start, −end)."""
    labels = _labels(cells, header, fault)
    spans = _spans(cells, labels, fault)
    start, end = ints(spans.start), ints(spans.end)
    label, pieces = spans.label, spans.pieces
    # Brackets open in the order of `start`, and mostly the longer one first.
    if pieces or ((end[1:] > end[:-1]) & (start[1:] == start[:-1])).any():
        order = np.lexsort((-end, start)).tolist()  # a stable sort
        if pieces:
            order.sort(key=lambda k: (spans.start[k], -spans.end[k], spans.pieces.get(k, ())))
        start, end, label = start[order], end[order], [label[k] for k in order]
        pieces = {k: spans.pieces[old] for k, old in enumerate(order) if old in spans.pieces}
    ids, kinds, attributes = labels.columns(label)
    if "" in ids:
        k = ids.index("")
        raise fault(int(start[k]), f"the entity label {label[k][:40]!r} has no id", _PAIR)
    entity = column(ids)
    return Mentions(
        start,
        end,
        mention_heads(head, start, end, pieces),
        entity.codes,
        tuple(entity.values),
        column(kinds),
        column(attributes),
        pieces,
    )


def _labels(cells: Cells, header: str | None, fault: Fault) -> Labels:
    if header is not None:
        labels = Labels.declared(header)
        if labels is None:
            problem = f"`# global.Entity = {header[:60]}` names no field for the id"
            raise fault(cells[0][0] if cells else 0, problem, "name one of its fields GRP or eid")
        return labels
    opened: list[str] = []
    closed: list[str] = []
    for _, cell in cells:
        for bracket in _brackets(cell):
            (opened if bracket[0] == "(" else closed).append(bracket.strip("()"))
    if any("-" in closer for closer in closed):
        return KIND_FIRST
    if not closed and opened and all(re.fullmatch(r"[^-\d]+-\d+", label) for label in opened):
        return KIND_FIRST
    return ID_FIRST


def _brackets(text: str) -> Iterator[str]:
    """The brackets of many words with their labels, and the line ends between the words.

    >>> list(_brackets("(1-person(2)\\n1)"))
    ['(1-person', '(2)', '\\n', '1)']
    """
    # A tab cannot stand in an attribute, and splitting at tabs is faster than a search.
    marked = text.replace("(", "\t(").replace(")", ")\t").replace("\n", "\t\n\t")
    return filter(None, marked.split("\t"))


def _spans(cells: Cells, labels: Labels, fault: Fault) -> _Spans:
    """Every mention, with its brackets paired and its pieces put together."""
    start: list[int] = []
    end: list[int] = []
    label_of: list[str] = []
    open_: dict[str, list[int]] = {}
    id_first = labels.id_at == 0 and labels.fields > 1
    words = iter(cells)
    word = next(words, (0, ""))[0]
    text = "\n".join([cell for _, cell in cells])
    for bracket in _brackets(text):
        if bracket[0] == "(":
            if bracket[-1] == ")":
                label = bracket[1:-1]
            else:
                label = bracket[1:]
                key = label.partition("-")[0] if id_first else labels.key(label)
                if key in open_:
                    open_[key].append(len(start))
                else:
                    open_[key] = [len(start)]
            if not label:
                raise fault(word, "an entity bracket without a label", _PAIR)
            start.append(word)
            end.append(word + 1)
            label_of.append(label)
        elif bracket == "\n":
            word = next(words)[0]
        elif bracket[-1] != ")":
            raise fault(word, f"{bracket[:40]!r} in no entity bracket", _PAIR)
        else:
            stack = open_.get(bracket[:-1])
            if not stack:
                raise fault(word, f"the entity bracket {bracket[:40]!r} was never opened", _PAIR)
            end[stack.pop()] = word + 1
    if not all(map(itemgetter(1), cells)):
        raise fault(next(w for w, cell in cells if not cell), "no entity bracket", _PAIR)
    for key, stack in open_.items():
        if stack:
            raise fault(start[stack[0]], f"the entity bracket {key[:40]!r} is never closed", _PAIR)
    spans = _Spans(start, end, label_of, {})
    return _joined(spans, labels, fault) if "[" in text else spans


def _joined(spans: _Spans, labels: Labels, fault: Fault) -> _Spans:
    """The mentions with the pieces of each put together; a mention stands where its first did."""
    remedy = "number the pieces of a mention [1/n] to [n/n], in order, with one label"
    joined = _Spans([], [], [], {})
    unfinished: list[tuple[str, int, int, list[tuple[int, int]]]] = []
    for start, end, label in zip(spans.start, spans.end, spans.label, strict=True):
        match = _PIECE.fullmatch(labels.key(label))
        if not match or int(match[2]) == 1:
            joined.start.append(start)
            joined.end.append(end)
            joined.label.append(match[1] + label[match.end() :] if match else label)
        if not match:
            continue
        k, n = int(match[2]), int(match[3])
        whole = match[1] + label[match.end() :]
        if k > n or n < 2:
            raise fault(start, f"piece {k} of {n} of {whole[:40]!r} cannot be", remedy)
        if k == 1:
            unfinished.append((whole, n, len(joined.start) - 1, []))
        for at in reversed(range(len(unfinished))):
            name, size, mention, before = unfinished[at]
            fits = len(before) == k - 1 and (not before or before[-1][1] <= start)
            if fits and size == n and name == whole:
                break
        else:
            problem = f"piece {k} of {n} of {whole[:40]!r} has no piece before it"
            raise fault(start, problem, remedy)
        before.append((start, end))
        if k == n:
            joined.end[mention] = end
            joined.pieces[mention] = tuple(before)
            del unfinished[at]
    for whole, n, _, before in unfinished:
        problem = f"only {len(before)} of {n} pieces of {whole[:40]!r} are there"
        raise fault(before[0][0], problem, remedy)
    return joined


def mention_heads(
    head: Ints,
    start: Ints,
    end: Ints,
    pieces: Mapping[int, Pieces] | None = None,
) -> Ints:
    """The highest word of each span in the tree; of several, the first.

    >>> mention_heads(ints([1, 2, -1, 2]), ints([0, 0]), ints([2, 4])).tolist()
    [1, 2]
    """
    if len(start) == 0:
        return ints()
    size = end - start
    first = np.cumsum(size) - size
    own = np.repeat(np.arange(len(start)), size)
    word = np.arange(len(own)) + np.repeat(start - first, size)
    above = head[word]
    top = (above < np.repeat(start, size)) | (above >= np.repeat(end, size))
    found = np.full(len(start), -1, dtype=np.int32)
    found[own[top]] = word[top]
    # Most spans have one word whose head is outside; of several, the highest must be looked for.
    unsure = np.flatnonzero(np.add.reduceat(top, first, dtype=np.int32) > 1).tolist()
    for k in {*unsure, *(pieces or ())}:
        spans = (pieces or {}).get(k, ((int(start[k]), int(end[k])),))
        found[k] = min((w for a, b in spans for w in range(a, b)), key=lambda w: _depth(head, w))
    return found


def _depth(head: Ints, word: int) -> int:
    """How many steps a word is below its root."""
    depth = 0
    while (word := int(head[word])) >= 0:
        depth += 1
    return depth


def write_mentions(mentions: Mentions, header: str | None) -> dict[int, str]:
    """The `Entity` attribute of each word that has one; with no header, kinds come first if known.

    >>> write_mentions(Mentions(ints([0, 1]), ints([3, 2]), ints([0, 1]), ints([0, 1]), ("1", "2"),
    ...                         Strings.of(["person", "place"]), Strings.of(["", ""])), "GRP-etype")
    {0: '(1-person', 1: '(2-place)', 2: '1)'}
    """
    labels = Labels.declared(header) if header is not None else _undeclared(mentions)
    if labels is None:
        problem = f"global.Entity = {header!r} names no field for the id"
        raise InputError("the document's meta", problem, "name one of its fields GRP or eid")
    opening: dict[int, list[str]] = {}
    single: dict[int, list[str]] = {}
    closing: dict[int, list[tuple[int, int, str]]] = {}
    columns = (mentions.start.tolist(), mentions.end.tolist(), mentions.entity.tolist(),
               mentions.kind, mentions.attributes)  # fmt: skip
    for k, (start, end, entity, kind, attributes) in enumerate(zip(*columns, strict=True)):
        spans = mentions.pieces.get(k, ((start, end),))
        for nth, (a, b) in enumerate(spans, start=1):
            piece = f"[{nth}/{len(spans)}]" if len(spans) > 1 else ""
            label = labels.label(mentions.entities[entity] + piece, kind, attributes)
            if b == a + 1:
                single.setdefault(a, []).append(f"({label})")
            else:
                opening.setdefault(a, []).append(f"({label}")
                closing.setdefault(b - 1, []).append((-a, -k, f"{labels.key(label)})"))
    cells = {}
    for word in sorted({*opening, *single, *closing}):
        closed = [text for _, _, text in sorted(closing.get(word, ()))]
        opened, alone = opening.get(word, []), single.get(word, [])
        cells[word] = "".join([*closed, *opened, *alone] if opened else [*alone, *closed])
    return cells


def _undeclared(mentions: Mentions) -> Labels:
    plain = not mentions.pieces and not any(mentions.attributes) and all(mentions.kind)
    return KIND_FIRST if plain else ID_FIRST
