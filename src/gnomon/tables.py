"""Tables in and out: CSV, TSV, Parquet, JSONL and NPZ, with the columns checked by name.

Nothing is guessed silently: a damaged file, a ragged row or a missing column is an `InputError`
that says where, and a blank cell stays null for the caller to report by its row. Text is typed only
when the whole column has been seen, so that `read` and `read_batches` agree.
"""

import csv
import difflib
import gzip
import io
import json
import math
import os
import secrets
import shutil
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import GnomonError, InputError

if TYPE_CHECKING:
    import polars as pl

FORMATS = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "jsonl": "JSONL", "npz": "NPZ"}
SUFFIXES = {f".{name}": name for name in FORMATS} | {
    ".tab": "tsv",
    ".pq": "parquet",
    ".ndjson": "jsonl",
}
BLOCK = 1 << 24  # bytes of text parsed at a time, and so the longest row we take
BOM = b"\xef\xbb\xbf"

# What the cells of a column of text can be taken for. Bits, so that the kind of a column is the `&`
# of the kinds of its parts; a part without values can still become anything.
BOOLEAN, INTEGER, DIGITS, NUMBER = 1, 2, 4, 8
TEXT, ANYTHING = 0, 15


class _Source(NamedTuple):
    name: str
    handle: IO[bytes]
    format: str


class _Part(NamedTuple):
    """Some rows of a text file: the wanted columns as text, and the kind of every column seen."""

    frame: "pl.DataFrame"
    kinds: dict[str, int]


def read(
    source: str | Path, columns: Sequence[str] | None = None, *, format: str | None = None
) -> "pl.DataFrame":
    """Reads a whole table, or the named columns of it, in the order named.

    `source` is a path, whose suffix tells the format, or "-" for standard input, whose first bytes
    do; `format` ("csv", "tsv", "parquet", "jsonl", "npz") overrules both. Text may be gzipped.
    A cell of a TSV file cannot hold a tab or a line end, and a quotation mark inside is itself.

    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> write_text(path, "probability;label\\n0.25;1\\n1e-3;0\\n")
    >>> read(path, ["probability"])["probability"].to_list()
    [0.25, 0.001]
    """
    import polars as pl

    with _opened(source, format) as table:
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

    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> write_text(path, "p\\n1\\n0\\n0.5\\n")
    >>> [batch["p"].to_list() for batch in read_batches(path, rows=2)]
    [[1.0, 0.0], [0.5]]
    """
    import polars as pl

    if rows < 1:
        raise InputError("rows", f"{rows} rows a batch", "give 1 or more")
    with _opened(source, format) as table:
        waiting: list[pl.DataFrame] = []
        for frame in _frames(table, columns, rows):
            waiting.append(frame)
            if sum(part.height for part in waiting) >= rows:
                joined = pl.concat(waiting)
                for start in range(0, joined.height - rows + 1, rows):
                    yield joined[start : start + rows]
                waiting = [joined[joined.height - joined.height % rows :]]
        if waiting and (last := pl.concat(waiting)).height:
            yield last


def size(
    source: str | Path, columns: Sequence[str] | None = None, *, format: str | None = None
) -> int | None:
    """About how many bytes the named columns take in memory; None for standard input or a pipe.

    Text is taken to need its own length, unzipped, whatever the columns.

    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> write_text(path, "p\\n0.5\\n")
    >>> size(path)
    6
    """
    if _is_stream(source):
        return None
    with _opened(source, format) as table:
        if table.format == "parquet":
            return _parquet_size(table, columns)
        if table.format == "npz":
            with zipfile.ZipFile(table.handle) as archive:
                sizes = {m.filename.removesuffix(".npy"): m.file_size for m in archive.infolist()}
            return sum(sizes[name] for name in _wanted(columns, sizes, table.name))
        on_disk = table.handle.seek(0, os.SEEK_END)
        text = _unzipped(table.handle)
        if not isinstance(text, gzip.GzipFile):
            return on_disk
        return math.ceil(on_disk * len(text.read(BLOCK)) / table.handle.tell())


def write(frame: "pl.DataFrame", target: str | Path, *, format: str | None = None) -> None:
    """Writes a table, whole or not at all; "-" is standard output, as CSV unless `format` is given.

    What a format cannot hold is refused, never altered: NPZ has no nulls, TSV no line ends. JSONL
    gets NaN and Infinity as Python's json writes them.

    >>> import polars as pl
    >>> write(pl.DataFrame({"p": [0.25, None]}), "-", format="jsonl")
    {"p":0.25}
    {"p":null}
    """
    import polars as pl

    name = "standard output" if target == "-" else str(target)
    kind = _format_of(target, format) or "csv"
    _check_writable(frame, name, kind)
    try:
        with replacing(target) as handle:
            if name.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=handle, mtime=0) as zipped:
                    _write(frame, zipped, kind)
            else:
                _write(frame, handle, kind)
    except pl.exceptions.PolarsError as error:
        raise InputError(name, _first_line(error), "write Parquet instead") from None


def write_text(target: str | Path, text: str) -> None:
    """Writes text as UTF-8, whole or not at all.

    >>> write_text("-", "42\\n")
    42
    """
    write_bytes(target, text.encode())


def write_bytes(target: str | Path, data: bytes) -> None:
    """Writes bytes, whole or not at all.

    >>> write_bytes("-", b"42\\n")
    42
    """
    with replacing(target) as handle:
        handle.write(data)


@contextmanager
def replacing(target: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `target` only if the block ends well.

    >>> path = Path(tempfile.mkdtemp()) / "chart.svg"
    >>> with replacing(path) as handle:
    ...     size = handle.write(b"<svg/>")
    >>> path.read_text()
    '<svg/>'
    """
    path = Path(os.path.realpath(target))  # through a link, so that the link stays a link
    if target == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        # A stream cannot be taken back, nor a device be replaced: hold everything till the end.
        buffer = io.BytesIO()
        yield buffer
        if target == "-":
            sys.stdout.flush()
            sys.stdout.buffer.write(buffer.getbuffer())
            sys.stdout.buffer.flush()
        else:
            path.write_bytes(buffer.getbuffer())
        return
    part = path.with_name(f".gnomon-{secrets.token_hex(8)}")
    try:
        with part.open("xb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise InputError(str(target), problem, "name a file in a folder you may write to") from None
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def _opened(source: str | Path, format: str | None) -> Iterator[_Source]:
    """The source as a seekable file of known format; whatever fails becomes an `InputError`."""
    name = "standard input" if source == "-" else str(source)
    kind = format
    try:
        with _seekable(source) as handle:
            kind = _format_of(source, format)
            if handle.seek(0, os.SEEK_END) == 0:
                raise _empty(name)
            kind = kind or _sniffed(handle)
            yield _Source(name, handle, kind)
    except GnomonError:
        raise
    except BaseException as error:
        # A damaged file can make a decoder fail in any way, Polars even outside Exception; to the
        # person who has the file, all of them mean the same.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if isinstance(error, OSError) and error.errno:
            problem, remedy = f"cannot be read ({error.strerror})", "name a file you may read"
        elif isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
            problem = f"the compressed data are cut off or damaged ({_first_line(error)})"
            remedy = "copy or download the file again"
        else:
            problem = f"not a whole {FORMATS.get(kind or '', 'table')} file ({_first_line(error)})"
            remedy = "copy or write the file again, or name its format"
        raise InputError(name, problem, remedy) from None


@contextmanager
def _seekable(source: str | Path) -> Iterator[IO[bytes]]:
    if not _is_stream(source):
        with open(source, "rb") as handle:
            yield handle
        return
    with tempfile.SpooledTemporaryFile(max_size=4 * BLOCK) as spool:
        with suppress(AttributeError) if source == "-" else open(source, "rb") as pipe:
            shutil.copyfileobj(pipe or sys.stdin.buffer, spool)
        yield spool


def _is_stream(source: str | Path) -> bool:
    return source == "-" or Path(source).is_fifo()


def _format_of(path: str | Path, format: str | None) -> str | None:
    """The format given, or the one the path's suffix tells; None for a stream without a suffix."""
    if format is not None:
        if format not in FORMATS:
            known = ", ".join(FORMATS)
            raise InputError("format", f"{format!r} is not a format we know", f"give one of {known}")
        return format
    name = Path(path).name.lower()
    known = SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)
    if known and not (name.endswith(".gz") and known in ("parquet", "npz")):
        return known
    if _is_stream(path):
        return None
    raise InputError(
        str(path),
        "the suffix does not tell the format",
        f"use one of {', '.join(SUFFIXES)} (.gz after a text format), or name the format",
    )


