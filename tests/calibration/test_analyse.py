"""The whole result: the same for the same data, valid JSON always, signed by all that made it."""

import json
import math
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnomon
from gnomon import calibrate
from gnomon.calibration.analyse import Calibration, Settings, analyse
from gnomon.calibration.interval import METHODS
from gnomon.calibration.ordered import order
from gnomon.calibration.pairs import as_pairs
from gnomon.calibration.selection import RULES
from gnomon.errors import InputError
from strategies import BELOW_ONE, SMALLEST, Rows, assert_same, oracle, rows

RNG = np.random.default_rng(0)
Q = RNG.random(1500)
Y = (RNG.random(1500) < Q**1.5).astype(np.uint8)


def as_json(result: Calibration) -> dict[str, Any]:
    """The result as a reader of its JSON sees it."""
    text = json.dumps(result.to_dict(), allow_nan=False)
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("binning", ["adaptive", "width:0.1"])
@pytest.mark.parametrize("bin_size", [*RULES, 37])
def test_fields_agree_with_other_programs(binning: str, bin_size: str | int) -> None:
    result = calibrate(Q, Y, binning=binning, bin_size=bin_size)
    metrics = oracle("sklearn.metrics")
    assert result.n == 1500
    assert result.base_rate == pytest.approx(Y.mean())
    assert result.decomposition.brier == pytest.approx(metrics.brier_score_loss(Y, Q), abs=1e-12)
    assert result.log_loss == pytest.approx(metrics.log_loss(Y, Q), rel=1e-12)
    error = result.calibration_error
    assert error.value == result.errors.rms
    assert error.debiased == result.errors.rms_debiased
    assert error.value**2 == pytest.approx(result.decomposition.calibration)
    assert (error.level, error.method, error.n) == (0.95, "score", 1500)
    assert (result.bin_size is None) == (binning != "adaptive")
    if bin_size == 37 and binning == "adaptive":
        assert result.bin_size == 37


def test_json_keys_are_stable() -> None:
    assert list(as_json(calibrate(Q, Y))) == [
        "n", "base_rate", "calibration_error", "ece", "ece_debiased", "max_error",
        "max_error_debiased", "brier", "calibration", "refinement", "within_bin", "skill",
        "log_loss", "bin_size", "bins", "smooth", "isotonic", "regions", "tests", "notes",
        "signature",
    ]  # fmt: skip


EDGES: dict[str, tuple[list[float], list[int]]] = {
    "one row": ([0.3], [1]),
    "one certain row": ([1.0], [1]),
    "one wrong row": ([1.0], [0]),
    "two rows": ([0.2, 0.8], [0, 1]),
    "all right and certain": ([1.0] * 50, [1] * 50),
    "all wrong and certain": ([0.0] * 50, [1] * 50),
    "both ends": ([0.0] * 20 + [1.0] * 20, [0] * 20 + [1] * 20),
    "both ends, one wrong": ([0.0] * 20 + [1.0] * 20, [0] * 20 + [0] + [1] * 19),
    "far corners": ([0.0] * 500 + [1.0] * 3, [0] * 503),
    "all equal": ([0.3] * 40, [0, 1] * 20),
    "all one half": ([0.5] * 40, [0, 1] * 20),
    "one class": ([0.1, 0.5, 0.9, 0.2] * 10, [0] * 40),
    "the other class": ([0.1, 0.5, 0.9, 0.2] * 10, [1] * 40),
    "smallest": ([SMALLEST] * 30, [0] * 30),
    "small": ([1e-200] * 30, [0] * 30),
    "smallest, one true": ([SMALLEST] * 30, [0] * 29 + [1]),
    "largest below one": ([BELOW_ONE] * 30, [1] * 29 + [0]),
    "negative zero": ([-0.0] * 30, [0] * 30),
}


