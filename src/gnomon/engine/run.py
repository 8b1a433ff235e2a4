"""A job called on every shard of the input, and its parts kept: the engine's one entry."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic

from gnomon.engine.executors import Workers
from gnomon.engine.ledger import Ledger, writing
from gnomon.engine.shards import Item, Outcome, Shard, cut
from gnomon.errors import GnomonError, InputError

KILLER = "killed the worker process twice"
_TICK = 0.1  # seconds between two reports of progress, at least


class Interrupted(GnomonError):
    """The user stopped the run; what is finished stays, and the same command continues."""


@dataclass(frozen=True)
class Progress:
    """How far a run is; `done` includes the items `skipped` because an earlier run did them."""

    done: int
    total: int | None
    skipped: int
    seconds: float

    @property
    def rate(self) -> float:
        """Items a second, of those done in this run.

        >>> Progress(done=300, total=1000, skipped=100, seconds=4.0).rate
        50.0
        """
        return (self.done - self.skipped) / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        """How many more seconds at this rate; None while that cannot be said.

        >>> Progress(done=300, total=1000, skipped=100, seconds=4.0).remaining
        14.0
        """
        if self.total is None or self.rate == 0:
            return None
        return max(self.total - self.done, 0) / self.rate


@dataclass(frozen=True)
class Summary:
    """What the folder holds at the end, and whether an earlier run had made a part of it."""

    parts: int
    items: int
    rows: int
    problems: int
    counts: Mapping[str, int]
    seconds: float
    resumed: bool


def run(
    job: Callable[[Sequence[Item]], Outcome],
    items: Iterable[Item],
    *,
    folder: str | Path,
    section: str,
    settings: Mapping[str, Any],
    describe: Callable[[Item], str],
    refuse: Callable[[Item, str], Mapping[str, str]],
    shard_size: int,
    executor: Workers,
    suffix: str = ".parquet",
    total: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Calls the job on every shard of the items and keeps what it gives back in the folder.

    A folder with unfinished work is continued, and ends with the same bytes as if it had never
    stopped, on whatever executor. `settings` must hold everything that the result depends on (the
    model, its version), since only equal settings may continue. `describe` gives an item's id, and
    `refuse` the record of an item that was left out because worker processes die of it.

    The job is pickled, and called with a tuple of items, which may be empty. Its exceptions end the
    run, so it must deal itself with items it cannot use. It should not carry a model about, but
    load it once in each process:

        @functools.cache
        def pipeline(name: str) -> Pipeline: ...

        @dataclass(frozen=True)
        class Parse:
            model: str

            def __call__(self, items: Sequence[Raw]) -> Outcome:
                return table_of(pipeline(self.model)(item) for item in items)

    >>> import tempfile
    >>> from gnomon.engine.executors import executor
    >>> def shout(words):
    ...     return Outcome(" ".join(words).upper().encode(), rows=len(words))
    >>> with tempfile.TemporaryDirectory() as folder, executor(0) as here:
    ...     summary = run(shout, ["a", "b", "c"], folder=folder, section="words", settings={},
    ...                   describe=str, refuse=lambda word, why: {"id": word, "problem": why},
    ...                   shard_size=2, executor=here, suffix=".txt")
    ...     summary.parts, summary.rows, Path(folder, "words", "part-00000.txt").read_text()
    (2, 3, 'A B')
    """
    shards = cut(items, shard_size)
    if total is None and isinstance(items, Sized):
        total = len(items)
    fixed = {**settings, "shard size": shard_size, "suffix": suffix}
    try:
        with writing(folder, section, fixed, suffix) as ledger:
            resumed = bool(ledger.records)
            work = _Work(job, ledger, executor, describe, refuse, total, progress)
            work.do(shards)
            return work.summary(resumed)
    except KeyboardInterrupt:
        remedy = "give the same command again to continue"
        raise Interrupted(f"{folder}: stopped, finished parts stay; {remedy}") from None


