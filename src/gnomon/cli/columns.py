"""Which columns of a table hold probabilities, labels and weights."""

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from gnomon.calibration.pairs import Pairs

Prob = Annotated[
    str,
    typer.Option(
        "--prob",
        metavar="COLUMN",
        help="Column of probabilities; several (p_cat,p_dog,...) for predictions over classes.",
    ),
]
Label = Annotated[
    str,
    typer.Option(
        "--label", metavar="COLUMN", help="Column of labels: 0/1, true/false, or class names."
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight", metavar="COLUMN", help="Column of weights: 3 counts a row three times."
    ),
]


class Columns:
    """The columns a command was told to use, and the pairs they hold."""

    def __init__(
        self, prob: str, label: str, weight: str | None, group: str | None, compare: str | None
    ) -> None:
        self.probs = [name.strip() for name in prob.split(",") if name.strip()]
        self.label, self.weight, self.group, self.compare = label, weight, group, compare
        if not self.probs:
            raise InputError("--prob", "no column named", "name the column of probabilities")
        if compare in self.probs:
            raise InputError("--compare", f"{compare} is --prob too", "name another column")
        if (len(self.probs) > 1) + bool(group) + bool(compare) > 1:
            raise InputError(
                "--prob, --group, --compare",
                "several classes, groups and a second model at once",
                "ask for one of them at a time",
            )

    @property
    def all(self) -> list[str]:
        """Their names, each once."""
        named = [*self.probs, self.label, self.weight, self.group, self.compare]
        return list(dict.fromkeys(name for name in named if name))

    @property
    def classes(self) -> list[str]:
        """The classes' names: cat and dog for columns p_cat and p_dog."""
        stems = {name.partition("_")[0] for name in self.probs if "_" in name}
        if len(stems) == 1 and all("_" in name for name in self.probs):
            return [name.partition("_")[2] for name in self.probs]
        return self.probs

    def parts(self, table: "pl.DataFrame", where: str) -> "dict[str, Pairs]":
        """The pairs in a table: one part, or one for each group, class or model."""
        from gnomon.calibration.groups import split
        from gnomon.calibration.multiclass import class_pairs
        from gnomon.calibration.pairs import as_groups, as_pairs

        weight = table[self.weight] if self.weight else None
        if len(self.probs) > 1:
            matrix = table.select(self.probs).to_numpy()
            try:
                return class_pairs(matrix, table[self.label], classes=self.classes, weight=weight)
            except InputError as error:
                raise InputError(f"{where}: {error.where}", error.problem, error.remedy) from None

        def pairs(prob: str) -> "Pairs":
            called = [f"{where}, column {name}" for name in (prob, self.label, self.weight)]
            return as_pairs(
                table[prob], table[self.label], weight, names=(called[0], called[1], called[2])
            )

        first = pairs(self.probs[0])
        if self.compare:
            return {self.probs[0]: first, self.compare: pairs(self.compare)}
        if self.group:
            name = f"{where}, column {self.group}"
            return split(first, as_groups(table[self.group], len(first), name))
        return {"": first}


def file_name(file: str) -> str:
    """What messages call a file."""
    return "standard input" if file == "-" else file
