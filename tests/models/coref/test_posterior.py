"""The coreference posterior against enumeration of all antecedents, and by what must hold."""

import itertools
import math
import sys
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from gnomon.errors import InputError, MissingExtra
from gnomon.models.coref.posterior import (
    CorefPosterior,
    document_key,
)
from gnomon.models.coref.predictions import new_predictions, pair_predictions, top_predictions

Floats = NDArray[np.float64]
INF = math.inf


def made(
    n: int, seed: int, window: int = 10**9, spread: float = 1.5, forbidden: float = 0.0
) -> CorefPosterior:
    """Random scores for each mention's last `window` mentions; some candidates left out."""
    rng = np.random.default_rng(seed)
    rows = [np.arange(max(0, i - window), i) for i in range(n)]
    rows = [row[rng.random(len(row)) < 0.9] for row in rows]
    offsets = np.cumsum([0, *map(len, rows)])
    candidates = np.concatenate([np.empty(0, np.int64), *rows])
    logits = rng.normal(0, spread, len(candidates))
    logits[rng.random(len(candidates)) < forbidden] = -INF
    return CorefPosterior.from_scores(offsets, candidates, logits)


@st.composite
def posteriors(draw: st.DrawFn, most: int = 6) -> CorefPosterior:
    """Small ones: flat, sharp, with pruned and forbidden candidates."""
    return made(
        draw(st.integers(0, most)),
        draw(st.integers(0, 10**6)),
        draw(st.sampled_from([1, 2, 100])),
        draw(st.sampled_from([0.0, 1.5, 8.0, 900.0])),
        draw(st.sampled_from([0.0, 0.3])),
    )


def rows(posterior: CorefPosterior) -> list[list[tuple[int, float]]]:
    """Candidates and probabilities of each mention."""
    pairs = list(
        zip(
            posterior.candidate.tolist(), np.exp(posterior.log_probability).tolist(), strict=True
        )
    )  # fmt: skip
    return [pairs[a:b] for a, b in itertools.pairwise(posterior.offsets.tolist())]


def clusters(antecedents: tuple[int, ...]) -> tuple[int, ...]:
    """Connected components by repeated relabelling, named by their smallest member."""
    ids = list(range(len(antecedents)))
    for _ in ids:
        for i, a in enumerate(antecedents):
            if a >= 0:
                ids[i] = ids[a] = min(ids[i], ids[a])
    return tuple(ids)


