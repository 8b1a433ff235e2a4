"""Bins: Algorithm 1 word for word, ties against fractions and all orders, equal widths, weights."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gnomon.calibration.analyse import fingerprint
from gnomon.calibration.bins import Bins
from gnomon.calibration.ordered import Cells, Ordered, Packed, adaptive, equal_width, order
from gnomon.calibration.pairs import BLOCK, Pairs, as_pairs
from gnomon.errors import InputError
from strategies import (
    BELOW_ONE,
    SMALLEST,
    Floats,
    Labels,
    Rows,
    SlowBin,
    distinct_rows,
    literal_bins,
    oracle,
    rows,
    slow_bins,
)

COLUMNS = ("n", "q", "p", "spread", "cross", "low", "high")
TIES = ("group", "bin", "share", "size", "q", "p")


def weighted(q: Floats, y: Labels, times: NDArray[np.int64] | None = None) -> Ordered:
    return order(Pairs(q, y, np.ones(len(q)) if times is None else times.astype(np.float64)))


def assert_same_bins(first: Bins, second: Bins, tolerance: float = 1e-12) -> None:
    assert len(first) == len(second)
    for name in COLUMNS:
        np.testing.assert_allclose(
            getattr(first, name), getattr(second, name), rtol=0, atol=tolerance, err_msg=name
        )
    for name in TIES:
        np.testing.assert_allclose(
            getattr(first.ties, name), getattr(second.ties, name), rtol=0, atol=tolerance
        )


def assert_exact(bins: Bins, expected: list[SlowBin]) -> None:
    """The bins are those computed in fractions: n, Σy, Σq, Σq², Σqy."""
    assert len(bins) == len(expected)
    for i, (n, y, q, q_square, q_label, _) in enumerate(expected):
        assert bins.n[i] == pytest.approx(float(n), abs=1e-12)
        assert bins.p[i] == pytest.approx(float(y / n), abs=1e-12)
        assert bins.q[i] == pytest.approx(float(q / n), abs=1e-12)
        assert bins.spread[i] == pytest.approx(float(q_square / n - (q / n) ** 2), abs=1e-12)
        assert bins.cross[i] == pytest.approx(float(q_label / n - q * y / n**2), abs=1e-12)


@given(distinct_rows(), st.integers(1, 45))
@settings(max_examples=200)
def test_algorithm_1_word_for_word(data: Rows, size: int) -> None:
    expected = literal_bins(data.q, data.y, size)
    for ordered in (order(Pairs(data.q, data.y)), weighted(data.q, data.y)):
        bins = adaptive(ordered, size)
        assert bins.n.tolist() == [n for n, _, _ in expected]
        np.testing.assert_allclose(bins.p, [p for _, p, _ in expected], rtol=0, atol=1e-13)
        np.testing.assert_allclose(bins.q, [q for _, _, q in expected], rtol=0, atol=1e-13)
        assert len(bins.ties.bin) == 0


@given(rows(), st.integers(1, 45))
@settings(max_examples=200)
@example(Rows(np.array([0.5] * 7), np.array([1, 0, 0, 1, 1, 0, 1], np.uint8), np.ones(7, int)), 2)
def test_ties_are_shared_pro_rata(data: Rows, size: int) -> None:
    expected = slow_bins(data.q, data.y, size)
    for ordered in (order(Pairs(data.q, data.y)), weighted(data.q, data.y)):
        bins = adaptive(ordered, size)
        assert_exact(bins, expected)
        assert bins.low.tolist() == [min(each.shares) for each in expected]
        assert bins.high.tolist() == [max(each.shares) for each in expected]


@given(rows(kind="tenths"), st.integers(1, 30))
@settings(max_examples=150)
def test_ties_name_the_groups_that_are_cut(data: Rows, size: int) -> None:
    expected = slow_bins(data.q, data.y, size)
    cut: dict[float, list[tuple[int, float]]] = {}
    for value in np.unique(data.q).tolist():
        holders = [(i, float(b.shares[value])) for i, b in enumerate(expected) if value in b.shares]
        if len(holders) > 1:
            cut[value] = holders
    ties = adaptive(order(Pairs(data.q, data.y)), size).ties
    found: dict[float, list[tuple[int, float]]] = {}
    for row in range(len(ties.bin)):
        value = float(ties.q[row])
        found.setdefault(value, []).append((int(ties.bin[row]), float(ties.share[row])))
        assert ties.size[row] == np.sum(data.q == value)
        assert ties.p[row] == pytest.approx(data.y[data.q == value].mean())
    assert {value: sorted(each) for value, each in found.items()} == cut
    assert len(set(ties.group.tolist())) == len(cut)


@given(rows(most=6, kind="tenths"), st.integers(1, 6))
@settings(max_examples=60)
def test_pro_rata_is_the_mean_over_all_orders_of_the_input(data: Rows, size: int) -> None:
    """Algorithm 1 with a stable sort of every arrangement of the rows, averaged."""
    every = []
    for arrangement in permutations(range(len(data.q))):
        q, y = data.q[list(arrangement)], data.y[list(arrangement)]
        stable = np.argsort(q, kind="stable")
        q, y = q[stable], y[stable]
        count = max(1, len(q) // size)
        starts = size * np.arange(count)
        n = np.diff(np.append(starts, len(q)))
        every.append(np.add.reduceat(y.astype(float), starts) / n)
    bins = adaptive(order(Pairs(data.q, data.y)), size)
    np.testing.assert_allclose(bins.p, np.mean(every, axis=0), rtol=0, atol=1e-12)


@given(rows(), st.integers(1, 30), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_order_of_the_input_changes_no_bit(data: Rows, size: int, random: Random) -> None:
    turned = list(range(len(data.q)))
    random.shuffle(turned)
    first, second = Pairs(data.q, data.y), Pairs(data.q[turned], data.y[turned])
    assert fingerprint(order(first)) == fingerprint(order(second))
    every = [
        (adaptive(order(each), size), equal_width(order(each), 0.1)) for each in (first, second)
    ]
    for a, b in zip(*every, strict=True):
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_order_of_fractional_weights_changes_no_bit() -> None:
    """Sums of floats depend on their order, so tied rows must be added in one order."""
    rng = np.random.default_rng(0)
    q = rng.integers(0, 5, 80) / 4
    y = (rng.random(80) < q).astype(np.uint8)
    weight = rng.random(80)
    turned = rng.permutation(80)
    first, second = order(Pairs(q, y, weight)), order(Pairs(q[turned], y[turned], weight[turned]))
    for name in COLUMNS:
        a, b = getattr(adaptive(first, 7), name), getattr(adaptive(second, 7), name)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    assert fingerprint(first) == fingerprint(second)


@given(rows(), st.integers(1, 30))
@settings(max_examples=150)
def test_whole_weights_are_replication(data: Rows, size: int) -> None:
    q, y = data.repeated
    heavy, long = weighted(data.q, data.y, data.times), order(Pairs(q, y))
    assert heavy.mass == long.mass
    assert_same_bins(adaptive(heavy, size), adaptive(long, size))
    for width in (0.1, 0.3, 1.0):
        assert_same_bins(equal_width(heavy, width), equal_width(long, width))
    np.testing.assert_allclose(heavy.cells.log_loss, long.cells.log_loss, rtol=1e-12)


@given(rows(least=2), st.integers(1, 20), st.integers(1, 3))
@settings(max_examples=80)
def test_a_weight_may_be_split(data: Rows, size: int, power: int) -> None:
    """In parts of 1/2, 1/4 or 1/8, whose sums are exact."""
    parts = 2**power
    q, y = np.tile(data.q, parts), np.tile(data.y, parts)
    share = np.tile(data.times / parts, parts)
    first, second = weighted(data.q, data.y, data.times), order(Pairs(q, y, share))
    assert first.mass == pytest.approx(second.mass)
    assert_same_bins(adaptive(first, size), adaptive(second, size))


@given(
    rows(),
    st.lists(st.floats(0.01, 5), min_size=40, max_size=40),
    st.integers(1, 20),
)
@settings(max_examples=100)
def test_any_weights_against_fractions(data: Rows, weight: list[float], size: int) -> None:
    w = weight[: len(data.q)]
    bins = adaptive(order(Pairs(data.q, data.y, np.array(w))), size)
    exact = [Fraction(each) for each in w]
    assume(abs(float(sum(exact)) / size % 1 - 0.5) < 0.499)  # the count of bins is not on a knife
    expected = slow_bins(data.q, data.y, size, exact)
    assert len(bins) == len(expected)
    for i, each in enumerate(expected):
        assert bins.n[i] == pytest.approx(float(each.n), abs=1e-9)
        assert bins.p[i] == pytest.approx(float(each.y / each.n), abs=1e-9)
        assert bins.q[i] == pytest.approx(float(each.q / each.n), abs=1e-9)


def slow_width(q: Floats, y: Labels, edges: list[float]) -> dict[int, tuple[int, float, float]]:
    found: dict[int, list[tuple[float, int]]] = {}
    for value, label in zip(q.tolist(), y.tolist(), strict=True):
        found.setdefault(sum(edge <= value for edge in edges), []).append((value, label))
    return {
        k: (len(each), sum(a for a, _ in each) / len(each), sum(b for _, b in each) / len(each))
        for k, each in sorted(found.items())
    }


@given(rows(), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 1 / 3, 0.3, 0.4]))
@settings(max_examples=150)
def test_equal_width_against_a_loop(data: Rows, width: float) -> None:
    count = round(1 / width)
    decimal = [float(f"{k * width:.12g}") for k in range(1, 25) if k * width < 1 - 1e-9]
    edges = [k / count for k in range(1, count)] if abs(count * width - 1) < 1e-9 else decimal
    expected = list(slow_width(data.q, data.y, edges).values())
    for ordered in (order(Pairs(data.q, data.y)), weighted(data.q, data.y)):
        bins = equal_width(ordered, width)
        assert bins.n.tolist() == [n for n, _, _ in expected]
        np.testing.assert_allclose(bins.q, [q for _, q, _ in expected], rtol=0, atol=1e-13)
        np.testing.assert_allclose(bins.p, [p for _, _, p in expected], rtol=0, atol=1e-13)
        assert len(bins.ties.bin) == 0


LABEL = np.array([0, 1] * 5 + [1], np.uint8)


@pytest.mark.parametrize("make", [lambda q: order(Pairs(q, LABEL)), lambda q: weighted(q, LABEL)])
@pytest.mark.parametrize(
    ("value", "home"),
    [(0.3, 3), (0.1 * 3, 3), (0.7, 7), (0.6, 6), (np.nextafter(0.3, 0), 2), (0.0, 0), (-0.0, 0),
     (SMALLEST, 0), (1.0, 9), (BELOW_ONE, 9), (0.9, 9), (np.nextafter(0.9, 0), 8)],
)  # fmt: skip
def test_edges_belong_to_the_bin_above(
    make: Callable[[Floats], Ordered], value: float, home: int
) -> None:
    """One row in the middle of every tenth shows which of them the value joins."""
    bins = equal_width(make(np.append(np.arange(10) / 10 + 0.05, value)), 0.1)
    assert np.flatnonzero(bins.n == 2).tolist() == [home]


@pytest.mark.parametrize("width", [0.15, 0.3, 0.35, 0.12, 0.07, 0.06, 0.14])
def test_edges_of_uneven_widths_are_the_nearest_to_the_decimals(width: float) -> None:
    """0.07 × 10 in floats lies above 0.7, but 0.7 belongs to the bin that begins there."""
    edges = np.array([float(f"{k * width:.12g}") for k in range(1, int(1 / width) + 1)])
    edges = edges[edges < 1]
    bins = equal_width(order(as_pairs(edges, np.zeros(len(edges)))), width)
    assert bins.low.tolist() == edges.tolist()


@pytest.mark.parametrize("tenth", range(1, 10))
def test_heavy_rows_on_an_edge_belong_to_the_bin_above(tenth: int) -> None:
    """0.1 × 43 / 43 in floats lies below 0.1; what was predicted is still 0.1."""
    edge = tenth / 10
    for times in range(1, 200):
        bins = equal_width(order(as_pairs([edge - 0.05, edge], [0, 1], [1, times])), 0.1)
        assert bins.n.tolist() == [1, times]


@pytest.mark.parametrize("tenth", range(1, 10))
def test_single_precision_edges(tenth: int) -> None:
    q = np.array([tenth / 10 - 0.05, tenth / 10], np.float32)
    for ordered in (order(as_pairs(q, [0, 1])), order(as_pairs(q, [0, 1], [1, 1]))):
        assert equal_width(ordered, 0.1).n.tolist() == [1, 1]


def test_fractional_weights_leave_no_empty_bin() -> None:
    """Sums in two different orders differ in the last place, which must not make a bin of it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        q, weight = rng.random(200) * 0.85, rng.random(200)
        bins = equal_width(order(as_pairs(q, rng.random(200) < q, weight)), 0.1)
        assert len(bins) == len(np.unique((q * 10).astype(int)))
        assert bins.n.min() > 1e-3
        np.testing.assert_allclose(bins.weight.sum(), 1.0, rtol=1e-12)


