"""CSV, TSV and JSONL, gzipped or not: columns of text, a block of lines at a time, then typed."""

import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.errors import InputError
from gnomon.tables.formats import BOM, is_zipped, unzipped
from gnomon.tables.kinds import ANYTHING, BOOLEAN, TEXT, kind_of, typed
from gnomon.tables.source import Table, no_rows, wanted

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1 << 22  # bytes of text parsed at a time, and so the longest row we take


class _Part(NamedTuple):
    """Some rows of a text file: the wanted columns as text, and the kind of every column seen.

    The series have no names of their own: Polars would take one like "*" for a pattern.
    """

    rows: int
    cells: dict[str, "pl.Series"]
    kinds: dict[str, int]


def text_frames(
    table: Table, columns: Sequence[str] | None, *, twice: bool
) -> Iterator["pl.DataFrame"]:
    """The table in pieces: gone through `twice`, first for the types, or once, holding it all."""
    import polars as pl

    read_parts = _jsonl_parts if table.format == "jsonl" else _csv_parts
    parts: Iterable[_Part] = read_parts(table, columns)
    if not twice:
        parts = list(parts)
    total, kinds = 0, dict[str, int]()
    for part in parts:
        total += part.rows
        kinds |= {name: kinds.get(name, ANYTHING) & kind for name, kind in part.kinds.items()}
    if not total or not kinds:  # {} is not a row
        raise no_rows(table.name)
    names = wanted(columns, kinds, table.name)
    for part in read_parts(table, columns) if twice else parts:
        blank = pl.repeat(None, part.rows, dtype=pl.String, eager=True)
        yield pl.DataFrame(
            {name: typed(part.cells.get(name, blank), kinds[name]) for name in names}
        )


def text_size(table: Table) -> int:
    """About how many bytes the whole table takes in memory."""
    return os.path.getsize(table.path) * (4 if is_zipped(table.path) else 1)


def _csv_parts(table: Table, columns: Sequence[str] | None) -> Iterator[_Part]:
    import polars as pl
    import pyarrow as pa
    import pyarrow.csv as pc

    quoted = table.format == "csv"
    with unzipped(table.path) as text:
        _, delimiter, header = next(_records(table, text), (0, "", []))
        if not header:
            raise no_rows(table.name, "the file is empty")
        if not quoted:
            header = _unquoted(pl.Series(header)).to_list()
        names = wanted(columns, header, table.name)
        if quoted and not well_quoted(text, delimiter):
            _check_csv(table, len(header))
        text.seek(0)
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
            # Closed in any case: its threads must not read on while the program ends.
            with pc.open_csv(text, how, parse, convert) as reader:
                for batch in reader:
                    cells = {name: pl.Series(batch[name]) for name in names}
                    if not quoted:
                        cells = {name: _unquoted(column) for name, column in cells.items()}
                    kinds = {name: kind_of(column) for name, column in cells.items()}
                    yield _Part(batch.num_rows, cells, dict.fromkeys(header, ANYTHING) | kinds)
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):  # nothing comes after the header
                return
            if "straddling" in str(error):
                problem, remedy = f"a row is longer than {BLOCK:,} bytes", "write Parquet or JSONL"
                raise InputError(table.name, problem, remedy) from None
            _check_csv(table, len(header))
            raise


def well_quoted(text: IO[bytes], delimiter: str) -> bool:
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


def _check_csv(table: Table, width: int) -> None:
    """Refuses the first bad row: slowly, but knowing its line."""
    remedy = "put quotation marks around a cell that holds a delimiter"
    if table.format == "tsv":
        remedy = "take tabs and line ends out of the cells, or save the file as CSV"
    limit = csv.field_size_limit(BLOCK)
    try:
        with unzipped(table.path) as text:
            for line, _, cells in _records(table, text):
                if len(cells) != width:
                    problem = f"the header has {width} cells, this row {len(cells)}"
                    raise InputError(f"{table.name}, line {line}", problem, remedy)
    finally:
        csv.field_size_limit(limit)


def _records(table: Table, text: IO[bytes]) -> Iterator[tuple[int, str, list[str]]]:
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


def _decoded(table: Table, number: int, line: bytes) -> str:
    try:
        return (line.removeprefix(BOM) if number == 1 else line).decode()
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} of the line is not UTF-8"
        remedy = "save the file as UTF-8"
        raise InputError(f"{table.name}, line {number}", problem, remedy) from None


def _jsonl_parts(table: Table, columns: Sequence[str] | None) -> Iterator[_Part]:
    import polars as pl

    with unzipped(table.path) as handle:
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


def _json_row(table: Table, number: int, text: str) -> dict[str, object]:
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
        return numbers, kind_of(numbers)
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