@pytest.mark.parametrize("options", [{}, {"binning": "width:0.1"}, {"interval": "simulation"},
                                     {"interval": "bootstrap", "draws": 20}, {"bin_size": 1},
                                     {"bin_size": 10**9}], ids=str)  # fmt: skip
@pytest.mark.parametrize(("q", "y"), EDGES.values(), ids=EDGES.keys())
def test_edges_give_whole_results(q: list[float], y: list[int], options: dict[str, Any]) -> None:
    result = calibrate(q, y, **options)
    found = as_json(result)
    error = found["calibration_error"]
    assert 0 <= error["low"] <= error["high"]
    assert error["high"] <= 1 or options.get("interval") != "score"
    assert all(None not in row.values() for key in ("bins", "smooth") for row in found[key])
    assert (found["log_loss"] is None) == math.isinf(result.log_loss)
    assert (found["skill"] is None) == (len(set(y)) == 1)
    text = str(result)
    assert "nan" not in text
    assert f"{len(q):,} predictions" in text
    assert str(result.signature) in text


def test_notes() -> None:
    assert calibrate(Q, Y).notes == []
    assert calibrate([0.2], [0]).notes == [
        "every label is 0, so skill over the base rate is undefined",
        "all predictions are in one bin, which shows only whether they are right on average",
    ]
    assert calibrate([0.0, 0.5] * 20, [1] * 40, bin_size=10).notes == [
        "every label is 1, so skill over the base rate is undefined",
        "a prediction of exactly 0 or 1 was wrong, so the log loss is infinite",
    ]


def test_printed_result_says_it_all() -> None:
    result = calibrate(Q, Y)
    text = str(result)
    for part in (
        f"1,500 predictions, base rate {Y.mean():.4f}",
        f"calibration error (RMS)    {result.errors.rms:.4f}",
        f"95 % interval {result.calibration_error.low:.4f} to {result.calibration_error.high:.4f}",
        f"mean absolute error (ECE)  {result.errors.ece:.4f}",
        f"maximum error              {result.errors.maximum:.4f}",
        f"Brier score                {result.decomposition.brier:.4f}",
        f"log loss                   {result.log_loss:.4f}",
        "Spiegelhalter test",
        "Kuiper test",
        f"gnomon:{gnomon.__version__}",
    ):
        assert part in text
    many = str(calibrate(Q, Y, bin_size=2))
    assert "(20 of 750 bins shown; --json has all)" in many


@given(rows(least=2, most=40), st.sampled_from(["auto", "labels", 1, 4, 11]), st.booleans())
@settings(max_examples=120)
def test_whole_weights_are_replication(data: Rows, size: int | str, wide: bool) -> None:
    """In every number that comes out."""
    options: dict[str, Any] = {"bin_size": size, "binning": "width:0.25" if wide else "adaptive"}
    q, y = data.repeated
    heavy = calibrate(data.q, data.y, weight=data.times, **options).to_dict()
    assert_same(heavy, calibrate(q, y, **options).to_dict(), 1e-7)


@given(rows(least=2, most=40), st.randoms(use_true_random=False), st.sampled_from(METHODS))
@settings(max_examples=60)
def test_order_of_the_input_changes_no_bit(data: Rows, random: Any, interval: str) -> None:
    turned = list(range(len(data.q)))
    random.shuffle(turned)
    first = calibrate(data.q, data.y, interval=interval, draws=10)
    second = calibrate(data.q[turned], data.y[turned], interval=interval, draws=10)
    assert_same(first.to_dict(), second.to_dict(), 0.0, but=())
    assert str(first) == str(second)


def test_a_certain_prediction_stays_certain_among_weighted_ones() -> None:
    """Sums of the predictions before it must not round its own down."""
    q = np.append(np.exp([-1.0, -1.0, -1.0, -1.0, -2.0, -2.0, -3.0]), [0.16324551, 1.0])
    y = np.array([0] * 8 + [1])
    plain = calibrate(q, y, bin_size=1)
    weighted = calibrate(q, y, weight=np.ones(9), bin_size=1)
    assert weighted.bins.q[-1] == 1
    assert_same(weighted.to_dict(), plain.to_dict(), 1e-7)


