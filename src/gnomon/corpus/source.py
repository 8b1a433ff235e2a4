"""Documents on their way in: as they came from a file, and those that had to be refused."""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gnomon.corpus.document import Document
from gnomon.errors import InputError


@dataclass(frozen=True)
class Raw:
    """One document as it came: plain text, or the lines of an annotated format.

    `where` names the file (and line) for messages, `line` is the number of its first line there.
    """

    id: str
    format: str  # "text", "conllu" or "conll2012"
    text: str
    where: str
    line: int = 1
    date: datetime.date | None = None
    title: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """A document that cannot be used: where it stands, what is wrong, what to do, and its text."""

    id: str
    where: str
    problem: str
    remedy: str
    text: str = ""

    @classmethod
    def because(cls, error: InputError, id: str, text: str = "") -> "Refused":
        """The refusal of a document for an error that reading it raised."""
        return cls(id, error.where, error.problem, error.remedy, text)

    def error(self) -> InputError:
        """The same as an error, for those who want to stop at the first."""
        return InputError(self.where, self.problem, self.remedy)


Quarantine = Callable[[Refused], None]
"""What a reader calls with each document it refuses; without one it raises at the first."""


def parsed(
    raws: Iterable[Raw], parse: Callable[[Raw], Document], quarantine: Quarantine | None
) -> Iterator[Document]:
    """The documents that lines can be read as; the others go to the quarantine, or are raised."""
    for raw in raws:
        try:
            document = parse(raw)
        except InputError as error:
            refuse(Refused.because(error, raw.id, raw.text), quarantine)
        else:
            yield document


def refuse(refused: Refused, quarantine: Quarantine | None) -> None:
    """Hands a refused document to the quarantine, or raises if there is none (strict reading)."""
    if quarantine is None:
        raise refused.error()
    quarantine(refused)
