"""Predictions and labels as the rest of the package takes them: checked, one-dimensional arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.errors import InputError

BLOCK = 1 << 15  # values per block: a block's temporaries stay in the processor's cache


@dataclass(frozen=True)
class Pairs:
    """N predictions `q` in [0, 1], their labels `y` (0 or 1) and optional frequency weights.

    A weight of 3 means the same as three copies of the row, one of 0 as none.
    """

    q: NDArray[np.float64] | NDArray[np.float32]
    y: NDArray[np.uint8]
    weight: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.q)

    @property
    def mass(self) -> float:
        """The total weight, N where there are no weights."""
        return float(len(self.q)) if self.weight is None else float(self.weight.sum())

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> "Pairs":
        """The given rows, in the given order."""
        weight = None if self.weight is None else self.weight[rows]
        return Pairs(self.q[rows], self.y[rows], weight)


def as_pairs(
    probability: ArrayLike,
    label: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    names: tuple[str, str, str] = ("probability", "label", "weight"),
) -> Pairs:
    """Checks predictions and labels of any array kind and brings them into one form.

    Lists, NumPy arrays, Polars and pandas columns are taken; `names` is what error messages
    call the three. Raises `InputError` on anything that is not a probability, a 0/1 label or a
    non-negative weight, on unequal lengths and on pandas indexes that differ.

    >>> as_pairs([0.2, 0.9], ["false", "true"]).y
    array([0, 1], dtype=uint8)
    """
    check_aligned([(probability, names[0]), (label, names[1]), (weight, names[2])])
    q = as_probabilities(probability, names[0])
    y = as_labels(label, names[1])
    if len(q) != len(y):
        raise InputError(
            f"{names[0]} and {names[1]}",
            f"{len(q)} predictions but {len(y)} labels",
            "give one label for each prediction",
        )
    if weight is None:
        return Pairs(q, y)
    w = as_weights(weight, names[2])
    if len(w) != len(q):
        raise InputError(
            f"{names[0]} and {names[2]}",
            f"{len(q)} predictions but {len(w)} weights",
            "give one weight for each prediction",
        )
    if not w.any():
        raise InputError(names[2], "every weight is zero", "give at least one positive weight")
    if not 1e-9 <= w.sum() <= 1e15:
        raise InputError(
            names[2], f"the weights sum to {w.sum():.3g}", "scale them: a weight counts rows"
        )
    return Pairs(q, y, w)


def as_probabilities(
    values: ArrayLike, name: str = "probability"
) -> NDArray[np.float64] | NDArray[np.float32]:
    """A checked one-dimensional float array in [0, 1]; float32 stays float32."""
    array = _one_dimensional(values, name)
    if array.dtype.kind in "OUS":
        array = _parse_numbers(array, name)
    if array.dtype.kind not in "fiub":
        raise InputError(name, f"{array.dtype} values are not numbers", "give probabilities")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    for start in range(0, len(array), BLOCK):
        block = array[start : start + BLOCK]
        if not (block.min() >= 0 and block.max() <= 1):  # false for NaN too
            row = start + int(np.flatnonzero(~((block >= 0) & (block <= 1)))[0])
            raise _not_a_probability(float(array[row]), row, name)
    return array


def as_labels(values: ArrayLike, name: str = "label") -> NDArray[np.uint8]:
    """Labels as 0 and 1, from booleans, numbers or the words true and false."""
    array = _one_dimensional(values, name)
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype.kind in "iuf":
        wrong = np.flatnonzero((array != 0) & (array != 1))
        if len(wrong) == 0:
            return array.astype(np.uint8)
        if np.isnan(array[wrong]).any():
            raise _missing(int(np.flatnonzero(np.isnan(array))[0]), name)
        raise _not_a_label(array, wrong, name)
    text = np.char.lower(np.char.strip(_as_text(array, name)))
    positive = np.isin(text, ("1", "1.0", "true"))
    wrong = np.flatnonzero(~positive & ~np.isin(text, ("0", "0.0", "false")))
    if len(wrong):
        raise _not_a_label(array, wrong, name)
    return positive.view(np.uint8)


def as_weights(values: ArrayLike, name: str = "weight") -> NDArray[np.float64]:
    """Finite, non-negative weights."""
    array = _one_dimensional(values, name)
    if array.dtype.kind in "OUS":
        array = _parse_numbers(array, name)
    if array.dtype.kind not in "fiub":
        raise InputError(name, f"{array.dtype} values are not numbers", "give weights")
    array = array.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(wrong):
        raise InputError(
            f"{name}, row {wrong[0] + 1}",
            f"{array[wrong[0]]:g} is not a weight",
            "give finite weights of zero or more",
        )
    return array


def as_groups(values: ArrayLike, rows: int, name: str = "group") -> NDArray[np.str_]:
    """One group name per row, as text."""
    array = _one_dimensional(values, name)
    if len(array) != rows:
        raise InputError(
            name, f"{len(array)} group names for {rows} predictions", "give one for each prediction"
        )
    return _as_text(array, name)


def as_class_probabilities(values: ArrayLike, name: str = "probability") -> NDArray[np.float64]:
    """A checked N × K matrix, K ≥ 2, of probabilities whose rows sum to one.

    Rounding may make a row miss one by a thousandth; such a row is divided by its sum.
    """
    try:
        matrix = np.asarray(values)
    except ValueError:
        raise InputError(
            name, "rows of different lengths", "give a column for each class"
        ) from None
    if matrix.ndim != 2 or not len(matrix) or matrix.shape[1] < 2:
        raise InputError(
            name, f"an array of shape {matrix.shape}", "give a row each, a column for each class"
        )
    for k in range(matrix.shape[1]):
        as_probabilities(matrix[:, k], f"{name} of class {k}")
    matrix = matrix.astype(np.float64)
    total = matrix.sum(axis=1, keepdims=True)
    wrong = np.flatnonzero(np.abs(total - 1.0) > 1e-3)
    if len(wrong):
        raise InputError(
            f"{name}, row {wrong[0] + 1}",
            f"they sum to {total[wrong[0], 0]:.4g}",
            "give every class's probability, so that a row sums to one",
        )
    return np.where(np.abs(total - 1.0) > 1e-9, matrix / total, matrix)


def as_classes(label: Any, names: Sequence[str], rows: int) -> NDArray[np.intp]:
    """The number of each row's class, from class names or numbers."""
    values = _one_dimensional(label, "label")
    if len(values) != rows:
        raise InputError(
            "label", f"an array of shape {values.shape} for {rows} rows", "give one for each row"
        )
    if len(set(names)) != len(names):
        raise InputError("classes", "two classes have the same name", "name each class once")
    if values.dtype == np.bool_ and not {"True", "False"} & set(names):
        values = values.astype(np.intp)
    whole = values.dtype.kind == "f" and np.array_equal(values, np.floor(values))
    texts = _as_text(values.astype(np.intp) if whole else values, "label")
    position = {name: k for k, name in enumerate(names)}
    codes = np.array([position.get(text, -1) for text in texts.tolist()], np.intp)
    if (codes < 0).all() and (whole or values.dtype.kind in "iu") and values.min() >= 0:
        # Named columns, numbered labels.
        codes = np.where(values < len(names), values, -1).astype(np.intp)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise InputError(
            f"label, row {row + 1}",
            f"'{texts[row]}' is not one of the classes",
            f"give one of: {', '.join(names[:20])}",
        )
    return codes


