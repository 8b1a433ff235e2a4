"""Recalibration against scikit-learn, brute force, and the properties every map must have."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from gnomon.calibration.recalibrate import EDGE, METHODS, Recalibrator, cross_fit, fit
from gnomon.errors import InputError

Array = NDArray[np.float64]
Rows = tuple[Array, NDArray[np.int64], NDArray[np.int64]]
LOGISTIC = ("platt", "beta", "temperature")


def log_loss(
    q: Array, y: NDArray[np.int64], weight: Array | NDArray[np.int64] | None = None
) -> float:
    q = np.clip(q, EDGE, 1 - EDGE)
    return float(np.average(-np.where(y == 1, np.log(q), np.log1p(-q)), weights=weight))


def simulate(
    n: int, a: float, b: float, c: float, seed: int = 0
) -> tuple[Array, NDArray[np.int64]]:
    """Predictions whose true probability is the beta map of what they state."""
    rng = np.random.default_rng(seed)
    q = rng.beta(0.8, 0.8, n)
    p = expit(a * np.log(q) - b * np.log1p(-q) + c)
    return q, (rng.random(n) < p).astype(np.int64)


def simulate_classes(n: int, temperature: float) -> tuple[Array, NDArray[np.int64]]:
    """Four classes whose true probabilities are the stated ones at another temperature."""
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(n, 4)) * 2
    p = softmax(scores, axis=1)
    y = (p.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)
    return softmax(scores * temperature, axis=1), y


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    """Predictions with ties, zeros, ones and neighbouring numbers; both labels; copies of rows."""
    value = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1)
    n = draw(st.integers(2, 25))
    q = draw(st.lists(value, min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))
    copies = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return np.array(q), np.array([0, 1, *y]), np.array(copies)


methods = st.sampled_from(METHODS)


@settings(deadline=None)
@given(rows(), methods)
def test_a_weight_is_as_many_copies_of_the_row(data: Rows, method: str) -> None:
    q, y, copies = data
    weighted = fit(q, y, method=method, weight=copies, bins=4)
    replicated = fit(q.repeat(copies), y.repeat(copies), method=method, bins=4)
    assert weighted == replicated


@settings(deadline=None)
@given(rows(), methods, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(data: Rows, method: str, random: Any) -> None:
    q, y, copies = data
    weight = copies / 7
    order = list(range(len(q)))
    random.shuffle(order)
    shuffled = fit(q[order], y[order], method=method, weight=weight[order], bins=4)
    assert shuffled == fit(q, y, method=method, weight=weight, bins=4)


@settings(deadline=None)
@given(rows(), st.sampled_from(LOGISTIC))
def test_log_loss_is_never_worse_than_leaving_the_probabilities(data: Rows, method: str) -> None:
    q, y, copies = data
    mended = fit(q, y, method=method, weight=copies).apply(q)
    assert log_loss(mended, y, copies) <= log_loss(q, y, copies) + 1e-8


@settings(deadline=None)
@given(rows(), methods, st.lists(st.floats(0, 1), min_size=1))
def test_what_is_applied_is_a_probability_and_keeps_the_order(
    data: Rows, method: str, stated: list[float]
) -> None:
    q, y, _ = data
    fitted = fit(q, y, method=method, bins=4)
    mended = fitted.apply(np.sort([*stated, *q]))
    assert mended.dtype == np.float64
    assert ((mended >= 0) & (mended <= 1)).all()
    if method != "histogram" and not (method == "platt" and float_of(fitted, "a") < 0):
        assert (np.diff(mended) >= 0).all()
    if method != "isotonic":
        assert ((mended > 0) & (mended < 1)).all()


@settings(deadline=None)
@given(rows(), methods)
def test_json_gives_back_identical_bits(data: Rows, method: str) -> None:
    q, y, copies = data
    fitted = fit(q, y, method=method, weight=copies / 3, bins=4)
    again = Recalibrator.from_json(fitted.to_json())
    assert again == fitted
    assert again.to_json() == fitted.to_json()
    assert again.apply(q).tobytes() == fitted.apply(q).tobytes()


@settings(deadline=None, max_examples=50)
@given(rows())
def test_beta_satisfies_the_conditions_of_a_bounded_optimum(data: Rows) -> None:
    q, y, copies = data
    own = fit(q, y, method="beta", weight=copies).to_dict()["parameters"]
    assert isinstance(own, dict)
    free = np.array([own["a"], own["b"], own["c"]], np.float64)
    q = np.clip(q, EDGE, 1 - EDGE)
    features = np.column_stack([np.log(q), -np.log1p(-q), np.ones_like(q)])
    low, high = np.array([0.0, 0.0, -1000.0]), 1000.0

    def loss(x: Array) -> float:
        score = features @ x
        return float(np.average(np.logaddexp(0, np.where(y == 1, -score, score)), weights=copies))

    best = loss(free)
    for size in (1e-4, 1e-2, 1.0):
        for move in np.vstack([np.eye(3), -np.eye(3), [[1, 1, 0], [1, 0, 21], [0, 1, -21]]]):
            assert loss(np.clip(free + size * move, low, high)) >= best - 1e-7


def float_of(fitted: Recalibrator, name: str) -> float:
    value = fitted.parameters[0][name]
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_agrees_with_scikit_learn(weighted: bool) -> None:
    rng = np.random.default_rng(3)
    for digits in (1, 2, 16):
        q = rng.random(500).round(digits)
        y = (rng.random(500) < q**2).astype(np.int64)
        weight = rng.random(500) if weighted else None
        oracle = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        oracle.fit(q, y, sample_weight=weight)
        points = np.r_[0, 1, q, rng.random(500)]
        mended = fit(q, y, method="isotonic", weight=weight).apply(points)
        np.testing.assert_allclose(mended, oracle.predict(points), atol=1e-12)


def test_isotonic_keeps_only_the_knots_it_needs() -> None:
    q, y = simulate(5000, 1, 1, 0)
    knots = fit(q, y, method="isotonic").parameters[0]["knots"]
    assert isinstance(knots, list)
    assert len(knots) < 200


def test_platt_agrees_with_scikit_learn() -> None:
    q, y = simulate(2000, 0.6, 1.7, -0.4)
    weight = np.random.default_rng(5).random(2000) * 3
    oracle = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky")
    oracle.fit(logit(q)[:, None], y, sample_weight=weight)
    fitted = fit(q, y, method="platt", weight=weight)
    assert float_of(fitted, "a") == pytest.approx(oracle.coef_[0, 0], rel=1e-6)
    assert float_of(fitted, "b") == pytest.approx(oracle.intercept_[0], rel=1e-6)


def test_beta_agrees_with_scikit_learn_where_the_bounds_do_not_bind() -> None:
    q, y = simulate(2000, 0.6, 1.7, -0.4)
    oracle = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky")
    oracle.fit(np.column_stack([np.log(q), -np.log1p(-q)]), y)
    fitted = fit(q, y)
    found = [float_of(fitted, name) for name in "abc"]
    np.testing.assert_allclose(found, [*oracle.coef_[0], oracle.intercept_[0]], rtol=1e-6)


def test_beta_drops_the_term_that_would_be_negative() -> None:
    q, y = simulate(2000, -0.5, 1.5, 0.2)
    fitted = fit(q, y)
    oracle = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky")
    oracle.fit(-np.log1p(-q)[:, None], y)
    assert float_of(fitted, "a") == 0
    assert float_of(fitted, "b") == pytest.approx(oracle.coef_[0, 0], rel=1e-6)
    assert float_of(fitted, "c") == pytest.approx(oracle.intercept_[0], rel=1e-6)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_temperature_agrees_with_a_grid(temperature: float) -> None:
    q, y = simulate(3000, 1 / temperature, 1 / temperature, 0)
    grid = np.exp(np.linspace(np.log(temperature) - 0.3, np.log(temperature) + 0.3, 2001))
    losses = [log_loss(expit(logit(q) / one), y) for one in grid]
    fitted = fit(q, y, method="temperature")
    assert float_of(fitted, "temperature") == pytest.approx(grid[np.argmin(losses)], rel=6e-4)
    assert log_loss(fitted.apply(q), y) <= min(losses)


def test_temperature_for_classes_agrees_with_a_grid() -> None:
    q, y = simulate_classes(3000, 1.8)
    grid = np.linspace(1.5, 2.1, 1201)
    picked = np.arange(len(y)), y
    losses = [-np.log(softmax(np.log(q) / one, axis=1)[picked]).mean() for one in grid]
    fitted = fit(q, y, method="temperature")
    assert float_of(fitted, "temperature") == pytest.approx(grid[np.argmin(losses)], abs=6e-4)
    assert float_of(fitted, "temperature") == pytest.approx(1.8, abs=0.15)
    np.testing.assert_allclose(fitted.apply(q).sum(axis=1), 1)
    assert -np.log(fitted.apply(q)[picked]).mean() <= min(losses)


def test_temperature_for_two_classes_is_the_binary_one() -> None:
    q, y = simulate(2000, 0.5, 0.5, 0)
    binary = fit(q, y, method="temperature")
    both = fit(np.column_stack([1 - q, q]), y, method="temperature")
    np.testing.assert_allclose(both.apply(np.column_stack([1 - q, q]))[:, 1], binary.apply(q))


@pytest.mark.parametrize("method", METHODS)
def test_classes_are_mended_and_kept_as_json(method: str) -> None:
    q, y = simulate_classes(4000, 2.5)
    copies = np.random.default_rng(0).integers(1, 4, len(y))
    fitted = fit(q, y, method=method, weight=copies)
    mended = fitted.apply(q)
    picked = np.arange(len(y)), y
    assert mended.shape == q.shape
    np.testing.assert_allclose(mended.sum(axis=1), 1)
    assert -np.log(mended[picked]).mean() < -np.log(q[picked]).mean() - 0.05
    assert fitted == fit(q.repeat(copies, axis=0), y.repeat(copies), method=method)
    assert fitted == fit(q[::-1], y[::-1], method=method, weight=copies[::-1])
    again = Recalibrator.from_json(fitted.to_json())
    assert again == fitted
    assert again.apply(q).tobytes() == mended.tobytes()


def test_a_row_whose_every_class_is_found_impossible_keeps_what_it_stated() -> None:
    step = {"knots": [0.4, 0.6], "values": [0.0, 1.0]}
    never = Recalibrator("isotonic", (dict(step), dict(step), dict(step)), 9, (0.3, 0.3, 0.4), "x")
    np.testing.assert_allclose(never.apply([[0.3, 0.3, 0.4]]), [[0.3, 0.3, 0.4]])


def test_histogram_by_hand() -> None:
    q = [0.1, 0.2, 0.2, 0.2, 0.6, 0.7, 0.8, 0.9]
    y = [0, 0, 1, 0, 1, 1, 1, 1]
    fitted = fit(q, y, method="histogram", bins=2)
    # base rate 5/8; (1 + 5/8) / (4 + 1) below the edge half-way between 0.2 and 0.6
    assert fitted.parameters == ({"edges": [0.4], "values": [0.325, 0.925]},)
    assert fitted.apply([0.0, 0.39, 0.4, 1.0]).tolist() == [0.325, 0.325, 0.925, 0.925]


def test_histogram_keeps_ties_together() -> None:
    q, y = [0.5] * 99 + [0.9], [0, 1] * 50
    assert fit(q, y, method="histogram", bins=10).apply([0.5])[0] == pytest.approx(0.495)
    low = 0.3
    above = float(np.nextafter(low, 1))  # nothing lies between: the edge must be the upper one
    fitted = fit([low, above] * 10, [0, 1] * 10, method="histogram", bins=2)
    assert fitted.apply([low])[0] < 0.1 < 0.9 < fitted.apply([above])[0]


@pytest.mark.parametrize("method", METHODS)
def test_a_known_distortion_is_recovered(method: str) -> None:
    """20,000 rows distorted by a known beta map give a map close to it."""
    a, b, c = 0.5, 1.6, 0.3
    q, y = simulate(20_000, a, b, c, seed=11)
    points = np.linspace(0.02, 0.98, 97)
    truth = expit(a * np.log(points) - b * np.log1p(-points) + c)
    off = np.abs(fit(q, y, method=method, bins=40).apply(points) - truth).max()
    # platt and temperature lack a parameter and cannot follow the map everywhere
    assert off < {"beta": 0.015, "isotonic": 0.07, "histogram": 0.07}.get(method, 0.25)
    if method == "beta":
        found = [float_of(fit(q, y), name) for name in "abc"]
        np.testing.assert_allclose(found, [a, b, c], atol=0.1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("q", "y"),
    [
        ([0.2, 0.3, 0.7, 0.8], [0, 0, 1, 1]),  # separable
        ([0.2, 0.3, 0.7, 0.8], [1, 1, 0, 0]),  # separable the wrong way round
        ([0.0, 0.0, 1.0, 1.0], [0, 0, 1, 1]),  # saturated and right
        ([0.0, 0.0, 1.0, 1.0], [1, 1, 0, 0]),  # saturated and wrong
        ([0.5, 0.5], [0, 1]),  # one distinct prediction, logit 0
        ([0.7, 0.7, 0.7], [0, 1, 0]),  # one distinct prediction
        ([5e-324, 1e-300], [0, 1]),
    ],
)
def test_degenerate_rows_give_finite_bounded_parameters(
    method: str, q: list[float], y: list[int]
) -> None:
    fitted = fit(q, y, method=method)
    assert np.isfinite(fitted.apply(np.linspace(0, 1, 11))).all()
    assert Recalibrator.from_json(fitted.to_json()) == fitted  # reading checks the bounds
    if method in LOGISTIC:
        before, after = np.array(q), fitted.apply(q)
        assert log_loss(after, np.array(y)) <= log_loss(before, np.array(y)) + 1e-8


def test_one_distinct_prediction_is_mended_to_the_base_rate() -> None:
    for method in ("platt", "beta", "isotonic"):
        assert fit([0.7] * 4, [0, 1, 0, 0], method=method).apply([0.7])[0] == pytest.approx(0.25)


def test_what_it_was_fitted_on_is_told() -> None:
    fields = fit([0.2, 0.8, 0.8], [0, 1, 0], weight=[1, 1, 2], method="histogram").to_dict()
    assert fields["format"] == "gnomon recalibrator"
    assert fields["format_version"] == 1
    assert fields["fitted_on"] == {"n": 4, "base_rate": 0.25}
    assert str(fields["signature"]).startswith("recalibrate|bins:15|method:histogram|seed:none|")


def test_float32_and_pandas_are_taken() -> None:
    q, y = simulate(200, 1, 1, 0)
    narrow = fit(q.astype(np.float32), pd.Series(y), weight=pd.Series(np.ones(200)))
    np.testing.assert_allclose(narrow.apply(pd.Series(q)), fit(q, y).apply(q), atol=1e-4)
    with pytest.raises(InputError, match="pandas indexes differ"):
        fit(pd.Series(q), pd.Series(y, index=range(1, 201)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit([0.1, 0.9], [1, 1]), "label: every label is 1; give rows of every label"),
        (lambda: fit([0.1, 0.9], [0, 0], method="isotonic"), "label: every label is 0;"),
        (lambda: fit([0.1, 0.9], [0, 1], weight=[1, 0]), "label: every label is 0;"),
        (lambda: fit([0.1], [1]), "label: every label is 1;"),
        (lambda: fit([], []), "probability: no rows;"),
        (lambda: fit([0.1, 1.2], [0, 1]), "probability, row 2: 1.2 is not a probability;"),
        (lambda: fit([[0.1], [0.2, 0.8]], [0, 1]), "probability: rows of different lengths;"),
        (lambda: fit([0.1, 0.2], [0, 1], method="spline"), "method: 'spline' is unknown; give one"),
        (lambda: fit([0.1, 0.2], [0, 1], weight=[1]), "weight: 1 weights for 2 rows;"),
        (lambda: fit([0.1, 0.2], [0, 1], weight=[0, 0]), "weight: every weight is zero;"),
        (lambda: fit([0.1, 0.2], [0, 1], method="histogram", bins=0), "bins: 0 is out of range;"),
        (lambda: fit([[0.5, 0.4]], [0]), "probability, row 1: they sum to 0.9;"),
        (lambda: fit([[0.5, np.nan]], [0]), "probability of class 1, row 1: not a number (NaN);"),
        (lambda: fit([["a", "b"]], [0]), "probability of class 0, row 1: 'a' is not a number"),
        (lambda: fit([[0.5, 0.5]], [2]), "label, row 1: '2' is not one of the classes;"),
        (lambda: fit([[0.5, 0.5]], [0, 1]), "label: an array of shape (2,) for 1 rows;"),
        (lambda: fit([[0.5, 0.5]] * 2, [1, 1]), "label: no row is of class 0;"),
        (
            lambda: fit([[0.5, 0.5]] * 2, [1, 1], method="temperature"),
            "label: every row is of class 1;",
        ),
        (lambda: fit([0.1, 0.9], [0, 1]).apply([[0.1, 0.9]]), "probability: an array of shape"),
        (
            lambda: fit([[0.4, 0.6]] * 2, [0, 1]).apply([[0.2, 0.2, 0.6]]),
            "probability: 3 columns, but fitted on 2 classes;",
        ),
        (lambda: cross_fit([0.1, 0.9], [0, 1], folds=1), "folds: 1 is out of range;"),
        (lambda: cross_fit([0.1, 0.9], [0, 1], folds=3), "folds: 3 folds for 2 rows;"),
        (lambda: cross_fit([0.1] * 9, [0, 1, 0] * 3, seed=-1), "seed: -1 is out of range;"),
        (
            lambda: cross_fit([0.1] * 9, [0, 1, 0] * 3, group=list("aaabbbccc")),
            "folds: 5 folds for 3 groups;",
        ),
        (
            lambda: cross_fit([0.1] * 9, [0] * 8 + [1]),
            "every label is 0; give more rows of the rare labels, or fewer folds",
        ),
    ],
)
def test_bad_input_is_told_in_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)


def as_json(method: object, parameters: object, **changed: object) -> str:
    fields = {
        "format": "gnomon recalibrator",
        "format_version": 1,
        "method": method,
        "parameters": parameters,
        "fitted_on": {"n": 10, "base_rate": 0.5},
        "signature": "recalibrate|method:x",
    }
    return json.dumps(fields | changed)


GOOD = {"a": 1.0, "b": 0.0}
STEP = {"knots": [0.1, 0.2], "values": [0.3, 0.4]}


def test_the_hand_written_object_is_read() -> None:
    assert Recalibrator.from_json(as_json("platt", GOOD)).apply([0.3])[0] == pytest.approx(0.3)
    assert Recalibrator.from_json(as_json("isotonic", STEP)).apply([0.15])[0] == 0.35


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "recalibrator: not JSON; give a file Gnomon wrote"),
        ("{'a': 1}", "recalibrator: not JSON;"),
        ("[" * 100_000, "recalibrator: not JSON;"),
        ("[]", 'format is not "gnomon recalibrator"'),
        ("null", 'format is not "gnomon recalibrator"'),
        (as_json("platt", GOOD, format="pickle"), 'format is not "gnomon recalibrator"'),
        (as_json("platt", GOOD, format_version=2), "made by a newer Gnomon; upgrade"),
        (as_json("platt", GOOD, format_version=0), "format_version 0 is not a version"),
        (as_json("platt", GOOD, format_version=True), "format_version True is not a version"),
        (as_json("platt", GOOD, extra=1), "recalibrator does not have exactly the fields"),
        (as_json("platt", GOOD, signature=3), "signature is not a text"),
        (as_json("magic", GOOD), "method 'magic' is not one of platt, beta"),
        (as_json([], GOOD), "method [] is not one of"),
        (as_json("platt", GOOD, fitted_on=None), "fitted_on does not have exactly the fields"),
        (as_json("platt", GOOD, fitted_on={"n": 0, "base_rate": 0.5}), "n 0 is not a number from"),
        (as_json("platt", GOOD, fitted_on={"n": 1, "base_rate": 2}), "base_rate 2 is not a number"),
        (as_json("platt", GOOD, fitted_on={"n": None, "base_rate": 1}), "n None is not a number"),
        (as_json("platt", {"a": 1.0}), "parameters does not have exactly the fields a, b"),
        (as_json("platt", GOOD | {"c": 0.0}), "parameters does not have exactly the fields a, b"),
        (as_json("platt", {"a": float("nan"), "b": 0.0}), "a nan is not a number from -1000 to"),
        (as_json("platt", {"a": float("inf"), "b": 0.0}), "a inf is not a number from -1000 to"),
        (as_json("platt", {"a": 10**400, "b": 0.0}), "0 is not a number from -1000 to 1000"),
        (as_json("platt", {"a": "1", "b": 0.0}), "a '1' is not a number"),
        (as_json("platt", {"a": True, "b": 0.0}), "a True is not a number"),
        (as_json("beta", {"a": -1, "b": 0, "c": 0}), "a -1 is not a number from 0 to 1000"),
        (as_json("temperature", {"temperature": 0}), "temperature 0 is not a number from 0.001"),
        (as_json("isotonic", STEP | {"knots": [0.2, 0.1]}), "knots are not in increasing order"),
        (as_json("isotonic", STEP | {"knots": [0.2, 0.2]}), "knots are not in increasing order"),
        (as_json("isotonic", STEP | {"knots": [0.2]}), "knots are 1, which does not fit 2 values"),
        (as_json("isotonic", {"knots": [], "values": []}), "knots are 0, which does not fit 0"),
        (as_json("isotonic", STEP | {"knots": 0.2}), "knots is not a list"),
        (as_json("isotonic", STEP | {"values": [0.3, 1.4]}), "values 1.4 is not a number from 0"),
        (as_json("isotonic", STEP | {"values": [0.3, 0.2]}), "values are not in increasing order"),
        (
            as_json("histogram", {"edges": [0.5], "values": [0.5]}),
            "edges are 1, which does not fit",
        ),
        (
            as_json("histogram", {"edges": [0.5, 0.4], "values": [0.1, 0.2, 0.3]}),
            "edges are not in increasing order",
        ),
        (
            as_json("platt", {"one_versus_rest": [GOOD]}, fitted_on={"n": 1, "base_rate": [1, 0]}),
            "one_versus_rest is not a list of 2 maps",
        ),
        (
            as_json("platt", {"one_versus_rest": [GOOD]}, fitted_on={"n": 1, "base_rate": [1]}),
            "base_rate has fewer than two classes",
        ),
    ],
)
def test_anything_but_a_recalibrator_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Recalibrator.from_json(text)
    assert message in str(caught.value)


def test_cross_fit_with_a_fold_for_each_row_leaves_that_row_out() -> None:
    q, y = simulate(12, 1, 1, 0, seed=2)
    weight = np.r_[0.0, np.arange(1.0, 12.0)]  # a row without weight is mended all the same
    expected = [
        fit(np.delete(q, i), np.delete(y, i), weight=np.delete(weight, i), method="platt").apply(
            q[i : i + 1]
        )[0]
        for i in range(12)
    ]
    found = cross_fit(q, y, folds=12, weight=weight, method="platt")
    np.testing.assert_array_equal(found, expected)


def test_cross_fit_spreads_the_labels_and_follows_the_seed() -> None:
    q, y = np.full(100, 0.5), np.array([1] * 10 + [0] * 90)
    # one bin answers (positives + base rate) / (rows + 1) of the other folds: 8 of 80
    found = cross_fit(q, y, folds=5, method="histogram", bins=1)
    np.testing.assert_allclose(found, 8.1 / 81)
    q, y = simulate(100, 1, 1, 0)
    first = cross_fit(q, y, seed=1)
    np.testing.assert_array_equal(first, cross_fit(q, y, seed=1))
    assert (first != cross_fit(q, y, seed=2)).any()


def test_cross_fit_keeps_groups_whole_whatever_the_order() -> None:
    rng = np.random.default_rng(4)
    q, y = simulate(300, 0.5, 0.5, 0)
    group = rng.integers(0, 25, 300)
    found = cross_fit(q, y, group=group, method="histogram", bins=1)
    assert all(len(np.unique(found[group == one])) == 1 for one in range(25))
    assert 2 <= len(np.unique(found)) <= 5
    order = rng.permutation(300)
    np.testing.assert_array_equal(
        cross_fit(q[order], y[order], group=group[order]), cross_fit(q, y, group=group)[order]
    )
    each = cross_fit(q, y, group=group, folds=25)
    left_out = fit(q[group != 3], y[group != 3]).apply(q[group == 3])
    np.testing.assert_array_equal(each[group == 3], left_out)


def test_cross_fit_mends_classes_and_overconfidence() -> None:
    q, y = simulate(4000, 0.4, 0.4, 0.5)
    for method in METHODS:
        assert log_loss(cross_fit(q, y, method=method), y) < log_loss(q, y) - 0.05
    stated, label = simulate_classes(1000, 2.5)
    mended = cross_fit(stated, label, method="temperature")
    picked = np.arange(len(label)), label
    assert -np.log(mended[picked]).mean() < -np.log(stated[picked]).mean() - 0.05


def test_scikit_learn_is_not_needed() -> None:
    code = "import sys, gnomon.calibration.recalibrate; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
