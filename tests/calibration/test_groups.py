"""Groups: each as if alone, in order of their positives, and their averages with an interval."""

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import calibrate, calibrate_groups
from gnomon.calibration.analyse import Settings
from gnomon.calibration.noise import label_noise
from gnomon.calibration.ordered import adaptive, order
from gnomon.calibration.pairs import as_pairs
from gnomon.errors import InputError
from strategies import Rows, assert_same, rows, true_pairs

RNG = np.random.default_rng(0)
Q = RNG.random(900)
Y = (RNG.random(900) < Q**1.3).astype(np.uint8)
GROUP = RNG.choice(["ant", "bee", "cow"], 900, p=[0.2, 0.5, 0.3])
WEIGHT = RNG.integers(0, 4, 900).astype(float)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("chosen", [Settings(), Settings(bin_size=40, level=0.8),
                                    Settings(binning="width:0.2"),
                                    Settings(interval="bootstrap", draws=20, seed=3),
                                    Settings(interval="simulation", draws=50)])  # fmt: skip
def test_each_group_is_as_if_alone(weight: Any, chosen: Settings) -> None:
    groups = calibrate_groups(Q, Y, GROUP, weight=weight, settings=chosen)
    assert {row.name for row in groups.rows} == {"ant", "bee", "cow"}
    for row in groups.rows:
        own = row.name == GROUP
        mass = None if weight is None else weight[own]
        alone = calibrate(Q[own], Y[own], weight=mass, **vars(chosen))
        assert row.calibration_error == alone.calibration_error
        assert row.n == alone.n
        assert row.positives == pytest.approx(alone.base_rate * alone.n)


def test_most_positives_first() -> None:
    groups = calibrate_groups(Q, Y, GROUP)
    positives = [row.positives for row in groups.rows]
    assert positives == sorted(positives, reverse=True)
    assert [row.name for row in groups.rows] == ["bee", "cow", "ant"]
    even = calibrate_groups([0.5] * 10, [1, 1, 1, 0, 1, 0, 0, 1, 0, 0], list("ddbbccccaa"))
    assert [(row.name, row.positives, row.n) for row in even.rows] == [
        ("c", 2, 4), ("d", 2, 2), ("b", 1, 2), ("a", 0, 2),
    ]  # fmt: skip


@given(rows(least=3), st.lists(st.sampled_from("xyz"), min_size=40, max_size=40))
@settings(max_examples=40)
def test_order_of_the_input_changes_nothing(data: Rows, names: list[str]) -> None:
    group = np.array(names[: len(data.q)])
    turned = np.arange(len(data.q))[::-1]
    first = calibrate_groups(data.q, data.y, group)
    second = calibrate_groups(data.q[turned], data.y[turned], group[turned])
    assert_same(first.to_dict(), second.to_dict(), 0.0, but=())


@given(rows(least=3), st.lists(st.sampled_from("xyz"), min_size=40, max_size=40))
@settings(max_examples=40)
def test_whole_weights_are_replication(data: Rows, names: list[str]) -> None:
    group = np.array(names[: len(data.q)])
    heavy = calibrate_groups(data.q, data.y, group, weight=data.times)
    q, y = data.repeated
    long = calibrate_groups(q, y, np.repeat(group, data.times))
    assert_same(heavy.to_dict(), long.to_dict(), 1e-7)


def test_groups_of_weight_zero_are_left_out() -> None:
    groups = calibrate_groups([0.1, 0.2, 0.3], [0, 1, 1], ["a", "b", "a"], weight=[1, 0, 1])
    assert [row.name for row in groups.rows] == ["a"]
    assert [each.k for each in groups.averages] == [1]


@pytest.mark.parametrize(
    ("top", "keys"),
    [((5, 100), [3]), ((1, 2), [1, 2, 3]), ((3,), [3]), ((), [3]), ((0, -1, 2), [2, 3])],
)
def test_averages_are_over_the_most_frequent(top: tuple[int, ...], keys: list[int]) -> None:
    groups = calibrate_groups(Q, Y, GROUP, top=top)
    assert [each.k for each in groups.averages] == keys
    for found in groups.averages:
        errors = [row.calibration_error for row in groups.rows[: found.k]]
        assert found.mean == pytest.approx(np.mean([each.value for each in errors]))
        square = np.mean([each.value**2 for each in errors])
        assert found.rms.value**2 == pytest.approx(square)
        assert found.rms.n == sum(each.n for each in errors)
        assert found.rms.debiased is not None
        assert found.rms.low <= found.rms.debiased <= found.rms.high


