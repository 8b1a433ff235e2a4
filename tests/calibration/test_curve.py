"""Curves against loops over kernels and other people's programs; regions on constructed cases."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon import calibrate
from gnomon.calibration.curve import (
    GRID,
    binned_curve,
    isotonic_curve,
    regions,
    smooth_curve,
)
from gnomon.calibration.ordered import Cells, adaptive, order
from gnomon.calibration.pairs import Pairs
from strategies import Floats, Labels, Rows, oracle, rows


def cells_of(q: Floats, y: Labels) -> Cells:
    return order(Pairs(q, y)).cells


def sample(n: int, seed: int, power: float = 1.0) -> tuple[Floats, Labels]:
    rng = np.random.default_rng(seed)
    q = rng.random(n)
    return q, (rng.random(n) < q**power).astype(np.uint8)


def kernel(x: Floats, at: Floats, bandwidth: float) -> Floats:
    """A Gaussian about each x, with all its mirror images in 0 and 1 that reach anywhere."""
    images = [image for k in range(-4, 5) for image in (2 * k + x, 2 * k - x)]
    return np.asarray(sum(np.exp(-0.5 * ((at[:, None] - i) / bandwidth) ** 2) for i in images))


def centred(q: Floats) -> Floats:
    """The middle of the grid cell each prediction falls into."""
    return np.asarray((np.minimum((q * GRID).astype(int), GRID - 1) + 0.5) / GRID)


@pytest.mark.parametrize("bandwidth", [0.003, 0.02, 0.1, 0.5])
@pytest.mark.parametrize("power", [1.0, 2.5])
def test_smooth_curve_against_a_reflected_kernel(bandwidth: float, power: float) -> None:
    q, y = sample(400, 0, power)
    curve = smooth_curve(cells_of(q, y), bandwidth=bandwidth)
    near = kernel(centred(q), curve.q, bandwidth)
    expected = curve.q + near @ (y - q) / near.sum(axis=1)
    np.testing.assert_allclose(curve.p, np.clip(expected, 0, 1), rtol=0, atol=1e-9)


@pytest.mark.parametrize("bandwidth", [0.02, 0.1])
def test_smooth_band_against_a_reflected_kernel(bandwidth: float) -> None:
    """The band is 1.96 standard errors of a weighted mean of independent labels."""
    q, y = sample(2000, 1)
    curve = smooth_curve(cells_of(q, y), 0.95, bandwidth=bandwidth)
    middle = (curve.q > 3 * bandwidth) & (curve.q < 1 - 3 * bandwidth)
    near = kernel(centred(q), curve.q[middle], bandwidth)
    near /= near.sum(axis=1, keepdims=True)
    error = np.sqrt(near**2 @ (q * (1 - q)))
    inside = (curve.low > 0) & (curve.high < 1)
    half = (curve.high - curve.low)[middle] / 2
    np.testing.assert_allclose(half[inside[middle]], (1.96 * error)[inside[middle]], rtol=0.3)


def test_smooth_curve_against_relplot() -> None:
    """Błasiok & Nakkiran (2023): the same reflected kernel, on their own grid."""
    q, y = sample(3000, 2, 2.0)
    theirs = oracle("relplot.kernels").ReflectedGaussianKernel(0.05)
    curve = smooth_curve(cells_of(q, y), bandwidth=0.05)
    residual, _ = theirs.smooth(q, y - q, curve.q)
    expected = np.clip(curve.q + residual, 0, 1)
    np.testing.assert_allclose(curve.p, expected, rtol=0, atol=2e-3)


def test_smooth_error_against_relplot() -> None:
    q, y = sample(3000, 3, 2.0)
    expected = oracle("relplot").smECE_sigma(q, y, sigma=0.05)
    curve = smooth_curve(cells_of(q, y), bandwidth=0.05, points=GRID)
    density = kernel(centred(q), curve.q, 0.05).sum(axis=1)
    found = np.average(np.abs(curve.p - curve.q), weights=density)
    assert found == pytest.approx(expected, rel=0.02)  # ours is kept within [0, 1]


def test_a_calibrated_curve_is_the_diagonal_at_any_bandwidth() -> None:
    """Labels that are as often true as predicted at every prediction."""
    q = np.repeat([0.1, 0.3, 0.5, 0.8], 100)
    y = np.concatenate([np.arange(100) < 100 * value for value in (0.1, 0.3, 0.5, 0.8)])
    for bandwidth in (0.01, 0.1, 0.5):
        curve = smooth_curve(cells_of(q, y.astype(np.uint8)), bandwidth=bandwidth)
        np.testing.assert_allclose(curve.p, curve.q, rtol=0, atol=1e-9)


def slow_risk(q: Floats, y: Labels, bandwidth: float) -> float:
    """Each residual predicted from the others."""
    middle, residual = centred(q), y - q
    near = kernel(middle, middle, bandwidth)
    np.fill_diagonal(near, 0.0)
    return float(np.sum((residual - near @ residual / near.sum(axis=1)) ** 2))


@pytest.mark.parametrize(("seed", "power"), [(4, 1.0), (5, 2.5), (6, 0.4), (7, 6.0)])
def test_bandwidth_by_leaving_each_out(seed: int, power: float) -> None:
    q, y = sample(150, seed, power)
    grid = np.geomspace(0.5, 3.0 / GRID, 24)
    risks = np.array([slow_risk(q, y, h) if h > 0.02 else np.inf for h in grid])
    best = float(grid[risks.argmin()])
    chosen, expected = (smooth_curve(cells_of(q, y), bandwidth=h) for h in (None, best))
    np.testing.assert_allclose(chosen.p, expected.p, rtol=0, atol=2e-3)


@given(rows(most=40), st.sampled_from([0.5, 0.9, 0.99]))
@settings(max_examples=100)
def test_curves_stay_in_bounds(data: Rows, level: float) -> None:
    cells = cells_of(data.q, data.y)
    bins = adaptive(order(Pairs(data.q, data.y)), 5)
    for curve in (smooth_curve(cells, level), binned_curve(bins, level)):
        assert np.isfinite([curve.q, curve.p, curve.low, curve.high]).all()
        assert ((curve.low >= 0) & (curve.high <= 1)).all()
        assert (curve.low <= curve.p + 1e-12).all()
        assert (curve.p <= curve.high + 1e-12).all()
        assert (np.diff(curve.q) >= -1e-12).all()
    assert len(smooth_curve(cells, level).q) <= 101


def test_no_smooth_curve_where_there_is_no_data() -> None:
    q = np.concatenate([np.full(50, 0.1), np.full(50, 0.9)])
    y = (np.arange(100) % 2).astype(np.uint8)
    curve = smooth_curve(cells_of(q, y), bandwidth=0.02)
    assert len(curve.q)
    assert np.all((np.abs(curve.q - 0.1) < 0.1) | (np.abs(curve.q - 0.9) < 0.1))
    assert len(smooth_curve(cells_of(q[:3], y[:3]), bandwidth=0.02).q) == 0


def test_far_corners_do_not_spoil_the_band() -> None:
    """Where the kernel reaches nobody at all there is no frequency, but elsewhere there is."""
    cells = cells_of(np.array([0.0] * 500 + [1.0] * 3), np.zeros(503, np.uint8))
    for bandwidth in (None, *np.geomspace(0.5, 3.0 / GRID, 24).tolist()):
        curve = smooth_curve(cells, bandwidth=bandwidth)
        assert len(curve.q)
        assert np.isfinite([curve.p, curve.low, curve.high]).all()


def test_the_band_covers_a_smooth_truth() -> None:
    rng = np.random.default_rng(8)
    q = rng.random(1000)
    held = []
    for _ in range(60):
        y = (rng.random(1000) < q).astype(np.uint8)
        curve = smooth_curve(cells_of(q, y))
        held.append(np.mean((curve.low <= curve.q) & (curve.q <= curve.high)))
    assert 0.85 <= np.mean(held) <= 1.0


@given(rows(least=2, most=60))
@settings(max_examples=150)
def test_isotonic_curve_against_scikit_learn(data: Rows) -> None:
    q = data.q.round(6)  # theirs takes neighbouring floats for equal ones
    curve = isotonic_curve(cells_of(q, data.y))
    theirs = oracle("sklearn.isotonic").IsotonicRegression(y_min=0, y_max=1).fit(q, data.y)
    np.testing.assert_allclose(curve.p, theirs.predict(curve.q), rtol=0, atol=1e-9)
    # The knots lose nothing: every prediction's value can be read off them.
    between = np.interp(q, curve.q, curve.p)
    np.testing.assert_allclose(between, theirs.predict(q), rtol=0, atol=1e-9)
    assert (np.diff(curve.p) >= 0).all()


@given(rows(least=2, most=40))
@settings(max_examples=60)
def test_whole_weights_are_replication(data: Rows) -> None:
    q, y = data.repeated
    heavy = order(Pairs(data.q, data.y, data.times.astype(float))).cells
    long = cells_of(q, y)
    for curve in (smooth_curve, isotonic_curve):
        first, second = curve(heavy), curve(long)
        for name in ("q", "p", "low", "high"):
            np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=1e-9)


def test_binned_curve_is_wilsons_where_bins_are_narrow() -> None:
    q = np.repeat([0.2, 0.6, 0.9], 100) + 1e-9 * np.arange(300)
    y = (np.random.default_rng(9).random(300) < q).astype(np.uint8)
    bins = adaptive(order(Pairs(q, y)), 100)
    curve = binned_curve(bins, 0.95)
    for i in range(3):
        expected = stats.binomtest(int(y[100 * i : 100 * i + 100].sum()), 100)
        limits = expected.proportion_ci(0.95, method="wilson")
        assert curve.low[i] == pytest.approx(limits.low, abs=0.004)
        assert curve.high[i] == pytest.approx(limits.high, abs=0.004)


def test_binned_curve_knows_that_tied_bins_share_their_labels() -> None:
    """Ten bins of one group of a thousand are each as certain as the thousand."""
    y = (np.arange(1000) % 10 < 3).astype(np.uint8)
    curve = binned_curve(adaptive(order(Pairs(np.full(1000, 0.3), y)), 100))
    expected = stats.binomtest(300, 1000).proportion_ci(0.95, method="wilson")
    np.testing.assert_allclose(curve.low, expected.low, atol=1e-3)
    np.testing.assert_allclose(curve.high, expected.high, atol=1e-3)


CASES = {
    "throughout": (lambda q: q**2, ["overconfident throughout"]),
    "under": (lambda q: q**0.5, ["underconfident throughout"]),
    "both": (
        lambda q: 0.5 + 0.5 * (q - 0.5),
        ["underconfident below 0.4", "overconfident above 0.5"],
    ),
    "below": (lambda q: np.where(q < 0.4, q + 0.2, q), ["underconfident below 0.40"]),
    "above": (lambda q: np.where(q > 0.8, q - 0.2, q), ["overconfident above 0.80"]),
    "between": (
        lambda q: np.where((q > 0.4) & (q < 0.6), q + 0.25, q),
        ["underconfident between 0.4 and 0.6"],
    ),
}


def spoken(text: str) -> tuple[list[str], list[float]]:
    """The words and the numbers of a sentence."""
    words = text.split()
    return (
        [word for word in words if not word[0].isdigit()],
        [float(word) for word in words if word[0].isdigit()],
    )


@pytest.mark.parametrize(("truth", "texts"), CASES.values(), ids=CASES.keys())
def test_regions_in_words(truth: Callable[[Floats], Floats], texts: list[str]) -> None:
    rng = np.random.default_rng(10)
    q = rng.random(20_000)
    y = (rng.random(20_000) < truth(q)).astype(np.uint8)
    found = regions(order(Pairs(q, y)).cells)
    assert len(found) == len(texts)
    for region, text in zip(found, texts, strict=True):
        words, numbers = spoken(region.text)
        expected_words, expected_numbers = spoken(text)
        assert words == expected_words
        assert numbers == pytest.approx(expected_numbers, abs=0.1)
        assert region.kind == words[0]
        assert 0 <= region.low < region.high <= 1
        assert (region.gap > 0) == (region.kind == "underconfident")
    result = calibrate(q, y)
    assert result.verdict().count("confident") == len(texts)


def test_regions_of_the_corners_are_spelt_out() -> None:
    """0.00 would say nothing where all the predictions are that small."""
    rng = np.random.default_rng(11)
    q = rng.beta(0.5, 1.0, 50_000) * 0.01
    y = (rng.random(50_000) < np.where(q > 0.005, q * 2, q)).astype(np.uint8)
    found = regions(order(Pairs(q, y)).cells)
    assert found
    assert {region.kind for region in found} == {"underconfident"}
    for region in found:
        _, numbers = spoken(region.text)
        ends = [end for end in (region.low, region.high) if 0 < end < 1]
        assert numbers == pytest.approx(ends, rel=0.06)
        assert all(0.004 < number < 0.01 for number in numbers)


HONEST = {
    "continuous": (lambda rng: rng.random(1000), 50),
    "tenths": (lambda rng: rng.random(1000).round(1), 20),
    "three values": (lambda rng: rng.choice([0.2, 0.5, 0.8], 1000), 20),
    "one value": (lambda rng: np.full(1000, 0.3), 20),
    "skewed": (lambda rng: rng.beta(0.1, 0.5, 1000), 50),
    "rare": (lambda rng: rng.beta(0.1, 3.0, 1000), 50),
    "few": (lambda rng: rng.random(60), 10),
}


@pytest.mark.parametrize(("draw", "size"), HONEST.values(), ids=HONEST.keys())
def test_a_calibrated_model_has_no_region(
    draw: Callable[[np.random.Generator], Floats], size: int
) -> None:
    """In 95 of a hundred samples at least, however tied, skewed or few the predictions are."""
    rng = np.random.default_rng(12)
    accused = 0
    for _ in range(300):
        q = draw(rng)
        y = (rng.random(len(q)) < q).astype(np.uint8)
        accused += bool(regions(order(Pairs(q, y)).cells))
    assert accused / 300 <= 0.085


def test_no_region_without_noise() -> None:
    certain = np.ones(50)
    assert regions(order(Pairs(certain, np.ones(50, np.uint8))).cells) == []


@given(rows(most=60), st.integers(1, 20), st.sampled_from([0.5, 0.9, 0.99]))
@settings(max_examples=100)
def test_regions_are_apart_and_alternate(data: Rows, size: int, level: float) -> None:
    found = regions(order(Pairs(data.q, data.y)).cells, level)
    for left, right in pairwise(found):
        assert left.high <= right.low
        assert left.kind != right.kind or left.high < right.low
    for region in found:
        assert 0 <= region.low <= region.high <= 1
        assert -1 <= region.gap <= 1
