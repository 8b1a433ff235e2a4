"""Imports point backwards along the flow: results never know who shows them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gnomon

PACKAGE = Path(gnomon.__file__).parent

# A room may import from the rooms in its own line and in the lines above; nothing imports the last.
FLOW = [
    {"", "errors", "estimate"},
    {"tables"},
    {"engine"},
    {"corpus"},
    {"models", "wire"},
    {"calibration", "events", "scoring", "audit"},
    {"charts"},
    {"report"},
    {"reproduce", "demo", "web"},
    {"cli"},
]
RANK = {room: rank for rank, rooms in enumerate(FLOW) for room in rooms}
# Numerics: arrays in, numbers out. They read no files, print nothing, plot nothing.
NUMERIC = {"calibration", "scoring"}
FORBIDDEN_IN_NUMERICS = {"polars", "pyarrow", "altair", "typer", "rich", "os", "pathlib", "sklearn"}


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Every module a file imports, at the top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield str(node.module)
            if node.module == "gnomon":
                yield from (f"gnomon.{alias.name}" for alias in node.names)


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_backwards(path: Path) -> None:
    room = room_of(path)
    assert room in RANK, f"{room}: a new room; say where in the flow it stands"
    if room == "":  # the package's own names are loaded lazily
        return
    for module in imported(path):
        parts = module.split(".")
        if parts[0] != "gnomon" or len(parts) == 1:
            continue
        target = parts[1] if parts[1] in RANK else ""
        assert RANK[target] <= RANK[room], f"{room} imports {module}, which comes after it"
        if RANK[target] == RANK[room] and target != room:
            assert room in FLOW[0], f"{room} imports {module}, its neighbour"


@pytest.mark.parametrize(
    "path", [p for p in FILES if room_of(p) in NUMERIC], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_numerics_touch_nothing_outside(path: Path) -> None:
    found = {module.split(".")[0] for module in imported(path)} & FORBIDDEN_IN_NUMERICS
    assert not found
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"print", "open", "input"}


def test_only_the_command_line_prints_or_exits() -> None:
    for path in FILES:
        if room_of(path) == "cli":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not names & {"print", "exit", "quit"}, path
