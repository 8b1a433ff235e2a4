"""A table that every format can hold, and reading both ways at once: what tests of tables share."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gnomon import tables
from gnomon.errors import InputError

SUFFIXES = ["csv", "tsv", "tab", "parquet", "pq", "jsonl", "ndjson", "npz"]
ZIPPED = ["csv.gz", "tsv.gz", "jsonl.gz"]
FORMATS = ["csv", "tsv", "parquet", "jsonl", "npz"]

# Ten rows of every type that every format can hold.
FRAME = pl.DataFrame(
    {
        "probability": np.linspace(0, 1, 10) ** 3 + 1e-17,
        "label": np.arange(10) % 2,
        "kept": np.arange(10) % 3 == 0,
        "the name": [f'Straße "{i}", 東京' for i in range(10)],
    }
)


def file(path: Path, content: str | bytes) -> Path:
    """Writes a file as it is given."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(
    source: str | Path, columns: Sequence[str] | None = None, format: str | None = None
) -> InputError:
    """The error that both ways of reading give, which must be one line and the same."""
    with pytest.raises(InputError) as whole:
        tables.read(source, columns, format=format)
    with pytest.raises(InputError) as batches:
        list(tables.read_batches(source, columns, format=format))
    assert str(whole.value) == str(batches.value)
    assert "\n" not in str(whole.value)
    return whole.value


def same(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Equal names, types and values, with NaN equal to itself."""
    return left.schema == right.schema and left.equals(right)


def in_batches(
    source: str | Path, columns: Sequence[str] | None = None, rows: int = 3
) -> pl.DataFrame:
    """The whole table, read `rows` rows at a time."""
    batches = list(tables.read_batches(source, columns, rows=rows))
    assert all(batch.height == rows for batch in batches[:-1])
    assert 1 <= batches[-1].height <= rows
    return pl.concat(batches)
