"""Parquet and NPZ: columns that already have their types."""

import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.npyio import NpzFile

from gnomon.errors import InputError
from gnomon.tables.source import Table, no_rows, wanted

if TYPE_CHECKING:
    import polars as pl

ARRAYS = "save numbers or text, one value a row"  # the remedy for arrays that are not columns


def parquet_frames(
    table: Table, columns: Sequence[str] | None, rows: int
) -> Iterator["pl.DataFrame"]:
    """The columns, `rows` rows at a time or fewer."""
    import polars as pl
    import pyarrow.parquet as pq

    with pq.ParquetFile(table.path, page_checksum_verification=True) as file:
        names = wanted(columns, file.schema_arrow.names, table.name)
        if not file.metadata.num_rows:
            raise no_rows(table.name)
        for batch in file.iter_batches(batch_size=rows, columns=names):
            batch.validate(full=True)  # Polars trusts text to be UTF-8
            yield pl.DataFrame(batch)[names]


def parquet_size(table: Table, columns: Sequence[str] | None) -> int:
    """About how many bytes the columns take in memory, from the file's own account."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(table.path)
    names = set(wanted(columns, metadata.schema.to_arrow_schema().names, table.name))
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    widths = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8}
    return sum(
        # Repeated values take less room in the file than in memory.
        max(chunk.total_uncompressed_size, chunk.num_values * widths.get(chunk.physical_type, 16))
        for group in groups
        for chunk in map(group.column, range(group.num_columns))
        if chunk.path_in_schema in names or chunk.path_in_schema.split(".")[0] in names
    )


def npz_frame(table: Table, columns: Sequence[str] | None) -> "pl.DataFrame":
    """The arrays as columns; those not wanted may have any shape."""
    import polars as pl

    with open(table.path, "rb") as handle, NpzFile(handle, allow_pickle=False) as archive:
        names = wanted(columns, archive.files, table.name)
        arrays = {name: _npz_column(archive, name, table.name) for name in names}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name!r} {length}" for name, length in lengths.items())
        raise InputError(table.name, f"arrays of different lengths: {found}", ARRAYS)
    if not any(lengths.values()):
        raise no_rows(table.name)
    return pl.DataFrame(arrays)


def _npz_column(archive: NpzFile, name: str, where: str) -> np.ndarray:
    """One array, if it is numbers or text in a single dimension, of a type that Polars takes."""
    try:
        array = archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        array = np.empty(0, object)
    where = f"{where}, array {name!r}"
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        raise InputError(where, f"its shape is {np.shape(array)}", ARRAYS)
    if array.dtype.kind not in "biufUSMm" or array.dtype == np.longdouble:
        raise InputError(where, f"it holds {array.dtype} values", ARRAYS)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    native = np.float32 if array.dtype == np.float16 else array.dtype.newbyteorder("=")
    return array.astype(native, copy=False)


def npz_size(table: Table, columns: Sequence[str] | None) -> int:
    """How many bytes the arrays of the columns take in memory."""
    with zipfile.ZipFile(table.path) as archive:
        sizes = {m.filename.removesuffix(".npy"): m.file_size for m in archive.infolist()}
    return sum(sizes[name] for name in wanted(columns, sizes, table.name))
