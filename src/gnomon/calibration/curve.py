"""Calibration curves: label frequency against prediction, three ways, and in words."""

from dataclasses import dataclass

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from gnomon.calibration.bins import Bins, Floats
from gnomon.calibration.interval import check_level, normal_quantile, wilson
from gnomon.calibration.noise import Noise, label_noise
from gnomon.calibration.ordered import Cells

GRID = 2048  # resolution of the smooth curve
BLOCKS = 10  # the finest reading of a curve in words
LEAST_INFORMATION = 8.0  # the expected label variance below which a block says nothing


@dataclass(frozen=True, eq=False)
class Curve:
    """Label frequency `p` at predictions `q`, with a pointwise interval."""

    q: Floats
    p: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Region:
    """A range of predictions that reliably errs to one side.

    `gap` is the mean of label frequency minus prediction over it: positive is underconfident.
    """

    kind: str
    low: float
    high: float
    gap: float
    text: str


def binned_curve(bins: Bins, level: float = 0.95, noise: Noise | None = None) -> Curve:
    """One point a bin, with Wilson's interval.

    Where bins share tied predictions or span a wide range, the interval uses the number of
    independent labels that would be as noisy.
    """
    noise = noise or label_noise(bins)
    bernoulli = (bins.n * bins.p + 2.0 * bins.q) / (bins.n + 2.0)
    bernoulli = bernoulli * (1.0 - bernoulli)
    counted = bernoulli > 0
    n = np.divide(
        bernoulli, noise.variance, out=bins.n.copy(), where=counted & (noise.variance > 0)
    )
    low, high = wilson(bins.p, np.maximum(n, bins.n), level)
    return Curve(bins.q, bins.p, low, high)


def isotonic_curve(cells: Cells) -> Curve:
    """The non-decreasing curve nearest the labels (pool adjacent violators); no interval.

    Only the ends of its flat steps are kept.
    """
    q = cells.q / cells.n
    fitted = isotonic_regression(cells.y / cells.n, weights=cells.n).x
    jump = np.flatnonzero(np.diff(fitted) > 1e-12)
    knots = np.unique(np.concatenate([[0], jump, jump + 1, [len(q) - 1]]))
    return Curve(q[knots], fitted[knots], fitted[knots], fitted[knots])


def smooth_curve(
    cells: Cells, level: float = 0.95, *, bandwidth: float | None = None, points: int = 101
) -> Curve:
    """A kernel-smoothed curve with a pointwise band, where there is data to draw one from.

    The residual y - q is smoothed, not y, so a calibrated model gives the diagonal at any
    bandwidth. The kernel is Gaussian and reflected at 0 and 1, which a cosine transform does at
    once; the bandwidth is chosen by leaving one out.
    """
    check_level(level)
    slot = np.minimum((cells.q / cells.n * GRID).astype(np.intp), GRID - 1)
    n, residual, square = (
        np.asarray(np.bincount(slot, each, GRID), np.float64)
        for each in (cells.n, cells.y - cells.q, cells.y - 2.0 * cells.q_label + cells.q_square)
    )
    centre = (np.arange(GRID) + 0.5) / GRID
    if bandwidth is None:
        bandwidth = _best_bandwidth(n, residual, square, centre)
    mass = _smooth(n, bandwidth)
    # How many predictions the kernel reaches; below a handful there is no curve to speak of.
    reach = mass * bandwidth * np.sqrt(2.0 * np.pi) * GRID
    inside = slice(slot[0], slot[-1] + 1)  # never beyond the predictions themselves
    shown = slot[0] + np.flatnonzero(reach[inside] >= 5.0)
    if len(shown):
        shown = shown[np.unique(np.linspace(0, len(shown) - 1, points).astype(int))]
    gap = _smooth(residual, bandwidth)
    near = mass > 1e-9 * mass.max()  # elsewhere the transform leaves nothing but rounding
    p = np.clip(centre + np.divide(gap, mass, out=np.zeros(GRID), where=near), 0.0, 1.0)
    pseudo = (reach * p + 2.0 * centre) / (np.maximum(reach, 0.0) + 2.0)
    # The squared kernel is a narrower Gaussian.
    squared = _smooth(n * pseudo * (1.0 - pseudo), bandwidth / np.sqrt(2.0))
    squared /= 2.0 * bandwidth * np.sqrt(np.pi) * GRID
    variance = np.divide(squared, mass**2, out=np.zeros(GRID), where=near)
    band = normal_quantile(level) * np.sqrt(np.maximum(variance[shown], 0.0))
    p = p[shown]
    return Curve(centre[shown], p, np.maximum(p - band, 0.0), np.minimum(p + band, 1.0))


