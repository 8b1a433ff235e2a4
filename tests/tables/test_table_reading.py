"""Reading any format, whole and in batches: what was written comes back, typed and sized."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from table_checks import FRAME, SUFFIXES, ZIPPED, file, in_batches, refusal, same

from gnomon import tables
from gnomon.errors import InputError

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.mark.parametrize("suffix", SUFFIXES + ZIPPED + ["CSV"])
def test_what_is_written_is_read_back(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"scores.{suffix}"
    tables.write(FRAME, path)
    assert same(tables.read(path), FRAME)
    assert same(tables.read(str(path), ["label", "probability"]), FRAME[["label", "probability"]])
    for rows in (1, 3, 10, 11):
        assert same(in_batches(path, rows=rows), FRAME)
    assert same(in_batches(path, ["the name"]), FRAME[["the name"]])
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


@settings(deadline=None)
@given(data=st.data(), rows=st.integers(0, 8))
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl", "npz", "csv.gz", "jsonl.gz"])
def test_round_trip(
    suffix: str, data: st.DataObject, rows: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def column(first: object, values: st.SearchStrategy[object]) -> pl.Series:
        values = values if suffix == "npz" else st.none() | values
        return pl.Series([first, *data.draw(st.lists(values, min_size=rows, max_size=rows))])

    names = data.draw(
        st.lists(words.filter(lambda t: "/" not in t), min_size=4, max_size=4, unique=True)
    )
    assume(not names[0].startswith("\ufeff") and all(name.strip() for name in names))
    table = pl.DataFrame(
        [
            column(0.5, st.floats()).alias(names[0]),
            column(1, st.integers(-(2**63), 2**63 - 1)).alias(names[1]),
            column(True, st.booleans()).alias(names[2]),
            column("x", words).alias(names[3]),
        ]
    )
    path = tmp_path_factory.mktemp("round") / f"x.{suffix}"
    if suffix == "tsv" and any(
        set("\t\r\n") & set(cell) for cell in [*names, *table[names[3]].drop_nulls()]
    ):
        with pytest.raises(
            InputError, match=r"TSV cannot hold tabs or line ends; change the column or the format$"
        ):
            tables.write(table, path)
        assert not path.exists()
    else:
        tables.write(table, path)
        assert same(tables.read(path), table)
        assert same(in_batches(path, rows=data.draw(st.integers(1, 10))), table)


@pytest.mark.parametrize("suffix", SUFFIXES[:-1] + ZIPPED)
def test_nulls_stay_null(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{suffix}"
    holes = pl.DataFrame(
        {"p": [0.5, None, 1.5], "y": [1, 0, None], "b": [None, True, False], "s": ["", None, "x"]}
    )
    tables.write(holes, path)
    assert same(tables.read(path), holes)
    assert same(in_batches(path, rows=2), holes)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_that_are_patterns_to_polars(suffix: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"*": [0.5], "^a$": ["x"], "a": [True], "^[$": [1], " ": [2]})
    tables.write(table, tmp_path / f"x.{suffix}")
    assert same(tables.read(tmp_path / f"x.{suffix}"), table)
    assert same(tables.read(tmp_path / f"x.{suffix}", ["^a$"]), table[["^a$"]])
    assert same(in_batches(tmp_path / f"x.{suffix}", ["*", "^[$"]), table[["*", "^[$"]])


def test_missing_columns(tmp_path: Path) -> None:
    content = {"probability": [0.5], "label": [1], "the name": ["x"]}
    for suffix in SUFFIXES + ZIPPED:
        path = tmp_path / f"x.{suffix}"
        tables.write(pl.DataFrame(content), path)
        assert str(refusal(path, ["label", "probabilty"])) == (
            f"{path}: no column 'probabilty'; did you mean 'probability'? "
            "the columns are 'probability', 'label', 'the name'"
        )
        assert refusal(path, ["q"]).remedy == "the columns are 'probability', 'label', 'the name'"
        assert str(refusal(path, [])) == (
            "columns: none is named; name one or more, or give None for all"
        )
        assert tables.read(path, ["label", "label"]).columns == ["label"]
    wide = file(
        tmp_path / "x.csv", ",".join(f"c{i}" for i in range(30)) + "\n" + ",".join("1" * 30)
    )
    error = refusal(wide, ["z"])
    assert error.remedy.startswith("the columns are 'c0', 'c1', ")
    assert error.remedy.endswith(", 'c19' and 10 more")


def test_duplicate_columns(tmp_path: Path) -> None:
    expected = "more than one column is named 'p'; rename all but one"
    for path in (
        file(tmp_path / "x.csv", "p,y,p\n1,2,3\n"),
        file(tmp_path / "x.tsv", 'p\t"p"\n1\t2\n'),
    ):
        assert str(refusal(path)) == f"{path}: {expected}"
        assert str(refusal(path, ["p"])) == f"{path}: {expected}"
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table([[1], [2]], names=["p", "p"]), path)
    assert str(refusal(path, ["p"])) == f"{path}: {expected}"


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES + ZIPPED if "json" not in s])
def test_no_rows(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{suffix}"
    tables.write(pl.DataFrame({"p": [], "y": []}, schema={"p": pl.Float64, "y": pl.Int64}), path)
    expected = f"{path}: there are no rows; give a table with at least one row"
    assert str(refusal(path)) == expected
    assert str(refusal(path, ["p"])) == expected


def test_batches_stop_when_their_reader_does(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    tables.write(pl.DataFrame({"p": np.arange(3_000_000)}), path)
    batches = tables.read_batches(path, rows=10)
    assert next(batches)["p"].to_list() == list(range(10))
    assert isinstance(batches, Iterator)
    batches.close()  # type: ignore[attr-defined]


def test_rows_of_a_batch_must_be_positive(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^rows: 0 rows a batch; give 1 or more$"):
        next(tables.read_batches(file(tmp_path / "x.csv", "a\n1\n"), rows=0))


def test_sizes(tmp_path: Path) -> None:
    n = 100_000
    wide = pl.DataFrame({"p": np.ones(n), "q": np.ones(n, np.float32), "s": ["x" * 50] * n})
    tables.write(wide, tmp_path / "x.parquet")
    assert tables.size(tmp_path / "x.parquet", ["p"]) == 8 * n
    assert tables.size(tmp_path / "x.parquet", ["p", "q"]) == 12 * n
    assert (tables.size(tmp_path / "x.parquet") or 0) >= 28 * n
    tables.write(wide, tmp_path / "x.npz")
    assert 8 * n <= (tables.size(tmp_path / "x.npz", ["p"]) or 0) <= 8 * n + 200
    for name in ("x.parquet", "x.npz"):
        with pytest.raises(InputError, match=r"no column 'z'; the columns are 'p', 'q', 's'$"):
            tables.size(tmp_path / name, ["z"])
    for name, factor in (("x.csv", 1), ("x.jsonl", 1), ("x.tsv.gz", 4)):
        tables.write(wide, tmp_path / name)
        assert tables.size(tmp_path / name) == (tmp_path / name).stat().st_size * factor
    assert tables.size("-") is None


def test_importing_tables_does_not_import_polars() -> None:
    code = "import sys, gnomon.tables; print({'polars', 'pyarrow'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout == "set()\n"
