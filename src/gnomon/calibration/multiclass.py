"""Predictions over several classes: calibration of the top class, and of each class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.calibration.analyse import Calibration, Progress, Settings, analyse
from gnomon.calibration.groups import Groups, analyse_groups
from gnomon.calibration.ordered import order
from gnomon.calibration.pairs import Pairs, as_probabilities, as_weights
from gnomon.errors import InputError
from gnomon.estimate import JSON

TOLERANCE = 1e-3  # rounded probabilities may miss a sum of one by this much


@dataclass(frozen=True)
class Multiclass:
    """`top` treats "the most probable class is right" as the label; `classes` each class by itself.

    The mean of the class-wise errors is `classes.averages[number of classes]`.
    """

    top: Calibration
    classes: Groups
    accuracy: float

    def to_dict(self) -> dict[str, JSON]:
        """Both parts, ready for JSON."""
        return {
            "accuracy": self.accuracy,
            "top": self.top.to_dict(),
            "classes": self.classes.to_dict(),
        }

    def __str__(self) -> str:
        return f"top class (accuracy {self.accuracy:.4f})\n{self.top}\n\nclass by class\n{self.classes}"


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
    matrix = _as_matrix(probabilities)
    names = [str(k) for k in range(matrix.shape[1])] if classes is None else list(classes)
    if len(names) != matrix.shape[1]:
        raise InputError(
            "classes", f"{len(names)} names for {matrix.shape[1]} columns", "give one each"
        )
    truth = _as_codes(label, names, len(matrix))
    mass = None if weight is None else as_weights(weight)
    if mass is not None:
        if len(mass) != len(matrix):
            raise InputError(
                "weight", f"{len(mass)} weights for {len(matrix)} rows", "give one each"
            )
        used = mass > 0
        if not used.any():
            raise InputError("weight", "every weight is zero", "give a positive weight")
        matrix, truth, mass = matrix[used], truth[used], mass[used]
    best = matrix.argmax(axis=1)
    right = (best == truth).view(np.uint8)
    top = Pairs(matrix[np.arange(len(matrix)), best], right, mass)
    each = (
        (name, order(Pairs(matrix[:, k].copy(), (truth == k).view(np.uint8), mass)))
        for k, name in enumerate(names)
    )
    return Multiclass(
        analyse(order(top), settings),
        analyse_groups(each, settings, progress=progress, total=len(names)),
        float(np.average(right, weights=mass)),
    )


def _as_matrix(probabilities: ArrayLike) -> NDArray[np.float64]:
    matrix = np.asarray(probabilities)
    if matrix.ndim != 2 or matrix.shape[1] < 2 or not len(matrix):
        raise InputError(
            "probabilities", f"an array of shape {matrix.shape}", "give N rows of K ≥ 2 classes"
        )
    for k in range(matrix.shape[1]):
        as_probabilities(matrix[:, k], f"probability of class {k}")
    matrix = matrix.astype(np.float64)
    wrong = np.flatnonzero(np.abs(matrix.sum(axis=1) - 1.0) > TOLERANCE)
    if len(wrong):
        raise InputError(
            f"probabilities, row {wrong[0] + 1}",
            f"they sum to {matrix[wrong[0]].sum():.4g}",
            "give every class's probability, so that a row sums to one",
        )
    return matrix


def _as_codes(label: Any, names: list[str], rows: int) -> NDArray[np.intp]:
    values = np.asarray(label)
    if values.shape != (rows,):
        raise InputError("label", f"{values.shape} labels for {rows} rows", "give one for each row")
    if len(set(names)) != len(names):
        raise InputError("classes", "two classes have the same name", "name each class once")
    position = {name: k for k, name in enumerate(names)}
    texts = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v)
             for v in values.tolist()]  # fmt: skip
    codes = np.array([position.get(text, -1) for text in texts], np.intp)
    if (codes < 0).all() and values.dtype.kind in "iu" and values.min() >= 0:
        # Named columns, numbered labels.
        codes = np.where(values < len(names), values, -1).astype(np.intp)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise InputError(
            f"label, row {row + 1}",
            f"{texts[row]!r} is not one of the classes",
            f"give one of: {', '.join(names[:20])}",
        )
    return codes
