"""`gnomon parse`: raw text or annotated files → a corpus."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.output import AsJson, Bar, Since, Until, day, show
from gnomon.errors import InputError

if TYPE_CHECKING:
    from gnomon.engine.run import Progress, Summary


def parse(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="JSONL, CSV, TSV or Parquet with a column text (and id, date, title); a .txt file "
            "or a folder of them; CoNLL-U; CoNLL-2012; all but Parquet may be gzipped; "
            "- is standard input.",
        ),
    ],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="The folder to make.")],
    pipeline: Annotated[
        str,
        typer.Option(
            "--pipeline", metavar="NAME", help="A spaCy pipeline that is installed, or its folder."
        ),
    ] = "en_gnomon_sm",
    workers: Annotated[
        int, typer.Option("--workers", min=0, help="Processes; 0 is this one, for debugging.")
    ] = 1,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="URL", help="A Dask scheduler instead: tcp://host:8786."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Take only the first so many documents.")
    ] = None,
    since: Since = None,
    until: Until = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="jsonl|csv|tsv|parquet|txt|folder|conllu|conll2012",
            help="Where the name does not tell.",
        ),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="OURS=THEIRS",
            help="Other names of id, date, title, text: --field text=body. May be repeated.",
        ),
    ] = None,
    title: Annotated[
        bool, typer.Option("--title", help="Parse titles too, as a first paragraph.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first bad document.")
    ] = False,
    shard: Annotated[int, typer.Option("--shard", min=1, help="Documents a part.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Make a corpus: parse raw text, or take over CoNLL files with their annotation.

    Bad documents are put aside in CORPUS/quarantine with the reason. A run that was stopped is
    continued by the same command, and gives the same files.
    """
    from gnomon.corpus.build import build

    with Bar("documents", remaining=False) as bar:
        summary = build(
            source,
            corpus,
            format=format,
            fields=_fields(field or []),
            pipeline=pipeline,
            title=title,
            workers=workers,
            cluster=cluster,
            limit=limit,
            since=day(since, "--since"),
            until=day(until, "--until"),
            strict=strict,
            shard=shard,
            progress=lambda now: bar(now.done, now.total or 0, _pace(now)),
        )
    if summary.rows == 0:
        problem = "no document is within these dates"
        if summary.problems:
            problem = f"not one of its {summary.problems:,} documents could be used"
        raise InputError(source, problem, f"see: gnomon corpus info {corpus}")
    show(_Made(corpus, summary), as_json)


def _fields(pairs: list[str]) -> dict[str, str]:
    fields = {}
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not (ours and equals and theirs):
            problem = f"{pair!r} is not of the form OURS=THEIRS"
            raise InputError("--field", problem, "write, for example: --field text=body")
        fields[ours] = theirs
    return fields


def _pace(now: "Progress") -> str:
    left = "" if now.remaining is None else f", {_time(now.remaining)} left"
    return f"{now.rate:,.0f} documents/s{left}" if now.rate else ""


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Made:
    """What a run made."""

    def __init__(self, corpus: str, summary: "Summary") -> None:
        self.corpus = corpus
        self.summary = summary

    def to_dict(self) -> dict[str, Any]:
        made = self.summary
        return {
            "corpus": self.corpus,
            "documents": made.rows,
            "quarantined": made.problems,
            "parts": made.parts,
            **made.counts,
            "seconds": round(made.seconds, 3),
            "continued": made.resumed,
        }

    def __str__(self) -> str:
        made = self.summary
        words = made.counts.get("words", 0)
        lines = [
            f"{self.corpus}: {made.rows:,} documents, {words:,} words, "
            f"{made.counts.get('sentences', 0):,} sentences in {made.parts:,} parts"
        ]
        if made.resumed:
            lines.append("continued from an earlier run")
        elif made.seconds > 0:
            lines.append(f"{_time(made.seconds)}, {words / made.seconds:,.0f} words a second")
        if made.problems:
            lines.append(
                f"{made.problems:,} documents were put aside; see: gnomon corpus info {self.corpus}"
            )
        return "\n".join(lines)
