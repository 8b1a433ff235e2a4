"""How all charts look: colours that colour-blind readers can tell apart, and little else.

Models differ by shape as well as by colour, so that charts survive grey-scale printing.
"""

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from gnomon.errors import InputError

if TYPE_CHECKING:
    import altair as alt

Rows = list[dict[str, Any]]

INK = "#222222"
MUTED = "#5f5f5f"
PALE = "#e9e9e9"
BAR = "#b4bcc4"
BLUE = "#0072b2"
# Tints for ranges of predictions, and the same hues dark enough for text.
TINTS = {"overconfident": "#d55e00", "underconfident": "#56b4e9"}
TINTS_OF_TEXT = {"overconfident": "#a64900", "underconfident": "#00629b"}

# Okabe & Ito (2008), in an order that keeps neighbours apart in grey, too.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#222222")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke")

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"


def config() -> dict[str, Any]:
    """The Vega-Lite configuration that every chart carries."""
    return {
        "background": "white",
        "font": FONT,
        "padding": 8,
        "mark": {"aria": False},  # the chart has a description; thousands of labels help nobody
        "text": {"fontSize": 12, "fontStyle": "italic"},
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": INK,
            "fontSize": 15,
            "fontWeight": 600,
            "lineHeight": 19,
            "offset": 14,
            "subtitleColor": MUTED,
            "subtitleFontSize": 12,
            "subtitleLineHeight": 16,
            "subtitlePadding": 6,
        },
        "axisX": {"labelFlush": False},
        "axis": {
            "domainColor": MUTED,
            "gridColor": PALE,
            "labelColor": MUTED,
            "labelFontSize": 11,
            "tickColor": MUTED,
            "tickSize": 4,
            "titleColor": INK,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
        "legend": {
            "orient": "top",
            "title": None,
            "columnPadding": 18,
            "labelColor": INK,
            "labelFontSize": 12,
            "labelLimit": 220,
            "offset": 10,
            "symbolSize": 90,
        },
    }


def title(
    words: str, below: Sequence[str] = (), *, width: int = 60, small: bool = False
) -> "alt.TitleParams":
    """A sentence, folded to `width` letters, and quieter lines below it."""
    import altair as alt

    lines = textwrap.wrap(words[:1].upper() + words[1:], width) or [""]
    size: dict[str, Any] = {"fontSize": 13, "offset": 8} if small else {}
    if below:
        size["subtitle"] = [line for text in below for line in textwrap.wrap(text, width * 5 // 4)]
    return alt.TitleParams(text=lines, **size)


def data(rows: Rows) -> dict[str, Any]:
    """Rows as the data of a chart.

    A dictionary and a tuple, because Altair would copy a list, and check it, layer after layer.
    """
    return {"values": tuple(rows)}


def table(**columns: ArrayLike) -> Rows:
    """Columns of numbers as rows, to the seven digits that a picture could ever show.

    >>> table(q=[0.25, 1 / 3], p=[0.5, float("inf")])
    [{'q': 0.25, 'p': 0.5}, {'q': 0.3333333, 'p': None}]
    """
    import numpy as np

    arrays = [np.asarray(column, np.float64).tolist() for column in columns.values()]
    return [
        {
            name: float(f"{value:.7g}") if math.isfinite(value) else None
            for name, value in zip(columns, row, strict=True)
        }
        for row in zip(*arrays, strict=True)
    ]


def models(names: Sequence[str]) -> dict[str, Any]:
    """The colour and shape that tell models apart, for the field `model`; a legend if needed."""
    import altair as alt

    if len(names) > len(COLOURS):
        raise InputError(
            "models", f"{len(names)} in one chart", f"give at most {len(COLOURS)} at a time"
        )
    legend = alt.Legend(columns=3, symbolOpacity=1) if len(names) > 1 else None
    ranges = {"color": COLOURS, "shape": SHAPES}
    return {
        channel: {
            "field": "model",
            "type": "nominal",
            "legend": legend,
            "scale": alt.Scale(domain=list(names), range=list(values[: len(names)])),
        }
        for channel, values in ranges.items()
    }
