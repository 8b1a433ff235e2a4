"""Where jobs run: in this process, in other processes of this machine, or on a Dask cluster.

Each is a `concurrent.futures` executor, wrapped in `Workers`, which starts a new one in the place
of one that broke. Any other such executor can be wrapped in the same way.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    InvalidStateError,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

import gnomon
from gnomon.errors import GnomonError, InputError, MissingExtra

Result = TypeVar("Result")
Given = ParamSpec("Given")

# As many processes as there are cores, each with as many threads, would only wait for each other.
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
_WATCH = 5  # seconds without a result until it is asked whether the pool still stands
_PATIENCE = 10  # seconds a scheduler has to answer


class Workers:
    """Workers that take calls, and are replaced when they break.

    `start` makes the executor, `count` says how many calls it can run at once, and an exception in
    `deaths` means that the worker died of the call, not that the call failed.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> workers = Workers(lambda: ThreadPoolExecutor(2), lambda: 2)
    >>> workers.submit(len, "four").result()
    4
    >>> workers.close()
    """

    def __init__(
        self,
        start: Callable[[], Executor],
        count: Callable[[], int],
        deaths: tuple[type[Exception], ...] = (BrokenExecutor,),
        name: str = "workers",
    ) -> None:
        self._start = start
        self._count = count
        self._executor = start()
        self.deaths = deaths
        self.name = name

    @property
    def count(self) -> int:
        """How many calls can run at once just now, 1 or more."""
        try:
            return max(self._count(), 1)
        except OSError:
            raise self.lost() from None

    def submit(
        self, call: Callable[Given, Result], *arguments: Given.args, **options: Given.kwargs
    ) -> "Future[Result]":
        """Hands over a call; if the executor is broken, to a new one."""
        guarded: Callable[..., Result] = _sendable
        try:
            return self._executor.submit(guarded, call, *arguments, **options)
        except (BrokenExecutor, OSError):  # a pool just breaking has closed pipes it still uses
            self.restart()
            return self._executor.submit(guarded, call, *arguments, **options)

    def first(self, calls: Collection["Future[Result]"]) -> "set[Future[Result]]":
        """Waits until one or more of these calls have ended, and says which."""
        while not (done := wait(calls, _WATCH, FIRST_COMPLETED).done):
            if BrokenExecutor in self.deaths and self._broken():
                # Before 3.12, Python forgets a call that comes in just when a worker dies.
                for call in calls:
                    with suppress(InvalidStateError):
                        call.set_exception(BrokenExecutor("the worker died"))
        return done

    def _broken(self) -> bool:
        try:
            self._executor.submit(int)
        except BrokenExecutor:
            return True
        return False

    def lost(self) -> InputError:
        """The error for workers that can no longer be reached."""
        return InputError(
            self.name,
            "the connection to the workers was lost",
            "see that they run, and give the same command again to continue",
        )

    def restart(self) -> None:
        """Ends what is left of the executor and starts a new one."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._executor = self._start()

    def close(self, *, at_once: bool = False) -> None:
        """Lets the workers go: when they are done, or in the middle of what they do."""
        self._executor.shutdown(wait=True, cancel_futures=at_once)


@contextmanager
def executor(workers: int, cluster: str | None = None) -> Iterator[Workers]:
    """Workers for the length of a block; if it ends badly they are stopped in mid-call.

    With `workers` 1 or more, that many other processes, so that a call that crashes harms nothing
    else; with 0, this process, where a debugger can follow. With `cluster`, the address of a Dask
    scheduler, its workers, however many they are; give each one thread (`--nthreads 1`).

    >>> with executor(0) as here:
    ...     here.submit(sum, [1, 2]).result()
    3
    """
    if workers < 0:
        raise InputError("--workers", f"{workers} processes", "give 0 or more")
    if cluster is not None:
        with _cluster(cluster) as found:
            yield from _lent(found)
    elif workers == 0:
        yield from _lent(Workers(_Here, lambda: 1, name="this process"))
    else:
        yield from _lent(Workers(lambda: _Processes(workers), lambda: workers))


def _lent(workers: Workers) -> Iterator[Workers]:
    try:
        yield workers
    except BaseException:
        workers.close(at_once=True)
        raise
    workers.close()


