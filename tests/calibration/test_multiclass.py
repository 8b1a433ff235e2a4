"""Several classes: the top class and each class against loops, and rows that make no sense."""

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gnomon import calibrate, calibrate_classes
from gnomon.calibration.analyse import Settings
from gnomon.calibration.ordered import adaptive, order
from gnomon.calibration.pairs import as_class_probabilities
from gnomon.errors import InputError
from strategies import assert_same, oracle, true_pairs

RNG = np.random.default_rng(0)
MATRIX = RNG.dirichlet([0.6, 0.5, 0.4, 0.2], 700)
TRUTH = np.array([RNG.choice(4, p=row) for row in MATRIX])
NAMES = ["ant", "bee", "cow", "dog"]
WEIGHT = RNG.integers(0, 4, 700).astype(float)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize(
    "chosen", [Settings(), Settings(bin_size=70), Settings(binning="width:0.1")]
)
def test_top_and_classes_against_a_loop(weight: Any, chosen: Settings) -> None:
    found = calibrate_classes(MATRIX, TRUTH, weight=weight, settings=chosen)
    options: dict[str, Any] = {"bin_size": chosen.bin_size, "binning": chosen.binning,
                               "weight": weight}  # fmt: skip
    best = [max(range(4), key=lambda k: row[k]) for row in MATRIX]
    confidence = [row[k] for row, k in zip(MATRIX, best, strict=True)]
    right = [int(k == t) for k, t in zip(best, TRUTH, strict=True)]
    top = calibrate(confidence, right, **options)
    assert_same(found.top.to_dict(), top.to_dict())
    assert found.accuracy == pytest.approx(np.average(right, weights=weight))
    by_name = {row.name: row for row in found.classes.rows}
    assert sorted(by_name) == ["0", "1", "2", "3"]
    for k in range(4):
        alone = calibrate(MATRIX[:, k], k == TRUTH, **options)
        own = by_name[str(k)].calibration_error
        assert_same(own.to_dict(), alone.calibration_error.to_dict())
        assert by_name[str(k)].positives == pytest.approx(alone.base_rate * alone.n)
    mean = np.mean([row.calibration_error.value for row in found.classes.rows])
    assert found.classes.averages[-1].mean == pytest.approx(mean)
    assert [each.k for each in found.classes.averages] == [4]


def test_top_class_against_uncertainty_calibration() -> None:
    expected = oracle("calibration").lower_bound_scaling_top_ce(
        MATRIX, TRUTH, debias=False, num_bins=10
    )
    found = calibrate_classes(MATRIX, TRUTH, settings=Settings(bin_size=70))
    assert found.top.errors.rms == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("label", [
    TRUTH.astype(float), TRUTH.astype(np.uint8), TRUTH.tolist(), pd.Series(TRUTH), pl.Series(TRUTH),
    [str(k) for k in TRUTH],
])  # fmt: skip
def test_labels_of_many_kinds(label: Any) -> None:
    plain = calibrate_classes(MATRIX, TRUTH)
    assert_same(calibrate_classes(MATRIX, label).to_dict(), plain.to_dict(), 0.0, but=())


@pytest.mark.parametrize(
    "matrix",
    [MATRIX.tolist(), pd.DataFrame(MATRIX), pl.DataFrame(MATRIX), np.asfortranarray(MATRIX)],
    ids=["list", "pandas", "polars", "Fortran order"],
)
def test_matrices_of_many_kinds(matrix: Any) -> None:
    plain = calibrate_classes(MATRIX, TRUTH)
    assert_same(calibrate_classes(matrix, TRUTH).to_dict(), plain.to_dict(), 0.0, but=())


def test_class_names() -> None:
    by_name = calibrate_classes(MATRIX, [NAMES[k] for k in TRUTH], classes=NAMES)
    by_number = calibrate_classes(MATRIX, TRUTH, classes=NAMES)
    assert_same(by_name.to_dict(), by_number.to_dict(), 0.0, but=())
    assert sorted(row.name for row in by_name.classes.rows) == NAMES


