"""Charts show what the result holds, whatever it holds, and can be read."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import Calibration, Settings, calibrate, calibrate_classes, calibrate_groups, compare
from gnomon.calibration.groups import Groups
from gnomon.charts import (
    binnings_chart,
    chart_of,
    comparison_chart,
    curve_chart,
    groups_chart,
    save,
)
from gnomon.charts.panels import COLUMNS, MOST_BINS, histogram_rows
from gnomon.charts.save import svg
from gnomon.errors import InputError

RNG = np.random.default_rng(7)
UNIFORM = RNG.random(4000)
SKEWED = 1.0 / (1.0 + np.exp(-RNG.normal(-6.0, 3.0, 4000)))
TIED = RNG.choice([0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0], 600)
# Names that break out of strings, expressions and elements, or are not fit for XML.
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a'b\"c\\d`e${f}",
    "line\u2028separator\u2029here",
    "control \x00\x07 characters",
    "Ελληνικά 中文 עברית 🌍",
    "datum.name",
    "long " * 60,
    " ",
]

RESULTS: dict[str, Callable[[], Calibration]] = {
    "one row": lambda: calibrate([0.3], [1]),
    "two rows": lambda: calibrate([0.3, 0.6], [0, 1]),
    "all equal": lambda: calibrate([0.7] * 500, [1] * 300 + [0] * 200),
    "certain and right": lambda: calibrate([0.0] * 30 + [1.0] * 20, [0] * 30 + [1] * 20),
    "certain and wrong": lambda: calibrate([0.0] * 30 + [1.0] * 20, [1] * 30 + [0] * 20),
    "one bin": lambda: calibrate(UNIFORM, UNIFORM > 0.5, bin_size=4000),
    "no region": lambda: calibrate(UNIFORM, np.random.default_rng(1).random(4000) < UNIFORM),
    "regions": lambda: calibrate(UNIFORM, np.random.default_rng(1).random(4000) < UNIFORM**2),
    "skewed": lambda: calibrate(SKEWED, np.random.default_rng(1).random(4000) < SKEWED**0.7),
    "tied": lambda: calibrate(TIED, np.random.default_rng(1).random(600) < TIED - 0.2),
    "weighted": lambda: calibrate(UNIFORM, UNIFORM > 0.4, weight=UNIFORM * 10),
    "tiny weights": lambda: calibrate(UNIFORM[:50], UNIFORM[:50] > 0.4, weight=[1e-3] * 50),
    "equal width": lambda: calibrate(SKEWED, SKEWED > 0.3, binning="width:0.02"),
    "2,000 bins": lambda: calibrate(UNIFORM, UNIFORM > 0.5, bin_size=2),
    "4,000 bins": lambda: calibrate(UNIFORM, UNIFORM > 0.5, bin_size=1),
}


def rows_of(chart: Any) -> list[list[dict[str, Any]]]:
    """The data sets of a chart."""
    return [rows for rows in chart.to_dict()["datasets"].values() if rows]


def points(chart: Any) -> list[dict[str, Any]]:
    """The bins that a chart shows."""
    return next(rows for rows in rows_of(chart) if "interval" in rows[0])


def texts(node: Any) -> Iterator[dict[str, Any]]:
    """Every visible piece of text in a drawn chart, with its place."""
    if isinstance(node, dict):
        if isinstance(node.get("text"), str) and node.get("opacity", 1) > 0:
            yield node
        for each in node.values():
            yield from texts(each)
    elif isinstance(node, list):
        for each in node:
            yield from texts(each)


def groups_of(count: int, name: Callable[[int], str], seed: int = 0) -> Groups:
    """So many groups of 60 predictions each, fewer positive labels from one to the next."""
    rng = np.random.default_rng(seed)
    q = rng.random(60 * count)
    order = np.repeat(np.arange(count), 60)
    y = rng.random(len(q)) < q * (1 - 0.5 * order / count)
    return calibrate_groups(q, y, [name(k) for k in order.tolist()])


@pytest.mark.parametrize("name", RESULTS)
def test_a_curve_is_drawn_for_every_kind_of_predictions(name: str) -> None:
    result = RESULTS[name]()
    chart = curve_chart(result)
    json.dumps(chart.to_dict(), allow_nan=False)
    drawn = ElementTree.fromstring(svg(chart))
    assert float(drawn.attrib["width"]) < 560
    shown = points(chart)
    assert len(shown) == min(len(result.bins), MOST_BINS)
    at = np.unique(np.linspace(0, len(result.bins) - 1, len(shown)).round().astype(int))
    for field, values in {
        "n": result.bins.n, "q": result.curve.q, "p": result.curve.p,
        "low": result.curve.low, "high": result.curve.high,
    }.items():  # fmt: skip
        np.testing.assert_allclose([row[field] for row in shown], values[at], rtol=1e-6, atol=1e-12)


def test_the_title_says_what_is_seen_and_the_subtitle_how_sure() -> None:
    result = RESULTS["all equal"]()
    title = curve_chart(result).to_dict()["title"]
    assert title["text"] == ["Overconfident throughout"]
    error = result.calibration_error
    assert f"95 % interval {error.low:.4f} to {error.high:.4f}" in " ".join(title["subtitle"])


def test_a_long_verdict_is_folded() -> None:
    q = np.linspace(0.0, 1.0, 20_000)
    y = np.random.default_rng(0).random(len(q)) < np.clip(q + 0.2 * np.sin(12 * q), 0, 1)
    result = calibrate(q, y)
    lines = curve_chart(result).to_dict()["title"]["text"]
    assert len(lines) > 1
    assert max(map(len, lines)) <= 60
    assert " ".join(lines).lower() == result.verdict()


def test_bins_beyond_what_a_panel_shows_are_owned_up_to() -> None:
    chart = curve_chart(RESULTS["4,000 bins"]())
    assert len(points(chart)) == MOST_BINS
    assert "2,000 of them drawn" in " ".join(chart.to_dict()["title"]["subtitle"])


def test_each_region_is_shaded_in_both_panels() -> None:
    result = RESULTS["skewed"]()
    assert result.regions
    shades = [layer for panel in curve_chart(result).to_dict()["vconcat"]
              for layer in panel["layer"] if layer["mark"]["type"] == "rect"
              and "fillOpacity" in layer["mark"]]  # fmt: skip
    assert len(shades) == 2 * len(result.regions)


def test_the_smooth_curve_ends_where_the_predictions_end() -> None:
    result = RESULTS["tied"]()
    curves = [
        rows for rows in rows_of(curve_chart(result)) if set(rows[0]) == {"q", "p", "low", "high"}
    ]
    assert min(row["q"] for rows in curves for row in rows) > 0.59


def test_a_curve_that_is_not_there_is_not_in_the_legend() -> None:
    names = [row["name"] for rows in rows_of(curve_chart(RESULTS["one row"]()))
             for row in rows if "name" in row]  # fmt: skip
    assert names == ["bins, 95 % interval", "calibrated"]


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 0.9, 1.0]) | st.floats(1e-6, 1), min_size=1,
             max_size=60),
    st.integers(1, 30),
)  # fmt: skip
@settings(max_examples=60)
def test_the_histogram_loses_no_prediction(q: list[float], size: int) -> None:
    result = calibrate(q, [k % 2 for k in range(len(q))], bin_size=size)
    rows = histogram_rows(result.bins)
    assert sum(row["n"] for row in rows) == pytest.approx(len(q), rel=1e-4)
    assert min(row["n"] for row in rows) >= 0
    first, last = min(q), max(q)
    outside = [row["n"] for row in rows if row["to"] < first - 1e-6 or row["q"] > last + 1e-6]
    assert sum(outside) == pytest.approx(0, abs=1e-5)


def test_the_histogram_of_single_predictions_is_numpys() -> None:
    q = RNG.random(300)
    rows = histogram_rows(calibrate(q, q > 0.5, bin_size=1).bins)
    expected, _ = np.histogram(q, bins=COLUMNS, range=(0, 1))
    np.testing.assert_allclose([row["n"] for row in rows], expected, atol=1e-4)


def test_ties_stand_where_they_are() -> None:
    rows = histogram_rows(calibrate(TIED, TIED > 0.8, bin_size=37).bins)
    full = {round(row["q"], 2): row["n"] for row in rows if row["n"] > 20}
    counts = {value: int(np.sum(value == TIED)) for value in (0.7, 0.8, 0.9)}
    assert {value: round(full[value]) for value in counts} == counts


def test_skewed_predictions_are_counted_on_a_log_scale() -> None:
    def scale(result: Calibration) -> str:
        layers = curve_chart(result).to_dict()["vconcat"][1]["layer"]
        return str(layers[-1]["encoding"]["y"].get("scale", {}).get("type", "linear"))

    assert scale(RESULTS["skewed"]()) == "symlog"
    assert scale(RESULTS["no region"]()) == scale(RESULTS["tied"]()) == "linear"


def test_binnings_stand_side_by_side_under_their_names() -> None:
    results = {name: RESULTS[name]() for name in ("skewed", "equal width", "one row")}
    spec = binnings_chart(results).to_dict()
    assert len(spec["concat"]) == 4
    assert [panel["title"]["text"] for panel in spec["concat"]] == [
        ["Where the predictions lie"], ["Skewed"], ["Equal width"], ["One row"]
    ]  # fmt: skip
    ElementTree.fromstring(svg(binnings_chart(results)))


def test_groups_come_most_frequent_first_and_averages_last() -> None:
    groups = groups_of(12, lambda k: f"g{k}")
    first, last = groups_chart(groups).to_dict()["concat"]
    assert first["layer"][0]["encoding"]["x"]["scale"]["domain"] == [r.name for r in groups.rows]
    assert last["layer"][0]["encoding"]["x"]["scale"]["domain"] == ["RMS, top 5", "RMS, all 12"]


def test_a_group_shows_its_debiased_error_plain_error_and_interval() -> None:
    groups = groups_of(3, lambda k: f"g{k}")
    rows = {row["name"]: row for rows in rows_of(groups_chart(groups)) for row in rows}
    for group in groups.rows:
        error, row = group.calibration_error, rows[group.name]
        assert error.debiased is not None
        expected = [error.debiased, error.value, error.low, error.high]
        found = [row["error"], row["plain"], row["low"], row["high"]]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    rms = groups.averages[-1].rms
    assert rows["RMS, all 3"]["error"] == pytest.approx(rms.debiased)


@pytest.mark.parametrize(
    ("count", "name", "upright"),
    [
        (5, lambda k: f"g{k}", True),
        (47, lambda k: f"T{k}", True),
        (100, lambda k: f"g{k}", False),
        (5, lambda k: f"a long name for {k}", False),
    ],
    ids=["5", "47", "100", "long names"],
)
def test_group_names_are_all_there_and_do_not_overlap(
    count: int, name: Callable[[int], str], upright: bool
) -> None:
    models = {"HMM": groups_of(count, name), "CRF": groups_of(count, name, seed=1)}
    chart = groups_chart(models)
    scene = vl_convert.vegalite_to_scenegraph(chart.to_dict())
    wanted = {name(k) for k in range(count)}
    labels = [each for each in texts(scene) if each["text"] in wanted]
    assert {each["text"] for each in labels} == wanted
    across = sorted(each["x" if upright else "y"] for each in labels)
    assert np.diff(across).min() >= 12
    width = float(ElementTree.fromstring(svg(chart)).attrib["width"])
    assert width < 960  # a page can show it without shrinking it


def test_of_many_groups_the_most_frequent_are_drawn() -> None:
    groups = groups_of(120, lambda k: f"g{k}")
    spec = groups_chart(groups).to_dict()
    drawn = spec["concat"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert drawn == [row.name for row in groups.rows[:100]]
    assert "The 100 most frequent of 120 groups." in " ".join(spec["title"]["subtitle"])
    assert len(groups_chart(groups, most=7).to_dict()["concat"]) == 2


def test_models_need_not_have_the_same_groups() -> None:
    models = {"a": groups_of(3, lambda k: f"g{k}"), "b": groups_of(4, lambda k: f"h{k}")}
    spec = groups_chart(models).to_dict()
    assert len(spec["concat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"]) == 7
    ElementTree.fromstring(svg(groups_chart(models)))


def test_a_comparison_shows_both_curves_and_the_signed_difference() -> None:
    y = np.random.default_rng(3).random(4000) < UNIFORM
    result = compare(UNIFORM, UNIFORM**2, y, names=("honest", "timid"))
    chart = comparison_chart(result)
    ElementTree.fromstring(svg(chart))
    words = {row["name"]: row["words"] for rows in rows_of(chart) for row in rows if "words" in row}
    d = result.difference
    assert list(words) == ["honest", "timid", "difference"]
    assert words["difference"] == f"{d.value:+.4f} ({d.low:+.4f} to {d.high:+.4f})"
    shown = [rows for rows in rows_of(chart) if "interval" in rows[0] and "n" in rows[0]]
    assert {rows[0]["model"] for rows in shown} == {"honest", "timid"}
    assert "Better calibrated: honest" in " ".join(chart.to_dict()["title"]["text"])


def test_two_models_of_one_name_stay_two() -> None:
    chart = comparison_chart(compare([0.2, 0.8], [0.3, 0.9], [0, 1], names=("m", "m")))
    names = {row["model"] for rows in rows_of(chart) for row in rows if row.get("model")}
    assert names == {"m", "m (second)"}


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_any_name_can_be_drawn(name: str) -> None:
    q, y = [0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1]
    result = calibrate(q, y)
    groups = calibrate_groups(q, y, [name, name, "other", "other"])
    for chart in (
        groups_chart(groups),
        groups_chart({name: groups, "other": groups}),
        comparison_chart(compare(q, q, y, names=(name, "other"))),
        binnings_chart({name: result}),
    ):
        drawn = ElementTree.fromstring(svg(chart))
        tags = {element.tag.rpartition("}")[2] for element in drawn.iter()}
        assert not tags & {"script", "img", "image", "foreignObject", "a"}


def test_classes_have_one_chart_of_both_parts() -> None:
    q = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.6, 0.3, 0.1]]
    chart = chart_of(calibrate_classes(q, [0, 1, 1, 0]))
    assert len(chart.to_dict()["hconcat"]) == 2
    ElementTree.fromstring(svg(chart))


def test_the_charts_for_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="results: there are none; give one or more"):
        binnings_chart({})
    with pytest.raises(InputError, match="groups: there are none; give one or more models"):
        groups_chart({})
    groups = groups_of(2, lambda k: f"g{k}")
    with pytest.raises(InputError, match="models: 8 in one chart; give at most 7 at a time"):
        groups_chart({f"m{k}": groups for k in range(8)})


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_the_level_is_named_wherever_an_interval_is(level: float) -> None:
    result = calibrate(UNIFORM, UNIFORM > 0.4, level=level)
    assert f"{100 * level:.4g} % interval" in json.dumps(curve_chart(result).to_dict())
    groups = calibrate_groups([0.2, 0.8], [0, 1], ["a", "b"], settings=Settings(level=level))
    assert f"{100 * level:.4g} % interval" in json.dumps(groups_chart(groups).to_dict())


@pytest.mark.parametrize("suffix", [".html", ".svg", ".png", ".json", ".PNG"])
def test_a_chart_is_saved_by_its_suffix(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"curve{suffix}"
    save(curve_chart(RESULTS["two rows"]()), file)
    data = file.read_bytes()
    if suffix.lower() == ".png":
        width = int.from_bytes(data[16:20], "big")
        assert data.startswith(b"\x89PNG")
        assert 900 < width < 1200  # twice the pixels of a 500-pixel chart
    elif suffix == ".svg":
        assert ElementTree.fromstring(data).tag.endswith("svg")
    elif suffix == ".json":
        assert "vega-lite" in json.loads(data)["$schema"]
    else:
        assert data.startswith(b"<!doctype html>")
        assert data.count(b"<script>") == 2
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_an_unknown_suffix_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    file = tmp_path / "curve.jpeg"
    with pytest.raises(InputError) as caught:
        save(curve_chart(RESULTS["two rows"]()), file)
    assert str(caught.value) == (
        f"{file}: '.jpeg' is not a kind of chart we write; use .html, .svg, .png or .json"
    )
    assert not list(tmp_path.iterdir())


def test_a_chart_of_ones_own_can_be_saved(tmp_path: Path) -> None:
    import altair as alt

    own = alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    save(own, tmp_path / "own.html")
    save(own.properties(title="Mine & yours"), tmp_path / "titled.html")
    assert "<title>Chart</title>" in (tmp_path / "own.html").read_text()
    assert "<title>Mine &amp; yours</title>" in (tmp_path / "titled.html").read_text()


def test_importing_charts_does_not_import_the_drawing_libraries() -> None:
    code = (
        "import sys, gnomon.charts, gnomon.report;"
        "print({'altair', 'vl_convert', 'polars', 'jinja2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "set()", done.stderr
