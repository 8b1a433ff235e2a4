"""The folder a run writes: its numbered parts, and the manifest that lists them.

    corpus/manifest.json                     settings, parts, whether it is finished, by section
    corpus/documents/part-00012.parquet      what a job made of shard 12
    corpus/quarantine/documents-00012.jsonl  the items of shard 12 that were left out, and why

A part counts from the moment it gets its name. Beside it, until the manifest lists it, lies a note
(`.part-00012.json`) of what it holds, so a run killed at any moment loses no finished part. No time
of day is written anywhere: the same work gives the same bytes.
"""

import errno
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

from gnomon.engine.shards import Outcome
from gnomon.errors import GnomonError, InputError
from gnomon.tables import write_bytes, write_text

FORMAT = 1
MANIFEST = "manifest.json"
_PAUSE = 2.0  # seconds between two writings of the manifest during a run


@dataclass(frozen=True)
class Part:
    """What the manifest says of one part: what is in it, and which items (`ids`) it was made of."""

    name: str
    items: int
    ids: str
    rows: int
    problems: int
    counts: Mapping[str, int]
    bytes: int
    digest: str

    @classmethod
    def read(cls, record: Any) -> "Part":
        """A part from its record in a manifest; ValueError if it is not one."""
        if not isinstance(record, dict) or record.keys() != {f.name for f in fields(cls)}:
            raise ValueError("a part has other fields")
        counts = dict(record["counts"])
        numbers = [record[name] for name in ("items", "rows", "problems", "bytes")]
        words = [record[name] for name in ("name", "ids", "digest")]
        if not all(type(number) is int and number >= 0 for number in (*numbers, *counts.values())):
            raise ValueError("a part has counts that are none")
        if not all(isinstance(word, str) for word in words):
            raise ValueError("a part has no name or digest")
        if not re.fullmatch(r"part-\d{5,}(\.\w+)*", record["name"]):
            raise ValueError(f"{record['name']!r} is no name of a part")
        return cls(**{**record, "counts": counts})

    @property
    def index(self) -> int:
        """The number of the shard it was made of."""
        return _number(self.name)


