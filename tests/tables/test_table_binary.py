"""Parquet and NPZ: types kept, and arrays that are not columns."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from table_checks import in_batches, refusal, same

from gnomon import tables


@pytest.mark.parametrize("suffix", ["parquet", "npz"])
def test_float32_stays_float32(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{suffix}"
    table = pl.DataFrame({"p": np.array([0.1, 0.2], np.float32), "y": np.array([0, 1], np.uint8)})
    tables.write(table, path)
    assert tables.read(path).dtypes == [pl.Float32, pl.UInt8]
    assert same(tables.read(path), table)
    assert same(in_batches(path, rows=1), table)


def test_parquet_keeps_lists_categories_and_dates(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "l": [[1, 2], [], [3]],
            "c": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
            "d": pl.Series([1, 2, 3]).cast(pl.Date),
            "s": [{"x": 1}, {"x": 2}, None],
            "a.b": [1.0, 2.0, 3.0],
            "a": [1, 2, 3],
        }
    )
    tables.write(table, tmp_path / "x.parquet")
    table.write_parquet(tmp_path / "y.parquet", row_group_size=2)
    for name in ("x.parquet", "y.parquet"):
        assert tables.read(tmp_path / name).to_dicts() == table.to_dicts()
        assert in_batches(tmp_path / name, rows=2).to_dicts() == table.to_dicts()
        assert tables.read(tmp_path / name, ["a"]).columns == ["a"]
        assert tables.read(tmp_path / name, ["s", "a.b"]).columns == ["s", "a.b"]


def test_a_changed_byte_of_our_parquet_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    values = np.random.default_rng(0).random(1000)
    tables.write(pl.DataFrame({"p": values}), path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert refusal(path).problem.startswith("not a whole Parquet file (")


def test_npz_of_every_kind(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(
        path,
        half=np.array([0.5, 1], np.float16),
        big_endian=np.array([0.1, 0.2], ">f8"),
        bytes=np.array([b"a", "é".encode()]),
        text=np.array(["x", "é"]),
        day=np.array(["2020-01-01", "2020-01-02"], "M8[D]"),
        flag=np.array([True, False]),
    )
    table = tables.read(path)
    assert table.dtypes == [pl.Float32, pl.Float64, pl.String, pl.String, pl.Date, pl.Boolean]
    assert table["big_endian"].to_list() == [0.1, 0.2]
    assert table["bytes"].to_list() == ["a", "é"]
    np.savez(path, p=np.arange(3), settings=np.arange(5))
    assert tables.read(path, ["p"])["p"].to_list() == [0, 1, 2]


def test_arrays_that_are_not_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    remedy = "save numbers or text, one value a row"
    for array, problem in (
        (np.zeros((3, 2)), "its shape is (3, 2)"),
        (np.array(0.5), "its shape is ()"),
        (np.array([None, {}, 1], object), "it holds object values"),
        (np.zeros(3, complex), "it holds complex128 values"),
        (np.zeros(3, [("a", "i4")]), "it holds [('a', '<i4')] values"),
        (np.zeros(3, np.longdouble), "it holds float128 values"),
    ):
        np.savez(path, p=np.zeros(3), y=array)
        assert str(refusal(path)) == f"{path}, array 'y': {problem}; {remedy}"
        assert tables.read(path, ["p"]).height == 3
    np.savez(path, p=np.zeros(3), y=np.zeros(4))
    assert str(refusal(path, ["p", "y"])) == (
        f"{path}: arrays of different lengths: 'p' 3, 'y' 4; {remedy}"
    )
    np.savez(path)
    assert str(refusal(path)) == f"{path}: there are no rows; give a table with at least one row"
