"""Calibration error: how far label frequencies are from predictions, over the bins."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from gnomon.calibration.bins import Bins, Floats
from gnomon.calibration.noise import Noise, label_noise


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


def _expected_maximum(gap: Floats, sigma: Floats, points: int = 400) -> float:
    """The mean of max |gap + noise|: the integral of its survival function."""
    floor = float(np.max(gap - 6.0 * sigma, initial=0.0))
    grid = np.linspace(floor, float(np.max(gap + 6.0 * sigma)), points)
    if grid[-1] == grid[0]:
        return float(grid[0])
    noisy = sigma > 0
    gap, sigma = gap[noisy], sigma[noisy]
    log_below = np.zeros(points)
    with np.errstate(divide="ignore"):
        for start in range(0, len(gap), 256):  # bounds the memory of points × bins
            g, s = gap[start : start + 256, None], sigma[start : start + 256, None]
            log_below += np.log(ndtr((grid - g) / s) - ndtr((-grid - g) / s)).sum(axis=0)
    return float(grid[0] + np.trapezoid(1.0 - np.exp(log_below), grid))
