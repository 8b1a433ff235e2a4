"""Texts into documents by the bundled pipeline, and by pipelines of other makes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from gnomon.corpus import parse
from gnomon.corpus.document import Document, tree_fault
from gnomon.corpus.source import Raw
from gnomon.errors import InputError


def parsed(*texts: str) -> list[Document]:
    raws = [Raw(f"d{k}", "text", text, f"line {k}") for k, text in enumerate(texts)]
    found = list(parse.pipeline().parse(raws))
    assert not [f for f in found if isinstance(f, InputError)]
    return [f for f in found if isinstance(f, Document)]


def relation(document: Document, word: str) -> tuple[str, str]:
    """The relation of a word and the word it depends on."""
    k = list(document.form).index(word)
    head = int(document.head[k])
    return document.deprel[k], "" if head < 0 else document.form[head]


def test_words_of_news() -> None:
    [document] = parsed("Georgian towns were attacked by Russian troops on Friday.")
    assert relation(document, "troops") == ("obl:agent", "attacked")
    assert relation(document, "towns") == ("nsubj:pass", "attacked")
    assert relation(document, "Russian") == ("amod", "troops")
    assert document.lemma[3] == "attack"
    assert document.xpos[3] == "VBN"
    assert "Number=Plur" in document.feats[1]


def test_conjoined_verbs_relative_clauses_and_quotes() -> None:
    one, two, three = parsed(
        "The rebels crossed the river and attacked the village.",
        "The soldiers who attacked the school fled.",
        '"We will not attack anyone," said the minister.',
    )
    assert relation(one, "attacked") == ("conj", "crossed")
    assert relation(two, "attacked")[0] == "acl:relcl"
    assert relation(three, "We") == ("nsubj", "attack")
    assert relation(three, "minister") == ("nsubj", "said")


def test_gender_and_number_are_in_the_morphology() -> None:
    [document] = parsed("She said they had seen him.")
    assert "Gender=Fem" in document.feats[0]
    assert "Number=Plur" in document.feats[2]
    assert "Gender=Masc" in document.feats[5]
    assert document.feats[6] == ""


def test_names_are_found() -> None:
    [document] = parsed("Maria Keller of the United Nations arrived in Berlin on Monday.")
    marks = dict(zip(document.form, document.misc, strict=True))
    assert marks["Maria"] == "Name=B-person"
    assert marks["Keller"] == "Name=I-person"
    assert marks["Berlin"] == "Name=B-place"
    assert marks["arrived"] == ""


def test_blanks_and_line_ends_are_no_words() -> None:
    [document] = parsed("  One  sentence\there .\r\n\r\n\r\n Another\u00a0one\u2003came.\n\n \n")
    assert not [word for word in document.form if not word.strip()]
    assert document.paragraph.tolist() == [0, 1]
    assert document.text() == "One sentence here .\n\nAnother one came."


def test_words_stand_where_the_text_has_them() -> None:
    text = "He didn't go. \n\nThe U.S.-led force (two-thirds of it) can't stay."
    [document] = parsed(text)
    starts, ends = document.offsets()
    whole = document.text()
    assert whole == "He didn't go.\n\nThe U.S.-led force (two-thirds of it) can't stay."
    found = [whole[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    assert found == list(document.form)


def test_a_text_without_words_is_an_error_and_the_others_are_parsed() -> None:
    raws = [Raw("a", "text", " \n ", "a"), Raw("b", "text", "Yes.", "b"), Raw("c", "text", "", "c")]
    first, second, third = parse.pipeline().parse(raws)
    assert isinstance(first, InputError)
    assert isinstance(second, Document)
    assert second.id == "b"
    assert isinstance(third, InputError)
    assert "no text" in str(third)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = "The minister spoke to the press. " * 2000
    [document] = parsed(text)
    assert len(document) == 7 * 2000
    assert document.paragraph.tolist() == [0]
    assert document.sentences == 2000


def test_a_word_without_end() -> None:
    [document] = parsed("a" * 50_000)
    assert "".join(document.form) == "a" * 50_000


def test_what_is_parsed_together_does_not_matter() -> None:
    texts = ["The army attacked.", "Nobody was hurt. They left.", "Why?\n\nBecause."]
    together = parsed(*texts)
    for k, text in enumerate(texts):
        alone = parsed(*texts[:k], text)[-1]
        assert alone.same_as(together[k])


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=200))
def test_any_text_gives_trees_or_a_reason(text: str) -> None:
    found = next(parse.pipeline().parse([Raw("x", "text", text, "x")]))
    if isinstance(found, Document):
        assert tree_fault(found.head, found.sentence) is None
        assert not [word for word in found.form if not word or word.isspace()]
        assert len(found.sentence) - 1 == int(np.sum(found.head == -1))


@pytest.fixture
def clearnlp(tmp_path: Path) -> Iterator[str]:
    """A pipeline on the disk that speaks ClearNLP, and knows one sentence by heart."""
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    words = ["Towns", "were", "hit", "by", "troops", "."]
    doc = Doc(
        nlp.vocab,
        words=words,
        spaces=[True] * 4 + [False] * 2,
        tags=["NNS", "VBD", "VBN", "IN", "NNS", "."],
        heads=[2, 2, 2, 2, 3, 2],
        deps=["nsubjpass", "auxpass", "ROOT", "agent", "pobj", "punct"],
    )
    examples = [spacy.training.Example(nlp.make_doc(doc.text), doc)]
    # Labels of a parser are those it has seen, and these tell one scheme from the other.
    labels: Any = nlp.get_pipe("parser")
    labels.add_label("dobj")
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    rules: Any = nlp.add_pipe("attribute_ruler")
    for tag, pos in {"NNS": "NOUN", "VBD": "AUX", "VBN": "VERB", "IN": "ADP", ".": "PUNCT"}.items():
        rules.add([[{"TAG": tag}]], {"POS": pos})
    nlp.to_disk(tmp_path / "clear")
    yield str(tmp_path / "clear")
    parse.pipeline.cache_clear()


def test_a_clearnlp_pipeline_gives_universal_dependencies(clearnlp: str) -> None:
    [document] = parse.pipeline(clearnlp).parse(
        [Raw("x", "text", "Towns were hit by troops.", "x")]
    )
    assert isinstance(document, Document)
    assert relation(document, "troops") == ("obl:agent", "hit")
    assert relation(document, "by") == ("case", "troops")
    assert relation(document, "Towns") == ("nsubj:pass", "hit")
    assert relation(document, "were") == ("aux:pass", "hit")


def test_a_pipeline_that_is_not_there() -> None:
    with pytest.raises(InputError, match="en_nowhere_xl: it cannot be loaded"):
        parse.pipeline("en_nowhere_xl")


def test_a_pipeline_without_a_parser(tmp_path: Path) -> None:
    nlp: Language = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "poor")
    with pytest.raises(InputError, match="it has no parser and no tagger"):
        parse.pipeline(str(tmp_path / "poor"))
