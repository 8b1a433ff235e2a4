"""Two models on the same items: signs, coverage, and what the signature holds."""

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import calibrate, compare
from gnomon.calibration.analyse import Settings
from gnomon.calibration.ordered import adaptive, order
from gnomon.errors import InputError
from strategies import Floats, Rows, assert_same, rows, true_pairs

RNG = np.random.default_rng(0)
P = RNG.random(800)
Y = (RNG.random(800) < P).astype(np.uint8)
SOME = Settings(bin_size=50)


def test_the_first_minus_the_second() -> None:
    found = compare(P, P**2, Y, settings=SOME, names=("honest", "timid"))
    assert found.difference.value < 0
    assert found.difference.high < 0
    assert found.verdict().startswith("better calibrated: honest (95 % interval -")
    turned = compare(P**2, P, Y, settings=SOME, names=("timid", "honest"))
    assert turned.difference.value == -found.difference.value
    assert turned.difference.low == pytest.approx(-found.difference.high)
    assert turned.difference.high == pytest.approx(-found.difference.low)
    assert turned.verdict().startswith("better calibrated: honest (95 % interval +")


def test_both_results_are_those_of_calibrate() -> None:
    found = compare(P, P**2, Y, settings=SOME)
    for result, q in ((found.first, P), (found.second, P**2)):
        assert_same(result.to_dict(), calibrate(q, Y, bin_size=50).to_dict(), 0.0, but=())
    assert found.first.errors.rms_debiased - found.second.errors.rms_debiased == pytest.approx(
        found.difference.value
    )
    assert found.difference.n == 800


@pytest.mark.parametrize("q", [P, P.round(1), np.full(800, 0.3)], ids=["", "tied", "all equal"])
def test_a_model_does_not_differ_from_itself(q: Floats) -> None:
    found = compare(q, q, Y, settings=SOME)
    assert found.difference.value == 0
    assert found.difference.low <= 0 <= found.difference.high
    assert found.verdict().startswith("the difference could be chance")
    assert found.difference.high - found.difference.low < 0.03


def truth(q: Floats, p: Floats, size: int) -> float:
    bins = adaptive(order(true_pairs(q, p)), size)
    return math.sqrt(bins.weight @ bins.gap**2)


PAIRS = {
    "both wrong": (lambda p: p**2, lambda p: p**0.6),
    "one wrong": (lambda p: p, lambda p: p**1.6),
    "nearly the same": (lambda p: p**1.5, lambda p: p**1.6),
    "both right": (lambda p: p, lambda p: 0.999 * p),
    "tied": (lambda p: p.round(1), lambda p: p.round(1) ** 1.5),
    "finer and coarser": (lambda p: p, lambda p: p.round(1)),
    "skewed": (lambda p: 0.2 * p**2, lambda p: 0.4 * p**2),
}


@pytest.mark.parametrize(("first", "second"), PAIRS.values(), ids=PAIRS.keys())
def test_the_interval_covers(first: Any, second: Any) -> None:
    rng = np.random.default_rng(1)
    p = rng.random(600)
    a, b = first(p), second(p)
    p = a if a.max() < 0.5 else p
    expected = truth(a, p, 50) - truth(b, p, 50)
    above = below = 0
    for _ in range(120):
        y = (rng.random(600) < p).astype(np.uint8)
        found = compare(a, b, y, settings=SOME).difference
        assert found.low <= found.high
        above += found.low > expected + 1e-9
        below += found.high < expected - 1e-9
    assert (above + below) / 120 <= 0.12


def test_pairing_makes_the_interval_narrow() -> None:
    """Two models that share most of their error differ by little, and that little is seen."""
    found = compare(P**1.5, P**1.6, Y, settings=Settings(bin_size=80)).difference
    alone = [calibrate(q, Y, bin_size=80).calibration_error for q in (P**1.5, P**1.6)]
    assert found.high - found.low < 0.5 * sum(each.high - each.low for each in alone)


@given(rows(least=2, most=60), st.floats(0.3, 3), st.sampled_from([0.5, 0.9, 0.99]))
@settings(max_examples=100)
def test_the_estimate_is_in_its_interval(data: Rows, power: float, level: float) -> None:
    chosen = Settings(bin_size=7, level=level)
    found = compare(data.q, data.q**power, data.y, settings=chosen).difference
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9
    assert found.low >= -1
    assert found.high <= 1


def test_an_estimate_of_no_difference_is_in_its_interval() -> None:
    """Both errors are no more than noise; one of them is much less."""
    rng = np.random.default_rng(1548)
    for _ in range(300):
        p = rng.random(100)
        y = rng.random(100) < p
        found = compare(p, p**1.1, y, settings=Settings(bin_size=5)).difference
        assert found.low <= found.value <= found.high


def test_higher_levels_are_wider() -> None:
    limits = [
        compare(P, P**1.2, Y, settings=Settings(bin_size=50, level=level)).difference
        for level in (0.5, 0.8, 0.95, 0.99)
    ]
    for inner, outer in pairwise(limits):
        assert outer.low <= inner.low
        assert inner.high <= outer.high


