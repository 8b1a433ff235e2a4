"""Predictions in ascending order, ready to be cut into bins.

Two forms with the same methods: `Packed`, one machine word a pair, for plain predictions; and
`Cells`, one row for each distinct prediction (or bucket of a stream), for weighted ones.
Both share the labels of a tied group pro rata between the bins that a cut through it makes, so no
result depends on the order of the input.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.calibration.bins import Bins, Cuts, Floats, bins_from_sums
from gnomon.calibration.pairs import BLOCK, Pairs
from gnomon.errors import InputError


class Packed:
    """Unweighted pairs sorted by prediction, the label packed below the prediction's bits.

    A float in [0, 1] leaves its two highest bits unused, and non-negative floats sort as their bits
    do; so `bits << 1 | label` is a lossless integer key, and sorting integers is many times
    faster than an argsort.
    """

    def __init__(self, pairs: Pairs) -> None:
        double = pairs.q.dtype == np.float64
        self.word: type[Any] = np.uint64 if double else np.uint32
        self.float: type[Any] = np.float64 if double else np.float32
        keys = np.empty(len(pairs), self.word)
        for start in range(0, len(keys), BLOCK):
            block = slice(start, start + BLOCK)
            # Shifting drops the sign bit, which turns -0.0 into 0.0.
            np.left_shift(np.ascontiguousarray(pairs.q[block]).view(self.word), 1, out=keys[block])
            keys[block] |= pairs.y[block]
        # As floats the keys are finite, positive and in the same order, and sort a little faster.
        keys.view(self.float).sort()
        self.keys: NDArray[Any] = keys
        self.mass = float(len(keys))

    def unpack(self, part: slice | NDArray[np.intp] = slice(None)) -> tuple[Floats, Floats]:
        """Predictions and labels of a part, in order."""
        keys = self.keys[part]
        return (keys >> 1).view(self.float).astype(np.float64), (keys & 1).astype(np.float64)

    def mass_below(self, values: Floats) -> Floats:
        """How much mass lies below each value, compared in the data's own precision."""
        bits = values.astype(self.float).view(self.word)
        return np.asarray(np.searchsorted(self.keys, bits << 1), np.float64)

    def bins(self, cuts: Floats) -> Bins:
        """The bins between the given masses, which must ascend and leave no bin empty."""
        inner = cuts.astype(np.intp)
        if np.any(inner != cuts):
            return self.cells.bins(cuts)  # a cut through a pair, which only cells can make
        starts = np.concatenate([[0], inner])
        ends = np.concatenate([inner, [len(self.keys)]])
        sums = self._sums(starts)
        groups, excess = self._groups(inner)
        for row, step in ((0, excess), (3, excess * groups.q)):
            sums[row, :-1] += step
            sums[row, 1:] -= step
        low, high = self.unpack(starts)[0], self.unpack(ends - 1)[0]
        n = (ends - starts).astype(np.float64)
        return bins_from_sums(n, sums, low, high, groups.ties(self.mass))

    def _sums(self, starts: NDArray[np.intp]) -> Floats:
        """Sums of y, q, q² and qy over the bins, tied labels still where sorting put them."""
        sums = np.zeros((4, len(starts)))
        words, floats = np.empty((2, BLOCK), self.word), np.empty((3, BLOCK))
        up = 8 * words.itemsize - 2  # 1 << up has the bits of 2.0, which is quicker than a cast
        for start in range(0, len(self.keys), BLOCK):
            keys = self.keys[start : start + BLOCK]
            (q_bits, y_bits), product = words[:, : len(keys)], floats[2, : len(keys)]
            np.left_shift(np.bitwise_and(keys, 1, out=y_bits), up, out=y_bits)
            np.right_shift(keys, 1, out=q_bits)
            q, twice_y = (
                _as_double(bits.view(self.float), out[: len(keys)])
                for bits, out in ((q_bits, floats[0]), (y_bits, floats[1]))
            )
            first, last = np.searchsorted(starts, [start, start + len(keys) - 1], side="right") - 1
            at = np.maximum(starts[first : last + 1] - start, 0)
            here = sums[:, first : last + 1]
            here[0] += np.add.reduceat(twice_y, at)
            here[1] += np.add.reduceat(q, at)
            if len(at) > BLOCK // 1024:
                here[2] += np.add.reduceat(np.multiply(q, q, out=product), at)
                here[3] += np.add.reduceat(np.multiply(q, twice_y, out=product), at)
                continue
            for column, (a, b) in enumerate(pairwise([*at.tolist(), len(q)])):
                # A dot product is three times faster, where bins are long enough to loop over.
                here[2, column] += q[a:b] @ q[a:b]
                here[3, column] += q[a:b] @ twice_y[a:b]
        sums[[0, 3]] *= 0.5
        return sums

    def _groups(self, cuts: NDArray[np.intp]) -> tuple[Cuts, Floats]:
        """The tied group at each cut, and the labels by which sharing pro rata exceeds sorting."""
        bare = self.keys[cuts] & ~self.word(1)
        tied = np.flatnonzero((self.keys[cuts - 1] & ~self.word(1)) == bare)
        start, first_one, end = cuts.copy(), cuts.copy(), cuts + 1
        start[tied] = np.searchsorted(self.keys, bare[tied])
        first_one[tied] = np.searchsorted(self.keys, bare[tied] | self.word(1))
        end[tied] = np.searchsorted(self.keys, bare[tied] | self.word(1), side="right")
        size, ones = end - start, np.maximum(end - first_one, 0)
        p = ones / size
        excess = (cuts - start) * p - np.maximum(cuts - first_one, 0)
        excess[np.setdiff1d(np.arange(len(cuts)), tied)] = 0.0
        q = (bare >> 1).view(self.float).astype(np.float64)
        as_float = (cuts.astype(np.float64), start.astype(np.float64), size.astype(np.float64))
        return Cuts(*as_float, q=q, p=p), excess

    @cached_property
    def distinct(self) -> int:
        """How many different predictions there are."""
        count = 1
        for start in range(1, len(self.keys), BLOCK):
            bare = self.keys[start - 1 : start + BLOCK] >> 1
            count += int(np.count_nonzero(bare[1:] != bare[:-1]))
        return count

    def resample(self, rng: np.random.Generator) -> "Packed":
        """As many pairs, drawn with replacement."""
        drawn = object.__new__(Packed)
        drawn.word, drawn.float, drawn.mass = self.word, self.float, self.mass
        drawn.keys = self.keys[rng.integers(0, len(self.keys), len(self.keys))]
        drawn.keys.view(self.float).sort()
        return drawn

    @cached_property
    def cells(self) -> "Cells":
        """One cell for each distinct prediction."""
        q, y = self.unpack()
        return _distinct(q, y, np.ones_like(q), self.float)


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over groups of predictions in ascending order, one group a row.

    `n` is the mass, `y` the labels' sum, `q` the predictions' sum, `q_square` and `q_label` the
    sums of their squares and of prediction times label; `low` and `high` bound the predictions.
    """

    n: Floats
    y: Floats
    q: Floats
    q_square: Floats
    q_label: Floats
    low: Floats
    high: Floats
    total_log_loss: float | None = None  # given where cells are too wide to tell it
    precision: type[Any] = np.float64  # that of the predictions, in which edges are compared

    def __len__(self) -> int:
        return len(self.n)

    @cached_property
    def mean(self) -> Floats:
        """Each cell's mean prediction; a single value as it is, not its sum over its mass."""
        return np.where(self.low == self.high, self.low, self.q / self.n)

    @property
    def log_loss(self) -> float:
        """The mean cross-entropy; infinite if something predicted impossible came true."""
        total = self.total_log_loss
        if total is None:
            q, missed = self.q / self.n, self.n - self.y
            with np.errstate(divide="ignore", invalid="ignore"):
                yes = np.where(self.y > 0, self.y * np.log(q), 0.0)
                no = np.where(missed > 0, missed * np.log1p(-q), 0.0)
            total = -float(np.sum(yes + no))
        return total / self.mass

    @cached_property
    def mass(self) -> float:
        """The total mass, added up as the masses below each cell are."""
        return float(np.cumsum(self.n)[-1])

    @property
    def cells(self) -> "Cells":
        """Itself."""
        return self

    @property
    def distinct(self) -> int:
        """How many cells there are."""
        return len(self)

    def mass_below(self, values: Floats) -> Floats:
        """How much mass has a prediction below each value; a bucket goes by its mean."""
        below = np.concatenate([[0.0], np.cumsum(self.n)])
        return below[np.searchsorted(self.mean, values.astype(self.precision))]

    def bins(self, cuts: Floats) -> Bins:
        """The bins between the given masses, which must ascend and leave no bin empty."""
        below = np.concatenate([[0.0], np.cumsum(self.n)])
        # The cell each cut falls into, or that begins there; rounding may put it at the very end.
        cell = np.minimum(np.searchsorted(below, cuts, side="right") - 1, len(self) - 1)
        part = np.clip((cuts - below[cell]) / self.n[cell], 0.0, 1.0)
        sums = []
        for column in (self.y, self.q, self.q_square, self.q_label):
            total = np.concatenate([[0.0], np.cumsum(column)])
            sums.append(np.diff(total[cell] + part * column[cell], prepend=0.0, append=total[-1]))
        n = np.diff(cuts, prepend=0.0, append=below[-1])
        first = np.concatenate([[0], np.where(part < 1, cell, np.minimum(cell + 1, len(self) - 1))])
        last = np.concatenate([np.where(part > 0, cell, cell - 1), [len(self) - 1]])
        groups = Cuts(
            mass=cuts,
            start=below[cell],
            size=self.n[cell],
            q=self.mean[cell],
            p=self.y[cell] / self.n[cell],
        )
        return bins_from_sums(
            n, np.stack(sums), self.low[first], self.high[last], groups.ties(self.mass)
        )

    def resample(self, rng: np.random.Generator) -> "Cells":
        """As much mass (rounded to a whole number), drawn with replacement."""
        mass = np.concatenate([self.n - self.y, self.y]).clip(0.0)
        drawn = rng.multinomial(max(1, round(self.mass)), mass / mass.sum()).astype(np.float64)
        y = drawn[len(self) :]
        n = drawn[: len(self)] + y
        kept = n > 0
        n, y, q = n[kept], y[kept], (self.q / self.n)[kept]
        sums = (q * n, q**2 * n, q * y)
        low, high = self.low[kept], self.high[kept]
        return Cells(n, y, *sums, low=low, high=high, precision=self.precision)


