"""Intervals for the RMS calibration error.

The target is the error the bins would show if every label were replaced by its true probability:
what is left when label noise is gone. θ is its square.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from gnomon.calibration.bins import Bins, Floats
from gnomon.calibration.noise import Noise, SquaredError, label_noise, noise_if_calibrated
from gnomon.errors import InputError

VANISHING = 1e-60  # less noise than this is none: its fourth power would be zero
METHODS = ("score", "simulation", "bootstrap")


class Evidence(NamedTuple):
    """What a bin set says about its true squared error θ.

    `error` is the observed one with the noise as estimated, `if_calibrated` the same with the
    noise of a calibrated model; `silent` is how large θ can be for all that bins without noise
    of their own can tell.
    """

    error: SquaredError
    if_calibrated: SquaredError
    silent: float

    @staticmethod
    def mean(parts: "Sequence[Evidence]", *, independent: bool = True) -> "Evidence":
        """The evidence on the mean of several squared errors."""
        return Evidence(
            SquaredError.mean([part.error for part in parts], independent=independent),
            SquaredError.mean([part.if_calibrated for part in parts], independent=independent),
            sum(part.silent for part in parts) / len(parts),
        )


def evidence(bins: Bins, level: float = 0.95, noise: Noise | None = None) -> Evidence:
    """The evidence of the bins."""
    check_level(level)
    noise = noise or label_noise(bins)
    null = noise_if_calibrated(bins)
    return Evidence(noise.squared_error, null.squared_error, _silent_bound(bins, noise, level))


def score_interval(
    bins: Bins, level: float = 0.95, noise: Noise | None = None
) -> tuple[float, float]:
    """Every error that the observed one would not be surprising under; the default."""
    return score_limits(evidence(bins, level, noise), level)


def score_limits(known: Evidence, level: float = 0.95) -> tuple[float, float]:
    """The limits of the RMS error by inverting a test of each value it might have.

    Where labels of one kind are rare, the noise estimated from too few of them is too small;
    zero is therefore given up only if the noise of a calibrated model does not explain Q either.
    """
    low, high = _inverted(known.error, level)
    null = known.if_calibrated
    if low > 0.0 and null.bias >= VANISHING:
        score = _normal_score(null.observed, null.bias, null.second, null.third)
        if score <= float(ndtri(level)):
            low = 0.0
    return low, min(1.0, max(high, known.silent**0.5))


def _inverted(error: SquaredError, level: float) -> tuple[float, float]:
    """Every RMS error under which Q is not surprising.

    Under a true squared error θ the plug-in Q is a weighted sum of noncentral chi-squares. Its
    distribution is brought to a normal score by the power transformation of Jensen & Solomon
    (1972), which matches three moments, and θ is kept if that score lies between two limits. θ
    cannot be negative, so near zero equal tails would waste one of them: the limits are those of
    Feldman & Cousins (1998), which go from one-sided at θ = 0 to equal tails two standard
    deviations away, and cover with the stated probability throughout.
    """
    observed, first = error.observed, error.bias
    if first < VANISHING:
        return (observed**0.5, observed**0.5) if observed > 1e-30 else (0.0, observed**0.5)
    distances, lowest, highest = _bounded_limits(level)

    def position(theta: float) -> tuple[float, float]:
        """The normal score of Q under θ, and θ's distance from zero in standard deviations."""
        half = error.second + 2.0 * error.tilt * theta
        third = error.third + 3.0 * error.tilt_third * theta
        return _normal_score(observed, first + theta, half, third), theta / math.sqrt(2.0 * half)

    def above(theta: float) -> float:
        score, distance = position(theta)
        return score - float(np.interp(distance, distances, highest))

    def below(theta: float) -> float:
        score, distance = position(theta)
        # As a ratio, because the lower limit runs to minus infinity at zero.
        return 1.0 - max(score, -1e6) / float(np.interp(distance, distances, lowest))

    low = 0.0
    if above(0.0) > 0.0:
        low = float(brentq(above, 0.0, observed, rtol=1e-10, xtol=1e-18))
    width = math.sqrt(2.0 * error.second) + max(observed, first)
    high = max(observed - first, 0.0) + width
    while below(high) > 0.0:
        high += width
        width *= 2.0
    start = max(low, 1e-9 * high)
    if below(start) > 0.0:
        high = float(brentq(below, start, high, rtol=1e-10, xtol=1e-18))
    else:
        high = start
    return low**0.5, high**0.5


