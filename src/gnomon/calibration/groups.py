"""Calibration group by group (tag by tag, class by class), and the average over groups."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.calibration.analyse import Progress, Settings, estimate_error, fingerprint
from gnomon.calibration.interval import Evidence, evidence, score_limits
from gnomon.calibration.noise import label_noise
from gnomon.calibration.ordered import Ordered, order
from gnomon.calibration.pairs import Pairs, as_groups, as_pairs, check_aligned
from gnomon.errors import InputError
from gnomon.estimate import JSON, Estimate, Signature, digest, number

TOP = (5, 100)


@dataclass(frozen=True)
class Group:
    """One group's name, mass, number of positive labels and calibration error."""

    name: str
    n: float
    positives: float
    calibration_error: Estimate

    def to_dict(self) -> dict[str, JSON]:
        """The group as a JSON row."""
        return {
            "group": self.name,
            "n": number(self.n),
            "base_rate": number(self.positives / self.n),
            "calibration_error": self.calibration_error.to_dict(),
        }


@dataclass(frozen=True)
class Average:
    """Calibration over the k most frequent groups, each counting the same.

    `mean` is the mean of their plug-in errors, as papers report it. It adds up every group's
    noise, and no interval for it covers; `rms`, the root mean square of the errors, can be
    debiased and has one.
    """

    k: int
    mean: float
    rms: Estimate

    def to_dict(self) -> dict[str, JSON]:
        """The average as a JSON row."""
        return {"k": self.k, "mean": number(self.mean), "rms": self.rms.to_dict()}


@dataclass(frozen=True)
class Groups:
    """All groups, those with most positive labels first, and averages over the first k."""

    rows: list[Group]
    averages: list[Average]
    signature: Signature

    def to_dict(self) -> dict[str, JSON]:
        """The rows and averages, ready for JSON."""
        return {
            "groups": [row.to_dict() for row in self.rows],
            "averages": [average.to_dict() for average in self.averages],
            "signature": self.signature.to_dict(),
        }

    def __str__(self) -> str:
        width = max(5, *(len(row.name) for row in self.rows))
        lines = [f"{'group':<{width}}         n  base rate   error  debiased  interval"]
        for row in self.rows:
            error = row.calibration_error
            lines.append(
                f"{row.name:<{width}}  {row.n:>8,.8g}     {row.positives / row.n:.4f}"
                f"  {error.value:.4f}    {error.debiased:.4f}  {error.low:.4f} to {error.high:.4f}"
            )
        lines.append("")
        for average in self.averages:
            k, rms = average.k, average.rms
            which = f"all {k} groups" if k == len(self.rows) else f"the {k} most frequent"
            lines.append(
                f"over {which}: mean {average.mean:.4f}; root mean square {rms.value:.4f},"
                f" debiased {rms.debiased:.4f}, {100 * rms.level:.4g} % interval"
                f" {rms.low:.4f} to {rms.high:.4f}"
            )
        return "\n".join([*lines, str(self.signature)])


def calibrate_groups(
    probability: ArrayLike,
    label: ArrayLike,
    group: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    settings: Settings | None = None,
    top: Sequence[int] = TOP,
    progress: Progress | None = None,
) -> Groups:
    """The calibration error of each group, and its mean over the `top` most frequent groups.

    >>> groups = calibrate_groups([0.2, 0.4, 0.9, 0.7], [0, 1, 1, 1], ["a", "a", "b", "b"])
    >>> print([(row.name, round(row.calibration_error.value, 3)) for row in groups.rows])
    [('b', 0.2), ('a', 0.2)]
    """
    check_aligned([(probability, "probability"), (group, "group")])
    pairs = as_pairs(probability, label, weight)
    parts = split(pairs, as_groups(group, len(pairs)))
    ordered = ((name, order(part)) for name, part in parts.items())
    return analyse_groups(ordered, settings, top=top, progress=progress, total=len(parts))


def split(pairs: Pairs, group: NDArray[np.str_]) -> dict[str, Pairs]:
    """The pairs of each group; a group whose weights are all zero is left out."""
    names, code = np.unique(group, return_inverse=True)
    ascending = np.argsort(code, kind="stable")
    rows = np.split(ascending, np.searchsorted(code[ascending], np.arange(1, len(names))))
    parts = {str(name): pairs.take(own) for name, own in zip(names, rows, strict=True)}
    return {name: part for name, part in parts.items() if part.mass > 0}


def analyse_groups(
    groups: Iterable[tuple[str, Ordered]],
    settings: Settings | None = None,
    *,
    top: Sequence[int] = TOP,
    independent: bool = True,
    progress: Progress | None = None,
    total: int = 0,
) -> Groups:
    """The calibration of groups whose predictions are already in order.

    `independent` groups have no items in common; the averages of others get a wider interval.
    """
    settings = settings or Settings()
    rows, digests, known = [], [], {}
    for name, ordered in groups:
        bins, size = settings.bins(ordered)
        noise = label_noise(bins)
        error = estimate_error(ordered, bins, noise, settings, size)
        rows.append(Group(name, ordered.mass, float(bins.n @ bins.p), error))
        known[name] = evidence(bins, settings.level, noise)
        digests.append(f"{name}={fingerprint(ordered)}")
        if progress:
            progress(len(rows), total)
    if not rows:
        raise InputError("groups", "there are none", "give at least one group")
    rows.sort(key=lambda row: (-row.positives, -row.n, row.name))
    averages = [
        average(rows[:k], [known[row.name] for row in rows[:k]], settings.level, independent)
        for k in sorted({k for k in top if 0 < k < len(rows)} | {len(rows)})
    ]
    data = digest(np.array(sorted(digests)))
    signature = Signature(
        "calibrate groups", {**settings.to_dict(), "top": list(top)}, settings.seed, data
    )
    return Groups(rows, averages, signature)


def average(
    rows: Sequence[Group], known: Sequence[Evidence], level: float, independent: bool
) -> Average:
    """The average over groups, from their errors and the evidence behind them."""
    together = Evidence.mean(known, independent=independent)
    low, high = score_limits(together, level)
    rms = Estimate(
        value=together.error.observed**0.5,
        low=low,
        high=high,
        level=level,
        method="score",
        n=float(sum(row.n for row in rows)),
        debiased=together.error.debiased,
    )
    return Average(len(rows), float(np.mean([row.calibration_error.value for row in rows])), rms)
