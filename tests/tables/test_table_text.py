"""CSV, TSV and JSONL: how text is split and typed, and the line that is wrong."""

import csv
import json
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_checks import file, in_batches, refusal, same

from gnomon import tables
from gnomon.tables.text import well_quoted


def test_how_text_is_typed(tmp_path: Path) -> None:
    cells = {
        "i": ["1", "-2", "+3"],
        "f": ["1", "2.5e-3", ".5"],
        "nan": ["NaN", "0.5", "nan"],
        "inf": ["inf", "-inf", "Infinity"],
        "bool": ["true", "false", ""],
        "True": ["True", "False", "True"],
        "mixed": ["true", "1", "0"],
        "NA": ["0.5", "NA", "null"],
        "zeros": ["007", "042", "1"],
        "long": ["12345678901234567890", "12345678901234567891", "1"],
        "huge": ["12345678901234567890", "0.5", "1"],
        "blank": ["", "", ""],
        "quoted": ['"0.5"', '""', "1"],
        "spaced": [" 1", "2", "3"],
        "date": ["2020-01-01", "2020-01-02", "2020-01-03"],
    }
    lines = [",".join(cells), *(",".join(row) for row in zip(*cells.values(), strict=True))]
    path = file(tmp_path / "x.csv", "\n".join(lines) + "\n")
    table = tables.read(path)
    types = {name: str(dtype) for name, dtype in table.schema.items()}
    assert types == {
        **dict.fromkeys(cells, "String"),
        **{"i": "Int64", "f": "Float64", "nan": "Float64", "inf": "Float64"},
        **{"bool": "Boolean", "huge": "Float64", "quoted": "Float64"},
    }
    assert table["i"].to_list() == [1, -2, 3]
    assert table["f"].to_list() == [1, 0.0025, 0.5]
    assert table["nan"].is_nan().to_list() == [True, False, True]
    assert table["inf"].to_list() == [np.inf, -np.inf, np.inf]
    assert table["bool"].to_list() == [True, False, None]
    assert table["quoted"].to_list() == [0.5, None, 1]
    for name in ("mixed", "NA", "zeros", "long", "spaced"):
        assert table[name].to_list() == cells[name]
    assert table["blank"].to_list() == [None, None, None]
    assert same(in_batches(path, rows=1), table)


