"""Calibration error: how far label frequencies are from predictions, over the bins."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from gnomon.calibration.bins import Bins, Floats
from gnomon.calibration.noise import Noise, label_noise

_ROOTS, _WEIGHTS = np.polynomial.legendre.leggauss(24)
NODES = (0.5 * (_ROOTS + 1.0), 0.5 * _WEIGHTS)  # Gauss-Legendre on [0, 1]


@dataclass(frozen=True)
class Errors:
    """Three summaries of the gaps between label frequency and prediction.

    Chance alone makes each of them positive, so each comes plain (the plug-in value) and with
    that bias removed as far as it can be: exactly on the squared scale for `rms`, to first order
    for `ece` and `maximum`.
    """

    rms: float
    rms_debiased: float
    ece: float
    ece_debiased: float
    maximum: float
    maximum_debiased: float


def errors(bins: Bins, noise: Noise | None = None) -> Errors:
    """RMS, mean absolute (ECE) and maximum calibration error of the bins.

    RMS is CalibErr of Nguyen & O'Connor (2015), Algorithm 1, step 5.

    >>> from gnomon.calibration.ordered import adaptive, order
    >>> from gnomon.calibration.pairs import as_pairs
    >>> pairs = as_pairs([0.1, 0.3, 0.6, 0.8], [0, 0, 1, 1])
    >>> print(round(errors(adaptive(order(pairs), 2)).rms, 4))
    0.255
    """
    noise = noise or label_noise(bins)
    gap = np.abs(bins.gap)
    square = float(bins.weight @ gap**2)
    ece, largest = float(bins.weight @ gap), float(gap.max())
    sigma = np.sqrt(noise.variance)
    return Errors(
        rms=square**0.5,
        rms_debiased=max(0.0, square - noise.bias) ** 0.5,
        ece=ece,
        ece_debiased=max(0.0, 2 * ece - float(bins.weight @ _expected_size(gap, sigma))),
        maximum=largest,
        maximum_debiased=max(0.0, 2 * largest - _expected_maximum(gap, sigma)),
    )


def _expected_size(gap: Floats, sigma: Floats) -> Floats:
    """The mean of |gap + noise| for normal noise (the folded normal distribution)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(sigma > 0, gap / sigma, np.inf)
    density = np.exp(-0.5 * z**2) * np.sqrt(2 / np.pi)
    return np.asarray(sigma * density + gap * (1.0 - 2.0 * ndtr(-z)))


def _expected_maximum(gap: Floats, sigma: Floats) -> float:
    """The mean of max |gap + noise|: the integral of the chance that it exceeds t."""
    noisy = sigma > 0
    floor = float(np.max(gap[~noisy], initial=0.0))
    gap, sigma = gap[noisy], sigma[noisy]
    if not len(gap):
        return floor

    def exceed(t: Floats) -> Floats:
        """For each t and bin, the chance that |gap + noise| exceeds t."""
        return np.asarray(ndtr((gap - t[:, None]) / sigma) + ndtr((-gap - t[:, None]) / sigma))

    # Below `low` some bin exceeds t for certain, above `high` none does.
    reach = float(np.max(gap + 9.0 * sigma))
    low, high = (_crossing(lambda t: float(exceed(np.array([t])).sum()), reach, many)
                 for many in (30.0, 1e-9))  # fmt: skip
    low, high = max(low, floor), max(high, floor)
    node, weight = NODES
    t = low + (high - low) * node
    with np.errstate(divide="ignore"):
        below = np.exp(np.log1p(-np.minimum(exceed(t), 1.0)).sum(axis=1))
    return low + (high - low) * float(weight @ (1.0 - below))


def _crossing(decreasing: Callable[[float], float], reach: float, value: float) -> float:
    """Where a decreasing function on [0, reach] passes a value, near enough."""
    a, b = 0.0, reach
    if decreasing(0.0) <= value:
        return 0.0
    for _ in range(12):
        middle = 0.5 * (a + b)
        a, b = (middle, b) if decreasing(middle) > value else (a, middle)
    return a