def test_the_average_of_one_is_itself() -> None:
    groups = calibrate_groups(Q, Y, np.full(900, "all"))
    assert groups.averages[0].rms == groups.rows[0].calibration_error
    assert groups.averages[0].mean == groups.rows[0].calibration_error.value


def test_the_debiased_average_is_of_squares() -> None:
    """With the squares' own bias removed, not the mean of what is left of each."""
    groups = calibrate_groups(Q, Y, GROUP, settings=Settings(bin_size=30))
    square = 0.0
    for row in groups.rows:
        own = row.name == GROUP
        bins = adaptive(order(as_pairs(Q[own], Y[own])), 30)
        square += float(bins.weight @ bins.gap**2) - label_noise(bins).bias
    assert groups.averages[-1].rms.debiased == pytest.approx((square / 3) ** 0.5)


@pytest.mark.parametrize("power", [1.0, 1.3, 2.0])
def test_the_averages_interval_covers(power: float) -> None:
    """Of eight groups, each with an error of its own."""
    rng = np.random.default_rng(1)
    q = rng.random((8, 200))
    p = q ** np.linspace(1.0, power, 8)[:, None]
    name = np.repeat([f"g{k}" for k in range(8)], 200)
    square = 0.0
    for own, true in zip(q, p, strict=True):
        bins = adaptive(order(true_pairs(own, true)), 40)
        square += float(bins.weight @ bins.gap**2) / 8
    held = 0
    for _ in range(150):
        y = (rng.random((8, 200)) < p).astype(np.uint8)
        groups = calibrate_groups(q.ravel(), y.ravel(), name, settings=Settings(bin_size=40))
        found = groups.averages[-1].rms
        held += found.low - 1e-9 <= square**0.5 <= found.high + 1e-9
    assert held / 150 >= 0.9


def test_certain_groups_leave_their_average_uncertain() -> None:
    """Fifty of fifty right is not proof for one group, nor a hundred of a hundred for two."""
    groups = calibrate_groups([1.0] * 100, [1] * 100, ["a"] * 50 + ["b"] * 50)
    assert all(row.calibration_error.high > 0.05 for row in groups.rows)
    assert groups.averages[-1].rms.high > 0.02


@pytest.mark.parametrize("column", [list, pl.Series, pd.Series, np.array])
def test_columns_of_any_kind(column: Any) -> None:
    plain = calibrate_groups(Q, Y, GROUP).to_dict()
    found = calibrate_groups(column(Q), column(Y), column(GROUP)).to_dict()
    assert_same(found, plain, 0.0, but=())


def test_pandas_groups_with_another_index() -> None:
    q, y = pd.Series([0.1, 0.2]), pd.Series([0, 1])
    with pytest.raises(InputError) as caught:
        calibrate_groups(q, y, pd.Series(["a", "b"], index=[1, 0]))
    assert caught.value.problem == "their pandas indexes differ"


def test_refused_groups() -> None:
    with pytest.raises(InputError) as caught:
        calibrate_groups([0.1, 0.2], [0, 1], ["a"])
    message = "group: 1 group names for 2 predictions; give one for each prediction"
    assert str(caught.value) == message
    with pytest.raises(InputError) as caught:
        calibrate_groups([0.1, 0.2], [0, 1], np.array(["a", None]))
    assert str(caught.value) == "group, row 2: the value is missing; fill it or drop the row"


def test_json_and_text() -> None:
    groups = calibrate_groups(Q, Y, GROUP, top=(2,))
    found = json.loads(json.dumps(groups.to_dict(), allow_nan=False))
    assert list(found) == ["groups", "averages", "signature"]
    assert list(found["groups"][0]) == ["group", "n", "base_rate", "calibration_error"]
    assert [each["k"] for each in found["averages"]] == [2, 3]
    text = str(groups)
    for part in ("over the 2 most frequent: mean ", "over all 3 groups: mean ", "95 % interval",
                 str(groups.signature)):  # fmt: skip
        assert part in text
    assert text.splitlines()[1].split()[0] == groups.rows[0].name


def test_signature_changes_with_all_that_changes_the_result() -> None:
    def signed(**options: Any) -> str:
        arguments: dict[str, Any] = {"probability": Q, "label": Y, "group": GROUP} | options
        return str(calibrate_groups(**arguments).signature)

    every = [
        signed(),
        signed(settings=Settings(seed=1)),
        signed(settings=Settings(level=0.9)),
        signed(group=np.where(GROUP == "ant", "bat", GROUP)),
        signed(group=np.roll(GROUP, 1)),
        signed(label=1 - Y),
        signed(weight=WEIGHT),
        signed(top=(1,)),
    ]
    assert len(set(every)) == len(every)


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    calibrate_groups(Q, Y, GROUP, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
