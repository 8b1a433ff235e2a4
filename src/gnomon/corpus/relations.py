"""Discourse relations as GUM writes them in CoNLL-U: `PDTB=TYPE:SENSE:CONNECTIVE:WORDS:ARG1:ARG2`.

Words are spans such as `12-15,18`, counted from 1 through the whole document, and `_` is none.
A word may carry several relations, with `;` between them.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from gnomon.corpus.document import Relation
from gnomon.errors import InputError

_FORM = "write TYPE:SENSE:CONNECTIVE:WORDS:ARG1:ARG2"

Spans = tuple[tuple[int, int], ...]


_ONE_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII).fullmatch


def read_relations(
    cells: Sequence[tuple[int, str]], words: int, fault: Callable[[int, str, str], InputError]
) -> tuple[Relation, ...]:
    """The relations that the `PDTB` attributes of a document's words say, in order."""
    relations = []
    known: dict[str, Spans | None] = {}  # what one relation joins, the next often joins again
    for word, cell in cells:
        for text in cell.split(";"):
            fields = text.split(":")
            if len(fields) < 6:
                problem = f"the relation {text[:40]!r} has {len(fields)} fields, not 6"
                raise fault(word, problem, _FORM)
            spans: list[Spans] = []
            for field in fields[-3:]:
                if field not in known:
                    known[field] = _spans(field, words)
                found = known[field]
                if found is None:
                    problem = f"{field[:40]!r} are not spans of the document's {words} words"
                    raise fault(word, problem, "write them as 12-15,18, ascending, or _ for none")
                spans.append(found)
            # Only the connective is free text, so a colon too many belongs to it.
            name = fields[2] if len(fields) == 6 else ":".join(fields[2:-3])
            name = "" if name == "_" else name
            first, second, third = spans
            relations.append(Relation(fields[0], fields[1], name, first, second, third, word))
    return tuple(relations)


def _spans(field: str, words: int) -> Spans | None:
    """The spans of a field, start from 0 and end exclusive; None if it has none but ought to.

    >>> _spans("12-15,18", 20)
    ((11, 15), (17, 18))
    """
    if field == "_":
        return ()
    if match := _ONE_SPAN(field):  # what is usual needs no loop
        start, end = int(match[1]) - 1, int(match[2] or match[1])
        return ((start, end),) if 0 <= start < end <= words else None
    spans, last = [], 0
    for part in field.split(","):
        first, hyphen, final = part.partition("-")
        if not _is_number(first) or (hyphen and not _is_number(final)):
            return None
        start = int(first) - 1
        end = int(final) if hyphen else start + 1
        if not last <= start < end <= words:
            return None
        spans.append((start, end))
        last = end
    return tuple(spans)


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) < 10


def write_relations(relations: Iterable[Relation]) -> dict[int, str]:
    """The `PDTB` attribute of each word that has one.

    >>> write_relations([Relation("Explicit", "Contingency.Cause.Reason", "because", ((3, 4),),
    ...                           ((0, 3),), ((4, 6), (7, 8)), 3)])
    {3: 'Explicit:Contingency.Cause.Reason:because:4:1-3:5-6,8'}
    """
    cells: dict[int, list[str]] = {}
    for relation in relations:
        fields = [relation.type, relation.sense, relation.connective or "_"]
        fields += map(_spans_text, (relation.connective_words, relation.first, relation.second))
        cells.setdefault(relation.word, []).append(":".join(fields))
    return {word: ";".join(texts) for word, texts in cells.items()}


def _spans_text(spans: Spans) -> str:
    texts = (f"{start + 1}-{end}" if end > start + 1 else f"{end}" for start, end in spans)
    return ",".join(texts) or "_"
