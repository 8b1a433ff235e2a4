"""A wire as a folder of files, written article by article in constant memory."""

import datetime
import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from gnomon.errors import InputError
from gnomon.tables import replacing
from gnomon.wire.compose import SINCE, UNTIL, Article, article
from gnomon.wire.process import Process
from gnomon.wire.sentences import Fact, Mention
from gnomon.wire.truth import Truth, truth
from gnomon.wire.vocabulary import COUNTRIES

FILES = ("articles.jsonl", "truth.csv", "facts.csv", "mentions.csv", "rates.csv")
_BATCH = 500

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Written:
    """What was written, and with which settings."""

    folder: str
    files: list[str]
    documents: int
    seed: int
    since: str
    until: str
    ambiguous: float
    mentions: int
    facts: int
    attacks: int  # rows of truth.csv with attacked = 1
    conflicts: list[str]

    def to_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.folder}: {self.documents:,} articles from {self.since} to {self.until}, "
            f"seed {self.seed}",
            f"{self.mentions:,} mentions, {self.facts:,} reports, {self.attacks:,} times a country "
            "attacked",
            "",
            "Conflicts:",
            *(f"  {conflict}" for conflict in self.conflicts),
            "",
            f"Files: {', '.join(self.files)}",
        ]
        return "\n".join(lines)


