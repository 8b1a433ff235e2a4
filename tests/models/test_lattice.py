"""Forward-backward against enumeration, against python-crfsuite, and by what must always hold."""

import itertools
import math
import subprocess
import sys
import tracemalloc
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from gnomon.errors import InputError
from gnomon.models.lattice import Lattice

Floats = NDArray[np.float64]


def made(
    sizes: list[int], tags: int, seed: int, spread: float = 2.0, forbidden: float = 0.0
) -> Lattice:
    """A lattice of random potentials; of the forbidden ones none is on the path of tag 0."""
    rng = np.random.default_rng(seed)

    def potentials(*shape: int) -> Floats:
        values = rng.normal(0, spread, shape)
        mask = rng.random(shape) < forbidden
        mask[..., 0] = False
        return np.where(mask, -np.inf, values)

    return Lattice(potentials(sum(sizes), tags), np.cumsum([0, *sizes]), potentials(tags, tags),
                   potentials(tags), potentials(tags))  # fmt: skip


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    """Small lattices: gentle, forbidding, and of potentials far outside what exp can hold."""
    sizes = draw(st.lists(st.integers(0, 4), max_size=4))
    return made(
        sizes,
        draw(st.integers(1, 3)),
        draw(st.integers(0, 10**6)),
        draw(st.sampled_from([0.0, 1.0, 5.0, 90.0, 800.0])),
        draw(st.sampled_from([0.0, 0.3])),
    )


def sentences(lattice: Lattice) -> list[tuple[int, int]]:
    return list(itertools.pairwise(lattice.offsets.tolist()))


def enumerated(lattice: Lattice, s: int) -> list[tuple[tuple[int, ...], float]]:
    """Every sequence of tags of a sentence with its score, by definition."""
    a, b = sentences(lattice)[s]
    u, t = lattice.unary[a:b], lattice.transition
    result = []
    for y in itertools.product(range(len(t)), repeat=b - a):
        parts = [u[k, y[k]] for k in range(len(y))] + [t[i, j] for i, j in itertools.pairwise(y)]
        if y:
            parts += [lattice.start[y[0]], lattice.end[y[-1]]]
        result.append((y, -math.inf if -math.inf in parts else math.fsum(parts)))
    return result


def log_sum(values: list[float]) -> float:
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(v - largest) for v in values))


def steady(lattice: Lattice) -> list[bool]:
    """Which sentences of a small lattice are run on exponentials."""
    (block,) = lattice._forward()
    return block.steady.tolist()


def same(a: Any, b: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=atol)


@given(lattices())
def test_sums_over_sequences_are_as_enumerated(lattice: Lattice) -> None:
    tags = len(lattice.transition)
    single = np.zeros_like(lattice.unary)
    pair: list[Floats] = []
    whole = lattice.log_partition()
    assert whole.shape == (len(lattice),)
    for s, (a, b) in enumerate(sentences(lattice)):
        paths = enumerated(lattice, s)
        same(whole[s], log_sum([score for _, score in paths]))
        block = np.zeros((max(b - a - 1, 0), tags, tags))
        for y, score in paths:
            p = math.exp(score - log_sum([score for _, score in paths]))
            for k, tag in enumerate(y):
                single[a + k, tag] += p
            for k, (i, j) in enumerate(itertools.pairwise(y)):
                block[k, i, j] += p
        pair.extend(block)
    same(lattice.marginals(), single)
    expected = np.array(pair).reshape(-1, tags, tags)
    same(lattice.pair_marginals(), expected)
    wanted = [(i, j) for i in range(tags) for j in range(tags) if (i + j) % 2 == 0]
    same(
        lattice.pair_marginals(wanted), expected[:, [i for i, _ in wanted], [j for _, j in wanted]]
    )


