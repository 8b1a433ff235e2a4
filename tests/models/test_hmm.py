"""The hidden Markov model against counts by hand and the enumeration of every tag sequence."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gnomon.errors import InputError
from gnomon.models.hmm import HMM, chain
from gnomon.models.tagged import Tagged, read_tagged

TINY = Tagged.of([["a", "b"], ["b", "a", "b"], []], [["X", "Y"], ["Y", "X", "X"], []])


def generated(sentences: int, seed: int) -> Tagged:
    """Invented sentences whose tags show in endings and follow each other unevenly."""
    rng = np.random.default_rng(seed)
    endings, follows = ("s", "ed", "ly"), np.array([[1, 6, 3], [7, 1, 2], [2, 7, 1]]) / 10
    words, tags = [], []
    for _ in range(sentences):
        tag, own = int(rng.integers(3)), []
        for _ in range(int(rng.integers(1, 12))):
            own.append(tag)
            tag = int(rng.choice(3, p=follows[tag]))
        stems = ("o" * (1 + int(rng.geometric(0.05))) for _ in own)
        words.append([stem + endings[t if rng.random() < 0.9 else t - 1] for stem, t in
                      zip(stems, own, strict=True)])  # fmt: skip
        tags.append([("N", "V", "R")[t] for t in own])
    return Tagged.of(words, tags)


def enumerated(model: HMM, words: list[str]) -> dict[tuple[int, ...], float]:
    """P(tags, words) of every sequence of tags, multiplied out."""
    row = {word: k for k, word in enumerate(model.words)}
    joint = {}
    for tags in product(range(len(model.tags)), repeat=len(words)):
        p = np.exp(model.start[tags[0]]) * np.exp(model.end[tags[-1]])
        for word, tag in zip(words, tags, strict=True):
            p *= np.exp(model.emission[row.get(word, len(row)), tag])
        for k in range(len(tags) - 1):
            p *= np.exp(model.transition[tags[k], tags[k + 1]])
        joint[tags] = float(p)
    return joint


def test_estimates_by_hand() -> None:
    model = HMM.fit(TINY, transition=0.5, emission=2.0)
    assert (model.tags, model.words, model.classes) == (("X", "Y"), ("a", "b"), ("",))
    # Two sentences: one begins with X, one with Y.
    np.testing.assert_allclose(np.exp(model.start), [1.5 / 3, 1.5 / 3])
    # After X: X once, Y once, the end once. After Y: X once, the end once.
    np.testing.assert_allclose(
        np.exp(model.transition), [[1.5 / 4.5, 1.5 / 4.5], [1.5 / 3.5, 0.5 / 3.5]]
    )
    np.testing.assert_allclose(np.exp(model.end), [1.5 / 4.5, 1.5 / 3.5])
    # X emits a twice and b once, Y emits b twice; the third row is the unknown word.
    expected = [[4 / 9, 2 / 8], [3 / 9, 4 / 8], [2 / 9, 2 / 8]]
    np.testing.assert_allclose(np.exp(model.emission), expected)


def test_lattice_is_the_joint_and_the_posterior() -> None:
    model = HMM.fit(TINY, transition=0.5, emission=2.0)
    words = ["b", "new", "a", "b"]
    lattice, joint = model.lattice(Tagged.of([words])), enumerated(model, words)
    total = sum(joint.values())
    for tags, p in joint.items():
        assert lattice.log_score(np.array(tags))[0] == pytest.approx(np.log(p), abs=1e-12)
    assert lattice.log_partition()[0] == pytest.approx(np.log(total), abs=1e-12)
    expected = np.zeros((4, 2))
    for tags, p in joint.items():
        expected[range(4), tags] += p / total
    np.testing.assert_allclose(lattice.marginals(), expected, atol=1e-12)
    best = max(joint, key=lambda tags: joint[tags])
    assert model.tag(Tagged.of([words])).codes.tolist() == list(best)


@pytest.mark.parametrize("unknown", ["plain", "classes"])
def test_all_distributions_sum_to_one(unknown: str) -> None:
    model = HMM.fit(generated(50, 1), transition=0.3, emission=0.07, unknown=unknown)
    leaving = np.exp(model.transition).sum(axis=1) + np.exp(model.end)
    np.testing.assert_allclose(leaving, 1, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.start).sum(), 1, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.emission).sum(axis=0), 1, atol=1e-12)
    assert model.emission.shape == (len(model.words) + len(model.classes), 3)


def test_all_sentences_of_two_words_and_the_rest_have_probability_one() -> None:
    model = HMM.fit(TINY)
    vocabulary = [*model.words, "new"]
    one = model.lattice(Tagged.of([[word] for word in vocabulary])).log_partition()
    two = model.lattice(Tagged.of(product(vocabulary, repeat=2))).log_partition()
    # What is left are sentences of three words or more: those that go on twice.
    onward = np.exp(model.start) @ np.exp(model.transition) @ np.exp(model.transition)
    assert np.exp(one).sum() + np.exp(two).sum() + onward.sum() == pytest.approx(1, abs=1e-12)


def test_every_unknown_word_is_the_same_if_plain() -> None:
    model = HMM.fit(generated(50, 1), emission=0.1)
    unary = model.scores(Tagged.of([["xs", "Xly", "77"]]))[0]
    assert (unary == unary[0]).all()
    known = model.scores(Tagged.of([[model.words[0]]]))[0]
    assert not np.allclose(known, unary[0])


def by_hand(model: HMM, data: Tagged, nodes: list[str]) -> NDArray[np.float64]:
    """P(tag | the last class) from words seen once, going down from the root."""
    seen = list(data.words)
    assert data.tags is not None
    once = [(w, t) for w, t in zip(seen, data.tags, strict=True) if seen.count(w) == 1]
    root = np.array([sum(t == tag for _, t in once) + 0.25 for tag in model.tags])
    share: NDArray[np.float64] = root / root.sum()
    for node in nodes:
        below = [t for w, t in once if node in chain(w)]
        share = (np.array([below.count(tag) for tag in model.tags]) + share) / (len(below) + 1)
    return share


def test_classes_back_off_by_hand() -> None:
    data = generated(12, 3)
    model = HMM.fit(data, emission=0.25, unknown="classes")
    row = {name: k for k, name in enumerate(model.classes, len(model.words))}
    nodes = ["small", "small d", "small ed", "small oed"]
    for depth in range(1, 5):
        # A row is P(tag | class) but for factors of the class and of the tag; the root's has the
        # same factors of the tag.
        against_root = np.exp(model.emission[row[nodes[depth - 1]]] - model.emission[row[""]])
        shares = against_root * by_hand(model, data, [])
        expected = by_hand(model, data, nodes[:depth])
        np.testing.assert_allclose(shares / shares.sum(), expected, atol=1e-12)


def test_unknown_words_get_their_deepest_class() -> None:
    data = Tagged.of([["cats", "ran", "Rome", "cats"]], [["N", "V", "P", "N"]])
    model = HMM.fit(data, unknown="classes")
    row = {name: k for k, name in enumerate(model.classes, len(model.words))}
    unary = model.scores(Tagged.of([["tan", "tin", "xx", "Home", "Paris", "44"]]))[0]
    for k, name in enumerate(["small an", "small n", "small", "capital ome", "capital", ""]):
        assert unary[k].tolist() == model.emission[row[name]].tolist()
    assert "small s" not in row  # "cats" is seen twice


def test_classes_tag_unknown_words_better() -> None:
    train, dev = generated(40, 5), generated(200, 6)
    plain = HMM.fit(train, emission=0.01)
    classes = HMM.fit(train, emission=0.01, unknown="classes")
    assert classes.accuracy(dev).value > plain.accuracy(dev).value + 0.03


def test_pseudocounts_are_chosen_by_accuracy() -> None:
    train, dev = generated(200, 7), generated(100, 8)
    steps: list[int] = []
    grid = [0.001, 100.0, 1.0]
    model = HMM.fit(train, dev, transition=grid, emission=(0.1, 10), step=lambda: steps.append(1))
    tried = model.settings["development"]
    assert [row[:2] for row in tried] == list(product([100, 1, 0.001], [10, 0.1]))
    assert len(steps) == 6
    for alpha, beta, accuracy in tried:
        assert HMM.fit(train, transition=alpha, emission=beta).accuracy(dev).value == accuracy
    best = max(row[2] for row in tried)
    first = next(row for row in tried if row[2] == best)
    assert (model.settings["transition"], model.settings["emission"]) == first[:2]
    assert model.accuracy(dev).value == best


def test_the_same_data_give_the_same_model_whatever_its_codes() -> None:
    data = generated(50, 9)
    assert data.tags is not None
    again = Tagged.of(
        [list(data.take([k]).words) for k in range(data.sentences)],
        [list(data.tags[data.offsets[k] : data.offsets[k + 1]]) for k in range(data.sentences)],
    ).take(np.arange(data.sentences))
    one, two = HMM.fit(data, unknown="classes"), HMM.fit(again, unknown="classes")
    assert one.emission.tobytes() == two.emission.tobytes()
    assert one.transition.tobytes() == two.transition.tobytes()


def test_one_tag_only() -> None:
    model = HMM.fit(Tagged.of([["a", "b"], ["c"]], [["X", "X"], ["X"]]), unknown="classes")
    assert list(model.tag(Tagged.of([["a", "z"]]))) == ["X", "X"]
    np.testing.assert_allclose(model.lattice(Tagged.of([["a", "z"]])).marginals(), 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"transition": 0}, "transition: 0.0 is not above 0; give numbers above 0"),
        ({"emission": -1.0}, "emission: -1.0 is not above 0"),
        ({"emission": [1.0, float("nan")]}, "emission: nan is not above 0"),
        ({"emission": float("inf")}, "emission: inf is not above 0"),
        ({"emission": "one"}, "emission: 'one' is no number; give numbers above 0"),
        ({"emission": []}, "emission: there is no value to try"),
        ({"emission": [1, 2]}, "dev: 2 pairs of pseudocounts and nothing to choose by"),
        (
            {"unknown": "guess"},
            "'guess' is not a way to treat unknown words; name one of plain, cl",
        ),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HMM.fit(TINY, **settings)  # type: ignore[arg-type]


def test_development_data_must_have_tagged_words() -> None:
    for dev in (Tagged.of([], []), Tagged.of([["a"]])):
        with pytest.raises(InputError, match="dev: there are no tagged words"):
            HMM.fit(TINY, dev)


@pytest.mark.parametrize("data", [Tagged.of([]), Tagged.of([[]], [[]]), Tagged.of([["a"]])])
def test_no_training_data(data: Tagged) -> None:
    with pytest.raises(InputError, match="train: there are no tagged words"):
        HMM.fit(data)


def test_newspaper_sentences(data: Path) -> None:
    tagged = read_tagged(data / "wsj_sample" / "tagged.tsv.gz")
    assert (tagged.sentences, len(tagged)) == (3914, 94_084)
    train, dev = tagged.take(slice(0, 1000)), tagged.take(slice(1000, 1200))
    plain = HMM.fit(train, emission=0.03)
    classes = HMM.fit(train, emission=0.003, unknown="classes")
    assert 0.80 < plain.accuracy(dev).value < classes.accuracy(dev).value - 0.03
    # The underconfidence that Nguyen and O'Connor (2015) report: sharper is likelier.
    assert plain.recalibrated(dev).temperature < 1