def _one_dimensional(values: Any, name: str) -> NDArray[Any]:
    if isinstance(values, str | bytes | dict):
        raise InputError(name, f"a {type(values).__name__} is not a column", "give a list or array")
    missing = _missing_rows(values)
    if missing is not None and missing.any():
        raise _missing(int(missing.argmax()), name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(name, "rows of different lengths", "give one value a row") from None
    if array.ndim != 1:
        raise InputError(
            name, f"an array of shape {array.shape}", "give one dimension: one value a row"
        )
    if len(array) == 0:
        raise InputError(name, "no rows", "give at least one prediction with its label")
    return array


def _missing_rows(values: Any) -> NDArray[np.bool_] | None:
    """Which rows a column of some other library calls missing; None where it cannot say."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values)
    if isinstance(getattr(values, "dtype", None), np.dtype) and values.dtype.kind != "O":
        return None  # NumPy's own types have NaN, which is refused as such
    for question in ("isna", "is_null"):  # pandas; Polars and Arrow
        if callable(getattr(values, question, None)):
            return np.asarray(getattr(values, question)(), bool)
    return None


def _as_text(array: NDArray[Any], name: str) -> NDArray[np.str_]:
    if array.dtype.kind == "O":
        for row, value in enumerate(array):
            if _is_missing(value):
                raise _missing(row, name)
    elif array.dtype.kind in "fcmM":
        wrong = np.isnan(array) if array.dtype.kind in "fc" else np.isnat(array)
        if wrong.any():
            raise _missing(int(wrong.argmax()), name)
    try:
        return array.astype(np.str_)
    except UnicodeDecodeError:
        raise InputError(name, "bytes that are not text", "decode the column first") from None


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT, and values such as pandas.NA that will not say what they equal."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def _parse_numbers(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.dtype.kind == "O":
        for row, value in enumerate(array):
            if _is_missing(value):
                raise _missing(row, name)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        for row, value in enumerate(array):
            try:
                float(value)
            except (TypeError, ValueError):
                raise InputError(
                    f"{name}, row {row + 1}", f"'{value}' is not a number", "give numbers"
                ) from None
        raise


def check_aligned(columns: list[tuple[Any, str]]) -> None:
    """Refuses pandas columns whose indexes differ: rows would be paired by position, wrongly."""
    indexed = [
        (column.index, name)
        for column, name in columns
        if hasattr(column, "index") and not callable(column.index)
    ]
    for index, name in indexed[1:]:
        if not indexed[0][0].equals(index):
            raise InputError(
                f"{indexed[0][1]} and {name}",
                "their pandas indexes differ",
                "align them, or pass .to_numpy() of each to pair them by position",
            )


def _missing(row: int, name: str) -> InputError:
    return InputError(f"{name}, row {row + 1}", "the value is missing", "fill it or drop the row")


def _not_a_probability(value: float, row: int, name: str) -> InputError:
    if np.isnan(value):
        return InputError(f"{name}, row {row + 1}", "not a number (NaN)", "fill it or drop the row")
    remedy = "give values between 0 and 1"
    if 1 < value <= 100:
        remedy += " (divide per cents by 100; pass logits through a sigmoid)"
    return InputError(f"{name}, row {row + 1}", f"{value:g} is not a probability", remedy)


def _not_a_label(array: NDArray[Any], wrong: NDArray[np.intp], name: str) -> InputError:
    seen = sorted({str(value) for value in array[wrong[:1000]]})[:5]
    return InputError(
        f"{name}, row {wrong[0] + 1}",
        f"labels must be 0/1 or true/false, seen: {', '.join(map(repr, seen))}",
        "recode the column, or name the right one",
    )
