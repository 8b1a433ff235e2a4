"""Tests of calibration: their formulas, their series, and how often they cry wolf."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.calibration.ordered import Cells, order
from gnomon.calibration.pairs import Pairs
from gnomon.calibration.tests import (
    TestOfCalibration,
    kuiper,
    range_of_brownian_motion,
    spiegelhalter,
)
from strategies import Floats, Labels, Rows, rows

Test: TypeAlias = Callable[[Cells], TestOfCalibration]


def cells_of(q: Floats, y: Labels) -> Cells:
    return order(Pairs(q, y)).cells


@given(rows(most=60, kind="continuous"))
@settings(max_examples=150)
def test_spiegelhalter_by_its_formula(data: Rows) -> None:
    """Spiegelhalter (1986): Σ(y - q)(1 - 2q) over the root of Σ(1 - 2q)² q(1 - q)."""
    q, y = data.q, data.y
    found = spiegelhalter(cells_of(q, y))
    variance = float(np.sum((1 - 2 * q) ** 2 * q * (1 - q)))
    if variance < 1e-9:
        return
    z = float(np.sum((y - q) * (1 - 2 * q))) / math.sqrt(variance)
    assert found.name == "spiegelhalter"
    assert found.statistic == pytest.approx(z, rel=1e-9, abs=1e-9)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-7, abs=1e-12)


def test_spiegelhalters_sign() -> None:
    """Positive where predictions are too bold, negative where they are too timid."""
    bold = cells_of(np.repeat([0.9, 0.1], 100), np.tile([0, 1], 100).astype(np.uint8))
    assert spiegelhalter(bold).statistic > 5
    timid = cells_of(np.repeat([0.6, 0.4], 100), np.repeat([1, 0], 100).astype(np.uint8))
    assert spiegelhalter(timid).statistic < -3


@given(rows(most=60))
@settings(max_examples=150)
def test_kuiper_by_its_definition(data: Rows) -> None:
    """The range of the running sum of y - q, in order of q, tied predictions taken together."""
    walk, lowest, highest = 0.0, 0.0, 0.0
    for value in np.unique(data.q):
        walk += float(np.sum(data.y[data.q == value] - value))
        lowest, highest = min(lowest, walk), max(highest, walk)
    deviation = math.sqrt(float(np.sum(data.q * (1 - data.q))))
    found = kuiper(cells_of(data.q, data.y))
    assert found.name == "kuiper"
    assert 0 <= found.p_value <= 1
    if deviation > 1e-6 and highest - lowest > 1e-9:
        assert found.statistic == pytest.approx((highest - lowest) / deviation, rel=1e-6)
        assert found.p_value == pytest.approx(range_of_brownian_motion(found.statistic))


@given(rows(least=2, most=40))
@settings(max_examples=80)
def test_whole_weights_are_replication(data: Rows) -> None:
    q, y = data.repeated
    heavy = order(Pairs(data.q, data.y, data.times.astype(float))).cells
    for test in (spiegelhalter, kuiper):
        first, second = test(heavy), test(cells_of(q, y))
        if abs(second.statistic) < 1e6:
            assert first.statistic == pytest.approx(second.statistic, rel=1e-9, abs=1e-9)
            assert first.p_value == pytest.approx(second.p_value, rel=1e-6, abs=1e-9)


def slow_range(width: float, terms: int = 2000) -> float:
    """Feller (1951), the series for wide ranges, with all the terms it may need."""
    k = np.arange(1, terms)
    return float(8 * np.sum(np.where(k % 2 == 1, 1, -1) * k * stats.norm.sf(k * width)))


@pytest.mark.parametrize("width", [1.2, 1.4, 1.4999, 1.5, 1.5001, 1.6, 1.8, 2.241, 3.0, 5.0])
def test_the_two_series_agree(width: float) -> None:
    assert range_of_brownian_motion(width) == pytest.approx(slow_range(width), abs=1e-9)


def test_the_switch_between_series_is_smooth_and_falling() -> None:
    widths = np.linspace(0.05, 6, 2000)
    values = np.array([range_of_brownian_motion(float(width)) for width in widths])
    assert (np.diff(values) <= 1e-12).all()
    assert values[0] == pytest.approx(1.0)
    assert values[-1] < 1e-6
    assert (range_of_brownian_motion(0.0), range_of_brownian_motion(-1.0)) == (1.0, 1.0)
    assert range_of_brownian_motion(math.inf) == 0.0
    assert range_of_brownian_motion(1e-6) == 1.0


def test_the_range_against_random_walks() -> None:
    rng = np.random.default_rng(0)
    steps = rng.choice(np.array([-1, 1], np.int8), (8000, 2000))
    walk = np.cumsum(steps, axis=1, dtype=np.int16)
    span = (np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0)) / 2000**0.5
    for width in (1.2, 1.5, 2.0, 2.241, 2.8):
        # A walk of whole steps falls short of Brownian motion by about a step at either end.
        expected = range_of_brownian_motion(width + 1 / 2000**0.5)
        assert np.mean(span > width) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("test", [spiegelhalter, kuiper])
@pytest.mark.parametrize("kind", ["uniform", "skewed", "tenths"])
def test_calibrated_models_pass(test: Test, kind: str) -> None:
    """At the five per cent level, five in a hundred samples fail, or a few less."""
    rng = np.random.default_rng(1)
    failed = 0
    for _ in range(400):
        q = {"uniform": rng.random(400), "skewed": rng.beta(0.3, 0.6, 400),
             "tenths": rng.random(400).round(1)}[kind]  # fmt: skip
        y = (rng.random(400) < q).astype(np.uint8)
        failed += test(cells_of(q, y)).p_value < 0.05
    assert 0.01 <= failed / 400 <= 0.085


@pytest.mark.parametrize("test", [spiegelhalter, kuiper])
def test_miscalibrated_models_fail(test: Test) -> None:
    rng = np.random.default_rng(2)
    q = rng.random(2000)
    y = (rng.random(2000) < 0.5 + 0.5 * (q - 0.5)).astype(np.uint8)
    assert test(cells_of(q, y)).p_value < 1e-6


@pytest.mark.parametrize("test", [spiegelhalter, kuiper])
def test_certain_predictions(test: Test) -> None:
    right = test(cells_of(np.array([0.0, 1.0]), np.array([0, 1], np.uint8)))
    assert (right.statistic, right.p_value) == (0.0, 1.0)
    wrong = test(cells_of(np.array([0.0, 1.0]), np.array([1, 1], np.uint8)))
    assert (wrong.statistic, wrong.p_value) == (math.inf, 0.0)


def test_halves_tell_spiegelhalter_nothing() -> None:
    found = spiegelhalter(cells_of(np.full(100, 0.5), np.ones(100, np.uint8)))
    assert (found.statistic, found.p_value) == (0.0, 1.0)


@given(rows(most=60), st.booleans())
@settings(max_examples=100)
def test_p_values_are_chances(data: Rows, heavy: bool) -> None:
    pairs = Pairs(data.q, data.y, data.times.astype(float) if heavy else None)
    for test in (spiegelhalter, kuiper):
        found = test(order(pairs).cells)
        assert 0 <= found.p_value <= 1
        assert not math.isnan(found.statistic)
