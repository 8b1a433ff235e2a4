"""Executors: alike from outside, safe against crashes, gone when their time is over."""

import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

import gnomon
from gnomon.engine import executors
from gnomon.engine.executors import Workers, executor
from gnomon.errors import GnomonError, InputError, MissingExtra


class Unsendable(Exception):
    """An exception that can be pickled and not be made again."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first)


def fail(kind: str) -> None:
    if kind == "input":
        raise InputError("a.txt, line 3", "it is empty", "write something")
    if kind == "exit":
        sys.exit(3)
    raise Unsendable("one", "two")


def environment(name: str) -> str | None:
    return os.environ.get(name)


@pytest.mark.parametrize("workers", [0, 1])
def test_exceptions_come_back(workers: int) -> None:
    with executor(workers) as pool:
        with pytest.raises(InputError, match=r"a\.txt, line 3: it is empty; write something"):
            pool.submit(fail, "input").result()
        with pytest.raises(GnomonError, match=r"a job ended with exit\(3\)"):
            pool.submit(fail, "exit").result()
        with pytest.raises(GnomonError, match="a job failed: Unsendable: one"):
            pool.submit(fail, "other").result()
        assert pool.submit(len, "four").result() == 4


def test_a_broken_pool_is_replaced() -> None:
    with executor(2) as pool:
        assert pool.count == 2
        with pytest.raises(pool.deaths):
            pool.submit(os._exit, 1).result()
        first = pool.submit(os.getpid).result()
        sleeping = pool.submit(time.sleep, 3600)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(pool.deaths):
            sleeping.result()
        assert pool.submit(os.getpid).result() not in {first, os.getpid()}


def test_workers_use_one_thread_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("POLARS_MAX_THREADS", "3")
    with executor(1) as pool:
        assert pool.submit(environment, "OMP_NUM_THREADS").result() == "1"
        assert pool.submit(environment, "POLARS_MAX_THREADS").result() == "3"
    assert "OMP_NUM_THREADS" not in os.environ


def test_workers_do_not_hear_the_interrupt() -> None:
    with executor(1) as pool:
        worker = pool.submit(os.getpid).result()
        os.kill(worker, signal.SIGINT)
        assert pool.submit(os.getpid).result() == worker


def test_a_block_that_fails_does_not_wait_for_its_calls() -> None:
    running: list[Future[None]] = []

    def interrupted() -> None:
        with executor(1) as pool:
            pool.submit(os.getpid).result()
            running.append(pool.submit(time.sleep, 3600))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert running[0].done()


def test_workers_die_with_their_parent() -> None:
    code = (
        "import os, time\n"
        "from gnomon.engine.executors import executor\n"
        "if __name__ == '__main__':\n"
        "    with executor(1) as pool:\n"
        "        print(pool.submit(os.getpid).result(), flush=True)\n"
        "        pool.submit(time.sleep, 3600).result()\n"
    )
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    with subprocess.Popen([sys.executable, "-c", code], stdout=writing) as parent:
        os.close(writing)
        assert os.read(reading, 100)
        parent.kill()
    # The worker holds the other end too: this ends when it has gone, and never if it stays.
    ended = select.select([reading], [], [], 60)[0] and os.read(reading, 100) == b""
    os.close(reading)
    assert ended


def test_a_number_of_workers_that_is_none() -> None:
    with pytest.raises(InputError, match="--workers: -1 processes; give 0 or more"), executor(-1):
        pass


def test_a_cluster_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra) as caught, executor(1, "tcp://127.0.0.1:1"):
        pass
    assert str(caught.value) == 'distributed is not installed; run: pip install "gnomon[cluster]"'


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", ""])
def test_a_cluster_that_does_not_answer(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "_PATIENCE", 0.5)
    with pytest.raises(InputError) as caught, executor(1, address):
        pass
    assert caught.value.where == f"--cluster {address}"
    assert caught.value.problem.startswith("no scheduler answers (")
    assert "\n" not in str(caught.value)


def test_a_call_from_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    call = pickle.dumps((len, ("four",), {}))
    assert executors._unpacked(gnomon.__version__, call) == 4
    problem = rf"a worker has Gnomon {gnomon.__version__}, and the sender Gnomon 9\.9"
    with pytest.raises(InputError, match=problem):
        executors._unpacked("9.9", call)


def test_any_executor_will_do() -> None:
    pool = Workers(lambda: ThreadPoolExecutor(1), lambda: 0)
    assert pool.count == 1
    assert pool.submit(threading.get_ident).result() != threading.get_ident()
    pool.close()


class Forgetful(Executor):
    """Breaks with its first call and forgets it, as a pool of processes sometimes does."""

    def __init__(self) -> None:
        self.broken = False

    def submit(self, call: Any, /, *arguments: Any, **options: Any) -> "Future[Any]":
        if self.broken:
            raise BrokenExecutor
        self.broken = True
        return Future()


def test_a_forgotten_call_counts_as_a_death(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_WATCH", 0.01)
    pool = Workers(Forgetful, lambda: 1)
    call = pool.submit(len, "four")
    assert pool.first([call]) == {call}
    with pytest.raises(pool.deaths):
        call.result()
