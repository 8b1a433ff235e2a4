"""Mentions found in hand-made trees, in any tree at all, and in the gold trees of GUM."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from gnomon.corpus import conllu
from gnomon.corpus.document import Document, Mentions, ints
from gnomon.corpus.source import Raw
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError
from gnomon.models.coref.mentions import SCHEMES, check, detect, given


def document(*sentences: str) -> Document:
    """A document of sentences written "form/UPOS/head/deprel", with "/XPOS" where it matters."""
    lines = []
    for sentence in sentences:
        for k, word in enumerate(sentence.split(), 1):
            form, upos, head, deprel, *xpos = word.split("/")
            tag = xpos[0] if xpos else "_"
            lines.append("\t".join([str(k), form, form, upos, tag, "_", head, deprel, "_", "_"]))
        lines.append("")
    return conllu.parse(Raw("made", "conllu", "\n".join(lines) + "\n", "made.conllu"))


def texts(found: Mentions, of: Document) -> list[str]:
    words = list(of.form)
    spans = zip(found.start.tolist(), found.end.tolist(), strict=True)
    return [" ".join(words[a:b]) for a, b in spans]


def found(sentence: str, scheme: str = "gum") -> list[str]:
    made = document(sentence)
    return texts(detect(made, scheme), made)


def test_a_preposition_is_outside_and_what_follows_inside() -> None:
    sentence = (
        "With/ADP/3/case the/DET/3/det keys/NOUN/11/obl of/ADP/6/case her/PRON/6/nmod:poss/PRP$"
        " car/NOUN/3/nmod that/PRON/9/nsubj/WDT had/AUX/9/aux vanished/VERB/6/acl:relcl"
        " she/PRON/11/nsubj/PRP left/VERB/0/root ./PUNCT/11/punct"
    )
    assert found(sentence) == [
        "the keys of her car that had vanished",
        "her car that had vanished",
        "her",
        "she",
    ]


def test_a_predicate_noun_is_without_its_subject() -> None:
    sentence = (
        "But/CCONJ/6/cc Ada/PROPN/6/nsubj is/AUX/6/cop not/PART/6/advmod my/PRON/6/nmod:poss/PRP$"
        " boss/NOUN/0/root now/ADV/6/advmod ,/PUNCT/6/punct sadly/ADV/6/advmod"
    )
    assert found(sentence) == ["Ada", "my boss", "my"]


def test_the_possessive_ending_is_inside() -> None:
    sentence = "Paul/PROPN/3/nmod:poss 's/PART/1/case dog/NOUN/4/nsubj barks/VERB/0/root"
    assert found(sentence) == ["Paul 's dog", "Paul 's"]


def test_questions_and_expletives_are_no_mentions() -> None:
    sentence = (
        "Who/PRON/2/nsubj/WP knows/VERB/0/root what/PRON/6/obj/WP there/PRON/5/expl/EX"
        " is/VERB/2/ccomp you/PRON/5/nsubj/PRP"
    )
    assert found(sentence) == ["you"]
    rains = "It/PRON/2/expl/PRP rains/VERB/0/root"
    assert found(rains) == ["It"]  # as GUM does
    assert found(rains, "ontonotes") == []


MAYOR = (
    "Eve/PROPN/9/nsubj Lund/PROPN/1/flat ,/PUNCT/5/punct the/DET/5/det mayor/NOUN/1/appos"
    " of/ADP/7/case Oslo/PROPN/5/nmod ,/PUNCT/5/punct spoke/VERB/0/root"
)


def test_an_apposition_is_apart_in_gum_and_inside_in_ontonotes() -> None:
    assert found(MAYOR) == ["Eve Lund", "the mayor of Oslo", "Oslo"]
    assert found(MAYOR, "ontonotes") == [
        "Eve Lund , the mayor of Oslo",
        "Eve Lund",
        "the mayor of Oslo",
        "Oslo",
    ]


CATS = (
    "Cats/NOUN/4/nsubj and/CCONJ/3/cc dogs/NOUN/1/conj sleep/VERB/0/root ,/PUNCT/4/punct"
    " while/SCONJ/9/mark he/PRON/9/nsubj/PRP still/ADV/9/advmod reads/VERB/4/advcl"
)


def test_any_coordination_may_corefer_in_ontonotes() -> None:
    assert found(CATS) == ["Cats", "dogs", "he"]
    assert found(CATS, "ontonotes") == ["Cats and dogs", "Cats", "dogs", "he"]


def test_conjuncts_that_share_all_are_one_mention_in_gum() -> None:
    sentence = (
        "The/DET/2/det shape/NOUN/8/nsubj and/CCONJ/4/cc weight/NOUN/2/conj of/ADP/7/case"
        " the/DET/7/det stone/NOUN/2/nmod matter/VERB/0/root"
    )
    assert found(sentence) == ["The shape and weight of the stone", "the stone"]
    names = "Ann/PROPN/4/nsubj and/CCONJ/3/cc Bo/PROPN/1/conj met/VERB/0/root"
    assert found(names) == ["Ann and Bo", "Ann", "Bo"]


def test_conjoined_verbs_make_no_coordination_of_nouns() -> None:
    sentence = (
        "Max/PROPN/4/nsubj is/AUX/4/cop a/DET/4/det cook/NOUN/0/root and/CCONJ/6/cc"
        " sings/VERB/4/conj"
    )
    for scheme in SCHEMES:
        assert found(sentence, scheme) == ["Max", "a cook"]


STATION = (
    "the/DET/4/det Oslo/PROPN/4/compound bus/NOUN/4/compound station/NOUN/0/root"
    " in/ADP/7/case Hyde/PROPN/7/compound Park/PROPN/4/nmod"
)


def test_modifying_nouns_are_mentions_in_gum_but_not_inside_names() -> None:
    assert found(STATION) == ["the Oslo bus station in Hyde Park", "Oslo", "bus", "Hyde Park"]
    assert found(STATION, "ontonotes") == [
        "the Oslo bus station in Hyde Park",
        "Oslo",
        "Hyde Park",
        "Hyde",
    ]


def test_a_hyphenated_modifier_is_none() -> None:
    sentence = "a/DET/5/det tree/NOUN/4/compound -/PUNCT/2/punct lined/VERB/5/amod road/NOUN/0/root"
    assert found(sentence) == ["a tree - lined road"]


def test_idioms_and_amounts_hold_no_mention_in_gum() -> None:
    sentence = (
        "For/ADP/2/case example/NOUN/8/obl ,/PUNCT/2/punct a/DET/5/det lot/NOUN/8/nsubj"
        " of/ADP/7/case people/NOUN/5/nmod sing/VERB/0/root"
    )
    assert found(sentence) == ["a lot of people"]
    assert found(sentence, "ontonotes") == ["example", "a lot of people", "people"]
    told = sentence.replace("a/DET/5/det", "an/DET/5/det").replace("lot/", "army/")
    assert found(told) == ["an army of people", "people"]


def test_quotation_marks_and_brackets_stay_in_pairs() -> None:
    quoted = (
        "the/DET/3/det “/PUNCT/3/punct eyes/NOUN/6/nsubj ”/PUNCT/3/punct ,/PUNCT/3/punct"
        " shone/VERB/0/root"
    )
    assert found(quoted) == ["the “ eyes ”"]
    outside = "“/PUNCT/2/punct Eyes/NOUN/0/root ”/PUNCT/2/punct"
    assert found(outside) == ["Eyes"]
    bracket = (
        "the/DET/2/det vote/NOUN/7/nsubj of/ADP/4/case 2001/NUM/2/nmod (/PUNCT/6/punct"
        " May/PROPN/4/nmod:unmarked fell/VERB/0/root )/PUNCT/7/punct"
    )
    assert found(bracket)[0] == "the vote of 2001 ( May"


def test_numbers_symbols_determiners_and_adjectives_in_a_nouns_place() -> None:
    sentence = (
        "In/ADP/2/case 1999/NUM/5/obl the/DET/4/det rich/ADJ/5/nsubj gave/VERB/0/root"
        " some/DET/5/obj of/ADP/9/case the/DET/9/det money/NOUN/6/nmod to/ADP/11/case"
        " each/DET/5/obl other/ADJ/11/amod ,/PUNCT/5/punct happy/ADJ/5/xcomp"
    )
    assert found(sentence) == [
        "1999",
        "the rich",
        "some of the money",
        "the money",
        "each other",
    ]


def test_the_unit_of_a_clock_time_is_no_mention() -> None:
    assert found("At/ADP/2/case 5/NUM/0/root pm/NOUN/2/nmod:unmarked") == ["5 pm"]


def test_the_clause_that_it_stands_for_is_a_mention_in_gum() -> None:
    sentence = (
        "It/PRON/3/expl/PRP is/AUX/3/cop hard/ADJ/0/root to/PART/5/mark say/VERB/3/csubj"
        " why/ADV/5/advmod ./PUNCT/3/punct"
    )
    assert found(sentence) == ["It", "to say why"]
    assert found(sentence, "ontonotes") == []


def test_a_name_may_be_meant_without_its_year() -> None:
    sentence = (
        "Smith/PROPN/5/nsubj (/PUNCT/3/punct 2001/NUM/1/nmod:unmarked )/PUNCT/3/punct"
        " agrees/VERB/0/root"
    )
    assert found(sentence) == ["Smith ( 2001 )", "2001"]
    assert found(sentence, "ontonotes") == ["Smith ( 2001 )", "Smith", "2001"]


def test_an_unknown_subtype_counts_as_its_base() -> None:
    sentence = "three/NUM/2/nummod:gov days/NOUN/3/obl:tmod passed/VERB/0/root"
    assert found(sentence) == ["three days"]


def test_case_of_letters_does_not_matter() -> None:
    sentence = "IN/ADP/2/case Fact/NOUN/4/obl she/PRON/4/nsubj/PRP won/VERB/0/root"
    assert found(sentence) == ["she"]


# One rule each: the sentence, what GUM's scheme finds and what OntoNotes' does.
RULES = {
    "a number that names": (
        "See/VERB/0/root Table/NOUN/1/obj 2/NUM/2/dep",
        ["Table 2", "2"],
        ["Table 2", "2"],
    ),
    "a pronoun with its noun": (
        "You/PRON/2/dep/PRP lot/NOUN/3/nsubj go/VERB/0/root",
        ["You lot", "You"],
        ["You lot", "You"],
    ),
    "a range of years": (
        "from/ADP/2/case 1914/NUM/0/root –/SYM/4/case 1918/NUM/2/nmod",
        ["1914", "1918"],
        ["1914", "1918"],
    ),
    "a clause that trails": (
        "He/PRON/2/nsubj/PRP met/VERB/0/root Ann/PROPN/2/obj ,/PUNCT/5/punct"
        " singing/VERB/3/acl/VBG",
        ["He", "Ann"],
        ["He", "Ann , singing"],
    ),
    "a clause that does not": (
        "He/PRON/2/nsubj/PRP met/VERB/0/root boys/NOUN/2/obj singing/VERB/3/acl/VBG",
        ["He", "boys singing"],
        ["He", "boys singing"],
    ),
    "a name beside a name": (
        "Lake/PROPN/3/nsubj Inari/PROPN/1/appos froze/VERB/0/root",
        ["Lake Inari", "Inari"],
        ["Lake Inari", "Lake", "Inari"],
    ),
    "what follows an apposition": (
        "a/DET/2/det bird/NOUN/8/nsubj ,/PUNCT/5/punct the/DET/5/det kiwi/NOUN/2/appos"
        " of/ADP/7/case home/NOUN/2/nmod died/VERB/0/root",
        ["a bird", "the kiwi", "home"],
        ["a bird , the kiwi of home", "a bird", "the kiwi", "home"],
    ),
    "an oblique with of": (
        "the/DET/2/det stoning/NOUN/0/root of/ADP/4/case thieves/NOUN/2/obl at/ADP/6/case"
        " dawn/NOUN/2/obl",
        ["the stoning of thieves", "thieves", "dawn"],
        ["the stoning of thieves", "thieves", "dawn"],
    ),
    "an adverb that belongs": (
        "nobody/PRON/3/nsubj/NN else/ADV/1/advmod came/VERB/0/root",
        ["nobody else"],
        ["nobody else"],
    ),
    "an adverb that does not": (
        "nobody/PRON/3/nsubj/NN yesterday/ADV/1/advmod came/VERB/0/root",
        ["nobody"],
        ["nobody"],
    ),
    "some of them": (
        "Give/VERB/0/root to/ADP/3/case some/DET/1/obl of/ADP/5/case them/PRON/3/nmod/PRP",
        ["some of them", "them"],
        ["some of them", "them"],
    ),
    "a determiner alone": (
        "Give/VERB/0/root to/ADP/3/case some/DET/1/obl",
        [],
        [],
    ),
    "an adjective that is a name": (
        "Turn/VERB/0/root at/ADP/3/case Main/ADJ/1/obl/NNP or/CCONJ/5/cc left/ADJ/3/conj/JJ",
        ["Main"],
        ["Main"],
    ),
    "places": (
        "We/PRON/2/nsubj/PRP live/VERB/0/root here/ADV/2/advmod now/ADV/2/advmod",
        ["We", "here"],
        ["We", "here"],
    ),
    "a name of several words in a name": (
        "New/ADJ/2/amod/JJ York/PROPN/3/compound Times/PROPN/0/root",
        ["New York Times", "New York"],
        ["New York Times", "New York"],
    ),
    "a year that modifies": (
        "the/DET/3/det 1998/NUM/3/compound games/NOUN/0/root",
        ["the 1998 games", "1998"],
        ["the 1998 games"],
    ),
    "a place after a name": (
        "Ann/PROPN/4/nsubj from/ADP/3/case Rome/PROPN/1/nmod left/VERB/0/root",
        ["Ann from Rome", "Rome"],
        ["Ann from Rome", "Ann", "Rome"],
    ),
    "one determiner for two": (
        "a/DET/2/det man/NOUN/5/nsubj or/CCONJ/4/cc woman/NOUN/2/conj sang/VERB/0/root",
        ["a man or woman", "a man", "woman"],
        ["a man or woman", "a man", "woman"],
    ),
    "a phrase after two": (
        "men/NOUN/6/nsubj or/CCONJ/3/cc women/NOUN/1/conj of/ADP/5/case age/NOUN/1/nmod"
        " sang/VERB/0/root",
        ["men or women of age", "men", "women", "age"],
        ["men or women of age", "men", "women", "age"],
    ),
    "two modifiers": (
        "an/DET/5/det oak/NOUN/5/compound or/CCONJ/4/cc ash/NOUN/2/conj door/NOUN/0/root",
        ["an oak or ash door", "oak", "ash"],
        ["an oak or ash door", "ash"],
    ),
    "a bracket of another": (
        "a/DET/4/det (/PUNCT/3/punct big/ADJ/4/amod dog/NOUN/6/nsubj )/PUNCT/6/punct"
        " ran/VERB/0/root",
        ["a ( big dog"],
        ["a ( big dog"],
    ),
    "a bracket that was not opened": (
        "(/PUNCT/4/punct the/DET/3/det dogs/NOUN/4/nsubj ran/VERB/0/root in/ADP/6/case"
        " Rome/PROPN/3/nmod )/PUNCT/6/punct",
        ["the dogs ran in Rome", "Rome"],
        ["the dogs ran in Rome", "Rome"],
    ),
    "a bracket within": (
        "the/DET/2/det cup/NOUN/0/root of/ADP/4/case tea/NOUN/2/nmod (/PUNCT/6/punct"
        " green/ADJ/4/amod )/PUNCT/6/punct ”/PUNCT/2/punct",
        ["the cup of tea ( green )", "tea ( green )"],
        ["the cup of tea ( green )", "tea ( green )"],
    ),
    "a clause before its verb": (
        "To/PART/2/mark win/VERB/4/csubj is/AUX/4/cop hard/ADJ/0/root",
        [],
        [],
    ),
    "a subtype with a rule of its own": (
        "Ann/PROPN/0/root ,/PUNCT/5/punct who/PRON/5/nsubj/WP is/AUX/5/aux"
        " singing/VERB/1/acl:relcl/VBG",
        ["Ann , who is singing"],
        ["Ann , who is singing"],
    ),
    "two names that modify": (
        "the/DET/5/det Ann/PROPN/5/compound and/CCONJ/4/cc Bo/PROPN/2/conj show/NOUN/0/root",
        ["the Ann and Bo show", "Ann", "Bo"],
        ["the Ann and Bo show", "Ann", "Bo"],
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule(rule: str) -> None:
    sentence, gum, ontonotes = RULES[rule]
    assert found(sentence, "gum") == gum
    assert found(sentence, "ontonotes") == ontonotes


def test_every_mention_is_an_entity_of_its_own() -> None:
    made = document(MAYOR, CATS)
    mentions = detect(made)
    assert mentions.entity.tolist() == [*range(len(mentions))]
    assert mentions.head.tolist() == [0, 4, 6, 9, 11, 15]
    assert {column.dtype for column in (mentions.start, mentions.end, mentions.head)} == {
        np.dtype(np.int32)
    }


def test_sentences_do_not_see_each_other() -> None:
    apart = [found(sentence) for sentence in (MAYOR, CATS, STATION)]
    made = document(MAYOR, CATS, STATION)
    assert texts(detect(made), made) == [text for each in apart for text in each]


def test_the_annotation_is_not_looked_at() -> None:
    made = document(MAYOR)
    gold = Mentions(ints([0]), ints([9]), ints([0]), ints([0]), ("1",))
    annotated = dataclasses.replace(made, mentions=gold, misc=Strings.all_equal("Entity=(1)", 9))
    assert detect(annotated).same_as(detect(made))


def test_words_of_a_whole_part_may_be_shared() -> None:
    made = document(MAYOR)
    shared = Strings(made.form.codes + 3, ("x", "y", "z", *made.form.values))
    assert detect(dataclasses.replace(made, form=shared)).same_as(detect(made))


def test_an_empty_document_has_none() -> None:
    made = document(CATS)
    none = np.zeros(0, dtype=np.int64)
    empty = dataclasses.replace(
        made, head=ints(), sentence=ints([0]), space_after=np.zeros(0, dtype=np.bool_),
        **{name: getattr(made, name)[none] for name in ("form", "lemma", "upos", "xpos", "feats",
                                                        "deprel")},
    )  # fmt: skip
    for scheme in SCHEMES:
        assert len(detect(empty, scheme)) == 0


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(InputError) as error:
        detect(document(CATS), "ace")
    assert str(error.value) == "scheme: 'ace' is not a scheme; give one of: gum, ontonotes"


def test_what_is_no_tree_is_refused() -> None:
    made = document(CATS)
    circle = dataclasses.replace(made, head=ints([1, 0, 0, -1, 3, 8, 8, 8, 3]))
    with pytest.raises(InputError) as error:
        detect(circle)
    assert str(error.value) == (
        "document made, sentence 1: a cycle of heads; give a dependency tree for every sentence"
    )


# --- any tree

TAGS = ["NOUN", "PROPN", "PRON", "NUM", "DET", "ADJ", "ADV", "VERB", "PUNCT", "X", "SYM"]
LABELS = [
    "acl", "acl:relcl", "advmod", "amod", "appos", "case", "cc", "compound", "conj", "csubj", "dep",
    "det", "expl", "flat", "list", "nmod", "nmod:desc", "nmod:new", "nmod:poss", "nmod:unmarked",
    "nsubj", "nummod", "obj", "obl", "parataxis", "punct", "root", "_",
]  # fmt: skip
FORMS = ["a", "“", "”", '"', "(", ")", "-", "of", "each", "other", "For", "example", "here", ","]
PENN = ["NN", "VBG", "WP", "NNP", ""]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document with trees of any shape and tags that need not make sense."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
    head: list[int] = []
    for size in sizes:
        order = draw(st.permutations(range(size)))
        above = [-1] * size
        for k in range(1, size):
            above[order[k]] = order[draw(st.integers(0, k - 1))] + len(head)
        head += above

    def column(values: list[str]) -> Strings:
        return Strings.of(
            draw(st.lists(st.sampled_from(values), min_size=len(head), max_size=len(head)))
        )

    form = column(FORMS)
    return Document(
        id="any",
        form=form,
        lemma=form,
        upos=column(TAGS),
        xpos=column(PENN),
        feats=Strings.all_equal("", len(head)),
        head=ints(head),
        deprel=column(LABELS),
        space_after=np.ones(len(head), dtype=np.bool_),
        sentence=ints([0, *np.cumsum(sizes).tolist()]),
    )


@drawn(documents(), st.sampled_from(SCHEMES))
def test_mentions_of_any_tree_are_sound(any_document: Document, scheme: str) -> None:
    mentions = detect(any_document, scheme)
    check(mentions, any_document)
    own = any_document.sentence_of()
    assert np.array_equal(own[mentions.start], own[mentions.end - 1])
    spans = list(zip(mentions.start.tolist(), (-mentions.end).tolist(), strict=True))
    assert spans == sorted(set(spans))
    assert detect(any_document, scheme).same_as(mentions)
    punct = any_document.upos.is_in({"PUNCT"})
    assert not (punct[mentions.start] & (mentions.start != mentions.head)).any()


@drawn(documents(), st.sampled_from(SCHEMES))
def test_every_plain_noun_heads_a_mention(any_document: Document, scheme: str) -> None:
    noun = any_document.upos.is_in({"NOUN", "PROPN"})
    plain = any_document.deprel.is_in({"nsubj", "root"})
    heads = set(np.flatnonzero(noun & plain).tolist())
    mentions = detect(any_document, scheme)
    # A phrase that another phrase's span equals is that other mention.
    lost = heads - set(mentions.head.tolist())
    assert all(
        any(a <= w < b for a, b in zip(mentions.start, mentions.end, strict=True)) for w in lost
    )


# --- gold mentions


def test_given_mentions_have_entities_and_nothing_else() -> None:
    gold = Mentions(
        ints([0, 0, 0, 4]), ints([2, 7, 2, 7]), ints([0, 0, 0, 4]), ints([1, 0, 2, 0]),
        ("9", "4", "7"), Strings.of(["person", "person", "place", "person"]),
        Strings.of(["new", "old", "new", "old"]), {1: ((0, 2), (5, 7))},
    )  # fmt: skip
    made = dataclasses.replace(document(MAYOR), mentions=gold)
    mentions = given(made)
    assert mentions.start.tolist() == [0, 0, 4]  # the hull first, then what it contains
    assert mentions.end.tolist() == [7, 2, 7]
    assert mentions.entity.tolist() == [0, 1, 0]  # of two mentions at one place the first
    assert mentions.entities == ("9", "4", "7")
    assert not any(mentions.kind)
    assert not any(mentions.attributes)
    assert not mentions.pieces


def test_given_mentions_may_be_none_but_must_be_annotated() -> None:
    made = document(CATS)
    assert len(given(dataclasses.replace(made, mentions=Mentions()))) == 0
    with pytest.raises(InputError) as error:
        given(made)
    assert str(error.value) == (
        "document made: its mentions are not annotated; give one that has them, or `detect`"
    )


@pytest.mark.parametrize(
    ("start", "end", "head", "problem"),
    [
        (8, 10, 8, "mention 2: words 8 to 10 are not in the document, which has 9 words"),
        (-1, 1, 0, "mention 2: words -1 to 1 are not in the document, which has 9 words"),
        (3, 3, 3, "mention 2: words 3 to 3 are no words"),
        (3, 5, 5, "mention 2: head 5 is not among words 3 to 5"),
        (3, 5, 2, "mention 2: head 2 is not among words 3 to 5"),
    ],
)
def test_mentions_outside_their_document_are_refused(
    start: int, end: int, head: int, problem: str
) -> None:
    made = document(CATS)
    bad = Mentions(ints([0, start]), ints([9, end]), ints([0, head]), ints([0, 1]))
    with pytest.raises(InputError) as error:
        check(bad, made)
    assert str(error.value) == f"document made, {problem}; give mentions of this document"
    with pytest.raises(InputError):
        given(dataclasses.replace(made, mentions=bad))


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(InputError, match="have lengths 2, 1, 1, 0"):
        check(Mentions(ints([0, 1]), ints([2]), ints([0]), ints()), document(CATS))


# --- gold trees


def recall_and_precision(path: Path, scheme: str) -> tuple[float, float]:
    gold = hits = candidates = 0
    for each in conllu.read(path):
        true = given(each)
        mentions = detect(each, scheme)
        check(mentions, each)
        sides = [set(zip(m.start.tolist(), m.end.tolist(), strict=True)) for m in (true, mentions)]
        gold += len(sides[0])
        candidates += len(sides[1])
        hits += len(sides[0] & sides[1])
    return hits / gold, hits / candidates


def test_nineteen_of_twenty_ontonotes_mentions_are_found(data: Path) -> None:
    recall, precision = recall_and_precision(data / "ontogum" / "dev.conllu.gz", "ontonotes")
    assert recall >= 0.95
    assert precision >= 0.42


def test_gum_mentions_are_found(data: Path) -> None:
    recall, precision = recall_and_precision(data / "gum" / "dev.conllu.gz", "gum")
    assert recall >= 0.91
    assert precision >= 0.86
