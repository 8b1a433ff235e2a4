"""Declared data sets: looked up lazily, named when absent, verified on request."""

import hashlib
import re
from pathlib import Path

import pytest

from gnomon.corpus import datasets
from gnomon.corpus.datasets import DATASETS, Dataset, dataset, path
from gnomon.errors import InputError

CONTENT = b"an invented line\n"


@pytest.fixture
def invented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set of one file in a folder of its own, with GNOMON_DATA pointing there."""
    record = Dataset(
        "invented",
        {"a.txt": hashlib.sha256(CONTENT).hexdigest()},
        licence="none needed",
        citation="this test",
        description="one line",
    )
    monkeypatch.setattr(datasets, "DATASETS", {"invented": record})
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    (tmp_path / "invented").mkdir()
    (tmp_path / "invented" / "a.txt").write_bytes(CONTENT)
    return tmp_path


def test_a_present_file_is_found_and_verified(invented: Path) -> None:
    assert path("invented", "a.txt", verify=True) == invented / "invented" / "a.txt"


def test_an_altered_file_is_refused_only_on_verify(invented: Path) -> None:
    (invented / "invented" / "a.txt").write_bytes(CONTENT + b"!")
    assert path("invented", "a.txt").is_file()
    with pytest.raises(InputError, match=r"its SHA-256 is .*get the original file"):
        path("invented", "a.txt", verify=True)


def test_an_absent_file_says_to_set_the_variable(invented: Path) -> None:
    (invented / "invented" / "a.txt").unlink()
    with pytest.raises(InputError, match="absent; set the environment variable GNOMON_DATA"):
        path("invented", "a.txt")


def test_the_variable_is_read_at_each_call(invented: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_DATA", str(invented / "elsewhere"))
    with pytest.raises(InputError, match="elsewhere"):
        path("invented", "a.txt")


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'twets': there is no such data set; .*tweets"):
        path("twets", "positive.txt.gz")
    with pytest.raises(InputError, match=r"no such file; .*negative.txt.gz, positive.txt.gz"):
        path("tweets", "neutral.txt.gz")


@pytest.mark.parametrize("record", DATASETS.values(), ids=lambda record: record.name)
def test_every_record_is_complete(record: Dataset) -> None:
    assert dataset(record.name) is record
    assert record.files
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in record.files.values())
    assert all((record.licence, record.citation, record.description))


def test_the_digest_follows_names_and_contents() -> None:
    def record(files: dict[str, str]) -> Dataset:
        return Dataset("x", files, licence="", citation="", description="")

    digests = [
        record(files).digest
        for files in ({"a": "1", "b": "2"}, {"a": "2", "b": "1"}, {"a": "1"}, {"b": "2", "a": "1"})
    ]
    assert digests[0] == digests[3]
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    ("name", "file"), [(name, file) for name, record in DATASETS.items() for file in record.files]
)
def test_the_real_files_are_the_recorded_ones(
    data: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    monkeypatch.setenv("GNOMON_DATA", str(data))
    assert path(name, file, verify=True).is_file()