@given(lattices(), st.integers(1, 100))
def test_best_sequences_are_as_enumerated(lattice: Lattice, k: int) -> None:
    best, score = lattice.viterbi()
    lists, whole = lattice.k_best(k), lattice.log_partition()
    assert len(lists) == len(lattice)
    for s, (a, b) in enumerate(sentences(lattice)):
        paths = {y: value for y, value in enumerated(lattice, s) if value > -math.inf}
        ranked = sorted(paths.values(), reverse=True)
        same(score[s], ranked[0])
        same(paths[tuple(best[a:b].tolist())], ranked[0])
        found = [tuple(tags.tolist()) for tags, _ in lists[s]]
        assert len(set(found)) == len(found) == min(k, len(paths))
        same([paths[y] for y in found], ranked[:k])
        same([p for _, p in lists[s]], np.array(ranked[:k]) - whole[s], atol=1e-9)
        assert found[0] == tuple(best[a:b].tolist())


@given(lattices(), st.integers(0, 1000))
def test_the_score_of_a_sequence_is_the_sum_of_its_potentials(lattice: Lattice, seed: int) -> None:
    tags = np.random.default_rng(seed).integers(0, len(lattice.transition), len(lattice.unary))
    score = lattice.log_score(tags)
    assert score.shape == (len(lattice),)
    for s, (a, b) in enumerate(sentences(lattice)):
        same(score[s], dict(enumerated(lattice, s))[tuple(tags[a:b].tolist())])


def test_long_lists_of_best_sequences_are_in_order_and_complete() -> None:
    lattice = made([7], 3, 5)
    lattice.transition[1, 2] = lattice.unary[3, 1] = -np.inf
    paths = [value for _, value in enumerated(lattice, 0) if value > -math.inf]
    (found,) = lattice.k_best(3**7 + 5)
    assert len({tuple(tags.tolist()) for tags, _ in found}) == len(found) == len(paths) > 500
    scores = [p for _, p in found]
    assert scores == sorted(scores, reverse=True)
    same(scores, np.sort(paths)[::-1] - lattice.log_partition()[0])
    same(math.fsum(math.exp(p) for p in scores), 1.0)


def test_equally_good_sequences_come_once_each_and_always_in_one_order() -> None:
    flat = Lattice(np.zeros((3, 2)), [0, 3], np.zeros((2, 2)))
    (found,) = flat.k_best(100)
    assert len({tuple(tags.tolist()) for tags, _ in found}) == 8
    same([p for _, p in found], np.full(8, -3 * math.log(2)))
    assert flat.viterbi()[0].tolist() == found[0][0].tolist() == [0, 0, 0]
    (again,) = flat.k_best(5)
    assert [t.tolist() for t, _ in again] == [t.tolist() for t, _ in found[:5]]


@pytest.mark.parametrize("faint", [-1.0, -400.0], ids=["exponentials", "logarithms"])
def test_draws_come_as_often_as_they_should(faint: float) -> None:
    gentle = made([4, 0, 3], 4, 11, 0.7)
    unary = gentle.unary.copy()
    unary[:, 3] += faint
    unary[1, 2] = -np.inf
    lattice = Lattice(unary, gentle.offsets, gentle.transition, gentle.start, gentle.end)
    assert steady(lattice) == [faint > -200, True, faint > -200]
    draws = lattice.sample(20_000, seed=3)
    assert draws.shape == (20_000, 7)
    for s in (0, 2):
        a, b = sentences(lattice)[s]
        own, count = np.unique(draws[:, a:b], axis=0, return_counts=True)
        seen = {tuple(y): int(c) for y, c in zip(own.tolist(), count, strict=True)}
        paths = {y: v - lattice.log_partition()[s] for y, v in enumerated(lattice, s)}
        assert set(seen) <= {y for y, v in paths.items() if v > -700}
        expected = {y: 20_000 * math.exp(v) for y, v in paths.items()}
        large = [y for y, n in expected.items() if n >= 5]
        rest = 20_000 - sum(expected[y] for y in large)
        statistic = sum((seen.get(y, 0) - expected[y]) ** 2 / expected[y] for y in large)
        if rest > 1:
            others = 20_000 - sum(seen.get(y, 0) for y in large)
            statistic += (others - rest) ** 2 / rest
        assert len(large) > 4
        assert statistic < chi2.ppf(0.9999, len(large))


