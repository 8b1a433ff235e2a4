"""Entity brackets: how they pair, what their labels mean, and how they are written."""

from collections.abc import Sequence

import pytest

from gnomon.corpus.document import Ints, Mentions, ints
from gnomon.corpus.entities import Labels, mention_heads, read_mentions, write_mentions
from gnomon.errors import InputError

FLAT = ints([-1] + [0] * 9)  # ten words below the first


def fault(word: int, problem: str, remedy: str) -> InputError:
    return InputError(f"word {word}", problem, remedy)


def read(*cells: str, header: str | None = None, head: Ints = FLAT) -> Mentions:
    """The mentions of words 0, 1, ... with these attributes; "" is none."""
    given = [(word, cell) for word, cell in enumerate(cells) if cell]
    return read_mentions(given, header, head, fault)


def said(mentions: Mentions) -> list[tuple[int, int, str, str, str]]:
    names = [mentions.entities[k] for k in mentions.entity.tolist()]
    columns: tuple[Sequence[int] | Sequence[str], ...] = (
        mentions.start.tolist(), mentions.end.tolist(), names, mentions.kind, mentions.attributes,
    )  # fmt: skip
    return list(zip(*columns, strict=True))


def test_nested_crossing_and_repeated_mentions() -> None:
    found = read("(1-p-x(2-q-y", "(1-p-z)", "2)(3-p-w", "1)", "3)", header="GRP-etype-infstat")
    assert said(found) == [
        (0, 4, "1", "p", "x"),
        (0, 3, "2", "q", "y"),
        (1, 2, "1", "p", "z"),
        (2, 5, "3", "p", "w"),
    ]
    assert found.entities == ("1", "2", "3")


def test_of_two_open_mentions_of_an_entity_the_later_closes_first() -> None:
    assert said(read("(1-p-a", "(1-p-b", "1)", "1)", header="GRP-etype-x")) == [
        (0, 4, "1", "p", "a"),
        (1, 3, "1", "p", "b"),
    ]


def test_the_last_field_may_hold_hyphens_and_fields_may_be_missing() -> None:
    found = read("(1-p-new-Saint-Denis)(2)(3-q)", header="GRP-etype-infstat-identity")
    assert said(found) == [
        (0, 1, "1", "p", "new-Saint-Denis"),
        (0, 1, "2", "", ""),
        (0, 1, "3", "q", ""),
    ]
    assert said(read("(a-b", "a-b)", header="GRP")) == [(0, 2, "a-b", "", "")]


def test_the_fields_may_stand_in_another_order() -> None:
    assert said(read("(e1-2-person-x)", header="eid-head-etype-other")) == [
        (0, 1, "e1", "person", "2-x")
    ]
    assert said(read("(person-6-new", "person-6)", header="entity-GRP-infstat")) == [
        (0, 2, "6", "person", "new")
    ]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("(person-6", "person-6)"), (0, 2, "6", "person", "")),
        (("(person-6)",), (0, 1, "6", "person", "")),
        (("(6-person", "6)"), (0, 2, "6", "person", "")),
        (("(6-person)",), (0, 1, "6", "person", "")),
        (("(6)",), (0, 1, "6", "", "")),
        (("(6-person-new", "6)"), (0, 2, "6", "person", "new")),
    ],
)
def test_what_labels_mean_without_a_declaration(
    cells: tuple[str, ...], expected: tuple[int, int, str, str, str]
) -> None:
    assert said(read(*cells)) == [expected]


def test_whole_labels_pair_where_kinds_come_first() -> None:
    found = read("(person-6(place-6", "person-6)", "place-6)")
    assert said(found) == [(0, 3, "6", "place", ""), (0, 2, "6", "person", "")]


def test_a_mention_in_pieces() -> None:
    cells = ("(e5[1/3]-p", "e5[1/3])", "(e5-q)", "(e5[2/3]-p)", "", "(e5[3/3]-p(e6", "e6)e5[3/3])")
    found = read(*cells, header="eid-etype")
    assert said(found) == [(0, 7, "e5", "p", ""), (2, 3, "e5", "q", ""), (5, 7, "e6", "", "")]
    assert found.pieces == {0: ((0, 2), (3, 4), (5, 7))}
    assert write_mentions(found, "eid-etype") == {
        0: "(e5[1/3]-p", 1: "e5[1/3])", 2: "(e5-q)", 3: "(e5[2/3]-p)", 5: "(e5[3/3]-p(e6",
        6: "e6)e5[3/3])",
    }  # fmt: skip


