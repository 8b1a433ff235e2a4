"""Runs: the same bytes whatever happens on the way."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine_jobs
import pytest
from engine_jobs import Shout, content, no_waiting_for_the_disk, words, work
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import tables
from gnomon.engine.executors import Workers, executor
from gnomon.engine.ledger import Ledger
from gnomon.engine.run import KILLER, Interrupted, Progress
from gnomon.engine.shards import Outcome
from gnomon.errors import InputError


@pytest.fixture(scope="module")
def pool() -> Iterator[Workers]:
    """Two processes for all tests of this module; a broken pool is replaced anyway."""
    with executor(2) as workers:
        yield workers


def plain(items: Sequence[str], folder: Path, **options: Any) -> dict[str, bytes]:
    """The bytes of an undisturbed run in this process."""
    with executor(0) as here:
        work(items, folder, here, **options)
    return content(folder)


def left_out(folder: Path) -> list[str]:
    """The items in quarantine for having killed their worker."""
    lines = [
        json.loads(line)
        for path in sorted((folder / "quarantine").glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    return [line["id"] for line in lines if line["problem"] == KILLER]


def test_what_a_run_leaves(tmp_path: Path) -> None:
    with executor(0) as here:
        summary = work(words(10), tmp_path, here)
    assert (summary.parts, summary.items, summary.rows, summary.problems) == (3, 10, 9, 1)
    assert summary.counts == {"letters": 9 * len("word 0")}
    assert not summary.resumed
    assert list(content(tmp_path)) == [
        "documents/part-00000.txt",
        "documents/part-00001.txt",
        "documents/part-00002.txt",
        "manifest.json",
        "quarantine/documents-00001.jsonl",
    ]
    parts = Ledger(tmp_path / "manifest.json", "documents").parts(tmp_path, digests=True)
    assert parts[1].read_text() == "WORD 4\nWORD 6\nWORD 7\n"
    problems = tables.read(tmp_path / "quarantine" / "documents-00001.jsonl")
    assert problems.to_dicts() == [{"id": "bad 5", "problem": "it is bad"}]


def test_an_empty_input_is_finished_at_once(tmp_path: Path) -> None:
    with executor(0) as here:
        summary = work([], tmp_path, here)
    assert (summary.parts, summary.rows) == (0, 0)
    assert Ledger(tmp_path / "manifest.json", "documents").parts() == ()


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_give_the_same_bytes(workers: int, tmp_path: Path) -> None:
    with executor(workers) as processes:
        work(words(50), tmp_path / "processes", processes)
    assert content(tmp_path / "processes") == plain(words(50), tmp_path / "here")


@dataclass(frozen=True)
class Uneven:
    """Takes the longer the earlier the shard, so that shards end in the wrong order."""

    def __call__(self, items: Sequence[str]) -> Outcome:
        time.sleep(0.02 if int(items[0].split()[-1]) % 16 == 0 else 0)
        return Shout()(items)


def test_the_order_of_completion_does_not_matter(tmp_path: Path) -> None:
    workers = Workers(lambda: ThreadPoolExecutor(3), lambda: 3)
    work(words(100), tmp_path / "threads", workers, Uneven())
    workers.close()
    assert content(tmp_path / "threads") == plain(words(100), tmp_path / "here")


def test_few_shards_are_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.engine.run._TICK", 0.0)
    read = 0
    most = 0

    def items() -> Iterator[str]:
        nonlocal read
        for item in words(100):
            read += 1
            yield item

    def watch(progress: Progress) -> None:
        nonlocal most
        most = max(most, read - progress.done)

    workers = Workers(lambda: ThreadPoolExecutor(2), lambda: 2)
    work(items(), tmp_path, workers, Uneven(), progress=watch)
    workers.close()
    assert 0 < most <= 2 * 2 * 4


@pytest.mark.parametrize("workers", [0, 2])
def test_killed_at_any_moment_and_continued(workers: int, tmp_path: Path) -> None:
    """Kills the whole run several times, at seeded moments, before it is let through."""
    moments = random.Random(20 + workers)
    folder = tmp_path / "killed"
    command = [sys.executable, engine_jobs.__file__, str(folder), "240", "0.02", str(workers)]
    killed = 0
    for _ in range(5):
        before = len(list(folder.glob("documents/part-*")))
        with subprocess.Popen(command) as process:
            while process.poll() is None and len(list(folder.glob("documents/part-*"))) == before:
                time.sleep(0.005)
            time.sleep(moments.uniform(0.0, 0.08))
            process.kill()
        killed += process.returncode == -signal.SIGKILL
    assert killed == 5
    with executor(0) as here:
        summary = work(words(240), folder, here)
    assert summary.resumed
    assert content(folder) == plain(words(240), tmp_path / "undisturbed")
    assert summary.items == 240


class Stop(BaseException):
    """As rude as a kill, within this process: nothing after it is run."""


@settings(max_examples=40)
@given(st.integers(0, 30), st.integers(1, 9), st.lists(st.integers(0, 40), max_size=3))
def test_stopped_at_any_write_and_continued(
    tmp_path_factory: pytest.TempPathFactory, number: int, size: int, stops: list[int]
) -> None:
    """Stops at the n-th file that gets its name, for any n, before or after it gets it."""
    folder = tmp_path_factory.mktemp("stopped")
    other = tmp_path_factory.mktemp("undisturbed")
    rename = os.replace
    for stop in stops:
        left = stop

        def limited(*names: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Stop
            rename(*names)
            if left == 0:
                raise Stop

        with (
            pytest.MonkeyPatch.context() as patch,
            no_waiting_for_the_disk(),
            executor(0) as here,
        ):
            patch.setattr(os, "replace", limited)
            patch.setattr("gnomon.tables.writing.os.unlink", lambda path: None)
            try:
                work(words(number), folder, here, shard_size=size)
            except Stop:
                (folder / ".lock").touch()
    with no_waiting_for_the_disk():
        done = plain(words(number), folder, shard_size=size)
        assert done == plain(words(number), other, shard_size=size)


def test_a_finished_folder_is_left_alone(tmp_path: Path) -> None:
    before = plain(words(20), tmp_path)
    time_of_writing = (tmp_path / "manifest.json").stat().st_mtime_ns

    def never(items: Sequence[str]) -> Outcome:
        raise AssertionError("nothing is to be done")

    with executor(0) as here:
        summary = work(words(20), tmp_path, here, never)
    assert summary.resumed
    assert (summary.items, summary.rows) == (20, 19)
    assert content(tmp_path) == before
    assert (tmp_path / "manifest.json").stat().st_mtime_ns == time_of_writing


@pytest.mark.parametrize(
    "options", [{"settings": {"model": "large", "seed": 0}}, {"shard_size": 5}, {"suffix": ".bin"}]
)
def test_other_settings_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    before = plain(words(20), tmp_path)
    with executor(0) as here, pytest.raises(InputError, match="its documents were made with"):
        work(words(20), tmp_path, here, **options)
    assert content(tmp_path) == before


def test_another_input_is_refused(tmp_path: Path) -> None:
    before = plain(words(20), tmp_path)
    with executor(0) as here:
        with pytest.raises(InputError, match=r"part-00002\.txt: the input has changed since"):
            work([*words(9), "other", *words(20)[10:]], tmp_path, here)
        with pytest.raises(InputError, match=r"part-00004\.txt: .* it ends before"):
            work(words(16), tmp_path, here)
        assert content(tmp_path) == before
        summary = work(words(28), tmp_path, here)  # but it may grow by whole shards
    assert summary.parts == 7
    assert content(tmp_path) == plain(words(28), tmp_path.with_name("other"))


@pytest.mark.parametrize("how", ["exits", "killed"])
def test_an_item_that_kills_its_worker_is_left_out(how: str, pool: Workers, tmp_path: Path) -> None:
    killers = {"word 9", "bad 22", "word 11"}
    dying: dict[str, Any] = {how: frozenset(killers)}
    work(words(30), tmp_path / "killed", pool, Shout(**dying))
    assert left_out(tmp_path / "killed") == ["word 9", "word 11", "bad 22"]

    def spare(items: Sequence[str]) -> Outcome:
        return Shout()([item for item in items if item not in killers])

    expected = plain(words(30), tmp_path / "without", job=spare)
    found = content(tmp_path / "killed")
    parts = [name for name in expected if name.startswith("documents/")]
    assert len(parts) == 8
    assert all(found[name] == expected[name] for name in parts)


def test_a_worker_that_dies_once_is_retried(pool: Workers, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.touch()
    work(words(30), tmp_path / "once", pool, Shout(once=str(marker)))
    assert not marker.exists()
    assert content(tmp_path / "once") == plain(words(30), tmp_path / "never")


class Died(BrokenExecutor):
    """What a fake worker dies of."""


@dataclass
class Fragile:
    """A job that kills on some items, and on too many at once, and remembers its calls."""

    killers: frozenset[int]
    limit: int
    calls: list[tuple[int, ...]]

    def __call__(self, items: Sequence[int]) -> Outcome:
        self.calls.append(tuple(items))
        if len(items) > self.limit or self.killers & set(items):
            raise Died
        return Outcome(repr(items).encode(), len(items))


def fragile(
    numbers: int, size: int, killers: frozenset[int], folder: Path, limit: int = 99
) -> Fragile:
    job = Fragile(killers, limit, [])
    with executor(0) as here, no_waiting_for_the_disk():
        work(map(str, range(numbers)), folder, here, lambda s: job([*map(int, s)]), shard_size=size)
    return job


@settings(max_examples=60)
@given(st.integers(1, 60), st.integers(1, 20), st.data())
def test_every_killer_is_found_and_nobody_else(
    tmp_path_factory: pytest.TempPathFactory, number: int, size: int, data: st.DataObject
) -> None:
    # Item 0 is innocent: where nothing at all survives, the machine is to blame.
    killers = data.draw(st.frozensets(st.integers(size, size + number), max_size=12))
    folder = tmp_path_factory.mktemp("killers")
    number += size
    job = fragile(number, size, killers, folder)
    assert left_out(folder) == [str(i) for i in range(number) if i in killers]
    for index, path in enumerate(Ledger(folder / "manifest.json", "documents").parts()):
        shard = range(index * size, min((index + 1) * size, number))
        assert path.read_text() == repr([i for i in shard if i not in killers])
    assert all(job.calls.count((killer,)) >= 2 for killer in killers if killer < number)


def test_items_that_kill_only_together_end_the_run(tmp_path: Path) -> None:
    problem = "they kill their worker process together, though none does so alone"
    with pytest.raises(InputError, match=problem) as caught:
        fragile(20, 8, frozenset(), tmp_path, limit=7)
    assert caught.value.where == "documents, items '0' to '7'"


def test_workers_that_always_die_are_not_the_fault_of_the_items(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="worker processes die even when given no items"):
        fragile(20, 8, frozenset(), tmp_path, limit=-1)
    with pytest.raises(InputError, match="every item tried so far killed its worker process"):
        fragile(20, 8, frozenset(range(20)), tmp_path)
    assert left_out(tmp_path) == []


def stumble(items: Sequence[str]) -> Outcome:
    if "word 12" in items or "word 16" in items:
        time.sleep(0.2 if "word 12" in items else 0)
        raise InputError(items[0], "the model is missing", "install it")
    return Shout()(items)


def test_an_error_of_the_job_ends_the_run_and_keeps_the_rest(pool: Workers, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^word 12: the model is missing; install it$"):
        work(words(40), tmp_path / "folder", pool, stumble)
    assert not Ledger(tmp_path / "folder" / "manifest.json", "documents").finished
    kept = {
        part.index for part in Ledger(tmp_path / "folder" / "manifest.json", "documents").records
    }
    assert {0, 1, 2} <= kept
    assert not kept & {3, 4}
    assert work(words(40), tmp_path / "folder", pool).resumed
    assert content(tmp_path / "folder") == plain(words(40), tmp_path / "other")


def test_an_input_that_fails_midway(tmp_path: Path) -> None:
    def items() -> Iterator[str]:
        yield from words(10)
        raise InputError("input.jsonl, line 11", "it is cut off", "fetch it again")

    with executor(0) as here:
        with pytest.raises(
            InputError, match=r"^input\.jsonl, line 11: it is cut off; fetch it again$"
        ):
            work(items(), tmp_path / "folder", here)
        kept = Ledger(tmp_path / "folder" / "manifest.json", "documents").records
        assert [part.index for part in kept] == [0, 1]
        summary = work(words(30), tmp_path / "folder", here)
    assert summary.resumed
    assert content(tmp_path / "folder") == plain(words(30), tmp_path / "other")


def test_hostile_ids_do_not_reach_file_names(tmp_path: Path) -> None:
    hostile = ["../../bad", "/etc/passwd", "a\0b", "con\n", "bad" * 200, "\udcff bad", "", "."]
    plain(hostile, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert list(content(tmp_path / "folder")) == [
        "documents/part-00000.txt",
        "documents/part-00001.txt",
        "manifest.json",
        "quarantine/documents-00000.jsonl",
        "quarantine/documents-00001.jsonl",
    ]


def test_a_disk_that_refuses(tmp_path: Path) -> None:
    (tmp_path / "quarantine").write_text("a file, where a folder must be")
    with executor(0) as here, pytest.raises(InputError, match=r"quarantine.*: cannot be written"):
        work(words(30), tmp_path, here)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is heard; a shell that starts the tests in the background lets them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c(tmp_path: Path) -> None:
    before = threading.active_count()

    def press(progress: Progress) -> None:
        signal.raise_signal(signal.SIGINT)

    def pressed() -> None:
        with executor(2) as pool:
            work(words(4000), tmp_path, pool, Shout(pause=0.05), progress=press)

    with pytest.raises(Interrupted) as caught:
        pressed()
    remedy = "give the same command again to continue"
    assert str(caught.value) == f"{tmp_path}: stopped, finished parts stay; {remedy}"
    ledger = Ledger(tmp_path / "manifest.json", "documents")
    assert len(ledger.parts(unfinished=True)) == 1
    assert not [name for name in content(tmp_path) if "/." in name]
    assert threading.active_count() == before


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("begun", ["manifest.json", "documents/part-00003.txt"])
def test_ctrl_c_in_a_terminal_reaches_the_workers_too(begun: str, tmp_path: Path) -> None:
    """As they start, and as they work; only the parent may answer."""
    command = [sys.executable, engine_jobs.__file__, str(tmp_path), "4000", "0.05", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as process:
        while process.poll() is None and not (tmp_path / begun).exists():
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 1
    assert errors.count(b"Traceback") == 1
    assert errors.endswith(b"; give the same command again to continue\n")
    assert not Ledger(tmp_path / "manifest.json", "documents").finished


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.engine.run._TICK", 0.0)
    seen: list[Progress] = []
    with executor(0) as here:
        work(words(8), tmp_path, here, total=20)
        work(words(20), tmp_path, here, progress=seen.append)
        work(iter(words(20)), tmp_path, here, progress=seen.append)
    assert [p.done for p in seen[:6]] == [4, 8, 12, 16, 20, 20]
    assert [p.skipped for p in seen[:6]] == [4, 8, 8, 8, 8, 8]
    assert {p.total for p in seen[:6]} == {20}
    assert seen[0].rate == 0
    assert seen[0].remaining is None
    assert seen[5].remaining == 0
    assert seen[-1] == Progress(20, None, 20, seen[-1].seconds)
    assert Progress(60, 100, 20, 8.0).rate == 5
    assert Progress(60, 100, 20, 8.0).remaining == 8


class Vanishing(Executor):
    """A cluster whose scheduler goes away with the third call."""

    def __init__(self) -> None:
        self.calls = 0

    def submit(self, call: Any, /, *arguments: Any, **options: Any) -> "Future[Any]":
        self.calls += 1
        future: Future[Any] = Future()
        if self.calls > 2:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(call(*arguments, **options))
        return future


def test_workers_out_of_reach(tmp_path: Path) -> None:
    workers = Workers(Vanishing, lambda: 2, name="--cluster tcp://far:8786")
    with pytest.raises(InputError, match=r"^--cluster tcp://far:8786: the connection to the work"):
        work(words(30), tmp_path / "folder", workers)
    assert len(Ledger(tmp_path / "folder" / "manifest.json", "documents").records) == 2
