"""Two models on the same items: is one better calibrated than the other?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.calibration.analyse import Calibration, Settings, analyse
from gnomon.calibration.bins import Bins
from gnomon.calibration.interval import normal_quantile, score_interval
from gnomon.calibration.noise import Noise, label_noise
from gnomon.calibration.ordered import order
from gnomon.calibration.pairs import Pairs, as_pairs, check_aligned
from gnomon.estimate import JSON, Estimate, Signature, digest


@dataclass(frozen=True, eq=False)
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
        return f"better calibrated: {better} ({interval})"

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
    better calibrated: honest (95 % interval -0.2052 to -0.1426)
    """
    check_aligned([(first, names[0]), (second, names[1])])
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
    if first.weight is not None and not first.weight.all():
        used = first.weight > 0
        first, second = first.take(used), second.take(used)
    results = [analyse(order(pairs), settings) for pairs in (first, second)]
    noises = [label_noise(result.bins) for result in results]
    squares = [noise.squared_error for noise in noises]
    deviation = _paired_variance(noises, (first, second)) ** 0.5
    square = squares[0].observed - squares[0].bias - squares[1].observed + squares[1].bias
    if abs(square) <= 1e-12 * (squares[0].observed + squares[1].observed):
        square = 0.0  # nothing but rounding
    reach = normal_quantile(settings.level) * deviation
    limits = [score_interval(n.bins, settings.level, n) for n in noises]
    least, most = (limits[0][side] + limits[1][side] for side in (0, 1))
    low = -_largest_difference(reach - square, least, most)
    high = _largest_difference(reach + square, least, most)
    value = squares[0].debiased - squares[1].debiased
    return Comparison(
        first=results[0],
        second=results[1],
        difference=Estimate(
            value=min(max(value, low), high),
            low=low,
            high=high,
            level=settings.level,
            method="paired",
            n=first.mass,
        ),
        signature=Signature(
            "compare", settings.to_dict(), settings.seed, _fingerprint(first, second)
        ),
        names=names,
    )


def _fingerprint(first: Pairs, second: Pairs) -> str:
    """A digest of all rows that does not depend on their order."""
    columns = [first.q, second.q, first.y, second.y]
    if first.weight is not None:
        columns.append(first.weight)
    ascending = np.lexsort(columns)
    return digest(*(column[ascending] for column in columns))


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
    sides = [_Side.of(noise, each.q) for noise, each in zip(noises, pairs, strict=True)]
    mass = pairs[0].weight
    variance = 0.5 * (sides[0].variance + sides[1].variance)
    variance = variance if mass is None else variance * mass
    quadratic = linear = scale = 0.0
    for one, other, sign in ((0, 0, 1.0), (1, 1, 1.0), (0, 1, -2.0)):
        a, b = sides[one], sides[other]
        i, j, covariance = a.covariance(b, variance)
        weight = sign * a.bins.weight[i] * b.bins.weight[j]
        quadratic += float(weight @ covariance**2)
        linear += float(weight @ (a.bins.gap[i] * b.bins.gap[j] * covariance))
        scale = max(scale, abs(quadratic), abs(linear))
    # Of two models that agree nothing is left but rounding.
    quadratic, linear = (0.0 if each <= 1e-12 * scale else each for each in (quadratic, linear))
    return 2.0 * quadratic + 4.0 * max(0.0, linear - quadratic)


class _Side(NamedTuple):
    """One model's bins and, for each item, its unit and the variance of its label.

    An item's unit is its bin or, where bins share its tied group, that group; `shares` says which
    part of each unit each bin takes.
    """

    bins: Bins
    unit: NDArray[np.intp]
    variance: NDArray[np.float64]
    shares: Any  # a scipy.sparse array, units × bins

    @classmethod
    def of(cls, noise: Noise, q: NDArray[Any]) -> "_Side":
        from scipy.sparse import coo_array

        bins, ties, count = noise.bins, noise.bins.ties, len(noise.bins)
        value, first, group = np.unique(ties.q, return_index=True, return_inverse=True)
        unit = np.searchsorted(bins.high, q)
        label = np.concatenate([noise.label_variance, noise.group_variance[first]])
        if len(value):
            at = np.minimum(np.searchsorted(value, q), len(value) - 1)
            unit = np.where(value[at] == q, count + at, unit)
        rows = np.concatenate([np.arange(count), count + group])
        columns = np.concatenate([np.arange(count), ties.bin])
        parts = np.concatenate([np.ones(count), ties.share / ties.size])
        shares = coo_array((parts, (rows, columns)), shape=(count + len(value), count)).tocsr()
        return cls(bins, unit, label[unit], shares)

    def covariance(
        self, other: "_Side", variance: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """Covariances of label frequencies as (own bin, other's bin, value)."""
        from scipy.sparse import coo_array

        shape = (self.shares.shape[0], other.shares.shape[0])
        units = coo_array((variance, (self.unit, other.unit)), shape=shape).tocsr()
        matrix = (self.shares.T @ units @ other.shares).tocoo()
        i, j = matrix.coords
        return i, j, matrix.data / (self.bins.n[i] * other.bins.n[j])
