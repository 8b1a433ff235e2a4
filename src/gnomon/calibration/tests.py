"""Tests of the hypothesis that predictions are calibrated: labels are drawn with chance q."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from gnomon.calibration.ordered import Cells


@dataclass(frozen=True)
class TestOfCalibration:
    """A test's statistic and the chance of one as extreme from a calibrated model."""

    __test__ = False  # not a test case, whatever its name

    name: str
    statistic: float
    p_value: float


def spiegelhalter(cells: Cells) -> TestOfCalibration:
    """Spiegelhalter's z (1986): is the Brier score what a calibrated model's would be?

    Sensitive to predictions that are all too bold or all too timid.

    >>> from gnomon.calibration.ordered import order
    >>> from gnomon.calibration.pairs import as_pairs
    >>> cells = order(as_pairs([0.9] * 50 + [0.1] * 50, [1] * 30 + [0] * 20 + [0] * 50)).cells
    >>> print(round(spiegelhalter(cells).statistic, 3))
    3.333
    """
    excess = np.sum(cells.y - cells.q - 2.0 * (cells.q_label - cells.q_square))
    mean = cells.q / cells.n
    # Within a bucket of a stream the variance term is taken at the bucket's mean.
    variance = np.sum(cells.n * (1.0 - 2.0 * mean) ** 2 * mean * (1.0 - mean))
    return _two_sided("spiegelhalter", float(excess), float(variance))


def kuiper(cells: Cells) -> TestOfCalibration:
    """Kuiper's test on cumulative differences: does any range of predictions err to one side?

    The running sum of label minus prediction, in ascending order of prediction, is a random walk
    when the model is calibrated; the statistic is its range over its standard deviation, and the
    p-value that of the range of Brownian motion. Arrieta-Ibarra et al. (2022), Metrics of
    calibration for probabilistic predictions (there ECCE-R).
    """
    walk = np.concatenate([[0.0], np.cumsum(cells.y - cells.q)])
    mean = cells.q / cells.n
    deviation = float(np.sqrt(np.sum(cells.n * mean * (1.0 - mean))))
    span = float(walk.max() - walk.min())
    # Rounding alone moves the walk by a few units in the last place.
    if span <= 1e-12 * max(1.0, cells.mass):
        return TestOfCalibration("kuiper", 0.0, 1.0)
    if deviation == 0.0:  # every prediction was certain, and one was wrong
        return TestOfCalibration("kuiper", float("inf"), 0.0)
    return TestOfCalibration("kuiper", span / deviation, range_of_brownian_motion(span / deviation))


def range_of_brownian_motion(width: float) -> float:
    """P(the range of standard Brownian motion on [0, 1] exceeds `width`) (Feller, 1951).

    >>> print(round(range_of_brownian_motion(2.241), 3))
    0.1
    """
    if width <= 0:
        return 1.0
    if width > 1.5:  # this series converges fast for wide ranges, the next for narrow ones
        k = np.arange(1, 30)
        signs = np.where(k % 2 == 1, 1.0, -1.0)
        return float(np.clip(8.0 * np.sum(signs * k * ndtr(-k * width)), 0.0, 1.0))
    odd = (2.0 * np.arange(1, 60) - 1.0) * np.pi
    terms = (1.0 / width**2 + 1.0 / odd**2) * np.exp(-0.5 * (odd / width) ** 2)
    return float(np.clip(1.0 - 8.0 * np.sum(terms), 0.0, 1.0))


def _two_sided(name: str, excess: float, variance: float) -> TestOfCalibration:
    if variance <= 0.0:
        certain = abs(excess) <= 1e-12
        return TestOfCalibration(name, 0.0 if certain else float("inf"), 1.0 if certain else 0.0)
    z = excess / variance**0.5
    return TestOfCalibration(name, z, float(2.0 * ndtr(-abs(z))))
