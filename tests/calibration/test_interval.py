"""Intervals: how often they cover, that they nest, what they do at the edges, and Algorithm 2."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon import calibrate
from gnomon.calibration.bins import Bins
from gnomon.calibration.interval import (
    _bounded_limits,
    _normal_score,
    bootstrap_interval,
    check_level,
    normal_quantile,
    score_interval,
    simulation_interval,
    wilson,
)
from gnomon.calibration.noise import label_noise
from gnomon.calibration.ordered import adaptive, order
from gnomon.calibration.pairs import Pairs
from gnomon.errors import InputError
from strategies import Floats, Labels, Rows, literal_bins, rows, true_pairs

LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999)


def bins_of(q: Floats, y: Labels, size: float) -> Bins:
    return adaptive(order(Pairs(q, y)), size)


def rms(bins: Bins) -> float:
    return math.sqrt(bins.weight @ bins.gap**2)


def coverage(
    q: Floats, p: Floats, size: int, level: float = 0.95, reps: int = 500
) -> tuple[float, float, float]:
    """How often the interval holds the truth, lies above it, lies below it."""
    rng = np.random.default_rng(11)
    truth = rms(adaptive(order(true_pairs(q, p)), size))
    above = below = 0
    for _ in range(reps):
        low, high = score_interval(bins_of(q, (rng.random(len(q)) < p).astype(np.uint8), size),
                                   level)  # fmt: skip
        above += low > truth + 1e-9
        below += high < truth - 1e-9
    return 1 - (above + below) / reps, above / reps, below / reps


UNIFORM = np.random.default_rng(0).random(1000)
SKEWED = np.random.default_rng(1).beta(0.1, 1.0, 1000)
CELLS = {
    "perfect": (UNIFORM, UNIFORM, 50),
    "perfect, few large bins": (UNIFORM, UNIFORM, 500),
    "mild": (UNIFORM, np.clip(UNIFORM + 0.03, 0, 1), 50),
    "strong": (UNIFORM, UNIFORM**2, 50),
    "tied, perfect": (UNIFORM.round(1), UNIFORM.round(1), 50),
    "tied, mild": (UNIFORM.round(1), np.clip(UNIFORM.round(1) + 0.05, 0, 1), 50),
    "tied, strong": (UNIFORM.round(1), UNIFORM.round(1) ** 2, 30),
    "three values, perfect": ((UNIFORM * 3 // 1) / 4 + 0.25, (UNIFORM * 3 // 1) / 4 + 0.25, 40),
    "skewed, perfect": (SKEWED, SKEWED, 50),
    "skewed, strong": (SKEWED, SKEWED**0.7, 50),
}


@pytest.mark.parametrize(("q", "p", "size"), CELLS.values(), ids=CELLS.keys())
def test_the_interval_covers(q: Floats, p: Floats, size: int) -> None:
    held, above, below = coverage(q, p, size)
    assert 0.92 <= held <= 0.985
    assert above <= 0.08
    assert below <= 0.05


@pytest.mark.parametrize("level", [0.5, 0.8, 0.99])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_the_interval_covers_at_other_levels(level: float, power: float) -> None:
    held, _, _ = coverage(UNIFORM, UNIFORM**power, 50, level)
    assert held == pytest.approx(level, abs=4 * (level * (1 - level) / 500) ** 0.5 + 0.01)


RARE = np.random.default_rng(2).beta(0.3, 1.0, 500)
SPARSE = {
    "a third of a positive expected": (RARE[:100] * 0.01, 100),
    "one positive expected": (RARE * 0.01, 170),
    "three positives expected": (RARE * 0.03, 100),
    "certain of the opposite": (1 - RARE * 0.01, 170),
    "ten rows a bin": (UNIFORM, 10),
    "twenty rows a bin": (UNIFORM, 20),
    "four rows a bin": (UNIFORM[:200], 4),
}


@pytest.mark.parametrize(("q", "size"), SPARSE.values(), ids=SPARSE.keys())
def test_a_calibrated_model_is_not_condemned_on_little_evidence(q: Floats, size: int) -> None:
    """Where labels of one kind are rare or bins small, the truth, zero, stays in the interval."""
    held, _, _ = coverage(q, q, size, reps=400)
    assert held >= 0.92


@pytest.mark.parametrize("n", [20, 100, 300])
def test_the_likeliest_outcome_is_not_evidence(n: int) -> None:
    """No event out of n, where a third of an event was expected."""
    low, high = score_interval(bins_of(np.full(n, 0.33 / n), np.zeros(n, np.uint8), n))
    assert low == 0
    assert 0 < high < 6 / n


@given(rows(most=60), st.integers(1, 60), st.booleans())
@settings(max_examples=150)
def test_intervals_nest_and_stay_in_bounds(data: Rows, size: int, heavy: bool) -> None:
    weight = data.times.astype(float) if heavy else None
    bins = adaptive(order(Pairs(data.q, data.y, weight)), size)
    inner = (1.0, 0.0)
    for level in LEVELS:
        low, high = score_interval(bins, level)
        assert 0 <= low <= high <= 1
        if level > LEVELS[0]:
            assert low <= inner[0] + 1e-7
            assert high >= inner[1] - 1e-7
        inner = (low, high)


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2, 0.4, 0.49])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_low_levels_are_refused_or_served(level: float, power: float) -> None:
    y = (np.random.default_rng(0).random(1000) < UNIFORM**power).astype(np.uint8)
    bins = bins_of(UNIFORM, y, 50)
    try:
        low, high = score_interval(bins, level)
    except InputError:
        return  # refusing so low a level is as good
    wider = score_interval(bins, 0.5)
    assert wider[0] - 1e-9 <= low <= high <= wider[1] + 1e-9


@given(rows(most=40), st.integers(1, 40))
@settings(max_examples=100)
def test_whole_weights_are_replication(data: Rows, size: int) -> None:
    heavy = adaptive(order(Pairs(data.q, data.y, data.times.astype(float))), size)
    long = bins_of(*data.repeated, size)
    np.testing.assert_allclose(score_interval(heavy), score_interval(long), rtol=0, atol=1e-7)


@given(rows(least=5, most=40, kind="continuous"))
@settings(max_examples=50)
def test_more_of_the_same_data_narrows_the_interval(data: Rows) -> None:
    def width(times: int) -> float:
        q, y = np.repeat(data.q, times), np.repeat(data.y, times)
        low, high = score_interval(bins_of(q, y, len(q)))
        return high - low

    assert width(100) <= width(1) + 1e-9


def test_fifty_certain_and_right_are_not_proof() -> None:
    """Wilson's upper limit for no error in fifty is 0.0713."""
    low, high = score_interval(bins_of(np.ones(50), np.ones(50, np.uint8), 50))
    assert low == 0.0
    assert high == pytest.approx(0.0713, abs=5e-4)
    low, high = score_interval(bins_of(np.zeros(50), np.zeros(50, np.uint8), 10))
    assert low == 0.0
    assert high == pytest.approx(0.0713, abs=5e-4)