def test_draws_do_not_depend_on_what_else_is_drawn() -> None:
    lattice = made([3, 0, 5, 1, 40, 2], 5, 2)
    draws = lattice.sample(50, seed=7, keys=[10, 11, 12, 13, -14, 15])
    assert (lattice.sample(20, 7, [10, 11, 12, 13, -14, 15]) == draws[:20]).all()
    for s, key in enumerate([10, 11, 12, 13, -14, 15]):
        a, b = sentences(lattice)[s]
        assert (alone(lattice, s).sample(50, 7, [key]) == draws[:, a:b]).all()
    assert (lattice.sample(50, 8, [10, 11, 12, 13, -14, 15]) != draws).any()
    assert (lattice.sample(50, 7) == lattice.sample(50, 7, range(6))).all()
    twin = Lattice(np.zeros((60, 4)), [0, 30, 60], np.zeros((4, 4)))
    for draw in (twin.sample(1, 0)[0], twin.sample(1, 2**64 - 1)[0]):
        assert (draw[:30] != draw[30:]).any()
    both = twin.sample(2, 0)
    assert (both[0] != both[1]).any()
    same_key = twin.sample(3, 0, [4, 4])
    assert (same_key[:, :30] == same_key[:, 30:]).all()


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # known answers of philox4x32-10 from the Random123 library, kat_vectors
        ([0, 0, 0, 0], 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, 0xFFFFFFFFFFFFFFFF, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], 0x299F31D0A4093822,
         [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    ],
)  # fmt: skip
def test_random_bits_are_those_of_the_paper(
    counter: list[int], key: int, expected: list[int]
) -> None:
    philox = import_module("gnomon.models.random_bits").philox
    out = np.zeros(4, dtype=np.uint64)
    philox(np.array(counter, dtype=np.uint64), np.uint64(key), out)
    assert out.tolist() == expected


def alone(lattice: Lattice, s: int) -> Lattice:
    a, b = sentences(lattice)[s]
    return Lattice(lattice.unary[a:b], [0, b - a], lattice.transition, lattice.start, lattice.end)


@given(lattices())
def test_sentences_together_are_as_sentences_alone(lattice: Lattice) -> None:
    pairs = lattice.pair_marginals()
    places = lattice.pair_places()
    assert places.tolist() == [t for a, b in sentences(lattice) for t in range(a, b - 1)]
    for s, (a, b) in enumerate(sentences(lattice)):
        own = alone(lattice, s)
        assert (own.log_partition()[0] == lattice.log_partition()[s]).all()
        assert (own.marginals() == lattice.marginals()[a:b]).all()
        assert (own.pair_marginals() == pairs[(places >= a) & (places < b)]).all()
        assert (own.viterbi()[0] == lattice.viterbi()[0][a:b]).all()


def test_many_blocks_are_as_one_sentence_at_a_time() -> None:
    sizes = np.random.default_rng(0).integers(0, 60, 120).tolist()
    lattice = made([*sizes, 2500, 0, 1], 7, 1)
    marginals, whole = lattice.marginals(), lattice.log_partition()
    pairs = lattice.pair_marginals()
    some = lattice.pair_marginals([[6, 0], [2, 2]])
    assert (some == pairs[:, [6, 2], [0, 2]]).all()
    pieces = list(lattice.pair_marginal_blocks())
    assert len(pieces) > 3
    assert (np.concatenate([places for places, _ in pieces]) == lattice.pair_places()).all()
    assert (np.concatenate([block for _, block in pieces]) == pairs).all()
    for s, (a, b) in enumerate(sentences(lattice)):
        own = alone(lattice, s)
        assert (own.marginals() == marginals[a:b]).all()
        assert own.log_partition()[0] == whole[s]


@given(lattices())
def test_probabilities_sum_to_one_and_pairs_to_single_words(lattice: Lattice) -> None:
    single, pair, places = lattice.marginals(), lattice.pair_marginals(), lattice.pair_places()
    assert (single >= 0).all()
    same(single.sum(axis=1), np.ones(len(single)))
    same(pair.sum(axis=2), single[places])
    same(pair.sum(axis=1), single[places + 1])


