"""What may be given as predictions, labels and weights, and what is said when it may not."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from gnomon import calibrate
from gnomon.calibration.pairs import (
    BLOCK,
    as_groups,
    as_labels,
    as_pairs,
    as_probabilities,
    as_weights,
)
from gnomon.errors import InputError
from strategies import Rows, assert_same, rows

Q = [0.1, 0.9, 0.9, 0.4, 0.0, 1.0]
Y = [0, 1, 0, 1, 0, 1]
MISSING = ("the value is missing", "fill it or drop the row")
NAN = ("not a number (NaN)", "fill it or drop the row")
RANGE = "give values between 0 and 1"
HINT = " (divide per cents by 100; pass logits through a sigmoid)"
RECODE = "recode the column, or name the right one"
ONE_DIMENSION = "give one dimension: one value a row"
OBJECTS = np.array([0, "x", 2, 1.5], dtype=object)


def refusal(call: Callable[[], object]) -> tuple[str, str, str]:
    """The three parts of the error a call must raise."""
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == "{}: {}; {}".format(*caught.value.args)
    assert "\n" not in str(caught.value)
    return caught.value.where, caught.value.problem, caught.value.remedy


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "object": lambda values: np.array(values, dtype=object),
    "text": lambda values: [str(value) for value in values],
    "polars": pl.Series,
    "pandas": pd.Series,
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "arrow": pa.array,
    "arrow chunks": lambda values: pa.chunked_array([values[:2], values[2:]]),
    "every other": lambda values: np.repeat(values, 2)[::2],
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
def test_every_kind_of_column_gives_the_same_pairs(column: Callable[[list[Any]], Any]) -> None:
    expected = as_pairs(np.array(Q), np.array(Y), np.array([1.0, 2, 0.5, 1, 3, 1]))
    found = as_pairs(column(Q), column(Y), column([1.0, 2, 0.5, 1, 3, 1]))
    np.testing.assert_array_equal(found.q, expected.q)
    np.testing.assert_array_equal(found.y, expected.y)
    np.testing.assert_array_equal(found.weight, expected.weight)
    assert found.q.dtype == np.float64
    assert found.y.dtype == np.uint8


@pytest.mark.parametrize("column", [pl.Series, pd.Series, list, tuple])
def test_every_kind_of_column_gives_the_same_answer(column: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(0)
    q = rng.random(300).round(2)
    y = rng.random(300) < q
    assert_same(calibrate(column(q), column(y)).to_dict(), calibrate(q, y).to_dict(), 0.0, but=())


@pytest.mark.parametrize(
    "labels",
    [
        [True, False, True],
        [1, 0, 1],
        [1.0, 0.0, 1.0],
        ["1", "0", "1"],
        ["1.0", "0.0", "1.0"],
        ["true", "false", "true"],
        ["TRUE", " False", "True "],
        [b"1", b"0", b"true"],
        np.array([True, 0, "1"], dtype=object),
        np.array([1, 0, 1], np.int8),
        np.array([1, 0, 1], np.float16),
        np.array([1, 0, 1], np.uint64),
        pd.Categorical([1, 0, 1]),
        pl.Series(["true", "false", "true"], dtype=pl.Categorical),
    ],
    ids=str,
)
def test_labels_of_many_spellings(labels: Any) -> None:
    np.testing.assert_array_equal(as_labels(labels), np.array([1, 0, 1], np.uint8))


@pytest.mark.parametrize(
    ("values", "where", "problem", "remedy"),
    [
        ([0.1, float("nan")], "probability, row 2", *NAN),
        ([0.1, "nan"], "probability, row 2", *NAN),
        (pd.Series([0.1, None]), "probability, row 2", *NAN),
        ([0.1, None], "probability, row 2", *MISSING),
        (np.array([None, 0.1], dtype=object), "probability, row 1", *MISSING),
        (pl.Series([0.1, None]), "probability, row 2", *MISSING),
        (pl.Series(["0.1", None]), "probability, row 2", *MISSING),
        (pa.array([0.1, None]), "probability, row 2", *MISSING),
        (pa.chunked_array([[0.1], [None, 0.2]]), "probability, row 2", *MISSING),
        ([0.5, float("inf")], "probability, row 2", "inf is not a probability", RANGE),
        ([float("-inf")], "probability, row 1", "-inf is not a probability", RANGE),
        ([0.5, -1e-9], "probability, row 2", "-1e-09 is not a probability", RANGE),
        ([0.5, 1.2], "probability, row 2", "1.2 is not a probability", RANGE + HINT),
        ([87, 3], "probability, row 1", "87 is not a probability", RANGE + HINT),
        ([0.5, 101.0], "probability, row 2", "101 is not a probability", RANGE),
        (["0.5", "high"], "probability, row 2", "'high' is not a number", "give numbers"),
        ([], "probability", "no rows", "give at least one prediction with its label"),
        (0.5, "probability", "an array of shape ()", ONE_DIMENSION),
        (None, "probability", "an array of shape ()", ONE_DIMENSION),
        ({0.1, 0.2}, "probability", "an array of shape ()", ONE_DIMENSION),
        ([[0.1], [0.2]], "probability", "an array of shape (2, 1)", ONE_DIMENSION),
        (pd.DataFrame({"a": [0.1]}), "probability", "an array of shape (1, 1)", ONE_DIMENSION),
        ([[0.1], [0.2, 0.3]], "probability", "rows of different lengths", "give one value a row"),
        ([0.1, [0.2, 0.3]], "probability", "rows of different lengths", "give one value a row"),
        ("0.5", "probability", "a str is not a column", "give a list or array"),
        ({"a": 0.5}, "probability", "a dict is not a column", "give a list or array"),
        (b"0.5", "probability", "a bytes is not a column", "give a list or array"),
        ([1j], "probability", "complex128 values are not numbers", "give probabilities"),
        (
            np.array(["2020-01-01"], "M8[D]"),
            "probability",
            "datetime64[D] values are not numbers",
            "give probabilities",
        ),
    ],
)
def test_refused_probabilities(values: Any, where: str, problem: str, remedy: str) -> None:
    assert refusal(lambda: as_probabilities(values)) == (where, problem, remedy)


@pytest.mark.parametrize(
    ("values", "row", "seen"),
    [
        ([0, 2, 3, -1], 2, "'-1', '2', '3'"),
        (["yes", "no"], 1, "'no', 'yes'"),
        (["1", "", "0"], 2, "''"),
        ([0, 0.5], 2, "'0.5'"),
        ([1, float("inf")], 2, "'inf'"),
        (list("abcdefg"), 1, "'a', 'b', 'c', 'd', 'e'"),
        (OBJECTS, 2, "'1.5', '2', 'x'"),  # values that cannot be sorted among themselves
        ([1j, 0], 1, "'0j', '1j'"),
    ],
)
def test_refused_labels_say_what_was_seen(values: Any, row: int, seen: str) -> None:
    where, problem, remedy = refusal(lambda: as_labels(values))
    assert where == f"label, row {row}"
    assert problem == f"labels must be 0/1 or true/false, seen: {seen}"
    assert remedy == RECODE


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, None], dtype=object),
        np.array([1, float("nan")], dtype=object),
        pd.Series([1, None], dtype=object),
        pd.Series(["true", None]),
        pd.Series([True, pd.NA], dtype="boolean"),
        pd.Series([1, pd.NA], dtype=object),
        pd.Series([1, pd.NA], dtype="Int64"),
        pl.Series([True, None]),
        pl.Series(["1", None]),
        pl.Series([1, None]),
        pa.array([True, None]),
        pa.array([1, None]),
        [1.0, float("nan")],
    ],
    ids=lambda values: f"{type(values).__module__} {getattr(values, 'dtype', '')}",
)
def test_missing_labels_are_called_missing(values: Any) -> None:
    where, problem, remedy = refusal(lambda: as_labels(values))
    assert where == "label, row 2"
    assert (problem, remedy) in (MISSING, NAN)


@pytest.mark.parametrize(
    ("values", "where", "problem", "remedy"),
    [
        ([1, -2.5], "weight, row 2", "-2.5 is not a weight", "give finite weights of zero or more"),
        ([1, "inf"], "weight, row 2", "inf is not a weight", "give finite weights of zero or more"),
        ([1, "x"], "weight, row 2", "'x' is not a number", "give numbers"),
        ([1, None], "weight, row 2", *MISSING),
        (pl.Series([1.0, None]), "weight, row 2", *MISSING),
        ([], "weight", "no rows", "give at least one prediction with its label"),
        ([[1.0]], "weight", "an array of shape (1, 1)", ONE_DIMENSION),
    ],
)
def test_refused_weights(values: Any, where: str, problem: str, remedy: str) -> None:
    assert refusal(lambda: as_weights(values)) == (where, problem, remedy)


@pytest.mark.parametrize("values", [np.array(["2020-01-01"], "M8[D]"), np.array([1 + 0j])])
def test_weights_that_are_not_numbers(values: Any) -> None:
    where, problem, _ = refusal(lambda: as_weights(values))
    assert where == "weight"
    assert problem == f"{values.dtype} values are not numbers"


def test_bytes_that_are_not_text() -> None:
    where, _, _ = refusal(lambda: as_labels(np.array([b"1", b"\xff"])))
    assert where.startswith("label")


def test_masked_values_are_missing_values() -> None:
    masked = np.ma.masked_array([0.1, 0.2], [False, True])
    assert refusal(lambda: as_probabilities(masked)) == ("probability, row 2", *MISSING)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ([0.1, 0.2], [0]),
            (
                "probability and label",
                "2 predictions but 1 labels",
                "give one label for each prediction",
            ),
        ),
        (
            ([0.1, 0.2], [0, 1], [1]),
            (
                "probability and weight",
                "2 predictions but 1 weights",
                "give one weight for each prediction",
            ),
        ),
        (
            ([0.1, 0.2], [0, 1], [0, 0]),
            ("weight", "every weight is zero", "give at least one positive weight"),
        ),
    ],
)
def test_columns_that_do_not_fit(arguments: tuple[Any, ...], parts: tuple[str, str, str]) -> None:
    assert refusal(lambda: as_pairs(*arguments)) == parts
    assert refusal(lambda: calibrate(*arguments[:2], weight=(*arguments, None)[2])) == parts


@pytest.mark.parametrize("which", [0, 1, 2])
def test_pandas_columns_with_different_indexes(which: int) -> None:
    columns = [pd.Series(values) for values in ([0.1, 0.2], [0, 1], [1.0, 2.0])]
    columns[which].index = pd.Index([1, 0])
    where, problem, remedy = refusal(lambda: as_pairs(*columns))
    assert where == ("probability and weight" if which == 2 else "probability and label")
    assert problem == "their pandas indexes differ"
    assert remedy == "align them, or pass .to_numpy() of each to pair them by position"
    assert len(as_pairs(*(column.to_numpy() for column in columns))) == 2


def test_names_are_used_in_messages() -> None:
    names = ("score", "truth", "count")
    assert refusal(lambda: as_pairs([2.0], [0], names=names))[0] == "score, row 1"
    assert refusal(lambda: as_pairs([0.2], [5], names=names))[0] == "truth, row 1"
    assert refusal(lambda: as_pairs([0.2], [1], [-1], names=names))[0] == "count, row 1"
    assert refusal(lambda: as_pairs([0.2], [1, 0], names=names))[0] == "score and truth"


@pytest.mark.parametrize("row", [0, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
def test_the_first_wrong_row_is_named_wherever_it_is(row: int) -> None:
    values = np.full(3 * BLOCK, 0.5)
    values[row] = np.nan
    values[-1] = 2.0
    assert refusal(lambda: as_probabilities(values))[0] == f"probability, row {row + 1}"


def test_single_precision_stays() -> None:
    assert as_probabilities(np.array([0.1, 0.2], np.float32)).dtype == np.float32
    assert as_probabilities(np.array([0.1, 0.2], ">f8")).dtype == np.dtype(np.float64)
    assert as_probabilities(np.array([0.1], np.float16)).dtype == np.float64
    assert as_probabilities([0, 1]).dtype == np.float64


def test_rows_of_weight_zero_do_not_count() -> None:
    some = calibrate([0.1, 0.2, 0.3], [0, 1, 1], weight=[2, 0, 1])
    assert_same(some.to_dict(), calibrate([0.1, 0.3], [0, 1], weight=[2, 1]).to_dict(), 0.0, but=())
    assert as_pairs([0.1, 0.2, 0.3], [0, 1, 1], [2, 0, 1]).mass == 3.0


@given(rows())
def test_mass_and_rows_taken(data: Rows) -> None:
    pairs = as_pairs(data.q, data.y, data.times)
    assert pairs.mass == data.times.sum()
    assert as_pairs(data.q, data.y).mass == len(data.q)
    turned = pairs.take(np.arange(len(pairs))[::-1])
    assert turned.weight is not None
    np.testing.assert_array_equal(turned.q, data.q[::-1])
    np.testing.assert_array_equal(turned.y, data.y[::-1])
    np.testing.assert_array_equal(turned.weight, data.times[::-1])
    assert len(as_pairs(data.q, data.y).take(data.y == 1)) == data.y.sum()


def test_groups_are_text() -> None:
    assert as_groups([1, 2], 2).tolist() == ["1", "2"]
    assert as_groups(pl.Series(["a", "b"]), 2).tolist() == ["a", "b"]
    assert refusal(lambda: as_groups(["a"], 2)) == (
        "group",
        "1 group names for 2 predictions",
        "give one for each prediction",
    )


@pytest.mark.parametrize(
    "values", [["a", None], pd.Series([1.0, None]), [1.0, float("nan")], pl.Series([1, None])]
)
def test_missing_group_names_are_called_missing(values: Any) -> None:
    where, problem, remedy = refusal(lambda: as_groups(values, 2))
    assert where == "group, row 2"
    assert (problem, remedy) in (MISSING, NAN)


def test_input_is_not_changed() -> None:
    q, y, weight = np.array(Q), np.array(Y, np.bool_), np.ones(6)
    before = [each.copy() for each in (q, y, weight)]
    json.dumps(calibrate(q, y, weight=weight, interval="bootstrap", draws=10).to_dict())
    json.dumps(calibrate(q, y, interval="bootstrap", draws=10).to_dict())
    for each, copy in zip((q, y, weight), before, strict=True):
        np.testing.assert_array_equal(each, copy)