def test_certain_and_wrong() -> None:
    low, high = score_interval(bins_of(np.ones(50), np.zeros(50, np.uint8), 50))
    assert 0.85 < low <= high <= 1.0


@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("y", [0, 1])
def test_one_row(q: float, y: int) -> None:
    low, high = score_interval(bins_of(np.array([q]), np.array([y], np.uint8), 1))
    assert 0 <= low <= abs(y - q) <= high <= 1
    assert high - low > 0.3 or q in (0.0, 1.0)


@pytest.mark.parametrize("y", [[0, 0], [0, 1], [1, 1]])
@pytest.mark.parametrize("size", [1, 2])
def test_two_rows(y: list[int], size: int) -> None:
    low, high = score_interval(bins_of(np.array([0.2, 0.8]), np.array(y, np.uint8), size))
    assert 0 <= low <= high <= 1
    assert high > 0.3


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_equal_predictions_give_one_interval_however_they_are_cut(size: int) -> None:
    """All bins show the same frequency of the same labels."""
    y = (np.arange(1000) % 10 < 4).astype(np.uint8)
    whole = score_interval(bins_of(np.full(1000, 0.3), y, 1000))
    cut = score_interval(bins_of(np.full(1000, 0.3), y, size))
    np.testing.assert_allclose(cut, whole, rtol=5e-3)
    gap = np.array(wilson(np.array([0.4]), np.array([1000.0]))).ravel() - 0.3
    np.testing.assert_allclose(whole, gap, atol=0.004)


@pytest.mark.parametrize("smallest", [1e-30, 1e-90, 1e-200, 5e-324])
@pytest.mark.parametrize("label", [0, 1])
def test_the_smallest_predictions(smallest: float, label: int) -> None:
    """Naive Bayes gives such: nothing may overflow, underflow to a division by zero, or warn."""
    y = np.zeros(100, np.uint8)
    y[0] = label
    low, high = score_interval(bins_of(np.full(100, smallest), y, 10))
    assert 0 <= low <= 0.1 * label
    assert 0.01 < high < 0.4


@pytest.mark.parametrize("weight", [1e-200, 1e-9, 0.05, 1e30])
def test_weights_of_any_size(weight: float) -> None:
    """They may be nonsense as counts, but they are finite and positive, so they were accepted."""
    q = np.tile([0.2, 0.8], 20)
    try:
        result = calibrate(q, np.tile([0, 1], 20), weight=np.full(40, weight))
    except InputError:
        return
    assert 0 <= result.calibration_error.low <= result.calibration_error.high <= 1


