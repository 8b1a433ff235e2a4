"""Sentences as columns, read strictly; and what every tagger predicts, checked by counting."""

import gzip
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.calibration.analyse import calibrate
from gnomon.calibration.groups import calibrate_groups
from gnomon.calibration.streaming import Stream
from gnomon.corpus.conllu import parse
from gnomon.corpus.document import Document
from gnomon.corpus.source import Raw
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError
from gnomon.models.crf import CRF
from gnomon.models.hmm import HMM
from gnomon.models.tagged import Tagged, of_documents, read_tagged
from gnomon.models.tagging import FORMAT, Tagger, gather, load

TRAIN = Tagged.of(
    [["the", "dial", "turns"], ["a", "shadow", "falls"], ["the", "sun", "turns", "the", "dial"],
     ["a", "dial", "falls"]],
    [["DT", "NN", "VB"], ["DT", "NN", "VB"], ["DT", "NN", "VB", "DT", "NN"], ["DT", "NN", "VB"]],
)  # fmt: skip
TEST = Tagged.of(
    [["the", "moon", "turns"], [], ["oh"], ["a", "sun", "turns", "the", "falls"]],
    [["DT", "NN", "VB"], [], ["UH"], ["DT", "NN", "VB", "DT", "NN"]],
)


@pytest.fixture(params=["hmm", "hmm classes", "crf", "crf full"], scope="module")
def tagger(request: pytest.FixtureRequest) -> Tagger:
    kind, _, option = request.param.partition(" ")
    if kind == "hmm":
        return HMM.fit(TRAIN, emission=0.1, unknown=option or "plain")
    return CRF.fit(TRAIN, c2=0.1, features=option or "basic")


# --- reading ---


