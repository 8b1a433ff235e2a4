"""Coreference scores against the reference scorer's cases, papers' tables and the definitions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gnomon.errors import InputError
from gnomon.scoring.coreference import (
    METRICS,
    SUMS,
    Score,
    Statistics,
    _bca,
    bootstrap,
    score,
    statistics,
)

Partition = list[set[str]]
Triple = tuple[Fraction | float, Fraction | float]


def clusters(text: str) -> Partition:
    """ "a bc" is {a}, {b, c}."""
    return [set(cluster) for cluster in text.split()]


def half(a: Fraction, b: Fraction) -> Fraction:
    return (a + b) / 2


F = Fraction

# The cases of the reference scorer, v8.01 and its LEA branch: github.com/conll/
# reference-coreference-scorers, test/TestCases.README and test/CorefMetricTestConfig.pm. Each value
# is (recall, precision) as given there. Cases with duplicate mentions are left out: we refuse them.
REFERENCE: dict[str, tuple[str, str, dict[str, Triple]]] = {
    "A1": ("a bc def", "a bc def", {
        "muc": (1, 1), "b_cubed": (1, 1), "ceaf_e": (1, 1), "blanc": (1, 1), "lea": (1, 1)}),
    "A2": ("a bc def", "a de", {
        "muc": (F(1, 3), 1), "b_cubed": (F(7, 18), 1), "ceaf_e": (0.6, 0.9),
        "blanc": (half(F(1, 4), F(2, 11)), 1), "lea": (F(1, 3), 1)}),
    "A3": ("a bc def", "a bcx defy z", {
        "muc": (1, F(3, 5)), "b_cubed": (1, F(55, 108)), "ceaf_e": (F(93, 105), F(93, 140)),
        "blanc": (1, half(F(4, 9), F(11, 27))), "lea": (1, F(4, 9))}),
    "A4": ("a bc def", "a bcx dy z", {
        "muc": (F(1, 3), F(1, 3)), "b_cubed": (F(5, 9), F(17, 42)), "ceaf_e": (F(11, 15), 0.55),
        "blanc": (half(F(1, 4), F(5, 11)), half(F(1, 4), F(5, 17))), "lea": (0.5, F(2, 7))}),
    "A5": ("a bc def", "a bcxB dy z", {
        "muc": (F(1, 3), F(1, 4)), "b_cubed": (F(5, 9), F(5, 16)), "ceaf_e": (F(31, 45), F(31, 60)),
        "blanc": (half(F(1, 4), F(5, 11)), half(F(1, 7), F(5, 21))), "lea": (0.5, F(5, 24))}),
    "A6": ("a bc def", "a bcx dy Bz", {
        "muc": (F(1, 3), F(1, 4)), "b_cubed": (F(5, 9), F(17, 48)), "ceaf_e": (F(11, 15), 0.55),
        "blanc": (half(F(1, 4), F(5, 11)), half(F(1, 5), F(5, 23))), "lea": (0.5, 0.25)}),
    "A10": ("a bc def", "a b c d e f", {
        "muc": (0, 0), "b_cubed": (0.5, 1), "blanc": (0.5, F(11, 30)), "lea": (F(1, 6), F(1, 6))}),
    "A11": ("a bc def", "abcdef", {
        "muc": (1, F(3, 5)), "b_cubed": (1, F(7, 18)), "blanc": (0.5, F(2, 15)),
        "lea": (F(5, 6), F(4, 15))}),
    "A12": ("a bc def", "a x y c d e z", {
        "muc": (0, 0), "b_cubed": (F(13, 36), F(4, 7)), "blanc": (F(5, 22), F(5, 42)),
        "lea": (F(1, 6), F(1, 7))}),
    "A13": ("a bc def", "axycdez", {
        "muc": (F(1, 3), F(1, 6)), "b_cubed": (F(17, 36), F(6, 49)), "blanc": (F(1, 8), F(1, 42)),
        "lea": (F(1, 6), F(1, 21))}),
    "B1": ("ab cde", "bcx de", {"blanc": (F(7, 24), F(7, 24)), "lea": (F(1, 5), F(2, 5))}),
    "C1": ("ab cde fg", "bcx de fg", {"blanc": (F(41, 80), F(41, 80)), "lea": (F(3, 7), F(4, 7))}),
    "D1": ("12345 67 89ABC", "12345 6789ABC", {
        "muc": (1, 0.9), "b_cubed": (1, F(16, 21)), "lea": (1, F(26, 36))}),
    "E1": ("12345 67 89ABC", "1234589ABC 67", {
        "muc": (1, 0.9), "b_cubed": (1, F(7, 12)), "lea": (1, F(29, 54))}),
    "F1": ("ABCD", "AB CD", {"muc": (F(2, 3), 1), "lea": (F(1, 3), 1)}),
    "G1": ("AB CD", "ABCD", {"muc": (1, F(2, 3)), "lea": (1, F(1, 3))}),
    "J1": ("ABC", "AC", {"muc": (0.5, 1), "lea": (F(1, 3), 1)}),
    "K1": ("BCDEGHJ", "ABC DEF GHI", {"muc": (0.5, 0.5), "lea": (F(1, 7), F(1, 3))}),
    "L1": ("ABC DEFG", "AB CD FGH", {"muc": (0.4, 0.5), "lea": (F(5, 21), F(3, 7))}),
    "M1": ("abcdef", "abcdef", {"muc": (1, 1), "ceaf_e": (1, 1), "blanc": (1, 1)}),
    "M2": ("abcdef", "a b c d e f", {"muc": (0, 0), "blanc": (0, 0), "lea": (0, 0)}),
    "M3": ("abcdef", "ab cde f", {"blanc": (F(4, 15), 1), "lea": (F(4, 15), F(5, 6))}),
    "M4": ("abcdef", "abcxyz", {"blanc": (0.2, 0.2), "lea": (0.2, 0.2)}),
    "M6": ("abcdef", "ab cxy z", {"blanc": (F(1, 15), 0.25), "lea": (F(1, 15), F(1, 3))}),
    "N1": ("a b c d e f", "a b c d e f", {
        "muc": (0, 0), "b_cubed": (1, 1), "ceaf_e": (1, 1), "blanc": (1, 1), "lea": (1, 1)}),
    "N2": ("a b c d e f", "abcdef", {"blanc": (0, 0), "lea": (0, 0)}),
    "N3": ("a b c d e f", "ab cde f", {"blanc": (F(11, 15), 1), "lea": (F(1, 6), F(1, 6))}),
    "N4": ("a b c d e f", "a b c x y z", {"blanc": (0.2, 0.2), "lea": (0.5, 0.5)}),
    "N6": ("a b c d e f", "ab cxy z", {"blanc": (F(2, 15), F(2, 11)), "lea": (0, 0)}),
}  # fmt: skip


@pytest.mark.parametrize("case", REFERENCE)
def test_the_reference_scorers_cases(case: str) -> None:
    key, response, expected = REFERENCE[case]
    result = score([clusters(key)], [clusters(response)])
    for metric, (recall, precision) in expected.items():
        found: Score = getattr(result, metric)
        assert found.recall == pytest.approx(float(recall), abs=1e-12), metric
        assert found.precision == pytest.approx(float(precision), abs=1e-12), metric


# Luo (2005), "On Coreference Resolution Performance Metrics", table 1: F of MUC, B³ and CEAF with
# entity similarity φ4 for the key {1..5} {6, 7} {8..C}; it gives no MUC for singletons.
@pytest.mark.parametrize(
    ("response", "muc", "b_cubed", "ceaf_e"),
    [
        ("12345 6789ABC", 0.947, 0.865, 0.733),
        ("1234589ABC 67", 0.947, 0.737, 0.667),
        ("123456789ABC", 0.900, 0.545, 0.294),
        ("1 2 3 4 5 6 7 8 9 A B C", 0.0, 0.400, 0.178),
    ],
)
def test_the_table_of_luo(response: str, muc: float, b_cubed: float, ceaf_e: float) -> None:
    result = score([clusters("12345 67 89ABC")], [clusters(response)])
    assert result.muc.f == pytest.approx(muc, abs=5e-4)
    assert result.b_cubed.f == pytest.approx(b_cubed, abs=5e-4)
    assert result.ceaf_e.f == pytest.approx(ceaf_e, abs=5e-4)


# Pradhan et al. (2014), "Scoring Coreference Partitions of Predicted Mentions", section 4: key
# {a, b, c} {d, e, f, g}, response {a, b} {c, d} {f, g, h, i}.
def test_the_example_of_pradhan() -> None:
    result = score([clusters("abc defg")], [clusters("ab cd fghi")])
    assert result.muc == pytest.approx((0.4, 0.4, 0.4))
    assert result.b_cubed == pytest.approx((1 / 2, 5 / 12, 5 / 11))
    assert result.ceaf_e == pytest.approx((1.3 / 3, 0.65, 0.52))


LETTERS = "abcdefg"


@st.composite
def partitions(draw: st.DrawFn) -> Partition:
    """Some of the letters in clusters."""
    label = draw(st.lists(st.integers(0, 4), min_size=len(LETTERS), max_size=len(LETTERS)))
    found: dict[int, set[str]] = {}
    for letter, cluster in zip(LETTERS, label, strict=True):
        if cluster:
            found.setdefault(cluster, set()).add(letter)
    return list(found.values())


DOCUMENTS = st.lists(st.tuples(partitions(), partitions()), min_size=1, max_size=4)


def by_definition(key: Partition, response: Partition) -> dict[str, list[Fraction]]:
    """Numerator and denominator of precision, then of recall, from the papers' formulas."""
    sums: dict[str, list[Fraction]] = {name: [] for name in SUMS}
    best = max(
        sum(
            (F(2 * len(k & r), len(k) + len(r)) for k, r in zip(order, response, strict=False)),
            F(0),
        )
        for order in permutations([*key, *(set[str]() for _ in response)], len(response))
    )
    for own, other in ((response, key), (key, response)):
        mentions = [m for cluster in own for m in cluster]
        others = {m for cluster in other for m in cluster}
        home = {m: cluster for cluster in own for m in cluster}
        away = {m: cluster for cluster in other for m in cluster}
        sums["mentions"] += [F(len(others & set(mentions))), F(len(mentions))]
        parts = [{frozenset(cluster & away.get(m, {m})) for m in cluster} for cluster in own]
        sums["muc"] += [
            F(sum(len(c) - len(p) for c, p in zip(own, parts, strict=True))),
            F(sum(len(c) - 1 for c in own)),
        ]
        right = [F(len(home[m] & away.get(m, set())), len(home[m])) for m in mentions]
        sums["b_cubed"] += [sum(right, F(0)), F(len(mentions))]
        sums["ceaf_e"] += [best, F(len(own))]
        lea = F(0)
        for cluster in own:
            if len(cluster) == 1:
                lea += int(cluster in other)
            else:
                links = [set(pair) for pair in combinations(sorted(cluster), 2)]
                lea += F(len(cluster) * sum(any(x <= c for c in other) for x in links), len(links))
        sums["lea"] += [lea, F(len(mentions))]
        pairs = [set(pair) for pair in combinations(sorted(mentions), 2)]
        for name, linked in (("coreferent_links", True), ("other_links", False)):
            mine = [p for p in pairs if any(p <= c for c in own) == linked]
            same = [p for p in mine if p <= others and any(p <= c for c in other) == linked]
            sums[name] += [F(len(same)), F(len(mine))]
    return sums


