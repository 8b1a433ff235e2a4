"""Writing: whole or not at all, and nothing altered to fit a format."""

import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from table_checks import FRAME, SUFFIXES, ZIPPED, same

from gnomon import tables
from gnomon.errors import InputError


def test_standard_output() -> None:
    code = (
        "import polars as pl, sys; from gnomon import tables; print('first');"
        "tables.write(pl.DataFrame({'p': [0.5]}), '-', format=sys.argv[1] or None)"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", code, name], capture_output=True, check=True).stdout
        for name in ("", "csv", "tsv", "jsonl", "parquet", "npz")
    ]
    assert outputs[:4] == [
        b"first\np\n0.5\n",
        b"first\np\n0.5\n",
        b"first\np\n0.5\n",
        b'first\n{"p": 0.5}\n',
    ]
    assert pq.read_table(io.BytesIO(outputs[4][6:]))["p"].to_pylist() == [0.5]
    assert np.load(io.BytesIO(outputs[5][6:]))["p"].tolist() == [0.5]


@pytest.mark.parametrize(
    ("suffix", "column", "problem"),
    [
        ("npz", pl.Series("a", [1.0, None]), "NPZ cannot hold nulls, as in row 2"),
        ("npz", pl.Series("a", ["x\0"]), "NPZ cannot hold text that ends in a zero byte"),
        ("npz", pl.Series("a", [[1]]), "NPZ cannot hold List(Int64) values"),
        ("csv", pl.Series("a", [[1]]), "CSV cannot hold List(Int64) values"),
        (
            "csv",
            pl.Series("a", [1]).cast(pl.Duration),
            "CSV cannot hold Duration(time_unit='us') values",
        ),
        ("csv", pl.Series("a", [b"x"]), "CSV cannot hold Binary values"),
        ("jsonl", pl.Series("a", [b"x"]), "JSONL cannot hold Binary values"),
        ("parquet", pl.Series("a", [{1}], dtype=pl.Object), "Parquet cannot hold Object values"),
        ("tsv", pl.Series("a", ["x\ty"]), "TSV cannot hold tabs or line ends"),
        ("tsv", pl.Series("a\n", ["x"]), "TSV cannot hold tabs or line ends"),
    ],
)
def test_what_a_format_cannot_hold(
    suffix: str, column: pl.Series, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / f"x.{suffix}"
    with pytest.raises(InputError) as error:
        tables.write(column.to_frame(), path)
    assert (
        str(error.value)
        == f"{path}, column {column.name!r}: {problem}; change the column or the format"
    )
    assert list(tmp_path.iterdir()) == []


def test_json_holds_what_python_writes(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    table = pl.DataFrame(
        {
            "f": [float("nan"), float("inf"), None],
            "l": [[0.5], [], None],
            "d": pl.Series([1, 2, 3]).cast(pl.Date),
        }
    )
    tables.write(table, path)
    assert path.read_text().splitlines()[0] == '{"f": NaN, "l": [0.5], "d": "1970-01-02"}'
    assert same(tables.read(path, ["f"]), table[["f"]])


def test_nothing_half_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.html"
    tables.write_text(path, "old é")

    def write_half(error: BaseException) -> None:
        with tables.replacing(path) as handle:
            handle.write(b"half")
            raise error

    with pytest.raises(KeyboardInterrupt):
        write_half(KeyboardInterrupt())
    assert path.read_text() == "old é"
    with pytest.raises(InputError) as error:
        write_half(OSError(28, "No space left on device"))
    assert str(error.value) == (
        f"{path}: cannot be written (No space left on device); "
        "name a file in a folder you may write to"
    )

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", fail)
    with pytest.raises(InputError, match="No space left"):
        tables.write(pl.DataFrame({"p": [1]}), tmp_path / "y.csv")
    assert [item.name for item in tmp_path.iterdir()] == ["x.html"]
    assert path.read_text() == "old é"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, reason in (
        (tmp_path / "none" / "x.png", "No such file or directory"),
        (tmp_path / "file" / "x.png", "Not a directory"),
        (tmp_path, "Is a directory"),
        (tmp_path / ("x" * 300), "File name too long"),
    ):
        with pytest.raises(InputError) as error:
            tables.write_bytes(path, b"x")
        assert str(error.value) == (
            f"{path}: cannot be written ({reason}); name a file in a folder you may write to"
        )
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link, new = tmp_path / "x", tmp_path / "link", tmp_path / "new"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    tables.write_bytes(link, b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = os.umask(0o022)
    tables.write_bytes(new, b"new")
    os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o644


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    tables.write_text(os.devnull, "x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    pipe, found = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    tables.write_text(pipe, "x")
    reader.join()
    assert found == [b"x"]
    assert pipe.is_fifo()


def test_equal_tables_give_equal_files(tmp_path: Path) -> None:
    for suffix in SUFFIXES + ZIPPED:
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir(exist_ok=True)
            tables.write(FRAME, tmp_path / folder / f"x.{suffix}")
        assert (tmp_path / f"a/x.{suffix}").read_bytes() == (
            tmp_path / f"b/x.{suffix}"
        ).read_bytes()
