"""Columns of strings, trees, dates: what every reader relies on."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.corpus.document import Document, Fusions, ints, parse_date, tree_fault
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

words = st.lists(st.sampled_from(["a", "b", "ab", "", "é", "a b"]), max_size=30)


@given(words)
def test_strings_are_a_list(strings: list[str]) -> None:
    column = Strings.of(strings)
    assert list(column) == strings
    assert len(column) == len(strings)
    assert [column[k] for k in range(len(strings))] == strings
    assert list(column[2:5]) == strings[2:5]
    assert len(set(column.values)) == len(column.values)


@given(words, words)
def test_equal_strings_are_equal_however_coded(one: list[str], two: list[str]) -> None:
    both = Strings.of([*two, *one])
    assert (both[len(two) :] == Strings.of(one)) is True
    assert (Strings.of(one) == Strings.of(two)) is (one == two)


@given(words, st.sets(st.sampled_from(["a", "b", ""])))
def test_tests_on_values_are_tests_on_strings(strings: list[str], wanted: set[str]) -> None:
    column = Strings.of([*strings, "a", "b", "", "é"])[: len(strings)]
    assert column.is_in(wanted).tolist() == [s in wanted for s in strings]
    assert column.where(str.isalpha).tolist() == [s.isalpha() for s in strings]
    assert list(column.map(str.upper)) == [s.upper() for s in strings]


@given(words)
def test_compact_keeps_the_strings_and_drops_the_rest(strings: list[str]) -> None:
    column = Strings.of(["x", "y", *strings, "z"])[2:-1].compact()
    assert list(column) == strings
    assert list(column.values) == list(dict.fromkeys(strings))


def is_a_tree(heads: list[int]) -> bool:
    """By walking up from every word."""
    if heads.count(-1) != 1 or any(h == k or h >= len(heads) for k, h in enumerate(heads)):
        return False
    for k in range(len(heads)):
        at = k
        for _ in heads:
            at = heads[at] if at >= 0 else at
        if at != -1:
            return False
    return True


@given(st.lists(st.lists(st.integers(-1, 6), min_size=1, max_size=6), min_size=1, max_size=4))
def test_tree_fault_against_walking(sentences: list[list[int]]) -> None:
    heads, starts = [], [0]
    for sentence in sentences:
        base = starts[-1]
        heads += [h + base if h >= 0 else -1 for h in sentence]
        starts.append(base + len(sentence))
    fault = tree_fault(ints(heads), ints(starts))
    bad = [k for k, sentence in enumerate(sentences) if not is_a_tree(sentence)]
    assert (fault is None) == (not bad)
    if fault is not None:
        assert fault[0] == bad[0]


def test_a_long_chain_is_a_tree() -> None:
    n = 10_000
    chain = np.arange(-1, n - 1, dtype=np.int32)
    assert tree_fault(chain, ints([0, n])) is None
    chain[0] = n - 1
    assert tree_fault(chain, ints([0, n])) == (0, "no root")


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2005-03-02", (2005, 3, 2)),
        ("2005-03-02T23:59:59Z", (2005, 3, 2)),
        ("2005-3-2", (2005, 3, 2)),
        ("20050302", (2005, 3, 2)),
        ("2005-03", (2005, 3, 1)),
        ("2005", (2005, 1, 1)),
        (" 7-APR-1987 11:02:31.04", (1987, 4, 7)),
        ("26-FEB-1987", (1987, 2, 26)),
    ],
)
def test_dates(text: str, date: tuple[int, int, int]) -> None:
    assert parse_date(text, "here") == datetime.date(*date)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2005-13-01", "2005-02-30", "05-03-02", "7-XYZ-1987", "0000-01-01"]
)
def test_what_is_no_date(text: str) -> None:
    with pytest.raises(InputError, match=r"^here: .*write it as YYYY-MM-DD$"):
        parse_date(text, "here")


def test_text_with_fusions_and_paragraphs() -> None:
    column = Strings.of(["I", "do", "n't", ".", "Yes", "!"])
    document = Document(
        id="x",
        form=column,
        lemma=column,
        upos=column,
        xpos=column,
        feats=column,
        head=ints([1, -1, 1, 1, -1, 4]),
        deprel=column,
        space_after=np.array([True, False, False, True, False, True]),
        sentence=ints([0, 4, 6]),
        paragraph=ints([0, 1]),
        fusions=Fusions(ints([1]), ints([3]), ("don't",)),
    )
    assert document.text() == "I don't.\n\nYes!"
    assert document.text(4, 6) == "Yes!"
    starts, ends = document.offsets()
    assert starts.tolist() == [0, 2, 2, 7, 10, 13]
    assert ends.tolist() == [1, 7, 7, 8, 13, 14]
    assert document.sentence_of().tolist() == [0, 0, 0, 0, 1, 1]
    assert document.same_as(document)