@given(partitions(), partitions())
def test_sums_are_the_definitions(key: Partition, response: Partition) -> None:
    found = statistics([key], [response]).sums[0]
    expected = by_definition(key, response)
    for row, name in zip(found, SUMS, strict=True):
        assert row.tolist() == pytest.approx([float(x) for x in expected[name]], abs=1e-12), name


@given(partitions(), partitions())
def test_key_and_response_change_places(key: Partition, response: Partition) -> None:
    there, back = score([key], [response]), score([response], [key])
    for name in set(METRICS) - {"blanc"}:  # a key without links of a kind changes what BLANC is
        forth: Score = getattr(there, name)
        assert forth == pytest.approx([getattr(back, name)[k] for k in (1, 0, 2)]), name


@given(DOCUMENTS)
def test_the_corpus_is_the_sum_of_its_documents(
    documents: Sequence[tuple[Partition, Partition]],
) -> None:
    key, response = [list(side) for side in zip(*documents, strict=True)]
    together = statistics(key, response)
    apart = [statistics([k], [r]).sums[0] for k, r in documents]
    assert np.array_equal(together.sums, np.array(apart))
    # Mentions of different documents are different, even where they look the same.
    named = [
        [{(n, m) for m in cluster} for n, part in enumerate(side) for cluster in part]
        for side in (key, response)
    ]
    one, many = score([named[0]], [named[1]]), together.scores()
    for name in ("mentions", "muc", "b_cubed", "ceaf_e", "lea"):
        assert getattr(one, name) == pytest.approx(getattr(many, name), abs=1e-12), name


