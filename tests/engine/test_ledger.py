"""The ledger: what is refused, what is taken up again, and what it says of the parts."""

import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import tables
from gnomon.engine.ledger import Ledger, writing
from gnomon.engine.shards import Outcome
from gnomon.errors import InputError

SETTINGS = {"model": "small", "sizes": (1, 2)}
PROBLEM = {"id": "x", "problem": "no text"}


def filled(folder: Path, section: str = "documents", settings: Any = None) -> Ledger:
    """A finished section of three parts, the second with a problem."""
    with writing(folder, section, settings or SETTINGS, ".bin") as ledger:
        for i in range(3):
            problems = (PROBLEM,) if i == 1 else ()
            ledger.commit(i, [f"{i}a", f"{i}b"], Outcome(b"rows" * (i + 1), i, problems, {"w": i}))
        ledger.finish(3)
    return Ledger(folder / "manifest.json", section)


def refusal(folder: Path, settings: Any = None, section: str = "documents") -> str:
    """The message of the error on taking up a folder again."""
    with pytest.raises(InputError) as caught, writing(folder, section, settings or SETTINGS):
        pass
    message = str(caught.value).replace(str(folder), "FOLDER")
    assert "\n" not in message
    return message


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    assert ledger.finished
    assert ledger.settings == {"model": "small", "sizes": [1, 2]}
    assert [part.rows for part in ledger.records] == [0, 1, 2]
    assert [part.problems for part in ledger.records] == [0, 1, 0]
    assert [part.counts for part in ledger.records] == [{"w": 0}, {"w": 1}, {"w": 2}]
    paths = ledger.parts(tmp_path, digests=True)
    assert [path.read_bytes() for path in paths] == [b"rows", b"rowsrows", b"rowsrowsrows"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "documents",
        "manifest.json",
        "quarantine",
    ]
    assert len(list((tmp_path / "documents").iterdir())) == 3
    quarantine = tables.read(tmp_path / "quarantine" / "documents-00001.jsonl")
    assert quarantine.to_dicts() == [PROBLEM]


def test_sections_do_not_disturb_each_other(tmp_path: Path) -> None:
    filled(tmp_path)
    before = json.loads((tmp_path / "manifest.json").read_bytes())["sections"]["documents"]
    filled(tmp_path, "posterior", {"model": "large"})
    filled(tmp_path, "annotations", {"model": "none"})
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    assert list(manifest["sections"]) == ["annotations", "documents", "posterior"]
    assert manifest["sections"]["documents"] == before
    assert len(list((tmp_path / "quarantine").iterdir())) == 3


def test_the_first_setting_that_differs_is_named(tmp_path: Path) -> None:
    filled(tmp_path)
    remedy = "give the same setting, or name another folder"
    assert refusal(tmp_path, {"model": "large", "sizes": [1, 3]}) == (
        f"FOLDER: its documents were made with model 'small', not 'large'; {remedy}"
    )
    assert refusal(tmp_path, {"model": "small"}) == (
        f"FOLDER: its documents were made with sizes [1, 2], not 'not set'; {remedy}"
    )
    assert refusal(tmp_path, {**SETTINGS, "seed": 0}) == (
        f"FOLDER: its documents were made with seed 'not set', not 0; {remedy}"
    )
    with writing(tmp_path, "documents", SETTINGS, ".bin") as ledger:
        assert len(ledger.records) == 3


