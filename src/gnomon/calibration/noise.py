"""How far label frequencies in bins stray from the truth by chance alone.

The predictions are held fixed and the labels are random: a bin's label frequency then has the
variance `mean p_j (1 - p_j) / n`, where p_j is the true probability of item j. Writing p̄ for their
mean, that is `[p̄ (1 - p̄) - variance of the p_j] / n`. The second term is dropped at a price: in a
bin that spans half of [0, 1] it is most of the first.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gnomon.calibration.bins import Bins, Floats


@dataclass(frozen=True)
class SquaredError:
    """The plug-in squared error Q of some bins, and what is needed of its distribution.

    Q is a quadratic form in normal variables. Under a true squared error θ it has mean
    `bias` + θ, variance 2 (`second` + 2 `tilt` θ) and third central moment
    8 (`third` + 3 `tilt_third` θ).
    """

    observed: float
    bias: float
    second: float
    third: float
    tilt: float
    tilt_third: float

    @property
    def debiased(self) -> float:
        """The RMS error with the bias of label noise removed."""
        return math.sqrt(max(0.0, self.observed - self.bias))

    @staticmethod
    def mean(errors: "Sequence[SquaredError]", *, independent: bool = True) -> "SquaredError":
        """The mean of squared errors, independent of each other or as dependent as can be."""
        k = len(errors)
        observed = sum(e.observed for e in errors) / k
        share = [e.observed / observed / k if observed else 1.0 / k for e in errors]

        def joined(parts: list[float], power: int) -> float:
            """A moment of the mean: parts add up, or their roots do."""
            if independent:
                return math.fsum(parts) / math.pow(k, power)
            return math.pow(math.fsum(math.pow(part, 1.0 / power) for part in parts) / k, power)

        def tilted(tilts: list[float], power: int) -> float:
            parts = [part * tilt for part, tilt in zip(share, tilts, strict=True)]
            if independent:
                return math.fsum(parts) / math.pow(k, power - 1)
            return math.pow(math.fsum(math.sqrt(part) for part in parts), 2)

        return SquaredError(
            observed=observed,
            bias=sum(e.bias for e in errors) / k,
            second=joined([e.second for e in errors], 2),
            third=joined([e.third for e in errors], 3),
            tilt=tilted([e.tilt for e in errors], 2),
            tilt_third=tilted([e.tilt_third for e in errors], 3),
        )


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of T bins' label frequencies, and the moments of the squared error under it.

    `variance` is that of each bin's label frequency. The plug-in squared error is the quadratic
    form Q = Σ w_i (p̂_i - q̂_i)²; its moments are traces of powers of M = √W Σ √W, with Σ the
    covariance of the p̂_i. M is diagonal but for bins that share a tied group.
    """

    bins: Bins
    variance: Floats
    label_variance: Floats  # of one label of a bin's own, apart from the groups it shares
    group_variance: Floats  # of one label, for each row of the bins' ties

    @cached_property
    def bias(self) -> float:
        """By how much chance alone raises Q: the trace of M."""
        return float(self.bins.weight @ self.variance)

    @cached_property
    def squared_error(self) -> SquaredError:
        """The bins' squared error and its distribution."""
        observed = float(self.bins.weight @ self.bins.gap**2)
        return SquaredError(observed, *self.moments, *self.tilts)

    @cached_property
    def moments(self) -> tuple[float, float, float]:
        """Traces of M, M² and M³."""
        if not len(self.bins.ties.bin):
            diagonal = self.bins.weight * self.variance
            square = diagonal * diagonal
            return self.bias, float(square.sum()), float(square @ diagonal)
        matrix = self._shared.matrix
        square = matrix @ matrix
        return self.bias, float(matrix.multiply(matrix).sum()), float(matrix.multiply(square).sum())

    @cached_property
    def tilts(self) -> tuple[float, float]:
        """How fast the second and third moments grow with the true squared error.

        These are b'Mb and b'M²b for b the unit vector in the direction of the true gaps. The
        observed gaps point there but for noise. Its share is taken off, and where that leaves
        little the average over the directions of noise takes its place; but an estimate by
        the observed direction as it is is kept where it is larger, being the steadier one.
        """
        if len(self.bins.ties.bin):
            weight, gap, matrix = self._shared
            direction = np.sqrt(weight) * gap
            image = matrix @ direction
            observed, raised = float(direction @ direction), float(direction @ image)
            raised_twice = float(image @ image)
        else:
            share = self.bins.weight * self.bins.gap**2
            diagonal = self.bins.weight * self.variance
            observed, raised = float(share.sum()), float(share @ diagonal)
            raised_twice = float(share @ (diagonal * diagonal))
        first, second, third = self.moments
        if first <= 0.0:
            return 0.0, 0.0
        prior = math.sqrt(2.0 * second)  # the standard deviation of Q if the model is calibrated
        excess = max(0.0, observed - first) + prior

        def tilt(raised: float, moment: float) -> float:
            debiased = (max(0.0, raised - moment) + prior * moment / first) / excess
            return max(debiased, raised / observed if observed > 0.0 else 0.0)

        return (tilt(raised, second), tilt(raised_twice, third)) if excess > 0.0 else (0.0, 0.0)

    @cached_property
    def _shared(self) -> "_Shared":
        """Weights, gaps and M, with bins that lie in one tied group made one (Q stays the same)."""
        from scipy.sparse import coo_array

        bins, ties = self.bins, self.bins.ties
        whole = ties.share >= bins.n[ties.bin] * (1 - 1e-9)
        group_of = np.full(len(bins), -1)
        group_of[ties.bin[whole]] = ties.group[whole]
        joins = np.concatenate([[False], (group_of[1:] >= 0) & (group_of[1:] == group_of[:-1])])
        starts = np.flatnonzero(~joins)
        unit = np.cumsum(~joins) - 1
        weight, n = np.add.reduceat(bins.weight, starts), np.add.reduceat(bins.n, starts)
        # Every (group, unit) once, with the mass the unit takes of the group.
        key, inverse = np.unique(
            np.stack([ties.group, unit[ties.bin]], 1), axis=0, return_inverse=True
        )
        share = np.bincount(inverse.reshape(-1), ties.share)
        some = np.zeros(len(key), np.intp)
        some[inverse.reshape(-1)] = np.arange(len(ties.group))
        loading = np.sqrt(weight[key[:, 1]] * self.group_variance[some] / ties.size[some])
        loading *= share / n[key[:, 1]]
        groups, columns = np.unique(key[:, 0], return_inverse=True)
        shape = (len(weight), len(groups))
        spread = coo_array((loading, (key[:, 1], columns)), shape=shape).tocsr()
        shared = spread @ spread.T
        own = weight * self.variance[starts] - shared.diagonal()
        diagonal = np.arange(len(weight))
        matrix = shared + coo_array((np.maximum(own, 0.0), (diagonal, diagonal))).tocsr()
        return _Shared(weight, bins.gap[starts], matrix)


