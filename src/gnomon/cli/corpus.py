"""`gnomon corpus`: what is in a corpus, and out of it into other formats."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.output import AsJson, Bar, Since, Until, check_target, day, show
from gnomon.errors import InputError

if TYPE_CHECKING:
    from gnomon.corpus.store import Corpus

app = typer.Typer(no_args_is_help=True, help="Look into a corpus, or take it out.")
Folder = Annotated[str, typer.Argument(metavar="CORPUS", help="What gnomon parse made.")]


@app.command()
def info(
    corpus: Folder,
    problems: Annotated[
        int, typer.Option("--problems", min=0, help="How many of the documents put aside to show.")
    ] = 5,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every part and compare its digest.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Documents, words, dates, how it was made, and what had to be put aside."""
    from gnomon.corpus.store import Corpus

    found = Corpus(corpus, unfinished=True)
    if verify:
        found.ledger.parts(unfinished=True, digests=True)
    show(_Info(found, problems), as_json)


@app.command()
def export(
    corpus: Folder,
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="A .conllu, .conll (CoNLL-2012) or .jsonl file, .gz if you like; "
            "- is standard output.",
        ),
    ],
    format: Annotated[
        str | None, typer.Option("--format", metavar="conllu|conll2012|jsonl")
    ] = None,
    id: Annotated[
        list[str] | None, typer.Option("--id", help="Only this document. May be repeated.")
    ] = None,
    since: Since = None,
    until: Until = None,
) -> None:
    """Write documents as CoNLL-U, CoNLL-2012 or plain text in JSONL."""
    from gnomon.corpus.export import format_of, write
    from gnomon.corpus.store import Corpus

    kind = format_of(out, format)
    check_target(None if out == "-" else out, None, "OUT")
    found = Corpus(corpus)
    documents = found.documents(
        ids=id or None, since=day(since, "--since"), until=day(until, "--until")
    )
    with Bar("documents") as bar:
        write(bar.over(documents, len(found)), out, kind)


class _Info:
    """What there is to say about a corpus."""

    def __init__(self, corpus: "Corpus", shown: int) -> None:
        self.corpus = corpus
        self.shown = shown
        dates = corpus.index["date"]
        self.first, self.last = dates.min(), dates.max()
        self.reasons: Counter[str] = Counter()
        self.examples: list[dict[str, str]] = []
        for problem in corpus.problems():
            self.reasons[problem["problem"]] += 1
            if len(self.examples) < shown:
                self.examples.append(problem)

    def to_dict(self) -> dict[str, Any]:
        ledger = self.corpus.ledger
        counts = self.corpus.counts
        return {
            "corpus": str(self.corpus.folder),
            "finished": ledger.finished,
            "documents": len(self.corpus),
            **{name: counts.get(name, 0) for name in ("words", "sentences", "dated", "mentions")},
            "relations": counts.get("relations", 0),
            "first_date": self.first and str(self.first),
            "last_date": self.last and str(self.last),
            "parts": len(ledger.records),
            "bytes": sum(part.bytes for part in ledger.records),
            "quarantined": sum(self.reasons.values()),
            "problems": dict(self.reasons.most_common()),
            "settings": dict(self.corpus.settings),
        }

    def __str__(self) -> str:
        facts = self.to_dict()
        settings = facts["settings"]
        rows = [
            ("documents", f"{facts['documents']:,}{'' if facts['finished'] else ' (unfinished)'}"),
            ("words", f"{facts['words']:,} in {facts['sentences']:,} sentences"),
            ("dates", self._dates()),
        ]
        if facts["mentions"] or facts["relations"]:
            rows.append(
                ("layers", f"{facts['mentions']:,} mentions, {facts['relations']:,} relations")
            )
        rows += [
            ("parser", str(settings.get("pipeline", "unknown"))),
            ("made by", f"gnomon {settings.get('gnomon', 'unknown')}"),
            ("on disk", f"{facts['parts']:,} parts, {facts['bytes'] / 1e6:,.1f} MB"),
            ("put aside", f"{facts['quarantined']:,} documents"),
        ]
        lines = [f"{name:<10} {value}" for name, value in rows]
        lines += [f"{n:>10,} × {reason}" for reason, n in self.reasons.most_common(self.shown)]
        if len(self.reasons) > self.shown:
            lines.append(f"{'':>12} and {len(self.reasons) - self.shown:,} other reasons")
        lines += [
            f"{InputError(problem['where'], problem['problem'], problem['remedy'])}"
            for problem in self.examples
        ]
        return "\n".join(lines)

    def _dates(self) -> str:
        undated = len(self.corpus) - self.corpus.counts.get("dated", 0)
        if self.first is None:
            return "none"
        return f"{self.first!s} to {self.last!s}" + (f", {undated:,} without" if undated else "")