@pytest.mark.parametrize("spread", ["one", "equal", "falling"])
@pytest.mark.parametrize("theta", [0.0, 1.0, 20.0])
def test_normal_scores_of_quadratic_forms(spread: str, theta: float) -> None:
    """Weighted sums of noncentral chi-squares, drawn; their scores have normal quantiles."""
    weight = {"one": np.ones(1), "equal": np.full(12, 0.3), "falling": 0.7 ** np.arange(12)}[spread]
    rng = np.random.default_rng(5)
    shift = np.sqrt(theta / len(weight))
    noise = rng.standard_normal((100_000, len(weight))) * np.sqrt(weight)
    drawn = np.sort(np.sum((noise + shift) ** 2, axis=1))
    tilt, tilt_third = weight.mean(), (weight**2).mean()
    mean = weight.sum() + theta
    half = float((weight**2).sum() + 2 * tilt * theta)
    third = float((weight**3).sum() + 3 * tilt_third * theta)
    for chance in (0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
        score = _normal_score(float(drawn[int(chance * len(drawn))]), float(mean), half, third)
        # Close where it matters; the approximation is known to be rough near zero.
        assert stats.norm.cdf(score) == pytest.approx(chance, abs=0.012 if chance > 0.6 else 0.05)


@pytest.mark.parametrize("level", [0.5, 0.68, 0.9, 0.95, 0.99])
def test_the_bounded_limits_hold_the_level(level: float) -> None:
    """Feldman & Cousins (1998): at any distance from the bound, just the stated probability."""
    distance, lowest, highest = _bounded_limits(level)
    held = stats.norm.cdf(highest) - stats.norm.cdf(lowest)
    np.testing.assert_allclose(held, level, atol=1e-9)
    assert highest[0] == pytest.approx(stats.norm.ppf(level), abs=0.03)
    assert highest[-1] == pytest.approx(normal_quantile(level), abs=1e-3)
    assert lowest[-1] == pytest.approx(-normal_quantile(level), abs=1e-3)
    assert (np.diff(distance) > 0).all()


@pytest.mark.parametrize("mean", [0.1, 0.5, 1.0, 1.6, 2.5])
def test_the_bounded_limits_against_their_construction(mean: float) -> None:
    """Measurements are accepted in order of likelihood ratio until they hold the level."""
    x = np.linspace(-12, 12, 480_001)
    density = stats.norm.pdf(x - mean)
    ratio = np.exp(-0.5 * (x - mean) ** 2 + 0.5 * np.minimum(x, 0.0) ** 2)
    ranked = np.argsort(-ratio, kind="stable")
    held = np.cumsum(density[ranked]) * (x[1] - x[0])
    accepted = x[ranked[: int(np.searchsorted(held, 0.9))]]
    distance, lowest, highest = _bounded_limits(0.9)
    assert accepted.max() - mean == pytest.approx(np.interp(mean, distance, highest), abs=2e-3)
    assert accepted.min() - mean == pytest.approx(np.interp(mean, distance, lowest), abs=2e-2)


def algorithm_2(q: Floats, y: Labels, size: int, draws: int, seed: int) -> tuple[float, float]:
    """Nguyen & O'Connor (2015), Algorithm 2, with loops: mean and standard deviation."""
    rng = np.random.default_rng(seed)
    bins = literal_bins(q, y, size)
    found = []
    for _ in range(draws):
        square = 0.0
        for n, p, mean in bins:
            drawn = rng.normal(p, math.sqrt(p * (1 - p) / n))
            square += n * (mean - min(1.0, max(0.0, drawn))) ** 2
        found.append(math.sqrt(square / len(q)))
    average = sum(found) / draws
    return average, math.sqrt(sum((each - average) ** 2 for each in found) / (draws - 1))


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_algorithm_2_with_the_same_draws(power: float) -> None:
    y = (np.random.default_rng(3).random(1000) < UNIFORM**power).astype(np.uint8)
    mean, low, high = simulation_interval(bins_of(UNIFORM, y, 90), draws=400, seed=7)
    expected, deviation = algorithm_2(UNIFORM, y, 90, 400, 7)
    assert mean == pytest.approx(expected, rel=1e-12)
    z = stats.norm.ppf(0.975)
    assert (low, high) == pytest.approx((expected - z * deviation, expected + z * deviation))


def test_algorithm_2_in_blocks_and_by_seed() -> None:
    y = (np.random.default_rng(3).random(1000) < UNIFORM).astype(np.uint8)
    bins = bins_of(UNIFORM, y, 2)  # two thousand draws of 500 bins fill a block
    many = simulation_interval(bins, draws=2500, seed=1)
    assert many == simulation_interval(bins, draws=2500, seed=1)
    assert many != simulation_interval(bins, draws=2500, seed=2)
    few = bins_of(UNIFORM, y, 100)
    first, second = (simulation_interval(few, draws=10_000, seed=seed) for seed in (0, 1))
    np.testing.assert_allclose(first, second, atol=1.5e-3)


def test_algorithm_2_hardly_ever_covers_perfect_calibration() -> None:
    """It adds the bias of label noise a second time; the default interval does not."""
    rng = np.random.default_rng(4)
    held = {"simulation": 0, "score": 0}
    for _ in range(100):
        bins = bins_of(UNIFORM, (rng.random(1000) < UNIFORM).astype(np.uint8), 50)
        held["simulation"] += simulation_interval(bins, draws=200)[1] <= 0.0
        held["score"] += score_interval(bins)[0] <= 0.0
    assert held["simulation"] <= 1
    assert held["score"] >= 89


@pytest.mark.parametrize("power", [1.0, 1.5, 3.0])
def test_bootstrap_interval_is_much_like_the_score_interval(power: float) -> None:
    y = (np.random.default_rng(5).random(1000) < UNIFORM**power).astype(np.uint8)
    score = calibrate(UNIFORM, y, bin_size=100).calibration_error
    again = calibrate(UNIFORM, y, bin_size=100, interval="bootstrap", draws=400).calibration_error
    assert again.value == score.value
    assert again.debiased == score.debiased
    assert again.debiased is not None
    assert again.low - 1e-9 <= again.debiased <= again.high + 1e-9
    assert again.low == pytest.approx(score.low, abs=0.025)
    assert again.high == pytest.approx(score.high, abs=0.025)


def square_and_bias(bins: Bins) -> tuple[float, float]:
    return rms(bins) ** 2, label_noise(bins).bias


def test_bootstrap_interval_covers() -> None:
    rng = np.random.default_rng(6)
    q = UNIFORM[:400]
    truth = rms(adaptive(order(true_pairs(q, q**2)), 40))
    held = 0
    for _ in range(100):
        y = (rng.random(400) < q**2).astype(np.uint8)
        ordered = order(Pairs(q, y))
        table = [square_and_bias(adaptive(ordered, 40))]
        table += [square_and_bias(adaptive(ordered.resample(rng), 40)) for _ in range(100)]
        low, high = bootstrap_interval(table)
        held += low <= truth <= high
    assert held >= 86


def test_bootstrap_arithmetic() -> None:
    """The data's own Q - B, moved back by the quantiles of Q* - B* - Q."""
    table = [(0.05, 0.01), (0.06, 0.01), (0.07, 0.01), (0.08, 0.01), (0.09, 0.01), (0.10, 0.01)]
    low, high = bootstrap_interval(table, 0.5)
    # Strays are 0, 0.01, 0.02, 0.03, 0.04; the quartiles 0.01 and 0.03; the estimate 0.04.
    assert low**2 == pytest.approx(0.01)
    assert high**2 == pytest.approx(0.03)
    low, high = bootstrap_interval([(0.01, 0.01), (0.5, 0.0), (0.6, 0.0)])
    assert (low, high) == (0.0, 0.0)  # cut at zero


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
@settings(max_examples=100)
def test_wilson_against_scipy(n: int, share: float, level: float) -> None:
    count = round(n * share)
    expected = stats.binomtest(count, n).proportion_ci(level, method="wilson")
    low, high = wilson(np.array([count / n]), np.array([float(n)]), level)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0, float("nan")])
def test_refused_levels(level: float) -> None:
    bins = bins_of(np.array([0.5]), np.array([1], np.uint8), 1)
    for call in (
        check_level,
        lambda x: score_interval(bins, x),
        lambda x: simulation_interval(bins, x),
        lambda x: bootstrap_interval([(0.0, 0.0)], x),
        lambda x: wilson(bins.p, bins.n, x),
    ):
        with pytest.raises(InputError) as caught:
            call(level)
        message = f"level: {level:g} is not a level; give a number such as 0.95"
        assert str(caught.value) == message


def test_the_noise_may_be_given() -> None:
    y = (np.random.default_rng(8).random(1000) < UNIFORM).astype(np.uint8)
    bins = bins_of(UNIFORM, y, 50)
    assert score_interval(bins, noise=label_noise(bins)) == score_interval(bins)


@given(rows(most=30, kind="tenths"), st.integers(1, 10))
@settings(max_examples=50)
def test_the_plug_in_error_is_not_below_the_interval(data: Rows, size: int) -> None:
    """Noise only ever raises it."""
    bins = bins_of(data.q, data.y, size)
    low, _ = score_interval(bins)
    assume(rms(bins) > 0)
    assert low <= rms(bins) + 1e-12
