"""Bins of predictions: how many, what was predicted, what came true."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Ties:
    """Which bins share the labels of one tied group of equal predictions.

    One row for each (group, bin): the group's number, the bin, the mass the bin takes of the
    group, the group's whole mass, its prediction and its label frequency. Bins that share a group
    have correlated label frequencies, which the interval must know.
    """

    group: Ints
    bin: Ints
    share: Floats
    size: Floats
    q: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class Bins:
    """T bins in ascending order of prediction.

    `n` is a bin's mass, `q` its mean prediction, `p` its label frequency, `spread` the variance of
    its predictions, `cross` the covariance of its predictions and labels, `low` and `high` its
    smallest and largest prediction.
    """

    n: Floats
    q: Floats
    p: Floats
    spread: Floats
    cross: Floats
    low: Floats
    high: Floats
    ties: Ties

    def __len__(self) -> int:
        return len(self.n)

    @property
    def weight(self) -> Floats:
        """Each bin's share of the mass; sums to one."""
        return np.asarray(self.n / self.n.sum())

    @property
    def gap(self) -> Floats:
        """Label frequency minus mean prediction: positive where the model is underconfident."""
        return self.p - self.q


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where ordered predictions are cut, and the tied group that each cut runs through.

    `mass` lies below the cut; the tied group there begins at mass `start`, has mass `size`, label
    frequency `p` and prediction `q`. A cut between groups has `start` equal to `mass`.
    """

    mass: Floats
    start: Floats
    size: Floats
    q: Floats
    p: Floats

    def ties(self, total: float) -> Ties:
        """The groups that are cut, with the share each bin takes of them."""
        lower = np.concatenate([[0.0], self.mass])
        upper = np.concatenate([self.mass, [total]])
        inside = (self.mass - self.start > 1e-9 * self.size) & (
            self.start + self.size - self.mass > 1e-9 * self.size
        )
        cut = np.flatnonzero(inside)
        # A group takes the bin left of its first cut and the bin right of each of its cuts.
        group = np.searchsorted(self.start[cut], self.start[cut], side="left")
        first = np.flatnonzero(np.diff(group, prepend=-1))
        bin_ = np.concatenate([cut[first], cut + 1])
        group = np.concatenate([group[first], group])
        ascending = np.argsort(bin_, kind="stable")
        group, bin_ = group[ascending], bin_[ascending]
        at = cut[group]
        start, end = self.start[at], self.start[at] + self.size[at]
        share = np.minimum(end, upper[bin_]) - np.maximum(start, lower[bin_])
        return Ties(group, bin_, share, self.size[at], self.q[at], self.p[at])


def bins_from_sums(n: Floats, sums: Floats, low: Floats, high: Floats, ties: Ties) -> Bins:
    """Bins from their mass and their sums of y, q, q² and qy (the four rows of `sums`)."""
    mean_y, mean_q, q_square, q_label = sums / n
    mean_y = np.clip(mean_y, 0.0, 1.0)
    mean_q = np.clip(mean_q, low, high)  # sums round, and a certain prediction must stay certain
    return Bins(
        n=n,
        q=mean_q,
        p=mean_y,
        spread=np.maximum(q_square - mean_q**2, 0.0),
        cross=q_label - mean_q * mean_y,
        low=low,
        high=high,
        ties=ties,
    )