def enumerated(posterior: CorefPosterior) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every vector of antecedents with its probability, by definition."""
    for choice in itertools.product(*rows(posterior)):
        yield tuple(c for c, _ in choice), math.prod(p for _, p in choice)


def distribution(posterior: CorefPosterior) -> dict[tuple[int, ...], float]:
    parts: dict[tuple[int, ...], list[float]] = defaultdict(list)
    for antecedents, p in enumerated(posterior):
        parts[clusters(antecedents)].append(p)
    return {ids: math.fsum(p) for ids, p in parts.items()}


def together(whole: dict[tuple[int, ...], float], n: int) -> Floats:
    pair = np.zeros((n, n))
    for ids, p in whole.items():
        pair += p * np.equal.outer(ids, ids)
    return pair


@given(posteriors())
def test_pairs_are_as_enumerated(posterior: CorefPosterior) -> None:
    n = len(posterior)
    expected = together(distribution(posterior), n)
    found = posterior.pair_probabilities()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()
    for i in range(n):
        for j in range(n):
            assert posterior.probability(i, j) == pytest.approx(expected[i, j], abs=1e-12)


@given(posteriors())
def test_the_likelihood_of_every_clustering_is_as_enumerated(posterior: CorefPosterior) -> None:
    whole = distribution(posterior)
    assert math.fsum(whole.values()) == pytest.approx(1, abs=1e-12)
    total = 0.0
    for ids in {
        clusters(a) for a in itertools.product(*(range(-1, i) for i in range(len(posterior))))
    }:
        found = posterior.log_likelihood([7 * k + 3 for k in ids])
        total += math.exp(found)
        assert math.exp(found) == pytest.approx(whole.get(ids, 0.0), rel=1e-9, abs=1e-12)
    assert total == pytest.approx(1, abs=1e-12)


@given(posteriors())
def test_the_entropy_is_that_of_all_antecedents_and_bounds_that_of_clusters(
    posterior: CorefPosterior,
) -> None:
    def entropy(values: list[float]) -> float:
        return -math.fsum(p * math.log(p) for p in values if p > 0)

    assert posterior.entropy() == pytest.approx(
        entropy([p for _, p in enumerated(posterior)]), abs=1e-9
    )
    assert entropy(list(distribution(posterior).values())) <= posterior.entropy() + 1e-9


@given(posteriors())
def test_candidates_are_new_then_earlier_mentions_and_sum_to_one(
    posterior: CorefPosterior,
) -> None:
    for i, row in enumerate(rows(posterior)):
        names = [c for c, _ in row]
        assert names[0] == -1
        assert names == sorted(set(names))
        assert max(names) < i
        assert math.fsum(p for _, p in row) == pytest.approx(1, abs=1e-12)
    new = [dict(row)[-1] for row in rows(posterior)]
    np.testing.assert_allclose(posterior.new_probability(), new, rtol=1e-12)
    best, probability = posterior.top()
    for i, row in enumerate(rows(posterior)):
        assert probability[i] == pytest.approx(max(p for _, p in row), rel=1e-12)
        assert dict(row)[int(best[i])] == pytest.approx(probability[i], rel=1e-12)
    assert tuple(posterior.map().tolist()) == clusters(tuple(best.tolist()))


@given(posteriors(), st.randoms(use_true_random=False))
def test_the_order_of_candidates_does_not_matter(posterior: CorefPosterior, random: Any) -> None:
    order = []
    for a, b in itertools.pairwise(posterior.offsets.tolist()):
        own = list(range(a, b))
        random.shuffle(own)
        order += own
    places = np.array(order, dtype=np.int64)
    other = CorefPosterior(
        posterior.offsets, posterior.candidate[places], posterior.log_probability[places]
    )
    for name, column in posterior.to_columns().items():
        assert (other.to_columns()[name] == column).all()
    assert (other.sample(20, 3) == posterior.sample(20, 3)).all()


@given(posteriors())
def test_columns_give_the_same_posterior_back(posterior: CorefPosterior) -> None:
    columns = posterior.to_columns()
    assert [column.dtype for column in columns.values()] == [np.int64, np.int32, np.float64]
    again = CorefPosterior.from_columns(columns).to_columns()
    assert all((again[name] == columns[name]).all() for name in columns)


def test_columns_of_half_the_digits_are_normalised_again() -> None:
    posterior = made(30, 4)
    columns = posterior.to_columns()
    short = columns | {"log_probability": columns["log_probability"].astype(np.float32)}
    short["log_probability"].flags.writeable = False  # as Arrow gives them
    again = CorefPosterior.from_columns(short)
    sums = np.add.reduceat(np.exp(again.log_probability), again.offsets[:-1])
    np.testing.assert_allclose(sums, 1, atol=1e-12)
    np.testing.assert_allclose(
        again.pair_probabilities(), posterior.pair_probabilities(), atol=1e-5
    )


def test_scores_are_a_softmax_with_zero_for_new_unless_said_otherwise() -> None:
    def row(new_score: float | None, candidates: list[int], logits: list[float]) -> list[float]:
        offsets = [0, 1, 2, 2 + len(candidates)]
        posterior = CorefPosterior.from_scores(
            offsets, [-1, -1, *candidates], [5.0, 5.0, *logits], new_score=new_score
        )
        return [p for _, p in rows(posterior)[2]]

    e = math.e
    assert row(0.0, [1, 0], [2.0, 1.0]) == pytest.approx(
        [1 / (1 + e + e * e), e / (1 + e + e * e), e * e / (1 + e + e * e)]
    )
    assert row(2.0, [1], [1.0]) == pytest.approx([e / (1 + e), 1 / (1 + e)])
    assert row(None, [1, -1], [0.0, 1.0]) == pytest.approx([e / (1 + e), 1 / (1 + e)])
    assert row(0.0, [1, -1], [0.0, 1.0]) == row(None, [1, -1], [0.0, 1.0])
    assert row(0.0, [0, 1], [1e300, -INF]) == [0, 1, 0]
    assert row(0.0, [0, 1], [-1e300, -1e300]) == [1, 0, 0]


def test_draws_come_as_often_as_they_should() -> None:
    posterior = made(5, 11, forbidden=0.2)
    for key in (0, document_key("a")):
        draws = posterior.sample(20_000, 3, key)
        own, count = np.unique(draws, axis=0, return_counts=True)
        seen = {tuple(ids): int(c) for ids, c in zip(own.tolist(), count, strict=True)}
        expected = {ids: 20_000 * p for ids, p in distribution(posterior).items()}
        assert set(seen) <= {ids for ids, number in expected.items() if number > 0}
        large = [ids for ids, number in expected.items() if number >= 5]
        rest = 20_000 - sum(expected[ids] for ids in large)
        statistic = sum((seen.get(ids, 0) - expected[ids]) ** 2 / expected[ids] for ids in large)
        if rest > 1:
            others = 20_000 - sum(seen.get(ids, 0) for ids in large)
            statistic += (others - rest) ** 2 / rest
        assert len(large) > 10
        assert statistic < chi2.ppf(0.9999, len(large))


def test_drawn_pairs_agree_with_exact_pairs_on_a_long_document() -> None:
    posterior = made(130, 8, window=60, spread=3)
    exact = posterior.pair_probabilities()
    draws = 4000
    drawn = posterior.pair_frequencies(draws, 1)
    ids = posterior.sample(draws, 1)
    assert drawn[100, 77] == np.mean(ids[:, 100] == ids[:, 77])
    assert (drawn == drawn.T).all()
    error = np.sqrt(exact * (1 - exact) / draws)
    wrong = np.abs(drawn - exact) / np.maximum(error, 1e-3)
    assert wrong.max() < 6
    assert wrong.max() > 1  # they are draws


def test_each_mention_is_decided_by_its_own_number() -> None:
    """With two equally probable candidates everywhere, all mentions' choices are independent."""
    n = 41
    offsets = np.cumsum([0, 1, *[2] * (n - 1)])
    candidate = np.concatenate([[-1], *([-1, i - 1] for i in range(1, n))])
    even = CorefPosterior.from_scores(offsets, candidate, np.zeros(len(candidate)))
    ids = even.sample(4000, 0)
    new = (ids == np.arange(n))[:, 1:].astype(float)
    correlation = np.corrcoef(new.T) - np.eye(n - 1)
    assert np.abs(correlation).max() < 5 / math.sqrt(4000)
    assert np.abs(new.mean(axis=0) - 0.5).max() < 5 * 0.5 / math.sqrt(4000)


