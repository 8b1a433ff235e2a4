"""The rows of the coreference posterior: exact pairs against draws, draws against their floor."""

from collections.abc import Iterator

import numpy as np

from benchmarks.timing import Row, best_of
from gnomon.models.coref.posterior import CorefPosterior

MENTIONS = 150
DRAWS = 1000


def rows() -> Iterator[Row]:
    """Every row, as it is measured."""
    posterior = _document(MENTIONS, MENTIONS)
    exact, drawn = posterior.pair_probabilities(), posterior.pair_frequencies(DRAWS, 0)
    assert np.abs(exact - drawn).max() < 6 * 0.5 / DRAWS**0.5
    seconds = best_of(posterior.pair_probabilities, 1)
    others = best_of(lambda: posterior.pair_frequencies(DRAWS, 0), 1)
    yield Row(f"all pairs of {MENTIONS} mentions, {DRAWS} draws ÷ exact", others / seconds, "×", 10,
              at_least=True)  # fmt: skip
    rng = np.random.default_rng(0)
    for name, window in (("all earlier mentions", MENTIONS), ("the last 40 mentions", 40)):
        document = _document(MENTIONS, window)
        floor, ours = np.inf, np.inf
        for _ in range(5):  # by turns, because the machine's speed drifts
            floor = min(floor, best_of(lambda: rng.random((DRAWS, MENTIONS)), 0.1))
            ours = min(ours, best_of(lambda d=document: d.sample(DRAWS, 0), 0.1))  # type: ignore[misc]
        yield Row(f"draws, antecedents among {name} ÷ `rng.random`", ours / floor, "×", 8)
    long = _document(5000, 100)
    for job, seconds in (
        ("coreference: exact pairs, 5,000 mentions in pieces",
         best_of(lambda: sum(len(block) for _, block in long.pair_rows()), 1)),
        ("coreference: exact pairs, 5,000 mentions, matrix",
         best_of(long.pair_probabilities, 1)),
    ):  # fmt: skip
        yield Row(job, 5000 * 4999 / 2 / seconds / 1e6, "million pairs/s")
    columns = posterior.to_columns()
    seconds = best_of(lambda: CorefPosterior.from_columns(columns), 0.5)
    yield Row("coreference: columns checked", len(posterior.candidate) / seconds / 1e6,
              "million candidates/s")  # fmt: skip


def _document(mentions: int, window: int) -> CorefPosterior:
    """Random scores for the last `window` mentions before each."""
    rng = np.random.default_rng(0)
    sizes = np.minimum(np.arange(mentions), window)
    candidates = np.concatenate([np.arange(i - size, i) for i, size in enumerate(sizes)])
    logits = rng.normal(-2, 2, len(candidates))
    return CorefPosterior.from_scores(np.cumsum([0, *sizes]), candidates, logits)


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
