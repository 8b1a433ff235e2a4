"""A Dask cluster: the same bytes as one process, crashes included."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_jobs import Shout, content, words, work

import gnomon
from gnomon.engine.executors import executor
from gnomon.engine.run import KILLER
from gnomon.errors import InputError

distributed: Any = pytest.importorskip("distributed")
dask: Any = pytest.importorskip("dask")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers in processes of their own; a death is final, so that tests need few."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs="CRITICAL",
        ) as started,
    ):
        yield started


def test_the_same_bytes(cluster: Any, tmp_path: Path) -> None:
    with executor(0, cluster.scheduler_address) as workers:
        assert workers.count == 2
        work(words(50), tmp_path / "cluster", workers)
    with executor(0) as here:
        work(words(50), tmp_path / "here", here)
    assert content(tmp_path / "cluster") == content(tmp_path / "here")


def test_items_are_not_taken_for_tasks(cluster: Any) -> None:
    with executor(0, cluster.scheduler_address) as workers:
        assert workers.submit(len, ((len, "four"), [(int, "5")])).result() == 2


def test_an_item_that_kills_its_worker_is_left_out(cluster: Any, tmp_path: Path) -> None:
    job = Shout(exits=frozenset({"word 9"}))
    with executor(0, cluster.scheduler_address) as workers:
        work(words(20), tmp_path / "killed", workers, job)
    with executor(0) as here:
        work(words(20), tmp_path / "here", here)
    killed, expected = content(tmp_path / "killed"), content(tmp_path / "here")
    name = "documents/part-00002.txt"
    assert killed.pop(name) == expected.pop(name).replace(b"WORD 9\n", b"")
    assert json.loads(killed.pop("quarantine/documents-00002.jsonl")) == {
        "id": "word 9",
        "problem": KILLER,
    }
    assert json.loads(killed.pop("manifest.json")) != json.loads(expected.pop("manifest.json"))
    assert killed == expected


def test_errors_come_back(cluster: Any, tmp_path: Path) -> None:
    with (
        executor(0, cluster.scheduler_address) as workers,
        pytest.raises(InputError, match=r"^word 0: the model is missing; install it$"),
    ):
        work(words(8), tmp_path, workers, Shout(missing=True))


def test_workers_of_another_version(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    there = gnomon.__version__
    monkeypatch.setattr(gnomon, "__version__", "9.9")
    problem = rf"worker tcp://.*: it has Gnomon {there}, and this machine Gnomon 9\.9; install"
    with pytest.raises(InputError, match=problem), executor(0, cluster.scheduler_address):
        pass


def test_a_scheduler_that_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.engine.executors._PATIENCE", 2)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address="127.0.0.1:0",
        silence_logs="CRITICAL",
    ) as cluster:
        address = cluster.scheduler_address

        def leave(progress: object) -> None:
            cluster.close()

        with executor(0, address) as workers, pytest.raises(InputError) as caught:
            work(words(400), tmp_path, workers, Shout(pause=0.05), progress=leave)
    assert str(caught.value).startswith(f"--cluster {address}: the connection to the workers was")
