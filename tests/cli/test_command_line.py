"""The command itself: what it prints, what it writes, how it refuses."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import gnomon
from gnomon.calibration.recalibrate import Recalibrator
from gnomon.cli import run

KEYS = {
    "n", "base_rate", "calibration_error", "ece", "max_error", "brier", "calibration", "refinement",
    "within_bin", "log_loss", "bins", "tests", "signature",
}  # fmt: skip


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        assert self.code == 0, self.err
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed


Gnomon = Callable[..., Done]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Gnomon:
    def call(*arguments: object) -> Done:
        code = run([str(each) for each in arguments])
        return Done(code, *capfd.readouterr())

    return call


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    q = rng.beta(0.6, 0.8, 3000)
    return pl.DataFrame(
        {
            "q": q,
            "y": (rng.random(3000) < q**1.5).astype(int),
            "w": rng.integers(0, 3, 3000),
            "g": rng.choice(["NN", "VB", "<b>&"], 3000),
            "better": q**1.5,
        }
    )


@pytest.fixture(scope="module")
def table(frame: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "scores.csv"
    frame.write_csv(path)
    return path


def test_json_has_the_documented_keys_and_the_library_s_numbers(
    command: Gnomon, table: Path, frame: pl.DataFrame
) -> None:
    told = command("calibrate", table, "--prob", "q", "--label", "y", "--json").json
    assert set(told) >= KEYS
    assert set(told["calibration_error"]) >= {"value", "debiased", "low", "high", "level", "method"}
    assert set(told["bins"][0]) == {"n", "q", "p", "low", "high"}
    assert told == json.loads(json.dumps(gnomon.calibrate(frame["q"], frame["y"]).to_dict()))


def test_text_says_the_same(command: Gnomon, table: Path, frame: pl.DataFrame) -> None:
    done = command("calibrate", table, "--prob", "q", "--label", "y")
    assert done.code == 0
    assert done.out.strip() == str(gnomon.calibrate(frame["q"], frame["y"]))
    assert "overconfident" in done.out.lower()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl", "npz", "csv.gz"])
def test_every_format_gives_the_same_answer(
    command: Gnomon, table: Path, frame: pl.DataFrame, tmp_path: Path, suffix: str
) -> None:
    from gnomon.tables import write

    other = tmp_path / f"scores.{suffix}"
    write(frame.drop("g"), other)
    same = ("--prob", "q", "--label", "y", "--weight", "w", "--json")
    assert command("calibrate", other, *same).json == command("calibrate", table, *same).json


def test_standard_input(command: Gnomon, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table.read_bytes())))
    piped = command("calibrate", "-", "--prob", "q", "--label", "y", "--json").json
    assert piped == command("calibrate", table, "--prob", "q", "--label", "y", "--json").json


def test_groups(command: Gnomon, table: Path, frame: pl.DataFrame) -> None:
    told = command("calibrate", table, "--prob", "q", "--label", "y", "--group", "g", "--json").json
    assert {row["group"] for row in told["groups"]} == {"NN", "VB", "<b>&"}
    verbs = frame.filter(pl.col("g") == "VB")
    alone = gnomon.calibrate(verbs["q"], verbs["y"]).calibration_error.to_dict()
    row = next(row for row in told["groups"] if row["group"] == "VB")
    assert row["calibration_error"] == alone
    assert [average["k"] for average in told["averages"]] == [3]


def test_compare(command: Gnomon, table: Path) -> None:
    told = command(
        "calibrate", table, "--prob", "q", "--label", "y", "--compare", "better", "--json"
    ).json
    assert told["names"] == ["q", "better"]
    assert told["difference"]["low"] > 0
    text = command("calibrate", table, "--prob", "q", "--label", "y", "--compare", "better").out
    assert "better calibrated: better" in text


def test_classes(command: Gnomon, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 900)
    truth = (p.cumsum(axis=1) > rng.random((900, 1))).argmax(axis=1)
    path = tmp_path / "classes.csv"
    columns = {f"p_{name}": p[:, k] for k, name in enumerate(("cat", "dog", "emu"))}
    names = np.array(["cat", "dog", "emu"])[truth]
    pl.DataFrame({**columns, "truth": names}).write_csv(path)
    arguments = ("--prob", "p_cat,p_dog,p_emu", "--label", "truth", "--json")
    told = command("calibrate", path, *arguments).json
    assert {row["group"] for row in told["classes"]["groups"]} == {"cat", "dog", "emu"}
    assert told["accuracy"] == pytest.approx(np.mean(p.argmax(axis=1) == truth))
    streamed = command("calibrate", path, *arguments, "--stream").json
    assert streamed["accuracy"] == told["accuracy"]


def test_streaming_stays_within_its_bound_and_states_add_up(
    command: Gnomon, table: Path, frame: pl.DataFrame, tmp_path: Path
) -> None:
    exact = command("calibrate", table, "--prob", "q", "--label", "y", "--json").json
    parts = []
    for k, rows in enumerate((frame[:1000], frame[1000:])):
        part, state = tmp_path / f"part{k}.csv", tmp_path / f"state{k}.npz"
        rows.write_csv(part)
        assert (
            command("calibrate", part, "--prob", "q", "--label", "y", "--save-state", state).code
            == 0
        )
        parts.append(state)
    merged = command("calibrate", *parts, "--json").json
    streamed = command("calibrate", table, "--prob", "q", "--label", "y", "--stream", "--json").json
    assert merged["calibration_error"]["value"] == pytest.approx(
        streamed["calibration_error"]["value"], abs=1e-12
    )
    bound = float(
        next(n for n in streamed["notes"] if "within" in n).split("within ")[1].split()[0]
    )
    off = abs(streamed["calibration_error"]["value"] - exact["calibration_error"]["value"])
    assert off <= bound * 1.05  # the note rounds it
    assert streamed["n"] == merged["n"] == 3000
    assert streamed["brier"] == pytest.approx(exact["brier"], abs=1e-12)


def test_several_tables_count_as_one(
    command: Gnomon, table: Path, frame: pl.DataFrame, tmp_path: Path
) -> None:
    frame[:1200].write_parquet(tmp_path / "a.parquet")
    frame[1200:].write_csv(tmp_path / "b.csv")
    arguments = ("--prob", "q", "--label", "y", "--json")
    both = command("calibrate", tmp_path / "a.parquet", tmp_path / "b.csv", *arguments).json
    assert both == command("calibrate", table, *arguments).json


def test_a_large_file_is_streamed_unasked(
    command: Gnomon, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("calibrate", table, "--prob", "q", "--label", "y", "--json")
    assert not any("streamed" in note for note in command(*arguments).json["notes"])
    monkeypatch.setattr("os.sysconf", lambda name: 1000 if "SIZE" in name else 100)
    assert any("streamed" in note for note in command(*arguments).json["notes"])
    assert not any("streamed" in note for note in command(*arguments, "--no-stream").json["notes"])


def test_binnings_side_by_side(command: Gnomon, table: Path, tmp_path: Path) -> None:
    kinds = ["width:0.02", "width:0.1", "adaptive"]
    told = command("calibrate", table, "--prob", "q", "--label", "y", "--json",
                   "--binning", ",".join(kinds), "--chart", tmp_path / "figure1.svg",
                   "--html", tmp_path / "page.html").json  # fmt: skip
    assert list(told) == kinds
    briers = [told[kind]["brier"] for kind in kinds]  # no binning changes the score they take apart
    assert briers == pytest.approx([briers[0]] * 3, abs=1e-12)
    assert told["width:0.1"]["calibration"] != told["adaptive"]["calibration"]
    assert len(told["width:0.02"]["bins"]) == 50
    assert (tmp_path / "figure1.svg").read_text().startswith("<svg")
    text = command("calibrate", table, "--prob", "q", "--label", "y", "--binning", ",".join(kinds))
    assert text.out.startswith("width:0.02\n")


@pytest.mark.parametrize("interval", ["simulation", "bootstrap"])
def test_intervals_by_name_and_seed(command: Gnomon, table: Path, interval: str) -> None:
    arguments = ("calibrate", table, "--prob", "q", "--label", "y", "--interval", interval,
                 "--draws", "50", "--json", "--seed")  # fmt: skip
    first, again, other = (command(*arguments, seed).json for seed in (0, 0, 1))
    assert first == again
    assert first["calibration_error"]["method"] == interval
    assert first["calibration_error"]["low"] != other["calibration_error"]["low"]


def test_charts_and_page(command: Gnomon, table: Path, tmp_path: Path) -> None:
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<svg"), (".json", b"{")):
        target = tmp_path / f"chart{suffix}"
        assert (
            command("calibrate", table, "--prob", "q", "--label", "y", "--chart", target).code == 0
        )
        assert target.read_bytes().startswith(start)
    for extra in ((), ("--group", "g"), ("--compare", "better")):
        page, chart = tmp_path / "page.html", tmp_path / "chart.svg"
        done = command("calibrate", table, "--prob", "q", "--label", "y", *extra,
                       "--html", page, "--chart", chart)  # fmt: skip
        assert done.code == 0, done.err
        assert "<title>" in page.read_text()


def test_recalibrate_fit_and_apply(
    command: Gnomon, table: Path, frame: pl.DataFrame, tmp_path: Path
) -> None:
    model, out = tmp_path / "model.json", tmp_path / "mended.parquet"
    done = command("recalibrate", "fit", table, "--prob", "q", "--label", "y", "--out", model,
                   "--html", tmp_path / "fit.html")  # fmt: skip
    assert done.code == 0, done.err
    assert "Better calibrated: after" in done.out
    told = command("recalibrate", "fit", table, "--prob", "q", "--label", "y", "--out", model,
                   "--json").json  # fmt: skip
    assert told["second"]["brier"] < told["first"]["brier"]
    assert command("recalibrate", "apply", model, table, "--prob", "q", "--out", out).code == 0
    mended = pl.read_parquet(out)
    assert mended.columns == [*frame.columns, "recalibrated"]
    learned = Recalibrator.from_json(model.read_text())
    np.testing.assert_array_equal(mended["recalibrated"], learned.apply(frame["q"]))


def test_recalibrate_classes(command: Gnomon, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 2000)
    truth = (p.cumsum(axis=1) > rng.random((2000, 1))).argmax(axis=1)
    sharp = p**3 / (p**3).sum(axis=1, keepdims=True)
    path, model, out = (tmp_path / name for name in ("k.parquet", "m.json", "o.csv"))
    pl.DataFrame({"p_a": sharp[:, 0], "p_b": sharp[:, 1], "p_c": sharp[:, 2],
                  "y": np.array(["a", "b", "c"])[truth]}).write_parquet(path)  # fmt: skip
    prob = ("--prob", "p_a,p_b,p_c")
    fit = ("recalibrate", "fit", path, *prob, "--label", "y", "--method", "temperature")
    told = command(*fit, "--out", model, "--json").json
    assert told["recalibrator"]["parameters"]["temperature"] == pytest.approx(3, rel=0.15)
    assert command("recalibrate", "apply", model, path, *prob, "--out", out).code == 0
    mended = pl.read_csv(out).select("p_a_recalibrated", "p_b_recalibrated", "p_c_recalibrated")
    np.testing.assert_allclose(mended.to_numpy().sum(axis=1), 1)


def test_version_and_help(command: Gnomon) -> None:
    assert command("--version").out == f"gnomon {gnomon.__version__}\n"
    assert command("--help").code == command("calibrate", "--help").code == 0
    assert command().code == 2


REFUSALS = {
    "no such file": (["calibrate", "absent.csv"], "absent.csv"),
    "no such column": (["calibrate", "TABLE"], "the columns are 'q', 'y', 'w', 'g', 'better'"),
    "labels": (["calibrate", "TABLE", "--prob", "q", "--label", "g"], "seen: '<b>&', 'NN', 'VB'"),
    "not chances": (["calibrate", "TABLE", "--prob", "w", "--label", "y"], "is not a probability"),
    "bin size": (["calibrate", "TABLE", "--bin-size", "many"], "give a number or auto"),
    "bin size 0": (["calibrate", "TABLE", "--bin-size", "0"], "give 1 or more"),
    "binning": (["calibrate", "TABLE", "--binning", "width:2"], "give adaptive, or width:0.1"),
    "interval": (["calibrate", "TABLE", "--interval", "x"], "score, simulation, bootstrap"),
    "level": (["calibrate", "TABLE", "--level", "95"], "give a number such as 0.95"),
    "option": (["calibrate", "TABLE", "--colour"], "No such option: --colour"),
    "command": (["divine"], "No such command 'divine'"),
    "chart": (["calibrate", "TABLE", "--chart", "x.gif"], "end the name in .png"),
    "page's folder": (["calibrate", "TABLE", "--html", "no/where.html"], "folder does not exist"),
    "two things": (["calibrate", "TABLE", "--group", "g", "--compare", "w"], "one of them at a"),
    "streamed comparison": (
        ["calibrate", "TABLE", "--prob", "q", "--label", "y", "--compare", "better", "--stream"],
        "--no-stream",
    ),
    "top": (["calibrate", "TABLE", "--top", "five"], "give 5,100"),
    "paper": (["reproduce", "unknown-1999"], "nguyen-oconnor-2015"),
    "part": (["reproduce", "nguyen-oconnor-2015", "--only", "music"], "text"),
    "no model": (["recalibrate", "apply", "absent.json", "TABLE"], "absent.json"),
    "not a model": (["recalibrate", "apply", "TABLE", "TABLE"], "scores.csv"),
    "method": (
        ["recalibrate", "fit", "TABLE", "--prob", "q", "--label", "y", "--out", "m.json",
         "--method", "magic"], "magic",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_bad_input_gets_one_line_and_leaves_nothing_behind(
    command: Gnomon, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, message = REFUSALS[case]
    done = command(*(table if each == "TABLE" else each for each in arguments))
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert done.err.startswith("gnomon: ")
    assert message in done.err
    assert not list(tmp_path.iterdir())


def test_a_row_is_named_in_a_later_batch(
    command: Gnomon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "late.csv"
    path.write_text("probability,label\n" + "0.5,1\n" * 30 + "7,1\n")
    import gnomon.tables as tables

    whole = tables.read_batches
    monkeypatch.setattr(tables, "read_batches", lambda *a, **k: whole(*a, **k, rows=10))
    done = command("calibrate", path, "--stream")
    assert done.code == 2
    assert "late.csv (counting from row 31), column probability, row 1: 7 is not" in done.err


def test_the_installed_command() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "gnomon", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"gnomon {gnomon.__version__}\n"


def test_a_closed_pipe_is_no_error_message(table: Path) -> None:
    done = subprocess.run(
        f"'{Path(sys.executable).parent / 'gnomon'}' calibrate '{table}' --prob q --label y --json"
        " | head -n 1",
        shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "{\n"
    assert done.stderr == ""
