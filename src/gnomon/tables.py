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
import os
import secrets
import shutil
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np
from numpy.lib.npyio import NpzFile

from gnomon.errors import GnomonError, InputError

if TYPE_CHECKING:
    import polars as pl

FORMATS = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "jsonl": "JSONL", "npz": "NPZ"}
SYNONYMS = {"tab": "tsv", "pq": "parquet", "ndjson": "jsonl"}
BLOCK = 1 << 22  # bytes of text parsed at a time, and so the longest row we take
BOM = b"\xef\xbb\xbf"

# What all cells of a column of text can be taken for. Bits, so that the kind of a column is the `&`
# of the kinds of its parts: integers and fractions are numbers, numbers and words are text. LONG is
# for integers beyond 64 bits, kept as text because rounding would make two ids one.
ANYTHING, INTEGER, LONG, NUMBER, BOOLEAN, TEXT = 0b1111, 0b1110, 0b1100, 0b1000, 0b0001, 0


class _Table(NamedTuple):
    name: str
    path: str | Path
    format: str


class _Part(NamedTuple):
    """Some rows of a text file: the wanted columns as text, and the kind of every column seen.

    The series have no names of their own: Polars would take one like "*" for a pattern.
    """

    rows: int
    cells: dict[str, "pl.Series"]
    kinds: dict[str, int]


