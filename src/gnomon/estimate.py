"""What every number a user sees is made of: an `Estimate`, and the `Signature` of its making."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


@dataclass(frozen=True)
class Estimate:
    """A number, the interval it is known to within, and how that interval was made.

    `n` is the number of observations behind it; `debiased` is the estimate with its known
    upward bias removed, where the plain value has one.

    >>> print(Estimate(0.0412, 0.0301, 0.0498, 0.95, "score", 2000))
    0.0412 [0.0301, 0.0498]
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: float
    debiased: float | None = None

    def __str__(self) -> str:
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"

    def to_dict(self) -> dict[str, JSON]:
        """The fields under their own names, ready for JSON."""
        fields: dict[str, JSON] = {"value": number(self.value)}
        if self.debiased is not None:
            fields["debiased"] = number(self.debiased)
        return fields | {
            "low": number(self.low),
            "high": number(self.high),
            "level": self.level,
            "method": self.method,
            "n": number(self.n),
        }


@dataclass(frozen=True)
class Signature:
    """Everything that must be equal for a result to come out the same.

    >>> print(Signature("calibrate", {"level": 0.95, "interval": "score"}, seed=0,
    ...                 data="5f1e8a", version="1.2"))
    calibrate|interval:score|level:0.95|seed:0|data:5f1e8a|gnomon:1.2
    """

    job: str
    settings: Mapping[str, JSON]
    seed: int | None
    data: str
    version: str = field(default_factory=lambda: _version())

    def __str__(self) -> str:
        settings = [f"{key}:{_plain(self.settings[key])}" for key in sorted(self.settings)]
        return "|".join(
            [self.job, *settings, f"seed:{_plain(self.seed)}", f"data:{self.data}",
             f"gnomon:{self.version}"]
        )  # fmt: skip

    def to_dict(self) -> dict[str, JSON]:
        """The fields under their own names, and `text`, the one-line form to cite."""
        return {
            "text": str(self),
            "job": self.job,
            "settings": dict(self.settings),
            "seed": self.seed,
            "data": self.data,
            "version": self.version,
        }


def digest(*arrays: NDArray[np.generic]) -> str:
    """Sixteen hexadecimal digits that change when any value, type or length changes."""
    hasher = hashlib.blake2b(digest_size=8)
    for array in arrays:
        hasher.update(f"{array.dtype.str}{array.shape}".encode())
        hasher.update(np.ascontiguousarray(array).data)
    return hasher.hexdigest()


def number(value: float) -> int | float | None:
    """A JSON number: whole where it is whole, null where it is not a number.

    >>> number(3.0), number(0.25), number(float("nan"))
    (3, 0.25, None)
    """
    value = float(value)
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _plain(value: JSON) -> str:
    return (
        "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


def _version() -> str:
    from gnomon import __version__

    return __version__
