"""Choosing how many predictions a bin should hold."""

import numpy as np

from gnomon.calibration.bins import Floats
from gnomon.calibration.ordered import Ordered, adaptive

SMALLEST = 10
MOST_BASE_BINS = 200_000
RULES = ("auto", "labels")


def best_bin_size(ordered: Ordered, rule: str = "auto") -> int:
    """The bin size whose bins would best predict a label left out.

    The leave-one-out risk of predicting each label by the mean of the others in its bin has a
    closed form, so the whole grid costs one pass over the predictions. Rule `auto` takes its
    expectation under the predictions; `labels` takes the labels that were seen. A size chosen by
    the labels suits their noise, and the interval then covers too seldom (docs/coverage.md); one
    chosen by the predictions alone costs nothing.

    >>> from gnomon.calibration.ordered import order
    >>> from gnomon.calibration.pairs import as_pairs
    >>> steps = as_pairs(np.linspace(0, 1, 1000), np.linspace(0, 1, 1000) > 0.5)
    >>> print(best_bin_size(order(steps)), best_bin_size(order(steps), "labels"))
    100 500
    """
    sizes, risks = leave_one_out_risk(ordered, rule)
    # Of equally good sizes the largest: fewer bins, less noise.
    return int(sizes[np.flatnonzero(risks <= risks.min() * (1 + 1e-12))[-1]])


def leave_one_out_risk(ordered: Ordered, rule: str = "auto") -> tuple[Floats, Floats]:
    """Bin sizes on a geometric grid and the leave-one-out risk of each.

    With the labels it is (1/N) Σ n_i p̂_i (1 - p̂_i) (n_i / (n_i - 1))²; expected under the
    predictions, (1/N) Σ n_i [m_i + s_i n_i / (n_i - 1)] n_i / (n_i - 1), where m_i is the
    mean of q (1 - q) in a bin and s_i the variance of q there.
    """
    mass = ordered.mass
    # More than a few bins for each distinct prediction cannot differ.
    most = min(MOST_BASE_BINS, 4 * ordered.distinct)
    base = max(SMALLEST, int(np.ceil(mass / most)))
    if mass < 2 * base:
        return np.array([np.ceil(mass)]), np.array([0.0])
    fine = adaptive(ordered, base)
    sums = np.stack([fine.p, fine.q, fine.spread + fine.q**2]) * fine.n
    totals = np.concatenate([np.zeros((3, 1)), np.cumsum(sums, axis=1)], axis=1)
    # Multiples of the base size, so that every bin is a run of base bins.
    grid = np.unique(np.round(np.geomspace(1, mass / base, 60)).astype(int))
    grid = grid[grid * base <= mass]
    risks = np.empty(len(grid))
    for row, multiple in enumerate(grid):
        count = max(1, int(mass / (base * multiple) + 1e-9))
        cut = multiple * np.arange(count + 1)
        cut[-1] = len(fine)
        n = np.full(count, float(base * multiple))
        n[-1] = mass - n[:-1].sum()
        p, q, q_square = np.diff(totals[:, cut], axis=1) / n
        left = n / (n - 1.0)
        spread = np.maximum(q_square - q**2, 0.0)
        risk = (
            p * (1.0 - p) * left**2 if rule == "labels" else left * (q - q_square + spread * left)
        )
        risks[row] = float(n @ risk) / mass
    return grid * float(base), risks
