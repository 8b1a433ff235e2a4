"""PDTB attributes: discourse relations in and out."""

import pytest

from gnomon.corpus.document import Relation
from gnomon.corpus.relations import read_relations, write_relations
from gnomon.errors import InputError


def fault(word: int, problem: str, remedy: str) -> InputError:
    return InputError(f"word {word}", problem, remedy)


def test_relations_of_one_word_and_of_several() -> None:
    cells = [
        (3, "Explicit:Contingency.Cause:because:4:1-3:5-6,8;EntRel:EntRel:_:_:1:2"),
        (5, "AltLex:A.B:it 's: that:4,6-7:1:_"),
    ]
    relations = read_relations(cells, 8, fault)
    assert relations == (
        Relation(
            "Explicit", "Contingency.Cause", "because", ((3, 4),), ((0, 3),), ((4, 6), (7, 8)), 3
        ),
        Relation("EntRel", "EntRel", "", (), ((0, 1),), ((1, 2),), 3),
        Relation("AltLex", "A.B", "it 's: that", ((3, 4), (5, 7)), ((0, 1),), (), 5),
    )
    assert write_relations(relations) == dict(cells)


@pytest.mark.parametrize(
    "spans",
    [
        "0",
        "9",
        "3-2",
        "2-9",
        "",
        "1,",
        "1-",
        "-1",
        "a",
        "1-2-3",
        "3,1",
        "1-3,3",
        "²",
        "1 ",
        "9" * 5000,
    ],
)
@pytest.mark.parametrize("field", [0, 1, 2])
def test_wrong_spans_are_faults(spans: str, field: int) -> None:
    fields = ["1", "2", "3"]
    fields[field] = spans
    with pytest.raises(InputError, match="are not spans of the document's 8 words") as caught:
        read_relations([(4, "Explicit:A:b:" + ":".join(fields))], 8, fault)
    assert caught.value.where == "word 4"


@pytest.mark.parametrize("cell", ["", "Explicit", "a:b:c:1:2", "a:b:c:1:2:3;"])
def test_missing_fields_are_faults(cell: str) -> None:
    with pytest.raises(InputError, match=r"has \d fields, not 6"):
        read_relations([(0, cell)], 8, fault)