@given(partitions())
def test_a_perfect_response_has_all_it_can(key: Partition) -> None:
    result = score([key], [list(reversed(key))])
    full = float(len(key) > 0)
    for name in ("mentions", "b_cubed", "ceaf_e", "lea", "blanc"):
        assert getattr(result, name) == pytest.approx((full, full, full)), name
    assert result.muc.f == float(any(len(cluster) > 1 for cluster in key))


def test_singletons_are_left_out_of_both() -> None:
    key, response = clusters("a bc def"), clusters("a b cd ef x")
    without = score([key], [response], singletons=False)
    assert without.singletons is False
    assert without == score([clusters("bc def")], [clusters("cd ef")], singletons=False)
    kept = score([key], [response])
    assert kept.b_cubed.f != pytest.approx(without.b_cubed.f)
    assert kept.muc == without.muc  # MUC never saw them


def test_nothing_scores_nothing() -> None:
    for key, response in (("", ""), ("ab", ""), ("", "ab")):
        result = score([clusters(key)], [clusters(response)])
        assert result.conll == 0.0
        assert result.blanc == (0.0, 0.0, 0.0)
    assert score([], []).conll == 0.0


def test_scores_print_and_serialise() -> None:
    result = score([clusters("abc de"), clusters("ab")], [clusters("ab cde"), clusters("ab")])
    fields = result.to_dict()
    assert fields["conll"] == pytest.approx(result.conll)
    assert fields["muc"] == {
        "precision": result.muc.precision,
        "recall": result.muc.recall,
        "f": result.muc.f,
    }
    assert fields["documents"] == 2
    assert fields["singletons"] is True
    assert set(METRICS) < set(fields)
    lines = str(result).splitlines()
    assert lines[-1] == "2 documents, singletons kept"
    conll = next(line for line in lines if line.startswith("CoNLL"))
    assert conll.split()[1] == f"{100 * result.conll:.2f}"


