"""Timing one thing against another in one run, because the machine is noisy."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


def best_of(work: Callable[[], object], seconds: float = 2.0, least: int = 3) -> float:
    """The shortest time of repeated runs, in seconds."""
    times: list[float] = []
    gc.collect()
    while len(times) < least or sum(times) < seconds:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
        if len(times) >= 200:
            break
    return min(times)


@dataclass(frozen=True)
class Row:
    """One measured job: its figure and, where there is one, the budget it must keep to."""

    job: str
    figure: float
    unit: str
    budget: float | None = None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        if self.budget is None:
            return ""
        kept = self.figure >= self.budget if self.at_least else self.figure <= self.budget
        return "kept" if kept else "MISSED"

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        budget = "" if self.budget is None else f"{sign} {self.budget:g}"
        return f"| {self.job} | {self.figure:.3g} {self.unit} | {budget} | {self.verdict} |"
