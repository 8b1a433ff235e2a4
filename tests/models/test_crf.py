"""The conditional random field against CRFsuite's own probabilities, and its attributes."""

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest

from gnomon.errors import InputError, MissingExtra
from gnomon.models.crf import CRF, model_weights, own_attributes, shape
from gnomon.models.tagged import Tagged, read_tagged
from gnomon.models.tagging import load

TINY = Tagged.of(
    [["The", "dial", "turns"], ["a", "shadow-line", "of", "1990"], ["turns"]],
    [["DT", "NN", "VB"], ["DT", "NN", "IN", "CD"], ["NN"]],
)


def generated(sentences: int, seed: int) -> Tagged:
    """Invented sentences with ambiguous words; a tag depends on its word and the tag before."""
    rng = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(sentences):
        number = rng.zipf(1.4, size=int(rng.integers(1, 15))) % 40
        tag = [int(number[0]) % 5]
        for k in number[1:].tolist():
            tag.append((k + (tag[-1] if rng.random() < 0.4 else 0)) % 5)
        words.append([f"{'Ab-0'[k % 4]}{k}" for k in number.tolist()])
        tags.append([f"T{k}" for k in tag])
    return Tagged.of(words, tags)


def attributes(data: Tagged, features: str) -> list[list[list[str]]]:
    """The attributes of every word, sentence by sentence, said without any vectors."""
    found = []
    for start, end in pairwise(data.offsets.tolist()):
        words = list(data.words[start:end])
        items = [own_attributes(word, features == "full") for word in words]
        if features == "full":
            for k, item in enumerate(items):
                item += [
                    f"before={words[k - 1] if k else ''}",
                    f"after={words[k + 1] if k + 1 < len(words) else ''}",
                ]
        found.append(items)
    return found


def crfsuite(folder: Path, train: Tagged, features: str, **parameters: Any) -> pycrfsuite.Tagger:
    """CRFsuite's own tagger, trained by its own names."""
    assert train.tags is not None
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False, params=parameters)
    bounds = pairwise(train.offsets.tolist())
    for items, (start, end) in zip(attributes(train, features), bounds, strict=True):
        trainer.append(items, list(train.tags[start:end]))
    trainer.train(str(folder / "oracle"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "oracle"))
    return tagger


def check_against(tagger: pycrfsuite.Tagger, model: CRF, data: Tagged) -> None:
    """Compares marginals, best sequences and sequence probabilities, sentence by sentence."""
    assert sorted(tagger.labels()) == list(model.tags)
    lattice = model.lattice(data)
    marginals, best = lattice.marginals(), model.tag(data)
    probability = np.exp(lattice.log_score(best.codes) - lattice.log_partition())
    other = np.empty_like(marginals)
    bounds = list(pairwise(data.offsets.tolist()))
    features = model.settings["features"]
    for s, (items, (start, end)) in enumerate(zip(attributes(data, features), bounds, strict=True)):
        assert tagger.tag(items) == list(best[start:end])  # which also sets the sentence
        assert tagger.probability(list(best[start:end])) == pytest.approx(probability[s], rel=1e-9)
        for k, tag in enumerate(model.tags):
            other[start:end, k] = [tagger.marginal(tag, t) for t in range(end - start)]
    np.testing.assert_allclose(marginals, other, atol=1e-9)


@pytest.mark.parametrize("features", ["basic", "full"])
@pytest.mark.parametrize("possible", [False, True])
def test_equal_to_crfsuite(features: str, possible: bool, tmp_path: Path) -> None:
    train, test = generated(150, 1), generated(60, 2)
    parameters = {"feature.possible_states": possible, "feature.possible_transitions": possible}
    tagger = crfsuite(tmp_path, train, features, c2=0.05, max_iterations=60, **parameters)
    model = CRF.fit(
        train, features=features, c2=0.05, max_iterations=60,
        possible_states=possible, possible_transitions=possible,
    )  # fmt: skip
    check_against(tagger, model, test)
    listed = tagger.info()  # rounded to six decimals
    row = {name: k for k, name in enumerate(model.attributes)}
    tag = {name: k for k, name in enumerate(model.tags)}
    for (name, label), weight in listed.state_features.items():
        assert model.weights[row[name], tag[label]] == pytest.approx(weight, abs=1e-6)
    for (a, b), weight in listed.transitions.items():
        assert model.transition[tag[a], tag[b]] == pytest.approx(weight, abs=1e-6)
    assert np.count_nonzero(model.weights) == len(listed.state_features)
    if possible:
        assert (model.transition != 0).all()


def test_equal_to_crfsuite_on_newspaper_sentences(data: Path, tmp_path: Path) -> None:
    tagged = read_tagged(data / "wsj_sample" / "tagged.tsv.gz")
    train, test = tagged.take(slice(0, 200)), tagged.take(slice(200, 300))
    for features in ("basic", "full"):
        tagger = crfsuite(tmp_path, train, features, c2=0.1, max_iterations=15)
        model = CRF.fit(train, features=features, c2=0.1, max_iterations=15)
        check_against(tagger, model, test)


def test_training_is_deterministic() -> None:
    data = generated(80, 3)
    one, two = (CRF.fit(data, c2=0.1, features="full", max_iterations=30) for _ in range(2))
    assert one.weights.tobytes() == two.weights.tobytes()
    assert one.transition.tobytes() == two.transition.tobytes()
    assert one.attributes == two.attributes


