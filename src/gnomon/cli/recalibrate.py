"""`gnomon recalibrate`: learn to mend probabilities, and mend them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.columns import Columns, Label, Prob, Weight, file_name
from gnomon.cli.output import AsJson, Html, Seed, check_target, show
from gnomon.errors import InputError
from gnomon.tables import read, write, write_text

if TYPE_CHECKING:
    import polars as pl

    from gnomon.calibration.recalibrate import Recalibrator
    from gnomon.estimate import JSON

app = typer.Typer(no_args_is_help=True, help="Mend a column of probabilities.")
File = Annotated[
    str,
    typer.Argument(metavar="FILE", help="CSV, TSV, JSONL, Parquet or NPZ; - is standard input."),
]


@app.command()
def fit(
    file: File,
    out: Annotated[
        str, typer.Option("--out", metavar="FILE.json", help="Where to write what was learned.")
    ],
    prob: Prob = "probability",
    label: Label = "label",
    weight: Weight = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="COLUMN",
            help="Rows of one group stay in one fold (a document, say).",
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option("--method", metavar="platt|beta|temperature|isotonic|histogram"),
    ] = "beta",
    bins: Annotated[int, typer.Option("--bins", min=1, help="Bins of histogram.")] = 15,
    folds: Annotated[
        int, typer.Option("--folds", min=2, help="Folds of the before-and-after comparison.")
    ] = 5,
    seed: Seed = 0,
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Learn to mend probabilities from rows whose labels are known.

    Prints the calibration error before and after, each row mended by a map that was learned
    without it.
    """
    from gnomon.calibration import recalibrate
    from gnomon.calibration.pairs import as_classes, as_groups

    check_target(out, (".json",), "--out")
    check_target(html, (".html", ".htm"), "--html")
    columns = Columns(prob, label, weight, None, None)
    table = read(file, [*columns.all, *([group] if group else [])])
    before = columns.parts(table, file_name(file))
    several = len(columns.probs) > 1
    q: Any = table.select(columns.probs).to_numpy() if several else before[""].q
    y: Any = as_classes(table[label], columns.classes, len(table)) if several else before[""].y
    w = before[next(iter(before))].weight
    own = (
        as_groups(table[group], len(table), f"{file_name(file)}, column {group}") if group else None
    )
    learned = recalibrate.fit(q, y, method=method, weight=w, bins=bins)
    after = recalibrate.cross_fit(
        q, y, method=method, folds=folds, seed=seed, weight=w, group=own, bins=bins
    )
    report = _Report(learned, table, columns, after)
    if html:
        from gnomon.report.page import calibration_page

        write_text(html, calibration_page(report.comparison, title=f"{file_name(file)}, {method}"))
    write_text(out, learned.to_json() + "\n")
    show(report, as_json)


@app.command()
def apply(
    model: Annotated[str, typer.Argument(metavar="MODEL.json", help="What `fit` wrote.")],
    file: File,
    prob: Prob = "probability",
    column: Annotated[
        str,
        typer.Option("--column", help="Name of the new column; added to each name for classes."),
    ] = "recalibrated",
    out: Annotated[
        str,
        typer.Option("--out", metavar="FILE", help="Where to write; - is standard output, as CSV."),
    ] = "-",
) -> None:
    """Mend the probabilities of a file: the same table with a new column."""
    import polars as pl

    from gnomon.calibration.recalibrate import Recalibrator

    try:
        text = Path(model).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(model, f"cannot be read ({error})", "name a file that fit wrote") from None
    try:
        learned = Recalibrator.from_json(text)
    except InputError as error:
        raise InputError(f"{model}: {error.where}", error.problem, error.remedy) from None
    table = read(file)
    probs = [name.strip() for name in prob.split(",")]
    missing = [name for name in probs if name not in table.columns]
    if missing:
        raise InputError(
            file_name(file), f"no column {missing[0]}", f"there are: {', '.join(table.columns)}"
        )
    try:
        mended = learned.apply(
            table[probs[0]] if len(probs) == 1 else table.select(probs).to_numpy()
        )
    except InputError as error:
        where = f"{file_name(file)}, column {prob}: {error.where}"
        raise InputError(where, error.problem, error.remedy) from None
    names = [column] if len(probs) == 1 else [f"{name}_{column}" for name in probs]
    taken = [name for name in names if name in table.columns]
    if taken:
        raise InputError(file_name(file), f"there is a column {taken[0]} already", "use --column")
    new = [pl.Series(name, mended if len(names) == 1 else mended[:, k])
           for k, name in enumerate(names)]  # fmt: skip
    write(table.with_columns(new), out)


class _Report:
    """What was learned, and the calibration before and after."""

    def __init__(
        self,
        learned: "Recalibrator",
        table: "pl.DataFrame",
        columns: Columns,
        mended: Any,
    ) -> None:
        import polars as pl

        from gnomon.calibration.compare import compare_pairs

        self.learned = learned
        after = table.with_columns(
            pl.Series(name, mended if mended.ndim == 1 else mended[:, k])
            for k, name in enumerate(columns.probs)
        )
        first, second = (next(iter(columns.parts(t, "the table").values())) for t in (table, after))
        self.comparison = compare_pairs(first, second, names=("before", "after"))

    def to_dict(self) -> "dict[str, JSON]":
        return {"recalibrator": self.learned.to_dict(), **self.comparison.to_dict()}

    def __str__(self) -> str:
        lines = [f"{self.learned.method}, learned from {self.learned.n:,.10g} rows", ""]
        for name, result in zip(
            self.comparison.names, (self.comparison.first, self.comparison.second), strict=True
        ):
            error = result.calibration_error
            lines.append(
                f"{name:<7} error {error.value:.4f}   debiased {error.debiased:.4f}"
                f"   {100 * error.level:.4g} % interval {error.low:.4f} to {error.high:.4f}"
                f"   Brier {result.decomposition.brier:.4f}   log loss {result.log_loss:.4f}"
            )
        return "\n".join([*lines, "", self.comparison.verdict().capitalize() + "."])