@given(rows(), st.integers(1, 50), st.booleans())
@settings(max_examples=100)
def test_invariants(data: Rows, size: int, heavy: bool) -> None:
    ordered = order(Pairs(data.q, data.y, data.times.astype(float) if heavy else None))
    for bins in (adaptive(ordered, size), equal_width(ordered, 0.1)):
        assert bins.n.sum() == pytest.approx(ordered.mass)
        assert bins.weight.sum() == pytest.approx(1.0)
        assert (bins.n > 0).all()
        assert ((bins.p >= 0) & (bins.p <= 1)).all()
        assert (bins.low <= bins.q + 1e-12).all()
        assert (bins.q <= bins.high + 1e-12).all()
        assert (bins.high[:-1] <= bins.low[1:]).all()
        np.testing.assert_array_equal(bins.gap, bins.p - bins.q)
        positives = float((data.y * (data.times if heavy else 1)).sum())
        assert float(bins.n @ bins.p) == pytest.approx(positives)
    assert len(adaptive(ordered, size)) == max(1, int(ordered.mass) // size)


@pytest.mark.parametrize("size", [1, 7, 33, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 10**6])
@pytest.mark.parametrize("kind", ["continuous", "tied", "single precision"])
def test_large_data_in_blocks(size: int, kind: str) -> None:
    """Bins longer than a block and bins that fill one by the thousand, against cumulative sums."""
    rng = np.random.default_rng(1)
    q = rng.random(3 * BLOCK + 17)
    q = q.round(2) if kind == "tied" else q.astype(np.float32) if kind[0] == "s" else q
    y = (rng.random(len(q)) < q).astype(np.uint8)
    bins = adaptive(order(Pairs(q, y)), size)
    ascending = np.argsort(q, kind="stable")
    values, labels = q[ascending].astype(np.float64), y[ascending].astype(np.float64)
    group = np.unique(values, return_inverse=True)[1]
    labels = (np.bincount(group, labels) / np.bincount(group))[group]
    count = max(1, len(q) // size)
    starts = size * np.arange(count)
    n = np.diff(np.append(starts, len(q)))
    for found, column in ((bins.p, labels), (bins.q, values)):
        np.testing.assert_allclose(found, np.add.reduceat(column, starts) / n, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(bins.n, n)
    mean_q, mean_y = (np.add.reduceat(each, starts) / n for each in (values, labels))
    wide = np.repeat(mean_q, n)
    spread = np.add.reduceat((values - wide) ** 2, starts) / n
    cross = np.add.reduceat((values - wide) * (labels - np.repeat(mean_y, n)), starts) / n
    np.testing.assert_allclose(bins.spread, spread, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bins.cross, cross, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1, 10, 999, BLOCK + 5])
def test_packed_and_cells_agree_on_large_data(size: int) -> None:
    rng = np.random.default_rng(2)
    for q in (rng.random(50_000), rng.beta(0.1, 0.1, 50_000).round(3)):
        y = (rng.random(len(q)) < q).astype(np.uint8)
        assert_same_bins(adaptive(order(Pairs(q, y)), size), adaptive(weighted(q, y), size), 1e-11)


def test_zeros_of_either_sign_are_one_value() -> None:
    q, y = np.array([0.0, -0.0, 0.0, -0.0]), np.array([1, 0, 0, 0], np.uint8)
    for ordered in (order(Pairs(q, y)), weighted(q, y)):
        assert len(ordered.cells) == 1
        assert adaptive(ordered, 2).p.tolist() == [0.25, 0.25]
        assert not np.signbit(ordered.cells.low).any()
    single = order(Pairs(q.astype(np.float32), y))
    assert adaptive(single, 2).p.tolist() == [0.25, 0.25]


def test_neighbouring_floats_are_not_tied() -> None:
    q = np.array([0.5, np.nextafter(0.5, 1), SMALLEST, 0.0, BELOW_ONE, 1.0])
    y = np.array([1, 0, 1, 0, 0, 1], np.uint8)
    bins = adaptive(order(Pairs(q, y)), 1)
    assert bins.p.tolist() == [0, 1, 1, 0, 0, 1]
    assert bins.q.tolist() == sorted(q.tolist())
    assert len(bins.ties.bin) == 0


@given(rows(), st.integers(1, 30))
@settings(max_examples=60)
def test_single_precision_is_its_double(data: Rows, size: int) -> None:
    single = data.q.astype(np.float32)
    first = adaptive(order(Pairs(single, data.y)), size)
    assert_same_bins(first, adaptive(order(Pairs(single.astype(np.float64), data.y)), size))


@pytest.mark.parametrize("size", [2.5, 1.5, 7.25])
def test_a_fractional_bin_size_means_the_same_for_weighted_rows(size: float) -> None:
    q, y = np.linspace(0, 1, 20), np.array([0, 1] * 10, np.uint8)
    try:
        plain = adaptive(order(Pairs(q, y)), size)
    except InputError:
        return  # refusing it is as good
    assert_same_bins(plain, adaptive(weighted(q, y), size))


@pytest.mark.parametrize("size", [0, -1, 0.5, float("nan")])
def test_refused_bin_sizes(size: float) -> None:
    with pytest.raises(InputError) as caught:
        adaptive(order(as_pairs([0.1], [1])), size)
    assert str(caught.value) == f"bin size: {size:g} is too small; give 1 or more"


@pytest.mark.parametrize("width", [0, -0.1, 1.1, float("nan"), float("inf")])
def test_refused_widths(width: float) -> None:
    with pytest.raises(InputError) as caught:
        equal_width(order(as_pairs([0.1], [1])), width)
    message = f"bin width: {width:g} is not a width; give a number above 0, up to 1"
    assert str(caught.value) == message


def test_a_minute_width_is_refused_or_served_in_little_memory() -> None:
    """A quadrillion edges for two rows are nobody's wish."""
    try:
        bins = equal_width(order(as_pairs([0.1, 0.7], [1, 0])), 1e-15)
    except InputError:
        return
    except MemoryError:
        pytest.fail("a width of 1e-15 asks for all the memory there is")
    assert len(bins) == 2


@given(rows(), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60)
def test_a_resample_draws_from_what_is_there(data: Rows, seed: int, heavy: bool) -> None:
    ordered = order(Pairs(data.q, data.y, data.times.astype(float) if heavy else None))
    again = ordered.resample(np.random.default_rng(seed))
    assert again.mass == ordered.mass
    cells = again.cells
    seen = {(value + 0.0, label) for value, label in zip(data.q, data.y, strict=True)}
    for value, n, ones in zip(cells.low, cells.n, cells.y, strict=True):
        assert ones == 0 or (value, 1) in seen
        assert ones == n or (value, 0) in seen
    np.testing.assert_allclose(cells.q, cells.low * cells.n, rtol=1e-12)


@pytest.mark.parametrize("heavy", [False, True])
def test_resamples_have_the_means_and_variances_of_draws_with_replacement(heavy: bool) -> None:
    rng = np.random.default_rng(3)
    q, y = rng.random(30).round(1), rng.integers(0, 2, 30).astype(np.uint8)
    ordered = order(Pairs(q, y, np.full(30, 2.0) if heavy else None))
    drawn = [ordered.resample(rng).cells for _ in range(2000)]
    rate = np.array([cells.y.sum() / cells.mass for cells in drawn])
    error = np.sqrt(y.mean() * (1 - y.mean()) / ordered.mass)
    assert rate.mean() == pytest.approx(y.mean(), abs=4 * error / 2000**0.5)
    assert rate.std() == pytest.approx(error, rel=0.08)


@given(rows())
@settings(max_examples=60)
def test_cells_hold_all_there_is(data: Rows) -> None:
    cells = order(Pairs(data.q, data.y)).cells
    assert cells.cells is cells
    assert isinstance(cells, Cells)
    assert cells.low.tolist() == np.unique(data.q + 0.0).tolist()
    assert cells.n.sum() == len(data.q)
    assert cells.y.sum() == data.y.sum()
    assert cells.q.sum() == pytest.approx(data.q.sum())
    assert cells.q_square.sum() == pytest.approx((data.q**2).sum())
    assert cells.q_label.sum() == pytest.approx(data.q @ data.y)


@pytest.mark.parametrize("heavy", [False, True])
def test_log_loss_against_scikit_learn(heavy: bool) -> None:
    rng = np.random.default_rng(4)
    q, y = rng.uniform(0.001, 0.999, 500), rng.integers(0, 2, 500).astype(np.uint8)
    weight = rng.integers(1, 5, 500).astype(float) if heavy else None
    expected = oracle("sklearn.metrics").log_loss(y, q, sample_weight=weight)
    assert order(Pairs(q, y, weight)).cells.log_loss == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("q", "y", "expected"),
    [
        ([0.0, 1.0], [0, 1], 0.0),
        ([0.0, 1.0], [1, 1], float("inf")),
        ([1.0, 0.5], [0, 1], float("inf")),
        ([BELOW_ONE], [0], 53 * np.log(2)),
        ([SMALLEST], [1], 1074 * np.log(2)),
    ],
)
def test_log_loss_at_the_ends(q: list[float], y: list[int], expected: float) -> None:
    for times in (None, [3] * len(q), [43] * len(q)):
        assert order(as_pairs(q, y, times)).cells.log_loss == pytest.approx(expected, rel=1e-12)


def test_bins_of_streams_of_wide_cells_interpolate() -> None:
    """A cell of ten rows between 0.2 and 0.4 that is cut in the middle gives half to each side."""
    one = np.array([10.0])
    cells = Cells(one, one * 0.5, one * 0.3, one * 0.095, one * 0.16, one * 0.02, one * 0.04)
    bins = adaptive(cells, 5)
    assert bins.n.tolist() == [5, 5]
    assert bins.p.tolist() == [0.5, 0.5]
    np.testing.assert_allclose(bins.q, [0.3, 0.3])


def test_packed_holds_one_word_a_pair() -> None:
    packed = order(Pairs(np.random.default_rng(0).random(1000), np.zeros(1000, np.uint8)))
    assert isinstance(packed, Packed)
    assert packed.keys.nbytes == 8000
    q, y = packed.unpack()
    assert (np.diff(q) >= 0).all()
    assert not y.any()