def test_reads_words_tags_sentences_and_documents(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_bytes(
        b"\xef\xbb\xbf# doc = one\nThe\tDT\nNew York\tNNP\n\n\n#\t#\r\n5\tCD\r\n\r\n"
        b"# doc = two\n# another comment\nOh\tUH"
    )
    data = read_tagged(file)
    assert list(data.words) == ["The", "New York", "#", "5", "Oh"]
    assert data.tags is not None
    assert data.documents is not None
    assert list(data.tags) == ["DT", "NNP", "#", "CD", "UH"]
    assert data.offsets.tolist() == [0, 2, 4, 5]
    assert list(data.documents) == ["one", "one", "two"]
    zipped = tmp_path / "a.tsv.gz"
    zipped.write_bytes(gzip.compress(file.read_bytes()))
    assert read_tagged(zipped).words == data.words


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "one column": ("a\tDT\nb\n", "line 2: 1 column, not 2; write a word, a tab and its tag"),
        "three": ("a\tDT\tx\n", "line 1: 3 columns, not 2; write a word, a tab and its tag"),
        "no word": ("\n \tDT\n", "line 2: the word is empty; write a word, a tab and its tag"),
        "no tag": ("a\t\n", "line 1: the tag is empty; write a word, a tab and its tag"),
        "only comments": ("# doc = a\n\n", "there are no sentences; write a word, a tab and its"),
        "nothing": ("", "there are no sentences; write a word, a tab and its tag a line"),
    }.values(),
)
def test_bad_lines_are_named(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.tsv"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_tagged(file)
    assert f"{file}" in str(caught.value)
    assert message in str(caught.value)


def test_other_bytes_and_absent_files_are_input_errors(tmp_path: Path) -> None:
    (tmp_path / "latin.tsv").write_bytes(b"a\tDT\ncaf\xe9\tNN\n")
    with pytest.raises(InputError, match="line 2: byte 4"):
        read_tagged(tmp_path / "latin.tsv")
    with pytest.raises(InputError, match="cannot be read"):
        read_tagged(tmp_path / "none.tsv")


def document(name: str, *sentences: str) -> Document:
    text = "\n".join(
        "".join(
            f"{k}\t{word}\t_\t{tag[0]}\t{tag}\t_\t{k - 1}\tdep\t_\t_\n"
            for k, (word, tag) in enumerate((w.split("/") for w in sentence.split()), 1)
        )
        for sentence in sentences
    )
    return parse(Raw(name, "conllu", text, "a.conllu"))


def test_documents_become_one_table() -> None:
    documents = [document("x", "the/DT sun/NN", "it/PRP"), document("y", "the/DT moon/NN")]
    data = of_documents(documents)
    assert data.tags is not None
    assert data.documents is not None
    assert list(data.words) == ["the", "sun", "it", "the", "moon"]
    assert list(data.tags) == ["DT", "NN", "PRP", "DT", "NN"]
    assert data.offsets.tolist() == [0, 2, 3, 5]
    assert list(data.documents) == ["x", "x", "y"]
    assert sorted(set(data.words.values)) == sorted(data.words.values)
    coarse = of_documents(documents, "upos").tags
    assert coarse is not None
    assert list(coarse) == ["D", "N", "P", "D", "N"]
    assert of_documents(documents, None).tags is None


def test_documents_without_tags_are_refused() -> None:
    with pytest.raises(InputError, match="document x: some of its words have no xpos"):
        of_documents([document("x", "the/DT sun/_")])
    with pytest.raises(InputError, match="'lemma' has no tags; name one of xpos, upos"):
        of_documents([], "lemma")


# --- columns ---


@given(st.lists(st.integers(0, 5)), st.integers(1, 8))
def test_batches_are_the_sentences_in_order(sizes: list[int], words: int) -> None:
    data = Tagged.of([[f"{s}.{k}" for k in range(n)] for s, n in enumerate(sizes)])
    parts = list(data.batches(words))
    assert [word for part in parts for word in part.words] == list(data.words)
    assert [n for part in parts for n in np.diff(part.offsets).tolist()] == sizes
    assert all(len(part) <= max(words, *sizes) for part in parts)
    pairs = [(s, k) for s, n in enumerate(sizes) for k in range(n - 1)]
    assert [data.words[int(k)] for k in data.pair_places()] == [f"{s}.{k}" for s, k in pairs]


def test_take_by_slice_numbers_and_mask() -> None:
    for which in (slice(2, 4), [2, 3], np.array([False, False, True, True])):
        part = TEST.take(which)
        assert list(part.words) == ["oh", "a", "sun", "turns", "the", "falls"]
        assert part.offsets.tolist() == [0, 1, 6]
    assert list(TEST.take([3, 0]).words)[4:] == ["falls", "the", "moon", "turns"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tagged.of([["a"]], [["X", "Y"]]), "sentence 1: 2 tags for 1 words"),
        (lambda: Tagged.of([["a"]], []), "0 sentences of tags for 1 of words"),
        (lambda: Tagged.of([["a", " "]]), "words: number 2 is empty"),
        (lambda: Tagged.of([["a"]], [[""]]), "tags: number 1 is empty"),
        (lambda: Tagged(Strings.of("ab"), Strings.of("X"), np.array([0, 2])), "1 tags for 2 words"),
        (lambda: Tagged(Strings.of("ab"), None, np.array([0, 1])), "they do not cut 2 words"),
        (lambda: Tagged(Strings.of("ab"), None, np.array([0, 2, 1, 2])), "they do not cut 2 words"),
        (lambda: Tagged(Strings.of("ab"), None, np.array([0.0, 2.0])), "they do not cut 2 words"),
        (lambda: list(TEST.batches(0)), "batch: 0 words; give 1 or more"),
    ],
)
def test_columns_that_do_not_fit_are_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=message):
        make()


# --- what every tagger does ---


def test_predictions_have_every_tag_of_every_word(tagger: Tagger) -> None:
    batches = list(tagger.predictions(TEST, batch=3))
    assert [len(batch) for batch in batches] == [9, 3, 15]  # the empty sentence has no rows
    rows = gather(batches)
    table = rows.probability.reshape(-1, 3)
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(table, tagger.lattice(TEST).marginals(), atol=1e-12)
    assert rows.label.sum() == 8  # of nine words, one has a tag that is not the model's
    assert rows.label.reshape(-1, 3).sum(axis=0).tolist() == [3, 3, 2]
    assert rows.group_names()[:4].tolist() == ["DT", "NN", "VB", "DT"]
    one = gather(tagger.predictions(TEST, "VB"))
    np.testing.assert_allclose(one.probability, table[:, 2], atol=1e-12)
    assert one.label.tolist() == [0, 0, 1, 0, 0, 0, 1, 0, 0]
    two = gather(tagger.predictions(TEST, ["VB", "DT"]))
    np.testing.assert_allclose(two.probability.reshape(-1, 2), table[:, [2, 0]], atol=1e-12)


