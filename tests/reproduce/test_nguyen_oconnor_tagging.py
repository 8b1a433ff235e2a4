"""Section 4.2 on made-up sentences: every claim judged, every figure there, nothing random."""

import numpy as np
import pytest

from gnomon.models.tagged import Tagged
from gnomon.reproduce.nguyen_oconnor_2015 import tagging

TAGS = ("NN", "VB", "DT", "JJ")


def sentences(n: int, seed: int) -> Tagged:
    """Draws from a chain of tags with words that overlap between them."""
    rng = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(n):
        own = [str(tag) for tag in rng.choice(TAGS, size=rng.integers(3, 9))]
        words.append([f"{tag[0] if rng.random() < 0.8 else 'x'}{rng.integers(6)}" for tag in own])
        tags.append(own)
    return Tagged.of(words, tags)


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, tagging.Outcome]]:
    parts = tagging.Parts(sentences(200, 1), sentences(60, 2), sentences(80, 3), bin_size=100)
    return {"toy": tagging.compare(parts)}


def test_every_claim_is_judged(results: dict[str, dict[str, tagging.Outcome]]) -> None:
    claims = tagging.claims(results)
    assert len(claims) == 7
    assert all(claim.text.startswith("toy: ") for claim in claims)
    assert {claim.paper for claim in claims} >= {"39 of 47", "71 of 100", "about 88.7 %"}


def test_figures_agree_with_a_direct_count(
    results: dict[str, dict[str, tagging.Outcome]],
) -> None:
    from gnomon.models.hmm import HMM

    test = sentences(80, 3)
    model = HMM.fit(sentences(200, 1), transition=1.0, emission=1.0)
    outcome = results["toy"][tagging.MODELS[0]]
    q = model.lattice(test).marginals()
    gold = test.gold(model.tags)
    top = q.argmax(axis=1)
    assert outcome.top.value == pytest.approx(np.mean(top == gold) - np.mean(q.max(axis=1)))
    tagged = list(model.tag(test))
    assert test.tags is not None
    right = sum(a == b for a, b in zip(tagged, test.tags, strict=True))
    assert outcome.accuracy.value == right / len(test)
    assert outcome.accuracy.low < outcome.accuracy.value < outcome.accuracy.high
    assert outcome.calibration.n == len(test) * len(model.tags)


def test_wins_count_the_lower_error(results: dict[str, dict[str, tagging.Outcome]]) -> None:
    hmm, crf = (results["toy"][name].tags for name in (tagging.MODELS[0], tagging.MODELS[2]))
    first, both = tagging.wins(crf, hmm)
    second, _ = tagging.wins(hmm, crf)
    assert both == len(TAGS)
    assert first + second <= both
    assert tagging.wins(hmm, hmm) == (0, both)


def test_a_proportion_by_wilson() -> None:
    found = tagging.share(8, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.4902, 0.9433)