def _sniffed(handle: IO[bytes]) -> str:
    handle.seek(0)
    magic = handle.read(4)
    if magic == b"PAR1":
        return "parquet"
    if magic[:2] == b"PK":
        return "npz"
    head = _unzipped(handle).read(1 << 16).removeprefix(BOM).lstrip()
    if head.startswith(b"{"):
        return "jsonl"
    return "tsv" if b"\t" in head.split(b"\n", 1)[0] else "csv"


def _unzipped(handle: IO[bytes]) -> IO[bytes] | gzip.GzipFile:
    handle.seek(0)
    zipped = handle.read(2) == b"\x1f\x8b"  # not by suffix: browsers unzip files and keep the name
    handle.seek(0)
    return gzip.GzipFile(fileobj=handle) if zipped else handle


def _wanted(columns: Sequence[str] | None, names: Collection[str], where: str) -> list[str]:
    """The columns to read, all of them by default, once it is sure that they are there."""
    for name in names:
        if list(names).count(name) > 1:
            raise InputError(where, f"more than one column is named {name!r}", "rename all but one")
    if columns is None:
        return list(names)
    for column in columns:
        if column not in names:
            there = ", ".join(map(repr, list(names)[:20]))
            there += f" and {len(names) - 20} more" if len(names) > 20 else ""
            close = difflib.get_close_matches(column, names, n=1)
            remedy = f"did you mean {close[0]!r}? " if close else ""
            raise InputError(where, f"no column {column!r}", f"{remedy}the columns are {there}")
    return list(dict.fromkeys(columns))