def regions(cells: Cells, level: float = 0.95) -> list[Region]:
    """Where the model is reliably over- or underconfident, in words.

    Predictions are divided into at most ten blocks that expect the same label noise, tied ones
    never apart; each block's mean gap is tested against what a calibrated model would show (its
    normal score corrected for skewness, after Cornish & Fisher), at a level divided by the number
    of blocks; and neighbours that agree are joined. Nguyen & O'Connor (2015), section 3.3:
    above the diagonal underconfident, below overconfident.
    """
    mean = cells.q / cells.n
    variance = np.maximum(cells.q - cells.q_square, 0.0)
    information = np.cumsum(variance)
    blocks = int(np.clip(information[-1] / LEAST_INFORMATION, 0, BLOCKS))
    if blocks == 0:
        return []
    # A cell belongs where its middle falls.
    block = ((information - 0.5 * variance) / information[-1] * blocks).astype(np.intp)
    starts = np.flatnonzero(np.diff(np.minimum(block, blocks - 1), prepend=-1))
    ends = np.concatenate([starts[1:], [len(cells)]]) - 1
    mass, excess, square, cube = (
        np.add.reduceat(each, starts)
        for each in (cells.n, cells.y - cells.q, variance, variance * (1.0 - 2.0 * mean))
    )
    deviation = np.sqrt(square)
    skewness = np.divide(cube, deviation**3, out=np.zeros(len(cube)), where=deviation > 0)
    z = -float(ndtri((1.0 - level) / 2.0 / len(starts)))
    bend = (z * z - 1.0) * skewness / 6.0
    over, under = excess < (bend - z) * deviation, excess > (bend + z) * deviation
    verdict = np.where(under, 1, np.where(over, -1, 0))
    for k in range(1, len(starts) - 1):  # a block that leans as both its neighbours do joins them
        if verdict[k] == 0 and verdict[k - 1] == verdict[k + 1] == np.sign(excess[k]):
            verdict[k] = verdict[k - 1]
    found = []
    first = 0
    for last in range(len(starts)):
        if last + 1 < len(starts) and verdict[last + 1] == verdict[last]:
            continue
        if verdict[last]:
            rows = slice(first, last + 1)
            gap = float(excess[rows].sum() / mass[rows].sum())
            below = None if first == 0 else _between(cells, starts[first] - 1)
            above = None if last + 1 == len(starts) else _between(cells, ends[last])
            found.append(_region(verdict[last] > 0, below, above, gap))
        first = last + 1
    return found


def _between(cells: Cells, left: int) -> float:
    return float(cells.high[left] + cells.low[left + 1]) / 2.0


def _region(under: bool, low: float | None, high: float | None, gap: float) -> Region:
    kind = "underconfident" if under else "overconfident"
    where = (
        f"between {_short(low)} and {_short(high)}" if low is not None and high is not None
        else f"below {_short(high)}" if high is not None
        else f"above {_short(low)}" if low is not None
        else "throughout"
    )  # fmt: skip
    return Region(kind, low or 0.0, 1.0 if high is None else high, gap, f"{kind} {where}")


def _short(value: float) -> str:
    """Two decimals, or two digits of the distance from 0 or 1 where that is not enough."""
    distance = min(value, 1.0 - value)
    if distance >= 0.01 or distance <= 0.0:
        return f"{value:.2f}"
    digits = int(np.ceil(-np.log10(distance))) + 1
    return f"{value:.{min(digits, 6)}f}"


def _smooth(values: Floats, bandwidth: float) -> Floats:
    """Convolution with a Gaussian of unit mass, reflected at both ends."""
    frequency = np.pi * np.arange(GRID)
    return np.asarray(idct(dct(values) * np.exp(-0.5 * (frequency * bandwidth) ** 2)))


def _best_bandwidth(n: Floats, residual: Floats, square: Floats, centre: Floats) -> float:
    """The bandwidth that best predicts each residual from the others."""
    used = n > 0
    best = (np.inf, 0.5)
    for bandwidth in np.geomspace(0.5, 3.0 / GRID, 24):
        mass, total = _smooth(n, bandwidth)[used], _smooth(residual, bandwidth)[used]
        own = 1.0 + sum(np.exp(-2.0 * (d[used] / bandwidth) ** 2) for d in (centre, 1.0 - centre))
        own = own / (bandwidth * np.sqrt(2.0 * np.pi) * GRID)
        others = np.maximum(mass - own, 1e-3 * own)  # alone within reach: a heavy penalty
        error = mass**2 * square[used] - 2.0 * mass * total * residual[used] + n[used] * total**2
        risk = float(np.sum(error / others**2))
        if risk < best[0]:
            best = (risk, float(bandwidth))
    return best[1]