def read(
    source: str | Path, columns: Sequence[str] | None = None, *, format: str | None = None
) -> "pl.DataFrame":
    """Reads a whole table, or the named columns of it, in the order named.

    `source` is a path, whose suffix tells the format, or "-" for standard input, whose first bytes
    do; `format` ("csv", "tsv", "parquet", "jsonl", "npz") overrules both. Text may be gzipped.
    A cell of a TSV file cannot hold a tab or a line end, and a quotation mark in it is just that.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/scores.csv", "probability;label\\n0.25;1\\n1e-3;0\\n")
    ...     read(f"{folder}/scores.csv", ["probability"])["probability"].to_list()
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

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/scores.csv", "p\\n1\\n0\\n0.5\\n")
    ...     [batch["p"].to_list() for batch in read_batches(f"{folder}/scores.csv", rows=2)]
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
        if (last := pl.concat(waiting)).height:
            yield last


def size(
    source: str | Path, columns: Sequence[str] | None = None, *, format: str | None = None
) -> int | None:
    """About how many bytes the named columns take in memory; None for standard input or a pipe.

    Text is taken to need its own length, whatever the columns, and four times that if gzipped.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/scores.csv", "p\\n0.5\\n")
    ...     size(f"{folder}/scores.csv")
    6
    """
    if _is_stream(source):
        return None
    with _opened(source, format) as table:
        if table.format == "parquet":
            return _parquet_size(table, columns)
        if table.format == "npz":
            with zipfile.ZipFile(table.path) as archive:
                sizes = {m.filename.removesuffix(".npy"): m.file_size for m in archive.infolist()}
            return sum(sizes[name] for name in _wanted(columns, sizes, table.name))
        return os.path.getsize(table.path) * (4 if _is_zipped(table.path) else 1)


def write(frame: "pl.DataFrame", target: str | Path, *, format: str | None = None) -> None:
    """Writes a table, whole or not at all; "-" is standard output, as CSV unless `format` is given.

    What a format cannot hold is refused, never altered: NPZ has no nulls, TSV no line ends. JSONL
    gets NaN and Infinity as Python's json writes them.

    >>> import polars as pl
    >>> write(pl.DataFrame({"p": [0.25, None]}), "-", format="jsonl")
    {"p": 0.25}
    {"p": null}
    """
    name = "standard output" if target == "-" else str(target)
    kind = _format_of(target, format) or "csv"
    _check_writable(frame, name, kind)
    with replacing(target) as handle:
        if name.lower().endswith(".gz"):
            # No name and no time: equal tables give equal files.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=handle, mtime=0) as zipped:
                _write(frame, cast(IO[bytes], zipped), kind)
        else:
            _write(frame, handle, kind)


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

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/chart.svg") as handle:
    ...         length = handle.write(b"<svg/>")
    ...     Path(f"{folder}/chart.svg").read_text()
    '<svg/>'
    """
    path = os.path.realpath(target)  # through a link, so that the link stays a link
    ordinary = not os.path.exists(path) or os.path.isfile(path) or os.path.isdir(path)
    if target == "-" or not ordinary:
        # A stream cannot be taken back, nor a device be replaced: hold everything till the end.
        buffer = io.BytesIO()
        yield buffer
        if target != "-":
            Path(path).write_bytes(buffer.getbuffer())
        elif hasattr(sys.stdout, "buffer"):
            sys.stdout.flush()
            sys.stdout.buffer.write(buffer.getbuffer())
            sys.stdout.buffer.flush()
        else:  # a notebook's output takes text only
            sys.stdout.write(buffer.getvalue().decode())
        return
    part = os.path.join(os.path.dirname(path), f".gnomon-{secrets.token_hex(8)}")
    try:
        with open(part, "xb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        if os.path.exists(path):
            shutil.copymode(path, part)
        os.replace(part, path)
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise InputError(str(target), problem, "name a file in a folder you may write to") from None
    finally:
        with suppress(OSError):
            os.unlink(part)


@contextmanager
def _opened(source: str | Path, format: str | None) -> Iterator[_Table]:
    """The source as a file of known format; whatever goes wrong becomes an `InputError`."""
    name = "standard input" if source == "-" else str(source)
    kind = format
    try:
        with _on_disk(source) as path, open(path, "rb") as handle:
            kind = _format_of(source, format)
            if os.fstat(handle.fileno()).st_size == 0:
                raise _empty(name)
            kind = kind or _sniffed(path)
            yield _Table(name, path, kind)
    except GnomonError:
        raise
    except BaseException as error:
        # A damaged file can make a decoder fail in any way, Polars even outside Exception; to the
        # person who has the file they all mean the same.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        message = (str(error).strip() or type(error).__name__).splitlines()[0]
        if isinstance(error, OSError) and error.filename is not None:
            problem, remedy = f"cannot be read ({error.strerror})", "name a file you may read"
        elif isinstance(error, EOFError | zlib.error | gzip.BadGzipFile) and kind != "npz":
            problem, remedy = f"the gzip data are cut off or damaged ({message})", "copy it again"
        else:
            problem = f"not a whole {FORMATS.get(kind or '', 'table')} file ({message})"
            remedy = "copy or write it again, or name its format"
        raise InputError(name, problem, remedy) from None


@contextmanager
def _on_disk(source: str | Path) -> Iterator[str | Path]:
    """The path of the source; a stream is copied, for it may have to be read twice."""
    if not _is_stream(source):
        yield source
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "stream")
        standard = source == "-"
        with (
            nullcontext(sys.stdin.buffer) if standard else open(source, "rb") as stream,
            open(path, "wb") as copy,
        ):
            shutil.copyfileobj(stream, copy)
        yield path


def _is_stream(source: str | Path) -> bool:
    return source == "-" or (os.path.exists(source) and stat.S_ISFIFO(os.stat(source).st_mode))


def _format_of(path: str | Path, format: str | None) -> str | None:
    """The format given, or the one that the suffix tells; None for a stream without either."""
    if format in FORMATS:
        return format
    if format is not None:
        known = f"give one of {', '.join(FORMATS)}"
        raise InputError("format", f"{format!r} is not a format we know", known)
    name = Path(path).name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix[1:]
    kind = SYNONYMS.get(suffix, suffix)
    if kind in FORMATS and not (name.endswith(".gz") and kind in ("parquet", "npz")):
        return kind
    if _is_stream(path):
        return None
    known = ", ".join(f".{suffix}" for suffix in chain(FORMATS, SYNONYMS))
    remedy = f"use {known} (and .gz after a text format), or name the format"
    raise InputError(str(path), "the suffix does not tell the format", remedy)


