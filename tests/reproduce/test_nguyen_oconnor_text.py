"""Nguyen & O'Connor (2015), section 4.1: the protocol on invented tweets, the claims on real."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gnomon import reproduce
from gnomon.errors import InputError
from gnomon.estimate import Estimate
from gnomon.models.text import FAMILIES
from gnomon.reproduce.claims import Claim, markdown_table, text_table
from gnomon.reproduce.nguyen_oconnor_2015 import text as section

WORDS = 60


def chatter(rows: int, seed: int = 0) -> tuple[list[str], NDArray[np.uint8]]:
    """Invented tweets whose words come in pairs: what Naive Bayes takes for twice the evidence."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(rows) < 0.5).astype(np.uint8)
    weight = np.ones((2, WORDS))
    weight[1, : WORDS // 3] = 2.0
    weight[0, -WORDS // 3 :] = 2.0
    weight /= weight.sum(axis=1, keepdims=True)
    texts = []
    for label in labels:
        chosen = rng.choice(WORDS, 5, p=weight[label])
        texts.append(" ".join(f"a{word} b{word} c{word}" for word in chosen))
    return texts, labels


@pytest.fixture(scope="module")
def invented() -> section.Comparison:
    texts, labels = chatter(8000)
    return section.compare(texts, labels, bin_size=200)


def test_dependent_words_make_naive_bayes_overconfident(invented: section.Comparison) -> None:
    bayes, regression = invented.naive_bayes, invented.logistic_regression
    assert bayes.calibration.calibration_error.low > regression.calibration.calibration_error.high
    assert bayes.low_gap.low > 0 > bayes.high_gap.high
    verdicts = [claim.holds for claim in section.claims(invented)]
    assert verdicts[1:3] == [True, True]
    assert verdicts[4]


def test_every_tweet_is_predicted_once_by_each_model(invented: section.Comparison) -> None:
    for outcome in (invented.naive_bayes, invented.logistic_regression):
        assert outcome.probability.shape == (8000,)
        assert np.isfinite(outcome.probability).all()
        assert len(outcome.hyperparameters) == section.FOLDS
        assert set(outcome.hyperparameters) <= set(FAMILIES[outcome.name].grid)
        assert outcome.calibration.calibration_error.n == 8000
        assert outcome.error_simulated.method == "simulation"
        assert outcome.f1.low < outcome.f1.value < outcome.f1.high


def test_copies_never_help_to_predict_each_other() -> None:
    """Ten copies a text, labels by lot: a copy in training would tell the held-out label."""
    rng = np.random.default_rng(1)
    texts = [f"@user{copy} w{2 * k} w{2 * k + 1}" for k in range(300) for copy in range(10)]
    labels = np.repeat(rng.permutation(300) % 2, 10).astype(np.uint8)
    result = section.compare(texts, labels, bin_size=500)
    assert result.distinct == 300
    for outcome in (result.naive_bayes, result.logistic_regression):
        assert ((outcome.probability > 0.5) == labels).mean() < 0.65
        assert outcome.error_distinct.n == 300


def test_a_text_with_both_labels_teaches_both() -> None:
    groups = np.array([0, 0, 1, 0, 1, 2], dtype=np.intp)
    labels = np.array([1, 1, 0, 0, 0, 1], dtype=np.uint8)
    assert section._once(groups, labels).tolist() == [0, 2, 3, 5]


def test_the_seed_decides_and_progress_counts_to_the_end() -> None:
    texts, labels = chatter(400)
    steps: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        steps.append((done, total))

    first = section.compare(texts, labels, seed=3, bin_size=50, progress=progress)
    again = section.compare(texts, labels, seed=3, bin_size=50)
    other = section.compare(texts, labels, seed=4, bin_size=50)
    assert [done for done, _ in steps] == list(range(1, steps[0][1] + 1))
    p = [each.logistic_regression.probability for each in (first, again, other)]
    np.testing.assert_array_equal(p[0], p[1])
    assert (p[0] != p[2]).any()


def test_intervals_agree_with_resampling_whole_texts() -> None:
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 400, 1500).astype(np.intp)
    labels = (groups % 2).astype(np.uint8)
    q = np.clip(0.5 + 0.3 * (labels - 0.5) + rng.normal(0, 0.3, 400)[groups], 0, 1)
    r = np.clip(q + rng.normal(0, 0.05, 1500), 0, 1)
    ratios = [
        *section._ratios(q, labels),
        section._ratios(q, labels)[0] - section._ratios(r, labels)[0],
    ]
    members = [np.flatnonzero(groups == group) for group in range(400)]
    members = [rows for rows in members if len(rows)]
    draws = []
    for _ in range(1500):
        rows = np.concatenate([members[k] for k in rng.integers(0, len(members), len(members))])
        drawn = section._ratios(q[rows], labels[rows])
        lead = drawn[0].value - section._ratios(r[rows], labels[rows])[0].value
        draws.append([*(ratio.value for ratio in drawn), lead])
    for ratio, spread in zip(ratios, np.std(draws, axis=0), strict=True):
        estimate = ratio.estimate(groups)
        assert (estimate.high - estimate.low) / (2 * 1.96) == pytest.approx(spread, rel=0.1)


def test_half_an_error_is_compared_with_an_interval_of_its_own() -> None:
    """Two normal intervals ±2 and ±3 give ±√(2² + 1.5²) = ±2.5 for the one less half the other."""
    a = Estimate(7.0, 5.0, 9.0, 0.95, "score", 10)
    b = Estimate(6.0, 3.0, 9.0, 0.95, "score", 10)
    excess = section._less_half(a, b)
    assert (excess.value, excess.low, excess.high) == (4.0, 1.5, 6.5)
    assert section._less_half(replace(a, debiased=6.0), b).value == 3.0


def test_orderings_hold_only_beyond_doubt(invented: section.Comparison) -> None:
    def lead(value: float, low: float, high: float) -> bool:
        estimate = Estimate(value, low, high, 0.95, "normal", 4000)
        return section.claims(replace(invented, f1_lead=estimate))[0].holds

    assert lead(0.009, 0.004, 0.014)
    assert not lead(0.009, -0.001, 0.019)  # could be none
    assert not lead(-0.009, -0.014, -0.004)  # the other way round
    assert not lead(0.09, 0.08, 0.1)  # not slight


def test_the_experiment_reads_as_text_json_and_markdown(invented: section.Comparison) -> None:
    experiment = section.experiment(invented, details={"tweets": 4000}, seed=0, data="invented")
    whole = json.loads(json.dumps(experiment.to_dict(), allow_nan=False))
    assert [claim["holds"] for claim in whole["claims"]] == [c.holds for c in experiment.claims]
    assert whole["figures"]["Naive Bayes: F1"]["value"] == invented.naive_bayes.f1.value
    assert whole["details"]["models"]["logistic-regression"]["hyperparameter"] == "C"
    assert "|bin_size:200|" in whole["signature"]["text"]
    for form in (experiment.text, experiment.markdown):
        assert "does not hold here" in form or all(claim.holds for claim in experiment.claims)
        assert str(experiment.signature) in form
        assert "0.041 and 0.105" in form.replace("\n", " ")
    assert max(map(len, experiment.text.split("\n\n")[1].splitlines())) <= 100


def test_characters_outside_ascii_cannot_give_the_label_away() -> None:
    assert section.ascii_only("don\u00e2\u0080\u0099t") == section.ascii_only(
        "don\u00ef\u00bf\u00bdt"
    )


def test_long_cells_are_folded_and_bars_escaped() -> None:
    claims = [Claim("long " * 40, "a|b", "c", holds=True), Claim("short", "1", "2", holds=False)]
    table = text_table(claims, width=60)
    assert max(map(len, table.splitlines())) <= 60
    assert table.count("long") == 40
    assert table.splitlines()[-1].split() == ["short", "1", "2", "does", "not", "hold", "here"]
    assert markdown_table(claims).splitlines()[2].count(r"a\|b") == 1


def test_unknown_papers_and_parts_are_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'nguyen': there is no such paper here; .*oconnor-2015"):
        reproduce.run("nguyen")
    with pytest.raises(InputError, match=r"part 'tags': there is no such part; .*text"):
        reproduce.run("nguyen-oconnor-2015", only=["text", "tags"])
    with pytest.raises(InputError, match="part none: there is no such part"):
        reproduce.run("nguyen-oconnor-2015", only=[])


def test_absent_data_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    with pytest.raises(InputError, match="set the environment variable GNOMON_DATA"):
        reproduce.run("nguyen-oconnor-2015", only=["text"])


def test_the_dispatcher_runs_the_parts_asked_for(
    monkeypatch: pytest.MonkeyPatch, invented: section.Comparison
) -> None:
    experiment = section.experiment(invented, details={}, seed=7, data="invented")
    seen: list[object] = []

    def run(*, seed: int, progress: object) -> reproduce.Experiment:
        seen.append((seed, progress))
        return experiment

    monkeypatch.setattr(section, "run", run)
    result = reproduce.run("nguyen-oconnor-2015", only=["text", "text"], seed=7)
    assert seen == [(7, None)]
    assert str(result) == experiment.text
    assert result.markdown == experiment.markdown
    assert result.to_dict()["experiments"] == [experiment.to_dict()]


def test_a_fifth_of_the_real_tweets(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_DATA", str(data))
    raw, labels = section.read_tweets()
    assert len(raw) == 100_000
    assert labels.sum() == 50_000
    texts = [section.ascii_only(tweet) for tweet in raw[::5]]
    result = section.compare(texts, labels[::5], bin_size=1000)
    bayes, regression = result.naive_bayes, result.logistic_regression
    errors = [each.calibration.calibration_error for each in (bayes, regression)]
    assert 20_000 - result.distinct == 269
    assert set(bayes.hyperparameters) <= {1, 2, 5}
    assert set(regression.hyperparameters) <= {0.2, 0.5, 1}
    assert bayes.f1.value == pytest.approx(0.751, abs=0.004)
    assert regression.f1.value == pytest.approx(0.770, abs=0.004)
    assert bayes.f1.high - bayes.f1.low == pytest.approx(0.0175, abs=0.003)
    assert errors[0].value == pytest.approx(0.069, abs=0.005)
    assert errors[1].value == pytest.approx(0.025, abs=0.005)
    assert errors[1].high < errors[0].low
    # Here logistic regression has the higher F1, and is not overconfident in the higher range.
    assert [claim.holds for claim in section.claims(result)] == [False, True, True, False, True]
