"""The rows of the tag lattice: forward-backward against python-crfsuite's own, in the same run."""

import tempfile
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Row, best_of
from gnomon.models.lattice import Lattice

TAGS = 46
SENTENCES = 400
WORDS = 1000  # different ones
PAIRS = 100


def rows() -> Iterator[Row]:
    """Every row, as it is measured."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(10, 41, SENTENCES)
    tags = [rng.integers(0, TAGS, n) for n in sizes]
    words = [(tag * 7 + rng.integers(0, 60, len(tag))) % WORDS for tag in tags]
    with tempfile.TemporaryDirectory() as folder:
        tagger = _trained(words, tags, Path(folder) / "tiny.crfsuite")
        texts = [[[f"w{word}"] for word in sentence] for sentence in words]
        lattice = _as_lattice(tagger, words)
        n = len(lattice.unary)
        assert np.abs(_peer(tagger, texts[0]) - lattice.marginals()[: sizes[0]]).max() < 1e-4
        theirs = _peer_seconds(tagger, texts[:40])
    tokens = int(sizes[:40].sum())
    ours = best_of(lattice.marginals, 1) / n
    yield Row("tag marginals, python-crfsuite's loop ÷ ours", theirs / tokens / ours, "×", 10,
              at_least=True)  # fmt: skip
    wanted = rng.integers(0, TAGS, (PAIRS, 2))
    for job, seconds in (
        ("lattice: tag marginals", ours * n),
        (f"lattice: {PAIRS} pairs of tags", best_of(lambda: lattice.pair_marginals(wanted), 1)),
        ("lattice: all pairs of tags, in blocks",
         best_of(lambda: sum(len(places) for places, _ in lattice.pair_marginal_blocks()), 1)),
        ("lattice: best sequence", best_of(lattice.viterbi, 1)),
        ("lattice: ten best sequences", best_of(lambda: lattice.k_best(10), 1)),
        ("lattice: 100 draws", best_of(lambda: lattice.sample(100, 0), 1)),
        ("lattice: tag marginals on logarithms", best_of(lattice.tempered(0.01).marginals, 0.5, 1)),
    ):  # fmt: skip
        yield Row(job, n / seconds / 1e3, "thousand words/s")


def _trained(words: list[np.ndarray], tags: list[np.ndarray], path: Path) -> Any:
    """A tagger of 46 tags; what it has learnt does not matter, only how many tags it has."""
    pycrfsuite = import_module("pycrfsuite")
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, tag in zip(words, tags, strict=True):
        trainer.append([[f"w{word}"] for word in sentence], [str(k) for k in tag])
    trainer.set_params({"max_iterations": 5, "c2": 0.1})
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    assert len(tagger.labels()) == TAGS
    return tagger


def _as_lattice(tagger: Any, words: list[np.ndarray]) -> Lattice:
    """The tagger's weights for these sentences."""
    info = tagger.info()
    index = {label: k for k, label in enumerate(tagger.labels())}
    state, transition = np.zeros((WORDS, TAGS)), np.zeros((TAGS, TAGS))
    for (word, label), weight in info.state_features.items():
        state[int(word[1:]), index[label]] = weight
    for (before, after), weight in info.transitions.items():
        transition[index[before], index[after]] = weight
    offsets = np.cumsum([0, *map(len, words)])
    return Lattice(state[np.concatenate(words)], offsets, transition)


def _peer(tagger: Any, text: list[list[str]]) -> np.ndarray:
    tagger.set(text)
    labels = tagger.labels()
    return np.array([[tagger.marginal(k, t) for k in labels] for t in range(len(text))])


def _peer_seconds(tagger: Any, texts: list[list[list[str]]]) -> float:
    """The time of the marginals alone, features already looked up, of all texts together."""
    labels = tagger.labels()

    def ask(n: int) -> None:
        for t in range(n):
            for label in labels:
                tagger.marginal(label, t)

    total = 0.0
    for text in texts:
        times = []
        for _ in range(5):
            tagger.set(text)  # a sentence set anew has no forward-backward pass yet
            times.append(best_of(partial(ask, len(text)), 0, 1))
        total += min(times)
    return total


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
