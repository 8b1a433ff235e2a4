"""Hypothesis strategies for predictions and labels, and slow transcriptions that tests share."""

import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from gnomon.calibration.bins import Bins
from gnomon.calibration.pairs import Pairs

Floats = NDArray[np.float64]
Labels = NDArray[np.uint8]

SMALLEST = 5e-324  # the smallest positive float
BELOW_ONE = 1.0 - 2.0**-53  # the largest float below one

CONTINUOUS = st.floats(0.0, 1.0, allow_nan=False)
TENTHS = st.integers(0, 10).map(lambda k: k / 10)
EXTREME = st.sampled_from([0.0, -0.0, SMALLEST, 1e-300, 1e-9, 0.5, 1.0 - 1e-9, BELOW_ONE, 1.0])
SKEWED = st.floats(0.0, 40.0).map(lambda x: float(np.exp(-x)))
VALUES = {"continuous": CONTINUOUS, "tenths": TENTHS, "extreme": EXTREME, "skewed": SKEWED}


class Rows(NamedTuple):
    """Predictions and labels, and how often each row is counted."""

    q: Floats
    y: Labels
    times: NDArray[np.int64]

    @property
    def repeated(self) -> tuple[Floats, Labels]:
        """The rows, each written out as often as it is counted."""
        return np.repeat(self.q, self.times), np.repeat(self.y, self.times)


@st.composite
def rows(
    draw: st.DrawFn, *, least: int = 1, most: int = 40, kind: str | None = None, times: int = 4
) -> Rows:
    """Rows of predictions of one kind (any, if not said), with labels and whole weights."""
    size = draw(st.integers(least, most))
    value = VALUES[kind] if kind else draw(st.sampled_from(list(VALUES.values())))
    each = st.lists(value, min_size=size, max_size=size)
    label = st.lists(st.integers(0, 1), min_size=size, max_size=size)
    count = st.lists(st.integers(1, times), min_size=size, max_size=size)
    return Rows(
        np.array(draw(each), np.float64),
        np.array(draw(label), np.uint8),
        np.array(draw(count), np.int64),
    )


@st.composite
def distinct_rows(draw: st.DrawFn, *, least: int = 1, most: int = 40) -> Rows:
    """Rows without ties, in any order."""
    values = draw(st.lists(st.floats(0.0, 1.0), min_size=least, max_size=most, unique=True))
    label = st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values))
    y = np.array(draw(label), np.uint8)
    return Rows(np.array(values) + 0.0, y, np.ones(len(values), np.int64))


class SlowBin(NamedTuple):
    """A bin in exact arithmetic: its mass, sums, and the mass it takes of each tied value."""

    n: Fraction
    y: Fraction
    q: Fraction
    q_square: Fraction
    q_label: Fraction
    shares: dict[float, Fraction]


def slow_bins(
    q: Floats, y: Labels, size: int | Fraction, weight: list[Fraction] | None = None
) -> list[SlowBin]:
    """Algorithm 1 of Nguyen & O'Connor (2015) in fractions, ties shared pro rata."""
    mass = weight or [Fraction(1)] * len(q)
    groups: dict[float, tuple[Fraction, Fraction]] = {}
    for value, label, w in zip(q.tolist(), y.tolist(), mass, strict=True):
        n, ones = groups.get(value + 0.0, (Fraction(0), Fraction(0)))
        groups[value + 0.0] = (n + w, ones + w * label)
    total = sum((n for n, _ in groups.values()), Fraction(0))
    count = max(1, int(total / size))  # a short last bin joins the one before it
    edges = [size * Fraction(k) for k in range(count)] + [total]
    found = []
    for low, high in pairwise(edges):
        below = Fraction(0)
        sums = [Fraction(0)] * 5
        shares = {}
        for value in sorted(groups):
            n, ones = groups[value]
            part = min(high, below + n) - max(low, below)
            below += n
            if part > 0:
                x, label_sum = Fraction(value), part * ones / n
                for k, term in enumerate((part, label_sum, part * x, part * x * x, label_sum * x)):
                    sums[k] += term
                shares[value] = part
        n_sum, y_sum, q_sum, square_sum, label_sum_q = sums
        found.append(SlowBin(n_sum, y_sum, q_sum, square_sum, label_sum_q, shares))
    return found


def literal_bins(q: Floats, y: Labels, size: int) -> list[tuple[int, float, float]]:
    """Algorithm 1, word for word: size, label frequency and mean prediction of each bin."""
    pairs = sorted(zip(q.tolist(), y.tolist(), strict=True))  # step 1
    labelled = [((k - 1) // size + 1, *pair) for k, pair in enumerate(pairs, start=1)]  # step 2
    last = labelled[-1][0]
    bins = [[pair[1:] for pair in labelled if pair[0] == b] for b in range(1, last + 1)]
    if len(bins) > 1 and len(bins[-1]) < size:  # step 3
        bins[-2:] = [bins[-2] + bins[-1]]
    return [  # step 4
        (len(b), sum(label for _, label in b) / len(b), sum(x for x, _ in b) / len(b)) for b in bins
    ]


def calibrated_copy(bins: Bins) -> Bins:
    """The same bins with every label replaced by its prediction."""
    return replace(bins, p=bins.q, cross=bins.spread, ties=replace(bins.ties, p=bins.ties.q))


def true_pairs(q: Floats, p: Floats) -> Pairs:
    """Pairs whose labels are replaced by their true probabilities, by way of weights."""
    weight = np.concatenate([p, 1.0 - p])
    used = weight > 0
    y = np.repeat(np.array([1, 0], np.uint8), len(q))
    return Pairs(np.concatenate([q, q])[used], y[used], weight[used])


def numbers(value: Any, path: str = "") -> dict[str, float | str | None]:
    """A nested result as one flat table, to compare two of them entry by entry."""
    if isinstance(value, dict):
        parts = [numbers(each, f"{path}.{key}") for key, each in value.items()]
    elif isinstance(value, list):
        parts = [numbers(each, f"{path}[{k}]") for k, each in enumerate(value)]
    else:
        return {path: value}
    return {key: each for part in parts for key, each in part.items()}


def assert_same(
    first: Any, second: Any, tolerance: float = 1e-9, *, but: tuple[str, ...] = ("signature",)
) -> None:
    """Two results are the same but for rounding and for the parts named."""
    a, b = numbers(first), numbers(second)
    assert a.keys() == b.keys()
    for key, value in a.items():
        if any(f".{name}" in key for name in but):
            continue
        other = b[key]
        if isinstance(value, str) or isinstance(other, str) or value is None or other is None:
            assert value == other, key
        else:
            assert abs(value - other) <= tolerance * max(1.0, abs(value)), (key, value, other)


def oracle(module: str) -> Any:
    """Another program to agree with; what it warns of while loading is its own affair."""
    import importlib

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(module)
