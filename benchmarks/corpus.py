"""The corpus rows of the budgets: CoNLL-U, with the `conllu` package in the same run."""

import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Row, best_of
from gnomon.corpus import conllu as ours
from gnomon.corpus.datasets import folder

# Of each treebank, how many times the `conllu` package's speed the budget asks for.
FILES = {"gum/dev": 4.0, "ontogum/dev": None, "ewt/dev": None}


def rows() -> Iterator[Row]:
    """Every row, as it is measured; none where the data folder is absent."""
    for name, budget in FILES.items():
        path = folder() / f"{name}.conllu.gz"
        if path.is_file():
            yield from _reading(name, gzip.decompress(path.read_bytes()), budget)


def _reading(name: str, data: bytes, budget: float | None) -> Iterator[Row]:
    """Both readers on the same unzipped file, which is what they differ in."""
    import conllu

    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, "plain.conllu")
        path.write_bytes(data)

        def peer() -> int:
            with path.open(encoding="utf-8") as handle:
                return sum(len(sentence) for sentence in conllu.parse_incr(handle))

        def reader() -> int:
            return sum(map(len, ours.read(path)))

        words = reader()
        # By turns, and each the same number of times, so that the machine's moods strike both.
        turns = [(best_of(reader, 0, 3), best_of(peer, 0, 3)) for _ in range(3)]
        mine, theirs = (min(times) for times in zip(*turns, strict=True))
        yield Row(f"CoNLL-U reader, {name}, against the `conllu` package", theirs / mine, "×",
                  budget, at_least=True)  # fmt: skip
        yield Row(f"CoNLL-U reader, {name}", words / mine / 1e3, "thousand words/s")
        documents = list(ours.read(path))
        written = best_of(lambda: [ours.dumps(document) for document in documents], 1, 1)
        yield Row(f"CoNLL-U writer, {name}", words / written / 1e3, "thousand words/s")
