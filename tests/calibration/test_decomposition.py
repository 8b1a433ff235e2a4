"""The Brier score in three parts, against the score itself and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.calibration.decomposition import decompose
from gnomon.calibration.ordered import adaptive, equal_width, order
from gnomon.calibration.pairs import Pairs
from strategies import Rows, oracle, rows


@given(rows(), st.integers(1, 45), st.booleans())
@settings(max_examples=200)
def test_parts_sum_to_the_brier_score(data: Rows, size: int, heavy: bool) -> None:
    weight = data.times.astype(float) if heavy else None
    brier = np.average((data.q - data.y) ** 2, weights=weight)
    rate = np.average(data.y, weights=weight)
    ordered = order(Pairs(data.q, data.y, weight))
    for bins in (adaptive(ordered, size), equal_width(ordered, 0.2)):
        parts = decompose(bins)
        assert parts.brier == pytest.approx(brier, abs=1e-12)
        total = parts.calibration + parts.refinement + parts.within_bin
        assert total == pytest.approx(brier, abs=1e-12)
        assert parts.base_rate == pytest.approx(rate, abs=1e-12)
        assert parts.calibration >= 0
        assert 0 <= parts.refinement <= 0.25
        if 0 < rate < 1:
            assert parts.skill == pytest.approx(1 - brier / (rate * (1 - rate)), rel=1e-9)


@pytest.mark.parametrize("single", [False, True])
def test_large_data_against_scikit_learn(single: bool) -> None:
    rng = np.random.default_rng(0)
    q = rng.beta(0.2, 0.3, 300_000)
    q = q.astype(np.float32) if single else q
    y = (rng.random(len(q)) < q).astype(np.uint8)
    expected = oracle("sklearn.metrics").brier_score_loss(y, q.astype(np.float64))
    for size in (10, 5000, 10**6):
        assert decompose(adaptive(order(Pairs(q, y)), size)).brier == pytest.approx(
            expected, abs=1e-12
        )


def test_bins_of_equal_predictions_hide_nothing() -> None:
    """Eq. 1 of the paper: with one prediction a bin there are two parts, not three."""
    rng = np.random.default_rng(1)
    q = rng.integers(0, 10, 1000) / 10 + 0.05
    y = (rng.random(1000) < q).astype(np.uint8)
    parts = decompose(equal_width(order(Pairs(q, y)), 0.1))
    assert parts.within_bin == pytest.approx(0.0, abs=1e-12)
    by_value = [(q == value, value) for value in np.unique(q)]
    calibration = sum(m.mean() * (y[m].mean() - value) ** 2 for m, value in by_value)
    refinement = sum(m.mean() * y[m].mean() * (1 - y[m].mean()) for m, _ in by_value)
    assert parts.calibration == pytest.approx(calibration, abs=1e-12)
    assert parts.refinement == pytest.approx(refinement, abs=1e-12)


@pytest.mark.parametrize(("y", "rate"), [([0, 0, 0], 0.0), ([1, 1, 1], 1.0)])
def test_one_class_has_no_skill(y: list[int], rate: float) -> None:
    q = np.array([0.2, 0.4, 0.9])
    for weight in (None, np.array([0.1, 0.2, 0.3])):
        pairs = Pairs(q, np.array(y, np.uint8), weight)
        parts = decompose(adaptive(order(pairs), 1))
        assert parts.base_rate == rate
        assert parts.skill is None


def test_predicting_the_base_rate_has_skill_zero() -> None:
    y = np.array([0, 0, 0, 1], np.uint8)
    parts = decompose(adaptive(order(Pairs(np.full(4, 0.25), y)), 2))
    assert parts.skill == pytest.approx(0.0, abs=1e-12)
    assert parts.calibration == pytest.approx(0.0, abs=1e-12)
