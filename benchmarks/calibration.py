"""The calibration rows of the budgets, with peers in the same run."""

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.timing import Row, best_of
from gnomon.calibration.analyse import calibrate
from gnomon.calibration.decomposition import decompose
from gnomon.calibration.error import errors
from gnomon.calibration.interval import score_interval
from gnomon.calibration.ordered import adaptive, order
from gnomon.calibration.pairs import as_pairs
from gnomon.calibration.streaming import Stream

PAIRS = 10_000_000
BIN_SIZE = 5000


def rows() -> Iterator[Row]:
    """Every row, as it is measured."""
    rng = np.random.default_rng(0)
    q = rng.random(PAIRS)
    y = rng.random(PAIRS) < q
    q32 = q.astype(np.float32)

    def ours(values: np.ndarray) -> None:
        bins = adaptive(order(as_pairs(values, y[: len(values)])), BIN_SIZE)
        errors(bins)
        decompose(bins)

    floor = best_of(lambda: np.sort(q))
    yield Row("np.sort, 10⁷ float64 (the unit)", floor * 1e3, "ms")
    yield Row("bins + errors + decomposition, float64", best_of(lambda: ours(q)) / floor, "×", 1.5)
    yield Row(
        "bins + errors + decomposition, float32", best_of(lambda: ours(q32)) / floor, "×", 0.8
    )
    for name, values in (("float64", q), ("float32", q32)):
        pairs = as_pairs(values, y)
        yield Row(
            f"of which packing and sorting, {name}", best_of(partial(order, pairs)) / floor, "×"
        )
    extra = (_peak(lambda: ours(q)) - _peak(lambda: ours(q[: PAIRS // 2]))) / (PAIRS // 2)
    yield Row("extra memory a pair, float64 (bins included)", extra, "bytes", 8.1)
    weight = rng.integers(1, 4, PAIRS).astype(np.float64)
    yield Row(
        "the same, weighted",
        best_of(lambda: adaptive(order(as_pairs(q, y, weight)), BIN_SIZE), 1, 1) / floor, "×",
    )  # fmt: skip
    yield Row("`calibrate` whole (curves, tests, auto bins)",
              best_of(lambda: calibrate(q, y), 1, 1) / floor, "×")  # fmt: skip
    yield Row("streaming the same",
              best_of(lambda: Stream.of(as_pairs(q, y)), 1, 1) / floor, "×")  # fmt: skip
    yield from _peers(q, y, floor)

    bins = adaptive(order(as_pairs(q[:1_000_000], y[:1_000_000])), 500)
    assert len(bins) == 2000
    score_interval(bins)
    yield Row("interval, 2,000 bins", best_of(lambda: score_interval(bins), 0.5) * 1e3, "ms", 1.0)
    tied = adaptive(order(as_pairs(q[:1_000_000].round(2), y[:1_000_000])), 500)
    yield Row("interval, 2,000 bins over 101 values",
              best_of(lambda: score_interval(tied), 0.5) * 1e3, "ms")  # fmt: skip
    yield Row("`import gnomon`", _process("import gnomon"), "s", 0.3)
    yield Row(
        "`gnomon --help`", _process("from gnomon.cli import main; main(['--help'])"), "s", 0.5
    )


def _peers(q: np.ndarray, y: np.ndarray, floor: float) -> Iterator[Row]:
    import relplot
    from sklearn.calibration import calibration_curve

    def argsort_binning() -> None:
        ascending = np.argsort(q, kind="stable")
        starts = np.arange(0, len(q), BIN_SIZE)
        n = np.diff(starts, append=len(q))
        gap = (np.add.reduceat(y[ascending], starts, dtype=float)
               - np.add.reduceat(q[ascending], starts)) / n  # fmt: skip
        np.sqrt(np.average(gap**2, weights=n))

    yield Row("plain `np.argsort` binning", best_of(argsort_binning, 1, 1) / floor, "×")
    curve = best_of(lambda: calibration_curve(y, q, n_bins=2000, strategy="quantile"), 1, 1)
    yield Row("scikit-learn `calibration_curve`, quantile", curve / floor, "×")
    yield Row(
        "relplot `smECE`", best_of(lambda: relplot.smECE(q, y.astype(float)), 1, 1) / floor, "×"
    )


def _peak(work: Callable[[], object]) -> int:
    """The most memory that was in use at once, in bytes."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _process(code: str) -> float:
    """The shortest time in which a new Python runs the code, its own start included."""

    def seconds(program: str) -> float:
        times = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        return min(times)

    return seconds(code)
