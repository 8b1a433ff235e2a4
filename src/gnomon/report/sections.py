"""What a page says of each kind of result: sentences, facts, a figure, tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.calibration.analyse import Calibration
from gnomon.calibration.compare import Comparison
from gnomon.calibration.groups import Groups
from gnomon.calibration.tests import TestOfCalibration
from gnomon.charts.calibration import (
    binnings_chart,
    comparison_chart,
    curve_chart,
    groups_chart,
)
from gnomon.charts.save import data_block, picture
from gnomon.charts.words import centre, count, decimal, interval, percent
from gnomon.estimate import Estimate
from gnomon.report.glossary import COMPARISON, CURVE, GROUPS

if TYPE_CHECKING:
    from altair.typing import ChartType

MOST_ROWS = 2000  # of a table of bins
OPEN_ROWS = 20  # of a table that is not folded away


@dataclass(frozen=True)
class Figure:
    """A chart: its words for those who cannot see it, the still picture, and the live data."""

    description: str
    picture: str
    data: str
    caption: str


@dataclass(frozen=True)
class Table:
    """Cells as text, under their headings; the first `words` columns are not numbers."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 0
    note: str = ""

    @property
    def folded(self) -> bool:
        """Whether it is long enough to be in the way."""
        return len(self.rows) > OPEN_ROWS

    @property
    def narrow(self) -> bool:
        """Whether it fits beside a chart."""
        return not self.folded and len(self.header) <= 3


@dataclass(frozen=True)
class Section:
    """All that a page says of one result."""

    heading: str
    verdict: str
    sentences: Sequence[str]
    facts: Sequence[tuple[str, str, str]]  # what, how much, and what to know about it
    figure: Figure
    tables: Sequence[Table]
    terms: Sequence[str]
    notes: Sequence[str] = ()
    signatures: Sequence[str] = ()


def calibration(result: Calibration, heading: str) -> Section:
    """One model on one set of predictions."""
    error, parts = result.calibration_error, result.decomposition
    level = percent(error.level)
    skill = "no skill is defined" if parts.skill is None else f"skill {decimal(parts.skill)}"
    return Section(
        heading=heading,
        verdict=_sentence(result.verdict()),
        sentences=[_typical_gap(error), *_regions(result)],
        facts=[
            ("Calibration error", decimal(_headline(error)), f"{level} interval {interval(error)}"),
            ("Predictions", f"{result.n:,.10g}", f"in {count(len(result.bins), 'bin')}"),
            ("Base rate", decimal(result.base_rate), "share of positive labels"),
            ("Brier score", decimal(parts.brier), skill),
            ("Log loss", decimal(result.log_loss), "per prediction, in nats"),
        ],
        figure=_figure(
            curve_chart(result),
            f"A point is a bin of predictions; its bar is the {level} interval of the share of"
            " positive labels. Above the dashed line things happen more often than predicted, below"
            " it less often. Shaded ranges reliably err to one side. The columns below count the"
            " predictions.",
        ),
        tables=[_errors(result), _decomposition(result), _tests(result.tests), _bins(result)],
        terms=CURVE,
        notes=[_sentence(note) for note in result.notes],
        signatures=[str(result.signature)],
    )  # fmt: skip


def binnings(results: Mapping[str, Calibration]) -> Section:
    """The same predictions under several settings."""
    rows = [
        [name, f"{len(result.bins):,}", *_error_cells(result.calibration_error)]
        for name, result in results.items()
    ]
    errors = [result.calibration_error.value for result in results.values()]
    return Section(
        heading="Side by side",
        verdict=f"The plain calibration error comes to {decimal(min(errors))} to"
        f" {decimal(max(errors))}, depending on the bins.",
        sentences=["The predictions and labels are the same throughout; only the bins differ."],
        facts=[],
        figure=_figure(
            binnings_chart(results),
            "Bins of equal width hold few predictions where predictions are rare, and their"
            " intervals are wide there; adaptive bins all hold as many.",
        ),
        tables=[Table("Errors", ["binning", "bins", *ERROR_HEADER], rows, words=1)],
        terms=["plain and debiased", "interval", "bins"],
    )


