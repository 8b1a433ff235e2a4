"""A page is whole in one file, says what the results say, and trusts no name it is given."""

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from gnomon import (
    Calibration,
    InputError,
    __version__,
    calibrate,
    calibrate_classes,
    calibrate_groups,
    compare,
)
from gnomon.calibration.multiclass import Multiclass
from gnomon.report import calibration_page
from gnomon.report.glossary import COMPARISON, CURVE, GROUPS, MEANINGS
from gnomon.report.page import Result

RNG = np.random.default_rng(5)
Q = RNG.random(3000)
Y = RNG.random(3000) < Q**1.5
RESULT = calibrate(Q, Y)
GROUPS_RESULT = calibrate_groups(Q[:90], Y[:90], ["a", "b", "c"] * 30)
COMPARED = compare(Q, Q**1.5, Y, names=("before", "after"))
CLASSES = calibrate_classes(np.stack([Q, 1 - Q], axis=1), 1 - Y.astype(int), classes=["yes", "no"])
KINDS: dict[str, Result] = {
    "calibration": RESULT,
    "groups": GROUPS_RESULT,
    "comparison": COMPARED,
    "classes": CLASSES,
}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u2028"


class Page(HTMLParser):
    """The elements of a page, the text in each, and everything it would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.open: list[str] = []
        self.shown: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data
            if self.open[-1] == "script":
                self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
            elif self.open[-1] != "style":
                self.shown.append(data)

    def values(self, tag: str, name: str) -> list[str]:
        return [value for t, n, value in self.attributes if (t, n) == (tag, name)]

    @property
    def code(self) -> list[str]:
        """The scripts that would run."""
        return [text for attributes, text in self.scripts if "type" not in attributes]

    @property
    def blocks(self) -> list[str]:
        """The blocks of data."""
        return [text for attributes, text in self.scripts if "type" in attributes]

    @property
    def words(self) -> str:
        """The text that a reader sees."""
        return " ".join(" ".join(self.shown).split())


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def page(kind: str) -> Page:
    return Page(calibration_page(KINDS[kind], title=f"{kind}.csv"))


def test_nothing_is_fetched(page: Page) -> None:
    fetching = ("src", "href", "srcset", "poster", "action", "formaction", "data", "background")
    found = [value for _, name, value in page.attributes if name in fetching]
    assert found
    assert all(value.startswith(("data:image/svg+xml;base64,", "#")) for value in found)
    assert not set(page.tags) & {"link", "iframe", "object", "embed", "base", "form"}
    for style in page.texts["style"]:
        assert "url(" not in style
        assert "@import" not in style


def test_only_our_own_scripts_may_run_and_nothing_may_be_loaded(page: Page) -> None:
    assert len(page.code) == 2
    policy = page.attributes[[n for _, n, _ in page.attributes].index("content")][2]
    assert policy.startswith("default-src 'none';")
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    assert allowed == [
        base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in page.code
    ]
    assert "unsafe-eval" not in policy
    assert "http" not in policy


def test_the_libraries_are_inlined_once_however_many_charts() -> None:
    one = calibration_page(RESULT, title="one")
    many = calibration_page({f"model {k}": RESULT for k in range(4)}, title="many")
    assert len(Page(many).blocks) == 5
    assert len(Page(many).code) == len(Page(one).code) == 2


def test_each_chart_has_data_a_still_picture_and_words(page: Page) -> None:
    names = page.values("figure", "data-chart")
    assert names == [attributes["id"] for attributes, _ in page.scripts if "id" in attributes]
    assert len(names) == page.tags["img"] == len(set(names))
    for block in page.blocks:
        assert "vega-lite" in json.loads(block)["$schema"]
    for source in page.values("img", "src"):
        picture = base64.b64decode(source.partition(",")[2])
        assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    assert all(len(words) > 40 for words in page.values("img", "alt"))


def test_the_page_can_be_read_by_a_screen_reader(page: Page) -> None:
    assert page.values("html", "lang") == ["en"]
    assert page.tags["h1"] == page.tags["title"] == page.tags["main"] == 1
    assert page.tags["h2"] == page.tags["section"] >= 2
    assert len(page.values("section", "aria-labelledby")) == page.tags["section"]
    headings = set(page.values("h2", "id"))
    assert set(page.values("section", "aria-labelledby")) == headings
    assert {link.removeprefix("#") for link in page.values("a", "href")} <= headings
    assert page.tags["th"] == len(page.values("th", "scope"))
    assert page.tags["thead"] == page.tags["table"] > 0


def test_the_page_names_its_data_its_version_and_how_to_get_the_numbers_again(
    page: Page, kind: str
) -> None:
    assert page.texts["h1"] == page.texts["title"] == [f"{kind}.csv"]
    assert f"Made by Gnomon {__version__}." in page.words
    result = KINDS[kind]
    if isinstance(result, Multiclass):
        assert page.texts["code"] == [str(result.top.signature), str(result.classes.signature)]
    else:
        assert str(result.signature) in page.texts["code"]


def test_the_same_results_give_the_same_page() -> None:
    assert calibration_page(COMPARED, title="t") == calibration_page(COMPARED, title="t")


def test_the_headline_is_the_result() -> None:
    words = Page(calibration_page(RESULT, title="t")).words
    error = RESULT.calibration_error
    assert error.debiased is not None
    assert f"95 % interval {error.low:.4f} to {error.high:.4f}" in words
    assert (
        f"Typically, the observed frequency is {error.debiased:.4f} away from the predicted"
        " probability" in words
    )
    assert "That is more than chance would make it." in words
    assert RESULT.verdict().capitalize() + "." in words
    for part in ("calibration", "refinement", "within_bin", "brier"):
        assert f"{getattr(RESULT.decomposition, part):.6f}" in words
    for test in RESULT.tests:
        assert f"{test.statistic:.2f}" in words


def test_the_headline_number_is_the_one_that_the_interval_is_about() -> None:
    result = calibrate(Q, Y, interval="simulation", draws=200)
    words = Page(calibration_page(result, title="t")).words
    assert f"the observed frequency is {result.calibration_error.value:.4f} away" in words


def test_a_calibrated_model_is_not_accused() -> None:
    q = np.random.default_rng(0).random(2000)
    result = calibrate(q, np.random.default_rng(1).random(2000) < q)
    words = Page(calibration_page(result, title="t")).words
    assert "Perfect calibration is not ruled out." in words
    assert "A calibrated model could well do this." in words
    assert "No range of predictions is reliably over- or underconfident." in words


def test_every_bin_is_in_a_table_that_is_folded_when_long() -> None:
    few = calibrate(Q, Y, bin_size=300)
    page = Page(calibration_page(few, title="t"))
    assert page.tags["details"] == 0
    assert f"{few.curve.low[3]:.4f} to {few.curve.high[3]:.4f}" in page.texts["td"]
    many = Page(calibration_page(calibrate(Q, Y, bin_size=100), title="t"))
    assert many.texts["summary"] == ["Bins (30 rows)"]
    assert many.tags["tr"] - page.tags["tr"] == 20


def test_of_more_bins_than_can_be_read_some_are_shown() -> None:
    words = Page(calibration_page(calibrate(Q, Y, bin_size=1), title="t")).words
    assert "2,000 of 3,000 bins, evenly spaced." in words


@pytest.mark.parametrize(
    ("q", "y", "expected"),
    [
        ([0.3], [1], "Predictions 1 in 1 bin"),
        ([0.7] * 500, [1] * 300 + [0] * 200, "Overconfident throughout."),
        ([0.0, 1.0, 1.0], [1, 1, 1], "Log loss ∞"),
        ([0.0, 0.0, 1.0], [0, 0, 1], "Log loss 0.0000"),
        ([0.2, 0.4], [0, 0], "no skill is defined"),
        ([0.2, 0.4], [1, 1], "Every label is 1"),
    ],
)
def test_extreme_results_have_a_page(q: list[float], y: list[int], expected: str) -> None:
    assert expected in Page(calibration_page(calibrate(q, y), title="t")).words


def test_hostile_names_stay_text() -> None:
    q, y = [0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1]
    groups = calibrate_groups(q, y, [HOSTILE, HOSTILE, "x", "y"])
    result = calibrate(q, y)
    names = (HOSTILE, "plain")
    classes = [HOSTILE, "b"]
    matrix = [[0.2, 0.8], [0.6, 0.4]]
    pages = [
        calibration_page(result, title=HOSTILE),
        calibration_page(groups, title=HOSTILE),
        calibration_page({HOSTILE: groups, "x": groups}, title=HOSTILE),
        calibration_page({HOSTILE: result, "x": result}, title=HOSTILE),
        calibration_page(compare(q, q, y, names=names), title=HOSTILE),
        calibration_page(calibrate_classes(matrix, [1, 0], classes=classes), title=HOSTILE),
    ]
    for text in pages:
        page = Page(text)
        assert page.texts["h1"] == [HOSTILE]
        assert len(page.code) == 2
        assert page.tags["img"] == page.tags["figure"]
        assert not [name for _, name, _ in page.attributes if name.startswith("on")]
        for block in page.blocks:
            json.loads(block)
    assert HOSTILE in Page(pages[1]).texts["th"]


def test_a_title_that_is_not_text_does_not_stop_the_page() -> None:
    text = calibration_page(RESULT, title="caf\udce9.csv")
    assert "<h1>caf?.csv</h1>" in text
    text.encode()


def test_groups_of_several_models_share_a_chart() -> None:
    page = Page(calibration_page({"HMM": GROUPS_RESULT, "CRF": GROUPS_RESULT}, title="t"))
    assert len(page.blocks) == 1
    assert page.texts["th"].count("HMM") == len(GROUPS_RESULT.rows) + len(GROUPS_RESULT.averages)
    alone = Page(calibration_page({"HMM": GROUPS_RESULT}, title="t"))
    assert alone.texts["h2"][0] == "HMM"
    eight = Page(calibration_page({f"m{k}": GROUPS_RESULT for k in range(8)}, title="t"))
    assert len(eight.blocks) == 8  # one chart cannot tell so many apart


def test_results_for_the_same_predictions_are_put_side_by_side() -> None:
    wide = calibrate(Q, Y, binning="width:0.1")
    same = Page(calibration_page({"adaptive": RESULT, "wide": wide}, title="t"))
    assert same.texts["h2"] == ["Side by side", "adaptive", "wide", "What the numbers mean"]
    other: dict[str, Calibration] = {"adaptive": RESULT, "others": calibrate(Q[:50], Y[:50])}
    assert Page(calibration_page(other, title="t")).texts["h2"][0] == "adaptive"


def test_results_of_different_kinds_can_share_a_page() -> None:
    page = Page(calibration_page(KINDS, title="t"))
    headings = page.texts["h2"]
    assert headings[:2] == ["calibration", "groups"]
    assert headings[2:5] == ["Comparison", "before", "after"]
    assert headings[-2:] == ["Class by class", "What the numbers mean"]


def test_a_page_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="results: there are none; give one or more"):
        calibration_page({}, title="t")


def test_every_term_that_a_page_explains_has_a_meaning() -> None:
    assert {*CURVE, *GROUPS, *COMPARISON} == set(MEANINGS)