def test_how_json_is_typed(tmp_path: Path) -> None:
    path = file(
        tmp_path / "x.jsonl",
        '{"i": 1, "f": 1, "n": NaN, "b": true, "s": "1", "m": 1, "l": [1, 0.5, "é"], "big": 1}\n'
        "\n"
        '{"i": 2, "f": 0.5, "n": -Infinity, "b": null, "s": "", "m": "x", "l": {"a": true},'
        ' "big": 12345678901234567890, "late": 3}\r\n'
        '{"i": -0, "f": 1e400, "m": false}',
    )
    table = tables.read(path)
    assert table.to_dict(as_series=False) == {
        "i": [1, 2, 0],
        "f": [1.0, 0.5, np.inf],
        "n": [pytest.approx(np.nan, nan_ok=True), -np.inf, None],
        "b": [True, None, None],
        "s": ["1", "", None],
        "m": ["1", "x", "false"],
        "l": ['[1, 0.5, "é"]', '{"a": true}', None],
        "big": ["1", "12345678901234567890", None],
        "late": [None, 3, None],
    }
    assert same(in_batches(path, rows=1), table)
    assert same(tables.read(path, ["late", "b"]), table[["late", "b"]])


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_types_hold_across_blocks(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.tables.text.BLOCK", 1 << 10)
    n = 2000
    late = pl.DataFrame(
        {
            "fraction": [1] * (n - 1) + [0.5],
            "word": [1] * (n - 1) + ["x"],
            "bool": [None] * (n - 1) + [True],
            "whole": [None] * (n - 1) + [7],
        },
        strict=False,
    ).with_columns(pl.col("word").cast(pl.String))
    path = tmp_path / f"x.{suffix}"
    if suffix == "csv":
        late.write_csv(path)
    else:
        rows = [
            {
                k: (int(v) if k in ("fraction", "word") and v in (1.0, "1") else v)
                for k, v in r.items()
            }
            for r in late.iter_rows(named=True)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert tables.read(path).dtypes == [pl.Float64, pl.String, pl.Boolean, pl.Int64]
    assert same(tables.read(path), late)
    for rows_a_batch in (7, n - 1, 10 * n):
        assert same(in_batches(path, rows=rows_a_batch), late)


@given(st.lists(st.floats(), min_size=1))
def test_floats_come_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, floats: list[float]
) -> None:
    folder = tmp_path_factory.mktemp("floats")
    text = "".join(f"{value!r},x\n" for value in floats)
    (folder / "x.csv").write_text("p,s\n0.5,x\n" + text)
    tables.write(pl.DataFrame({"p": [0.5, *floats]}), folder / "x.jsonl")
    for name in ("x.csv", "x.jsonl"):
        assert [struct.pack("d", value) for value in tables.read(folder / name)["p"][1:]] == [
            struct.pack("d", value) if value == value else struct.pack("d", float("nan"))
            for value in floats
        ]


def test_shapes_of_csv(tmp_path: Path) -> None:
    rows = [("1", "a b"), ("2", "c\nd"), ("3", 'e "f", g')]
    whole = pl.DataFrame({"p": [1, 2, 3], "the name": [name for _, name in rows]})
    text = 'p,the name\n1,a b\n2,"c\nd"\n3,"e ""f"", g"\n'
    for content in (
        text,
        text.rstrip("\n"),
        "\ufeff" + text,
        "\n\n" + text,
        text.replace("p,the name", '"p","the name"'),
        text.replace(",", ";").replace("; g", ", g"),
    ):
        assert same(tables.read(file(tmp_path / "x.csv", content)), whole)
        assert same(in_batches(file(tmp_path / "x.csv", content), rows=2), whole)
    windows = file(tmp_path / "x.csv", text.replace("c\nd", "cd").replace("\n", "\r\n"))
    assert tables.read(windows)["the name"].to_list() == ["a b", "cd", 'e "f", g']
    inches = file(tmp_path / "x.csv", 'size,p\n5" pipe,1\n')
    assert tables.read(inches)["size"].to_list() == ['5" pipe']
    pandas = file(tmp_path / "x.csv", ",p\n0,0.5\n1,0.25\n")
    assert tables.read(pandas).columns == ["", "p"]


def test_a_single_column_keeps_its_blank_lines(tmp_path: Path) -> None:
    assert tables.read(file(tmp_path / "x.csv", "p\n1\n\n3\n"))["p"].to_list() == [1, None, 3]
    assert tables.read(file(tmp_path / "x.csv", "p,q\n1,2\n\n3,4\n\n"))["p"].to_list() == [1, 3]


def test_quotation_marks_in_tsv_are_characters(tmp_path: Path) -> None:
    path = file(tmp_path / "x.tsv", '"token"\ttag\n"\tX\nYes\tX\n"\tX\n"say ""hi"""\t"0"\n')
    assert tables.read(path).to_dict(as_series=False) == {
        "token": ['"', "Yes", '"', 'say "hi"'],
        "tag": ["X", "X", "X", "0"],
    }


def test_nothing_but_white_space(tmp_path: Path) -> None:
    path = file(tmp_path / "x.jsonl", "\n \n")
    assert str(refusal(path)) == f"{path}: there are no rows; give a table with at least one row"
    path = file(tmp_path / "x.csv", "\n\n")
    assert str(refusal(path)) == f"{path}: the file is empty; give a table with at least one row"


def test_ragged_rows(tmp_path: Path) -> None:
    for content, line, cells in (
        ("p,y\n1,2\n3\n", 3, 1),
        ("p,y\r\n1,2\r\n3,4,5\r\n", 3, 3),
        ('\n\np,y\n1,"a\nb"\n\n3,4,5\n1\n', 7, 3),
    ):
        path = file(tmp_path / "x.csv", content)
        assert str(refusal(path, ["p"])) == (
            f"{path}, line {line}: the header has 2 cells, this row {cells}; "
            "put quotation marks around a cell that holds a delimiter"
        )
    path = file(tmp_path / "x.tsv", 'p\ty\n1\t"a\nb"\n')
    assert str(refusal(path)) == (
        f"{path}, line 3: the header has 2 cells, this row 1; "
        "take tabs and line ends out of the cells, or save the file as CSV"
    )


def test_a_ragged_row_far_into_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.tables.text.BLOCK", 1 << 16)
    path = tmp_path / "x.csv"
    path.write_text("p,y\n" + "0.5,1\n" * 100_000 + "1\n" + "0.5,1\n" * 100_000)
    assert refusal(path).where == f"{path}, line 100002"


def test_a_row_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.tables.text.BLOCK", 1 << 10)
    path = file(tmp_path / "x.csv", "p,s\n" + "1,x\n" * 1000 + f"1,{'x' * 5000}\n" + "1,x\n" * 1000)
    assert str(refusal(path)) == (
        f"{path}: a row is longer than 1,024 bytes; write Parquet or JSONL"
    )


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ('p,y\n1,"2\n3,4\n', 2, "unexpected end of data"),
        ('p,"y\n1,2\n', 1, "unexpected end of data"),
        ('p,y\n1,2\n"', 3, "unexpected end of data"),
        ('p,y\n1",2\n3,"4\n', 3, "unexpected end of data"),
        ('p,y\n1,"2\n3,4\n5,"6\n', 2, "',' expected after '\"'"),
        ('p;y\n1;"2"3\n', 2, "';' expected after '\"'"),
    ],
)
def test_quotation_marks_that_would_swallow_rows(
    content: str, line: int, reason: str, tmp_path: Path
) -> None:
    path = file(tmp_path / "x.csv", content)
    assert str(refusal(path)) == (
        f"{path}, line {line}: the row cannot be split ({reason}); "
        "close each quotation mark; double it in cells"
    )


