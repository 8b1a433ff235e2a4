"""Streams: as good as they say, the same however they are fed, and safe to read from bytes."""

import io
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gnomon.calibration.analyse import Settings, analyse
from gnomon.calibration.error import errors
from gnomon.calibration.ordered import adaptive, order
from gnomon.calibration.pairs import Pairs
from gnomon.calibration.streaming import BITS, DEPTH, SIDE, Stream, bucket_of, error_bound
from gnomon.errors import InputError
from strategies import BELOW_ONE, SMALLEST, Floats, Labels, Rows, assert_same, rows

COLUMNS = ("bucket", "n", "y", "q", "q_square", "q_label", "low", "high", "log_loss")


def stream_of(q: Floats, y: Labels, weight: Floats | None = None) -> Stream:
    return Stream.of(Pairs(q, y, weight))


def assert_equal_streams(first: Stream, second: Stream, tolerance: float = 1e-12) -> None:
    for name in COLUMNS:
        np.testing.assert_allclose(
            getattr(first, name), getattr(second, name), rtol=tolerance, atol=tolerance
        )


SAMPLES = {
    "uniform": lambda rng, n: rng.random(n),
    "skewed": lambda rng, n: rng.beta(0.05, 1.0, n),
    "both ends": lambda rng, n: rng.beta(0.05, 0.05, n),
    "narrow": lambda rng, n: 0.3 + 1e-4 * rng.random(n),
    "one bucket": lambda rng, n: 0.3 + 1e-6 * rng.random(n),
    "tenths": lambda rng, n: rng.random(n).round(1),
}


@pytest.mark.parametrize("size", [10, 137, 1000])
@pytest.mark.parametrize("kind", SAMPLES)
def test_the_error_is_within_its_bound(kind: str, size: int) -> None:
    rng = np.random.default_rng(0)
    q = np.asarray(SAMPLES[kind](rng, 20_000))
    y = (rng.random(20_000) < q).astype(np.uint8)
    cells = stream_of(q, y).cells()
    exact = errors(adaptive(order(Pairs(q, y)), size)).rms
    found = errors(adaptive(cells, size)).rms
    assert abs(found - exact) <= error_bound(cells, size) + 1e-9
    if kind == "tenths":
        assert error_bound(cells, size) == 0


@given(rows(least=2, most=60, kind="continuous"), st.integers(1, 20), st.floats(1e-7, 1e-2))
@settings(max_examples=200)
def test_the_error_is_within_its_bound_on_the_worst_data(
    data: Rows, size: int, width: float
) -> None:
    """Predictions so near to each other that many share a bucket."""
    q = 0.3 + width * data.q
    cells = stream_of(q, data.y).cells()
    exact = errors(adaptive(order(Pairs(q, data.y)), size)).rms
    found = errors(adaptive(cells, size)).rms
    assert abs(found - exact) <= error_bound(cells, size) + 1e-9


def test_the_bound_is_attained() -> None:
    """One bucket, half of it false and half true: the bins are wrong by all that is possible."""
    q = 0.5 - np.linspace(2e-9, 1e-9, 100)
    y = np.repeat(np.array([0, 1], np.uint8), 50)
    cells = stream_of(q, y).cells()
    assert len(cells) == 1
    exact = errors(adaptive(order(Pairs(q, y)), 50)).rms
    found = errors(adaptive(cells, 50)).rms
    assert exact - found == pytest.approx(0.5, abs=1e-6)
    assert error_bound(cells, 50) == pytest.approx(0.5, abs=1e-6)


def test_the_bound_is_of_use() -> None:
    rng = np.random.default_rng(1)
    q = rng.beta(0.2, 0.6, 300_000)
    cells = stream_of(q, (rng.random(300_000) < q).astype(np.uint8)).cells()
    assert error_bound(cells, 5000) < 2e-3


@pytest.mark.parametrize("interval", ["score", "simulation"])
def test_few_distinct_values_are_exact(interval: str) -> None:
    rng = np.random.default_rng(2)
    q = rng.random(3000).round(2)
    y = (rng.random(3000) < q**1.2).astype(np.uint8)
    chosen = Settings(interval=interval, draws=100)
    first = analyse(stream_of(q, y).cells(), chosen)
    second = analyse(order(Pairs(q, y)), chosen)
    assert_same(first.to_dict(), second.to_dict(), 1e-9)
    assert first.notes == second.notes == []


def test_a_stream_of_many_values_says_how_good_it_is() -> None:
    rng = np.random.default_rng(3)
    q = rng.random(30_000)
    cells = stream_of(q, (rng.random(30_000) < q).astype(np.uint8)).cells()
    bound = error_bound(cells, 500)
    note = f"streamed: the RMS error is within {bound:.2g} of that of exact bins"
    assert analyse(cells, Settings(bin_size=500)).notes == [note]


