"""How often the intervals for the calibration error cover the truth.

Labels are drawn again and again for fixed predictions whose true probabilities are known. The
truth is the error the bins would show if labels were replaced by their probabilities. Run
`python -m benchmarks.coverage --help`; `make coverage` writes the table of docs/coverage.md.
"""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from gnomon.calibration.interval import bootstrap_interval, score_interval, simulation_interval
from gnomon.calibration.noise import label_noise
from gnomon.calibration.ordered import Ordered, adaptive, order
from gnomon.calibration.pairs import Pairs
from gnomon.calibration.selection import RULES, best_bin_size

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]


def _tags(rng: np.random.Generator, n: int) -> Floats:
    rare = rng.random(n) < 0.85
    return np.where(rare, rng.beta(0.1, 8, n), rng.beta(6, 0.6, n))


# The first five shaped the method; the rest were added afterwards and never tuned on.
PREDICTIONS: dict[str, Draw] = {
    "uniform": lambda rng, n: rng.random(n),
    "U-shaped": lambda rng, n: rng.beta(0.3, 0.3, n),
    "skewed": lambda rng, n: rng.beta(0.2, 2, n),
    "one tag": _tags,
    "timid": lambda rng, n: rng.beta(8, 8, n),
    "logit-normal": lambda rng, n: expit(rng.normal(-2.5, 1.5, n)),
    "two decimals": lambda rng, n: rng.beta(2, 0.5, n).round(2),
    "stated tenths": lambda rng, n: rng.choice([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1 - 1e-3], n),
    "half certain": lambda rng, n: np.where(rng.random(n) < 0.5, 0.999, rng.random(n)),
}
HELD_OUT = list(PREDICTIONS)[5:]


def _bend(slope: float, shift: float = 0.0) -> Callable[[Floats], Floats]:
    return lambda q: np.asarray(expit(slope * logit(np.clip(q, 1e-12, 1 - 1e-12)) + shift))


TRUTHS: dict[str, Callable[[Floats], Floats]] = {
    "perfect": lambda q: q,
    "mild": _bend(0.85),
    "strong": _bend(0.5, 0.2),
    "wavy": lambda q: np.clip(q + 0.2 * np.sin(7 * q) * q * (1 - q), 0, 1),
    "stepped": lambda q: np.where(q < 0.5, 0.7 * q, 1 - 0.8 * (1 - q)),
}
SIZES: list[tuple[int, int | str]] = [
    (500, 50), (1000, 200), (2000, 100), (5000, "auto"), (10_000, 1000), (20_000, 200),
]  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One setting of the study; a `bin_size` of auto or labels is chosen anew for each draw."""

    predictions: str
    truth: str
    n: int
    bin_size: int | str


def binned_truth(ordered: Ordered, bin_size: float, p: Floats) -> float:
    """The squared error of the bins with each label replaced by its probability.

    `p` is sorted with the predictions; ties share pro rata, as they have equal probabilities.
    """
    bins = adaptive(ordered, bin_size)
    ends = np.cumsum(bins.n).round().astype(int)
    mean = np.diff(np.concatenate([[0.0], np.cumsum(p)])[np.concatenate([[0], ends])]) / bins.n
    return float(bins.weight @ (mean - bins.q) ** 2)


def coverage(cell: Cell, repetitions: int, seed: int) -> dict[str, float]:
    """The share of label draws in which each interval covers, and on which side it misses."""
    simulations = min(repetitions, 400)
    boots = min(repetitions, 100) if cell.n <= 2000 else 0
    rng = np.random.default_rng([seed, *cell_key(cell)])
    q = np.sort(PREDICTIONS[cell.predictions](rng, cell.n))
    p = TRUTHS[cell.truth](q)
    hits = {"score": 0, "too_low": 0, "simulation": 0, "bootstrap": 0}
    widths, truth = [], 0.0
    for repetition in range(repetitions):
        ordered = order(Pairs(q, (rng.random(cell.n) < p).view(np.uint8)))
        rule = cell.bin_size
        size = best_bin_size(ordered, rule) if isinstance(rule, str) else rule
        if isinstance(rule, str) or repetition == 0:
            truth = 0.0 if cell.truth == "perfect" else binned_truth(ordered, size, p) ** 0.5
        bins = adaptive(ordered, size)
        low, high = score_interval(bins)
        hits["score"] += low <= truth <= high
        hits["too_low"] += high < truth
        widths.append(high - low)
        if repetition < simulations:
            _, low, high = simulation_interval(bins, draws=500, seed=repetition)
            hits["simulation"] += low <= truth <= high
        if repetition < boots:
            rows = []
            for resampled in [ordered, *(ordered.resample(rng) for _ in range(200))]:
                again = adaptive(resampled, size)
                rows.append((float(again.weight @ again.gap**2), label_noise(again).bias))
            low, high = bootstrap_interval(rows)
            hits["bootstrap"] += low <= truth <= high
    shares = {name: count / repetitions for name, count in hits.items()}
    shares["simulation"] = hits["simulation"] / simulations
    shares["bootstrap"] = hits["bootstrap"] / boots if boots else float("nan")
    return shares | {"truth": truth, "width": float(np.mean(widths))}


def cell_key(cell: Cell) -> tuple[int, ...]:
    """Numbers that name the cell, to derive its random stream from."""
    names = list(PREDICTIONS), list(TRUTHS)
    size = cell.bin_size if isinstance(cell.bin_size, int) else RULES.index(cell.bin_size)
    return names[0].index(cell.predictions), names[1].index(cell.truth), cell.n, size


def line(cell: Cell, row: dict[str, float]) -> str:
    """A row of the table."""
    held_out = "*" if cell.predictions in HELD_OUT else ""
    bootstrap = "" if np.isnan(row["bootstrap"]) else f"{row['bootstrap']:.0%}"
    return (
        f"| {cell.predictions}{held_out} | {cell.truth} | {cell.n:,} | {cell.bin_size} |"
        f" {row['truth']:.4f} | {row['score']:.1%} | {row['too_low']:.1%} | {row['width']:.4f} |"
        f" {row['simulation']:.0%} | {bootstrap} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    cells = [Cell(d, t, n, b) for d, t, (n, b) in product(PREDICTIONS, TRUTHS, SIZES)]
    cells += [Cell(d, "perfect", 5000, "labels") for d in PREDICTIONS]
    print(
        "| predictions | truth | N | bin size | true error | score | missed below | mean width |"
        " Algorithm 2 | bootstrap |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    worst = [1.0, 0.0]
    with ProcessPoolExecutor(arguments.workers) as pool:
        jobs = [pool.submit(coverage, c, arguments.repetitions, arguments.seed) for c in cells]
        for cell, job in zip(cells, jobs, strict=True):
            row = job.result()
            if cell.bin_size != "labels":
                worst = [min(worst[0], row["score"]), max(worst[1], row["score"])]
            print(line(cell, row), flush=True)
    print(f"\nThe default interval covers between {worst[0]:.1%} and {worst[1]:.1%}.")
    print(
        "Monte-Carlo standard error about", f"{(0.05 * 0.95 / arguments.repetitions) ** 0.5:.2%}."
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
