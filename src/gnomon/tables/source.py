"""A table as a file on the disk, whatever it came from, and the columns wanted of it."""

import difflib
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from gnomon.errors import GnomonError, InputError
from gnomon.tables.formats import FORMATS, format_of, is_stream, sniffed


class Table(NamedTuple):
    """A file of known format, and the name that the person who gave it knows it by."""

    name: str
    path: str | Path
    format: str


@contextmanager
def opened(source: str | Path, format: str | None) -> Iterator[Table]:
    """The source as a file of known format; whatever goes wrong becomes an `InputError`."""
    name = "standard input" if source == "-" else str(source)
    kind = format
    try:
        with _on_disk(source) as path, open(path, "rb") as handle:
            kind = format_of(source, format)
            if os.fstat(handle.fileno()).st_size == 0:
                raise no_rows(name, "the file is empty")
            kind = kind or sniffed(path)
            yield Table(name, path, kind)
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
    if not is_stream(source):
        yield source
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "stream")
        with (
            nullcontext(sys.stdin.buffer) if source == "-" else open(source, "rb") as stream,
            open(path, "wb") as copy,
        ):
            shutil.copyfileobj(stream, copy)
        yield path


def wanted(columns: Sequence[str] | None, names: Collection[str], where: str) -> list[str]:
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


def no_rows(where: str, problem: str = "there are no rows") -> InputError:
    """The error for a table without rows."""
    return InputError(where, problem, "give a table with at least one row")
