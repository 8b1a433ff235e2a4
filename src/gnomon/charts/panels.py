"""The layers that calibration curves are put together from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.calibration.analyse import Calibration
from gnomon.calibration.bins import Bins
from gnomon.calibration.curve import Curve, Region
from gnomon.charts import theme
from gnomon.charts.theme import Rows, data, table
from gnomon.charts.words import decimal

if TYPE_CHECKING:
    import altair as alt

COLUMNS = 50  # of the histogram of predictions
MOST_BINS = 2000  # that a panel can show
EDGE = 0.012  # room around [0, 1], so that points in the corners are whole
SHARES = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
# Symbols of a legend: a point with its interval, a thick line, a thin step, a dashed line.
INTERVAL = "M0,-1.1L0,-.4M0,.4L0,1.1M.4,0A.4,.4,0,1,1,-.4,0A.4,.4,0,1,1,.4,0"
LINE = "M-1.2,-.12L1.2,-.12L1.2,.12L-1.2,.12Z"
STEP = "M-1.2,.5L0,.5L0,-.5L1.2,-.5"
DASHES = "M-1.2,0L-.6,0M-.3,0L.3,0M.6,0L1.2,0"


def predicted(*, labelled: bool) -> "alt.X":
    """The horizontal place of a prediction."""
    import altair as alt

    name = "predicted probability" if labelled else None
    axis = alt.Axis(title=name, values=SHARES, format=".1f", labels=labelled)
    return alt.X("q:Q", axis=axis, scale=alt.Scale(domain=[-EDGE, 1.0 + EDGE], nice=False))


def observed(field: str = "p") -> "alt.Y":
    """The vertical place of a label frequency."""
    import altair as alt

    axis = alt.Axis(title="observed frequency", values=SHARES, format=".1f", minExtent=34)
    scale = alt.Scale(domain=[-EDGE, 1.0 + EDGE], nice=False)
    return alt.Y(f"{field}:Q", axis=axis, scale=scale)


def diagonal(*, labelled: bool = False) -> "alt.Chart":
    """Where a calibrated model's curve would lie."""
    import altair as alt

    ends = alt.Chart(data(table(q=[0, 1], p=[0, 1])))
    line = ends.mark_line(color=theme.MUTED, strokeWidth=1, strokeDash=[5, 4])
    chart: alt.Chart = line.encode(x=predicted(labelled=labelled), y=observed())
    return chart


def side_labels(side: int) -> list["alt.Chart"]:
    """The names of the two sides of the diagonal, in the corners that curves seldom reach."""
    import altair as alt

    above = alt.Chart(data([{"text": "underconfident"}])).mark_text(
        align="left", baseline="top", color=theme.TINTS_OF_TEXT["underconfident"]
    )
    below = alt.Chart(data([{"text": "overconfident"}])).mark_text(
        align="right", baseline="bottom", color=theme.TINTS_OF_TEXT["overconfident"]
    )
    return [
        above.encode(x=alt.value(9), y=alt.value(9), text="text:N"),
        below.encode(x=alt.value(side - 9), y=alt.value(side - 9), text="text:N"),
    ]


def region_layers(regions: Sequence[Region], *, labelled: bool = False) -> list["alt.Chart"]:
    """Shades over the ranges of predictions that reliably err to one side."""
    import altair as alt

    layers = []
    for region in regions:
        low = region.low if region.low > 0.0 else -EDGE
        high = region.high if region.high < 1.0 else 1.0 + EDGE
        tint = theme.TINTS[region.kind]
        # The outline keeps a range visible that is narrower than a pixel.
        shade = alt.Chart(data([{"q": low, "to": high, "text": region.text}])).mark_rect(
            color=tint, stroke=tint, fillOpacity=0.13, strokeOpacity=0.25, strokeWidth=1
        )
        words = alt.Tooltip("text:N", title="range")
        layers.append(shade.encode(x=predicted(labelled=labelled), x2="to:Q", tooltip=words))
    return layers


def bin_layers(
    rows: Rows, look: dict[str, Any] | None = None, *, labelled: bool = False
) -> list["alt.Chart"]:
    """A point for each bin, and its interval; the more bins, the fainter."""
    import altair as alt

    size = min(44.0, max(5.0, 2000.0 / len(rows)))
    opacity = min(1.0, (60.0 / len(rows)) ** 0.5)
    thickness = 1.2 if len(rows) <= 100 else 0.6
    look = look or {"color": alt.value(theme.INK)}
    tooltip = [
        alt.Tooltip("n:Q", title="predictions", format=",.10~g"),
        alt.Tooltip("q:Q", title="predicted", format=".4f"),
        alt.Tooltip("p:Q", title="observed", format=".4f"),
        alt.Tooltip("interval:N"),
        *([alt.Tooltip("model:N")] if "shape" in look else []),
    ]
    bins = alt.Chart(data(rows))
    bars = bins.mark_rule(strokeWidth=thickness, opacity=0.8 * opacity)
    dots = bins.mark_point(filled=True, size=size, opacity=max(0.3, opacity))
    x = predicted(labelled=labelled)
    return [
        bars.encode(x=x, y=observed("low"), y2="high:Q", color=look["color"]),
        dots.encode(x=x, y=observed(), tooltip=tooltip, **look),
    ]


def bin_rows(result: Calibration, **extra: str) -> Rows:
    """The bins of a result; of more than a panel can show, evenly spaced ones."""
    curve, count = result.curve, len(result.bins)
    shown = np.unique(np.linspace(0, count - 1, min(MOST_BINS, count)).round().astype(int))
    rows = table(
        n=result.bins.n[shown], q=curve.q[shown], p=curve.p[shown],
        low=curve.low[shown], high=curve.high[shown],
    )  # fmt: skip
    return [
        row | {"interval": f"{decimal(row['low'])} to {decimal(row['high'])}"} | extra
        for row in rows
    ]


