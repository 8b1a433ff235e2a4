"""Files, pipes and standard input: their formats, and files that are damaged."""

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_checks import FORMATS, FRAME, SUFFIXES, ZIPPED, file, in_batches, refusal, same

from gnomon import tables
from gnomon.errors import InputError


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
def test_standard_input(
    format: str,
    named: bool,
    zipped: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if zipped and format in ("parquet", "npz"):
        return
    tables.write(FRAME, tmp_path / "x", format=format)
    content = (tmp_path / "x").read_bytes()
    content = gzip.compress(content) if zipped else content
    for read in (tables.read, lambda *a, **k: pl.concat(tables.read_batches(*a, rows=4, **k))):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert same(read("-", ["label"], format=format if named else None), FRAME[["label"]])


def test_standard_input_says_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n3\n")))
    with pytest.raises(InputError) as error:
        tables.read("-")
    assert error.value.where == "standard input, line 3"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError) as error:
        tables.read("-")
    assert str(error.value) == (
        "standard input: the file is empty; give a table with at least one row"
    )


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (b'\xef\xbb\xbf\n {"a": 1}\n', ["a"]),
        (b"\xef\xbb\xbfa\tb,c\n1\t2\n", ["a", "b,c"]),
        (b"a,b c\n1,2\n", ["a", "b c"]),
        (b"a;b\n1;2\n", ["a", "b"]),
        (b"a\n1\n", ["a"]),
    ],
)
def test_standard_input_is_told_apart(
    content: bytes, columns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert tables.read("-").columns == columns


def test_a_pipe_is_read_like_standard_input(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert tables.size(pipe) is None
    writer = threading.Thread(target=pipe.write_bytes, args=(b'{"a": 1}\n{"a": 2.5}\n',))
    writer.start()
    assert in_batches(pipe, rows=1)["a"].to_list() == [1.0, 2.5]
    writer.join()


def test_the_name_need_not_say_whether_a_file_is_zipped(tmp_path: Path) -> None:
    assert tables.read(file(tmp_path / "x.csv.gz", "a\n1\n"))["a"].to_list() == [1]
    assert tables.read(file(tmp_path / "x.csv", gzip.compress(b"a\n1\n")))["a"].to_list() == [1]


def test_paths_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def problem(path: Path) -> str:
        error = refusal(path)
        assert error.where == str(path)
        assert error.remedy == "name a file you may read"
        with pytest.raises(InputError) as sized:
            tables.size(path)
        assert str(sized.value) == str(error)
        return error.problem

    assert problem(tmp_path / "none.csv") == "cannot be read (No such file or directory)"
    assert problem(tmp_path) == "cannot be read (Is a directory)"
    assert (
        problem(file(tmp_path / "x.csv", "a\n1\n") / "y.csv") == "cannot be read (Not a directory)"
    )
    assert problem(tmp_path / ("x" * 300 + ".csv")) == "cannot be read (File name too long)"

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "x.csv")

    monkeypatch.setattr(
        "gnomon.tables.source.open", refuse, raising=False
    )  # root may read everything
    assert problem(tmp_path / "x.csv") == "cannot be read (Permission denied)"


@pytest.mark.parametrize("name", ["scores.xlsx", "scores", "scores.gz", "scores.parquet.gz"])
def test_unknown_suffixes(name: str, tmp_path: Path) -> None:
    path = file(tmp_path / name, "a\n1\n")
    expected = (
        f"{path}: the suffix does not tell the format; use .csv, .tsv, .parquet, .jsonl, .npz, "
        ".tab, .pq, .ndjson (and .gz after a text format), or name the format"
    )
    assert str(refusal(path)) == expected
    with pytest.raises(InputError) as error:
        tables.write(FRAME, path)
    assert str(error.value) == expected
    assert tables.read(path, format="csv")["a"].to_list() == [1]


def test_unknown_formats(tmp_path: Path) -> None:
    assert str(refusal(file(tmp_path / "x.csv", "a\n1\n"), format="excel")) == (
        "format: 'excel' is not a format we know; give one of csv, tsv, parquet, jsonl, npz"
    )


@pytest.mark.parametrize("suffix", SUFFIXES + ZIPPED)
def test_empty_files(suffix: str, tmp_path: Path) -> None:
    path = file(tmp_path / f"x.{suffix}", b"")
    expected = f"{path}: the file is empty; give a table with at least one row"
    assert str(refusal(path)) == expected
    path.write_bytes(gzip.compress(b""))
    if suffix.removesuffix(".gz") in ("csv", "tsv", "tab"):
        assert str(refusal(path)) == expected


@pytest.mark.parametrize("suffix", ["parquet", "npz"])
def test_files_of_another_format(suffix: str, tmp_path: Path) -> None:
    error = refusal(path := file(tmp_path / f"x.{suffix}", "p,y\n0.5,1\n"))
    assert error.where == str(path)
    assert error.problem.startswith(
        f"not a whole {'Parquet' if suffix == 'parquet' else 'NPZ'} file ("
    )
    assert error.remedy == "copy or write it again, or name its format"
    with pytest.raises(InputError):
        tables.size(path)


@pytest.mark.parametrize("suffix", ["parquet", "npz", "csv.gz", "jsonl.gz"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_files(suffix: str, share: float, tmp_path: Path) -> None:
    path = tmp_path / f"x.{suffix}"
    tables.write(pl.concat([FRAME] * 100), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    error = refusal(path)
    assert error.where == str(path)
    if suffix.endswith(".gz"):
        assert error.problem.startswith("the gzip data are cut off or damaged (")
        assert error.remedy == "copy it again"
    else:
        assert error.problem.startswith("not a whole ")
        assert error.remedy == "copy or write it again, or name its format"


@settings(deadline=None, max_examples=150)
@given(data=st.data())
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl", "npz", "csv.gz", "jsonl.gz"])
def test_damaged_bytes_give_only_input_errors(
    suffix: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("damaged") / f"x.{suffix}"
    table = pl.DataFrame(
        {"p": [0.5, 0.25, 1e-9], "y": [1, 0, 1], "s": ["a,b", "", "é\n" if "c" in suffix else "é"]}
    )
    if suffix == "parquet" and data.draw(st.booleans()):
        table.write_parquet(path, compression="uncompressed")  # without checksums
    else:
        tables.write(table, path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content)))
        match data.draw(st.sampled_from(["cut", "change", "insert", "delete"])):
            case "cut":
                del content[place:]
            case "change":
                content[place : place + 1] = bytes([data.draw(st.integers(0, 255))])
            case "insert":
                content[place:place] = data.draw(st.binary(min_size=1, max_size=3))
            case "delete":
                del content[place : place + data.draw(st.integers(1, 3))]
    path.write_bytes(content)
    try:
        whole = tables.read(path)
    except InputError:
        refusal(path)
    else:
        assert same(in_batches(path, rows=2), whole)
        assert repr(whole.to_dicts())
