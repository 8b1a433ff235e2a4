"""Which format a file has: by what the caller says, by its suffix, or by its first bytes."""

import gzip
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, cast

from gnomon.errors import InputError

FORMATS = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "jsonl": "JSONL", "npz": "NPZ"}
SYNONYMS = {"tab": "tsv", "pq": "parquet", "ndjson": "jsonl"}
BOM = b"\xef\xbb\xbf"


def format_of(path: str | Path, format: str | None) -> str | None:
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
    if is_stream(path):
        return None
    known = ", ".join(f".{suffix}" for suffix in chain(FORMATS, SYNONYMS))
    remedy = f"use {known} (and .gz after a text format), or name the format"
    raise InputError(str(path), "the suffix does not tell the format", remedy)


def sniffed(path: str | Path) -> str:
    """The format that the first bytes tell."""
    with unzipped(path) as handle:
        head = handle.read(1 << 16)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK"):
        return "npz"
    head = head.removeprefix(BOM).lstrip()
    if head.startswith(b"{"):
        return "jsonl"
    return "tsv" if b"\t" in head.split(b"\n", 1)[0] else "csv"


def is_stream(path: str | Path) -> bool:
    """Whether a path is standard input or output, or a pipe."""
    return path == "-" or (os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode))


def is_zipped(path: str | Path) -> bool:
    """Whether the first bytes say gzip; the name does not tell, for browsers unzip and keep .gz."""
    with open(path, "rb") as handle:
        return handle.read(2) == b"\x1f\x8b"


@contextmanager
def unzipped(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unzipped if need be."""
    with gzip.open(path) if is_zipped(path) else open(path, "rb") as handle:
        yield cast(IO[bytes], handle)
