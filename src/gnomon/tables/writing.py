"""Tables, text and bytes written whole or not at all."""

import gzip
import io
import json
import os
import secrets
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from gnomon.errors import InputError
from gnomon.tables.formats import FORMATS, format_of

if TYPE_CHECKING:
    import polars as pl


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
    kind = format_of(target, format) or "csv"
    _check_writable(frame, name, kind)
    with replacing(target) as handle:
        if name.lower().endswith(".gz"):
            # No name and no time: equal tables give equal files.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=handle, mtime=0) as zipped:
                _write(frame, cast(IO[bytes], zipped), kind)
        else:
            _write(frame, handle, kind)


def _check_writable(frame: "pl.DataFrame", name: str, kind: str) -> None:
    """Refuses the first column that the format would alter or lose."""
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

    >>> import tempfile
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