def test_pair_predictions_are_sums_over_sequences(tagger: Tagger) -> None:
    every = [(a, b) for a in tagger.tags for b in tagger.tags]
    rows = gather(tagger.pair_predictions(TEST, every, batch=3))
    table = rows.probability.reshape(-1, 3, 3)
    assert len(table) == 6  # two places and four
    marginals = tagger.lattice(TEST).marginals()
    np.testing.assert_allclose(table.sum(axis=2), marginals[[0, 1, 4, 5, 6, 7]], atol=1e-12)
    np.testing.assert_allclose(table.sum(axis=1), marginals[[1, 2, 5, 6, 7, 8]], atol=1e-12)
    assert rows.label.sum() == 6
    frequent = gather(tagger.pair_predictions(TEST, 2))
    assert frequent.group.values == ("DT NN", "NN VB")  # three times, twice
    assert frequent.label.reshape(-1, 2).sum(axis=0).tolist() == [3, 2]
    np.testing.assert_allclose(frequent.probability[0::2], table[:, 0, 1], atol=1e-12)
    assert gather(tagger.pair_predictions(TEST)).group.values == ("DT NN", "NN VB", "VB DT")


def test_calibration_takes_the_columns(tagger: Tagger) -> None:
    rows = gather(tagger.predictions(TEST))
    stream = Stream.empty()
    for batch in tagger.predictions(TEST, batch=1):
        stream.update(batch.probability, batch.label)
    assert stream.cells().n.sum() == 27
    assert calibrate(rows.probability, rows.label).base_rate == pytest.approx(8 / 27)
    groups = calibrate_groups(rows.probability, rows.label, rows.group_names())
    assert sorted(group.name for group in groups.rows) == ["DT", "NN", "VB"]


def test_accuracy_counts_unseen_tags_as_wrong(tagger: Tagger) -> None:
    tagged = tagger.tag(TEST)
    assert len(tagged) == 9
    accuracy = tagger.accuracy(TEST, batch=2)
    assert TEST.tags is not None
    assert accuracy.right == sum(a == b for a, b in zip(tagged, TEST.tags, strict=True))
    assert (accuracy.words, accuracy.unseen) == (9, {"UH": 1})
    assert accuracy.right == 8 - (tagged[8] != "NN")
    assert "1 has a tag the model does not know (UH)" in str(accuracy)


def test_nothing_to_tag(tagger: Tagger) -> None:
    assert len(tagger.tag(Tagged.of([]))) == 0
    assert len(tagger.tag(Tagged.of([[], []]))) == 0
    assert list(tagger.predictions(Tagged.of([[]], [[]]))) == []
    with pytest.raises(InputError, match="predictions: there are none"):
        gather(tagger.pair_predictions(Tagged.of([["a"], []], [["DT"], []])))
    with pytest.raises(InputError, match="data: there are no words"):
        tagger.accuracy(Tagged.of([[]], [[]]))


def test_a_sentence_of_ten_thousand_words(tagger: Tagger) -> None:
    data = Tagged.of([["the", "new", "dial", "turns", "?"] * 2000], [["DT"] * 10_000])
    rows = gather(tagger.predictions(data, batch=100))
    np.testing.assert_allclose(rows.probability.reshape(-1, 3).sum(axis=1), 1, atol=1e-9)
    assert len(tagger.tag(data)) == 10_000


def test_predictions_ask_for_tags_and_known_names(tagger: Tagger) -> None:
    untagged = Tagged.of([["the", "dial"]])
    for ask in (tagger.predictions, tagger.pair_predictions):
        with pytest.raises(InputError, match="its words have no tags"):
            ask(untagged)  # at once, not at the first batch
    with pytest.raises(InputError, match="the model has no tag 'UH'; name one of DT NN VB"):
        tagger.predictions(TEST, "UH")
    with pytest.raises(InputError, match="the model has no tag 'UH'"):
        tagger.pair_predictions(TEST, [("DT", "UH")])
    with pytest.raises(InputError, match="none is named"):
        tagger.predictions(TEST, [])
    with pytest.raises(InputError, match="pairs: 0 of them"):
        tagger.pair_predictions(TEST, 0)


def log_likelihood(tagger: Tagger, data: Tagged) -> float:
    lattice = tagger.lattice(data)
    return float((lattice.log_score(data.gold(tagger.tags)) - lattice.log_partition()).sum())


