"""Tables in and out: CSV, TSV, Parquet, JSONL and NPZ, with the columns checked by name.

Nothing is guessed silently: a damaged file, a ragged row or a missing column is an `InputError`
that says where, and a blank cell stays null for the caller to report by its row. Text is typed only
when the whole column has been seen, so that `read` and `read_batches` agree.

- `formats`: which format a file has; `source`: a table as a file, whatever it came from.
- `text`: CSV, TSV and JSONL as columns of text; `kinds`: what such a column is taken for.
- `binary`: Parquet and NPZ.
- `writing`: every format, and any file, written whole or not at all.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import InputError
from gnomon.tables.binary import npz_frame, npz_size, parquet_frames, parquet_size
from gnomon.tables.formats import is_stream
from gnomon.tables.source import Table, opened
from gnomon.tables.text import text_frames, text_size
from gnomon.tables.writing import replacing, write, write_bytes, write_text

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read", "read_batches", "replacing", "size", "write", "write_bytes", "write_text"]


def read(
    source: str | Path, columns: Sequence[str] | None = None, *, format: str | None = None
) -> "pl.DataFrame":
    """Reads a whole table, or the named columns of it, in the order named.

    `source` is a path, whose suffix tells the format, or "-" for standard input, whose first bytes
    do; `format` ("csv", "tsv", "parquet", "jsonl", "npz") overrules both. Text may be gzipped.
    A cell of a TSV file cannot hold a tab or a line end, and a quotation mark in it is just that.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/scores.csv", "probability;label\\n0.25;1\\n1e-3;0\\n")
    ...     read(f"{folder}/scores.csv", ["probability"])["probability"].to_list()
    [0.25, 0.001]
    """
    import polars as pl

    with opened(source, format) as table:
        return pl.concat(list(_frames(table, columns, rows=None)), rechunk=True)


def read_batches(
    source: str | Path,
    columns: Sequence[str] | None = None,
    *,
    rows: int = 1_000_000,
    format: str | None = None,
) -> Iterator["pl.DataFrame"]:
    """The rows of `read`, in order, `rows` (1 or more) at a time and in bounded memory.

    Text is gone through twice, first for the types; standard input waits on the disk meanwhile.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/scores.csv", "p\\n1\\n0\\n0.5\\n")
    ...     [batch["p"].to_list() for batch in read_batches(f"{folder}/scores.csv", rows=2)]
    [[1.0, 0.0], [0.5]]
    """
    import polars as pl

    if rows < 1:
        raise InputError("rows", f"{rows} rows a batch", "give 1 or more")
    with opened(source, format) as table:
        waiting: list[pl.DataFrame] = []
        for frame in _frames(table, columns, rows):
            waiting.append(frame)
            if sum(part.height for part in waiting) >= rows:
                joined = pl.concat(waiting)
                for start in range(0, joined.height - rows + 1, rows):
                    yield joined[start : start + rows]
                waiting = [joined[joined.height - joined.height % rows :]]
        if (last := pl.concat(waiting)).height:
            yield last


def size(
    source: str | Path, columns: Sequence[str] | None = None, *, format: str | None = None
) -> int | None:
    """About how many bytes the named columns take in memory; None for standard input or a pipe.

    Text is taken to need its own length, whatever the columns, and four times that if gzipped.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/scores.csv", "p\\n0.5\\n")
    ...     size(f"{folder}/scores.csv")
    6
    """
    if is_stream(source):
        return None
    with opened(source, format) as table:
        if table.format == "parquet":
            return parquet_size(table, columns)
        if table.format == "npz":
            return npz_size(table, columns)
        return text_size(table)


def _frames(
    table: Table, columns: Sequence[str] | None, rows: int | None
) -> Iterator["pl.DataFrame"]:
    """The table in pieces of any length; `rows` is None if all of them are wanted at once."""
    if columns is not None and not columns:
        raise InputError("columns", "none is named", "name one or more, or give None for all")
    if table.format == "parquet":
        yield from parquet_frames(table, columns, rows or 1_000_000)
    elif table.format == "npz":
        yield npz_frame(table, columns)
    else:
        yield from text_frames(table, columns, twice=rows is not None)
