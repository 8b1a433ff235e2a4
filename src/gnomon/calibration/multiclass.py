"""Predictions over several classes: calibration of the top class, and of each class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gnomon.calibration.analyse import Calibration, Progress, Settings, analyse
from gnomon.calibration.groups import Groups, analyse_groups
from gnomon.calibration.ordered import Ordered, order
from gnomon.calibration.pairs import (
    Pairs,
    as_class_probabilities,
    as_classes,
    as_weights,
    check_aligned,
)
from gnomon.errors import InputError
from gnomon.estimate import JSON

TOP_CLASS = "\0top"  # no class can have this name


@dataclass(frozen=True)
class Multiclass:
    """`top` has "the most probable class is right" as its label; `classes` each class by itself.

    The last of `classes.averages` is over all of them.
    """

    top: Calibration
    classes: Groups

    @property
    def accuracy(self) -> float:
        """How often the most probable class is right."""
        return self.top.base_rate

    def to_dict(self) -> dict[str, JSON]:
        """Both parts, ready for JSON."""
        return {
            "accuracy": self.accuracy,
            "top": self.top.to_dict(),
            "classes": self.classes.to_dict(),
        }

    def __str__(self) -> str:
        top = f"top class (accuracy {self.accuracy:.4f})\n{self.top}"
        return f"{top}\n\nclass by class\n{self.classes}"


def calibrate_classes(
    probabilities: ArrayLike,
    label: ArrayLike,
    *,
    classes: Sequence[str] | None = None,
    weight: ArrayLike | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Multiclass:
    """The calibration of an N × K matrix of class probabilities (rows sum to one).

    `label` holds column numbers, or names out of `classes`. Equal highest probabilities count as
    the first of them.

    >>> q = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.6, 0.3, 0.1]]
    >>> print(calibrate_classes(q, ["cat", "dog", "dog", "cat"],
    ...                         classes=["cat", "dog", "emu"]).accuracy)
    0.75
    """
    parts = class_pairs(probabilities, label, classes=classes, weight=weight)
    ordered = {name: order(part) for name, part in parts.items()}
    return analyse_classes(ordered, settings, progress=progress)


def class_pairs(
    probabilities: ArrayLike,
    label: ArrayLike,
    *,
    classes: Sequence[str] | None = None,
    weight: ArrayLike | None = None,
) -> dict[str, Pairs]:
    """Pairs of the top class (under `TOP_CLASS`) and of each class against the rest."""
    check_aligned([(probabilities, "probability"), (label, "label"), (weight, "weight")])
    matrix = as_class_probabilities(probabilities)
    names = [str(name) for name in (range(matrix.shape[1]) if classes is None else classes)]
    if len(names) != matrix.shape[1]:
        raise InputError(
            "classes", f"{len(names)} names for {matrix.shape[1]} columns", "give one each"
        )
    truth = as_classes(label, names, len(matrix))
    mass = None if weight is None else as_weights(weight)
    if mass is not None and len(mass) != len(matrix):
        raise InputError("weight", f"{len(mass)} weights for {len(matrix)} rows", "give one each")
    if mass is not None and not mass.any():
        raise InputError("weight", "every weight is zero", "give a positive weight")
    best = matrix.argmax(axis=1)
    right = (best == truth).view(np.uint8)
    parts = {TOP_CLASS: Pairs(matrix[np.arange(len(matrix)), best], right, mass)}
    for k, name in enumerate(names):
        parts[name] = Pairs(matrix[:, k].copy(), (truth == k).view(np.uint8), mass)
    return parts


def analyse_classes(
    ordered: Mapping[str, Ordered],
    settings: Settings | None = None,
    *,
    progress: Progress | None = None,
) -> Multiclass:
    """The calibration of what `class_pairs` gives, in order."""
    classes = [(name, each) for name, each in ordered.items() if name != TOP_CLASS]
    return Multiclass(
        analyse(ordered[TOP_CLASS], settings),
        analyse_groups(classes, settings, independent=False, progress=progress, total=len(classes)),
    )
