"""Making a corpus: texts are parsed, annotated files are read, documents are stored in parts."""

import datetime
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gnomon import __version__
from gnomon.corpus import conll2012, conllu, store, text
from gnomon.corpus.document import Document
from gnomon.corpus.parse import BUNDLED
from gnomon.corpus.parse import pipeline as loaded
from gnomon.corpus.source import Quarantine, Raw, Refused
from gnomon.engine.executors import executor
from gnomon.engine.run import Progress, Summary, run
from gnomon.engine.shards import Outcome
from gnomon.errors import InputError

ANNOTATED = {"conllu": conllu, "conll2012": conll2012}
FORMATS = (*text.FORMATS, *ANNOTATED)
SHARD = 200  # documents a part
_ANNOTATED_SUFFIXES = {
    ".conllu": "conllu",
    ".conll": "conll2012",
    ".gold_conll": "conll2012",
    ".auto_conll": "conll2012",
    ".v4_gold_conll": "conll2012",
}


def build(
    source: str | Path,
    corpus: str | Path,
    *,
    format: str | None = None,
    fields: Mapping[str, str] | None = None,
    pipeline: str = BUNDLED,
    title: bool = False,
    workers: int = 1,
    cluster: str | None = None,
    limit: int | None = None,
    since: datetime.date | None = None,
    until: datetime.date | None = None,
    strict: bool = False,
    shard: int = SHARD,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Makes the corpus folder `corpus` of the documents of `source`, or continues to make it.

    Plain text is parsed by a pipeline; CoNLL-U and CoNLL-2012 keep the annotation they have.
    `title` puts a text's title before it as a paragraph of its own. Bad documents are put aside
    with the reason and counted; with `strict` the first one is an error. The result does not depend
    on the workers.
    """
    kind = format_of(source, format)
    job = Make("" if kind in ANNOTATED else pipeline, title, since, until, strict)
    settings = {
        "gnomon": __version__,
        "input": text.digest(source) if source != "-" else "standard input",
        "format": kind,
        "fields": dict(fields or {}),
        "pipeline": job.described(),
        "title": title,
        "limit": limit,
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
    }
    items = _read(source, kind, fields, since, until, strict)
    total = None if since or until else _count(source, kind)
    if limit is not None:
        items = islice(items, limit)
        total = limit if total is None else min(limit, total)
    with executor(workers, cluster) as crew:
        return run(
            job,
            items,
            folder=corpus,
            section=store.SECTION,
            settings=settings,
            describe=lambda item: item.id,
            refuse=_killer,
            shard_size=shard,
            executor=crew,
            total=total,
            progress=progress,
        )


def format_of(source: str | Path, format: str | None = None) -> str:
    """The format of an input: as given, or told by its name or its first bytes."""
    if format is not None and format not in FORMATS:
        problem = f"{format!r} is not a format of documents"
        raise InputError("--format", problem, f"give one of {', '.join(FORMATS)}")
    if format in ANNOTATED:
        return format
    name = Path(source).name.lower().removesuffix(".gz")
    if format is None and (known := _ANNOTATED_SUFFIXES.get(Path(name).suffix)):
        return known
    return text.format_of(source, format)


@dataclass(frozen=True)
class Make:
    """What a worker does with a shard: documents of the good items, reasons for the others."""

    pipeline: str
    title: bool
    since: datetime.date | None
    until: datetime.date | None
    strict: bool

    def described(self) -> str:
        """The pipeline with its version, so that no other one continues its work."""
        if not self.pipeline:
            return "none: the input is annotated"
        return f"{self.pipeline} {loaded(self.pipeline).version}"

    def __call__(self, items: Sequence[Raw | Refused]) -> Outcome:
        documents: list[Document] = []
        problems: list[Mapping[str, str]] = []
        texts = [self._with_title(i) for i in items if isinstance(i, Raw) and i.format == "text"]
        parsed = loaded(self.pipeline).parse(texts) if texts else iter(())
        for item in items:
            made: Document | InputError | Refused
            if isinstance(item, Refused):
                made = item
            elif item.format == "text":
                made = next(parsed)
            else:
                made = _annotated(item)
            if isinstance(made, Document):
                if self._within(made.date):
                    documents.append(made)
            elif self.strict:
                raise made.error() if isinstance(made, Refused) else made
            else:
                problems.append(_record(made, item))
        return store.outcome(documents, problems)

    def _within(self, date: datetime.date | None) -> bool:
        if self.since is None and self.until is None:
            return True
        return date is not None and (self.since or date) <= date <= (self.until or date)

    def _with_title(self, raw: Raw) -> Raw:
        if not (self.title and raw.title):
            return raw
        whole = f"{raw.title}\n\n{raw.text}"
        return Raw(raw.id, raw.format, whole, raw.where, raw.line, raw.date, raw.title, raw.meta)


def _annotated(raw: Raw) -> Document | InputError:
    try:
        document: Document = ANNOTATED[raw.format].parse(raw)
        return document
    except InputError as error:
        return error


def _record(made: InputError | Refused, item: Raw | Refused) -> Mapping[str, str]:
    return {
        "id": item.id,
        "where": made.where,
        "problem": made.problem,
        "remedy": made.remedy,
        "text": item.text,
    }


def _killer(item: Raw | Refused, why: str) -> Mapping[str, str]:
    remedy = "see whether it is text at all; if so, report it"
    return _record(Refused(item.id, item.where, why, remedy), item)


def _read(
    source: str | Path,
    kind: str,
    fields: Mapping[str, str] | None,
    since: datetime.date | None,
    until: datetime.date | None,
    strict: bool,
) -> Iterator[Raw | Refused]:
    """The documents of the input and, in their places, those the reader refused."""
    refused: deque[Refused] = deque()
    quarantine: Quarantine | None = None if strict else refused.append
    if kind in ANNOTATED:
        found = ANNOTATED[kind].split(source, quarantine=quarantine)
    else:
        found = text.read(
            source, format=kind, fields=fields, quarantine=quarantine, since=since, until=until
        )
    for raw in found:
        while refused:
            yield refused.popleft()
        yield raw
    yield from refused


def _count(source: str | Path, kind: str) -> int | None:
    return None if kind in ANNOTATED else text.count(source, format=kind)