class _Shared(NamedTuple):
    weight: Floats
    gap: Floats
    matrix: Any  # a scipy.sparse array


def label_noise(bins: Bins) -> Noise:
    """The noise of the bins' label frequencies, estimated from the bins themselves.

    Two pseudo-observations at the mean prediction keep a bin without positives from looking
    certain, and a factor makes up for what they take away, exactly if the model is calibrated;
    the variance of the true probabilities within a bin is taken from how labels rise with
    predictions there.
    """
    n, p, q, q_square, q_label = _untied(bins)
    spread, cross = np.maximum(q_square - q**2, 0.0), q_label - q * p
    slope = np.divide(cross, spread, out=np.zeros(len(bins)), where=spread > 0)
    label = _bernoulli(p, q, n) - np.clip(slope, 0.0, 1.0) ** 2 * spread
    return _with_ties(bins, n, np.maximum(label, 0.0), _group_variance(bins))


def noise_if_calibrated(bins: Bins) -> Noise:
    """The noise that the bins' label frequencies would have if every prediction were right."""
    n, _, q, q_square, _ = _untied(bins)
    group = bins.ties.q * (1.0 - bins.ties.q)
    return _with_ties(bins, n, np.maximum(q - q_square, 0.0), group)


def _with_ties(bins: Bins, untied: Floats, label: Floats, group: Floats) -> Noise:
    """Noise from the untied mass, the variance of a label of it and of one in each tied group."""
    ties = bins.ties
    tied = np.bincount(ties.bin, ties.share**2 * group / ties.size, len(bins))
    return Noise(bins, (untied * label + tied) / bins.n**2, label, group)


def _untied(bins: Bins) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Mass and means of y, q, q² and qy of each bin without the groups it shares."""
    ties = bins.ties
    means = (bins.p, bins.q, bins.spread + bins.q**2, bins.cross + bins.q * bins.p)
    if not len(ties.bin):
        return bins.n, *means
    n = bins.n - np.bincount(ties.bin, ties.share, len(bins))
    rest = n > 1e-9 * bins.n
    n = np.where(rest, n, 0.0)
    parts = []
    for mean, own in zip(means, (ties.p, ties.q, ties.q**2, ties.q * ties.p), strict=True):
        total = bins.n * mean - np.bincount(ties.bin, ties.share * own, len(bins))
        parts.append(np.divide(total, n, out=np.zeros(len(bins)), where=rest).clip(0.0, 1.0))
    return n, parts[0], parts[1], parts[2], parts[3]


def _group_variance(bins: Bins) -> Floats:
    """The variance of one label in each row's tied group."""
    return _bernoulli(bins.ties.p, bins.ties.q, bins.ties.size)


def _bernoulli(p: Floats, q: Floats, n: Floats) -> Floats:
    shrunk = (n * p + 2.0 * q) / (n + 2.0)
    return shrunk * (1.0 - shrunk) / (1.0 - n / (n + 2.0) ** 2)