def simulation_interval(
    bins: Bins, level: float = 0.95, *, draws: int = 10_000, seed: int = 0
) -> tuple[float, float, float]:
    """Nguyen & O'Connor (2015), Algorithm 2: mean, low and high of simulated errors.

    Kept for replication. Simulating around the observed frequencies adds the bias of label noise
    a second time, so near perfect calibration the interval hardly ever covers the truth.
    """
    check_level(level)
    rng = np.random.default_rng(seed)
    sigma = np.sqrt(bins.p * (1.0 - bins.p) / bins.n)
    weight = bins.weight
    simulated = np.empty(draws)
    rows = max(1, 1_000_000 // len(bins))
    for start in range(0, draws, rows):
        block = simulated[start : start + rows]
        p = rng.standard_normal((len(block), len(bins))) * sigma + bins.p
        block[:] = np.sqrt((np.clip(p, 0.0, 1.0) - bins.q) ** 2 @ weight)
    mean, reach = float(simulated.mean()), normal_quantile(level) * float(simulated.std(ddof=1))
    return mean, max(0.0, mean - reach), mean + reach


def bootstrap_interval(
    square_and_bias: "list[tuple[float, float]] | Floats", level: float = 0.95
) -> tuple[float, float]:
    """The pivotal bootstrap: row 0 is (Q, bias) of the data, each other row of one resample.

    In the resampled world the truth is the observed Q, so Q* - bias* - Q shows how far the
    debiased estimate strays from the truth; the data's own debiased estimate is moved back by
    its quantiles.
    """
    check_level(level)
    table = np.asarray(square_and_bias)
    estimate = table[0, 0] - table[0, 1]
    stray = table[1:, 0] - table[1:, 1] - table[0, 0]
    upper, lower = np.quantile(stray, [(1 + level) / 2, (1 - level) / 2])
    return max(0.0, estimate - upper) ** 0.5, max(0.0, estimate - lower) ** 0.5


def wilson(p: Floats, n: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's interval (1927) for a proportion `p` seen in `n` observations.

    >>> low, high = wilson(np.array([1.0]), np.array([50.0]))
    >>> print(low.round(4), high)
    [0.9287] [1.]
    """
    check_level(level)
    z2 = normal_quantile(level) ** 2
    centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n)
    reach = np.sqrt(z2 * p * (1.0 - p) / n + (z2 / (2.0 * n)) ** 2) / (1.0 + z2 / n)
    return np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)


def check_level(level: float) -> None:
    """Refuses a confidence level outside [0.5, 1)."""
    if not 0.5 <= level < 1.0:
        raise InputError("level", f"{level:g} is not a level", "give a number such as 0.95")


def normal_quantile(level: float) -> float:
    """The half-width of a central normal interval, 1.96 for 95 %."""
    return float(ndtri((1.0 + level) / 2.0))


def _normal_score(observed: float, mean: float, half: float, third: float) -> float:
    """The normal score of a quadratic form, after Jensen & Solomon (1972).

    `mean` is its mean, `half` half its variance, `third` an eighth of its third central moment.
    """
    ratio = half / mean**2
    if observed <= 0.0:
        observed = 1e-300
    power = 1.0 - 2.0 * mean * third / (3.0 * half**2)
    if abs(power) < 1e-6:
        return (math.log(observed / mean) + ratio) / math.sqrt(2.0 * ratio)
    exponent = min(power * math.log(observed / mean), 690.0)
    moved = math.exp(exponent) - 1.0 - ratio * power * (power - 1.0)
    return moved / (power * math.sqrt(2.0 * ratio))


@lru_cache(maxsize=64)
def _bounded_limits(level: float) -> tuple[Floats, Floats, Floats]:
    """The limits of Feldman & Cousins for a normal variable whose mean cannot be negative.

    For means `distance` standard deviations above zero, the lowest and highest score accepted.
    Equal likelihood ratios put the lowest at -(distance² + highest²) / (2 distance); what remains
    is that the two hold the level between them.
    """
    two_sided = normal_quantile(level)
    distance = np.concatenate([[1e-4], np.linspace(0.0, two_sided, 200)[1:]])
    a, b = np.full(len(distance), float(ndtri(level))), np.full(len(distance), two_sided)
    for _ in range(60):
        middle = 0.5 * (a + b)
        held = ndtr(middle) - ndtr(-(distance**2 + middle**2) / (2.0 * distance))
        a, b = np.where(held < level, middle, a), np.where(held < level, b, middle)
    return distance, -(distance**2 + b**2) / (2.0 * distance), b


def _silent_bound(bins: Bins, noise: Noise, level: float) -> float:
    """An upper limit for θ from bins too one-sided to show their own noise.

    Fifty predictions of 1.0 that all came true say that the error is small, not that it is 0.
    Bins that expect less than one label of the rarer kind are pooled, those near 0 and those
    near 1 apart, and their pooled frequency gets a Wilson interval.
    """
    theta = 0.0
    quiet = bins.n**2 * noise.variance < 1.0
    for side in (quiet & (bins.q < 0.5), quiet & (bins.q >= 0.5)):
        n, share = bins.n[side], float(bins.weight[side].sum())
        if share > 0.0:
            p, q = np.average(bins.p[side], weights=n), float(np.average(bins.q[side], weights=n))
            limits = np.concatenate(wilson(np.array([p]), np.array([n.sum()]), level))
            theta += share * float(np.abs(limits - q).max()) ** 2
    return theta