def test_a_stream_in_bins_of_equal_width_says_how_good_it_is() -> None:
    """A bucket that lies across an edge goes to one side whole, which must be owned up to."""
    q = np.array([0.29999] * 50 + [0.30001] * 50)
    y = np.array([0] * 50 + [1] * 50, np.uint8)
    cells = stream_of(q, y).cells()
    chosen = Settings(binning="width:0.1")
    exact, found = analyse(order(Pairs(q, y)), chosen), analyse(cells, chosen)
    assert len(exact.bins) == 2
    if len(found.bins) != 2:
        assert any("streamed" in note for note in found.notes)


@given(rows(most=60))
@settings(max_examples=80)
def test_sums_that_no_bucket_blurs(data: Rows) -> None:
    """Whatever the buckets: the Brier score, log loss and Spiegelhalter's excess are exact."""
    streamed = analyse(stream_of(data.q, data.y).cells(), Settings(bin_size=5))
    exact = analyse(order(Pairs(data.q, data.y)), Settings(bin_size=5))
    assert streamed.n == exact.n
    assert streamed.base_rate == pytest.approx(exact.base_rate, abs=1e-12)
    assert streamed.decomposition.brier == pytest.approx(exact.decomposition.brier, abs=1e-9)
    assert streamed.log_loss == pytest.approx(exact.log_loss, rel=1e-9)


@given(rows(most=60), st.lists(st.integers(0, 60), max_size=4))
@settings(max_examples=80)
def test_pieces_make_the_whole(data: Rows, cuts: list[int]) -> None:
    stream = Stream.empty()
    edges = [0, *sorted(min(cut, len(data.q)) for cut in cuts), len(data.q)]
    for a, b in pairwise(edges):
        if b > a:
            stream.update(data.q[a:b], data.y[a:b])
    assert_equal_streams(stream, stream_of(data.q, data.y))


@given(rows(), rows(), rows())
@settings(max_examples=60)
def test_merging_is_associative_and_commutative(first: Rows, second: Rows, third: Rows) -> None:
    def stream(*parts: Rows) -> Stream:
        whole = Stream.empty()
        for part in parts:
            whole.merge(stream_of(part.q, part.y))
        return whole

    assert_equal_streams(stream(first, second), stream(second, first))
    right = stream(second, third)
    left = stream(first)
    left.merge(right)
    assert_equal_streams(left, stream(first, second, third))


def test_merging_leaves_the_other_as_it_was() -> None:
    first, second = stream_of(np.array([0.1]), np.array([1], np.uint8)), Stream.empty()
    second.merge(first)
    second.merge(first)
    assert first.n.tolist() == [1.0]
    assert second.n.tolist() == [2.0]
    first.merge(first)
    assert first.n.tolist() == [2.0]
    first.merge(Stream.empty())
    assert_equal_streams(first, second)


@given(rows())
@settings(max_examples=60)
def test_whole_weights_are_replication(data: Rows) -> None:
    q, y = data.repeated
    assert_equal_streams(stream_of(data.q, data.y, data.times.astype(float)), stream_of(q, y))


def test_rows_of_weight_zero_do_not_count() -> None:
    stream = Stream.empty()
    stream.update([0.1, 0.9, 0.0], [0, 1, 1], [2, 0, 0])
    assert stream.n.tolist() == [2.0]
    assert np.isfinite(stream.log_loss).all()


@given(st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=300)
@example(0.5, float(np.nextafter(0.5, 1)))
@example(0.0, SMALLEST)
@example(BELOW_ONE, 1.0)
@example(2.0**-32, float(np.nextafter(2.0**-32, 0)))
def test_buckets_ascend_with_predictions(a: float, b: float) -> None:
    low, high = bucket_of(np.sort([a, b]))
    assert low <= high
    assert low >= 0
    assert high <= 2 * SIDE - 1


def test_buckets_are_narrow_where_predictions_crowd() -> None:
    """Within a bucket predictions differ by a 2,048th of their distance from the nearer end."""
    rng = np.random.default_rng(4)
    q = np.concatenate([np.exp(-rng.random(100_000) * 20), 1 - np.exp(-rng.random(100_000) * 20)])
    stream = stream_of(q, np.zeros(len(q), np.uint8))
    distance = np.maximum(np.minimum(stream.high, 1 - stream.low), 2.0**-DEPTH)
    assert ((stream.high - stream.low) <= distance * 2.0**-BITS * (1 + 1e-9)).all()


def test_the_size_is_bounded() -> None:
    assert 2 * SIDE <= 131_076
    rng = np.random.default_rng(5)
    stream = Stream.empty()
    for _ in range(6):
        q = np.exp(-rng.random(200_000) * 23)
        q = np.where(rng.random(200_000) < 0.5, q, 1 - q)
        stream.update(q, q > 0.5)
    assert 100_000 < len(stream.bucket) <= 2 * SIDE
    assert stream.n.sum() == 1_200_000
    assert len(stream.to_bytes()) < 72 * len(stream.bucket)


@given(rows(most=60), st.booleans())
@settings(max_examples=60)
def test_bytes_there_and_back(data: Rows, heavy: bool) -> None:
    stream = stream_of(data.q, data.y, data.times / 3 if heavy else None)
    again = Stream.from_bytes(stream.to_bytes())
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(again, name), getattr(stream, name))
    again.merge(stream)
    assert again.n.sum() == pytest.approx(2 * stream.n.sum())