def test_order_of_weighted_input_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    q, weight, turned = Q.round(1), rng.random(1500), rng.permutation(1500)
    first = calibrate(q, Y, weight=weight).to_dict()
    second = calibrate(q[turned], Y[turned], weight=weight[turned]).to_dict()
    assert_same(first, second, 1e-9)


def test_splitting_a_row_of_weight_two_changes_nothing() -> None:
    q, y = Q[:300].round(2), Y[:300]
    first = calibrate(q, y, weight=np.full(300, 2.0))
    second = calibrate(np.tile(q, 4), np.tile(y, 4), weight=np.full(1200, 0.5))
    assert_same(first.to_dict(), second.to_dict(), 1e-9)
    assert_same(first.to_dict(), calibrate(np.tile(q, 2), np.tile(y, 2)).to_dict(), 1e-9)


@pytest.mark.parametrize(
    "change",
    [
        {"bin_size": 50}, {"bin_size": "labels"}, {"binning": "width:0.1"}, {"level": 0.9},
        {"interval": "simulation"}, {"interval": "bootstrap"}, {"draws": 77}, {"seed": 1},
    ],
    ids=str,
)  # fmt: skip
def test_signature_changes_with_every_setting(change: dict[str, Any]) -> None:
    assert {field.name for field in fields(Settings)} == {
        "bin_size", "binning", "interval", "level", "draws", "seed",
    }  # fmt: skip
    plain = str(calibrate(Q[:50], Y[:50]).signature)
    assert str(calibrate(Q[:50], Y[:50], **change).signature) != plain
    assert "|seed:0|" in plain


def test_signature_changes_with_the_data_and_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def signed(q: Any, y: Any, **options: Any) -> str:
        return str(calibrate(q, y, **options).signature)

    y = [0, 1, 1]
    every = [
        signed([0.1, 0.2, 0.3], y),
        signed([0.1, 0.2, 0.3], [1, 0, 1]),
        signed([0.1, 0.2, 0.3 + 1e-16], y),
        signed([0.1, 0.2, 0.3000001], y),
        signed([0.1, 0.2], y[:2]),
        signed([0.1, 0.2, 0.3], y, weight=[1, 1, 2]),
        signed([0.1, 0.2, 0.3], y, weight=[1, 2, 1]),
        signed(np.array([0.1, 0.2, 0.3], np.float32), y),
    ]
    assert len(set(every)) == len(every)
    monkeypatch.setattr(gnomon, "__version__", "99.9")
    assert signed([0.1, 0.2, 0.3], y).endswith("|gnomon:99.9")


def test_same_signature_same_result() -> None:
    options: dict[str, Any] = {"interval": "bootstrap", "draws": 30, "seed": 5}
    first, second = calibrate(Q, Y, **options), calibrate(Q, Y, **options)
    assert_same(first.to_dict(), second.to_dict(), 0.0, but=())
    other = calibrate(Q, Y, interval="bootstrap", draws=30, seed=6)
    assert other.calibration_error.high != first.calibration_error.high


@pytest.mark.parametrize(
    "options",
    [{"bin_size": np.int64(40)}, {"bin_size": np.float32(40)}, {"seed": np.int64(3)},
     {"level": np.float32(0.9)}, {"draws": np.int32(50), "interval": "bootstrap"}],
    ids=str,
)  # fmt: skip
def test_settings_may_be_numpy_numbers(options: dict[str, Any]) -> None:
    """They come out of arrays and frames all the time, and must not break the JSON."""
    plain = {key: getattr(value, "item", lambda v=value: v)() for key, value in options.items()}
    assert as_json(calibrate(Q, Y, **options)) == as_json(calibrate(Q, Y, **plain))


