"""Charts as files, all made without a network: HTML, SVG, PNG, and the Vega-Lite specification."""

import base64
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.errors import InputError
from gnomon.tables import write_bytes, write_text

if TYPE_CHECKING:
    from altair.typing import ChartType

SUFFIXES = (".html", ".svg", ".png", ".json")
PNG_SCALE = 2.0
# What a name may hold, but neither XML nor the renderer, which control characters would crash.
UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\u2028\u2029\ud800-\udfff\ufffe\uffff]")

# Draws every figure that names a block of data, over the still picture already there. `ast` has
# Vega interpret its expressions, so that the page can forbid making scripts out of text.
DRAW = """
"use strict";
for (const figure of document.querySelectorAll("figure[data-chart]")) {
  const block = document.getElementById(figure.dataset.chart);
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const place = figure.querySelector(".live");
  window.vegaEmbed(place, JSON.parse(block.textContent), {
    renderer: "svg",
    ast: true,
    actions: {export: true, source: false, compiled: false, editor: false},
    tooltip: {theme: dark ? "dark" : "light"},
    downloadFileName: figure.dataset.chart,
  }).then(
    () => figure.classList.add("drawn"),
    (error) => { place.replaceChildren(); console.error(error); },
  );
}
"""

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>figure {{ margin: 1em }} .drawn > .still {{ display: none }}</style>
<figure data-chart="chart">
<div class="live"></div>
<img class="still" alt="{description}" src="{picture}">
</figure>
<script type="application/json" id="chart">{data}</script>
{scripts}
</html>
"""


def save(chart: "ChartType", path: str | Path) -> None:
    """Writes a chart, whole or not at all; the suffix says how: .html, .svg, .png or .json.

    HTML is one interactive file that needs no network; PNG has twice the pixels, for print; JSON is
    the Vega-Lite specification.

    >>> from gnomon import calibrate
    >>> from gnomon.charts import curve_chart
    >>> save(curve_chart(calibrate([0.1, 0.8], [0, 1])), "curve.gif")
    Traceback (most recent call last):
    gnomon.errors.InputError: curve.gif: '.gif' is not a kind of chart we write; use .html, .svg,
    .png or .json
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".html":
        write_text(path, _page(chart))
    elif suffix == ".svg":
        write_text(path, svg(chart))
    elif suffix == ".png":
        write_bytes(path, png(chart))
    elif suffix == ".json":
        write_text(path, json.dumps(specification(chart), ensure_ascii=False, indent=1) + "\n")
    else:
        *most, last = SUFFIXES
        problem = f"{suffix!r} is not a kind of chart we write"
        raise InputError(str(path), problem, f"use {', '.join(most)} or {last}")


def specification(chart: "ChartType") -> dict[str, Any]:
    """The chart as a Vega-Lite specification, with � for characters that cannot be drawn."""
    spec: dict[str, Any] = _drawable(chart.to_dict())
    return spec


def svg(chart: "ChartType") -> str:
    """The chart as a still picture."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(specification(chart), vl_version=_version()))


def png(chart: "ChartType") -> bytes:
    """The chart as pixels."""
    import vl_convert

    spec = specification(chart)
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=_version(), scale=PNG_SCALE))


def picture(chart: "ChartType") -> str:
    """The chart as the address of a still picture that the address itself contains."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg(chart).encode()).decode()


def data_block(chart: "ChartType") -> str:
    """The specification as JSON that is safe inside a `script` element, whatever names it holds."""
    spec = specification(chart)
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&":  # these occur within strings only
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def scripts() -> tuple[str, str]:
    """The libraries (Vega, Vega-Lite, Vega-Embed) and `DRAW`, to go into a page in this order."""
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return f"(function () {{{bundle}\n}})();", DRAW


@cache
def security_policy() -> str:
    """What a page with these `scripts` may do: run them, and fetch nothing."""
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts()]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"


def _page(chart: "ChartType") -> str:
    spec = specification(chart)
    title = spec.get("title", "Chart")
    words = title["text"] if isinstance(title, dict) else title
    return PAGE.format(
        policy=security_policy(),
        title=html.escape(words if isinstance(words, str) else " ".join(words)),
        description=html.escape(spec.get("description", "A chart.")),
        picture=picture(chart),
        data=data_block(chart),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts()),
    )


def _drawable(value: Any) -> Any:
    if isinstance(value, str):
        return UNDRAWABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_drawable(key): _drawable(each) for key, each in value.items()}
    return [_drawable(each) for each in value] if isinstance(value, list | tuple) else value


def _version() -> str:
    """The Vega-Lite that Altair writes for, as vl-convert names it."""
    import altair

    return ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