def test_class_names_that_are_numbers() -> None:
    """As scikit-learn's `classes_` are: label 2 is the class called 2, not the third."""
    for names in ([1, 2, 3, 4], np.array([1, 2, 3, 4]), ["1", "2", "3", "4"]):
        found = calibrate_classes(MATRIX, TRUTH + 1, classes=names)  # type: ignore[arg-type]
        assert found.accuracy == calibrate_classes(MATRIX, TRUTH).accuracy
    some = TRUTH < 2  # so that every label is also a column number
    found = calibrate_classes(MATRIX[some], TRUTH[some] + 1, classes=np.array([1, 2, 3, 4]))  # type: ignore[arg-type]
    assert found.accuracy == calibrate_classes(MATRIX[some], TRUTH[some]).accuracy


def test_equal_highest_count_as_the_first() -> None:
    found = calibrate_classes([[0.5, 0.5], [0.5, 0.5]], [0, 1])
    assert found.accuracy == 0.5
    found = calibrate_classes([[0.4, 0.2, 0.4]], [2])
    assert found.accuracy == 0.0


def test_two_classes_mirror_each_other() -> None:
    q = MATRIX[:, 0]
    both = calibrate_classes(np.stack([1 - q, q], 1), (TRUTH == 0).astype(int),
                             settings=Settings(bin_size=70))  # fmt: skip
    first, second = (row.calibration_error for row in both.classes.rows)
    assert first.value == pytest.approx(second.value, abs=1e-9)
    assert first.high == pytest.approx(second.high, abs=1e-6)


def test_rounded_rows_are_taken() -> None:
    assert calibrate_classes([[0.333, 0.333, 0.333], [0.5, 0.3, 0.2]], [0, 1]).accuracy == 0.5