def many_documents(n: int, seed: int = 0) -> Statistics:
    """Documents of different size and quality."""
    rng = np.random.default_rng(seed)
    key: list[list[set[int]]] = []
    response: list[list[set[int]]] = []
    for _ in range(n):
        size, noise = int(rng.integers(5, 40)), rng.random()
        true = rng.integers(0, 5, size)
        found = np.where(rng.random(size) < noise, rng.integers(0, 5, size), true)
        for side, label in ((key, true), (response, found)):
            side.append([set(np.flatnonzero(label == k).tolist()) for k in np.unique(label)])
    return statistics(key, response)


@pytest.mark.parametrize("documents", [4, 25])  # few documents are often drawn as they are: ties
def test_the_interval_is_that_of_scipy(documents: int) -> None:
    from scipy.stats import bootstrap as by_scipy

    stats = many_documents(documents)

    def b_cubed(row: NDArray[np.intp]) -> float:
        return Statistics(stats.sums[row], True).scores().b_cubed.f

    rows = np.arange(documents)
    other = by_scipy(
        (rows,), b_cubed, vectorized=False, n_resamples=2000, confidence_level=0.9,
        method="BCa", rng=np.random.default_rng(5),
    )  # fmt: skip
    left_out = np.array([b_cubed(np.delete(rows, k)) for k in rows])
    limits = _bca(b_cubed(rows), other.bootstrap_distribution, left_out, 0.9)
    assert limits == pytest.approx(tuple(other.confidence_interval), abs=1e-9)
    # The draws are other ones, so the limits are near, no more.
    estimate = bootstrap(stats, 4000, 3, 0.9, metric="b_cubed")
    assert estimate.value == pytest.approx(b_cubed(rows))
    assert (estimate.low, estimate.high) == pytest.approx(limits, abs=0.1 * (limits[1] - limits[0]))


