"""Calibration errors: the definition, other people's programs, and how much bias is taken away."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.calibration.bins import Bins
from gnomon.calibration.error import errors
from gnomon.calibration.noise import label_noise
from gnomon.calibration.ordered import adaptive, equal_width, order
from gnomon.calibration.pairs import Pairs
from strategies import Floats, Labels, Rows, literal_bins, oracle, rows, true_pairs


def sample(n: int, seed: int, power: float = 1.0) -> tuple[Floats, Labels]:
    rng = np.random.default_rng(seed)
    q = rng.random(n)
    return q, (rng.random(n) < q**power).astype(np.uint8)


def test_the_papers_definition() -> None:
    q, y = sample(1037, 0, 2.0)
    found = errors(adaptive(order(Pairs(q, y)), 100))
    bins = literal_bins(q, y, 100)
    assert found.rms == pytest.approx((sum(n * (p - m) ** 2 for n, p, m in bins) / 1037) ** 0.5)
    assert found.ece == pytest.approx(sum(n * abs(p - m) for n, p, m in bins) / 1037)
    assert found.maximum == pytest.approx(max(abs(p - m) for _, p, m in bins))


@given(rows(), st.integers(1, 40))
def test_errors_are_ordered(data: Rows, size: int) -> None:
    bins = adaptive(order(Pairs(data.q, data.y)), size)
    found = errors(bins)
    assert 0 <= found.ece <= found.rms + 1e-12 <= found.maximum + 2e-12 <= 1 + 3e-12
    assert 0 <= found.rms_debiased <= found.rms + 1e-12
    assert 0 <= found.ece_debiased <= found.ece + 1e-9
    assert 0 <= found.maximum_debiased <= found.maximum + 1e-6
    assert errors(bins, label_noise(bins)) == found


@given(rows(least=2), st.integers(1, 8))
@settings(max_examples=60)
def test_turning_events_round_changes_nothing(data: Rows, size: int) -> None:
    """1 - q for 1 - y, where the bins mirror: their size divides the number of rows."""
    keep = len(data.q) // size * size
    if not keep:
        return
    q, y = data.q[:keep].round(9), data.y[:keep]  # so that 1 - q keeps ties as they are
    there = errors(adaptive(order(Pairs(q, y)), size))
    back = errors(adaptive(order(Pairs((1 - q).round(9), 1 - y)), size))
    assert back.rms == pytest.approx(there.rms, abs=1e-9)
    assert back.ece == pytest.approx(there.ece, abs=1e-9)
    assert back.maximum == pytest.approx(there.maximum, abs=1e-9)
    assert back.rms_debiased**2 == pytest.approx(there.rms_debiased**2, abs=1e-9)


def fine(n: int, seed: int, power: float = 2.0) -> tuple[Floats, Labels, Any]:
    """Untied rows, and uncertainty-calibration (Kumar, Liang & Ma, 2019)."""
    return *sample(n, seed, power), oracle("calibration")


def test_plug_in_error_against_uncertainty_calibration() -> None:
    q, y, other = fine(1500, 1)
    bins = adaptive(order(Pairs(q, y)), 100)
    expected = other.lower_bound_scaling_ce(q, y.astype(int), debias=False, num_bins=15)
    assert errors(bins).rms == pytest.approx(expected, rel=1e-12)


def test_debiased_error_against_uncertainty_calibration() -> None:
    """Theirs takes p(1 - p)/(n - 1) for the noise; ours also knows how p varies within a bin."""
    q, y, other = fine(1500, 2)
    q = q.round(1)  # no bin then has a spread
    bins = equal_width(order(Pairs(q, y)), 0.1)
    expected = other.get_calibration_error(q, y.astype(int), debias=True)
    assert errors(equal_width(order(Pairs(q, y)), 0.05)).rms_debiased == pytest.approx(
        expected, rel=2e-3
    )
    assert len(bins) == 10  # 1.0 shares the last bin with 0.9, so the finer width is compared


def test_ece_against_uncertainty_calibration() -> None:
    q, y, other = fine(1500, 3)
    em = other.get_ece_em(q, y.astype(int), num_bins=15, mode="marginal")
    assert errors(adaptive(order(Pairs(q, y)), 100)).ece == pytest.approx(em, rel=1e-12)
    ew = other.get_ece(q, y.astype(int), num_bins=10, mode="marginal")
    assert errors(equal_width(order(Pairs(q, y)), 0.1)).ece == pytest.approx(ew, rel=1e-12)


def test_ece_against_relplot() -> None:
    q, y, _ = fine(1500, 4)
    expected = oracle("relplot.metrics").binnedECE(q, y, nbins=10)
    assert errors(equal_width(order(Pairs(q, y)), 0.1)).ece == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_against_scikit_learn(strategy: str) -> None:
    q, y = sample(2000, 5, 1.5)
    p, mean = oracle("sklearn.calibration").calibration_curve(y, q, n_bins=10, strategy=strategy)
    ordered = order(Pairs(q, y))
    bins = adaptive(ordered, 200) if strategy == "quantile" else equal_width(ordered, 0.1)
    np.testing.assert_allclose(bins.p, p, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bins.q, mean, rtol=0, atol=1e-12)


def simulated(bins: Bins, draws: int = 200_000) -> Floats:
    """Gaps with normal noise of the size that is expected added once more."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((draws, len(bins))) * np.sqrt(label_noise(bins).variance)
    return np.asarray(np.abs(bins.gap + noise))