def test_decimals_that_sum_to_one_are_left_alone() -> None:
    """0.2 + 0.4 + 0.3 + 0.1 in floats is above one, but 0.3 stays 0.3 and in its bin."""
    rows = np.array([[0.2, 0.4, 0.3, 0.1], [0.4, 0.2, 0.3, 0.1], [0.1, 0.2, 0.3, 0.4]])
    np.testing.assert_array_equal(as_class_probabilities(rows), rows)
    thirds = as_class_probabilities([[0.333, 0.333, 0.333]])
    np.testing.assert_allclose(thirds.sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize("power", [1.0, 1.6])
def test_the_averages_interval_covers(power: float) -> None:
    """The classes share their rows, and the average's interval must not take them for new ones."""
    rng = np.random.default_rng(3)
    true = rng.dirichlet([1.0, 1.0, 1.0], 400)
    given = true**power / (true**power).sum(axis=1, keepdims=True)
    square = 0.0
    for k in range(3):
        bins = adaptive(order(true_pairs(given[:, k], true[:, k])), 50)
        square += float(bins.weight @ bins.gap**2) / 3
    held = 0
    for _ in range(100):
        label = (rng.random((400, 1)) > np.cumsum(true, axis=1)).sum(axis=1)
        found = calibrate_classes(given, label, settings=Settings(bin_size=50)).classes
        rms = found.averages[-1].rms
        held += rms.low - 1e-9 <= square**0.5 <= rms.high + 1e-9
    assert held >= 91


BAD: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "sum": (
        [[0.5, 0.5], [0.5, 0.4]], [0, 1], {},
        "probability, row 2: they sum to 0.9;"
        " give every class's probability, so that a row sums to one",
    ),
    "one column": (
        [[1.0], [1.0]], [0, 0], {},
        "probability: an array of shape (2, 1); give a row each, a column for each class",
    ),
    "one dimension": (
        [0.5, 0.5], [0, 1], {},
        "probability: an array of shape (2,); give a row each, a column for each class",
    ),
    "no rows": (
        np.empty((0, 3)), [], {},
        "probability: an array of shape (0, 3); give a row each, a column for each class",
    ),
    "nan": (
        [[0.5, 0.5], [0.5, np.nan]], [0, 1], {},
        "probability of class 1, row 2: not a number (NaN); fill it or drop the row",
    ),
    "missing": (
        [[0.5, 0.5], [0.5, None]], [0, 1], {},
        "probability of class 1, row 2: the value is missing; fill it or drop the row",
    ),
    "range": (
        [[1.5, -0.5], [0.5, 0.5]], [0, 1], {},
        "probability of class 0, row 1: 1.5 is not a probability; give values between 0 and 1"
        " (divide per cents by 100; pass logits through a sigmoid)",
    ),
    "label": (
        [[0.5, 0.5], [0.5, 0.5]], [0, 2], {},
        "label, row 2: '2' is not one of the classes; give one of: 0, 1",
    ),
    "negative label": (
        [[0.5, 0.5], [0.5, 0.5]], [0, -1], {},
        "label, row 2: '-1' is not one of the classes; give one of: 0, 1",
    ),
    "unknown name": (
        [[0.5, 0.5], [0.5, 0.5]], ["a", "c"], {"classes": ["a", "b"]},
        "label, row 2: 'c' is not one of the classes; give one of: a, b",
    ),
    "numbers out of range": (
        [[0.5, 0.5], [0.5, 0.5]], [1, 2], {"classes": ["a", "b"]},
        "label, row 2: '2' is not one of the classes; give one of: a, b",
    ),
    "label count": (
        [[0.5, 0.5], [0.5, 0.5]], [0], {},
        "label: an array of shape (1,) for 2 rows; give one for each row",
    ),
    "class count": (
        [[0.5, 0.5]], [0], {"classes": ["a"]}, "classes: 1 names for 2 columns; give one each",
    ),
    "same name": (
        [[0.5, 0.5]], [0], {"classes": ["a", "a"]},
        "classes: two classes have the same name; name each class once",
    ),
    "weight count": (
        [[0.5, 0.5]], [0], {"weight": [1, 2]}, "weight: 2 weights for 1 rows; give one each",
    ),
    "no weight": (
        [[0.5, 0.5]], [0], {"weight": [0]},
        "weight: every weight is zero; give a positive weight",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("matrix", "label", "options", "message"), BAD.values(), ids=BAD.keys())
def test_refused_input(matrix: Any, label: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        calibrate_classes(matrix, label, **options)
    assert str(caught.value) == message


def test_rows_of_different_lengths() -> None:
    with pytest.raises(InputError) as caught:
        calibrate_classes([[0.5, 0.5], [1.0]], [0, 1])
    assert caught.value.where == "probability"


@pytest.mark.parametrize("label", [[0, None], [0.0, float("nan")], pl.Series([0, None])])
def test_missing_labels_are_called_missing(label: Any) -> None:
    with pytest.raises(InputError) as caught:
        calibrate_classes([[0.5, 0.5], [0.5, 0.5]], label)
    assert caught.value.where == "label, row 2"
    assert caught.value.problem == "the value is missing"


def test_true_and_false_are_the_second_class_and_the_first() -> None:
    labels = [True, False]
    assert calibrate_classes([[0.2, 0.8], [0.9, 0.1]], labels).accuracy == 1.0


def test_pandas_labels_with_another_index() -> None:
    matrix = pd.DataFrame([[0.2, 0.8], [0.9, 0.1]])
    with pytest.raises(InputError) as caught:
        calibrate_classes(matrix, pd.Series([1, 0], index=[1, 0]))
    assert caught.value.problem == "their pandas indexes differ"


def test_json_and_text() -> None:
    found = calibrate_classes(MATRIX, TRUTH, classes=NAMES)
    fields = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(fields) == ["accuracy", "top", "classes"]
    assert f"top class (accuracy {found.accuracy:.4f})" in str(found)
    assert "class by class" in str(found)
    tiny = calibrate_classes([[1.0, 0.0]], [1])
    json.dumps(tiny.to_dict(), allow_nan=False)


def test_a_class_that_never_occurs() -> None:
    found = calibrate_classes([[0.7, 0.3, 0.0]] * 20, [0] * 14 + [1] * 6)
    never = next(row for row in found.classes.rows if row.name == "2")
    assert never.positives == 0
    assert never.calibration_error.value == 0
    assert never.calibration_error.high > 0


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    calibrate_classes(MATRIX, TRUTH, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
