"""The CoNLL-2012 format of coreference: one word a line, entities as brackets in the last column.

    #begin document (bc/cctv/00/cctv_0000); part 000
    bc/cctv/00/cctv_0000  0  0  Ann    NNP  *  -  -  -  -  *  (3)
    bc/cctv/00/cctv_0000  0  1  slept  VBD  *  -  -  -  -  *  -

    #end document

Columns: document, part, number of the word in its sentence, word, tag, parse bit, lemma, frameset,
sense, speaker, named entity, any number of predicate arguments, coreference; or the first four and
coreference only. Word, tag (`xpos`), lemma, speaker and mentions are read. The format has no
dependency tree, so each head is −1, each relation "", and a mention's head is its last word.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnomon.corpus.document import Document, Mentions, ints
from gnomon.corpus.files import decoded, lines, write_texts
from gnomon.corpus.source import Quarantine, Raw, Refused, parsed, refuse
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

_BEGIN = re.compile(rb"#\s*begin document\b")
_END = re.compile(rb"#\s*end document\b")
_IDLE = re.compile(rb"\s*$|#\s(?!\s*(?:begin|end) document\b)")  # blank, or a comment
_ASIDE = re.compile(r"#(?:\s|(?:begin|end) document\b)")  # a comment, or the ends of a document
_HEADER = re.compile(
    r"#\s*begin document\s+(?:\(([^\r]*)\)(?:; part ([0-9]{1,9}))?;?|([^(\r][^\r]*?))\s*"
)
_BRACKET = re.compile(r"(\()?([^()|*\s]+)(\))?")
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_FULL, _SHORT = 12, 5  # columns: all but arguments of predicates, or the first four and the last
_NOTHING = ("-", "_")  # in the last column: no bracket


class _Cell(NamedTuple):
    """The brackets of one word, and the line they stand in."""

    word: int
    brackets: str
    line: int = 0


class _Span(NamedTuple):
    """A mention: its first word, the word after its last, its entity as it is written."""

    start: int
    end: int
    entity: str


def read(source: str | Path, *, quarantine: Quarantine | None = None) -> Iterator[Document]:
    """The documents of a file or of standard input ("-"), gzipped or not, one at a time.

    A document that breaks the format goes to the `quarantine`, or is raised if there is none.
    Each part is a document; its id is the name, with "#" and the part's number if that is not 0.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "ann.conll")
    ...     lines = ["#begin document (a); part 001", "a 1 0 Ann (3)", "", "#end document"]
    ...     _ = path.write_text("\\n".join(lines))
    ...     [(document.id, list(document.form)) for document in read(path)]
    [('a#1', ['Ann'])]
    """
    return parsed(split(source, quarantine=quarantine), parse, quarantine)


def split(source: str | Path, *, quarantine: Quarantine | None = None) -> Iterator[Raw]:
    """The documents of a file as their lines, from `#begin` to `#end`, for `parse`."""
    name = "standard input" if source == "-" else str(source)
    seen = set[str]()
    empty = True
    for block in _blocks(source):
        empty = False
        id = ""
        try:
            id = _id_of(block, name)
            text = "".join(_text(line, name, number) for number, line in block)
            if not _END.match(block[-1][1]):
                raise _fault(name, block[0][0], "the document has no end", "add #end document")
            if id in seen:
                problem = f"the document {id[:80]!r} came before"
                raise _fault(name, block[0][0], problem, "give each document and part its own name")
        except InputError as error:
            whole = b"".join(line for _, line in block).decode(errors="replace")
            refuse(Refused.because(error, id, whole), quarantine)
            continue
        seen.add(id)
        yield Raw(id, "conll2012", text, name, block[0][0])
    if empty:
        problem = "there is no document in it"
        raise InputError(name, problem, "give a file with #begin document (name); part 000")


def _blocks(source: str | Path) -> Iterator[list[tuple[int, bytes]]]:
    """The lines from each `#begin` to its `#end`, and what stands outside, if it is not blank."""
    block: list[tuple[int, bytes]] = []
    for number, line in lines(source):
        if _BEGIN.match(line) and block:
            yield block
            block = []
        if block or not _IDLE.match(line):
            block.append((number, line))
        if _END.match(line):
            yield block
            block = []
    if block:
        yield block


def _text(line: bytes, name: str, number: int) -> str:
    if b"\0" in line:
        problem = "a NUL (U+0000) in the line"
        raise _fault(name, number, problem, "give text, not binary data; or take the NULs out")
    return decoded(line, name, number)


def _id_of(block: list[tuple[int, bytes]], name: str) -> str:
    number, line = block[0]
    if not _BEGIN.match(line):
        problem = "no document has begun here"
        raise _fault(name, number, problem, "put #begin document (name); part 000 before it")
    match = _HEADER.fullmatch(decoded(line, name, number).rstrip("\r\n"))
    if match is None:
        problem = "the document has no name"
        raise _fault(name, number, problem, "write #begin document (name); part 000")
    return _joined(match[3] if match[1] is None else match[1], int(match[2] or 0))


def _joined(name: str, part: int) -> str:
    """The id of a part of a document, from which `_parted` gets both back.

    >>> _joined("wsj/0001", 0), _joined("wsj/0001", 12), _joined("wsj#1", 0)
    ('wsj/0001', 'wsj/0001#12', 'wsj#1#0')
    """
    return f"{name}#{part}" if part or _parted(name) != (name, 0) else name


def _parted(id: str) -> tuple[str, int]:
    name = re.sub(r"(#0)+\Z", "", id)
    match = re.fullmatch(r"(.*)#([1-9][0-9]{0,8})", name, re.DOTALL)
    if match is None:
        return id, 0
    return (match[1], int(match[2])) if name == id else (id[: -len("#0")], 0)


def parse(raw: Raw) -> Document:
    """The document that its lines describe; raises `InputError` at the first that is wrong."""
    form, xpos, lemma, speaker = list[str](), list[str](), list[str](), list[str]()
    cells = list[_Cell]()
    sentence = [0]
    width = 0
    for number, line in enumerate(raw.text.split("\n"), raw.line):
        if _ASIDE.match(line):
            continue
        # Only blanks and tabs separate columns: a word may hold white space of another kind.
        columns = [column for column in line.rstrip("\r").replace("\t", " ").split(" ") if column]
        if not columns:
            if len(form) > sentence[-1]:
                sentence.append(len(form))
            continue
        position = len(form) - sentence[-1]
        if position == 0:
            width = len(columns)
            full = width >= _FULL
            speaker.append(_value(columns[9]) if full else "")
        _check(columns, width, position, raw.where, number)
        if columns[-1] not in _NOTHING:
            cells.append(_Cell(len(form), columns[-1], number))
        form.append(columns[3])
        xpos.append(_value(columns[4]) if full else "")
        lemma.append(_value(columns[6]) if full else "")
    if len(form) > sentence[-1]:
        sentence.append(len(form))
    n = len(form)
    blank = Strings.all_equal("", n)
    return Document(
        id=raw.id,
        form=Strings.of(form),
        lemma=Strings.of(lemma),
        upos=blank,
        xpos=Strings.of(xpos),
        feats=blank,
        head=np.full(n, -1, dtype=np.int32),
        deprel=blank,
        space_after=np.ones(n, dtype=np.bool_),
        sentence=ints(sentence),
        speaker=Strings.of(speaker),
        mentions=_mentions(_paired(cells, raw.where)),
    )


def _value(column: str) -> str:
    return "" if column == "-" else column


def _check(columns: list[str], width: int, position: int, name: str, line: int) -> None:
    """Refuses a line that does not have the columns of its sentence, or not its place there."""
    if len(columns) != width:
        problem = f"{len(columns)} columns after lines of {width}"
        raise _fault(name, line, problem, "give each line of a sentence as many columns")
    if width < _FULL and width != _SHORT:
        problem = f"{width} columns"
        raise _fault(name, line, problem, f"give {_FULL} or more, or the first 4 and coreference")
    if columns[2] != str(position):
        problem = f"the word's number is {columns[2][:20]!r}, not {position}"
        remedy = "number the words of a sentence 0, 1, 2, and put a blank line after it"
        raise _fault(name, line, problem, remedy)


def _paired(cells: Iterable[_Cell], name: str) -> list[_Span]:
    """The mentions that the brackets spell, as the official scorer pairs them.

    A closing bracket ends the mention of its entity that began last, one that begins at the same
    word included. (Pradhan et al., ACL 2014; `GetCoreference` in its `CorScorer.pm`)

    >>> [tuple(span) for span in _paired([_Cell(0, "(1|(1"), _Cell(2, "1)"), _Cell(4, "1)")], "")]
    [(0, 3, '1'), (0, 5, '1')]
    """
    spans = list[_Span]()
    open_at: dict[str, list[_Cell]] = defaultdict(list)
    for cell in cells:
        ending = list[str]()
        for bracket in cell.brackets.split("|"):
            match = _BRACKET.fullmatch(bracket)
            if match is None or not (match[1] or match[3]):
                problem = f"{bracket[:40]!r} is no bracket of an entity"
                raise _fault(name, cell.line, problem, "write (12, 12) or (12), with | between")
            if match[1] and match[3]:
                spans.append(_Span(cell.word, cell.word + 1, match[2]))
            elif match[1]:
                open_at[match[2]].append(cell)
            else:
                ending.append(match[2])
        for entity in ending:
            if not open_at[entity]:
                problem = f"the bracket {entity[:40]}) was never opened"
                raise _fault(name, cell.line, problem, f"open it with ({entity[:40]}")
            spans.append(_Span(open_at[entity].pop().word, cell.word + 1, entity))
    left = [(cell.line, entity) for entity, waiting in open_at.items() for cell in waiting]
    if left:
        line, entity = min(left)
        problem = f"the bracket ({entity[:40]} is never closed"
        raise _fault(name, line, problem, f"close it with {entity[:40]})")
    return spans


def _mentions(spans: list[_Span]) -> Mentions:
    """The mentions in the order of their first words, the longer of two first."""
    spans = sorted(spans, key=lambda span: (span.start, -span.end))
    entities: dict[str, int] = {}
    blank = Strings.all_equal("", len(spans))
    return Mentions(
        start=ints([span.start for span in spans]),
        end=ints([span.end for span in spans]),
        head=ints([span.end - 1 for span in spans]),
        entity=ints([entities.setdefault(span.entity, len(entities)) for span in spans]),
        entities=tuple(entities),
        kind=blank,
        attributes=blank,
    )


def _fault(name: str, line: int, problem: str, remedy: str) -> InputError:
    return InputError(f"{name}, line {line}", problem, remedy)


def write(documents: Iterable[Document], target: str | Path) -> int:
    """Writes documents, whole or not at all, and returns how many mentions had to be altered.

    The format holds no mention in pieces, which is written as its hull, and no two mentions of one
    entity that cross, whose ends are read back exchanged. Entities keep their names if these are
    all numbers, otherwise they are numbered. White space in a word becomes "_". "-" is standard
    output, and a name that ends in ".gz" is gzipped.
    """
    altered = 0

    def texts() -> Iterator[str]:
        nonlocal altered
        seen = set[str]()
        for document in documents:
            if document.id in seen:
                where, problem = f"document {document.id[:80]!r}", "it is written twice"
                raise InputError(where, problem, "give each document an id of its own")
            seen.add(document.id)
            text, changed = _written(document)
            altered += changed
            yield text

    write_texts(texts(), target)
    return altered


def dumps(document: Document) -> str:
    """A document as `write` writes it, from `#begin` to `#end`."""
    return _written(document)[0]


def _written(document: Document) -> tuple[str, int]:
    name, part = _parted(document.id)
    if re.search(r"[\r\n]", name):
        where, problem = f"document {document.id[:80]!r}", "there is a line end in its id"
        raise InputError(where, problem, "give it an id of one line")
    first = "_" if name == "#" else _column(name, "_")  # a "#" alone would begin a comment
    brackets, altered = _brackets(document)
    forms = [_column(form, "_") for form in document.form]
    tags = [_column(tag, "-") for tag in document.xpos]
    lemmas = [_column(lemma, "-") for lemma in document.lemma]
    speakers = [_column(speaker, "-") for speaker in document.speaker] or ["-"] * document.sentences
    written = [f"#begin document ({name}); part {part:03d}\n"]
    starts = document.sentence.tolist()
    for start, end, speaker in zip(starts[:-1], starts[1:], speakers, strict=True):
        for word in range(start, end):
            columns = [first, str(part), str(word - start), forms[word], tags[word], "*"]
            columns += [lemmas[word], "-", "-", speaker, "*", brackets[word]]
            written.append("\t".join(columns) + "\n")
        written.append("\n")
    written.append("#end document\n")
    return "".join(written), altered


def _column(value: str, blank: str) -> str:
    return re.sub(r"\s+", "_", value) or blank


def _brackets(document: Document) -> tuple[list[str], int]:
    """The last column, and how many mentions it cannot tell as they are."""
    mentions = document.mentions or Mentions()
    names = mentions.entities
    if len(set(names)) < len(names) or not all(map(_NUMBER.fullmatch, names)):
        names = ()
    spans = [
        _Span(start, end, names[entity] if names else str(entity))
        for start, end, entity in zip(
            mentions.start.tolist(), mentions.end.tolist(), mentions.entity.tolist(), strict=True
        )
    ]
    cells: list[list[str]] = [[] for _ in range(len(document))]
    longest_first = sorted(
        (span for span in spans if span.end > span.start), key=lambda span: (span.start, -span.end)
    )
    for span in longest_first:
        single = span.end == span.start + 1
        cells[span.start].append(f"({span.entity})" if single else f"({span.entity}")
    for span in reversed(longest_first):
        if span.end > span.start + 1:
            cells[span.end - 1].append(f"{span.entity})")
    column = ["|".join(cell) or "-" for cell in cells]
    told = _paired((_Cell(word, cell) for word, cell in enumerate(column) if cell != "-"), "")
    crossing = Counter(spans) - Counter(told)
    return column, len(mentions.pieces) + sum(crossing.values())
