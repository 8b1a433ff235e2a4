"""Documents as CoNLL-U: what is written here, the reader reads back the same.

What the format cannot say is refused, never altered; only line ends in titles and other metadata
become spaces.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from gnomon.corpus.comments import role
from gnomon.corpus.document import Document, parse_date, tree_fault
from gnomon.corpus.entities import read_mentions, write_mentions
from gnomon.corpus.files import write_texts
from gnomon.corpus.relations import read_relations, write_relations
from gnomon.errors import InputError

_UNWRITABLE = re.compile(r"[\t\n\r]")
_LINE_END = re.compile(r"[\n\r]")
_TAKEN = re.compile(r"(?:^|\|)(?:Entity|PDTB|SpaceAfter)=")


def write(documents: Iterable[Document], target: str | Path | TextIO) -> None:
    """Writes documents to a file, whole or not at all (".gz" zips it, "-" is standard output).

    `target` may also be an open text file. Ids must differ, or the file could not be read again.
    """
    texts = _texts(documents)
    if not isinstance(target, str | Path):
        target.writelines(texts)
        return
    write_texts(texts, target)


def _texts(documents: Iterable[Document]) -> Iterator[str]:
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise _refused(document, "a second document of this name", "give every one its own id")
        seen.add(document.id)
        yield dumps(document)
    if not seen:
        raise InputError(
            "documents", "there are none", "give at least one: CoNLL-U cannot be empty"
        )


def dumps(document: Document) -> str:
    """The document as CoNLL-U, with its `# newdoc` and the blank line after its last sentence."""
    _check(document)
    columns = _columns(document)
    fused = {
        start: (end, form)
        for start, end, form in zip(
            document.fusions.start.tolist(),
            document.fusions.end.tolist(),
            document.fusions.form,
            strict=True,
        )
    }
    space = document.space_after.tolist()
    paragraphs = set(document.paragraph.tolist())
    said = [column.filled(document.sentences)
            for column in (document.sentence_id, document.speaker, document.comments)]  # fmt: skip
    lines = list(_heading(document))
    bounds = document.sentence.tolist()
    for s, (id_, speaker, comments) in enumerate(zip(*said, strict=True)):
        start, end = bounds[s], bounds[s + 1]
        others = comments.split("\n") if comments else []
        if s in paragraphs and not any(role(line) == "newpar" for line in others):
            lines.append("# newpar")
        lines += [f"# sent_id = {id_}"] if id_ else []
        lines += [f"# speaker = {speaker}"] if speaker else []
        lines += [f"# {line}" for line in others]
        text, rows = _sentence(columns, fused, space, start, end)
        lines.append(f"# text = {text}")
        lines += rows
        lines.append("")
    lines.append("")
    return "\n".join(lines)


def _heading(document: Document) -> Iterator[str]:
    yield f"# newdoc id = {document.id}"
    meta = dict(document.meta)
    if document.date is not None:
        key = "dateCreated" if meta.get("dateCreated") or not meta.get("date") else "date"
        text = meta.get(key)
        if not text:
            meta[key] = document.date.isoformat()
        elif parse_date(text, f"document {document.id!r}, meta") != document.date:
            problem = f"the date {document.date} but {key} = {text!r} in its metadata"
            raise _refused(document, problem, "make them the same")
    if document.title:
        meta["title"] = document.title
    for key, value in meta.items():
        name = key if key.startswith("global.") else f"meta::{key}"
        line = f"{name} = {_LINE_END.sub(' ', value).strip()}"
        if role(line) != "meta" or "=" in key or key != key.strip() or _LINE_END.search(key):
            raise _refused(document, f"the key {key!r} in its metadata", "rename it")
        yield f"# {line}"


def _columns(document: Document) -> list[list[str]]:
    """The cells of each column, in the order of the format, but for the ids."""
    n = len(document)
    first = document.sentence[document.sentence_of()]
    head = (document.head - first + 1) * (document.head >= 0)
    misc = list(document.misc.filled(n))
    for name, cells in (("Entity", _entities(document)), ("PDTB", _relations(document))):
        for word, cell in cells.items():
            misc[word] = _with(misc[word], f"{name}={cell}")
    inside = {
        word
        for start, end in zip(
            document.fusions.start.tolist(), document.fusions.end.tolist(), strict=True
        )
        for word in range(start, end)
    }
    for word in (~document.space_after).nonzero()[0].tolist():
        if word not in inside:
            misc[word] = _with(misc[word], "SpaceAfter=No")
    strings = (document.form, document.lemma, document.upos, document.xpos, document.feats)
    return [
        *([cell or "_" for cell in column] for column in strings),
        list(map(str, head.tolist())),
        [cell or "_" for cell in document.deprel],
        [cell or "_" for cell in misc],
    ]


def _sentence(
    columns: list[list[str]],
    fused: dict[int, tuple[int, str]],
    space: list[bool],
    start: int,
    end: int,
) -> tuple[str, list[str]]:
    """The text of a sentence and its rows."""
    pieces: list[str] = []
    rows: list[str] = []
    spoken = start  # the first word whose form is not yet in the text
    for word in range(start, end):
        if word in fused:
            spoken, form = fused[word]
            gap = space[spoken - 1]
            misc = "_" if gap else "SpaceAfter=No"
            rows.append(f"{word - start + 1}-{spoken - start}\t{form}" + "\t_" * 7 + f"\t{misc}")
            pieces += (form, " " if gap else "")
        elif word >= spoken:
            pieces += (columns[0][word], " " if space[word] else "")
        *cells, misc = (column[word] for column in columns)
        rows.append("\t".join((str(word - start + 1), *cells, "_", misc)))
    return "".join(pieces[:-1]), rows


def _with(misc: str, attribute: str) -> str:
    """The attributes with one more, at its place if they are in alphabetical order, else last."""
    if not misc:
        return attribute
    parts = misc.split("|")
    ordered = sorted(parts, key=str.lower)
    return "|".join(
        sorted([*parts, attribute], key=str.lower) if ordered == parts else [*parts, attribute]
    )


def _entities(document: Document) -> dict[int, str]:
    """The `Entity` attributes, once it is sure that they read back as the mentions they came from.

    Two mentions of an entity that cross, or a bracket in a name, cannot be told by brackets.
    """
    mentions, header = document.mentions, document.meta.get("global.Entity")
    if mentions is None or len(mentions) == 0:
        return {}
    refusal = _refused(
        document,
        "mentions that brackets cannot say (not in order, two of one entity that cross, a sign "
        "with a meaning in a name, or a head that is not the highest word)",
        "change them, or declare their fields in meta as global.Entity",
    )
    cells = write_mentions(mentions, header)
    again = read_mentions(sorted(cells.items()), header, document.head, lambda *_: refusal)
    if not again.same_as(mentions):
        raise refusal
    return cells


def _relations(document: Document) -> dict[int, str]:
    """The `PDTB` attributes, once it is sure that they read back as the relations."""
    relations = sorted(document.relations or (), key=lambda relation: relation.word)
    problem = "relations that PDTB attributes cannot say (a : or ; in a type or sense, wrong spans)"
    refusal = _refused(document, problem, "change them")
    cells = write_relations(relations)
    if any("|" in cell or _UNWRITABLE.search(cell) for cell in cells.values()):
        raise refusal
    again = read_relations(sorted(cells.items()), len(document), lambda *_: refusal)
    if again != tuple(relations) or not all(0 <= word < len(document) for word in cells):
        raise refusal
    return cells


def _check(document: Document) -> None:
    """Refuses a document whose words, comments or trees could not be read back."""
    n = len(document)
    if n == 0:
        raise _refused(document, "no words", "leave it out")
    columns = [document.form, document.lemma, document.upos, document.xpos, document.feats,
               document.deprel, document.misc]  # fmt: skip
    for strings in (*map(set, columns), document.fusions.form):
        for cell in strings:
            if _UNWRITABLE.search(cell):
                raise _refused(document, f"a tab or line end in {cell[:40]!r}", "remove it")
    if "" in set(document.form) or "" in document.fusions.form:
        raise _refused(document, "a word without a form", "give it one")
    for cell in set(document.misc):
        if _TAKEN.search(cell):
            raise _refused(document, f"{cell[:40]!r} in misc", "put it into its own layer")
    if not document.id:
        raise _refused(document, "no id", "give it one")
    for text in (document.id, *set(document.sentence_id), *set(document.speaker)):
        if _LINE_END.search(text) or text != text.strip():
            raise _refused(document, f"a blank at the wrong place in {text[:40]!r}", "remove it")
    for s, comments in enumerate(document.comments):
        for line in comments.split("\n") if comments else ():
            kind = role(line)
            if kind == "newpar" and s in document.paragraph and line != "newpar":
                continue
            if kind != "other" or line != line.strip() or not line or "\r" in line:
                raise _refused(document, f"the comment {line[:40]!r}", "put it where it belongs")
    _check_fusions(document)
    fault = tree_fault(document.head, document.sentence)
    if fault is not None:
        raise _refused(document, f"{fault[1]} in sentence {fault[0] + 1}", "make it a tree")


def _check_fusions(document: Document) -> None:
    sentence, last = document.sentence_of(), 0
    spans = zip(document.fusions.start.tolist(), document.fusions.end.tolist(), strict=True)
    for start, end in spans:
        if not last <= start < end - 1 < len(document) or sentence[start] != sentence[end - 1]:
            problem = f"the multiword token of the words {start} to {end}"
            remedy = "give two or more words of one sentence, in order, and each word once"
            raise _refused(document, problem, remedy)
        if document.space_after[start : end - 1].any():
            raise _refused(document, "a space inside a multiword token", "clear space_after there")
        last = end


def _refused(document: Document, problem: str, remedy: str) -> InputError:
    return InputError(f"document {document.id!r}", f"cannot be written: {problem}", remedy)