def test_draws_depend_on_seed_key_and_number_only() -> None:
    posterior = made(60, 2)
    draws = posterior.sample(700, 7, 5)
    assert draws.dtype == np.int32
    assert (posterior.sample(20, 7, 5) == draws[:20]).all()  # another search, the same draws
    assert (posterior.sample(300, 7, 5, first=290) == draws[290:590]).all()
    assert (posterior.sample(700, 8, 5) != draws).any()
    for key in (6, 5 + 2**32):
        assert (posterior.sample(700, 7, key) != draws).any()
    assert (draws[0] != draws[1]).any()
    columns = made(100, 2).to_columns()
    end = int(columns["offsets"][60])
    start = CorefPosterior(columns["offsets"][:61], columns["candidate"][:end],
                           columns["log_probability"][:end])  # fmt: skip
    whole = made(100, 2).sample(50, 7, 5)
    assert (start.sample(50, 7, 5) == whole[:, :60]).all()
    assert document_key("a") != document_key("b")
    assert 0 <= document_key("") < 2**64


@pytest.mark.parametrize(("window", "pieces"), [(10**9, 1), (7, 1), (7, 4)])
def test_rows_in_pieces_are_the_matrix(
    window: int, pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    posterior = made(120, 3, window)
    if pieces > 1:
        monkeypatch.setattr("gnomon.models.coref.posterior._NUMBERS_A_BLOCK", 120 * 120 // pieces)
    exact = np.tril(posterior.pair_probabilities())
    found = list(posterior.pair_rows())
    assert len(found) == pieces
    assert [first for first, _ in found] == [k * 120 // pieces for k in range(pieces)]
    for first, block in found:
        n, width = block.shape
        np.testing.assert_allclose(block, exact[first : first + n, :width], rtol=0, atol=1e-13)


def test_five_thousand_mentions_need_no_matrix() -> None:
    n, window = 5000, 100
    posterior = made(n, 1, window, spread=4)
    assert posterior.probability(3, 1) <= 1  # compiles before memory is counted
    tracemalloc.start()
    total, largest = 0.0, 0.0
    for first, block in posterior.pair_rows():
        total += float(block.sum())
        largest = max(largest, float(block.max()))
        if first == 0:
            head = block[:150, :150].copy()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (window * n + 4 * 2**20) < n * n * 8 / 4
    assert largest == 1
    np.testing.assert_allclose(
        head, np.tril(posterior.pair_probabilities()[:150, :150]), atol=1e-13
    )
    # The expected number of pairs, mentions with themselves among them, also by draws.
    ids = posterior.sample(400, 0)
    pairs = [float((c * (c + 1) / 2).sum()) for c in (np.bincount(row) for row in ids)]
    assert abs(np.mean(pairs) - total) < 5 * np.std(pairs) / math.sqrt(len(pairs))


def partitions(n: int) -> list[tuple[int, ...]]:
    return sorted({clusters(a) for a in itertools.product(*(range(-1, i) for i in range(n)))})


@given(posteriors(5), st.sampled_from([0.3, 1.0, 2.0]), st.integers(0, 5))
def test_the_expected_loss_is_the_mean_number_of_wrong_pairs(
    posterior: CorefPosterior, weight: float, seed: int
) -> None:
    n = len(posterior)
    whole = distribution(posterior)

    def loss(ids: tuple[int, ...]) -> float:
        parts = []
        for other, p in whole.items():
            for i, j in itertools.combinations(range(n), 2):
                said, true = ids[i] == ids[j], other[i] == other[j]
                parts.append(p * (weight * (said and not true) + (true and not said)))
        return math.fsum(parts)

    all_of_them = {ids: loss(ids) for ids in partitions(n)}
    for ids, expected in all_of_them.items():
        found = posterior.expected_loss(ids, weight=weight)
        assert found == pytest.approx(expected, abs=1e-9)
    best = tuple(posterior.mbr(draws=30, seed=seed, weight=weight).tolist())
    tried = [posterior.map(), *posterior.sample(30, seed)]
    assert all_of_them[best] <= min(all_of_them[tuple(t.tolist())] for t in tried) + 1e-9
    assert all_of_them[best] >= min(all_of_them.values()) - 1e-9
    assert (posterior.mbr(draws=30, seed=seed, weight=weight) == best).all()


def test_the_clustering_of_least_risk_can_be_better_than_the_most_probable_antecedents() -> None:
    """Three chances of a third each to be old: the best antecedent is NEW, yet it is not new."""
    offsets = [0, 1, 3, 6, 10]
    candidate = [-1, -1, 0, -1, 0, 1, -1, 0, 1, 2]
    p = [1, 0.05, 0.95, 0.05, 0.5, 0.45, 0.34, 0.22, 0.22, 0.22]
    posterior = CorefPosterior(offsets, candidate, np.log(p))
    assert posterior.map().tolist() == [0, 0, 0, 3]
    assert posterior.mbr(draws=0).tolist() == [0, 0, 0, 0]
    assert posterior.mbr(draws=0, weight=9).tolist() == [0, 0, 0, 3]
    assert posterior.expected_loss([0] * 4) < posterior.expected_loss(posterior.map())
    doubtful = CorefPosterior([0, 1, 3], [-1, -1, 0], np.log([1, 0.7, 0.3]))
    assert doubtful.mbr(draws=0).tolist() == [0, 1]
    assert doubtful.mbr(draws=0, weight=0.25).tolist() == [0, 0]  # 0.25 × 0.7 < 0.3


def test_the_probability_of_a_statement_comes_with_its_interval() -> None:
    posterior = made(40, 6)
    exact = posterior.probability(30, 12)
    found = posterior.statement(lambda ids: ids[30] == ids[12], 3000, 2)
    drawn = posterior.sample(3000, 2)
    assert found.value == np.mean(drawn[:, 30] == drawn[:, 12])
    assert found.low < exact < found.high
    assert (found.n, found.level, found.method) == (3000, 0.95, "Wilson")
    wider = posterior.statement(lambda ids: bool(ids[30] == ids[12]), 3000, 2, level=0.99)
    assert wider.low < found.low < found.high < wider.high
    never = posterior.statement(lambda ids: False, 50, 2)
    assert (never.value, never.low) == (0, 0)
    assert never.high == pytest.approx(0.0713, abs=1e-4)  # z² / (50 + z²)
    always = posterior.statement(lambda ids: True, 50, 2)
    assert (always.value, always.high) == (1, 1)


@given(posteriors(), st.floats(0.2, 5), st.floats(-3, 3))
def test_recalibrating_divides_scores_and_raises_new(
    posterior: CorefPosterior, temperature: float, bias: float
) -> None:
    found = posterior.recalibrated(temperature, bias)
    for before, after in zip(rows(posterior), rows(found), strict=True):
        weight = {c: p ** (1 / temperature) * (math.exp(bias) if c < 0 else 1) for c, p in before}
        for c, p in after:
            assert p == pytest.approx(weight[c] / math.fsum(weight.values()), abs=1e-9)
    same = posterior.recalibrated()
    np.testing.assert_allclose(same.log_probability, posterior.log_probability, atol=1e-12)


def test_recalibrating_to_extremes_still_gives_probabilities() -> None:
    posterior = made(20, 5)
    best, _ = posterior.top()
    sharp = posterior.recalibrated(1e-320)
    assert (sharp.top()[0] == best).all()
    assert (sharp.top()[1] == 1).all()
    flat = posterior.recalibrated(1e300)
    sizes = np.diff(posterior.offsets)
    np.testing.assert_allclose(np.exp(flat.log_probability), np.repeat(1 / sizes, sizes))
    assert (posterior.recalibrated(new_bias=1e308).new_probability() == 1).all()
    assert (posterior.recalibrated(new_bias=-1e308).new_probability()[sizes > 1] == 0).all()


def test_gold_antecedents_that_were_pruned() -> None:
    posterior = CorefPosterior([0, 1, 2, 4], [-1, -1, -1, 1], np.log([1, 1, 0.2, 0.8]))
    assert posterior.log_likelihood([4, 5, 4]) == -INF
    assert posterior.log_likelihood([4, 5, 4], pruned_as_new=True) == pytest.approx(math.log(0.2))
    assert posterior.log_likelihood([4, 5, 5], pruned_as_new=True) == pytest.approx(math.log(0.8))
    assert posterior.log_likelihood([-1, -1, -1]) == pytest.approx(math.log(0.2))


def test_predictions_are_every_pair_and_every_mention_with_the_truth() -> None:
    documents = [made(5, 1), made(0, 2), made(1, 3), made(3, 4)]
    golds = [[1, 2, 1, -1, -1], [], [9], [0, 0, 0]]
    pairs = list(pair_predictions(documents, golds))
    assert [len(p) for p, _ in pairs] == [10, 3]
    where = [(i, j) for i in range(5) for j in range(i)]
    exact = documents[0].pair_probabilities()
    np.testing.assert_allclose(pairs[0][0], [exact[i, j] for i, j in where], atol=1e-13)
    assert pairs[0][1].tolist() == [int((i, j) == (2, 0)) for i, j in where]
    assert pairs[1][1].tolist() == [1, 1, 1]
    keys = [3, 4, 5, 6]
    drawn = list(pair_predictions(documents, golds, draws=50, seed=2, keys=keys))
    often = documents[3].pair_frequencies(50, 2, 6)
    assert drawn[1][0].tolist() == [often[1, 0], often[2, 0], often[2, 1]]
    assert [label.tolist() for _, label in drawn] == [label.tolist() for _, label in pairs]
    plain = list(pair_predictions(documents, golds, draws=50, seed=2))
    assert plain[1][0][0] == documents[3].pair_frequencies(50, 2, 3)[1, 0]

    new = list(new_predictions(documents, golds))
    assert [label.tolist() for _, label in new] == [[1, 0, 1, 1], [0, 0]]
    np.testing.assert_array_equal(new[0][0], documents[0].new_probability()[1:])
    top = list(top_predictions(documents, golds))
    for (probability, label), posterior, gold in zip(
        top, [documents[0], documents[3]], [golds[0], golds[3]], strict=True
    ):
        best, largest = posterior.top()
        np.testing.assert_array_equal(probability, largest[1:])
        for i, right in enumerate(label.tolist(), start=1):
            own, a = gold[i], int(best[i])
            first = own < 0 or own not in gold[:i]
            assert right == (first if a < 0 else own >= 0 and gold[a] == own)


def test_predictions_are_right_as_often_as_they_say() -> None:
    """Gold entities are drawn from the posterior itself, so that all its probabilities are true."""
    documents = [made(25, k, spread=2) for k in range(100)]
    golds = [posterior.sample(1, 9, k)[0] for k, posterior in enumerate(documents)]
    for predictions in (pair_predictions, new_predictions, top_predictions):
        # What a document has too many or too few; its own predictions are not independent.
        excess = np.array([y.sum() - p.sum() for p, y in predictions(documents, golds)])
        assert len(excess) == len(documents)
        if predictions is not top_predictions:
            assert abs(excess.mean()) < 4 * excess.std() / math.sqrt(len(excess))
        else:  # another antecedent than the one drawn can be of the same entity
            assert excess.mean() > 4 * excess.std() / math.sqrt(len(excess))


def test_without_numba_the_install_that_helps_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtra, match=r'^numba is not installed; run: pip install "gnomon\['):
        CorefPosterior.from_scores([0], [], [])


def test_no_mention_and_one_mention() -> None:
    for n in (0, 1):
        posterior = made(n, 0)
        assert len(posterior) == n
        assert posterior.sample(3, 0).tolist() == [[0] * n] * 3
        assert posterior.sample(0, 0).shape == (0, n)
        assert posterior.pair_probabilities().tolist() == [[1.0] * n] * n
        assert posterior.pair_frequencies(2, 0).tolist() == [[1.0] * n] * n
        assert [block.tolist() for _, block in posterior.pair_rows()] == [[[1.0]]] * n
        assert posterior.map().tolist() == posterior.mbr().tolist() == [0] * n
        assert posterior.entropy() == posterior.log_likelihood([0] * n) == 0
        assert posterior.expected_loss([0] * n) == 0
        assert posterior.new_probability().tolist() == posterior.top()[1].tolist() == [1.0] * n
        assert len(posterior.recalibrated(2.0, 1.0)) == n
        assert len(CorefPosterior.from_columns(posterior.to_columns())) == n


NAN = math.nan


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0, 1], [1], [0.0]), "scores, mention 1: an antecedent after its mention (1); give "),
        (([0, 1], [0], [0.0]), "scores, mention 0: an antecedent after its mention (0); give "),
        (([0, 0, 1], [-2], [0.0]), "scores, mention 1: -2 is not a mention; give earlier"),
        (([0, 0, 2], [0, 0], [0.0, 1.0]), "scores, mention 1: candidate 0 comes twice; give"),
        (([0, 0, 3], [-1, 0, -1], [0, 0, 1]), "scores, mention 1: candidate -1 comes twice"),
        (([0, 0, 1], [0], [NAN]), "scores, mention 1: nan is not a score; give numbers"),
        (([0, 0, 1], [0], [INF]), "scores, mention 1: inf is not a score; give numbers"),
        (([0, 0, 2], [0, -1], [-INF, -INF]), "scores, mention 1: no candidate is possible; "),
        (([0, 2, 1], [-1], [0.0]), "scores, offsets: they go down; give them in the order"),
        (([0, 2], [-1], [0.0]), "scores, offsets: they do not go from 0 to the 1 candidates"),
        (([1, 1], [-1], [0.0]), "scores, offsets: they do not go from 0 to the 1 candidates"),
        (([], [], []), "scores, offsets: they do not go from 0 to the 0 candidates; give where"),
        (([0.0, 1.0], [-1], [0.0]), "scores, offsets: not whole numbers; give an array"),
        (([0, 1], [-1.0], [0.0]), "scores, candidates: not whole numbers; give an array"),
        (([0, 1], [-1], [0.0, 1.0]), "scores: (1,) candidates and (2,) scores; give one"),
        (([0, 1], [[-1]], [[0.0]]), "scores: (1, 1) candidates and (1, 1) scores; give one"),
        (([0, 1], [-1], ["x"]), "scores, scores: not numbers; give an array of numbers"),
        (([0, 1], [-1], [[0.0], [0.0, 1.0]]), "scores, scores: not numbers; give an array"),
    ],
)
def test_bad_scores_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        CorefPosterior.from_scores(*arguments)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_scores_without_new_and_probabilities_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match=r"^a\.npz, mention 1: it has no candidate NEW \(−1\); "):
        CorefPosterior.from_scores([0, 1, 2], [-1, 0], [0, 0], new_score=None, where="a.npz")
    with pytest.raises(InputError, match=r"^posterior, mention 0: it has no candidate NEW"):
        CorefPosterior([0, 0], [], [])
    with pytest.raises(InputError, match=r"^part 3, mention 0: its probabilities sum to 2; give"):
        CorefPosterior([0, 1], [-1], np.log([2.0]), where="part 3")
    with pytest.raises(InputError, match=r"^part 3: it has no column candidate; give offsets, "):
        CorefPosterior.from_columns({"offsets": [0]}, where="part 3")
    for bad in (NAN, INF, "x", 10**400):
        with pytest.raises(InputError, match=r"^new_score: .* is not a score; give a number"):
            CorefPosterior.from_scores([0], [], [], new_score=bad)  # type: ignore[arg-type]