def test_the_temperature_is_the_best(tagger: Tagger) -> None:
    held_out = Tagged.of(
        [["the", "falls", "turns"], ["turns"], ["a", "dial"], ["oh", "dial"], []],
        [["DT", "NN", "VB"], ["NN"], ["DT", "NN"], ["UH", "NN"], []],
    )
    known = held_out.take([0, 1, 2])  # the fourth has no likelihood
    mended = tagger.recalibrated(held_out)
    best = log_likelihood(mended, known)
    assert best > log_likelihood(tagger, known)
    assert mended.temperature != 1
    for factor in (0.98, 1.02):
        near = tempered(tagger, mended.temperature * factor)
        assert log_likelihood(near, known) < best
    assert mended.recalibrated(held_out).temperature == mended.temperature
    assert list(mended.tag(TEST)) == list(tagger.tag(TEST))
    with pytest.raises(InputError, match="no sentence has only tags the model knows"):
        tagger.recalibrated(held_out.take([3]))


def tempered(tagger: Tagger, temperature: float) -> Tagger:
    return replace(tagger, temperature=temperature)


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.nan, np.inf])
def test_no_temperature(tagger: Tagger, temperature: float) -> None:
    with pytest.raises(InputError, match="is not a temperature"):
        tempered(tagger, temperature)


# --- saved ---


def test_saved_and_loaded_bit_for_bit(tagger: Tagger, tmp_path: Path) -> None:
    model = tempered(tagger, 1 / 3)
    model.save(tmp_path / "a.npz")
    again = load(tmp_path / "a.npz")
    assert type(again) is type(tagger)
    assert (again.tags, again.temperature) == (model.tags, model.temperature)
    assert json.dumps(again.settings) == json.dumps(model.settings)
    (names, arrays), (names_again, arrays_again) = model.packed(), again.packed()
    assert names == names_again
    assert {k: a.tobytes() for k, a in arrays.items()} == {
        k: a.tobytes() for k, a in arrays_again.items()
    }
    expected = model.lattice(TEST).marginals()
    assert again.lattice(TEST).marginals().tobytes() == expected.tobytes()
    again.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def changed(data: bytes, change: dict[str, object], **arrays: object) -> bytes:
    """A saved model with some of its header and arrays changed."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        content = {name: archive[name] for name in archive.files}
    header = json.loads(content["header"].tobytes()) | change
    content["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **(content | {k: np.asarray(v) for k, v in arrays.items()}))
    return buffer.getvalue()


def test_what_is_no_saved_tagger_is_refused(tagger: Tagger, tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    tagger.save(file)
    data = file.read_bytes()
    buffer = io.BytesIO()
    np.save(buffer, np.arange(3))
    array = "transition"
    for bad in (
        b"", b"gnomon", data[:-1], data[: len(data) // 2], data[100:],
        buffer.getvalue(),
        changed(data, {"kind": "parser"}), changed(data, {"kind": ["hmm"]}),
        changed(data, {"format": "new"}), changed(data, {"tags": ["DT", "NN"]}),
        changed(data, {"tags": 3}), changed(data, {"settings": []}),
        changed(data, {"temperature": 0}), changed(data, {"temperature": None}),
        changed(data, {}, **{array: np.full((3, 3), np.nan)}),
        changed(data, {}, **{array: np.zeros((3, 2))}),
        changed(data, {}, **{array: np.zeros((3, 3), np.float32)}),
    ):  # fmt: skip
        file.write_bytes(bad)
        with pytest.raises(InputError, match="it is no tagger saved by Gnomon, or is damaged"):
            load(file)
    file.write_bytes(changed(data, {"format": FORMAT + 1, "kind": "parser"}))
    with pytest.raises(InputError, match=f"newer Gnomon \\(format {FORMAT + 1}, .*; update Gnomon"):
        load(file)
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "none.npz")
    with pytest.raises(InputError, match="cannot be written"):
        tagger.save(tmp_path / "none" / "a.npz")


def test_a_changed_byte_is_noticed_or_changes_nothing(tagger: Tagger, tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    tagger.save(file)
    data, refused = file.read_bytes(), 0
    places = range(0, len(data), 11)
    for place in places:
        flipped = bytearray(data)
        flipped[place] ^= 0x55
        file.write_bytes(flipped)
        try:
            again = load(file)
        except InputError:
            refused += 1
            continue
        (names, arrays), (names_again, arrays_again) = tagger.packed(), again.packed()
        assert names == names_again
        assert all(np.array_equal(array, arrays_again[name]) for name, array in arrays.items())
    assert refused > len(places) / 2