def groups(models: Mapping[str, Groups], heading: str) -> Section:
    """Groups of one model, or of several."""
    named = len(models) > 1
    every = {name: own.averages[-1] for name, own in models.items()}
    sentences, rows, means = [], [], []
    for name, own in models.items():
        first = [name] if named else []
        worst = max(own.rows, key=lambda row: centre(row.calibration_error))
        sentences.append(
            (f"{name}: the" if named else "The")
            + f" error is largest for {worst.name},"
            + f" {decimal(centre(worst.calibration_error))}"
            + f" ({percent(worst.calibration_error.level)} interval"
            + f" {interval(worst.calibration_error)})."
        )
        for row in own.rows:
            cells = [f"{row.n:,.10g}", decimal(row.positives / row.n)]
            rows.append([*first, row.name, *cells, *_error_cells(row.calibration_error)])
        for each in own.averages:
            which = f"all {each.k}" if each.k == len(own.rows) else f"{each.k} most frequent"
            means.append([*first, which, decimal(each.mean), *_error_cells(each.rms)])
    model = ["model"] if named else []
    verdicts = [
        (f"{name}: root mean square error" if named else "Root mean square error")
        + f" {decimal(centre(each.rms))} over {count(each.k, 'group')}"
        + f" ({percent(each.rms.level)} interval {interval(each.rms)})."
        for name, each in every.items()
    ]
    return Section(
        heading=heading,
        verdict=" ".join(verdicts),
        sentences=sentences,
        facts=[],
        figure=_figure(
            groups_chart(models if named else next(iter(models.values()))),
            "Groups are in the order of how many positive labels they have. A dot is a group's"
            " debiased error, the short tick the plain one, the bar its interval. The last ones"
            " are averages over groups.",
        ),
        tables=[
            Table(
                "Averages over groups",
                [*model, "groups", "mean of plain errors", *(f"RMS, {h}" for h in ERROR_HEADER)],
                means,
                words=1 + named,
            ),
            Table(
                "Groups",
                [*model, "group", "predictions", "base rate", *ERROR_HEADER],
                rows,
                words=1 + named,
            ),
        ],
        terms=GROUPS,
        signatures=[str(own.signature) for own in models.values()],
    )


def comparison(result: Comparison, heading: str) -> Section:
    """Two models on the same items."""
    first, second = result.names
    gap = result.difference
    rows = []
    for name, each in ((first, result.first), (second, result.second)):
        brier, log_loss = decimal(each.decomposition.brier), decimal(each.log_loss)
        rows.append([name, *_error_cells(each.calibration_error), brier, log_loss])
    return Section(
        heading=heading,
        verdict=_sentence(result.verdict()),
        sentences=[
            f"The error of {first} minus that of {second} is {decimal(gap.value, '+')}, both"
            f" debiased, over {count(gap.n, 'item')}; below zero {first} would be better"
            f" calibrated, above zero {second}."
        ],
        facts=[
            (f"Error of {first}", decimal(centre(result.first.calibration_error)), "debiased"),
            (f"Error of {second}", decimal(centre(result.second.calibration_error)), "debiased"),
            ("Difference", decimal(gap.value, "+"),
             f"{percent(gap.level)} interval {interval(gap, '+')} ({gap.method})"),
        ],
        figure=_figure(
            comparison_chart(result),
            "Points are bins, lines smooth curves; the nearer the dashed line, the better"
            " calibrated. Below: where each model's predictions lie, then both errors and their"
            " difference, with intervals.",
        ),
        tables=[
            Table("Both models", ["model", *ERROR_HEADER, "Brier score", "log loss"], rows, words=1)
        ],
        terms=COMPARISON,
        signatures=[str(result.signature)],
    )  # fmt: skip


