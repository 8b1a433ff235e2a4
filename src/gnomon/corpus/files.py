"""Files of documents: opened and unzipped, decoded line by line, written whole or not at all."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, cast

from gnomon.errors import InputError
from gnomon.tables import replacing
from gnomon.tables.formats import BOM

_BLOCK = 1 << 20


def shown(source: str | Path) -> str:
    """A path as people read it; bytes in it that are not UTF-8 become a replacement sign."""
    return "standard input" if source == "-" else os.fsencode(source).decode(errors="replace")


@contextmanager
def opened(source: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file or of standard input, unzipped if the first ones say gzip."""
    with nullcontext(sys.stdin.buffer) if source == "-" else open(source, "rb") as handle:
        # Where standard input has been replaced it may be a buffer that cannot be peeked at.
        stream = handle if hasattr(handle, "peek") else io.BufferedReader(cast(io.BytesIO, handle))
        start = stream.peek(2)[:2]
        # A file that is called .gz and is not zipped is a mistake, and is said to be one.
        if start == b"\x1f\x8b" or (start and shown(source).lower().endswith(".gz")):
            with gzip.GzipFile(fileobj=stream) as zipped:
                yield cast(IO[bytes], io.BufferedReader(zipped, _BLOCK))
        else:
            yield cast(IO[bytes], stream)


@contextmanager
def reported(name: str) -> Iterator[None]:
    """Turns whatever goes wrong with reading a file into an `InputError`."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = f"the gzip data are cut off or damaged ({error})"
        raise InputError(name, problem, "copy the file again") from None
    except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
        if isinstance(error, InputError):
            raise
        problem = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise InputError(name, problem, "name a file you may read") from None


def lines(source: str | Path) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a file or of standard input ("-"), unzipped if need be."""
    with reported(shown(source)), opened(source) as handle:
        for number, line in enumerate(handle, 1):
            yield number, line.removeprefix(BOM) if number == 1 else line


def decoded(data: bytes, where: str, line: int | None = None) -> str:
    """Bytes as the UTF-8 text they must be; an error names the line, if none is given by counting.

    >>> decoded(b"one\\ntw\\xf3", "a.txt")
    Traceback (most recent call last):
    gnomon.errors.InputError: a.txt, line 2: byte 3 of the line (0xF3) is not UTF-8; convert the ...
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        begin = data.rfind(b"\n", 0, error.start) + 1
        line = line or data.count(b"\n", 0, begin) + 1
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        problem = f"byte {error.start - begin + 1} of the line"
        problem += f" (0x{data[error.start]:02X}) is not UTF-8"
        remedy = "convert the file, for example: iconv -f "
        remedy += f"{'UTF-16' if wide else 'WINDOWS-1252'} -t UTF-8"
        raise InputError(f"{where}, line {line}", problem, remedy) from None


def write_texts(texts: Iterable[str], target: str | Path) -> None:
    """Writes texts one after the other to a file (".gz" zips it) or, with "-", to standard output.

    Equal texts give equal files: a zipped one holds no name and no time.
    """
    with replacing(target) as handle:
        if str(target).lower().endswith(".gz"):
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=handle, mtime=0) as zipped:
                _write(texts, cast(IO[bytes], zipped), str(target))
        else:
            _write(texts, handle, str(target))


def _write(texts: Iterable[str], handle: IO[bytes], name: str) -> None:
    for text in texts:
        try:
            handle.write(text.encode())
        except UnicodeEncodeError as error:
            problem = f"{text[error.start]!r} is half a character"
            raise InputError(name, problem, "take it out of the words") from None