def write(
    folder: str | Path,
    n: int,
    seed: int = 0,
    since: datetime.date = SINCE,
    until: datetime.date = UNTIL,
    *,
    ambiguous: float = 0.1,
    zipped: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Writes the first n articles of a wire and their truth into a folder, whole or not at all.

    The arguments are those of `articles`. `zipped` writes `.gz` files, `overwrite` allows a folder
    that has files in it and replaces those of the wire, `progress` is called with (done, n).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = write(f"{folder}/wire", 50)
    >>> done.documents, done.files[0]
    (50, 'articles.jsonl')
    """
    if n < 1:
        raise InputError("documents", f"{n} documents", "ask for 1 or more")
    process = Process(seed, since, until, ambiguous)
    suffix = ".gz" if zipped else ""
    mentions = facts = attacks = 0
    with _made(Path(folder), overwrite) as path, ExitStack() as stack:
        handles = [stack.enter_context(_opened(path / f"{name}{suffix}")) for name in FILES]
        readme = stack.enter_context(replacing(path / "README.txt"))
        headers = ("", _header(Truth), f"document,{_header(Fact)}", f"document,{_header(Mention)}")
        lines: list[list[str]] = [[header] if header else [] for header in headers]
        for k in range(n):
            each = article(process, k)
            rows = truth(each)
            lines[0].append(_json_line(each))
            lines[1] += map(_row, rows)
            id = each.id
            lines[2] += [f"{id},{_row(fact)}" for fact in each.facts]
            lines[3] += [
                f"{id},{start},{end},{entity},{actor},{kind},{unclear:d},{cell(text)}\n"
                for start, end, entity, actor, kind, unclear, text in each.mentions
            ]
            mentions += len(each.mentions)
            facts += len(each.facts)
            attacks += sum(row.attacked for row in rows)
            if (k + 1) % _BATCH == 0 or k + 1 == n:
                for handle, waiting in zip(handles, lines, strict=False):
                    handle.write("".join(waiting).encode())
                    waiting.clear()
                if progress is not None:
                    progress(k + 1, n)
        handles[-1].write("".join(_rates(process, n)).encode())
        written = Written(
            str(folder),
            [*(f"{name}{suffix}" for name in FILES), "README.txt"],
            n,
            seed,
            since.isoformat(),
            until.isoformat(),
            ambiguous,
            mentions,
            facts,
            attacks,
            _conflicts(process),
        )
        readme.write(_readme(written).encode())
    for name in FILES:
        # What an earlier wire left in the other form would not belong to this one.
        (path / (name if zipped else f"{name}.gz")).unlink(missing_ok=True)
    return written


@contextmanager
def _made(path: Path, overwrite: bool) -> Iterator[Path]:
    """The folder, made if need be, and taken away again if it was and the block fails."""
    try:
        existed = path.is_dir()
        path.mkdir(parents=True, exist_ok=True)
        full = any(path.iterdir())
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        problem = f"cannot be a folder to write into ({getattr(error, 'strerror', '') or error})"
        raise InputError(str(path), problem, "name a folder you may write to") from None
    if full and not overwrite:
        raise InputError(str(path), "is not empty", "name another folder or use --overwrite")
    try:
        yield path
    except BaseException:
        if not existed:
            with suppress(OSError):
                path.rmdir()
        raise


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with replacing(path) as handle:
        if path.suffix != ".gz":
            yield handle
            return
        # No name and no time: equal wires give equal files.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=handle, mtime=0) as packed:
            yield cast(IO[bytes], packed)


_encode = json.JSONEncoder(ensure_ascii=False).encode


def _json_line(each: Article) -> str:
    return (
        f'{{"id": "{each.id}", "date": "{each.date}", "title": {_encode(each.title)}, '
        f'"text": {_encode(each.text)}}}\n'
    )


def _header(row: type[Truth] | type[Fact] | type[Mention]) -> str:
    return ",".join(row._fields) + "\n"


def _row(values: Truth | Fact) -> str:
    """A line of CSV; none of these values needs quotation marks."""
    return ",".join([str(int(v)) if v is True or v is False else str(v) for v in values]) + "\n"


def cell(text: str) -> str:
    """Text as a cell of a CSV file.

    >>> print(cell('Peru'), cell('the mayor, "Vel"'))
    Peru "the mayor, ""Vel\"""
    """
    if "," in text or '"' in text or "\n" in text or "\r" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _rates(process: Process, n: int) -> Iterator[str]:
    """For each quarter and actor: how likely an article is to count, and how many are expected."""
    yield "period,start,end,actor,probability,rate\n"
    chance = process.attack_probability()
    for quarter in process.quarters:
        for country in COUNTRIES:
            p = chance[quarter.name, country.code]
            when = f"{quarter.name},{quarter.first},{quarter.last}"
            yield f"{when},{country.code},{p:.9g},{n * p:.9g}\n"


def _conflicts(process: Process) -> list[str]:
    """The conflicts in words."""
    names = [quarter.name for quarter in process.quarters]
    course = {-1: "falling", 0: "steady", 1: "rising"}
    return [
        f"{COUNTRIES[each.attacker].code} against {COUNTRIES[each.victim].code}, "
        f"{names[each.start]} to {names[each.end - 1]}, "
        f"{course[(each.slope > 0) - (each.slope < 0)]}"
        for each in sorted(process.conflicts, key=lambda each: (each.start, each.attacker))
    ]


def _readme(written: Written) -> str:
    settings = f"seed {written.seed}, {written.documents} documents, {written.since} to " + (
        f"{written.until}, ambiguous {written.ambiguous:g}"
    )
    conflicts = "\n".join(f"  {each}" for each in written.conflicts)
    zipped = " --gzip" if written.files[0].endswith(".gz") else ""
    return f"""A generated news wire with a known truth, written by Gnomon.

The countries are real. Every event, every person and every town is invented.

Settings: {settings}
Made by:  gnomon demo-wire OUT --documents {written.documents} --seed {written.seed} \
--since {written.since} --until {written.until} --ambiguous {written.ambiguous:g}{zipped}

articles.jsonl  id, date, title, text
truth.csv       for each document and actor in it: whether the text says it attacked, and how
facts.csv       every report of an attack: kind, form, verb, agent, target, offsets in text
mentions.csv    every mention: offsets in text (end exclusive), entity, actor, kind, words
rates.csv       for each quarter and actor: the probability that a document is from it and asserts
                that the actor attacked, and the number of documents to expect

Conflicts:
{conflicts}
"""