def test_an_interval_contains_its_value() -> None:
    for seed in range(12):
        estimate = bootstrap(many_documents(6, seed), 200, seed, 0.02)
        assert estimate.low <= estimate.value <= estimate.high


@pytest.mark.parametrize(("sign", "limit"), [(1.0, "high"), (-1.0, "low")])
def test_a_document_that_decides_everything_leaves_one_side_open(sign: float, limit: str) -> None:
    draws = np.linspace(0.0, 1.0, 1001)
    left_out = np.zeros(10_000)
    left_out[0] = -sign
    low, high = _bca(0.5, draws, left_out, 1 - 1e-10)
    assert (high == 1.0) == (limit == "high")
    assert (low == 0.0) == (limit == "low")


def test_the_bootstrap_depends_on_its_seed_alone() -> None:
    stats = many_documents(12)
    first = bootstrap(stats, 300, 7)
    assert first == bootstrap(stats, 300, 7)
    assert (first.low, first.high) != (bootstrap(stats, 300, 8).low, bootstrap(stats, 300, 8).high)
    assert first.value == pytest.approx(stats.scores().conll)
    assert first.low < first.value < first.high
    assert (first.n, first.level, first.method) == (12, 0.95, "bca bootstrap over documents")


def test_blocks_of_draws_do_not_change_the_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    stats = many_documents(12)
    whole = bootstrap(stats, 300, 7)
    monkeypatch.setattr("gnomon.scoring.coreference._BLOCK", 50)
    assert bootstrap(stats, 300, 7) == whole


def test_equal_documents_leave_no_doubt() -> None:
    stats = statistics([clusters("abc de")] * 6, [clusters("ab cde")] * 6)
    estimate = bootstrap(stats, 200)
    assert estimate.low == pytest.approx(estimate.value)
    assert estimate.high == pytest.approx(estimate.value)


BAD: list[tuple[list[object], list[object], str]] = [
    ([clusters("ab")], [], "clusters: 1 documents in the key, 0 in the response; give both"),
    ([clusters("ab bc")], [[]], "key, document 1, cluster 2: mention 'b' stands there again; give"),
    ([[]], [[["a", "a"]]], "response, document 1, cluster 1: mention 'a' stands there again; giv"),
    ([[]], [[set()]], "response, document 1, cluster 1: it has no mention; leave empty clusters"),
    ([[["a"], [["b"]]]], [[]], "key, document 1, cluster 2: a mention of type list cannot be look"),
    ([["ab"]], [[]], "key, document 1, cluster 1: str is not a collection of mentions; give a"),
    ([[3]], [[]], "key, document 1, cluster 1: int is not a collection of mentions; give a set"),
]


@pytest.mark.parametrize(("key", "response", "message"), BAD)
def test_bad_clusters_are_refused(key: list[object], response: list[object], message: str) -> None:
    with pytest.raises(InputError) as error:
        score(key, response)  # type: ignore[arg-type]
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"metric": "bleu"}, "metric"),
        ({"level": 1.0}, "level"),
        ({"level": float("nan")}, "level"),
        ({"repetitions": 99}, "repetitions"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], where: str) -> None:
    with pytest.raises(InputError) as error:
        bootstrap(many_documents(3), **settings)  # type: ignore[arg-type]
    assert error.value.where == where


def test_one_document_cannot_be_resampled() -> None:
    with pytest.raises(InputError, match="1 documents cannot be resampled"):
        bootstrap(many_documents(1))
