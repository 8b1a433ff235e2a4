"""Other people's data, as declared records: what it is, where it lies, its checksum, its licence.

None of it comes with Gnomon. It is looked up below the folder named by the environment variable
`GNOMON_DATA`, and only when asked for. To add a data set, add a record to
`resources/datasets.toml`.
"""

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gnomon.errors import InputError


@dataclass(frozen=True)
class Dataset:
    """A data set: its files below the folder `name`, with their SHA-256; whose it is, how free."""

    name: str
    files: Mapping[str, str]
    licence: str
    citation: str
    description: str

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that change when a file's name or contents do."""
        lines = "".join(f"{file} {self.files[file]}\n" for file in sorted(self.files))
        return hashlib.blake2b(lines.encode(), digest_size=8).hexdigest()


def _records() -> dict[str, Dataset]:
    declared = resources.files("gnomon") / "resources" / "datasets.toml"
    found = tomllib.loads(declared.read_text(encoding="utf-8"))
    return {name: Dataset(name=name, **record) for name, record in found.items()}


DATASETS: Mapping[str, Dataset] = _records()


def folder() -> Path:
    """Where data sets are looked for: `$GNOMON_DATA`, or a folder beside the project."""
    return Path(os.environ.get("GNOMON_DATA") or "../shared/data")


def dataset(name: str) -> Dataset:
    """The record of a data set.

    >>> dataset("tweets").licence
    'research use'
    """
    try:
        return DATASETS[name]
    except KeyError:
        raise InputError(
            f"data set {name!r}", "there is no such data set", f"give one of: {_names(DATASETS)}"
        ) from None


def path(name: str, file: str, *, verify: bool = False) -> Path:
    """Where a data set's file lies; raises `InputError` where it is absent.

    With `verify` the file is read and its SHA-256 compared with the record's, so that a figure
    computed from it is known to be about this data and no other.
    """
    record = dataset(name)
    if file not in record.files:
        raise InputError(
            f"data set {name!r}, file {file!r}",
            "there is no such file",
            f"give one of: {_names(record.files)}",
        )
    place = folder() / name / file
    if not place.is_file():
        raise InputError(
            str(place),
            f"this file of the data set {name!r} is absent",
            "set the environment variable GNOMON_DATA to the folder that holds the data sets",
        )
    if verify:
        with place.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != record.files[file]:
            raise InputError(
                str(place),
                f"its SHA-256 is {found[:12]}..., not {record.files[file][:12]}...",
                f"get the original file of the data set {name!r}",
            )
    return place


def _names(mapping: Mapping[str, object]) -> str:
    return ", ".join(sorted(mapping))
