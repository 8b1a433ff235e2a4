"""The tweet tokenizer on invented tweets; the text classifiers against closed forms and oracles."""

import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gnomon.errors import InputError, MissingExtra
from gnomon.models.text import (
    FAMILIES,
    Family,
    TextClassifier,
    cross_fit,
    deal,
    f1,
    fit,
    fit_value,
    same_text,
    tokenize,
    unigrams,
)

TWEETS = {
    "url": ("Look: HTTP://Short.ly/aB3!", ["look", ":", "http://short.ly/ab3", "!"]),
    "url in brackets": ("(https://a.example/b?c=d)", ["(", "https://a.example/b?c=d", ")"]),
    "bare address": ("see example.com/x, ok", ["see", "example.com/x", ",", "ok"]),
    "missing space": ("got home.Then slept", ["got", "home", ".", "then", "slept"]),
    "e-mail": ("to me.too@mail.example", ["to", "me.too@mail.example"]),
    "mention": (".@Ann_1: hi @bob!", [".", "@ann_1", ":", "hi", "@bob", "!"]),
    "tag": ("#NowPlaying is #1", ["#nowplaying", "is", "#1"]),
    "emoticons": (":) ;-) =] :'( :/ :P xD", [":)", ";-)", "=]", ":'(", ":/", ":p", "xd"]),
    "long mouth": ("yes:)))", ["yes", ":)))"]),
    "backwards": ("hello (: bye", ["hello", "(:", "bye"]),
    "no emoticon": ("(a list): one", ["(", "a", "list", ")", ":", "one"]),
    "no emoticon in a time": ("at 10:30, won 5:3", ["at", "10:30", ",", "won", "5:3"]),
    "hearts": ("&lt;3 u </3", ["<3", "u", "</3"]),
    "faces": ("^_^ -_- >.< ;_; @_@ o_O", ["^_^", "-_-", ">.<", ";_;", "@_@", "o_o"]),
    "elongation": ("soooo goooood", ["soooo", "goooood"]),
    "contraction": ("can't, DON’T y'all'd", ["can't", ",", "don't", "y'all'd"]),
    "quotes": ("'quoted' words'", ["'", "quoted", "'", "words", "'"]),
    "runs": ("what?!?! no... !!! - --", ["what", "?!?!", "no", "...", "!!!", "-", "--"]),
    "numbers": ("$5 50% 1,000 2.5 3rd 2nite", ["$5", "50%", "1,000", "2.5", "3rd", "2nite"]),
    "abbreviation": ("U.S. at 9 a.m.", ["u.s.", "at", "9", "a.m."]),
    "entity": ("R&amp;B &quot;x&quot;", ["r", "&", "b", '"', "x", '"']),
    "stars": ("d*mn **", ["d*mn", "**"]),
    "arrow": ("a --> b <- c", ["a", "-->", "b", "<-", "c"]),
    "accents": ("Cafe\u0301 na\u00efve", ["caf\u00e9", "na\u00efve"]),
    "nothing": (" \t ", []),
}


@pytest.mark.parametrize(("tweet", "tokens"), TWEETS.values(), ids=TWEETS.keys())
def test_invented_tweets(tweet: str, tokens: list[str]) -> None:
    assert tokenize(tweet) == tokens


@given(st.text())
def test_tokens_cover_everything_but_the_spaces(text: str) -> None:
    import html
    import unicodedata

    plain = unicodedata.normalize("NFC", html.unescape(text)).replace("\u2019", "'").lower()
    assert "".join(tokenize(text)) == "".join(plain.split())


@pytest.mark.parametrize(
    "piece",
    [
        "a-",
        "a.",
        "-=",
        "=-",
        "@_",
        "^_",
        "-_",
        ">.",
        "'_",
        "a'",
        "a*",
        "1.",
        ":-",
        "www.",
        "a+",
        "(",
    ],
)
def test_no_input_makes_the_tokenizer_slow(piece: str) -> None:
    """Quadratic time would take tens of seconds here, linear time takes milliseconds."""
    start = time.perf_counter()
    tokenize(piece * 50_000)
    assert time.perf_counter() - start < 5


def test_copies_are_found_whoever_they_address() -> None:
    tweets = ["@ann Win now! http://a.example/1", "@Bob win NOW! www.b.example", "win now!", "@ann"]
    assert same_text([tokenize(tweet) for tweet in tweets]).tolist() == [0, 0, 1, 2]


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1), st.integers(2, 4))
def test_dealing_keeps_groups_together_and_labels_mixed(
    rows: list[tuple[int, bool]], parts: int
) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.intp)
    labels = np.array([label for _, label in rows], dtype=np.uint8)
    first = {group: label for group, label in reversed(rows)}
    count = [sum(label is which for label in first.values()) for which in (False, True)]
    if min(count) < parts:
        with pytest.raises(InputError, match=f"cannot be dealt into {parts} parts"):
            deal(groups, labels, parts, seed=0)
        return
    part = deal(groups, labels, parts, seed=0)
    assert all(len(set(part[groups == group].tolist())) == 1 for group in first)
    for which, number in zip((False, True), count, strict=True):
        dealt = [part[groups == group][0] for group, label in first.items() if label is which]
        sizes = np.bincount(dealt, minlength=parts)
        assert sizes.sum() == number
        assert sizes.max() - sizes.min() <= 1