def curve_rows(curve: Curve, **extra: str) -> Rows:
    """A curve's points and band."""
    columns = {name: getattr(curve, name) for name in ("q", "p", "low", "high")}
    return [row | extra for row in table(**columns)]


def legend(level: str, *, smooth: bool, isotonic: bool) -> "alt.Chart":
    """The key to a curve's layers: a layer of its own, for the others are of different kinds."""
    import altair as alt

    entries = [
        (f"bins, {level} interval", INTERVAL, theme.INK, theme.INK),
        *([(f"smooth curve, {level} band", LINE, theme.BLUE, theme.BLUE)] if smooth else []),
        *([("isotonic fit", STEP, theme.MUTED, "transparent")] if isotonic else []),
        ("calibrated", DASHES, theme.MUTED, "transparent"),
    ]
    names, shapes, strokes, fills = (list(each) for each in zip(*entries, strict=True))
    key = alt.Legend(columns=2, symbolOpacity=1)

    def scale(values: list[str]) -> "alt.Scale":
        return alt.Scale(domain=names, range=values)

    unseen = alt.Chart(data([{"name": name} for name in names])).mark_point(opacity=0)
    chart: alt.Chart = unseen.encode(
        shape=alt.Shape("name:N", scale=scale(shapes), legend=key),
        stroke=alt.Stroke("name:N", scale=scale(strokes), legend=key),
        fill=alt.Fill("name:N", scale=scale(fills), legend=key),
    )
    return chart


def histogram_rows(bins: Bins, **extra: str) -> Rows:
    """The mass of bins in columns of equal width.

    The part of a tied group that a bin holds lies where the group lies; the rest of the bin is
    spread evenly, as wide as its variance says, but within the bin.

    >>> from gnomon import calibrate
    >>> rows = histogram_rows(calibrate([0.25, 0.25, 0.25, 0.8], [0, 1, 0, 1], bin_size=1).bins)
    >>> [(row["q"], row["n"]) for row in rows if row["n"]]
    [(0.24, 3.0), (0.8, 1.0)]
    """
    ties, count = bins.ties, len(bins)
    tied, first, second = (
        np.bincount(ties.bin, ties.share * ties.q**power, count) for power in (0, 1, 2)
    )
    rest = np.maximum(bins.n - tied, 0.0)
    rest[rest < 1e-9 * bins.n] = 0.0
    some = np.maximum(rest, 1e-300)
    mean = np.clip((bins.n * bins.q - first) / some, bins.low, bins.high)
    square = (bins.n * (bins.spread + bins.q**2) - second) / some
    reach = np.sqrt(3.0 * np.maximum(square - mean**2, 0.0))  # of a uniform distribution
    low = np.concatenate([ties.q, np.maximum(mean - reach, bins.low)])
    high = np.concatenate([ties.q, np.minimum(mean + reach, bins.high)])
    mass, width = np.concatenate([ties.share, rest]), np.maximum(high - low, 1e-9)
    edges = np.linspace(0.0, 1.0, COLUMNS + 1)
    below = [float(mass @ np.clip((edge - low) / width, 0.0, 1.0)) for edge in edges]
    below[-1] = float(mass.sum())  # a prediction of one lies in the last column
    columns = table(q=edges[:-1], to=edges[1:], n=np.diff(below).round(6))
    return [row | extra for row in columns]


def histogram(rows: Rows, look: dict[str, Any] | None = None) -> "alt.Chart":
    """How many predictions lie where; on a logarithmic scale if few columns hold nearly all.

    With a `look` for the field `model`, outlines instead of bars, one for each model.
    """
    import altair as alt

    largest = max(row["n"] for row in rows)
    typical = float(np.median([row["n"] for row in rows if row["n"] > 0]))
    if largest > 50.0 * typical:
        powers = np.arange(np.ceil(np.log10(largest)) + 1.0)
        y = alt.Y(
            "n:Q",
            title=["predictions", "(log scale)"],
            scale=alt.Scale(type="symlog", domain=[0.0, largest]),
            axis=_counts(values=[0.0, *10.0**powers]),
        )
    else:
        ticks = min(3, max(1, int(largest)))
        y = alt.Y("n:Q", title="predictions", axis=_counts(tickCount=ticks))
    chart: alt.Chart
    x = predicted(labelled=True)
    if look is None:
        tooltip = [
            alt.Tooltip("q:Q", title="from", format=".2f"),
            alt.Tooltip("to:Q", title="to", format=".2f"),
            alt.Tooltip("n:Q", title="about", format=",.0f"),
        ]
        bars = alt.Chart(data(rows)).mark_rect(color=theme.BAR, stroke="white", strokeWidth=0.5)
        chart = bars.encode(x=x, x2="to:Q", y=y, y2=alt.datum(0), tooltip=tooltip)
    else:
        ends = [row | {"q": 1.0} for row in rows if row["to"] == 1.0]  # the last one's far side
        outline = alt.Chart(data(rows + ends))
        steps = outline.mark_line(interpolate="step-after", strokeWidth=1.5)
        chart = steps.encode(x=x, y=y, color=look["color"])
    return chart


def _counts(**ticks: Any) -> "alt.Axis":
    import altair as alt

    return alt.Axis(format=",.10~g", grid=False, labelOverlap=True, minExtent=34, **ticks)