def test_two_mentions_in_pieces_at_once() -> None:
    cells = ("(1[1/2])", "(2[1/2])", "(1[2/2])", "(2[2/2](1[1/2]", "1[1/2])2[2/2])", "(1[2/2])")
    found = read(*cells, header="GRP")
    assert found.pieces == {0: ((0, 1), (2, 3)), 1: ((1, 2), (3, 5)), 2: ((3, 5), (5, 6))}
    assert [mention[2] for mention in said(found)] == ["1", "2", "1"]


def test_brackets_that_are_not_pieces_stay_in_the_name() -> None:
    assert said(read("(a[x]-p", "a[x])", header="GRP-etype"))[0][2] == "a[x]"


@pytest.mark.parametrize(
    ("cells", "word", "problem"),
    [
        (("(1",), 0, "'1' is never closed"),
        (("", "1)"), 1, "'1)' was never opened"),
        (("(1-p", "1-p)"), 1, "'1-p)' was never opened"),
        (("(1)", "x"), 1, "'x' in no entity bracket"),
        (("(1)x",), 0, "'x' in no entity bracket"),
        (("()",), 0, "an entity bracket without a label"),
        (("((1)",), 0, "an entity bracket without a label"),
        (("(1", "1))"), 1, "')' was never opened"),
        (("(-p)",), 0, "has no id"),
        (("(1[1/2]-p)",), 0, "only 1 of 2 pieces of '1-p' are there"),
        (("(1[2/2]-p)",), 0, "piece 2 of 2 of '1-p' has no piece before it"),
        (("(1[1/2]-p)", "(1[2/2]-q)"), 1, "has no piece before it"),
        (("(1[1/2]-p", "(1[2/2]-p)", "1[1/2])"), 1, "has no piece before it"),
        (("(1[1/1]-p)",), 0, "piece 1 of 1"),
        (("(1[3/2]-p)",), 0, "piece 3 of 2"),
    ],
)
def test_faults_name_the_word(cells: tuple[str, ...], word: int, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read(*cells, header="GRP-etype")
    assert caught.value.where == f"word {word}"
    assert problem in caught.value.problem


def test_an_empty_attribute_and_a_declaration_without_an_id_are_faults() -> None:
    with pytest.raises(InputError, match="word 1: no entity bracket"):
        read_mentions([(0, "(1)"), (1, "")], None, FLAT, fault)
    with pytest.raises(InputError, match="names no field for the id"):
        read("(1)", header="etype-infstat")


def test_the_head_is_the_highest_word_and_of_several_the_first() -> None:
    #             0  1  2   3  4  5  6
    head = ints([1, 3, 1, -1, 5, 3, 5])
    start, end = ints([0, 0, 4, 6, 2, 4, 0]), ints([3, 7, 6, 7, 5, 7, 3])
    pieces = {6: ((0, 1), (2, 3))}
    assert mention_heads(head, start, end, pieces).tolist() == [1, 3, 5, 6, 3, 5, 0]


def test_a_mention_over_two_sentences_has_the_first_root() -> None:
    assert mention_heads(ints([1, -1, 3, -1]), ints([0]), ints([4])).tolist() == [1]


def test_labels_are_restored_exactly() -> None:
    for header, label in [
        ("GRP", "a-b"),
        ("GRP-etype", "1"),
        ("GRP-etype-infstat-identity", "1-p-new-Saint-Denis"),
        ("GRP-etype-infstat-identity", "1--new"),
        ("eid-head-etype", "e1-2-p"),
        ("etype-GRP", "p-1"),
        ("GRP-minspan", "1-2"),
    ]:
        labels = Labels.declared(header)
        assert labels is not None
        assert labels.label(*labels.parts(label)) == label
        assert tuple(next(iter(column)) for column in labels.columns([label])) == labels.parts(
            label
        )