Ordered = Packed | Cells


def order(pairs: Pairs) -> Ordered:
    """Sorts pairs by prediction, in the form that suits them."""
    if pairs.weight is None:
        return Packed(pairs)
    ascending = np.argsort(pairs.q)
    q = pairs.q[ascending]
    same = q[1:] == q[:-1]
    tied = np.flatnonzero(np.concatenate([same, [False]]) | np.concatenate([[False], same]))
    rows = ascending[tied]  # put in one order, whatever that of the input, so that sums are equal
    ascending[tied] = rows[np.lexsort((pairs.weight[rows], pairs.y[rows], q[tied]))]
    ascending = ascending[pairs.weight[ascending] > 0]
    weight = pairs.weight[ascending]
    q = pairs.q[ascending].astype(np.float64) + 0.0  # makes -0.0 equal to 0.0 in kind too
    return _distinct(q, pairs.y[ascending] * weight, weight, pairs.q.dtype.type)


def adaptive(ordered: Ordered, bin_size: float) -> Bins:
    """Bins of `bin_size` predictions each, a short last one merged into its neighbour.

    Nguyen & O'Connor (2015), Algorithm 1, with ties shared pro rata.

    >>> from gnomon.calibration.pairs import as_pairs
    >>> adaptive(order(as_pairs([0.1, 0.2, 0.7, 0.8, 0.9], [0, 1, 1, 1, 0])), 2).n
    array([2., 3.])
    """
    if not bin_size >= 1:
        raise InputError("bin size", f"{bin_size:g} is too small", "give 1 or more")
    count = max(1, int(ordered.mass / bin_size + 1e-9))
    return ordered.bins(float(bin_size) * np.arange(1.0, count))