class Ledger:
    """One section of a manifest: what was made with which settings, and whether it is finished.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with writing(folder, "documents", {"model": "small"}) as ledger:
    ...         part = ledger.commit(0, ["a", "b"], Outcome(b"two rows", rows=2))
    ...         ledger.finish(1)
    ...     documents = Ledger(f"{folder}/manifest.json", "documents")
    ...     [path.name for path in documents.parts()], documents.records[0].rows
    (['part-00000'], 2)
    """

    def __init__(self, path: str | Path, section: str) -> None:
        _check_section(section)
        self.path = Path(path)
        self.folder = self.path.parent
        self.section = section
        found = _read(self.path)["sections"].get(section)
        self.exists = found is not None
        self.settings: Mapping[str, Any] = {}
        self.finished = False
        self._parts: dict[int, Part] = {}
        self._notes: list[Path] = []  # of parts that the manifest on the disk does not list yet
        self._suffix = ""
        self._saved, self._cost = 0.0, 0.0
        if found is None:
            return
        try:
            self.settings = dict(found["settings"])
            self.finished = found["finished"] is True
            self._parts = {part.index: part for part in map(Part.read, found["parts"])}
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(self.path, f"section {section}: {error}") from None

    @property
    def records(self) -> tuple[Part, ...]:
        """The parts as recorded, in order."""
        return tuple(self._parts[index] for index in sorted(self._parts))

    def parts(
        self, folder: str | Path | None = None, *, unfinished: bool = False, digests: bool = False
    ) -> tuple[Path, ...]:
        """The files of the parts, in order, each seen to be there and of its length.

        `folder` is where they are if not beside the manifest; `unfinished` accepts a run that has
        not ended; `digests` reads every part and compares its content.
        """
        home = self.folder if folder is None else Path(folder)
        if not self.exists:
            raise InputError(str(home), f"it has no {self.section}", "make them first")
        if not (self.finished or unfinished):
            problem = f"its {self.section} are not finished"
            raise InputError(str(home), problem, "give the command that makes them again")
        paths = []
        for part in self.records:
            path = home / self.section / part.name
            if fault := _fault(path, part, digests):
                raise InputError(str(path), fault, "restore it, or make it again by the same run")
            paths.append(path)
        return tuple(paths)

    def begin(self, settings: Mapping[str, Any], suffix: str) -> None:
        """Takes up the folder as it is: new, finished, or left by a run that was killed."""
        self._check_settings(settings)
        self._suffix = suffix
        with _explained():
            before = self.exists, self.finished, self.records
            self._tidy()
            self.exists, self.settings = True, dict(settings)
            if before != (self.exists, self.finished, self.records):
                self.save()

    def holds(self, index: int, ids: list[str]) -> bool:
        """Whether a shard is done already; an error if it was done, but of other items."""
        part = self._parts.get(index)
        if part is None:
            return False
        if part.ids == _digest_of_ids(ids):
            return True
        raise InputError(
            str(self._part(index)),
            f"the input has changed since: its items {ids[0]!r} to {ids[-1]!r} now stand here",
            "give the input of the first time, or name another folder",
        )

    def commit(self, index: int, ids: list[str], outcome: Outcome) -> Part:
        """Keeps what a job made of a shard, for good."""
        part = Part(
            name=self._part(index).name,
            items=len(ids),
            ids=_digest_of_ids(ids),
            rows=outcome.rows,
            problems=len(outcome.problems),
            counts=dict(sorted(outcome.counts.items())),
            bytes=len(outcome.content),
            digest=_digest(outcome.content),
        )
        refused = self._quarantine(index)
        with _explained():
            if outcome.problems:
                refused.parent.mkdir(exist_ok=True)
                write_text(refused, "".join(map(_line, outcome.problems)))
            else:
                refused.unlink(missing_ok=True)
        note = self._note(index)
        write_text(note, json.dumps(asdict(part)))
        self._notes.append(note)
        write_bytes(self._part(index), outcome.content)
        self._parts[index] = part
        # A manifest of very many parts takes long to write: a twentieth of the time at most.
        if self.finished or time.monotonic() - self._saved > max(_PAUSE, 20 * self._cost):
            self.finished = False
            self.save()
        return part

    def finish(self, parts: int) -> None:
        """Notes that the input has ended, after so many parts."""
        if extra := [index for index in self._parts if index >= parts]:
            raise InputError(
                str(self._part(min(extra))),
                "the input has changed since: it ends before the items of this part",
                "give the input of the first time, or name another folder",
            )
        if not self.finished:
            self.finished = True
            self.save()

    def save(self) -> None:
        """Writes the section to the manifest; other sections stay as they are there."""
        started = time.monotonic()
        for folder in (self.folder / "quarantine", self.folder / self.section):
            _sync(folder)  # the manifest must not outlive what it lists
        whole = _read(self.path)
        whole["sections"][self.section] = {
            "finished": self.finished,
            "settings": self.settings,
            "parts": [asdict(part) for part in self.records],
        }
        whole["sections"] = dict(sorted(whole["sections"].items()))
        write_text(self.path, json.dumps(whole, indent=1) + "\n")
        _sync(self.folder)
        for note in self._notes:
            note.unlink(missing_ok=True)
        self._notes.clear()
        self._saved = time.monotonic()
        self._cost = self._saved - started

    def _part(self, index: int) -> Path:
        return self.folder / self.section / f"part-{index:05}{self._suffix}"

    def _note(self, index: int) -> Path:
        return self.folder / self.section / f".part-{index:05}.json"

    def _quarantine(self, index: int) -> Path:
        return self.folder / "quarantine" / f"{self.section}-{index:05}.jsonl"

    def _check_settings(self, settings: Mapping[str, Any]) -> None:
        made = self._parts or any((self.folder / self.section).glob("part-*"))
        if not (self.exists and made):  # a run that failed at once may be given other settings
            return
        for name in [*settings, *self.settings]:
            then, now = (s.get(name, "not set") for s in (self.settings, settings))
            if then != now:
                raise InputError(
                    str(self.folder),
                    f"its {self.section} were made with {name} {then!r}, not {now!r}",
                    "give the same setting, or name another folder",
                )

    def _tidy(self) -> None:
        """Removes what a killed run left half-done, and takes up what it had finished."""
        home, refused = self.folder / self.section, self.folder / "quarantine"
        for folder in (self.folder, home, refused):
            for path in folder.glob(".gnomon-*"):
                path.unlink(missing_ok=True)
        for note in home.glob(".part-*.json"):
            self._take_up(note)
        known = {part.name for part in self._parts.values()}
        for path in home.glob("part-*"):
            if path.name not in known:
                problem = f"the manifest knows nothing of {path.name}"
                raise InputError(str(home), problem, "move it away, or name another folder")
        for index, part in list(self._parts.items()):
            complete = not part.problems or self._quarantine(index).exists()
            if not complete or _fault(self._part(index), part, content=True):
                self._part(index).unlink(missing_ok=True)  # to be made again
                del self._parts[index]
                self.finished = False
        for path in refused.glob(f"{self.section}-*.jsonl"):
            owner = self._parts.get(_number(path.name))
            if owner is None or not owner.problems:
                path.unlink(missing_ok=True)

    def _take_up(self, note: Path) -> None:
        """Takes up the part a note was left for, if it was finished."""
        index = _number(note.name)
        if index not in self._parts:
            with suppress(OSError, TypeError, ValueError):
                part = Part.read(json.loads(note.read_bytes()))
                if _fault(path := self._part(index), part, content=True) is None:
                    self._parts[index] = part
                    self._notes.append(note)
                    return
                path.unlink(missing_ok=True)
        note.unlink(missing_ok=True)