@settings(deadline=None)
@given(
    body=st.text(st.sampled_from('""",,\n\nab1é'), min_size=1),
    width=st.integers(1, 3),
    block=st.integers(1, 9),
)
def test_rows_are_those_of_the_csv_module(
    body: str, width: int, block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_text(",".join("pqr"[:width]) + "\n" + body)
    try:
        with path.open(newline="") as text:
            rows = [row or [""] for row in csv.reader(text, strict=True) if row or width == 1][1:]
    except csv.Error:
        rows = []
    if not rows or any(len(row) != width for row in rows):
        refusal(path)
        return
    table = tables.read(path)
    assert table.height == len(rows)
    for name, cells in zip(table.columns, zip(*rows, strict=True), strict=True):
        for value, cell in zip(table[name], cells, strict=True):
            assert value == (float(cell) if isinstance(value, int) else cell or value)
    with pytest.MonkeyPatch.context() as patch, path.open("rb") as text:
        whole = well_quoted(text, ",")
        text.seek(0)
        patch.setattr("gnomon.tables.text.BLOCK", block)
        assert well_quoted(text, ",") == whole


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_text_that_is_not_utf8(suffix: str, tmp_path: Path) -> None:
    lines = {
        "csv": [b"p,s", b"1,x", b"2,a\xe9"],
        "tsv": [b"p\ts", b"1\tx", b"2\ta\xe9"],
        "jsonl": [b'{"p": 1}', b"", b'{"s": "\xe9"}'],
    }[suffix]
    path = file(tmp_path / f"x.{suffix}", b"\n".join(lines))
    byte = lines[2].index(b"\xe9") + 1
    assert str(refusal(path)) == (
        f"{path}, line 3: byte {byte} of the line is not UTF-8; save the file as UTF-8"
    )
    path = file(tmp_path / f"x.{suffix}", "p,s\n1,2\n".encode("utf-16"))
    assert str(refusal(path)) == (
        f"{path}, line 1: byte 1 of the line is not UTF-8; save the file as UTF-8"
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"p": 0.5', "not JSON at column 10 (Expecting ',' delimiter)"),
        ("{'p': 1}", "not JSON at column 2 (Expecting property name enclosed in double quotes)"),
        ('{"p": 1} {"p": 2}', "not JSON at column 10 (Extra data)"),
        ("[0.5, 1]", "not an object"),
        ("0.5", "not an object"),
        ('{"p": ' + "[" * 100_000 + "}", "not JSON we can take (maximum recursion depth"),
        ('{"p": "\\ud800"}', "not JSON we can take ('utf-8' codec can't encode character"),
        ('{"\\uDc00": 1}', "not JSON we can take ('utf-8' codec can't encode character"),
    ],
)
def test_bad_lines_of_json(line: str, problem: str, tmp_path: Path) -> None:
    path = file(tmp_path / "x.jsonl", '{"p": 1}\n\n' + line + "\n")
    error = refusal(path)
    assert error.where == f"{path}, line 3"
    assert error.problem.startswith(problem)
    assert error.remedy == "give one {...} a line"


def test_json_without_keys(tmp_path: Path) -> None:
    path = file(tmp_path / "x.jsonl", "{}\n{}\n")
    assert str(refusal(path)) == f"{path}: there are no rows; give a table with at least one row"
    assert tables.read(file(tmp_path / "x.jsonl", '{}\n{"p": 1}\n'))["p"].to_list() == [None, 1]
    assert (
        refusal(file(tmp_path / "x.jsonl", '{"p": 1}\n{"q": 1}\n'), ["y"]).problem
        == "no column 'y'"
    )
