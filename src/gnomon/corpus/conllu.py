"""CoNLL-U in and out: trees, tags, entities and discourse relations.

`read` gives Documents; `split` and `parse` are its two halves, the first cheap, so that the second
can run elsewhere. Reading is strict: what is not well-formed is an `InputError` with its line, or
goes to the quarantine. Kept is everything but the enhanced dependencies (DEPS), the empty nodes
that belong to them, what a multiword token's line says beside its form and SpaceAfter, and
`# text`, which is made anew on writing. `_` is "", but for a form, and the lemma of the form `_`.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from gnomon.corpus.comments import Comments
from gnomon.corpus.conllu_files import split
from gnomon.corpus.conllu_writer import dumps, write
from gnomon.corpus.document import Document, Fusions, Ints, ints, tree_fault
from gnomon.corpus.entities import column, read_mentions
from gnomon.corpus.relations import read_relations
from gnomon.corpus.source import Quarantine, Raw, parsed
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

__all__ = ["dumps", "parse", "read", "split", "write"]

_FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _HEAD, _DEPREL, _DEPS, _MISC = range(1, 10)
_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_COMMENTS = re.compile(r"(?:#[^\n]*(?:\n|\Z))*")
_NOTHING = frozenset(("", "_"))
_NUMBERS = [str(k) for k in range(1, 1001)]
_MARKED_NUMBERS = ["1", *(f"\n{k}" for k in range(2, 400))]
_HEADS = {str(k): k for k in range(1001)}
_RANGE = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})", re.ASCII)
_EMPTY_NODE = re.compile(r"(0|[1-9]\d{0,8})\.([1-9]\d{0,8})", re.ASCII)


def read(source: str | Path, *, quarantine: Quarantine | None = None) -> Iterator[Document]:
    """The documents of a file, ".conllu" or ".conllu.gz", or of standard input ("-").

    Without a quarantine the first fault is raised; with one, a document that has a fault is handed
    to it and reading goes on.
    """
    return parsed(split(source, quarantine=quarantine), parse, quarantine)


def parse(raw: Raw) -> Document:
    r"""The document that these lines of CoNLL-U say.

    >>> line = "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\tEntity=(1-event)|SpaceAfter=No\n"
    >>> document = parse(Raw("one", "conllu", line, "example.conllu"))
    >>> list(document.form), document.head.tolist(), document.mentions.entities
    (['Yes'], [-1], ('1',))
    """
    lines = _Lines(raw)
    comments = Comments(lambda nth: lines.where(nth, comment=True))
    sizes, table = _table(lines, comments)
    n = sum(sizes)
    sentence = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(sizes, out=sentence[1:])
    head = _heads(lines, table[_HEAD], np.array(sizes, dtype=np.int32), sentence)
    space, rest, entities, relations = _misc(lines, table[_MISC])
    space_after = np.frombuffer(space, dtype=np.bool_)
    for start, end, _, space_follows in lines.fusions:
        space_after[start:end] = False
        space_after[end - 1] = space_follows
    date, title, meta = comments.facts()
    header = meta.get("global.Entity")
    has_mentions = bool(entities) or header is not None
    for k in (_DEPS, _MISC):
        if "" in table[k]:
            raise _empty(lines, table[k], k)
    form, lemma, upos, xpos, feats, deprel = (
        _strings(lines, table[k], k) for k in (_FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _DEPREL)
    )
    return Document(
        id=raw.id,
        form=form,
        lemma=_with_underscores(lemma, form),
        upos=upos,
        xpos=xpos,
        feats=feats,
        head=head,
        deprel=deprel,
        space_after=space_after,
        sentence=sentence,
        date=date or raw.date,
        title=title or raw.title,
        meta={**raw.meta, **meta},
        misc=column(rest),
        paragraph=ints(comments.paragraph),
        sentence_id=column(comments.sentence_id),
        speaker=column(comments.speaker),
        comments=column(comments.others),
        fusions=Fusions(
            ints([fusion[0] for fusion in lines.fusions]),
            ints([fusion[1] for fusion in lines.fusions]),
            tuple(fusion[2] for fusion in lines.fusions),
        ),
        mentions=read_mentions(entities, header, head, lines.fault) if has_mentions else None,
        relations=read_relations(relations, n, lines.fault) if relations else None,
    )


class _Lines:
    """The lines of a document: where each row stands, for messages, which are rarely needed."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.text = raw.text
        if "\r" in self.text:
            self.text = self.text.replace("\r\n", "\n")
            if "\r" in self.text:
                line = raw.line + self.text.count("\n", 0, self.text.index("\r"))
                problem = "a carriage return inside a line"
                raise InputError(f"{raw.where}, line {line}", problem, "end lines with \\n")
        self.others: list[int] = []  # the rows that are not words
        self.fusions: list[tuple[int, int, str, bool]] = []  # start, end, form, space after

    def where(self, nth: int, *, comment: bool = False) -> str:
        """The place of the n-th row, or comment, of the document."""
        found = (
            number
            for number, line in enumerate(self.text.split("\n"), start=self.raw.line)
            if line and line.startswith("#") == comment
        )
        number = next((n for k, n in enumerate(found) if k == nth), self.raw.line)
        return f"{self.raw.where}, line {number}"

    def row_fault(self, row: int, problem: str, remedy: str) -> InputError:
        """The error for a row, whatever it holds."""
        return InputError(self.where(row), problem, remedy)

    def fault(self, word: int, problem: str, remedy: str) -> InputError:
        """The error for a word."""
        row = word
        for other in self.others:  # in ascending order
            row += other <= row
        return self.row_fault(row, problem, remedy)