@contextmanager
def writing(
    folder: str | Path, section: str, settings: Mapping[str, Any], suffix: str = ""
) -> Iterator[Ledger]:
    """The ledger of a folder that nobody else writes meanwhile; saved if the block fails.

    `settings` must be JSON: text, numbers, lists, dictionaries with names.
    """
    _check_section(section)
    try:
        plain = json.loads(json.dumps(dict(settings), allow_nan=False))
    except (TypeError, ValueError) as error:
        problem = f"they cannot be written as JSON ({error})"
        raise InputError("settings", problem, "use text, numbers, lists, dictionaries") from None
    home = Path(folder)
    with _explained():
        (home / section).mkdir(parents=True, exist_ok=True)
    with _locked(home):
        ledger = Ledger(home / MANIFEST, section)
        ledger.begin(plain, suffix)
        try:
            yield ledger
        except BaseException:
            with suppress(GnomonError, OSError):  # what ended the block matters more
                ledger.save()
            raise


@contextmanager
def _explained() -> Iterator[None]:
    """What the file system refuses, said in one line."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise InputError(str(error.filename), problem, "name a folder you may write to") from None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds the folder's lock, or says that another run does; a lock goes with its process."""
    path = folder / ".lock"
    handle = None
    while handle is None:
        handle = _lock(path, folder)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file
            path.unlink()
        os.close(handle)


def _lock(path: Path, folder: Path) -> int | None:
    """The handle of the locked file; None if the run before removed it while we locked it."""
    with _explained():
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(path)):
            return handle
    except ImportError:  # Windows
        return handle
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            return handle  # a network file system without locks: there is nothing to hold
        os.close(handle)
        problem, remedy = "another run is writing here", "wait until it ends"
        raise InputError(str(folder), problem, remedy) from None
    os.close(handle)
    return None


def _check_section(section: str) -> None:
    if not re.fullmatch(r"[a-z]+", section) or section == "quarantine":
        raise InputError("section", f"{section!r} is no name of one", "use letters a to z")


def _read(path: Path) -> dict[str, Any]:
    """A manifest as it is on the disk, or an empty one."""
    try:
        whole = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {"format": FORMAT, "sections": {}}
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise InputError(str(path), problem, "name a folder you may read") from None
    except (ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from None
    version = whole.get("format") if isinstance(whole, dict) else None
    if type(version) is not int or version < 1:
        raise _damaged(path, "no format version")
    if version > FORMAT:
        raise InputError(
            str(path),
            f"made by a newer Gnomon (format {version}; this one reads {FORMAT})",
            'upgrade with: pip install --upgrade "gnomon[all]"',
        )
    sections = whole.get("sections")
    if not isinstance(sections, dict) or not all(isinstance(s, dict) for s in sections.values()):
        raise _damaged(path, "no sections")
    return dict(whole)


def _damaged(path: Path, why: str) -> InputError:
    problem = f"this manifest is damaged ({why})"
    return InputError(str(path), problem, "restore it from a copy, or start in another folder")


def _fault(path: Path, part: Part, content: bool = False) -> str | None:
    """What is wrong with the file of a part, if anything."""
    try:
        size = path.stat().st_size
        if size != part.bytes:
            return f"it has {size:,} bytes instead of {part.bytes:,}"
        if content and _digest(path.read_bytes()) != part.digest:
            return "its content is not what was written"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None


def _line(problem: Mapping[str, str]) -> str:
    """A problem as a line of JSON; bytes that were no text (as surrogates) are spelt out."""
    plain = {
        str(k): str(v).encode("utf-8", "backslashreplace").decode() for k, v in problem.items()
    }
    return json.dumps(plain, ensure_ascii=False) + "\n"


def _number(name: str) -> int:
    """The number in the name of a part, of its note, or of its quarantine."""
    found = re.search(r"-(\d+)\.|-(\d+)$", name)
    return int(found[1] or found[2]) if found else -1


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _digest_of_ids(ids: list[str]) -> str:
    return _digest(json.dumps(ids).encode())


def _sync(folder: Path) -> None:
    """Makes the names in a folder last through a power cut, where that can be asked for."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