@pytest.mark.parametrize("power", [1.0, 1.3, 3.0])
def test_bias_of_ece_and_maximum_against_simulation(power: float) -> None:
    """What is taken away is by how much noise raises the mean of the statistic."""
    q, y = sample(600, 6, power)
    bins = adaptive(order(Pairs(q, y)), 60)
    found, gaps = errors(bins), simulated(bins)
    ece = 2 * found.ece - (gaps @ bins.weight).mean()
    largest = 2 * found.maximum - gaps.max(axis=1).mean()
    assert found.ece_debiased == pytest.approx(max(0.0, ece), abs=3e-4)
    assert found.maximum_debiased == pytest.approx(max(0.0, largest), abs=5e-4)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("shift", [0.0, 0.05, 0.15])
def test_debiased_square_is_unbiased(shift: float, tied: bool) -> None:
    """The mean of Q - B over many samples of labels is the true squared error."""
    rng = np.random.default_rng(7)
    q = rng.uniform(0.0, 0.85, 800)
    q = q.round(1) if tied else q
    p = q + shift
    truth = errors(adaptive(order(true_pairs(q, p)), 80)).rms
    assert truth == pytest.approx(shift, abs=1e-9)
    found = []
    for _ in range(600):
        bins = adaptive(order(Pairs(q, (rng.random(800) < p).astype(np.uint8))), 80)
        found.append(float(bins.weight @ bins.gap**2) - label_noise(bins).bias)
    standard_error = float(np.std(found)) / 600**0.5
    assert np.mean(found) == pytest.approx(truth**2, abs=4 * standard_error + 3e-5)


@pytest.mark.parametrize(
    ("q", "y", "rms"), [([1.0], [1], 0.0), ([1.0], [0], 1.0), ([0.0, 1.0], [1, 0], 1.0)]
)
def test_certain_predictions(q: list[float], y: list[int], rms: float) -> None:
    found = errors(adaptive(order(Pairs(np.array(q), np.array(y, np.uint8))), 1))
    assert (found.rms, found.ece, found.maximum) == (rms, rms, rms)


def test_many_bins() -> None:
    q, y = sample(60_000, 8)
    found = errors(adaptive(order(Pairs(q, y)), 10))  # 6,000 bins
    assert found.ece_debiased < found.ece
    assert found.maximum_debiased < found.maximum
    # Chance moves the debiased square by a fiftieth of the plain one, either way.
    assert found.rms_debiased**2 < 3 * found.rms**2 / 50