def _table(lines: _Lines, comments: Comments) -> tuple[list[int], list[list[str]]]:
    """The words of each sentence and the ten columns; all else goes where it belongs."""
    sizes: list[int] = []
    cells: list[str] = []
    rows = filled = 0
    for block in lines.text.split("\n\n"):
        block = block.strip("\n")
        if not block:
            continue
        match = _COMMENTS.match(block)
        top = match.end() if match else 0
        if top == len(block):
            problem = "comments without a sentence below them"
            raise lines.row_fault(rows - 1, problem, "remove them or add the words")
        comments.add(block[: max(top - 1, 0)])
        first = filled
        # One split for a whole sentence: marked line ends show whether every row has ten cells.
        n = block.count("\n", top) + 1
        marked = block[top:].replace("\n", "\t\n").split("\t")
        if len(marked) == 10 * n and marked[::10] == _marked_numbers(n):
            cells += marked
            filled += 10 * n
            rows += n
            sizes.append(n)
            continue
        body = block[top:].split("\n")
        for line in body:
            cells += line.split("\t")
            filled += 10
            if len(cells) != filled:
                raise _column_fault(lines, rows + (filled - first) // 10 - 1, line)
        if cells[first::10] != _numbers(len(body)):
            _only_words(lines, cells, first, rows)
            filled = len(cells)
        rows += len(body)
        sizes.append((filled - first) // 10)
    if not sizes:
        where = f"{lines.raw.where}, line {lines.raw.line}"
        raise InputError(where, "a document without words", "remove it or add its sentences")
    return sizes, [cells[k::10] for k in range(10)]


def _column_fault(lines: _Lines, row: int, line: str) -> InputError:
    if line.startswith("#"):
        # Such lines are not counted as rows, so what is found is the row above.
        problem = "a comment follows inside the sentence"
        return lines.row_fault(row - 1, problem, "end a sentence with a blank line")
    problem = f"{line.count(chr(9)) + 1} columns, not 10"
    return lines.row_fault(row, problem, "separate the ten columns by single tabs")


def _marked_numbers(n: int) -> list[str]:
    """The ids of n words, all but the first with the line end before it."""
    if n <= len(_MARKED_NUMBERS):
        return _MARKED_NUMBERS[:n]
    return ["1", *(f"\n{k}" for k in range(2, n + 1))]


def _numbers(n: int) -> list[str]:
    return _NUMBERS[:n] if n <= len(_NUMBERS) else [str(k) for k in range(1, n + 1)]


def _only_words(lines: _Lines, cells: list[str], first: int, rows: int) -> None:
    """Takes the rows that are not words out of the last sentence, and keeps multiword tokens.

    The sentence begins at the cell `first` and has `rows` rows before it.
    """
    remedy = "number words 1, 2, ..., multiword tokens like 2-3, empty nodes like 2.1"
    ids = cells[first::10]
    expected = _numbers(len(ids))
    others: list[int] = []
    word = fused = empty = 0
    for k, id_ in enumerate(ids):
        if id_ == expected[word]:
            word, empty = word + 1, 0
            continue
        others.append(k)
        form, misc = (cells[first + 10 * k + column] for column in (_FORM, _MISC))
        if match := _RANGE.fullmatch(id_):
            start, end = int(match[1]), int(match[2])
            if start != word + 1 or start <= fused or end <= start:
                problem = f"the multiword token {id_} does not fit after word {word}"
                raise lines.row_fault(rows + k, problem, remedy)
            if not form:
                raise lines.row_fault(rows + k, "the FORM column is empty", "write the token")
            fused, before = end, first // 10
            space = _range_space(lines, rows + k, misc)
            lines.fusions.append((before + start - 1, before + end, form, space))
        elif match := _EMPTY_NODE.fullmatch(id_):
            if int(match[1]) != word or int(match[2]) != empty + 1:
                problem = f"the empty node {id_} does not fit after word {word}"
                raise lines.row_fault(rows + k, problem, remedy)
            empty += 1
            if any(part.startswith(("Entity=", "PDTB=")) for part in misc.split("|")):
                problem = "an entity or relation on an empty node, which is not a word"
                raise lines.row_fault(rows + k, problem, "annotate words only")
        else:
            problem = f"the id {id_[:20]!r} where {word + 1} was expected"
            raise lines.row_fault(rows + k, problem, remedy)
    if fused > word:
        at = next(k for k in reversed(others) if "-" in ids[k])
        problem = f"the multiword token {ids[at]} is longer than its sentence"
        raise lines.row_fault(rows + at, problem, remedy)
    if word == 0:
        raise lines.row_fault(rows, "a sentence without words", "remove it or add its words")
    for k in reversed(others):
        del cells[first + 10 * k : first + 10 * k + 10]
    lines.others += [rows + k for k in others]


def _range_space(lines: _Lines, row: int, misc: str) -> bool:
    """Whether a space follows a multiword token."""
    space = True
    for part in misc.split("|"):
        name, _, value = part.partition("=")
        if name == "SpaceAfter":
            space = value != "No"
        elif name in ("Entity", "PDTB"):
            problem = f"{name} on a multiword token, which is not a word"
            raise lines.row_fault(row, problem, "annotate its words")
    return space


def _heads(lines: _Lines, cells: list[str], sizes: Ints, sentence: Ints) -> Ints:
    """The heads as word numbers of the document, once it is sure that they are trees."""
    try:
        heads = np.fromiter(map(_HEADS.__getitem__, cells), dtype=np.int32, count=len(cells))
    except KeyError:
        numbers = []
        for word, cell in enumerate(cells):
            if not (cell.isascii() and cell.isdecimal() and len(cell) < 10):
                problem = f"the head {cell[:20]!r} is not a number"
                raise lines.fault(
                    word, problem, "give the id of a word, or 0 for the root"
                ) from None
            numbers.append(int(cell))
        heads = ints(numbers)
    outside = heads > sizes.repeat(sizes)
    if outside.any():
        word = int(outside.argmax())
        problem = f"the head {heads[word]} is not a word of the sentence"
        raise lines.fault(word, problem, "give the id of a word, or 0 for the root")
    head = heads + (sentence[:-1] - np.int32(1)).repeat(sizes)
    head[heads == 0] = -1
    fault = tree_fault(head, sentence)
    if fault is not None:
        place, problem = int(sentence[fault[0]]), f"the sentence has {fault[1]}"
        raise lines.fault(place, problem, "give every word a head, and one word the head 0")
    return head


def _misc(
    lines: _Lines, cells: list[str]
) -> tuple[bytearray, list[str], list[tuple[int, str]], list[tuple[int, str]]]:
    """Whether a space follows each word, its other attributes, and its entities and relations."""
    space = bytearray(b"\1") * len(cells)
    rest = [""] * len(cells)
    entities: list[tuple[int, str]] = []
    relations: list[tuple[int, str]] = []
    for word, cell in enumerate(cells):
        if cell == "_":
            continue
        if cell == "SpaceAfter=No":
            space[word] = 0
            continue
        others = ""
        for part in cell.split("|"):
            if part[:7] == "Entity=":
                entities.append((word, part[7:]))
            elif part == "SpaceAfter=No":
                space[word] = 0
            elif part[:5] == "PDTB=":
                relations.append((word, part[5:]))
            elif part in _NOTHING or part[:11] == "SpaceAfter=":
                continue
            elif others:
                others += "|" + part
            else:
                others = part
        if others:
            rest[word] = others
    for name, found in (("Entity", entities), ("PDTB", relations)):
        if len(dict(found)) < len(found):
            word = next(a for (a, _), (b, _) in pairwise(found) if a == b)
            raise lines.fault(word, f"a second {name} attribute", "keep one of them")
    return space, rest, entities, relations


def _strings(lines: _Lines, cells: list[str], kind: int) -> Strings:
    """A column of strings, in which `_` becomes "" where it means "none"."""
    strings = column(cells)
    if "" in strings.values:
        raise _empty(lines, cells, kind)
    if kind != _FORM and "_" in strings.values:
        strings.values = tuple("" if value == "_" else value for value in strings.values)
    return strings


def _with_underscores(lemma: Strings, form: Strings) -> Strings:
    """The lemmas, in which that of the word `_` is `_` and not none."""
    if "_" not in form.values:
        return lemma
    codes = np.where(form.is_in({"_"}) & lemma.is_in({""}), len(lemma.values), lemma.codes)
    return Strings(codes.astype(np.int32), (*lemma.values, "_"))


def _empty(lines: _Lines, cells: list[str], kind: int) -> InputError:
    problem, remedy = f"the {_NAMES[kind]} column is empty", "write _ where there is nothing to say"
    return lines.fault(cells.index(""), problem, remedy)
