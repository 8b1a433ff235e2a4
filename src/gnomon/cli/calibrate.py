"""`gnomon calibrate`: how far to trust a column of probabilities."""

import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.columns import Columns, Label, Prob, Weight, file_name
from gnomon.cli.output import AsJson, Bar, Html, Seed, check_target, show
from gnomon.errors import InputError
from gnomon.tables import write_bytes, write_text

if TYPE_CHECKING:
    from gnomon.calibration.analyse import Calibration, Settings
    from gnomon.calibration.compare import Comparison
    from gnomon.calibration.groups import Groups
    from gnomon.calibration.multiclass import Multiclass
    from gnomon.calibration.pairs import Pairs
    from gnomon.calibration.streaming import Stream
    from gnomon.estimate import JSON

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="CSV, TSV, JSONL (each also .gz), Parquet or NPZ; - is standard input;"
        " or states written by --save-state. Several files count as one.",
        show_default=False,
    ),
]


def calibrate(
    files: Files,
    prob: Prob = "probability",
    label: Label = "label",
    weight: Weight = None,
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="COLUMN", help="One row for each value of this column."),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare", metavar="COLUMN", help="A second model's probabilities for the same rows."
        ),
    ] = None,
    bin_size: Annotated[
        str,
        typer.Option(
            "--bin-size",
            metavar="N|auto",
            help="Predictions in a bin; auto chooses by leave-one-out.",
        ),
    ] = "auto",
    binning: Annotated[
        str,
        typer.Option(
            "--binning",
            metavar="adaptive|width:W",
            help="Bins of equal size, or width; several (adaptive,width:0.1) side by side.",
        ),
    ] = "adaptive",
    interval: Annotated[
        str,
        typer.Option(
            "--interval",
            metavar="score|simulation|bootstrap",
            help="How the error's interval is made; simulation is the paper's Algorithm 2.",
        ),
    ] = "score",
    level: Annotated[float, typer.Option("--level", help="Level of every interval.")] = 0.95,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws", help="Draws of simulation (10000) or bootstrap (1000).", show_default=False
        ),
    ] = None,
    top: Annotated[
        str,
        typer.Option(
            "--top", metavar="K,...", help="With --group: averages over the K most frequent."
        ),
    ] = "5,100",
    seed: Seed = 0,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Read in batches with bounded memory; by default when a file is large.",
            show_default=False,
        ),
    ] = None,
    save_state: Annotated[
        str | None,
        typer.Option(
            "--save-state",
            metavar="FILE.npz",
            help="Also write the mergeable summary, to be given as FILE later, with others.",
        ),
    ] = None,
    as_json: AsJson = False,
    html: Html = None,
    chart: Annotated[
        str | None,
        typer.Option("--chart", metavar="FILE", help="Write the chart: .png, .svg, .html, .json."),
    ] = None,
) -> None:
    """Tell how far a column of probabilities can be believed.

    Prints the calibration error with its bias removed and an interval, the Brier score taken
    apart, tests, and where the model is over- or underconfident.
    """
    from gnomon.calibration.analyse import Settings

    check_target(html, (".html", ".htm"), "--html")
    check_target(chart, (".png", ".svg", ".html", ".json"), "--chart")
    check_target(save_state, (".npz",), "--save-state")
    binnings = [
        Settings(_bin_size(bin_size), each.strip(), interval, level, draws, seed)
        for each in binning.split(",")
    ]
    columns = Columns(prob, label, weight, group, compare)
    averages = _whole_numbers(top, "--top")
    if len(binnings) > 1 and (group or compare or len(columns.probs) > 1):
        raise InputError("--binning", "several, with groups or the like", "give one binning")
    if save_state and (group or compare or len(columns.probs) > 1):
        raise InputError("--save-state", "holds one column only", "leave --group and the like out")
    with Bar("calibrating") as bar:
        result = _calibration(files, columns, binnings, averages, stream, save_state, bar)
    title = ", ".join(files)
    if html:
        from gnomon.report.page import calibration_page

        write_text(html, calibration_page(result, title=title))
    if chart:
        from gnomon.charts import save
        from gnomon.charts.calibration import binnings_chart, chart_of

        save(binnings_chart(result) if isinstance(result, _Binnings) else chart_of(result), chart)
    show(result, as_json)


