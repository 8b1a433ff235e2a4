"""The calibration of a column of probabilities, whole: `calibrate` and its result."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from gnomon.calibration.bins import Bins
from gnomon.calibration.curve import (
    Curve,
    Region,
    binned_curve,
    isotonic_curve,
    regions,
    smooth_curve,
)
from gnomon.calibration.decomposition import Decomposition, decompose
from gnomon.calibration.error import Errors, errors
from gnomon.calibration.interval import (
    METHODS,
    bootstrap_interval,
    check_level,
    score_interval,
    simulation_interval,
)
from gnomon.calibration.noise import Noise, label_noise
from gnomon.calibration.ordered import Ordered, Packed, adaptive, equal_width, order
from gnomon.calibration.pairs import as_pairs
from gnomon.calibration.selection import RULES, best_bin_size
from gnomon.calibration.streaming import error_bound
from gnomon.calibration.tests import TestOfCalibration, kuiper, spiegelhalter
from gnomon.errors import InputError
from gnomon.estimate import JSON, Estimate, Signature, digest, number

Progress = Callable[[int, int], None]
DRAWS = {"simulation": 10_000, "bootstrap": 1000}


@dataclass(frozen=True)
class Settings:
    """How calibration is measured.

    `binning` is "adaptive" or "width:0.1"; `bin_size` is a number of predictions or "auto";
    `interval` one of score, simulation, bootstrap; `draws` is for the latter two, 10,000 and
    1,000 by default.
    """

    bin_size: float | str = "auto"
    binning: str = "adaptive"
    interval: str = "score"
    level: float = 0.95
    draws: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        # NumPy's numbers become Python's, and 100.0 becomes 100: equal settings sign the same.
        if not isinstance(self.bin_size, str):
            size = float(self.bin_size)
            object.__setattr__(self, "bin_size", int(size) if size.is_integer() else size)
        object.__setattr__(self, "level", float(self.level))
        object.__setattr__(self, "seed", int(self.seed))
        if self.draws is not None:
            object.__setattr__(self, "draws", int(self.draws))
        check_level(self.level)
        if self.interval not in METHODS:
            raise InputError(
                "interval", f"{self.interval!r} is unknown", f"give one of {', '.join(METHODS)}"
            )
        if isinstance(self.bin_size, str):
            if self.bin_size not in RULES:
                raise InputError(
                    "bin size", f"{self.bin_size!r} is unknown", "give a number or auto"
                )
        elif not 1 <= self.bin_size < np.inf:
            problem = "has no end" if self.bin_size > 1 else "is too small"
            raise InputError("bin size", f"{self.bin_size:g} {problem}", "give 1 or more")
        if self.draws is not None and self.draws < 10:
            raise InputError("draws", f"{self.draws} are too few", "give 10 or more")
        if self.seed < 0:
            raise InputError("seed", f"{self.seed} is negative", "give 0 or more")
        self.width  # noqa: B018 - refuses a wrong binning now

    @property
    def width(self) -> float | None:
        """The bins' width, None where they are adaptive."""
        kind, _, value = self.binning.partition(":")
        if self.binning == "adaptive":
            return None
        try:
            width = float(value)
        except ValueError:
            width = 0.0
        if kind != "width" or not 0.0 < width <= 1.0:
            raise InputError(
                "binning", f"{self.binning!r} is unknown", "give adaptive, or width:0.1"
            )
        return width

    def bins(self, ordered: Ordered, size: float | None = None) -> tuple[Bins, float | None]:
        """The bins and, where they are adaptive, their size: the one given, or the setting's."""
        if self.width is not None:
            return equal_width(ordered, self.width), None
        if size is None:
            rule = self.bin_size
            size = best_bin_size(ordered, rule) if isinstance(rule, str) else rule
        return adaptive(ordered, size), size

    def to_dict(self) -> dict[str, JSON]:
        """Every setting that can change a result but the seed."""
        draws = self.draws or DRAWS.get(self.interval)
        adaptive_size = self.bin_size if self.width is None else None
        return {
            "bin_size": adaptive_size, "binning": self.binning, "interval": self.interval,
            "level": self.level, "draws": draws,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Calibration:
    """How far a column of probabilities can be believed. `print` it, or take its fields."""

    n: float
    calibration_error: Estimate
    errors: Errors
    decomposition: Decomposition
    log_loss: float
    bin_size: float | None
    bins: Bins
    curve: Curve
    smooth: Curve
    isotonic: Curve
    regions: list[Region]
    tests: list[TestOfCalibration]
    signature: Signature
    notes: list[str] = field(default_factory=list)

    @property
    def base_rate(self) -> float:
        """The share of positive labels."""
        return self.decomposition.base_rate

    def to_dict(self) -> dict[str, JSON]:
        """The result under stable keys, ready for JSON (docs/calibration.md lists them)."""
        parts = self.decomposition
        return {
            "n": number(self.n),
            "base_rate": number(self.base_rate),
            "calibration_error": self.calibration_error.to_dict(),
            "ece": number(self.errors.ece),
            "ece_debiased": number(self.errors.ece_debiased),
            "max_error": number(self.errors.maximum),
            "max_error_debiased": number(self.errors.maximum_debiased),
            "brier": number(parts.brier),
            "calibration": number(parts.calibration),
            "refinement": number(parts.refinement),
            "within_bin": number(parts.within_bin),
            "skill": None if parts.skill is None else number(parts.skill),
            "log_loss": number(self.log_loss),
            "bin_size": None if self.bin_size is None else number(self.bin_size),
            "bins": _rows(n=self.bins.n, q=self.curve.q, p=self.curve.p,
                          low=self.curve.low, high=self.curve.high),
            "smooth": _rows(q=self.smooth.q, p=self.smooth.p,
                            low=self.smooth.low, high=self.smooth.high),
            "isotonic": _rows(q=self.isotonic.q, p=self.isotonic.p),
            "regions": [
                {"kind": r.kind, "low": r.low, "high": r.high, "gap": r.gap, "text": r.text}
                for r in self.regions
            ],
            "tests": {
                test.name: {"statistic": number(test.statistic), "p_value": number(test.p_value)}
                for test in self.tests
            },
            "notes": list(self.notes),
            "signature": self.signature.to_dict(),
        }  # fmt: skip

    def verdict(self) -> str:
        """The regions in one sentence."""
        if not self.regions:
            return "no range of predictions is reliably over- or underconfident"
        return ", ".join(region.text for region in self.regions)

    def __str__(self) -> str:
        error, e, d = self.calibration_error, self.errors, self.decomposition
        interval = f"{100 * error.level:.4g} % interval {error.low:.4f} to {error.high:.4f}"
        skill = "" if d.skill is None else f"; skill over the base rate {d.skill:.4f}"
        lines = [
            f"{self.n:,.10g} predictions, base rate {self.base_rate:.4f}, {len(self.bins):,} bins",
            "",
            f"calibration error (RMS)    {e.rms:.4f}   debiased {e.rms_debiased:.4f}   {interval}"
            f" ({error.method})",
            f"mean absolute error (ECE)  {e.ece:.4f}   debiased {e.ece_debiased:.4f}",
            f"maximum error              {e.maximum:.4f}   debiased {e.maximum_debiased:.4f}",
            f"Brier score                {d.brier:.4f} = calibration {d.calibration:.4f}"
            f" + refinement {d.refinement:.4f} + within bins {d.within_bin:.4f}{skill}",
            f"log loss                   {self.log_loss:.4f}",
            *(f"{t.name.capitalize() + ' test':<25}  {t.statistic:.2f}   {_chance(t.p_value)}"
              for t in self.tests),
            "",
            self.verdict()[0].upper() + self.verdict()[1:] + ".",
            "",
            *_table(self.bins, self.curve),
            *(f"Note: {note}." for note in self.notes),
            f"{self.signature}",
        ]  # fmt: skip
        return "\n".join(lines)


def calibrate(
    probability: ArrayLike,
    label: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    bin_size: float | str = "auto",
    binning: str = "adaptive",
    interval: str = "score",
    level: float = 0.95,
    draws: int | None = None,
    seed: int = 0,
) -> Calibration:
    """How far predicted probabilities (in [0, 1]) can be believed, given their 0/1 labels.

    `weight` counts a row several times. The other arguments are those of `Settings`.
    Nguyen & O'Connor (2015), Posterior calibration and exploratory analysis for natural language
    processing models.

    >>> rng = np.random.default_rng(0)
    >>> q = rng.random(2000)
    >>> result = calibrate(q, rng.random(2000) < q**2)
    >>> print(result.calibration_error, result.verdict(), sep="; ")
    0.1881 [0.1683, 0.2043]; overconfident throughout
    """
    settings = Settings(bin_size, binning, interval, level, draws, seed)
    return analyse(order(as_pairs(probability, label, weight)), settings)


def analyse(
    ordered: Ordered, settings: Settings | None = None, *, progress: Progress | None = None
) -> Calibration:
    """The calibration of predictions already in order (sorted pairs or a stream's cells)."""
    settings = settings or Settings()
    bins, size = settings.bins(ordered)
    noise = label_noise(bins)
    cells = ordered.cells
    parts = decompose(bins)
    summary = errors(bins, noise)
    return Calibration(
        n=ordered.mass,
        calibration_error=estimate_error(ordered, bins, noise, settings, size, progress),
        errors=summary,
        decomposition=parts,
        log_loss=cells.log_loss,
        bin_size=size,
        bins=bins,
        curve=binned_curve(bins, settings.level, noise),
        smooth=smooth_curve(cells, settings.level),
        isotonic=isotonic_curve(cells),
        regions=regions(cells, settings.level),
        tests=[spiegelhalter(cells), kuiper(cells)],
        signature=Signature(
            "calibrate", settings.to_dict(), settings.seed, fingerprint(ordered)
        ),
        notes=_notes(ordered, bins, parts, size),
    )  # fmt: skip


def fingerprint(ordered: Ordered) -> str:
    """A digest of the predictions and labels that does not depend on their order."""
    if isinstance(ordered, Packed):
        return digest(ordered.keys)
    columns = (ordered.n, ordered.y, ordered.q, ordered.q_square, ordered.q_label)
    return digest(*columns, np.array([ordered.log_loss]))


def estimate_error(
    ordered: Ordered,
    bins: Bins,
    noise: Noise,
    settings: Settings,
    size: float | None,
    progress: Progress | None = None,
) -> Estimate:
    """The RMS error of the bins with the interval that the settings ask for."""
    square = float(bins.weight @ bins.gap**2)
    draws = settings.draws or DRAWS.get(settings.interval, 0)
    if settings.interval == "score":
        low, high = score_interval(bins, settings.level, noise)
    elif settings.interval == "simulation":
        _, low, high = simulation_interval(bins, settings.level, draws=draws, seed=settings.seed)
    else:
        rng = np.random.default_rng(settings.seed)
        rows = [(square, noise.bias)]
        for done in range(draws):
            again, _ = settings.bins(ordered.resample(rng), size)
            rows.append((float(again.weight @ again.gap**2), label_noise(again).bias))
            if progress:
                progress(done + 1, draws)
        low, high = bootstrap_interval(rows, settings.level)
    debiased = max(0.0, square - noise.bias) ** 0.5
    return Estimate(
        square**0.5, low, high, settings.level, settings.interval, ordered.mass, debiased
    )


def _notes(ordered: Ordered, bins: Bins, parts: Decomposition, size: float | None) -> list[str]:
    cells = ordered.cells
    notes = []
    if parts.base_rate in (0.0, 1.0):
        notes.append(
            f"every label is {parts.base_rate:.0f}, so skill over the base rate is undefined"
        )
    if ordered.mass < 0.5 * ordered.distinct:
        notes.append(
            f"the weights sum to {ordered.mass:.3g}, so {ordered.distinct:,} different predictions"
            " count as that few observations; scale them if they are not frequencies"
        )
    if len(bins) == 1:
        notes.append(
            "all predictions are in one bin, which shows only whether they are right on average"
        )
    if not np.isfinite(cells.log_loss):
        notes.append("a prediction of exactly 0 or 1 was wrong, so the log loss is infinite")
    if np.any(cells.high > cells.low) and size is None:
        notes.append(
            "streamed: a bucket of predictions that lies across a bin's edge goes to one side whole"
        )
    elif size is not None and np.any(cells.high > cells.low):
        bound = error_bound(cells, size)
        notes.append(f"streamed: the RMS error is within {bound:.2g} of that of exact bins")
    return notes


def _table(bins: Bins, curve: Curve, most: int = 20) -> list[str]:
    """The bins as lines of text; of many, evenly spaced ones."""
    shown = np.unique(np.linspace(0, len(bins) - 1, min(most, len(bins))).round().astype(int))
    lines = ["     n  predicted  observed  interval"]
    lines += [
        f"{bins.n[i]:>6,.5g}     {curve.q[i]:.4f}    {curve.p[i]:.4f}  "
        f"{curve.low[i]:.4f} to {curve.high[i]:.4f}"
        for i in shown
    ]
    if len(shown) < len(bins):
        lines.append(f"({len(shown)} of {len(bins):,} bins shown; --json has all)")
    return [*lines, ""]


def _chance(p_value: float) -> str:
    return f"p = {p_value:.2g}" if p_value >= 1e-16 else "p < 1e-16"


def _rows(**columns: ArrayLike) -> list[JSON]:
    """Columns as a list of rows."""
    arrays = [np.asarray(column, np.float64) for column in columns.values()]
    return [
        {name: number(float(value)) for name, value in zip(columns, row, strict=True)}
        for row in zip(*arrays, strict=True)
    ]
