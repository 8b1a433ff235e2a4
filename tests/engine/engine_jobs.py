"""Jobs, items and a folder's bytes for the tests of the engine; worker processes import this.

Run as a script it is a run that can be killed: engine_jobs.py FOLDER ITEMS SECONDS WORKERS
"""

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gnomon.engine.executors import Workers, executor
from gnomon.engine.run import Summary, run
from gnomon.engine.shards import Outcome
from gnomon.errors import InputError

SETTINGS = {"model": "small", "seed": 0}


@dataclass(frozen=True)
class Shout:
    """Writes its items in capitals, leaves out those with "bad" in them, and dies of some."""

    pause: float = 0.0
    exits: frozenset[str] = frozenset()
    killed: frozenset[str] = frozenset()
    missing: bool = False  # its model, an error of which the items are not guilty
    once: str = ""  # a marker file: the first call to find it removes it and dies

    def __call__(self, items: Sequence[str]) -> Outcome:
        time.sleep(self.pause)
        if self.missing:
            raise InputError(items[0], "the model is missing", "install it")
        for item in items:
            if item in self.exits:
                os._exit(1)
            if item in self.killed:
                os.kill(os.getpid(), signal.SIGKILL)
        if self.once:
            with suppress(FileNotFoundError):
                os.unlink(self.once)
                os._exit(1)
        good = [item for item in items if "bad" not in item]
        return Outcome(
            content="".join(f"{item.upper()}\n" for item in good).encode(),
            rows=len(good),
            problems=tuple({"id": i, "problem": "it is bad"} for i in items if "bad" in i),
            counts={"letters": sum(map(len, good))},
        )


def words(n: int) -> list[str]:
    """Items, a few of which the job cannot use."""
    return [f"bad {i}" if i % 17 == 5 else f"word {i}" for i in range(n)]


@contextmanager
def no_waiting_for_the_disk() -> Iterator[None]:
    """Makes hundreds of small runs quick; what is written is the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


def refuse(item: str, reason: str) -> Mapping[str, str]:
    return {"id": item, "problem": reason}


def work(
    items: Iterable[str], folder: Path, workers: Workers, job: Any = None, **options: Any
) -> Summary:
    """A run with the settings of these tests, unless others are given."""
    given: dict[str, Any] = {
        "section": "documents",
        "settings": SETTINGS,
        "describe": str,
        "refuse": refuse,
        "shard_size": 4,
        "suffix": ".txt",
        **options,
    }
    return run(job or Shout(), items, folder=folder, executor=workers, **given)


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, hidden ones too, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


if __name__ == "__main__":
    target, number, seconds, processes = sys.argv[1:]
    with executor(int(processes)) as pool:
        work(words(int(number)), Path(target), pool, Shout(pause=float(seconds)))
