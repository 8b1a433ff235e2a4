"""Making a corpus: texts are parsed, annotated files are read, documents are stored in parts."""

import datetime
import hashlib
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
from gnomon.corpus.source import Quarantine, Raw, Refused, refuse
from gnomon.engine.executors import executor
from gnomon.engine.ledger import MANIFEST
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
        "input": _digest(source, kind),
        "format": kind,
        "fields": dict(fields or {}),
        "pipeline": job.described(),
        "title": title,
        "limit": limit,
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
    }
    items = _read(source, kind, fields, since, until)
    _check_empty(corpus)
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
    if format is None and (known := _annotated_format(source)):
        return known
    if format is None and Path(source).is_dir():
        kinds = {_annotated_format(path) for path in Path(source).rglob("*")} - {None}
        if any(Path(source).rglob("*.txt")) or any(Path(source).rglob("*.txt.gz")):
            kinds.add("txt")
        if len(kinds) > 1:
            problem = f"there are files of several kinds: {', '.join(sorted(map(str, kinds)))}"
            raise InputError(str(source), problem, "say which by --format")
        if kinds and kinds != {"txt"}:
            return str(kinds.pop())
    return text.format_of(source, format)


def _check_empty(corpus: str | Path) -> None:
    """Refuses a folder that has other things in it."""
    home = Path(corpus)
    if home.is_dir() and not (home / MANIFEST).exists() and any(home.iterdir()):
        names = {path.name for path in home.iterdir()}
        if not names <= {store.SECTION, "quarantine", ".lock"}:
            problem = "the folder has other things in it and is no corpus"
            raise InputError(str(corpus), problem, "name a new folder")


def _annotated_format(source: str | Path) -> str | None:
    name = Path(source).name.lower().removesuffix(".gz")
    return _ANNOTATED_SUFFIXES.get(Path(name).suffix)


def _annotated_files(source: str | Path, kind: str) -> list[str | Path]:
    """The file itself or, of a folder, every file of the kind below it, in the order of paths."""
    if not Path(source).is_dir():
        return [source]
    found = sorted(p for p in Path(source).rglob("*") if _annotated_format(p) == kind)
    if not found:
        problem = f"there is no {kind} file in this folder"
        raise InputError(str(source), problem, "name another folder, or a file")
    return list(found)


def _digest(source: str | Path, kind: str) -> str:
    if source == "-":
        return "standard input"
    if kind not in ANNOTATED:
        return text.digest(source)
    total = hashlib.blake2b(digest_size=16)
    for path in _annotated_files(source, kind):
        total.update(text.digest(path).encode())
    return total.hexdigest()


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
) -> Iterator[Raw | Refused]:
    """The documents of the input and, in their places, those the reader refused."""
    refused: deque[Refused] = deque()
    quarantine: Quarantine = refused.append  # in its place; a strict worker raises it there
    if kind in ANNOTATED:
        found = _split(source, kind, quarantine)
    else:
        found = text.read(
            source, format=kind, fields=fields, quarantine=quarantine, since=since, until=until
        )
    for raw in found:
        while refused:
            yield refused.popleft()
        yield raw
    yield from refused


def _split(source: str | Path, kind: str, quarantine: Quarantine) -> Iterator[Raw]:
    """The documents of annotated files; of two with one id the second is refused."""
    files = _annotated_files(source, kind)
    seen = set[str]()
    for path in files:
        for raw in ANNOTATED[kind].split(path, quarantine=quarantine):
            if len(files) > 1 and raw.id in seen:
                problem = f"the id {raw.id[:80]!r} came before, in another file"
                remedy = "give each document an id of its own"
                where = f"{raw.where}, line {raw.line}"
                refuse(Refused(raw.id, where, problem, remedy, raw.text), quarantine)
                continue
            seen.add(raw.id)
            yield raw


def _count(source: str | Path, kind: str) -> int | None:
    return None if kind in ANNOTATED else text.count(source, format=kind)
