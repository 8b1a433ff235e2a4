"""Two models on the same items: is one better calibrated than the other?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.calibration.analyse import Calibration, Settings, analyse
from gnomon.calibration.bins import Bins
from gnomon.calibration.interval import normal_quantile, score_interval
from gnomon.calibration.noise import Noise, label_noise
from gnomon.calibration.ordered import order
from gnomon.calibration.pairs import Pairs, as_pairs
from gnomon.estimate import JSON, Estimate, Signature, digest


@dataclass(frozen=True)
class Comparison:
    """Two models' calibration on the same items, and the difference of their errors.

    `difference` is the first's error minus the second's: negative where the first is better.
    """

    first: Calibration
    second: Calibration
    difference: Estimate
    signature: Signature
    names: tuple[str, str] = ("first", "second")

    def to_dict(self) -> dict[str, JSON]:
        """Both results and the difference, ready for JSON."""
        return {
            "names": list(self.names),
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "difference": self.difference.to_dict(),
            "signature": self.signature.to_dict(),
        }

    def verdict(self) -> str:
        """The difference in one sentence."""
        d = self.difference
        interval = f"{100 * d.level:.4g} % interval {d.low:+.4f} to {d.high:+.4f}"
        if d.low <= 0.0 <= d.high:
            return f"the difference could be chance ({interval})"
        better = self.names[0] if d.high < 0.0 else self.names[1]
        return f"{better} is better calibrated ({interval})"

    def __str__(self) -> str:
        return (
            f"{self.names[0]}\n{self.first}\n\n{self.names[1]}\n{self.second}\n\n"
            f"difference of errors ({self.names[0]} minus {self.names[1]}, debiased)"
            f"  {self.difference.value:+.4f}: {self.verdict()}\n{self.signature}"
        )


def compare(
    first: ArrayLike,
    second: ArrayLike,
    label: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    settings: Settings | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """The calibration of two columns of predictions for the same labels, and their difference.

    The interval is paired: it follows from the difference of the squared errors, from which the
    noise that the two models share cancels.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(4000)
    >>> result = compare(p, p**2, rng.random(4000) < p, names=("honest", "timid"))
    >>> print(result.verdict())
    honest is better calibrated (95 % interval -0.2052 to -0.1426)
    """
    pairs = [as_pairs(q, label, weight, names=(name, "label", "weight"))
             for q, name in zip((first, second), names, strict=True)]  # fmt: skip
    return compare_pairs(pairs[0], pairs[1], settings, names=names)


def compare_pairs(
    first: Pairs,
    second: Pairs,
    settings: Settings | None = None,
    *,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """The comparison of checked pairs, which share their labels and weights."""
    settings = settings or Settings()
    results = [analyse(order(pairs), settings) for pairs in (first, second)]
    noises = [label_noise(result.bins) for result in results]
    squares = [noise.squared_error for noise in noises]
    deviation = _paired_variance(noises, (first, second)) ** 0.5
    square = squares[0].observed - squares[0].bias - squares[1].observed + squares[1].bias
    reach = normal_quantile(settings.level) * deviation
    limits = [score_interval(n.bins, settings.level, n) for n in noises]
    least, most = (limits[0][side] + limits[1][side] for side in (0, 1))
    return Comparison(
        first=results[0],
        second=results[1],
        difference=Estimate(
            value=squares[0].debiased - squares[1].debiased,
            low=-_largest_difference(reach - square, least, most),
            high=_largest_difference(reach + square, least, most),
            level=settings.level,
            method="paired",
            n=first.mass,
        ),
        signature=Signature(
            "compare", settings.to_dict(), settings.seed, digest(first.q, second.q, first.y)
        ),
        names=names,
    )


def _largest_difference(square: float, least: float, most: float) -> float:
    """The largest a - b with a² - b² at most `square` and a + b between `least` and `most`."""
    if square > 0.0:
        return square / max(least, math.sqrt(square))  # b ≥ 0, so a + b is no less than √square
    return square / most if most > 0.0 else 0.0


def _paired_variance(noises: Sequence[Noise], pairs: tuple[Pairs, Pairs]) -> float:
    """The variance of the difference of two debiased squared errors on the same items.

    Bins i of the one and j of the other have label frequencies with covariance
    v n_ij / (n_i n_j), n_ij being the mass they share. Each squared error has a part that is
    quadratic in the noise and one that is linear in it; noise in the gaps inflates the latter
    by just the former. Where both models make the same bins the quadratic parts cancel.
    """
    (a, b), (square_a, square_b) = noises, [noise.squared_error for noise in noises]
    mass = pairs[0].weight
    left, right = (_membership(n.bins, p.q) for n, p in zip(noises, pairs, strict=True))
    shared = (left.T @ (right if mass is None else right.multiply(mass[:, None]))).tocoo()
    i, j = shared.coords
    label_variance = 0.5 * ((a.variance * a.bins.n)[i] + (b.variance * b.bins.n)[j])
    covariance = shared.data * label_variance / (a.bins.n[i] * b.bins.n[j])
    weight = a.bins.weight[i] * b.bins.weight[j]
    quadratic = square_a.second + square_b.second - 2.0 * float(weight @ covariance**2)
    linear = square_a.tilt * square_a.observed + square_b.tilt * square_b.observed
    linear -= 2.0 * float(weight @ (a.bins.gap[i] * b.bins.gap[j] * covariance))
    quadratic = max(0.0, quadratic)
    return 2.0 * quadratic + 4.0 * max(0.0, linear - quadratic)


def _membership(bins: Bins, q: NDArray[Any]) -> Any:
    """A sparse N × T matrix: which share of each item each bin takes."""
    from scipy.sparse import csr_array

    ties = bins.ties
    value, count = np.unique(ties.q, return_counts=True)
    if not len(value):
        value, count = np.array([2.0]), np.zeros(1, np.intp)  # a prediction nothing equals
    by_value = np.argsort(ties.q, kind="stable")
    start = np.cumsum(count) - count
    group = np.minimum(np.searchsorted(value, q), len(value) - 1)
    tied = np.flatnonzero(value[group] == q)
    alone = np.flatnonzero(value[group] != q)
    times = count[group[tied]]
    entry = np.repeat(start[group[tied]], times)
    entry += np.arange(len(entry)) - np.repeat(np.cumsum(times) - times, times)
    entry = by_value[entry]
    rows = np.concatenate([alone, np.repeat(tied, times)])
    columns = np.concatenate([np.searchsorted(bins.high, q[alone]), ties.bin[entry]])
    shares = np.concatenate([np.ones(len(alone)), (ties.share / ties.size)[entry]])
    return csr_array((shares, (rows, columns)), shape=(len(q), len(bins)))