def _sniffed(path: str | Path) -> str:
    with open(path, "rb") as handle:
        magic = handle.read(4)
    if magic == b"PAR1" or magic[:2] == b"PK":
        return "parquet" if magic == b"PAR1" else "npz"
    with _text(path) as text:
        head = text.read(1 << 16).removeprefix(BOM).lstrip()
    if head.startswith(b"{"):
        return "jsonl"
    return "tsv" if b"\t" in head.split(b"\n", 1)[0] else "csv"


@contextmanager
def _text(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a text file, unzipped if need be."""
    with open(path, "rb") as handle:
        if _is_zipped(path):
            with gzip.GzipFile(fileobj=handle) as text:
                yield cast(IO[bytes], text)
        else:
            yield handle


def _is_zipped(path: str | Path) -> bool:
    """Whether the first bytes say gzip; the name does not tell, for browsers unzip and keep .gz."""
    with open(path, "rb") as handle:
        return handle.read(2) == b"\x1f\x8b"


def _wanted(columns: Sequence[str] | None, names: Collection[str], where: str) -> list[str]:
    """The columns to read, all of them by default, once it is sure that they are there."""
    names = list(names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(where, f"more than one column is named {twice!r}", "rename all but one")
    for column in columns or ():
        if column not in names:
            close = difflib.get_close_matches(column, names, n=1)
            remedy = f"did you mean {close[0]!r}? " if close else ""
            remedy += f"the columns are {', '.join(map(repr, names[:20]))}"
            remedy += f" and {len(names) - 20} more" if len(names) > 20 else ""
            raise InputError(where, f"no column {column!r}", remedy)
    return names if columns is None else list(dict.fromkeys(columns))


def _frames(
    table: _Table, columns: Sequence[str] | None, rows: int | None
) -> Iterator["pl.DataFrame"]:
    """The table in pieces of any length; without `rows` in one pass, which holds all the text."""
    import polars as pl

    if columns is not None and not columns:
        raise InputError("columns", "none is named", "name one or more, or give None for all")
    if table.format == "parquet":
        yield from _parquet_frames(table, columns, rows or 1_000_000)
    elif table.format == "npz":
        yield _npz_frame(table, columns)
    else:
        read_parts = _jsonl_parts if table.format == "jsonl" else _csv_parts
        parts: Iterable[_Part] = read_parts(table, columns)
        if rows is None:
            parts = list(parts)
        total, kinds = 0, dict[str, int]()
        for part in parts:
            total += part.rows
            kinds |= {name: kinds.get(name, ANYTHING) & kind for name, kind in part.kinds.items()}
        _check_rows(total if kinds else 0, table.name)  # {} is not a row
        names = _wanted(columns, kinds, table.name)
        for part in read_parts(table, columns) if rows is not None else parts:
            blank = pl.repeat(None, part.rows, dtype=pl.String, eager=True)
            yield pl.DataFrame(
                {name: _typed(part.cells.get(name, blank), kinds[name]) for name in names}
            )


def _kind(cells: "pl.Series") -> int:
    """What all cells of a column of text can be taken for."""
    import polars as pl

    cells = cells.filter(cells != "")
    if cells.is_empty():
        return ANYTHING
    if cells.is_in(["true", "false"]).all():
        return BOOLEAN
    if cells.cast(pl.Float64, strict=False).null_count():
        return TEXT
    if cells.str.contains(r"^[+-]?0[0-9]").any():
        return TEXT  # 007 is a name, not 7
    if not cells.cast(pl.Int64, strict=False).null_count():
        return INTEGER
    return LONG if cells.str.contains(r"^[+-]?[0-9]+$").all() else NUMBER


def _typed(cells: "pl.Series", kind: int) -> "pl.Series":
    """A column of text as what it can be taken for."""
    import polars as pl

    if kind not in (BOOLEAN, INTEGER, NUMBER):
        return cells
    cells = cells.set(cells == "", None)  # a quoted "" among numbers is a blank cell too
    if kind == BOOLEAN:
        return cells == "true"
    return cells.cast(pl.Int64 if kind == INTEGER else pl.Float64)


def _csv_parts(table: _Table, columns: Sequence[str] | None) -> Iterator[_Part]:
    import polars as pl
    import pyarrow as pa
    import pyarrow.csv as pc

    quoted = table.format == "csv"
    with _text(table.path) as text:
        _, delimiter, header = next(_records(table, text), (0, "", []))
        if not header:
            raise _empty(table.name)
        if not quoted:
            header = _unquoted(pl.Series(header)).to_list()
        names = _wanted(columns, header, table.name)
        sound = not quoted or _well_quoted(text, delimiter)
    if not sound:
        _check_csv(table, len(header))
    with _text(table.path) as text:
        next(_records(table, text))
        parse = pc.ParseOptions(
            delimiter=delimiter,
            quote_char='"' if quoted else False,
            newlines_in_values=quoted,
            ignore_empty_lines=len(header) > 1,  # in a single column a blank line is a null
        )
        convert = pc.ConvertOptions(
            include_columns=names,
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        try:
            how = pc.ReadOptions(block_size=BLOCK, column_names=header)
            for batch in pc.open_csv(text, how, parse, convert):
                cells = {name: pl.Series(batch[name]) for name in names}
                if not quoted:
                    cells = {name: _unquoted(column) for name, column in cells.items()}
                kinds = {name: _kind(column) for name, column in cells.items()}
                yield _Part(batch.num_rows, cells, dict.fromkeys(header, ANYTHING) | kinds)
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):  # nothing comes after the header
                return
            if "straddling" in str(error):
                problem, remedy = f"a row is longer than {BLOCK:,} bytes", "write Parquet or JSONL"
                raise InputError(table.name, problem, remedy) from None
            _check_csv(table, len(header))
            raise


def _well_quoted(text: IO[bytes], delimiter: str) -> bool:
    """Whether every quotation mark is at an end of its cell, or doubled, and none is left open.

    The CSV parser takes all up to the next mark for one cell, and so might lose rows silently.
    """
    ends = np.zeros(256, bool)
    ends[list(f'{delimiter}\r\n"'.encode())] = True
    last, inside = b"\n", np.False_
    while block := text.read(BLOCK):
        codes = np.frombuffer(last + block, np.uint8)
        mark, end = codes == ord('"'), ends[codes]
        if mark.any():
            within = np.append(inside, inside ^ np.logical_xor.accumulate(mark[1:]))
            opened, closed = mark[1:] & ~end[:-1], mark[:-1] & ~end[1:]
            if (~within[:-1] & (opened | closed)).any():
                return False
            inside = within[-1]
        last = block[-1:]
    return not inside


def _unquoted(cells: "pl.Series") -> "pl.Series":
    """TSV cells without the quotation marks around them, where there are two."""
    inside = cells.str.slice(1).str.head(-1).str.replace_all('""', '"', literal=True)
    return inside.zip_with(cells.str.contains('^".*"$'), cells)


def _check_csv(table: _Table, width: int) -> None:
    """Refuses the first bad row: slowly, but knowing its line."""
    remedy = "put quotation marks around a cell that holds a delimiter"
    if table.format == "tsv":
        remedy = "take tabs and line ends out of the cells, or save the file as CSV"
    limit = csv.field_size_limit(BLOCK)
    try:
        with _text(table.path) as text:
            for line, _, cells in _records(table, text):
                if len(cells) != width:
                    problem = f"the header has {width} cells, this row {len(cells)}"
                    raise InputError(f"{table.name}, line {line}", problem, remedy)
    finally:
        csv.field_size_limit(limit)


def _records(table: _Table, text: IO[bytes]) -> Iterator[tuple[int, str, list[str]]]:
    """Rows as Python's csv module sees them: the line each starts on, the delimiter, the cells."""
    numbered = enumerate(iter(lambda: text.readline(BLOCK), b""), 1)
    lines = (_decoded(table, number, line) for number, line in numbered)
    head = [next(lines, "")]
    while head[-1] and not head[-1].strip():
        head.append(next(lines, ""))
    semicolons = ";" in head[-1] and "," not in head[-1]
    delimiter = "\t" if table.format == "tsv" else ";" if semicolons else ","
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if table.format == "csv" else csv.QUOTE_NONE
    reader = csv.reader(chain(head, lines), delimiter=delimiter, quoting=quoting, strict=True)
    start = 1
    try:
        for cells in reader:
            if cells:
                yield start, delimiter, cells
            start = reader.line_num + 1
    except csv.Error as error:
        where, problem = f"{table.name}, line {start}", f"the row cannot be split ({error})"
        raise InputError(where, problem, "close each quotation mark; double it in cells") from None


def _decoded(table: _Table, number: int, line: bytes) -> str:
    try:
        return (line.removeprefix(BOM) if number == 1 else line).decode()
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} of the line is not UTF-8"
        remedy = "save the file as UTF-8"
        raise InputError(f"{table.name}, line {number}", problem, remedy) from None


