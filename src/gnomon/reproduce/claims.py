"""What a paper says, what we find on open data, whether the two agree; as text, JSON, Markdown."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gnomon.calibration.analyse import Calibration
from gnomon.calibration.groups import Groups
from gnomon.estimate import JSON, Estimate, Signature

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the steps done and the steps in all."""

HEADER = ("claim", "paper", "ours", "verdict")


@dataclass(frozen=True)
class Claim:
    """Something the paper says, its figures, ours, and whether it holds on our data.

    >>> Claim("A beats B", "73.8 % to 72.9 %", "78.1 % to 79.8 %", holds=False).verdict
    'does not hold here'
    """

    text: str
    paper: str
    ours: str
    holds: bool

    @property
    def verdict(self) -> str:
        """In words whether the claim holds; "here" because other data may say otherwise."""
        return "holds" if self.holds else "does not hold here"

    def to_dict(self) -> dict[str, JSON]:
        """The fields under their own names, ready for JSON."""
        return {"text": self.text, "paper": self.paper, "ours": self.ours, "holds": self.holds}


def text_table(claims: Sequence[Claim], *, width: int = 100) -> str:
    """The claims as an aligned table for a terminal `width` characters wide, long cells folded.

    >>> print(text_table([Claim("A beats B", "3 to 2", "4 to 1", True)]))
    claim      paper   ours    verdict
    ---------  ------  ------  -------
    A beats B  3 to 2  4 to 1  holds
    """
    rows = [_cells(claim) for claim in claims]
    widths = _column_widths([HEADER, *rows], width)
    lines = [*_text_row(HEADER, widths), "  ".join("-" * column for column in widths)]
    for row in rows:
        lines += _text_row(row, widths)
    return "\n".join(lines)


def markdown_table(claims: Sequence[Claim]) -> str:
    """The claims as a Markdown table.

    >>> print(markdown_table([Claim("A beats B", "3 to 2", "4 to 1", True)]))
    | claim | paper | ours | verdict |
    |---|---|---|---|
    | A beats B | 3 to 2 | 4 to 1 | holds |
    """
    rows = [HEADER, *(_cells(claim) for claim in claims)]
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(HEADER), *lines[1:]])


@dataclass(frozen=True)
class Experiment:
    """One part of a paper done again: the claims judged, the figures they were judged by, and how.

    `notes` say how our data and method differ from the paper's; `details` are counts and settings
    worth knowing that are not estimates; `curves` are the calibrations to draw, and `groups`
    those of several models group by group; `binnings` are the same predictions in other bins.
    """

    paper: str
    part: str
    title: str
    claims: Sequence[Claim]
    figures: Mapping[str, Estimate]
    details: Mapping[str, JSON]
    notes: Sequence[str]
    signature: Signature
    curves: Mapping[str, Calibration] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, Groups]] = field(default_factory=dict)
    binnings: Mapping[str, Mapping[str, Calibration]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """For reading in a terminal."""
        size = max(map(len, self.figures), default=0)
        return "\n".join(
            [
                self.title,
                "",
                text_table(self.claims),
                "",
                *(f"{name:{size}}  {figure}" for name, figure in self.figures.items()),
                "",
                *(
                    textwrap.fill(note, 100, initial_indent="- ", subsequent_indent="  ")
                    for note in self.notes
                ),
                "",
                str(self.signature),
            ]
        )

    @property
    def markdown(self) -> str:
        """For the documentation."""
        figures = (
            f"| {name} | {figure.value:.4f} | {figure.low:.4f} to {figure.high:.4f} "
            f"| {figure.method} |"
            for name, figure in self.figures.items()
        )
        return "\n".join(
            [
                f"## {self.title}",
                "",
                markdown_table(self.claims),
                "",
                "| figure | value | interval | method |",
                "|---|---|---|---|",
                *figures,
                "",
                *(f"- {note}" for note in self.notes),
                "",
                f"`{self.signature}`",
            ]
        )

    def to_dict(self) -> dict[str, JSON]:
        """Everything, ready for JSON."""
        return {
            "paper": self.paper,
            "part": self.part,
            "title": self.title,
            "claims": [claim.to_dict() for claim in self.claims],
            "figures": {name: figure.to_dict() for name, figure in self.figures.items()},
            "details": dict(self.details),
            "notes": list(self.notes),
            "curves": {name: curve.to_dict() for name, curve in self.curves.items()},
            "groups": {
                name: {model: own.to_dict() for model, own in models.items()}
                for name, models in self.groups.items()
            },
            "signature": self.signature.to_dict(),
        }


def _cells(claim: Claim) -> tuple[str, ...]:
    return claim.text, claim.paper, claim.ours, claim.verdict


def _column_widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """As wide as the longest cell; where that is too much, the wide columns share what is left."""
    longest = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    left = width - 2 * (len(longest) - 1)
    widths = [0] * len(longest)
    columns = sorted(range(len(longest)), key=longest.__getitem__)
    for place, column in enumerate(columns):
        widths[column] = min(longest[column], max(8, left // (len(columns) - place)))
        left -= widths[column]
    return widths


def _text_row(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    folded = [textwrap.wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
    return [
        "  ".join(
            (cell[line] if line < len(cell) else "").ljust(width)
            for cell, width in zip(folded, widths, strict=True)
        ).rstrip()
        for line in range(max(map(len, folded)))
    ]
