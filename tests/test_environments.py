"""The core needs only what it says it needs.

Virtual environments are made with nothing in them but links to the packages they may use, so the
test needs no network.
"""

import json
import os
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import gnomon

SOURCE = Path(gnomon.__file__).parent.parent
OPTIONAL = ["numba", "sklearn", "spacy", "pycrfsuite", "starlette", "distributed", "pandas"]


def closure(names: list[str]) -> set[str]:
    """The packages named and all they require, extras left out."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for line in distribution(name).requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name.lower())
    return seen


def bare_environment(folder: Path, names: set[str]) -> Path:
    """A virtual environment that holds these packages and Gnomon's source; its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in names - {"gnomon"}:
        files = distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            source = Path(str(distribution(name).locate_file(top)))
            if not (site / top).exists():
                (site / top).symlink_to(source)
    (site / "gnomon").symlink_to(SOURCE / "gnomon")
    return folder / "bin" / "python"


def run(python: Path, code: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(
        [python, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def minimal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_environment(tmp_path_factory.mktemp("minimal"), closure(["numpy", "scipy"]))


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_environment(tmp_path_factory.mktemp("core"), closure(["gnomon"]))


def test_the_numerics_need_numpy_and_scipy_only(minimal: Path) -> None:
    code = (
        "import gnomon, importlib.util as u, json;"
        "assert not any(u.find_spec(m) for m in ('polars', 'altair', 'typer', 'sklearn'));"
        "r = gnomon.calibrate([0.1, 0.9, 0.8, 0.3], [0, 1, 1, 0]);"
        "g = gnomon.calibrate_groups([0.1, 0.9], [0, 1], ['a', 'b']);"
        "from gnomon.calibration.recalibrate import fit;"
        "fit([0.1, 0.9, 0.8, 0.3], [0, 1, 0, 1], method='temperature');"
        "print(json.dumps(r.to_dict()['n']))"
    )
    done = run(minimal, code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == 4


def test_the_command_line_needs_no_extra(core: Path, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("probability,label\n0.1,0\n0.9,1\n0.8,1\n0.3,0\n")
    code = (
        "import importlib.util as u, sys;"
        f"assert not any(u.find_spec(m) for m in {OPTIONAL!r});"
        "from gnomon.cli import run;"
        f"code = run(['calibrate', {str(table)!r}, '--html', {str(tmp_path / 'page.html')!r},"
        f" '--chart', {str(tmp_path / 'chart.png')!r}, '--json']);"
        "sys.exit(code)"
    )
    done = run(core, code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 4
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_a_missing_extra_names_the_install_that_helps(core: Path) -> None:
    done = run(
        core,
        "from gnomon.models.text import TextClassifier; TextClassifier().fit(['a', 'b'], [1, 0])",
    )
    assert done.returncode != 0
    assert 'pip install "gnomon[text]"' in done.stderr


def test_importing_gnomon_imports_nothing_heavy() -> None:
    code = (
        "import sys, gnomon;"
        "heavy = {'numpy', 'scipy', 'polars', 'pyarrow', 'altair', 'numba', 'sklearn', 'spacy'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = run(Path(sys.executable), code)
    assert done.stdout.strip() == "[]", done.stderr


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from gnomon.cli import run; run(['--help']);"
        "heavy = {'scipy', 'polars', 'pyarrow', 'altair', 'numba', 'sklearn', 'spacy'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = run(Path(sys.executable), code)
    assert done.stderr.strip() == "[]"
    assert "calibrate" in done.stdout
