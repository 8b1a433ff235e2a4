"""Estimates with their intervals: name by name, and two against their difference."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gnomon.charts import theme
from gnomon.charts.theme import Rows, data, table
from gnomon.charts.words import centre, decimal, interval
from gnomon.estimate import Estimate

if TYPE_CHECKING:
    import altair as alt

WIDEST = 800  # pixels that names side by side may take
LONGEST = 6  # letters of a name that fits below a column


def estimate_row(
    name: str, error: Estimate, *, sign: str = "", **extra: str | float
) -> dict[str, Any]:
    """A calibration error: debiased where it can be, plain, its interval, and all that in words."""
    middle, limits = centre(error), interval(error, sign)
    (numbers,) = table(error=[middle], plain=[error.value], low=[error.low], high=[error.high])
    words = {"interval": limits, "words": f"{decimal(middle, sign)} ({limits})"}
    return {"name": name} | numbers | words | extra


def stands_upright(names: Sequence[str], models: int) -> bool:
    """Whether so many names fit side by side."""
    return len(names) * _step(models) <= WIDEST and max(map(len, names)) <= LONGEST


def estimates_panel(
    rows: Rows, models: Sequence[str], *, upright: bool, roomy: bool, means: bool = False
) -> "alt.LayerChart | alt.FacetChart":
    """Errors with their intervals, name by name: side by side if `upright`, else one below another.

    A dot is the debiased error, a short tick the plain one. `roomy` leaves place for level names.
    """
    import altair as alt

    names = list(dict.fromkeys(row["name"] for row in rows))
    step = (100 if means else 48) if upright and roomy else _step(models=len(models))
    if upright and not roomy and means:
        step += 8
    along = alt.Axis(
        title=None, domain=False, ticks=False, grid=True, labelLimit=190, labelPadding=6,
        labelAngle=-90 if upright and not roomy else 0, labelColor=theme.INK,
        labelFontWeight="bold" if means else "normal",
    )  # fmt: skip
    last = means != upright  # the panel that carries the axis of both
    across = alt.Axis(
        title="calibration error" if last else None, labels=last, ticks=last, domain=False,
        tickCount=6,
    )  # fmt: skip
    named, valued = ("x", "y") if upright else ("y", "x")
    place: dict[str, Any] = {named: _in_order("name", names) | {"axis": along}}
    look: dict[str, Any] = {"color": alt.value(theme.BLUE)}
    if len(models) > 1:
        look = theme.models(models)
        place[f"{named}Offset"] = _in_order("model", models)

    def value(field: str) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "axis": across, "scale": {"zero": True}}

    base = alt.Chart(data(rows))
    bars = {valued: value("low"), f"{valued}2": {"field": "high"}, "color": look["color"]}
    ticks = {valued: value("plain"), "color": look["color"]}
    dots = {valued: value("error"), "tooltip": _tooltip(len(models), means), **look}
    steps = alt.Step(step, **{"for": "position"})
    panel = alt.layer(
        base.mark_rule(strokeWidth=1.4).encode(**place, **bars),
        base.mark_tick(thickness=1, size=6, opacity=0.8).encode(**place, **ticks),
        base.mark_point(filled=True, size=30, opacity=1).encode(**place, **dots),
    )
    if upright:
        return panel.properties(width=steps, height=260)
    return panel.properties(width=420, height=steps)


def difference_panel(
    rows: Rows, look: dict[str, Any], side: int
) -> "alt.LayerChart | alt.FacetChart":
    """Two models' errors and, in the last row, their difference, with the numbers written out."""
    import altair as alt

    axis = alt.Axis(
        title=None, domain=False, ticks=False, labelLimit=120, labelPadding=8, labelColor=theme.INK
    )
    y = _in_order("name", [row["name"] for row in rows]) | {"axis": axis}

    def x(field: str) -> "alt.X":
        axis = alt.Axis(title="calibration error, debiased", tickCount=5, domain=False)
        return alt.X(f"{field}:Q", axis=axis, scale=alt.Scale(zero=True))

    def estimates(rows: Rows, look: dict[str, Any]) -> list[Any]:
        base = alt.Chart(data(rows))
        bars = base.mark_rule(strokeWidth=1.4)
        dots = base.mark_point(filled=True, size=40, opacity=1)
        return [
            bars.encode(y=y, x=x("low"), x2="high:Q", color=look["color"]),
            dots.encode(y=y, x=x("error"), **look),
        ]

    zero = alt.Chart(data([{"low": 0}])).mark_rule(color=theme.MUTED, strokeDash=[5, 4])
    words = alt.Chart(data(rows)).mark_text(
        align="left", fontSize=11, fontStyle="normal", color=theme.INK
    )
    ink = {"color": alt.value(theme.INK), "shape": alt.value("diamond")}
    panel = alt.layer(
        zero.encode(x=x("low")),
        *estimates(rows[:-1], look),
        *estimates(rows[-1:], ink),
        words.encode(y=y, x=alt.value(side - 140), text="words:N"),
    )
    return panel.properties(width=side - 150, height=alt.Step(24))


def _in_order(field: str, names: Sequence[str]) -> dict[str, Any]:
    """Names in the order given. (Vega-Lite's `sort` would make expressions out of them.)"""
    return {"field": field, "type": "nominal", "scale": {"domain": list(names)}}


def _step(models: int) -> int:
    """The pixels that each name takes."""
    return max(15, 7 * models + 3)


def _tooltip(models: int, means: bool) -> list["alt.Tooltip"]:
    import altair as alt

    tooltip = [
        alt.Tooltip("name:N", title="average" if means else "group"),
        *([alt.Tooltip("model:N")] if models > 1 else []),
        alt.Tooltip("error:Q", title="error, debiased", format=".4f"),
        alt.Tooltip("plain:Q", title="error, plain", format=".4f"),
        alt.Tooltip("interval:N"),
    ]
    if means:
        return [*tooltip, alt.Tooltip("mean:Q", title="mean of plain errors", format=".4f")]
    return [
        *tooltip,
        alt.Tooltip("n:Q", title="predictions", format=",.10~g"),
        alt.Tooltip("rate:Q", title="base rate", format=".4f"),
    ]