class _Work(Generic[Item]):
    """A run under way."""

    def __init__(
        self,
        job: Callable[[Sequence[Item]], Outcome],
        ledger: Ledger,
        workers: Workers,
        describe: Callable[[Item], str],
        refuse: Callable[[Item, str], Mapping[str, str]],
        total: int | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.job = job
        self.ledger = ledger
        self.workers = workers
        self.describe = describe
        self.refuse = refuse
        self.total = total
        self.progress = progress
        self.started = time.monotonic()
        self.told = float("-inf")
        self.done = self.skipped = self.shards = 0
        self.survived = False  # whether a worker of this run has lived through any item

    def do(self, shards: Iterator[Shard[Item]]) -> None:
        """Does every shard that is not done, several at a time.

        After an error nothing new is begun, but what is under way is kept; of several errors the
        first in the order of the input is raised, whatever the order they came in.
        """
        waiting = self._unfinished(shards)
        flight: dict[Future[Outcome], Shard[Item]] = {}
        suspects: list[Shard[Item]] = []
        errors: dict[int, Exception] = {}
        more = True
        while True:
            # Two for each worker: none waits for the next, and the input is not all in memory.
            room = 2 * self.workers.count
            while more and not errors and not suspects and len(flight) < room:
                try:
                    shard = next(waiting, None)
                except Exception as error:
                    errors[self.shards] = error
                    break
                if shard is None:
                    more = False
                    break
                future = self.workers.submit(self.job, shard.items)
                flight[future] = shard
                if future.done():  # as in this process: keep it before the next is begun
                    break
            if not flight and errors:
                raise errors[min(errors)]
            if not flight and not suspects:
                break
            if not flight:
                for suspect in suspects:
                    self._isolate(suspect)
                suspects.clear()
                continue
            for future in self.workers.first(flight):
                shard = flight.pop(future)
                try:
                    outcome = self._result(future)
                    if outcome is None:
                        suspects.append(shard)
                    else:
                        self._keep(shard, outcome)
                except Exception as error:
                    errors[shard.index] = error
        self.ledger.finish(self.shards)
        self._tell(at_last=True)

    def summary(self, resumed: bool) -> Summary:
        """What the folder holds now."""
        parts = self.ledger.records
        counts: Counter[str] = Counter()
        for part in parts:
            counts.update(part.counts)
        return Summary(
            parts=len(parts),
            items=sum(part.items for part in parts),
            rows=sum(part.rows for part in parts),
            problems=sum(part.problems for part in parts),
            counts=dict(sorted(counts.items())),
            seconds=time.monotonic() - self.started,
            resumed=resumed,
        )

    def _unfinished(self, shards: Iterator[Shard[Item]]) -> Iterator[Shard[Item]]:
        for shard in shards:
            if self.ledger.holds(shard.index, self._ids(shard)):
                self.skipped += len(shard.items)
                self._count(shard)
            else:
                yield shard
            self.shards = shard.index + 1

    def _ids(self, shard: Shard[Item]) -> list[str]:
        return [self.describe(item) for item in shard.items]

    def _keep(self, shard: Shard[Item], outcome: Outcome) -> None:
        self.ledger.commit(shard.index, self._ids(shard), outcome)
        self.survived = True
        self._count(shard)

    def _count(self, shard: Shard[Item]) -> None:
        self.done += len(shard.items)
        self._tell()

    def _tell(self, at_last: bool = False) -> None:
        now = time.monotonic()
        if self.progress is not None and (at_last or now - self.told >= _TICK):
            self.told = now
            self.progress(Progress(self.done, self.total, self.skipped, now - self.started))

    def _result(self, future: "Future[Outcome]") -> Outcome | None:
        """What a job gave back, or None if its worker died."""
        try:
            return future.result()
        except self.workers.deaths:
            return None
        except CancelledError:
            raise self.workers.lost() from None

    # When a process of a pool dies, all calls under way in the pool are lost, the innocent too.
    # So each is then done again with nothing else under way, where a death is its own doing.

    def _alone(self, items: Sequence[Item]) -> Outcome | None:
        future = self.workers.submit(self.job, items)
        self.workers.first([future])
        outcome = self._result(future)
        self.survived = self.survived or bool(outcome is not None and items)
        return outcome

    def _isolate(self, shard: Shard[Item]) -> None:
        """Does a shard whose worker died once; items that kill their worker again are left out."""
        outcome = self._alone(shard.items)
        if outcome is None:
            killers = self._all_killers(shard)
            rest = tuple(item for at, item in enumerate(shard.items) if at not in killers)
            # One call, as if the killers had never been there: a part must not tell the story.
            outcome = self._alone(rest) or self._alone(rest)
            if outcome is None:
                raise InputError(
                    self._where(shard),
                    "they kill their worker process together, though none does so alone",
                    "give the machine more memory, or start in another folder with smaller shards",
                )
            left_out = tuple(self.refuse(shard.items[at], KILLER) for at in sorted(killers))
            outcome = replace(outcome, problems=(*outcome.problems, *left_out))
        self._keep(shard, outcome)

    def _all_killers(self, shard: Shard[Item]) -> set[int]:
        remedy = "try 0 workers to see it happen; is there enough memory?"
        if self._alone(()) is None:
            problem = "worker processes die even when given no items"
            raise InputError(self.workers.name, problem, remedy)
        killers: set[int] = set()
        for at in self._killers(shard.items, 0, len(shard.items)):
            killers.add(at)
            if len(killers) >= 3 and not self.survived:
                problem = "every item tried so far killed its worker process"
                raise InputError(self._where(shard), problem, remedy)
        return killers

    def _killers(self, items: Sequence[Item], start: int, end: int) -> Iterator[int]:
        """Which of the items from `start` to `end`, which together killed a worker, kill alone."""
        if end - start == 1:
            if self._alone(items[start:end]) is None:
                yield start
            return
        middle = (start + end) // 2
        halves = ((start, middle), (middle, end))
        for low, high in [half for half in halves if self._alone(items[slice(*half)]) is None]:
            yield from self._killers(items, low, high)

    def _where(self, shard: Shard[Item]) -> str:
        ids = self._ids(shard)
        return f"{self.ledger.section}, items {ids[0]!r} to {ids[-1]!r}"