def equal_width(ordered: Ordered, width: float) -> Bins:
    """Bins that divide [0, 1] evenly, closed below and open above; empty ones are left out.

    >>> from gnomon.calibration.pairs import as_pairs
    >>> equal_width(order(as_pairs([0.1, 0.2, 0.7, 0.8, 0.9], [0, 1, 1, 1, 0])), 0.5).n
    array([2., 3.])
    """
    if not 0 < width <= 1:
        raise InputError("bin width", f"{width:g} is not a width", "give a number above 0, up to 1")
    if width < 1e-6:
        raise InputError("bin width", f"{width:g} is too narrow", "give 0.000001 or more")
    count = round(1 / width)
    exact = abs(count * width - 1) < 1e-9
    # k/10 is the float nearest the decimal; k*0.1 is not, and would misplace 0.3.
    edges = (
        np.arange(1, count) / count
        if exact
        else np.array([float(f"{k * width:.12g}") for k in range(1, int(1 / width) + 1)])
    )
    cuts = np.unique(ordered.mass_below(edges))
    return ordered.bins(cuts[(cuts > 0) & (cuts < ordered.mass)])


def _as_double(values: NDArray[Any], out: Floats) -> Floats:
    """Values in double precision: themselves, or a copy in `out`."""
    if values.dtype == np.float64:
        return values
    out[:] = values
    return out


def _distinct(q: Floats, y: Floats, n: Floats, precision: type[Any]) -> Cells:
    """Cells of equal predictions, from sorted rows."""
    starts = np.flatnonzero(np.concatenate([[True], q[1:] != q[:-1]]))
    value, mass, labels = q[starts], np.add.reduceat(n, starts), np.add.reduceat(y, starts)
    sums = (value * mass, value**2 * mass, value * labels)
    return Cells(mass, labels, *sums, low=value, high=value, precision=precision)
