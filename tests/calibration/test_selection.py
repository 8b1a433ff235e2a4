"""The bin size: leave-one-out risk by leaving out one at a time, and what is made of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.calibration.ordered import Ordered, adaptive, order
from gnomon.calibration.pairs import Pairs
from gnomon.calibration.selection import RULES, SMALLEST, best_bin_size, leave_one_out_risk
from strategies import Floats, Labels, Rows, rows


def sample(n: int, seed: int, power: float = 1.0) -> tuple[Floats, Labels]:
    rng = np.random.default_rng(seed)
    q = rng.random(n)
    return q, (rng.random(n) < q**power).astype(np.uint8)


def sorted_bins(q: Floats, y: Labels, size: float) -> list[tuple[Floats, Floats]]:
    ascending = np.argsort(q)
    starts = int(size) * np.arange(1, max(1, len(q) // int(size)))
    return list(
        zip(np.split(q[ascending], starts), np.split(y[ascending] * 1.0, starts), strict=True)
    )


def slow_risk(q: Floats, y: Labels, size: float, rule: str) -> float:
    """Each label predicted by the mean of the others in its bin, or what to expect of that."""
    total = 0.0
    for predictions, labels in sorted_bins(q, y, size):
        for j in range(len(labels)):
            others = np.delete(labels, j)
            if rule == "labels":
                total += (labels[j] - others.mean()) ** 2
                continue
            mine, theirs = predictions[j], np.delete(predictions, j)
            noise = mine * (1 - mine) + np.sum(theirs * (1 - theirs)) / len(theirs) ** 2
            total += noise + (mine - theirs.mean()) ** 2
    return total / len(q)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n", [20, 47, 200, 333])
def test_risk_against_leaving_each_out(rule: str, n: int) -> None:
    q, y = sample(n, n, 1.5)
    sizes, risks = leave_one_out_risk(order(Pairs(q, y)), rule)
    assert sizes[0] == SMALLEST
    assert sizes[-1] <= n
    np.testing.assert_allclose(
        risks, [slow_risk(q, y, size, rule) for size in sizes], rtol=1e-10, atol=1e-12
    )


def test_risk_of_rule_auto_is_the_mean_of_rule_labels() -> None:
    """Over labels drawn with the predicted chances."""
    q, _ = sample(60, 1)
    rng = np.random.default_rng(2)
    drawn = [
        leave_one_out_risk(order(Pairs(q, (rng.random(60) < q).astype(np.uint8))), "labels")[1]
        for _ in range(1500)
    ]
    _, expected = leave_one_out_risk(order(Pairs(q, np.zeros(60, np.uint8))), "auto")
    error = np.std(drawn, axis=0) / 1500**0.5
    assert (np.abs(np.mean(drawn, axis=0) - expected) < 4.5 * error).all()


@given(rows(least=20, most=60, kind="continuous"), st.integers(0, 1))
@settings(max_examples=40)
def test_rule_auto_does_not_look_at_the_labels(data: Rows, label: int) -> None:
    other = np.full(len(data.y), label, np.uint8)
    assert best_bin_size(order(Pairs(data.q, data.y))) == best_bin_size(order(Pairs(data.q, other)))


@given(rows(least=10, most=40))
@settings(max_examples=60)
def test_whole_weights_are_replication(data: Rows) -> None:
    q, y = data.repeated
    heavy, long = order(Pairs(data.q, data.y, data.times.astype(float))), order(Pairs(q, y))
    for rule in RULES:
        for first, second in zip(
            leave_one_out_risk(heavy, rule), leave_one_out_risk(long, rule), strict=True
        ):
            np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)
        assert best_bin_size(heavy, rule) == best_bin_size(long, rule)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n", [1, 2, 9, 10, 19, 20, 21])
def test_small_data(rule: str, n: int) -> None:
    q, y = sample(n, 3)
    size = best_bin_size(order(Pairs(q, y)), rule)
    assert 1 <= size <= max(n, 1)
    assert n < 20 or size >= SMALLEST
    assert len(adaptive(order(Pairs(q, y)), size)) == max(1, n // size)


def ordered_of(q: Floats, power: float = 1.0) -> Ordered:
    return order(Pairs(q, (np.random.default_rng(9).random(len(q)) < q**power).astype(np.uint8)))


def test_of_equal_sizes_the_largest() -> None:
    assert best_bin_size(ordered_of(np.full(500, 0.3))) == 500
    assert best_bin_size(order(Pairs(np.ones(500), np.ones(500, np.uint8)))) == 500


def test_sizes_grow_with_the_data_but_more_slowly() -> None:
    """The best size of a bin for a smooth curve grows as the 2/3 power of the number of rows."""
    rng = np.random.default_rng(4)
    small, large = (best_bin_size(ordered_of(rng.random(n))) for n in (2000, 128_000))
    assert 8 <= large / small <= 32  # 16 by theory


def test_wide_predictions_want_smaller_bins_than_narrow_ones() -> None:
    rng = np.random.default_rng(5)
    wide, narrow = rng.random(5000), 0.3 + 0.05 * rng.random(5000)
    assert best_bin_size(ordered_of(wide)) < best_bin_size(ordered_of(narrow))


def test_rule_labels_finds_the_sizes_that_end_at_a_step() -> None:
    q = np.linspace(0, 1, 4000)
    steps = order(Pairs(q, (q > 0.5).astype(np.uint8)))
    assert 2000 % best_bin_size(steps, "labels") == 0
    assert 2000 % best_bin_size(steps, "auto") != 0
