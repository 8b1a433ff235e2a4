"""Calibration group by group (tag by tag, class by class), and the average over groups."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gnomon.calibration.analyse import Progress, Settings, estimate_error, fingerprint
from gnomon.calibration.noise import label_noise
from gnomon.calibration.ordered import Ordered, order
from gnomon.calibration.pairs import as_groups, as_pairs
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
class Groups:
    """All groups, those with most positive labels first, and averages over the first k.

    Keys of `averages` are k; the last is the number of groups.
    """

    rows: list[Group]
    averages: dict[int, Estimate]
    signature: Signature

    def to_dict(self) -> dict[str, JSON]:
        """The rows and averages, ready for JSON."""
        return {
            "groups": [row.to_dict() for row in self.rows],
            "averages": [{"k": k, **each.to_dict()} for k, each in self.averages.items()],
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
        for k, mean in self.averages.items():
            which = f"all {k} groups" if k == len(self.rows) else f"the {k} most frequent"
            lines.append(
                f"mean over {which}: {mean.value:.4f}, debiased {mean.debiased:.4f},"
                f" {100 * mean.level:.4g} % interval {mean.low:.4f} to {mean.high:.4f}"
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
    pairs = as_pairs(probability, label, weight)
    names = as_groups(group, len(np.asarray(probability)))
    if weight is not None:
        names = names[np.asarray(weight, np.float64) > 0]  # as the pairs were
    values, code = np.unique(names, return_inverse=True)
    ascending = np.argsort(code, kind="stable")
    cuts = np.searchsorted(code[ascending], np.arange(1, len(values)))
    parts = np.split(ascending, cuts)
    ordered = (
        (str(name), order(pairs.take(rows))) for name, rows in zip(values, parts, strict=True)
    )
    return analyse_groups(ordered, settings, top=top, progress=progress, total=len(values))


def analyse_groups(
    groups: Iterable[tuple[str, Ordered]],
    settings: Settings | None = None,
    *,
    top: Sequence[int] = TOP,
    progress: Progress | None = None,
    total: int = 0,
) -> Groups:
    """The calibration of groups whose predictions are already in order."""
    settings = settings or Settings()
    rows, digests = [], []
    for name, ordered in groups:
        bins, size = settings.bins(ordered)
        error = estimate_error(ordered, bins, label_noise(bins), settings, size)
        rows.append(Group(name, ordered.mass, float(bins.n @ bins.p), error))
        digests.append(f"{name}={fingerprint(ordered)}")
        if progress:
            progress(len(rows), total)
    rows.sort(key=lambda row: (-row.positives, -row.n, row.name))
    sizes = sorted({k for k in top if 0 < k < len(rows)} | {len(rows)})
    data = np.array(sorted(digests))
    return Groups(
        rows,
        {k: average([row.calibration_error for row in rows[:k]]) for k in sizes},
        Signature("calibrate groups", settings.to_dict(), settings.seed, digest(data)),
    )


def average(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates, its interval recovered from theirs.

    Each limit's distance from the (debiased) estimate stands for a standard error on its side;
    the squares of those add up. Zou & Donner (2008), the method of variance estimates recovery.
    """
    if not estimates:
        raise InputError("groups", "there are none", "give at least one group")
    k = len(estimates)
    centre = np.array([e.value if e.debiased is None else e.debiased for e in estimates])
    below = centre - np.minimum([e.low for e in estimates], centre)
    above = np.maximum([e.high for e in estimates], centre) - centre
    mean = float(centre.mean())
    return Estimate(
        value=float(np.mean([e.value for e in estimates])),
        low=max(0.0, mean - float(np.sqrt(np.sum(below**2))) / k),
        high=mean + float(np.sqrt(np.sum(above**2))) / k,
        level=estimates[0].level,
        method=estimates[0].method,
        n=float(sum(e.n for e in estimates)),
        debiased=mean,
    )