def _sendable(call: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
    """Calls, and turns an exception that could not travel between processes into one that can.

    Otherwise the pool would break on reading it, as if the call had killed its worker.
    """
    try:
        return call(*arguments, **options)
    except SystemExit as error:
        raise GnomonError(f"a job ended with exit({error.code!r})") from error
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise GnomonError(f"a job failed: {type(error).__name__}: {error}") from error
        raise


class _Here(Executor):
    """Runs each call in this process, at once."""

    def submit(
        self, call: Callable[Given, Result], /, *arguments: Given.args, **options: Given.kwargs
    ) -> "Future[Result]":
        future: Future[Result] = Future()
        try:
            future.set_result(call(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


class _Processes(ProcessPoolExecutor):
    """Processes that start afresh, use one thread each, ignore Ctrl-C and die with this one.

    They are spawned, not forked: a fork copies the locks of threads (of Polars, of BLAS) it does
    not copy. They hold the reading end of a pipe whose writing end, the leash, only this process
    has; it closes when this process ends, by whatever signal.
    """

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._held, self._leash = context.Pipe(duplex=False)
        super().__init__(workers, context, _begin, (self._held,))
        # All at once: started one by one, they change a list that CPython's own thread may be
        # going through at that moment, if a worker has just died.
        self._safe_to_dynamically_spawn_children = False

    def submit(
        self, call: Callable[Given, Result], /, *arguments: Given.args, **options: Given.kwargs
    ) -> "Future[Result]":
        with _single_threads(), _interrupts_held():  # this may start a process
            return super().submit(call, *arguments, **options)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures:
            self._leash.close()
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._leash.close()
        self._held.close()


def _begin(leash: Connection) -> None:
    """What a worker process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(leash,), daemon=True).start()


def _follow(leash: Connection) -> None:
    try:
        leash.poll(None)  # nothing is ever sent: this ends when the other end closes
    finally:
        os._exit(1)


@contextmanager
def _single_threads() -> Iterator[None]:
    """Numerical libraries of processes started meanwhile use one thread, unless the user said."""
    added = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits meanwhile, and a process started meanwhile does not hear it while it begins."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        import distributed
    except ImportError:
        raise MissingExtra("cluster", "distributed") from None
    open_client: Any = distributed.Client
    where = f"--cluster {address}"
    try:
        client = open_client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        problem = f"no scheduler answers ({error or type(error).__name__})".replace("\n", " ")
        raise InputError(
            where, problem, "start one with `dask scheduler` and give the address it prints"
        ) from None
    with client:
        for worker, found in client.get_versions(packages=["gnomon"])["workers"].items():
            version = found["packages"]["gnomon"]
            if version != gnomon.__version__:
                raise _other_version(f"{where}, worker {worker}", version)
        yield Workers(
            lambda: _Remote(client),
            lambda: sum(client.nthreads().values()),
            (distributed.KilledWorker,),
            where,
        )


def _other_version(where: str, version: str | None) -> InputError:
    there = f"Gnomon {version}" if version else "no Gnomon"
    return InputError(
        where,
        f"it has {there}, and this machine Gnomon {gnomon.__version__}",
        "install the same version on both",
    )


class _Remote(Executor):
    """The workers of a Dask cluster."""

    def __init__(self, client: Any) -> None:
        self._inner = client.get_executor(pure=False)

    def submit(
        self, call: Callable[Given, Result], /, *arguments: Given.args, **options: Given.kwargs
    ) -> "Future[Result]":
        from distributed.protocol import pickle as flexible  # takes functions of a notebook too

        # Packed here: Dask would look through the arguments for tasks of its own.
        packing: Any = flexible.dumps
        packed = packing((call, arguments, options))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            future: Future[Result] = self._inner.submit(_unpacked, gnomon.__version__, packed)
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown(wait=wait and not cancel_futures)


def _unpacked(version: str, packed: bytes) -> Any:
    """A packed call, made; here too the versions are compared, for workers that joined late."""
    if version != gnomon.__version__:
        raise InputError(
            "--cluster",
            f"a worker has Gnomon {gnomon.__version__}, and the sender Gnomon {version}",
            "install the same version on both",
        )
    call, arguments, options = pickle.loads(packed)
    return call(*arguments, **options)