TWO = CorefPosterior([0, 1, 3], [-1, -1, 0], np.log([1, 0.5, 0.5]))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: TWO.sample(-1, 0), "draws: -1 is not possible; give a whole number"),
        (lambda: TWO.sample(1, -1), "seed: -1 is not possible; give"),
        (lambda: TWO.sample(1, 0, 2**64), "key: 18446744073709551616 is not possible; give"),
        (lambda: TWO.sample(10, 0, first=2**32 - 5), "first: 4294967291 is not possible; give"),
        (lambda: TWO.probability(0, 2), "mention: 2 is not possible; give a whole number from 0"),
        (lambda: TWO.pair_frequencies(0, 0), "draws: 0 is not possible; give"),
        (lambda: TWO.statement(lambda ids: True, 0, 0), "draws: 0 is not possible; give"),
        (lambda: TWO.statement(lambda ids: 3, 1, 0), "function: it says 3 of a draw; give"),  # type: ignore[arg-type,return-value]
        (lambda: TWO.statement(lambda ids: True, 1, 0, level=1.0), "level: 1.0 is not a level"),
        (lambda: TWO.recalibrated(0.0), "temperature: 0.0 is not a temperature; give a number"),
        (lambda: TWO.recalibrated(INF), "temperature: inf is not a temperature; give a number"),
        (lambda: TWO.recalibrated(1.0, NAN), "new_bias: nan is not a bias; give a number"),
        (lambda: TWO.mbr(weight=0), "weight: 0 is not a weight; give a number above 0"),
        (lambda: TWO.expected_loss([0]), "clusters: (1,) numbers for 2 mentions; give one"),
        (lambda: TWO.log_likelihood([0.5, 1]), "gold: not whole numbers; give an array"),
        (lambda: list(new_predictions([TWO], [])), "document 0: it has no gold entities; give"),
        (lambda: list(top_predictions([], [[1]])), "document 0: it has no posterior; give"),
        (lambda: list(pair_predictions([TWO], [[0, 1, 2]])), "document 0, gold: (3,) numbers for"),
        (lambda: list(pair_predictions([TWO], [[0, 1]], draws=1, keys=[])),
         "document 0: it has no key; give"),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(ask: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ask()
    assert str(caught.value).startswith(message)