def _jsonl_parts(table: _Table, columns: Sequence[str] | None) -> Iterator[_Part]:
    import polars as pl

    with _text(table.path) as handle:
        before = 0
        while lines := handle.readlines(BLOCK):
            rows, seen = [], dict[str, object]()
            for number, line in enumerate(lines, before + 1):
                if text := _decoded(table, number, line).strip():
                    rows.append(_json_row(table, number, text))
                    seen.update(rows[-1])
            before += len(lines)
            kinds, cells = dict.fromkeys(seen, ANYTHING), dict[str, pl.Series]()
            for name in seen if columns is None else seen.keys() & set(columns):
                cells[name], kinds[name] = _json_column([row.get(name) for row in rows])
            yield _Part(len(rows), cells, kinds)


# A number stays the bytes it is written with until the type of its column is known.
_JSON = json.JSONDecoder(parse_float=str.encode, parse_int=str.encode, parse_constant=str.encode)


def _json_row(table: _Table, number: int, text: str) -> dict[str, object]:
    try:
        row = _JSON.decode(text)
        if "\\u" in text:  # may spell half a character, which is not text
            json.dumps(row, ensure_ascii=False, default=bytes.decode).encode()
    except json.JSONDecodeError as error:
        problem = f"not JSON at column {error.colno} ({error.msg})"
    except (UnicodeError, RecursionError) as error:
        problem = f"not JSON we can take ({error})"
    else:
        if isinstance(row, dict):
            return row
        problem = "not an object"
    raise InputError(f"{table.name}, line {number}", problem, "give one {...} a line")