def test_an_empty_stream_there_and_back() -> None:
    again = Stream.from_bytes(Stream.empty().to_bytes())
    assert len(again.bucket) == 0
    with pytest.raises(InputError) as caught:
        again.cells()
    assert str(caught.value) == "stream: no rows; give at least one prediction with its label"


WRONG = "a.npz: not a stream saved by Gnomon, or cut short; save it again"
STREAM = stream_of(np.linspace(0, 1, 200), (np.arange(200) % 2).astype(np.uint8))
SAVED = STREAM.to_bytes()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_bytes_cut_short(share: float) -> None:
    with pytest.raises(InputError) as caught:
        Stream.from_bytes(SAVED[: int(share * len(SAVED))], "a.npz")
    assert str(caught.value) == WRONG


@given(st.lists(st.tuples(st.integers(0, len(SAVED) - 1), st.integers(0, 255)), min_size=1,
                max_size=8))  # fmt: skip
@settings(max_examples=300)
def test_damaged_bytes(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(SAVED)
    for place, value in changes:
        damaged[place] = value
    try:
        stream = Stream.from_bytes(bytes(damaged))
    except InputError:
        return
    for name in COLUMNS:  # the change was to something that does not matter
        np.testing.assert_array_equal(getattr(stream, name), getattr(STREAM, name))


@given(st.binary(max_size=300))
@settings(max_examples=100)
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(InputError):
        Stream.from_bytes(data)


def saved(**changes: Any) -> bytes:
    columns = {name: getattr(STREAM, name) for name in COLUMNS} | {"gnomon_stream": np.array(1)}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{k: v for k, v in (columns | changes).items() if v is not None})
    return buffer.getvalue()


FORGED: dict[str, dict[str, Any]] = {
    "no version": {"gnomon_stream": None},
    "a version of several numbers": {"gnomon_stream": np.array([1, 2])},
    "a column missing": {"q_square": None},
    "columns of different lengths": {"n": STREAM.n[:-1]},
    "a column of two dimensions": {"n": STREAM.n[:, None]},
    "a column of no dimension": {"bucket": np.array(3)},
    "text": {"n": STREAM.n.astype(np.str_)},
    "text in buckets": {"bucket": STREAM.bucket.astype(np.str_)},
    "dates": {"low": STREAM.low.astype("M8[s]")},
    "complex numbers": {"q": STREAM.q.astype(np.complex128)},
    "buckets that are not whole": {"bucket": STREAM.bucket + 0.5},
    "not a number": {"q": np.full_like(STREAM.q, np.nan)},
    "infinite": {"low": np.full_like(STREAM.q, np.inf)},
    "no mass": {"n": np.zeros_like(STREAM.n)},
    "more labels than rows": {"y": STREAM.n * 2},
    "fewer labels than none": {"y": -STREAM.n},
    "buckets out of order": {"bucket": STREAM.bucket[::-1]},
    "buckets that do not exist": {"bucket": STREAM.bucket + 2 * SIDE},
    "predictions above one": {"q": STREAM.n * 2},
    "predictions below zero": {"q": -STREAM.q - 1},
    "bounds the wrong way round": {"low": STREAM.high + 0.1},
    "log loss is not a number": {"log_loss": np.array([np.nan])},
    "log loss of several numbers": {"log_loss": np.zeros(2)},
    "objects": {"n": np.array([object()] * len(STREAM.n))},
}


@pytest.mark.parametrize("changes", FORGED.values(), ids=FORGED.keys())
def test_forged_bytes(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Stream.from_bytes(saved(**changes), "a.npz")
    assert str(caught.value) == WRONG


def test_bytes_from_the_future() -> None:
    with pytest.raises(InputError) as caught:
        Stream.from_bytes(saved(gnomon_stream=np.array(99)), "a.npz")
    assert str(caught.value) == "a.npz: saved by a newer Gnomon (format 99); upgrade Gnomon"


def test_an_infinite_log_loss_is_kept() -> None:
    stream = stream_of(np.array([0.0, 0.5]), np.array([1, 1], np.uint8))
    assert np.isinf(Stream.from_bytes(stream.to_bytes()).cells().log_loss)


def test_refused_rows_leave_the_stream_as_it_was() -> None:
    stream = stream_of(np.array([0.1]), np.array([1], np.uint8))
    with pytest.raises(InputError) as caught:
        stream.update([0.2, 1.7], [0, 1])
    assert caught.value.where == "probability, row 2"
    assert stream.n.tolist() == [1.0]


def test_signatures_of_different_streams_differ() -> None:
    """Two streams may agree in every sum of q and y but not in those of q²."""
    y = np.array([0, 1], np.uint8)
    first = analyse(stream_of(np.array([0.3, 0.3 + 2e-5]), y).cells())
    second = analyse(stream_of(np.array([0.3 + 2e-5, 0.3]), y).cells())
    assert first.decomposition.brier != second.decomposition.brier
    assert str(first.signature) != str(second.signature)
