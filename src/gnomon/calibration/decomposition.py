"""The Brier score taken apart into calibration, refinement and what the bins hide."""

from dataclasses import dataclass

from gnomon.calibration.bins import Bins


@dataclass(frozen=True)
class Decomposition:
    """`brier` = `calibration` + `refinement` + `within_bin`, exactly.

    `skill` is one minus the ratio of the Brier score to that of predicting the base rate for
    every item: 1 is perfect, 0 no better than the base rate; None where there is one class only.
    """

    brier: float
    calibration: float
    refinement: float
    within_bin: float
    base_rate: float
    skill: float | None


def decompose(bins: Bins) -> Decomposition:
    """The Brier score of binned predictions in three parts.

    Nguyen & O'Connor (2015), Eq. 1, holds for bins of equal predictions. Real bins hold unequal
    ones, which adds the mean of `var(q) - 2 cov(q, y)` within the bins.

    >>> from gnomon.calibration.ordered import adaptive, order
    >>> from gnomon.calibration.pairs import as_pairs
    >>> parts = decompose(adaptive(order(as_pairs([0.1, 0.3, 0.6, 0.8], [0, 1, 1, 1])), 2))
    >>> print(round(parts.brier, 6))
    0.175
    """
    weight = bins.weight
    calibration = float(weight @ bins.gap**2)
    refinement = float(weight @ (bins.p * (1.0 - bins.p)))
    within = float(weight @ (bins.spread - 2.0 * bins.cross))
    brier = calibration + refinement + within
    rate = float(weight @ bins.p)
    chance = rate * (1.0 - rate)
    return Decomposition(
        brier, calibration, refinement, within, rate, 1.0 - brier / chance if chance > 0 else None
    )
