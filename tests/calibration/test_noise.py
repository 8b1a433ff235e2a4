"""Label noise: covariances by brute force, moments by enumeration, bias and variance by drawing."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnomon.calibration.bins import Bins
from gnomon.calibration.noise import Noise, label_noise
from gnomon.calibration.ordered import adaptive, order
from gnomon.calibration.pairs import Pairs
from strategies import (
    Floats,
    Labels,
    Rows,
    SlowBin,
    calibrated_copy,
    rows,
    slow_bins,
    true_pairs,
)


def bins_of(q: Floats, y: Labels, size: int) -> Bins:
    return adaptive(order(Pairs(q, y)), size)


HEAVY = 1e6  # rows this heavy show their noise without what is done for small numbers


def heavy_bins(q: Floats, y: Labels, size: int) -> Bins:
    return adaptive(order(Pairs(q, y, np.full(len(q), HEAVY))), size * HEAVY)


def cut_values(slow: list[SlowBin]) -> list[float]:
    values = [value for each in slow for value in each.shares]
    return sorted({value for value in values if values.count(value) > 1})


def dense(q: Floats, y: Labels, size: int, noise: Noise) -> Floats:
    """√W Σ √W as a whole matrix: each bin's own noise, and what bins share of a tied group."""
    slow = slow_bins(q, y, size)
    n = np.array([float(each.n) for each in slow])
    cut = cut_values(slow)
    load = np.array([[float(each.shares.get(value, 0)) for value in cut] for each in slow])
    load = load.reshape(len(slow), len(cut)) / n[:, None]
    sizes = np.array([np.sum(q == value) for value in cut], np.float64)
    rate = np.array([np.mean(y[q == value]) for value in cut], np.float64)
    shared = load @ np.diag(rate * (1 - rate) / sizes) @ load.T if cut else np.zeros((len(n),) * 2)
    covariance = shared + np.diag(noise.variance * HEAVY - np.diag(shared))
    root = np.sqrt(n / n.sum())
    return np.asarray(root[:, None] * covariance * root)


@given(rows(least=2, kind="tenths"), st.integers(1, 12))
@settings(max_examples=200)
def test_moments_and_tilts_against_a_dense_matrix(data: Rows, size: int) -> None:
    bins = heavy_bins(data.q, data.y, size)
    noise = label_noise(bins)
    matrix = dense(data.q, data.y, size, noise)
    np.testing.assert_allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() >= -1e-5
    powers = [np.trace(np.linalg.matrix_power(matrix, k)) for k in (1, 2, 3)]
    scale = np.array([HEAVY, HEAVY**2, HEAVY**3])
    np.testing.assert_allclose(noise.moments * scale, powers, rtol=0, atol=1e-5)
    assert noise.bias * HEAVY == pytest.approx(powers[0], abs=1e-5)
    direction = np.sqrt(bins.weight) * bins.gap
    total = direction @ direction
    assume(total > 1e-6)
    tilts = [direction @ np.linalg.matrix_power(matrix, k) @ direction / total for k in (1, 2)]
    np.testing.assert_allclose(noise.tilts * scale[:2], tilts, rtol=0, atol=1e-5)