ERROR_HEADER = ("plain", "debiased", "interval")


def _figure(chart: "ChartType", caption: str) -> Figure:
    return Figure(str(chart.description), picture(chart), data_block(chart), caption)


def _headline(error: Estimate) -> float:
    """The value that the interval is about: Algorithm 2's is about the plain one."""
    return error.value if error.method == "simulation" else centre(error)


def _typical_gap(error: Estimate) -> str:
    chance = (
        "Perfect calibration is not ruled out."
        if error.low <= 0.0
        else "That is more than chance would make it."
    )
    return (
        f"Typically, the observed frequency is {decimal(_headline(error))} away from the predicted"
        f" probability ({percent(error.level)} interval {interval(error)}). {chance}"
    )


def _regions(result: Calibration) -> Iterable[str]:
    for region in result.regions:
        side = "above" if region.gap > 0 else "below"
        yield (
            f"{_sentence(region.text)[:-1]}: the observed frequency is {decimal(abs(region.gap))}"
            f" {side} the prediction there, on average."
        )


def _errors(result: Calibration) -> Table:
    errors = result.errors
    return Table(
        "Errors",
        ["", "plain", "debiased"],
        [
            ["calibration error (RMS)", decimal(errors.rms), decimal(errors.rms_debiased)],
            ["mean absolute error (ECE)", decimal(errors.ece), decimal(errors.ece_debiased)],
            ["maximum error", decimal(errors.maximum), decimal(errors.maximum_debiased)],
        ],
        words=1,
    )


def _decomposition(result: Calibration) -> Table:
    parts = result.decomposition
    rows = {
        "calibration": parts.calibration,
        "+ refinement": parts.refinement,
        "+ within bins": parts.within_bin,
        "= Brier score": parts.brier,
    }
    cells = [[name, f"{value:z.6f}"] for name, value in rows.items()]
    return Table("The Brier score taken apart", ["", "value"], cells, words=1)


def _tests(tests: Sequence[TestOfCalibration]) -> Table:
    rows, words = [], {}
    for test in tests:
        p, name = test.p_value, test.name.capitalize()
        statistic = decimal(test.statistic) if np.isinf(test.statistic) else f"{test.statistic:.2f}"
        rows.append([name, statistic, f"{p:.2g}" if p >= 1e-16 else "< 1e-16"])
        often = "could well" if p >= 0.05 else "would seldom" if p >= 0.001 else "would hardly ever"
        words[name] = f"calibrated model {often} do this."
    note = " ".join(f"{name}: a {each}" for name, each in words.items())
    if len(set(words.values())) == 1:  # the tests agree
        note = f"A {next(iter(words.values()))}"
    header = ["test", "statistic", "p"]
    return Table("Tests of perfect calibration", header, rows, words=1, note=note)


def _bins(result: Calibration) -> Table:
    bins, curve = result.bins, result.curve
    shown = np.unique(np.linspace(0, len(bins) - 1, min(MOST_ROWS, len(bins))).round().astype(int))
    columns = (bins.low, bins.high, curve.q, curve.p, curve.low, curve.high, bins.gap)
    cells = np.stack(columns)[:, shown].T
    rows = [
        [f"{n:,.10g}", *map(decimal, row[:4]), f"{decimal(row[4])} to {decimal(row[5])}",
         decimal(row[6], "+")]
        for n, row in zip(bins.n[shown].tolist(), cells.tolist(), strict=True)
    ]  # fmt: skip
    header = ["predictions", "from", "to", "mean predicted", "observed", "interval", "gap"]
    few = f"{len(shown):,} of {len(bins):,} bins, evenly spaced." if len(shown) < len(bins) else ""
    return Table("Bins", header, rows, note=few)


def _error_cells(error: Estimate) -> list[str]:
    plain = decimal(error.value)
    return [plain, decimal(centre(error)), interval(error)]


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")
