"""What every command has in common: printing results, progress, options that recur."""

import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer

from gnomon.errors import InputError

if TYPE_CHECKING:
    import datetime

Item = TypeVar("Item")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON with stable keys.")]
Html = Annotated[
    str | None,
    typer.Option(
        "--html", metavar="FILE", help="Write one self-contained page that opens offline."
    ),
]
Since = Annotated[
    str | None, typer.Option("--since", metavar="YYYY-MM-DD", help="From this day on.")
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="YYYY-MM-DD", help="Up to this day, inclusive.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]


class Result(Protocol):
    """Anything that prints itself as text and as JSON."""

    def to_dict(self) -> dict[str, Any]: ...


def show(result: Result, as_json: bool) -> None:
    """Prints a result for a person, or for a machine."""
    print(json.dumps(result.to_dict(), indent=2, allow_nan=False) if as_json else result)


def day(text: str | None, option: str) -> "datetime.date | None":
    """The date an option gives; up to a month or a year is up to its last day."""
    from gnomon.corpus.document import last_day, parse_date

    if text is None:
        return None
    return last_day(text, option) if option == "--until" else parse_date(text, option)


def check_target(target: str | None, suffixes: tuple[str, ...] | None, option: str) -> None:
    """Refuses a file that could not be written, before the work is done and not after."""
    if target is None:
        return
    path = Path(target)
    if suffixes is not None and path.suffix.lower() not in suffixes:
        raise InputError(
            f"{option} {target}",
            f"{path.suffix or 'no suffix'} is not a format we write here",
            f"end the name in {' or '.join(suffixes)}",
        )
    if path.is_dir() or not path.parent.is_dir():
        problem = "is a folder" if path.is_dir() else "its folder does not exist"
        raise InputError(f"{option} {target}", problem, "name a file in an existing folder")


class Bar:
    """A progress bar on stderr, if that is a terminal and the work takes longer than a second."""

    def __init__(self, what: str, *, remaining: bool = True) -> None:
        self.what = what
        self.remaining = remaining  # whether to say how long it will take
        self.started = time.monotonic()
        self.progress: Any = None
        self.task: Any = None

    def __call__(self, done: int, total: int, step: str = "") -> None:
        if self.progress is None:
            if not sys.stderr.isatty() or time.monotonic() - self.started < 1.0:
                return
            from rich.console import Console
            from rich.progress import Progress

            columns = Progress.get_default_columns()[: None if self.remaining else -1]
            self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self.progress.start()
            self.task = self.progress.add_task(self.what, total=total or None)
        what = f"{self.what}: {step}" if step else self.what
        self.progress.update(self.task, completed=done, total=total or None, description=what)

    def over(self, items: Iterable[Item], total: int) -> Iterator[Item]:
        """The items, counted as they go by."""
        for done, item in enumerate(items):
            self(done, total)
            yield item

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self.progress is not None:
            self.progress.stop()
