"""Documents out of a corpus: CoNLL-U, CoNLL-2012, or their plain text as JSONL."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from gnomon.corpus import conll2012, conllu_writer
from gnomon.corpus.document import Document
from gnomon.corpus.files import write_texts
from gnomon.errors import InputError

_FORMATS = {".conllu": "conllu", ".conll": "conll2012", ".gold_conll": "conll2012",
            ".jsonl": "jsonl", ".ndjson": "jsonl"}  # fmt: skip


def format_of(target: str | Path, format: str | None = None) -> str:
    """The format of an export: as given, or told by the file's name."""
    kinds = tuple(dict.fromkeys(_FORMATS.values()))
    if format is not None:
        if format not in kinds:
            problem = f"{format!r} is not a format we write documents in"
            raise InputError("--format", problem, f"give one of {', '.join(kinds)}")
        return format
    suffix = Path(Path(target).name.lower().removesuffix(".gz")).suffix
    if suffix not in _FORMATS:
        problem = "its name does not tell the format"
        raise InputError(str(target), problem, f"add --format {'|'.join(kinds)}")
    return _FORMATS[suffix]


def write(documents: Iterable[Document], target: str | Path, format: str | None = None) -> None:
    """Writes documents to a file (".gz" is zipped) or, with "-", to standard output."""
    kind = format_of(target, format)
    if kind == "conllu":
        conllu_writer.write(documents, target)
    elif kind == "conll2012":
        conll2012.write(documents, target)
    else:
        write_texts(_lines(documents), target)


def _lines(documents: Iterable[Document]) -> Iterator[str]:
    empty = True
    for document in documents:
        empty = False
        yield f"{plain(document)}\n"
    if empty:
        raise InputError("documents", "there are none", "choose other dates")


def plain(document: Document) -> str:
    """A document's text with what is known about it, as one line of JSON."""
    known = {
        "id": document.id,
        "date": document.date and document.date.isoformat(),
        "title": document.title,
        "text": document.text(),
        **{k: v for k, v in document.meta.items() if k not in {"id", "date", "title", "text"}},
    }
    return json.dumps(known, ensure_ascii=False)