class _Binnings(dict[str, "Calibration"]):
    """The calibration of one column under several binnings."""

    def to_dict(self) -> "dict[str, JSON]":
        return {name: result.to_dict() for name, result in self.items()}

    def __str__(self) -> str:
        return "\n\n".join(f"{name}\n{result}" for name, result in self.items())


def _calibration(
    files: list[str],
    columns: Columns,
    binnings: "list[Settings]",
    top: list[int],
    stream: bool | None,
    save_state: str | None,
    bar: Bar,
) -> "Calibration | Groups | Multiclass | Comparison | _Binnings":
    from gnomon.calibration.analyse import analyse
    from gnomon.calibration.compare import compare_pairs
    from gnomon.calibration.groups import analyse_groups
    from gnomon.calibration.multiclass import analyse_classes
    from gnomon.calibration.ordered import Ordered, order

    settings = binnings[0]
    streams = _saved(files, columns)
    if streams is None and (
        save_state or stream or (stream is None and _too_large(files, columns))
    ):
        streams = _streamed(files, columns)
    ordered: dict[str, Ordered]
    if streams is None:
        parts = _in_memory(files, columns)
        if columns.compare:
            names = columns.probs[0], columns.compare
            first, second = parts.values()
            return compare_pairs(first, second, settings, names=names)
        ordered = {name: order(pairs) for name, pairs in parts.items()}
    else:
        ordered = {name: each.cells() for name, each in streams.items()}
        if save_state:
            write_bytes(save_state, streams[""].to_bytes())
    if columns.group:
        groups = ordered.items()
        return analyse_groups(groups, settings, top=top, progress=bar, total=len(groups))
    if len(columns.probs) > 1:
        return analyse_classes(ordered, settings, progress=bar)
    if len(binnings) > 1:
        return _Binnings((each.binning, analyse(ordered[""], each)) for each in binnings)
    return analyse(ordered[""], settings, progress=bar)


def _in_memory(files: list[str], columns: Columns) -> "dict[str, Pairs]":
    import polars as pl

    from gnomon.tables import read

    tables = [read(file, columns.all) for file in files]
    if len(tables) == 1:
        return columns.parts(tables[0], file_name(files[0]))
    for file, table in zip(files, tables, strict=True):
        columns.parts(table, file_name(file))  # a complaint names the file
    return columns.parts(pl.concat(tables, how="vertical_relaxed"), "all files")


def _streamed(files: list[str], columns: Columns) -> "dict[str, Stream]":
    from gnomon.calibration.streaming import Stream
    from gnomon.tables import read_batches

    if columns.compare:
        raise InputError(
            "--compare",
            "two models are compared row by row, which a stream does not keep",
            "use --no-stream, or a sample of the rows",
        )
    streams: dict[str, Stream] = {}
    for file in files:
        row = 0
        for batch in read_batches(file, columns.all):
            where = (
                file_name(file)
                if row == 0
                else f"{file_name(file)} (counting from row {row + 1:,})"
            )
            for name, pairs in columns.parts(batch, where).items():
                streams.setdefault(name, Stream.empty()).merge(Stream.of(pairs))
            row += len(batch)
    return streams


def _saved(files: list[str], columns: Columns) -> "dict[str, Stream] | None":
    """The sum of saved states, or None where the files are tables."""
    from gnomon.calibration.streaming import Stream

    saved = [file.endswith(".npz") and is_stream(file) for file in files]
    if not any(saved):
        return None
    if not all(saved):
        raise InputError(
            files[saved.index(False)], "not a saved state like the others", "give one kind of file"
        )
    if columns.group or columns.compare or len(columns.probs) > 1:
        raise InputError(files[0], "a saved state holds one column", "leave --group and such out")
    whole = Stream.empty()
    for file in files:
        whole.merge(Stream.from_bytes(Path(file).read_bytes(), file))
    return {"": whole}


def is_stream(file: str) -> bool:
    """Whether an NPZ file is a state written by --save-state."""
    try:
        with zipfile.ZipFile(file) as archive:
            return "gnomon_stream.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False  # the reader of tables says what is wrong with it


def _too_large(files: list[str], columns: Columns) -> bool:
    """Whether the columns would take more than a quarter of the machine's memory."""
    from gnomon.tables import size

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    sizes = [size(file, columns.all) for file in files]
    return sum(each or 0 for each in sizes) > memory / 4


def _bin_size(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _whole_numbers(text: str, option: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",") if each.strip()]
    except ValueError:
        raise InputError(option, f"{text!r} is not a list of numbers", "give 5,100") from None
