"""The documentation is tested: it must name what the program has, and nothing else."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def test_the_command_line_reference_is_current() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "make_docs.py"))["reference"]()
    assert made == (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), "run: make docs"


def test_every_key_of_the_json_is_documented() -> None:
    import gnomon

    text = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    result = gnomon.calibrate([0.2, 0.8, 0.7], [0, 1, 1]).to_dict()
    missing = [key for key in result if f"`{key}`" not in text]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_options_in_the_documentation_exist(page: Path) -> None:
    known = set(
        re.findall(r"`(--[a-z-]+)`", (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"))
    )
    known |= {"--help", "--version"}
    for command in re.findall(r"^gnomon .*$", page.read_text(encoding="utf-8"), re.MULTILINE):
        used = set(re.findall(r"(?<=\s)--[a-z-]+", command))
        assert used <= known, f"{page.name}: {command}"


def test_the_readme_s_commands_are_in_the_makefile() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z]+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert "make test" in readme
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
