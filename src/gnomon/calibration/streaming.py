"""Calibration of predictions that do not fit in memory, or that sit on several machines.

A `Stream` sorts predictions into buckets named by the leading bits of q (of 1 - q above one
half), so that buckets are narrow where predictions crowd, near 0 and near 1. It keeps a few sums
for each bucket in use, at most 126,980 of them, whatever the number of predictions; two streams
add up to the stream of all their predictions.
"""

import io
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.calibration.bins import Floats
from gnomon.calibration.ordered import Cells
from gnomon.calibration.pairs import Pairs, as_pairs
from gnomon.errors import InputError

DEPTH = 32  # the smallest bucket begins at 2**-32
BITS = 11  # buckets for each doubling: 2**11
SIDE = (DEPTH - 1) * 2**BITS + 2  # buckets on each side of one half
FORMAT = 1


@dataclass
class Stream:
    """A mergeable summary of predictions and labels, of bounded size.

    >>> stream = Stream.empty()
    >>> stream.update([0.1, 0.9], [0, 1])
    >>> stream.update([0.9, 0.9], [1, 0])
    >>> stream.cells().n
    array([1., 3.])
    """

    bucket: NDArray[np.int64]
    n: Floats
    y: Floats
    q: Floats
    q_square: Floats
    q_label: Floats
    low: Floats
    high: Floats
    log_loss: Floats

    @classmethod
    def empty(cls) -> "Stream":
        """A stream that has seen nothing."""
        n, y, q, q_square, q_label, low, high = np.empty((7, 0))
        return cls(np.empty(0, np.int64), n, y, q, q_square, q_label, low, high, np.zeros(1))

    def update(
        self, probability: ArrayLike, label: ArrayLike, weight: ArrayLike | None = None
    ) -> None:
        """Takes in more predictions with their labels."""
        self.merge(Stream.of(as_pairs(probability, label, weight)))

    @classmethod
    def of(cls, pairs: Pairs) -> "Stream":
        """The stream of checked pairs."""
        if pairs.weight is not None and not pairs.weight.all():
            pairs = pairs.take(pairs.weight > 0)
        q, y = pairs.q.astype(np.float64) + 0.0, pairs.y.astype(np.float64)
        n = np.ones_like(q) if pairs.weight is None else pairs.weight
        bucket, row = np.unique(bucket_of(q), return_inverse=True)
        low, high = np.full(len(bucket), 2.0), np.full(len(bucket), -1.0)
        np.minimum.at(low, row, q)
        np.maximum.at(high, row, q)
        total_n, total_y, total_q, q_square, q_label = (
            np.asarray(np.bincount(row, each), np.float64)
            for each in (n, n * y, n * q, n * q * q, n * q * y)
        )
        with np.errstate(divide="ignore"):
            loss = -float(np.sum(n * np.where(pairs.y == 1, np.log(q), np.log1p(-q))))
        return cls(
            bucket, total_n, total_y, total_q, q_square, q_label, low, high, np.array([loss])
        )

    def merge(self, other: "Stream") -> None:
        """Takes in all that another stream has seen."""
        bucket, row = np.unique(np.concatenate([self.bucket, other.bucket]), return_inverse=True)
        for name in ("n", "y", "q", "q_square", "q_label"):
            both = np.concatenate([getattr(self, name), getattr(other, name)])
            setattr(self, name, np.bincount(row, both, len(bucket)))
        low, high = np.full(len(bucket), 2.0), np.full(len(bucket), -1.0)
        np.minimum.at(low, row, np.concatenate([self.low, other.low]))
        np.maximum.at(high, row, np.concatenate([self.high, other.high]))
        self.bucket, self.low, self.high = bucket, low, high
        self.log_loss = self.log_loss + other.log_loss

    def cells(self) -> Cells:
        """The buckets in use, in ascending order of prediction."""
        if not len(self.bucket):
            raise InputError("stream", "no rows", "give at least one prediction with its label")
        return Cells(
            self.n, self.y, self.q, self.q_square, self.q_label, self.low, self.high,
            total_log_loss=float(self.log_loss[0]),
        )  # fmt: skip

    def to_bytes(self) -> bytes:
        """The stream as an NPZ file, to be merged elsewhere."""
        buffer = io.BytesIO()
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        np.savez_compressed(buffer, gnomon_stream=np.array(FORMAT), **columns)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, where: str = "stream") -> "Stream":
        """Reads what `to_bytes` wrote."""
        wrong = InputError(where, "not a stream saved by Gnomon, or cut short", "save it again")
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                version = int(file["gnomon_stream"])
                columns = {field.name: file[field.name] for field in fields(cls)}
        except Exception as error:  # zip, zlib and numpy each have errors of their own
            raise wrong from error
        if version > FORMAT:
            raise InputError(where, f"saved by a newer Gnomon (format {version})", "upgrade Gnomon")
        if not _sound(columns):
            raise wrong
        return cls(**columns)


