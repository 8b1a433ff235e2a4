"""Two models on the same items: is one better calibrated than the other?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.calibration.analyse import DRAWS, Calibration, Progress, Settings, analyse
from gnomon.calibration.bins import Bins
from gnomon.calibration.noise import label_noise
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
    progress: Progress | None = None,
) -> Comparison:
    """The calibration of two columns of predictions for the same labels, and their difference.

    The interval is a pivotal bootstrap over items, which keeps what the two models have in
    common out of it.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(4000)
    >>> result = compare(p, p**2, rng.random(4000) < p, names=("honest", "timid"))
    >>> print(result.verdict())
    honest is better calibrated (95 % interval -0.2121 to -0.1725)
    """
    settings = settings or Settings()
    pairs = [as_pairs(q, label, weight, names=(name, "label", "weight"))
             for q, name in zip((first, second), names, strict=True)]  # fmt: skip
    results = [analyse(order(each), settings) for each in pairs]
    observed = [_square_and_bias(result.bins) for result in results]
    estimate = [max(0.0, square - bias) ** 0.5 for square, bias in observed]
    draws = settings.draws if settings.interval == "bootstrap" and settings.draws else None
    draws = draws or DRAWS["bootstrap"]
    rng = np.random.default_rng(settings.seed)
    simulated = np.empty((draws, 2))
    for draw in range(draws):
        rows, mass = _resample(pairs[0], rng)
        for model, each in enumerate(pairs):
            again = Pairs(each.q[rows], each.y[rows], mass)
            square, bias = _square_and_bias(settings.bins(order(again), results[model].bin_size)[0])
            simulated[draw, model] = max(0.0, square - bias) ** 0.5
        if progress:
            progress(draw + 1, draws)
    gap = simulated[:, 0] - simulated[:, 1]
    # In the resampled world the truth is the observed plug-in error.
    stray = gap - (observed[0][0] ** 0.5 - observed[1][0] ** 0.5)
    upper, lower = np.quantile(stray, [(1 + settings.level) / 2, (1 - settings.level) / 2])
    value = estimate[0] - estimate[1]
    return Comparison(
        first=results[0],
        second=results[1],
        difference=Estimate(
            value, value - float(upper), value - float(lower), settings.level, "paired bootstrap",
            pairs[0].mass,
        ),
        signature=Signature(
            "compare", settings.to_dict() | {"resamples": draws}, settings.seed,
            digest(pairs[0].q, pairs[1].q, pairs[0].y),
        ),
        names=names,
    )  # fmt: skip


def _square_and_bias(bins: Bins) -> tuple[float, float]:
    return float(bins.weight @ bins.gap**2), label_noise(bins).bias


def _resample(
    pairs: Pairs, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
    """Rows of a resample and, for weighted pairs, their new weights."""
    if pairs.weight is None:
        return rng.integers(0, len(pairs), len(pairs)), None
    chance = pairs.weight / pairs.weight.sum()
    mass = rng.multinomial(max(1, round(pairs.mass)), chance).astype(np.float64)
    rows = np.flatnonzero(mass)
    return rows, mass[rows]