@given(lattices(), st.floats(-500, 500), st.data())
def test_a_constant_on_a_word_changes_nothing_but_the_sum(
    lattice: Lattice, constant: float, data: st.DataObject
) -> None:
    if len(lattice.unary) == 0:
        return
    word = data.draw(st.integers(0, len(lattice.unary) - 1))
    unary = lattice.unary.copy()
    unary[word] += constant
    moved = Lattice(unary, lattice.offsets, lattice.transition, lattice.start, lattice.end)
    same(moved.marginals(), lattice.marginals())
    extra = np.zeros(len(lattice))
    extra[np.searchsorted(lattice.offsets, word, side="right") - 1] = constant
    same(moved.log_partition(), lattice.log_partition() + extra)


@given(lattices())
def test_a_reversed_chain_is_the_same_chain(lattice: Lattice) -> None:
    sizes = np.diff(lattice.offsets)[::-1]
    back = Lattice(lattice.unary[::-1], np.cumsum([0, *sizes]), lattice.transition.T,
                   lattice.end, lattice.start)  # fmt: skip
    same(back.log_partition()[::-1], lattice.log_partition())
    same(back.marginals()[::-1], lattice.marginals())
    same(back.pair_marginals()[::-1].transpose(0, 2, 1), lattice.pair_marginals())
    same(back.viterbi()[1][::-1], lattice.viterbi()[1])


@given(lattices(), st.floats(0.05, 20))
def test_a_temperature_divides_every_potential(lattice: Lattice, t: float) -> None:
    assert (lattice.tempered(1).marginals() == lattice.marginals()).all()
    tags = lattice.viterbi()[0]
    same(lattice.tempered(t).log_score(tags), lattice.log_score(tags) / t)
    if len(lattice) and len(lattice.unary):
        s = int(np.argmax(np.diff(lattice.offsets)))
        expected = log_sum([score / t for _, score in enumerated(lattice, s)])
        same(lattice.tempered(t).log_partition()[s], expected)


def test_both_ways_of_running_agree() -> None:
    """A forbidden tag's weight of exp(−600) instead of 0 forces logarithms and changes nothing."""
    lattice = made([9, 20, 14], 6, 4, forbidden=0.3)
    unary = np.where(np.isinf(lattice.unary), -600.0, lattice.unary)
    logs = Lattice(unary, lattice.offsets, lattice.transition, lattice.start, lattice.end)
    assert steady(lattice) == [True] * 3
    assert steady(logs) == [False] * 3
    same(logs.marginals(), lattice.marginals())
    same(logs.log_partition(), lattice.log_partition())
    same(logs.pair_marginals(), lattice.pair_marginals())
    keep = lattice.sample(500, 5)
    assert (logs.sample(500, 5) == keep).mean() > 0.999


def test_a_faint_beginning_can_still_be_the_only_way_to_end() -> None:
    """Forward weights fall by exp(−150) a word, until the last word forbids all but the faint."""
    n = 10
    unary = np.tile([0.0, -150.0], (n, 1))
    unary[-1] = [-np.inf, 0.0]
    lattice = Lattice(unary, [0, n], [[0.0, -np.inf], [-np.inf, 0.0]])
    assert steady(lattice) == [False]
    same(lattice.log_partition(), [-150.0 * (n - 1)])
    same(lattice.marginals(), np.tile([0.0, 1.0], (n, 1)))
    assert (lattice.sample(4, 0) == 1).all()