@given(rows(least=2, most=40), st.sampled_from(["auto", 3, 8]))
@settings(max_examples=40)
def test_whole_weights_are_replication(data: Rows, size: int | str) -> None:
    chosen, other = Settings(bin_size=size), data.q**1.4
    heavy = compare(data.q, other, data.y, weight=data.times, settings=chosen).difference
    q, y = data.repeated
    long = compare(q, np.repeat(other, data.times), y, settings=chosen).difference
    assert_same(heavy.to_dict(), long.to_dict(), 1e-6)


@pytest.mark.parametrize("times", [3, 43])
def test_heavy_ties_are_replication(times: int) -> None:
    """0.7 × 3 / 3 is not 0.7 in floats, but is still the prediction of the tied rows."""
    q = np.random.default_rng(3).integers(1, 10, 300) / 10
    y = (np.random.default_rng(4).random(300) < q).astype(np.uint8)
    chosen = Settings(bin_size=40 * times)
    heavy = compare(q, q**1.2, y, weight=np.full(300, times), settings=chosen).difference
    long = compare(np.repeat(q, times), np.repeat(q**1.2, times), np.repeat(y, times),
                   settings=chosen).difference  # fmt: skip
    assert_same(heavy.to_dict(), long.to_dict(), 1e-9)


@pytest.mark.parametrize("outside", [0.0, 0.5, 1.0])
def test_rows_of_weight_zero_do_not_count(outside: float) -> None:
    q = np.append(0.1 + 0.8 * P, outside)
    y, weight = np.append(Y, 1), np.append(np.ones(800), 0)
    found = compare(q, q**2, y, weight=weight, settings=SOME).difference
    plain = compare(q[:-1], q[:-1] ** 2, Y, settings=SOME).difference
    assert_same(found.to_dict(), plain.to_dict(), 1e-9)


def test_order_of_the_input_changes_nothing() -> None:
    turned = np.random.default_rng(2).permutation(800)
    first = compare(P, P**2, Y, settings=SOME)
    second = compare(P[turned], (P**2)[turned], Y[turned], settings=SOME)
    assert_same(first.difference.to_dict(), second.difference.to_dict(), 1e-12)
    assert str(second.signature) == str(first.signature)


def test_signature_changes_with_all_that_changes_the_result() -> None:
    def signed(q: Any = P, r: Any = P**2, y: Any = Y, **options: Any) -> str:
        return str(compare(q, r, y, **({"settings": SOME} | options)).signature)

    every = [
        signed(),
        signed(r=P**3),
        signed(q=P**3),
        signed(y=1 - Y),
        signed(q=P**2, r=P),
        signed(weight=np.ones(800)),
        signed(weight=np.full(800, 2.0)),
        signed(weight=np.arange(800.0)),
        signed(settings=Settings(bin_size=51)),
        signed(settings=Settings(bin_size=50, seed=1)),
        signed(settings=Settings(bin_size=50, level=0.9)),
        signed(settings=Settings(binning="width:0.1")),
    ]
    assert len(set(every)) == len(every)


def test_json_and_text() -> None:
    found = compare(P, P**2, Y, settings=SOME, names=("a", "b"))
    fields = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(fields) == ["names", "first", "second", "difference", "signature"]
    assert fields["names"] == ["a", "b"]
    for part in ("difference of errors (a minus b, debiased)", found.verdict(),
                 str(found.signature)):  # fmt: skip
        assert part in str(found)


EDGES: dict[str, tuple[list[float], list[float], list[int]]] = {
    "one row": ([0.2], [0.4], [1]),
    "certain and right": ([1.0, 0.0] * 5, [1.0, 0.0] * 5, [1, 0] * 5),
    "one class": ([0.1, 0.2] * 5, [0.3, 0.4] * 5, [0] * 10),
    "small": ([1e-200] * 10, [1e-100] * 10, [0] * 10),
}


@pytest.mark.parametrize(("first", "second", "label"), EDGES.values(), ids=EDGES.keys())
@pytest.mark.parametrize("heavy", [False, True])
def test_edges_give_whole_results(
    first: list[float], second: list[float], label: list[int], heavy: bool
) -> None:
    weight = [0.5] * len(label) if heavy else None
    found = compare(first, second, label, weight=weight, settings=SOME)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.difference.low <= found.difference.high


@pytest.mark.parametrize("column", [list, pl.Series, pd.Series])
def test_columns_of_any_kind(column: Any) -> None:
    plain = compare(P, P**2, Y, settings=SOME).to_dict()
    found = compare(column(P), column(P**2), column(Y), settings=SOME).to_dict()
    assert_same(found, plain, 0.0, but=())


@pytest.mark.parametrize("labelled", [False, True])
def test_pandas_columns_with_different_indexes(labelled: bool) -> None:
    label = pd.Series([0, 1]) if labelled else [0, 1]
    with pytest.raises(InputError) as caught:
        compare(pd.Series([0.1, 0.2]), pd.Series([0.1, 0.2], index=[1, 0]), label, settings=SOME)
    assert caught.value.problem == "their pandas indexes differ"


def test_refused_columns_are_called_by_their_names() -> None:
    with pytest.raises(InputError) as caught:
        compare([0.1, 0.2], [0.1, 1.2], [0, 1], names=("old", "new"))
    assert caught.value.where == "new, row 2"
    with pytest.raises(InputError) as caught:
        compare([0.1, 0.2], [0.1], [0, 1], names=("old", "new"))
    assert caught.value.where == "new and label"