def test_c2_is_chosen_by_accuracy() -> None:
    train, dev = generated(60, 4), generated(60, 5)
    steps: list[int] = []
    model = CRF.fit(train, dev, c2=[0.01, 100, 1.0], step=lambda: steps.append(1))
    tried = model.settings["development"]
    assert [value for value, _ in tried] == [100, 1, 0.01]
    assert len(steps) == 3
    for value, accuracy in tried:
        alone = CRF.fit(train, c2=value)  # a trainer that has trained before does the same
        assert alone.accuracy(dev).value == accuracy
        if value == model.settings["c2"]:
            assert alone.weights.tobytes() == model.weights.tobytes()
    assert model.accuracy(dev).value == max(accuracy for _, accuracy in tried)
    assert tried[0][1] < tried[1][1]  # c2 = 100 leaves next to nothing


def test_attributes_of_words() -> None:
    basic, full = CRF.fit(TINY), CRF.fit(TINY, features="full")
    assert basic.attributes == tuple(
        f"word={word}" for word in ("The", "dial", "turns", "a", "shadow-line", "of", "1990")
    )
    expected = {
        "word=shadow-line", "small=the", "begins=shad", "ends=line", "ends=f", "shape=x-x",
        "shape=0", "capital", "digit", "hyphen", "before=of", "after=", "before=",
    }  # fmt: skip
    assert expected <= set(full.attributes)
    assert own_attributes("of", full=True) == [
        "word=of", "small=of", "begins=o", "begins=of", "ends=f", "ends=of", "shape=x",
    ]  # fmt: skip
    assert own_attributes("Of", full=False) == ["word=Of"]
    assert shape("X2-b...") == "X0-x."


def test_full_attributes_tag_unknown_words_by_their_ending() -> None:
    endings = {"N": "tion", "V": "ize", "R": "ly"}
    words = [[f"{'abcdefgh'[k]}{end}" for end in endings.values()] for k in range(8)]
    train = Tagged.of(words, [list(endings)] * 8)
    model = CRF.fit(train, features="full", c2=0.1)
    assert list(model.tag(Tagged.of([["zly"], ["yize", "xtion"]]))) == ["R", "V", "N"]
    basic = CRF.fit(train, c2=0.1).scores(Tagged.of([["zly"]]))[0]
    assert (basic == 0).all()  # nothing is known of a word not seen


def test_names_no_file_format_likes(tmp_path: Path) -> None:
    words = ["a b", "x\u2028y", "1: q --> r", "\x0b", "\\n", "zero\0end", "half\ud800", "ü"]
    words = [word for word in words if word.strip()]
    train = Tagged.of([words, words[::-1]], [["T --> U"] * len(words), ["}"] * len(words)])
    model = CRF.fit(train, features="full", c2=0.1)
    assert {f"word={word}" for word in words} <= set(model.attributes)
    model.save(tmp_path / "a.npz")
    again = load(tmp_path / "a.npz")
    assert isinstance(again, CRF)
    assert again.attributes == model.attributes
    assert list(again.tag(train)) == list(model.tag(train))


def test_empty_sentences_and_one_tag_only() -> None:
    with_empty = Tagged.of([[], ["a", "b"], []], [[], ["X", "Y"], []])
    without = Tagged.of([["a", "b"]], [["X", "Y"]])
    one, two = CRF.fit(with_empty), CRF.fit(without)
    assert one.weights.tobytes() == two.weights.tobytes()
    single = CRF.fit(Tagged.of([["a", "b"]], [["X", "X"]]))
    assert list(single.tag(Tagged.of([["a", "z"]]))) == ["X", "X"]
    np.testing.assert_allclose(single.lattice(Tagged.of([["a", "z"]])).marginals(), 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"c2": -1}, "c2: -1.0 is not 0 or more; give numbers 0 or more"),
        ({"c2": float("nan")}, "c2: nan is not 0 or more"),
        ({"c2": "much"}, "c2: 'much' is no number; give numbers 0 or more"),
        ({"c2": []}, "c2: there is no value to try"),
        ({"c2": [1, 2]}, "dev: 2 values of c2 and nothing to choose by"),
        ({"features": "rich"}, "'rich' is no set of features; name one of basic, full"),
        ({"max_iterations": 0}, "max_iterations: 0 iterations; give 1 or more, or None"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CRF.fit(TINY, **settings)


def test_development_data_must_have_tagged_words() -> None:
    for dev in (Tagged.of([], []), Tagged.of([["a"]])):
        with pytest.raises(InputError, match="dev: there are no tagged words"):
            CRF.fit(TINY, dev)


@pytest.mark.parametrize("data", [Tagged.of([]), Tagged.of([[]], [[]]), Tagged.of([["a"]])])
def test_no_training_data(data: Tagged) -> None:
    with pytest.raises(InputError, match="train: there are no tagged words"):
        CRF.fit(data)


def test_without_crfsuite_the_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    with pytest.raises(MissingExtra, match=r'pip install "gnomon\[text\]"'):
        CRF.fit(TINY)


def test_a_model_file_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="CRFsuite: it writes model files of an unknown kind"):
        model_weights(b"lCRF" + bytes(100), 1, 1)