@given(rows(least=2, most=40), st.integers(1, 12))
@settings(max_examples=100)
def test_whole_weights_are_replication(data: Rows, size: int) -> None:
    q, y = data.repeated
    heavy = label_noise(adaptive(order(Pairs(data.q, data.y, data.times.astype(float))), size))
    long = label_noise(bins_of(q, y, size))
    np.testing.assert_allclose(heavy.variance, long.variance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(heavy.moments, long.moments, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(heavy.tilts, long.tilts, rtol=1e-6, atol=1e-9)


ENUMERATED = {
    "no ties": ([0.1, 0.35, 0.5, 0.62, 0.7, 0.9], 2),
    "one group in three bins": ([0.3] * 6, 2),
    "one group in uneven bins": ([0.3] * 7, 2),
    "two groups, each in two bins": ([0.2] * 3 + [0.8] * 3, 2),
    "a bin wholly inside a group": ([0.2] * 4 + [0.6] * 5, 3),
    "certain": ([0.0] * 3 + [1.0] * 3, 2),
}


@pytest.mark.parametrize(("q", "size"), ENUMERATED.values(), ids=ENUMERATED.keys())
def test_moments_of_a_calibrated_model_against_every_labelling(q: list[float], size: int) -> None:
    """The mean of Q, and the covariance of the bins, summed over all 2^N labellings."""
    predictions = np.array(q)
    chance, square, frequency = [], [], []
    for labelling in product((0, 1), repeat=len(q)):
        y = np.array(labelling, np.uint8)
        bins = bins_of(predictions, y, size)
        chance.append(np.prod(np.where(y == 1, predictions, 1 - predictions)))
        square.append(bins.weight @ bins.gap**2)
        frequency.append(bins.p)
    weight = np.array(chance)
    assert weight.sum() == pytest.approx(1.0)
    noise = label_noise(calibrated_copy(heavy_bins(predictions, y, size)))
    centred = np.array(frequency) - weight @ np.array(frequency)
    covariance = centred.T @ (weight[:, None] * centred)
    np.testing.assert_allclose(noise.variance * HEAVY, np.diag(covariance), rtol=1e-5, atol=1e-9)
    assert noise.bias * HEAVY == pytest.approx(weight @ np.array(square), rel=1e-5)
    root = np.sqrt(bins.weight)
    matrix = root[:, None] * covariance * root
    powers = [np.trace(np.linalg.matrix_power(matrix, k)) for k in (1, 2, 3)]
    found = [moment * HEAVY**k for k, moment in enumerate(noise.moments, start=1)]
    np.testing.assert_allclose(found, powers, rtol=1e-5, atol=1e-9)


def test_a_bin_that_mixes_a_shared_group_with_others_keeps_them_apart() -> None:
    """Half of a big group at 0.5 and near-certain others: the others' labels are hardly noisy."""
    q = np.concatenate([np.full(150, 0.5), np.full(50, 0.99)])
    bins = calibrated_copy(bins_of(q, np.zeros(200, np.uint8), 100))
    # Of the second bin's hundred, 50 are a third of the group and 50 are independent.
    expected = (50**2 * 0.25 / 150 + 50 * 0.99 * 0.01) / 100**2
    assert label_noise(bins).variance[1] == pytest.approx(expected, rel=0.25)


SIMULATED: dict[str, Callable[[np.random.Generator], Floats]] = {
    "continuous": lambda rng: rng.random(1000),
    "tenths": lambda rng: rng.random(1000).round(1),
    "three values": lambda rng: rng.choice([0.2, 0.5, 0.8], 1000),
    "one value": lambda rng: np.full(1000, 0.3),
    "skewed": lambda rng: rng.beta(0.3, 1.0, 1000).round(2),
}


@pytest.mark.parametrize("shift", [0.0, 0.1])
@pytest.mark.parametrize("kind", SIMULATED)
def test_bias_and_variance_of_q_against_drawing(kind: str, shift: float) -> None:
    """By how much label noise raises Q, how far it scatters Q, and each bin's own noise."""
    rng = np.random.default_rng(3)
    q = SIMULATED[kind](rng) * 0.85
    p, size, reps = q + shift, 50, 500
    truth = adaptive(order(true_pairs(q, p)), size)
    theta = float(truth.weight @ truth.gap**2)
    square, frequency, bias, spread, variance = [], [], [], [], []
    for _ in range(reps):
        bins = bins_of(q, (rng.random(1000) < p).astype(np.uint8), size)
        noise = label_noise(bins)
        square.append(float(bins.weight @ bins.gap**2))
        frequency.append(bins.p)
        bias.append(noise.bias)
        spread.append(2 * noise.moments[1] + 4 * noise.tilts[0] * theta)
        variance.append(noise.variance)
    error = np.std(square) / reps**0.5
    assert np.mean(square) - theta == pytest.approx(np.mean(bias), abs=4 * error + 2e-5)
    assert np.var(square) == pytest.approx(np.mean(spread), rel=0.3)
    ratio = np.mean(variance, axis=0).sum() / np.var(frequency, axis=0).sum()
    assert ratio == pytest.approx(1.0, abs=0.08)


@pytest.mark.parametrize("size", [2, 5, 10, 20])
@pytest.mark.parametrize("narrow", [False, True])
def test_small_bins_do_not_understate_the_bias(size: int, narrow: bool) -> None:
    """p̂(1 - p̂) is too small by a part in n, which must be made good."""
    rng = np.random.default_rng(4)
    q = rng.random(200_000)
    q = 0.3 + 1e-3 * q if narrow else q
    bins = bins_of(q, (rng.random(len(q)) < q).astype(np.uint8), size)
    plain = float(bins.weight @ bins.gap**2)
    assert label_noise(bins).bias == pytest.approx(plain, rel=4 * (2 / len(bins)) ** 0.5)


def test_wide_bins_are_less_noisy_than_their_frequency_suggests() -> None:
    """One bin over all of [0, 1]: the labels' variance is 1/6, not 1/4."""
    rng = np.random.default_rng(5)
    q = rng.random(20_000)
    bins = bins_of(q, (rng.random(20_000) < q).astype(np.uint8), 20_000)
    assert label_noise(bins).variance[0] * 20_000 == pytest.approx(1 / 6, rel=0.02)


def test_nothing_is_certain_but_certainty() -> None:
    none = np.zeros(50, np.uint8)
    assert label_noise(bins_of(np.full(50, 0.1), none, 50)).variance[0] > 0
    assert label_noise(bins_of(np.zeros(50), none, 50)).variance[0] == 0
    assert label_noise(bins_of(np.ones(50), none + 1, 50)).moments == (0.0, 0.0, 0.0)
    assert label_noise(bins_of(np.ones(50), none + 1, 50)).tilts == (0.0, 0.0)
    assert label_noise(bins_of(np.ones(50), none + 1, 10)).moments == (0.0, 0.0, 0.0)
