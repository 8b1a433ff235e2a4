"""Calibration results as charts: the curve, binnings side by side, groups, two models compared."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gnomon.calibration.analyse import Calibration
from gnomon.calibration.compare import Comparison
from gnomon.calibration.groups import Groups
from gnomon.calibration.multiclass import Multiclass
from gnomon.charts import estimates, panels, theme
from gnomon.charts.theme import data, title
from gnomon.charts.words import centre, count, decimal, interval, percent, shorten
from gnomon.errors import InputError
from gnomon.estimate import Estimate

if TYPE_CHECKING:
    import altair as alt
    from altair.typing import ChartType

SIDE = 420  # pixels, of the square that holds a curve
FEW = 300  # bins, above which their points would hide the smooth curve


def curve_chart(result: Calibration) -> "alt.VConcatChart":
    """The calibration curve, and below it where the predictions lie.

    Points are bins with their intervals; the smooth curve has its band; the thin steps are the
    isotonic fit. Ranges that reliably err to one side are shaded. Nguyen & O'Connor (2015),
    section 3.3.

    >>> from gnomon import calibrate
    >>> chart = curve_chart(calibrate([0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1]))
    >>> print(chart.to_dict()["title"]["text"])
    ['No range of predictions is reliably over- or underconfident']
    """
    import altair as alt

    smooth, isotonic = (panels.curve_rows(curve) for curve in (result.smooth, result.isotonic))
    x, y = panels.predicted(labelled=False), panels.observed()
    band = alt.Chart(data(smooth)).mark_area(color=theme.BLUE, opacity=0.2)
    line = alt.Chart(data(smooth)).mark_line(color=theme.BLUE, strokeWidth=2).encode(x=x, y=y)
    steps = alt.Chart(data(isotonic)).mark_line(
        color=theme.MUTED, strokeWidth=1, interpolate="step-after"
    )
    points = panels.bin_layers(panels.bin_rows(result))
    level = percent(result.calibration_error.level)
    curve = alt.layer(
        *panels.region_layers(result.regions),
        panels.diagonal(),
        *panels.side_labels(SIDE),
        band.encode(x=x, y=panels.observed("low"), y2="high:Q"),
        steps.encode(x=x, y=y),
        *([line, *points] if len(result.bins) <= FEW else [*points, line]),
        panels.legend(level, smooth=bool(smooth), isotonic=len(isotonic) > 1),
    )
    spread = alt.layer(
        *panels.region_layers(result.regions, labelled=True),
        panels.histogram(panels.histogram_rows(result.bins)),
    )
    return alt.vconcat(
        curve.properties(width=SIDE, height=SIDE),
        spread.properties(width=SIDE, height=80),
        spacing=12,
        title=title(result.verdict(), _subtitle(result)),
        description=f"Calibration curve of {count(result.n, 'prediction')}: {result.verdict()}."
        f" Calibration error {_error(result.calibration_error)}.",
        config=theme.config(),
    )


def binnings_chart(results: Mapping[str, Calibration]) -> "alt.ConcatChart":
    """The same predictions under several binnings, each under its name.

    The first panel shows where the predictions lie, as the finest of the binnings tells it.
    Nguyen & O'Connor (2015), Figure 1.

    >>> from gnomon import calibrate
    >>> q, y = [0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1]
    >>> chart = binnings_chart({"wide": calibrate(q, y, binning="width:0.5"),
    ...                         "adaptive": calibrate(q, y, bin_size=1)})
    >>> len(chart.concat)
    3
    """
    import altair as alt

    if not results:
        raise InputError("results", "there are none", "give one or more, each under its name")
    side, x, y = 300, panels.predicted(labelled=True), panels.observed()
    finest = max(results.values(), key=lambda result: len(result.bins))
    spread = panels.histogram(panels.histogram_rows(finest.bins))
    heading = title("where the predictions lie", [count(finest.n, "prediction")], small=True)
    views: list[Any] = [spread.properties(width=side, height=side, title=heading)]
    for name, result in results.items():
        rows = panels.bin_rows(result)
        line = alt.Chart(data(rows)).mark_line(color=theme.BLUE, strokeWidth=1).encode(x=x, y=y)
        curve = alt.layer(
            panels.diagonal(labelled=True), line, *panels.bin_layers(rows, labelled=True)
        )
        below = f"{count(len(result.bins), 'bin')}, error {_error(result.calibration_error)}"
        heading = title(name, [below], width=44, small=True)
        views.append(curve.properties(width=side, height=side, title=heading))
    key = f"Bars: {percent(finest.calibration_error.level)} interval of a bin's label frequency."
    return alt.concat(
        *views,
        columns=2 if len(views) <= 4 else 3,
        spacing=30,
        title=title(
            f"the same predictions in {count(len(results), 'binning')}",
            [f"{key} Dashed: perfect calibration."],
            width=80,
        ),
        description=f"Calibration curves under the binnings {', '.join(results)}.",
        config=theme.config(),
    )


def groups_chart(groups: Groups | Mapping[str, Groups], *, most: int = 100) -> "alt.ConcatChart":
    """The calibration error of each group, of one model or of several, and the averages last.

    At most the `most` groups with most positive labels are drawn, in the order of the first model.
    Few groups with short names stand side by side, others lie one below the other. Nguyen &
    O'Connor (2015), Figure 4.

    >>> from gnomon import calibrate_groups
    >>> groups = calibrate_groups([0.2, 0.4, 0.9, 0.7], [0, 1, 1, 1], ["a", "a", "b", "b"])
    >>> len(groups_chart(groups).concat)
    2
    """
    import altair as alt

    models = dict(groups) if isinstance(groups, Mapping) else {"": groups}
    if not models:
        raise InputError("groups", "there are none", "give one or more models, each under its name")
    names = list(dict.fromkeys(row.name for each in models.values() for row in each.rows))
    drawn = {name: place for place, name in enumerate(names[:most])}
    rows = [
        estimates.estimate_row(
            row.name, row.calibration_error, model=model, n=row.n, rate=row.positives / row.n
        )
        for model, each in models.items()
        for row in each.rows
        if row.name in drawn
    ]
    rows.sort(key=lambda row: drawn[row["name"]])
    means = [
        estimates.estimate_row(
            f"RMS, {'all' if each.k == len(own.rows) else 'top'} {each.k}",
            each.rms,
            model=model,
            mean=each.mean,
        )
        for model, own in models.items()
        for each in own.averages
    ]
    upright = estimates.stands_upright(list(drawn), len(models))
    shape = {"upright": upright, "roomy": len(drawn) <= 10}
    return alt.concat(
        estimates.estimates_panel(rows, list(models), **shape),
        estimates.estimates_panel(means, list(models), **shape, means=True),
        columns=2 if upright else 1,
        spacing=14,
        title=_groups_title(models, len(drawn), len(names)),
        description=f"Calibration error with its interval, of {count(len(drawn), 'group')}.",
        resolve={"scale": {"y" if upright else "x": "shared"}},
        config=theme.config(),
    )


def comparison_chart(comparison: Comparison) -> "alt.VConcatChart":
    """Both models' curves in one panel, where their predictions lie, the difference of errors.

    >>> from gnomon import Settings, compare
    >>> result = compare([0.2, 0.4, 0.9], [0.1, 0.5, 0.6], [0, 1, 1], names=("old", "new"))
    >>> len(comparison_chart(result).vconcat)
    3
    """
    import altair as alt

    first, second = comparison.names
    names = [first, second if second != first else f"{second} (second)"]
    results = dict(zip(names, (comparison.first, comparison.second), strict=True))
    look = theme.models(names)
    x, y = panels.predicted(labelled=False), panels.observed()
    bands, lines, points = list[Any](), list[Any](), list[Any]()
    spread, errors = list[dict[str, Any]](), list[dict[str, Any]]()
    for name, result in results.items():
        smooth = alt.Chart(data(panels.curve_rows(result.smooth, model=name)))
        band = smooth.mark_area(opacity=0.15)
        bands.append(band.encode(x=x, y=panels.observed("low"), y2="high:Q", color=look["color"]))
        lines.append(smooth.mark_line(strokeWidth=2).encode(x=x, y=y, color=look["color"]))
        points += panels.bin_layers(panels.bin_rows(result, model=name), look)
        spread += panels.histogram_rows(result.bins, model=name)
        errors.append(estimates.estimate_row(name, result.calibration_error, model=name))
    errors.append(estimates.estimate_row("difference", comparison.difference, sign="+"))
    curves = alt.layer(panels.diagonal(), *panels.side_labels(SIDE), *bands, *lines, *points)
    return alt.vconcat(
        curves.properties(width=SIDE, height=SIDE),
        panels.histogram(spread, look).properties(width=SIDE, height=80),
        estimates.difference_panel(errors, look, SIDE),
        spacing=16,
        title=title(comparison.verdict(), [count(comparison.difference.n, "item")]),
        description=f"Calibration curves of {first} and {second}: {comparison.verdict()}.",
        config=theme.config(),
    )


def chart_of(result: Calibration | Groups | Comparison | Multiclass) -> "ChartType":
    """The chart for a result of any kind; for several classes the top class, then each class.

    >>> from gnomon import calibrate
    >>> type(chart_of(calibrate([0.2, 0.4], [0, 1]))).__name__
    'VConcatChart'
    """
    import altair as alt

    if isinstance(result, Calibration):
        return curve_chart(result)
    if isinstance(result, Groups):
        return groups_chart(result)
    if isinstance(result, Comparison):
        return comparison_chart(result)
    parts: list[Any] = [curve_chart(result.top), groups_chart(result.classes)]
    words = [part.description for part in parts]
    for part in parts:
        part.config = part.description = alt.Undefined  # these belong to the whole
    return alt.hconcat(
        *parts,
        spacing=40,
        title=title(f"the most probable class is right with frequency {decimal(result.accuracy)}"),
        description=" ".join(words),
        resolve={"scale": dict.fromkeys(("color", "fill", "shape", "stroke"), "independent")},
        config=theme.config(),
    )


def _error(error: Estimate) -> str:
    return f"{decimal(error.value)} ({interval(error)})"


def _subtitle(result: Calibration) -> list[str]:
    error = result.calibration_error
    debiased = "" if error.debiased is None else f", debiased {decimal(error.debiased)}"
    bins = count(len(result.bins), "bin")
    if len(result.bins) > panels.MOST_BINS:
        bins += f", {panels.MOST_BINS:,} of them drawn"
    return [
        f"Calibration error {decimal(error.value)}{debiased},"
        f" {percent(error.level)} interval {interval(error)}.",
        f"{count(result.n, 'prediction')}, base rate {decimal(result.base_rate)}, {bins}.",
    ]


def _groups_title(models: Mapping[str, Groups], drawn: int, known: int) -> "alt.TitleParams":
    every = {name: own.averages[-1].rms for name, own in models.items()}
    if len(models) > 1:
        words = ", ".join(
            f"{shorten(name)} {decimal(centre(error))}" for name, error in every.items()
        )
        words = f"calibration error over all groups (RMS): {words}"
    else:
        (own,), (error,) = models.values(), every.values()
        worst = max(own.rows, key=lambda row: centre(row.calibration_error))
        words = (
            f"calibration error {decimal(centre(error))} over all groups (RMS); the largest is"
            f" that of {shorten(worst.name)}, {decimal(centre(worst.calibration_error))}"
        )
    level = percent(next(iter(every.values())).level)
    below = f"Dot: debiased error. Tick: plain error. Bar: {level} interval."
    if drawn < known:
        below += f" The {drawn:,} most frequent of {known:,} groups."
    return title(words, [below], width=72)