def test_dealing_depends_on_the_seed_alone() -> None:
    groups, labels = np.arange(100), (np.arange(100) % 2).astype(np.uint8)
    dealt = [deal(groups, labels, 5, seed=seed).tolist() for seed in (0, 0, 1)]
    assert dealt[0] == dealt[1] != dealt[2]


def reviews(rows: int, seed: int = 0) -> tuple[list[str], NDArray[np.uint8]]:
    """Invented texts: 6 words of 60, of which a third are likelier in positive texts."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(rows) < 0.5).astype(np.uint8)
    weight = np.ones((2, 60))
    weight[1, :20] = 2.0
    weight /= weight.sum(axis=1, keepdims=True)
    texts = [" ".join(f"w{w}" for w in rng.choice(60, 6, p=weight[label])) for label in labels]
    return texts, labels


def test_naive_bayes_is_bayes_rule() -> None:
    texts, labels = reviews(300)
    features, _ = unigrams([tokenize(text) for text in texts])
    x, alpha = features.toarray(), 0.5
    log_odds = np.log(labels.mean() / (1 - labels.mean()))
    for label, sign in ((1, 1.0), (0, -1.0)):
        rows = x[labels == label]
        p = (rows.sum(axis=0) + alpha) / (len(rows) + 2 * alpha)
        log_odds = log_odds + sign * (x @ np.log(p) + (1 - x) @ np.log(1 - p))
    none = np.zeros(300, dtype=np.bool_)
    model = fit(FAMILIES["naive-bayes"], features, labels, none, grid=[alpha])
    np.testing.assert_allclose(model.probabilities(features), 1 / (1 + np.exp(-log_odds)))


def test_logistic_regression_is_where_the_penalised_likelihood_is_flat() -> None:
    texts, labels = reviews(300)
    features, _ = unigrams([tokenize(text) for text in texts])
    none, C = np.zeros(300, dtype=np.bool_), 0.3
    model = fit(FAMILIES["logistic-regression"], features, labels, none, grid=[C])
    residual = labels - model.probabilities(features)
    weights = model.estimator.coef_[0]
    np.testing.assert_allclose(C * features.toarray().T @ residual, weights, atol=2e-3)
    assert np.abs(weights).max() > 0.3


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_grids_run_from_strong_to_weak(family: Family) -> None:
    assert list(family.grid) == sorted(family.grid, reverse=family.hyperparameter == "alpha")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_hyperparameter_is_the_best_on_development(family: str) -> None:
    texts, labels = reviews(400)
    features, _ = unigrams([tokenize(text) for text in texts])
    development = np.arange(400) % 4 == 0
    chosen = fit(FAMILIES[family], features, labels, development)
    again = {
        value: f1(
            fit(
                FAMILIES[family],
                features[~development],
                labels[~development],
                np.zeros(300, dtype=np.bool_),
                grid=[value],
            ).probabilities(features[development])
            > 0.5,
            labels[development],
        )
        for value in FAMILIES[family].grid
    }
    assert chosen.development_f1 == again
    assert again[chosen.value] == max(again.values())
    assert len(set(again.values())) > 1
    refit = fit(FAMILIES[family], features, labels, development, grid=[chosen.value])
    np.testing.assert_array_equal(chosen.probabilities(features), refit.probabilities(features))


@pytest.mark.parametrize("family", FAMILIES)
def test_cross_fitting_is_the_plain_nested_loop(family: str) -> None:
    texts, labels = reviews(300)
    features, _ = unigrams([tokenize(text) for text in texts])
    part = np.arange(300) % 4
    learn = np.arange(300) % 7 > 0
    kind, grid, steps = FAMILIES[family], [0.02, 0.5, 5.0], [0]

    def step() -> None:
        steps[0] += 1

    result = cross_fit(kind, features, labels, part, learn=learn, grid=grid, step=step)
    assert steps == [6 + 4]
    for held_out in range(4):
        scores = []
        for value in grid:
            predicted = np.zeros(300, dtype=np.bool_)
            for judge in set(range(4)) - {held_out}:
                rows = learn & (part != held_out) & (part != judge)
                model = fit_value(kind, value, features[rows], labels[rows])
                predicted[part == judge] = model.probabilities(features[part == judge]) > 0.5
            judged = learn & (part != held_out)
            scores.append(f1(predicted[judged], labels[judged]))
        np.testing.assert_allclose(result.development_f1[held_out], scores)
        assert result.values[held_out] == grid[int(np.argmax(scores))]
        rows = learn & (part != held_out)
        model = fit_value(kind, result.values[held_out], features[rows], labels[rows])
        np.testing.assert_array_equal(
            result.probability[part == held_out], model.probabilities(features[part == held_out])
        )


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_a_part_s_own_labels_never_reach_its_predictions(family: Family) -> None:
    texts, labels = reviews(300)
    features, _ = unigrams([tokenize(text) for text in texts])
    part = np.arange(300) % 3
    before = cross_fit(family, features, labels, part)
    after = cross_fit(family, features, np.where(part == 0, 1 - labels, labels), part)
    np.testing.assert_array_equal(before.probability[part == 0], after.probability[part == 0])
    assert (before.probability[part == 1] != after.probability[part == 1]).any()
    with pytest.raises(InputError, match="parts: 2 are too few; give three or more"):
        cross_fit(family, features, labels, part % 2)


def test_features_no_training_row_has_change_nothing() -> None:
    texts, labels = reviews(200)
    none = np.zeros(100, dtype=np.bool_)
    documents = [tokenize(text) for text in texts]
    documents = documents[:100] + [[*document, "unseen"] for document in documents[100:]]
    wide, _ = unigrams(documents)
    narrow, vectorizer = unigrams(documents[:100])
    for family in FAMILIES.values():
        from_wide = fit(family, wide[:100], labels[:100], none, grid=[1.0])
        from_narrow = fit(family, narrow, labels[:100], none, grid=[1.0])
        np.testing.assert_allclose(
            from_wide.probabilities(wide[100:]),
            from_narrow.probabilities(vectorizer.transform(documents[100:])),
            rtol=1e-12,
        )


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_f1_agrees_with_scikit_learn(rows: list[tuple[bool, bool]]) -> None:
    from sklearn.metrics import f1_score

    predicted, labels = zip(*rows, strict=True)
    expected = f1_score(labels, predicted, zero_division=0.0)
    assert f1(predicted, labels) == pytest.approx(expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_classifier_learns_and_hands_over_its_predictions(family: str) -> None:
    texts, labels = reviews(3000)
    model = TextClassifier(family).fit(texts[:2000], labels[:2000])
    frame = model.predictions(texts[2000:], labels[2000:].tolist())
    assert frame.columns == ["probability", "label"]
    probability = frame["probability"].to_numpy()
    assert probability.dtype == np.float64
    np.testing.assert_array_equal(frame["label"].to_numpy(), labels[2000:])
    np.testing.assert_array_equal(probability, model.probabilities(texts[2000:]))
    assert f1(probability > 0.5, labels[2000:]) > 0.6
    assert set(model.fitted.development_f1) == set(FAMILIES[family].grid)
    again = TextClassifier(family).fit(texts[:2000], labels[:2000])
    np.testing.assert_array_equal(probability, again.probabilities(texts[2000:]))


def test_a_text_of_unknown_words_gets_the_prior() -> None:
    model = TextClassifier("naive-bayes", grid=[1e-9])
    model.fit(["rain", "rain", "rain", "rain", "sun", "sun"], [0, 0, 1, 1, 0, 1])
    assert model.probabilities(["snow"])[0] == pytest.approx(0.5)


def test_bad_input_is_named() -> None:
    model = TextClassifier(grid=[1.0])
    with pytest.raises(InputError, match=r"'forest': there is no such model; .*naive-bayes"):
        TextClassifier("forest")
    with pytest.raises(InputError, match="it has learnt nothing yet; call fit first"):
        model.probabilities(["a"])
    with pytest.raises(InputError, match="one text on its own; give a list"):
        model.fit("good", [1])
    with pytest.raises(InputError, match="there are none"):
        model.fit([], [])
    with pytest.raises(InputError, match=r"texts, row 2: None is not a text"):
        model.fit(["a", None], [0, 1])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"shape \(1,\) for 2 texts"):
        model.fit(["a", "b"], [1])
    with pytest.raises(InputError, match=r"labels, row 2: 2 is not a label"):
        model.fit(["a", "b"], [1, 2])
    with pytest.raises(InputError, match="all are 1; give texts of both labels"):
        model.fit(["a", "b"], [1, 1])
    with pytest.raises(InputError, match="not one word"):
        model.fit(["", " "], [0, 1])
    with pytest.raises(InputError, match="cannot be dealt into 5 parts"):
        TextClassifier().fit(["a", "b"], [0, 1])
    with pytest.raises(InputError, match=r"C: cannot be chosen from \[0\.0\]; give positive"):
        TextClassifier(grid=[0.0]).fit(["a", "b"], [0, 1])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_missing_scikit_learn_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    hidden = [name for name in sys.modules if name.split(".")[0] == "sklearn"]
    for name in hidden:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"scikit-learn is not installed.*gnomon\[text\]"):
        TextClassifier(family).fit(["a", "b"], [0, 1])
    with pytest.raises(MissingExtra, match="scikit-learn"):
        FAMILIES[family].estimator(1.0)