def test_equal_settings_sign_the_same() -> None:
    assert str(calibrate(Q, Y, bin_size=100).signature) == str(
        calibrate(Q, Y, bin_size=100.0).signature
    )


KINDS = "is unknown; give adaptive, or width:0.1"
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "level": ({"level": 95}, "level: 95 is not a level; give a number such as 0.95"),
    "interval": (
        {"interval": "wald"},
        "interval: 'wald' is unknown; give one of score, simulation, bootstrap",
    ),
    "bin size": ({"bin_size": 0}, "bin size: 0 is too small; give 1 or more"),
    "bin size word": ({"bin_size": "big"}, "bin size: 'big' is unknown; give a number or auto"),
    "binning": ({"binning": "deciles"}, f"binning: 'deciles' {KINDS}"),
    "width": ({"binning": "width:2"}, f"binning: 'width:2' {KINDS}"),
    "no width": ({"binning": "width"}, f"binning: 'width' {KINDS}"),
    "word width": ({"binning": "width:x"}, f"binning: 'width:x' {KINDS}"),
    "nan width": ({"binning": "width:nan"}, f"binning: 'width:nan' {KINDS}"),
    "draws": ({"draws": 9}, "draws: 9 are too few; give 10 or more"),
    "no draws": ({"draws": 0}, "draws: 0 are too few; give 10 or more"),
    "seed": ({"seed": -1}, "seed: -1 is negative; give 0 or more"),
}


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD.keys())
def test_refused_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Settings(**options)
    assert str(caught.value) == message
    with pytest.raises(InputError):
        calibrate(Q, Y, **options)


def test_an_infinite_bin_size_is_not_called_small() -> None:
    with pytest.raises(InputError) as caught:
        Settings(bin_size=math.inf)
    assert caught.value.where == "bin size"
    assert "small" not in caught.value.problem


def test_progress_of_the_bootstrap() -> None:
    seen: list[tuple[int, int]] = []
    chosen = Settings(interval="bootstrap", draws=12)
    analyse(order(as_pairs(Q, Y)), chosen, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 12) for k in range(1, 13)]


@pytest.mark.parametrize("interval", METHODS)
def test_intervals_hold_their_level_in_name(interval: str) -> None:
    narrow, wide = (
        calibrate(Q, Y, interval=interval, draws=200, level=level).calibration_error
        for level in (0.5, 0.99)
    )
    assert wide.low <= narrow.low <= narrow.high <= wide.high
    assert (narrow.level, narrow.method) == (0.5, interval)


@pytest.mark.parametrize("frame", [pl, pd], ids=["polars", "pandas"])
def test_columns_of_frames(frame: Any) -> None:
    table = frame.DataFrame({"q": Q, "y": Y.astype(bool), "w": np.ones(1500)})
    plain = calibrate(Q, Y).to_dict()
    assert_same(calibrate(table["q"], table["y"]).to_dict(), plain, 0.0, but=())
    assert_same(calibrate(table["q"], table["y"], weight=table["w"]).to_dict(), plain)


def test_single_precision() -> None:
    single = Q.astype(np.float32)
    double = calibrate(single.astype(np.float64), Y).to_dict()
    assert_same(calibrate(single, Y).to_dict(), double, 1e-12)
    ones = np.ones(1500)
    for binning in ("adaptive", "width:0.1"):
        first = calibrate(single.round(1), Y, weight=ones, binning=binning).to_dict()
        assert_same(first, calibrate(single.round(1), Y, binning=binning).to_dict())


def test_results_can_be_compared() -> None:
    """Without an error; that two are equal need not be said."""
    first, second = calibrate(Q, Y), calibrate(Q, Y)
    assert isinstance(first == second, bool)


def test_the_auto_size_is_the_one_reported_and_used() -> None:
    result = calibrate(Q, Y)
    again = calibrate(Q, Y, bin_size=result.bin_size or 0)
    assert_same(result.to_dict(), again.to_dict(), 0.0)