def test_a_newer_format(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"format": 2, "chapters": []}')
    assert refusal(tmp_path) == (
        "FOLDER/manifest.json: made by a newer Gnomon (format 2; this one reads 1); "
        'upgrade with: pip install --upgrade "gnomon[all]"'
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "\x00\xff",
        "{}",
        '{"format": true, "sections": {}}',
        '{"format": 0, "sections": {}}',
        '{"format": 1}',
        '{"format": 1, "sections": {"documents": 3}}',
        '{"format": 1, "sections": {"documents": {}}}',
        '{"format": 1, "sections": {"documents": {"settings": 3}}}',
        '{"format": 1, "sections": {"documents": {"settings": {}, "finished": 1, "parts": 3}}}',
        '{"format": 1, "sections": {"documents": {"settings": {}, "finished": 1, "parts": [3]}}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_manifest(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    message = refusal(tmp_path)
    assert message.startswith("FOLDER/manifest.json: this manifest is damaged (")
    assert message.endswith("; restore it from a copy, or start in another folder")


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    path = filled(tmp_path_factory.mktemp("altered")).path
    return path, path.read_bytes()


@given(st.data())
def test_a_manifest_cut_or_altered_never_ends_in_another_error(
    manifest: tuple[Path, bytes], data: st.DataObject
) -> None:
    path, text = manifest[0], bytearray(manifest[1])
    at = data.draw(st.integers(0, len(text) - 1))
    if data.draw(st.booleans()):
        text[at] = data.draw(st.integers(0, 255))
    else:
        del text[at:]
    path.write_bytes(text)
    try:
        parts = Ledger(path, "documents").parts(digests=True)
    except InputError as error:
        message = str(error)
    else:
        message = ", ".join(part.name for part in parts)
    assert "part-" in message or "manifest" in message or "documents" in message
    assert "\n" not in message


def test_a_part_elsewhere_is_no_part(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace("part-00001.bin", "../../part-00001.bin"))
    assert "'../../part-00001.bin' is no name of a part" in refusal(tmp_path)


def test_missing_and_damaged_parts_are_named(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    path = tmp_path / "documents" / "part-00001.bin"
    path.write_bytes(b"ROWSROWS")
    assert len(ledger.parts()) == 3  # the length is right, and nobody asked for more
    with pytest.raises(InputError, match=r"part-00001\.bin: its content is not what was written;"):
        ledger.parts(digests=True)
    path.write_bytes(b"rows")
    with pytest.raises(InputError, match=r"part-00001.bin: it has 4 bytes instead of 8;"):
        ledger.parts()
    path.unlink()
    with pytest.raises(InputError, match=r"part-00001.bin: cannot be read \(No such file"):
        ledger.parts()


def test_what_is_not_there_or_not_finished(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it has no documents; make them first"):
        Ledger(tmp_path / "manifest.json", "documents").parts()
    with writing(tmp_path, "documents", SETTINGS, ".bin") as ledger:
        ledger.commit(1, ["a"], Outcome(b"rows", 1))
        ledger.save()
    ledger = Ledger(tmp_path / "manifest.json", "documents")
    with pytest.raises(InputError, match="its documents are not finished; give the command"):
        ledger.parts()
    assert [path.name for path in ledger.parts(unfinished=True)] == ["part-00001.bin"]


def test_a_part_the_manifest_does_not_list_yet_is_taken_up(tmp_path: Path) -> None:
    filled(tmp_path)
    kept = (tmp_path / "manifest.json").read_bytes()
    with writing(tmp_path, "documents", SETTINGS, ".bin") as ledger:
        ledger._saved = float("inf")  # as if the run were killed before it writes the manifest
        ledger.finished = False
        ledger.commit(3, ["3a"], Outcome(b"late", 1, (PROBLEM,)))
        ledger.commit(4, ["4a"], Outcome(b"later", 1, (PROBLEM,)))
        assert (tmp_path / "manifest.json").read_bytes() == kept
    (tmp_path / "documents" / "part-00004.bin").unlink()
    (tmp_path / "documents" / ".gnomon-0123").write_bytes(b"la")
    (tmp_path / ".gnomon-4567").write_bytes(b"{")
    with writing(tmp_path, "documents", SETTINGS, ".bin") as ledger:
        assert [part.index for part in ledger.records] == [0, 1, 2, 3]
        assert ledger.holds(3, ["3a"])
        assert not ledger.holds(4, ["4a"])
        left = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert left == [
        ".lock",
        "documents-00001.jsonl",
        "documents-00003.jsonl",
        "manifest.json",
        *(f"part-0000{i}.bin" for i in range(4)),
    ]


def test_a_lost_part_is_made_again(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "quarantine" / "documents-00001.jsonl").unlink()
    (tmp_path / "documents" / "part-00002.bin").write_bytes(b"ro")
    with writing(tmp_path, "documents", SETTINGS, ".bin") as ledger:
        done = [ledger.holds(i, [f"{i}a", f"{i}b"]) for i in range(3)]
    assert done == [True, False, False]
    assert not Ledger(tmp_path / "manifest.json", "documents").finished


def test_parts_of_unknown_origin_are_not_written_over(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "manifest.json").unlink()
    assert "the manifest knows nothing of part-0000" in refusal(tmp_path)
    assert len(list((tmp_path / "documents").iterdir())) == 3
    assert not (tmp_path / "manifest.json").exists()


def test_other_items_than_the_first_time(tmp_path: Path) -> None:
    filled(tmp_path)
    with writing(tmp_path, "documents", SETTINGS, ".bin") as ledger:
        with pytest.raises(InputError, match="its items '1a' to '1c' now stand here"):
            ledger.holds(1, ["1a", "1c"])
        with pytest.raises(InputError, match=r"part-00002\.bin: .* ends before the items of this"):
            ledger.finish(2)


def hold(folder: Path, ready: Any) -> None:
    with writing(folder, "documents", SETTINGS):
        ready.send("ready")
        time.sleep(3600)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    other = context.Process(target=hold, args=(tmp_path, there))
    other.start()
    try:
        assert here.recv() == "ready"
        message = "FOLDER: another run is writing here; wait until it ends"
        assert refusal(tmp_path) == message
        assert refusal(tmp_path, section="posterior") == message
    finally:
        other.kill()
        other.join()
        here.close()
        there.close()
    with writing(tmp_path, "documents", SETTINGS):
        assert refusal(tmp_path) == message
    assert not (tmp_path / ".lock").exists()


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert refusal(tmp_path / "file") == (
        "FOLDER/documents: cannot be written (Not a directory); name a folder you may write to"
    )


@pytest.mark.parametrize("section", ["", "../up", "quarantine", "Documents", "a b"])
def test_sections_are_plain_words(section: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no name of one; use letters a to z"):
        Ledger(tmp_path / "manifest.json", section)
    assert "is no name of one" in refusal(tmp_path / "new", section=section)
    assert list(tmp_path.iterdir()) == []


def test_settings_must_be_json(tmp_path: Path) -> None:
    for value in ({1, 2}, float("nan")):
        assert "settings: they cannot be written as JSON (" in refusal(tmp_path, {"x": value})


def test_half_characters_are_spelt_out(tmp_path: Path) -> None:
    with writing(tmp_path, "documents", {"file": "\udcff"}) as ledger:
        ledger.commit(0, ["\udcff"], Outcome(b"", 0, ({"id": "a\udcffé\n", "problem": "bytes"},)))
        ledger.finish(1)
    quarantine = tables.read(tmp_path / "quarantine" / "documents-00000.jsonl")
    assert quarantine["id"].to_list() == ["a\\udcffé\n"]