def _json_column(values: list[object]) -> tuple["pl.Series", int]:
    """A column as text, with its kind; numbers are bytes here, and text is never a number."""
    import polars as pl

    types = set(map(type, values)) - {type(None)}
    if types == {bytes}:
        numbers = pl.Series(values, dtype=pl.Binary).cast(pl.String)
        return numbers, _kind(numbers)
    if types - {str}:
        values = [
            json.dumps(value, ensure_ascii=False, default=json.loads)
            if isinstance(value, bool | list | dict)
            else value.decode()
            if isinstance(value, bytes)
            else value
            for value in values
        ]
    kind = BOOLEAN if types == {bool} else TEXT if types else ANYTHING
    return pl.Series(values, dtype=pl.String), kind


def _parquet_frames(
    table: _Table, columns: Sequence[str] | None, rows: int
) -> Iterator["pl.DataFrame"]:
    import polars as pl
    import pyarrow.parquet as pq

    with pq.ParquetFile(table.path, page_checksum_verification=True) as file:
        names = _wanted(columns, file.schema_arrow.names, table.name)
        _check_rows(file.metadata.num_rows, table.name)
        for batch in file.iter_batches(batch_size=rows, columns=names):
            batch.validate(full=True)  # Polars trusts text to be UTF-8
            yield pl.DataFrame(batch)[names]


