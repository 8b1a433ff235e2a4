"""The corpus rows of the budgets: CoNLL-U beside the `conllu` package, parsing, the store."""

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
    """Every row, as it is measured; those of treebanks where the data folder is there."""
    for name, budget in FILES.items():
        path = folder() / f"{name}.conllu.gz"
        if path.is_file():
            yield from _reading(name, gzip.decompress(path.read_bytes()), budget)
    yield from _parsing()


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


def _parsing() -> Iterator[Row]:
    """The bundled pipeline on generated news, in one process, and its corpus read again."""
    from gnomon import wire
    from gnomon.corpus.build import build
    from gnomon.corpus.store import Corpus

    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        made = best_of(lambda: sum(1 for _ in wire.articles(3000)), 1, 1)
        yield Row("news wire, one core", 3000 / made, "documents/s")
        wire.write(home / "wire", 400)
        source = home / "wire" / "articles.jsonl"
        build(source, home / "warm", workers=0, limit=20)
        seconds = best_of(lambda: build(source, home / "corpus", workers=0), 1, 1)
        corpus = Corpus(home / "corpus")
        words = corpus.counts["words"]
        yield Row("parsing by en_gnomon_sm, one process", words / seconds / 1e3, "thousand words/s")
        read = best_of(lambda: sum(map(len, corpus.documents())))
        yield Row("reading the stored corpus", words / read / 1e6, "million words/s")