def _sound(columns: dict[str, NDArray[Any]]) -> bool:
    """Whether columns read from a file could have been written by a stream."""
    bucket, loss = columns["bucket"], columns["log_loss"]
    sums = [column for name, column in columns.items() if name not in ("bucket", "log_loss")]
    if bucket.ndim != 1 or bucket.dtype != np.int64 or loss.shape != (1,) or np.isnan(loss).any():
        return False
    if any(column.dtype != np.float64 or column.shape != bucket.shape for column in sums):
        return False
    n, y, q, q_square, q_label, low, high = sums
    slack = 1e-9 * n
    return bool(
        all(np.isfinite(column).all() for column in sums)
        and (np.diff(bucket) > 0).all()
        and (n > 0).all()
        and ((low >= 0) & (low <= high) & (high <= 1)).all()
        and (bucket_of(low) == bucket).all()
        and (bucket_of(high) == bucket).all()
        and ((y >= 0) & (y <= n + slack)).all()
        and ((n * low - slack <= q) & (q <= n * high + slack)).all()
        and ((n * low**2 - slack <= q_square) & (q_square <= n * high**2 + slack)).all()
        and ((y * low - slack <= q_label) & (q_label <= y * high + slack)).all()
    )


def bucket_of(q: Floats) -> NDArray[np.int64]:
    """The number of each prediction's bucket; numbers ascend with predictions."""
    upper = q > 0.5
    distance = np.where(upper, 1.0 - q, q)
    first = np.float64(2.0**-DEPTH).view(np.int64) >> (52 - BITS)
    rank = np.maximum((distance.view(np.int64) >> (52 - BITS)) - first + 1, 0)
    return np.asarray(np.where(upper, 2 * SIDE - 1 - rank, rank), np.int64)


def error_bound(cells: Cells, bin_size: float) -> float:
    """How far the RMS error of bins cut from buckets may be from that of the predictions.

    A cut through a bucket shares its labels and predictions pro rata; how far that may be
    wrong follows from the bucket's own sums. Zero where every cut bucket holds one value.
    """
    count = max(1, int(cells.mass / bin_size + 1e-9))
    cuts = bin_size * np.arange(1.0, count)
    below = np.concatenate([[0.0], np.cumsum(cells.n)])
    cell = np.minimum(np.searchsorted(below, cuts, side="right") - 1, len(cells) - 1)
    n, y, width = cells.n[cell], cells.y[cell], (cells.high - cells.low)[cell]
    share = np.clip(cuts - below[cell], 0.0, n)
    shared = share * y / n
    labels = np.maximum(shared - np.maximum(0.0, y - (n - share)), np.minimum(share, y) - shared)
    stray = np.where(width > 0, labels + width * share * (n - share) / n, 0.0)
    strays = np.concatenate([[0.0], stray]) + np.concatenate([stray, [0.0]])
    mass = np.diff(cuts, prepend=0.0, append=cells.mass)
    return float(np.sqrt(np.sum(strays**2 / mass) / cells.mass))