def test_a_sentence_of_ten_thousand_words_needs_no_room_for_pairs() -> None:
    lattice = made([10_000], 46, 9)
    lattice.marginals()
    tracemalloc.start()
    marginals = lattice.marginals()
    some = lattice.pair_marginals([[0, 1], [45, 45]])
    tags, score = lattice.viterbi()
    draws = lattice.sample(3, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * lattice.unary.nbytes < 10_000 * 46 * 46 * 8
    same(marginals.sum(axis=1), np.ones(10_000))
    assert some.shape == (9999, 2)
    whole = lattice.log_partition()
    same(lattice.log_score(tags), score)
    assert (lattice.log_score(tags) < whole).all()
    assert (lattice.log_score(draws[0]) < score).all()
    (best,) = lattice.k_best(3)
    same([best[0][1]], score - whole, atol=1e-7)
    assert best[0][1] >= best[1][1] >= best[2][1]


def test_empty_sentences_and_no_sentences() -> None:
    empty = Lattice(np.empty((0, 2)), [0, 0, 0], np.zeros((2, 2)))
    assert empty.log_partition().tolist() == empty.log_score([]).tolist() == [0.0, 0.0]
    assert empty.marginals().shape == (0, 2)
    assert empty.pair_marginals().shape == (0, 2, 2)
    assert empty.sample(3, 0).shape == (3, 0)
    assert empty.viterbi()[1].tolist() == [0.0, 0.0]
    assert [[(t.tolist(), p) for t, p in own] for own in empty.k_best(2)] == [[([], 0.0)]] * 2
    none = Lattice(np.empty((0, 2)), [0], np.zeros((2, 2)))
    assert len(none) == len(none.log_partition()) == len(none.k_best(1)) == 0
    assert made([3], 2, 0).pair_marginals([]).shape == (2, 0)
    assert made([3], 2, 0).sample(0, 0).shape == (0, 3)


NO = -np.inf


@pytest.mark.parametrize("ask", ["log_partition", "marginals", "pair_marginals", "viterbi"])
@pytest.mark.parametrize(
    ("unary", "transition"),
    [
        ([[0, 0], [0, 0], [NO, NO]], [[0, 0], [0, 0]]),
        ([[0, 0], [0, NO], [NO, 0]], [[0, NO], [0, 0]]),
        ([[0, 0], [0, NO], [NO, 800]], [[800, NO], [-800, 0]]),
        ([[0, 0], [0, 0], [0, 0]], [[NO, NO], [NO, NO]]),
    ],
)
def test_a_sentence_without_a_path_is_named(
    unary: list[list[float]], transition: list[list[float]], ask: str
) -> None:
    lattice = Lattice(unary, [0, 1, 1, 3], transition)
    with pytest.raises(InputError, match=r"^lattice, sentence 2 \(words 1 to 2\): no sequence of"):
        getattr(lattice, ask)()
    with pytest.raises(InputError, match=r"sentence 2 \(words 1 to 2\): no sequence"):
        lattice.sample(1, 0)
    with pytest.raises(InputError, match=r"sentence 2 \(words 1 to 2\): no sequence"):
        lattice.k_best(1)


U, T = [[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0, np.nan]], [0, 1], T), r"lattice, unary\[0, 1\]: nan is not a log-potential; give"),
        ((U, [0, 1], [[0, np.inf], [0, 0]]), r"lattice, transition\[0, 1\]: inf is not"),
        ((U, [0, 1], T, [0, np.inf]), r"lattice, start\[1\]: inf is not"),
        ((U, [0, 1], T, None, [np.nan, 0]), r"lattice, end\[0\]: nan is not"),
        ((U, [0, 1], T, [0]), "lattice, start: 1 values for 2 tags; give one"),
        ((U, [0, 1], [[0, 0]]), r"lattice, transition: its shape is \(1, 2\); give"),
        ((U, [0, 1], np.empty((0, 0))), r"lattice, transition: its shape is \(0, 0\); give"),
        (([[0.0]], [0, 1], T), "lattice, unary: 1 columns for 2 tags; give"),
        (([0.0], [0, 1], T), "lattice, unary: 1 dimensions instead of 2"),
        (([[0.0], [1, 2]], [0, 1], T), "lattice, unary: not an array of numbers"),
        ((U, [0, 2], T), "lattice, offsets: they do not go from 0 to the 1 words"),
        ((U, [], T), "lattice, offsets: they do not go"),
        ((U, [[0, 1]], T), "lattice, offsets: they do not go"),
        ((U, [0.0, 1.0], T), "lattice, offsets: not whole numbers"),
        ((U, [0, 2, -1, 1], T), "lattice, offsets: they go down"),
    ],
)
def test_bad_potentials_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        Lattice(*arguments)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("tempered", (0,), "temperature: 0 is not a temperature"),
        ("tempered", (np.nan,), "temperature: nan is not"),
        ("tempered", ("hot",), "temperature: 'hot' is not"),
        ("tempered", (1e-320,), r"lattice, unary\[\d, \d\]: inf is not a log-potential"),
        ("log_score", ([0, 2, 0],), "tags: 2 is not a tag; give numbers from 0 to 1"),
        ("log_score", ([0, -1, 0],), "tags: -1 is not a tag"),
        ("log_score", ([0],), r"tags: \(1,\) of them for 3 words"),
        ("log_score", ([0.5, 0, 0],), "tags: not whole numbers"),
        ("pair_marginals", ([[0, 2]],), "pairs: 2 is not a tag"),
        ("pair_marginals", ([0, 1],), r"pairs: their shape is \(2,\)"),
        ("sample", (-1, 0), "draws: -1 is not possible; give"),
        ("sample", (1, -1), "seed: -1 is not possible"),
        ("sample", (1, 2**64), "seed: 18446744073709551616 is not possible"),
        ("sample", (1.5, 0), "draws: 1.5 is not possible"),
        ("sample", (1, 0, [1, 2]), r"keys: \(2,\) of them for 1 sentences"),
        ("k_best", (0,), "k: 0 is not possible"),
        ("k_best", ("3",), "k: '3' is not possible"),
    ],
)
def test_bad_questions_are_refused(method: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        getattr(made([3], 2, 0), method)(*arguments)


def test_without_numba_the_install_that_helps_is_named() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from gnomon.models.lattice import Lattice\n"
        "from gnomon.errors import MissingExtra\n"
        "lattice = Lattice([[0.0]], [0, 1], [[0.0]])\n"
        "try: lattice.marginals()\n"
        "except MissingExtra as error: sys.exit(str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == 'numba is not installed; run: pip install "gnomon[text]"'


def test_the_lattice_imports_numba_only_when_asked() -> None:
    code = "import sys, gnomon.models.lattice; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


TEXT = [
    ("the old dog sleeps", "D A N V"),
    ("a cat sees the dog", "D N V D N"),
    ("old cats sleep", "A N V"),
    ("the sleep was old", "D N V A"),
    ("dogs see a sleep", "N V D N"),
    ("see the old", "V D N"),
]


def test_marginals_and_probabilities_are_those_of_crfsuite(tmp_path: Path) -> None:
    pycrfsuite = import_module("pycrfsuite")
    trainer = pycrfsuite.Trainer(verbose=False)
    texts = [[[f"w={w}", f"e={w[-1]}"] for w in text.split()] for text, _ in TEXT]
    for text, (_, tags) in zip(texts, TEXT, strict=True):
        trainer.append(text, tags.split())
    trainer.set_params({"c2": 0.5, "feature.possible_transitions": True})
    trainer.train(str(tmp_path / "tiny.crfsuite"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "tiny.crfsuite"))
    labels, info = tagger.labels(), tagger.info()
    unary = [
        [sum(info.state_features.get((f, k), 0.0) for f in word) for k in labels]
        for text in texts
        for word in text
    ]
    transition = [[info.transitions.get((i, j), 0.0) for j in labels] for i in labels]
    lattice = Lattice(unary, np.cumsum([0, *map(len, texts)]), transition)
    marginals, best = lattice.marginals(), lattice.viterbi()[0]
    log_probability = lattice.log_score(best) - lattice.log_partition()
    assert (marginals.max(axis=1) < 0.99).any()
    for s, (a, b) in enumerate(sentences(lattice)):
        tagger.set(texts[s])
        theirs = [[tagger.marginal(k, t) for k in labels] for t in range(b - a)]
        np.testing.assert_allclose(marginals[a:b], theirs, rtol=0, atol=1e-6)
        likely = [labels[k] for k in best[a:b]]
        assert likely == tagger.tag()
        assert math.exp(log_probability[s]) == pytest.approx(tagger.probability(likely), abs=1e-6)