def _parquet_size(table: _Table, columns: Sequence[str] | None) -> int:
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(table.path)
    names = set(_wanted(columns, metadata.schema.to_arrow_schema().names, table.name))
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    widths = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8}
    return sum(
        # Repeated values take less room in the file than in memory.
        max(chunk.total_uncompressed_size, chunk.num_values * widths.get(chunk.physical_type, 16))
        for group in groups
        for chunk in map(group.column, range(group.num_columns))
        if chunk.path_in_schema in names or chunk.path_in_schema.split(".")[0] in names
    )


def _npz_frame(table: _Table, columns: Sequence[str] | None) -> "pl.DataFrame":
    import polars as pl

    arrays = {}
    with open(table.path, "rb") as handle, NpzFile(handle, allow_pickle=False) as archive:
        for name in _wanted(columns, archive.files, table.name):
            try:
                array = archive[name]
            except ValueError as error:
                if "allow_pickle" not in str(error):
                    raise
                array = np.empty(0, object)
            remedy = "save numbers or text, one value a row"
            where = f"{table.name}, array {name!r}"
            if not isinstance(array, np.ndarray) or array.ndim != 1:
                raise InputError(where, f"its shape is {np.shape(array)}", remedy)
            if array.dtype.kind not in "biufUSMm" or array.dtype == np.longdouble:
                raise InputError(where, f"it holds {array.dtype} values", remedy)
            if array.dtype.kind == "S":
                array = np.char.decode(array, "utf-8")
            native = np.float32 if array.dtype == np.float16 else array.dtype.newbyteorder("=")
            arrays[name] = array.astype(native, copy=False)
    lengths = [len(array) for array in arrays.values()]
    if len(set(lengths)) > 1:
        found = ", ".join(f"{name!r} {len(array)}" for name, array in arrays.items())
        raise InputError(table.name, f"arrays of different lengths: {found}", remedy)
    _check_rows(max(lengths, default=0), table.name)
    return pl.DataFrame(arrays)


def _check_writable(frame: "pl.DataFrame", name: str, kind: str) -> None:
    import polars as pl

    flat = kind in ("csv", "tsv", "npz")
    refused = [pl.Object, pl.Int128]
    refused += [pl.Binary] if kind != "parquet" else []
    refused += [pl.Duration] if flat else []
    for column in frame:
        dtype, words, nulls = column.dtype, pl.Series([column.name]), column.alias("").is_null()
        if dtype in (pl.String, pl.Categorical, pl.Enum):
            words.append(column.cast(pl.String))
        if dtype in refused or (flat and dtype.is_nested()):
            problem = f"{FORMATS[kind]} cannot hold {dtype} values"
        elif kind == "npz" and nulls.any():
            problem = f"NPZ cannot hold nulls, as in row {1 + (nulls.arg_max() or 0)}"
        elif kind == "npz" and words.str.ends_with("\0").any():
            problem = "NPZ cannot hold text that ends in a zero byte"
        elif kind == "tsv" and words.str.contains(r"[\t\r\n]").any():
            problem = "TSV cannot hold tabs or line ends"
        else:
            continue
        remedy = "change the column or the format"
        raise InputError(f"{name}, column {column.name!r}", problem, remedy)


def _write(frame: "pl.DataFrame", handle: IO[bytes], kind: str) -> None:
    import polars as pl

    if kind == "parquet":
        import pyarrow.parquet as pq

        arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        pq.write_table(arrow, handle, compression="zstd", write_page_checksum=True)
    elif kind == "npz":
        with zipfile.ZipFile(handle, "w") as archive:
            for column in frame:
                array = column.to_numpy()
                if array.dtype == object:
                    array = column.cast(pl.String).to_numpy().astype(np.str_)
                with archive.open(f"{column.name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
    elif kind == "jsonl":
        encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
        handle.writelines(f"{encode(row)}\n".encode() for row in frame.iter_rows(named=True))
    else:
        frame.write_csv(handle, separator="\t" if kind == "tsv" else ",")


def _empty(name: str) -> InputError:
    return InputError(name, "the file is empty", "give a table with at least one row")


def _check_rows(rows: int, name: str) -> None:
    if rows == 0:
        raise InputError(name, "there are no rows", "give a table with at least one row")
