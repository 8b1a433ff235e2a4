"""The articles: their mentions, their reports and how they read."""

import datetime
import re
from collections import Counter, defaultdict
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.wire import Article, articles
from gnomon.wire.compose import article
from gnomon.wire.process import Process
from gnomon.wire.reports import KINDS, REPORTS, SENSES
from gnomon.wire.vocabulary import COUNTRIES

DATES = (datetime.date(2015, 1, 1), datetime.date(2019, 12, 31))
PRONOUNS = re.compile(r"\b(?:it|they|them|he|she|him|its|their|his|her|we|us|our|I)\b", re.I)
MENTION_KINDS = {
    "name", "metonym", "described", "demonym", "owned", "titled", "surname", "title", "nominal",
    "pronoun", "possessive", "place", "both",
}  # fmt: skip


@pytest.fixture(scope="module")
def wire() -> list[Article]:
    return list(articles(2000, seed=0))


def sentences(each: Article) -> list[str]:
    ends = [*each.sentences[1:], len(each.text)]
    return [each.text[a:b].strip() for a, b in zip(each.sentences, ends, strict=True)]


@settings(max_examples=40)
@given(st.integers(0, 2**40), st.integers(0, 2**40))
def test_offsets_are_exact(seed: int, k: int) -> None:
    process = Process(seed, *DATES)
    each = article(process, k)
    for mention in each.mentions:
        assert each.text[mention.start : mention.end] == mention.text
        assert mention.text == mention.text.strip() != ""
    for fact in each.facts:
        verb = each.text[fact.start : fact.end]
        assert verb.startswith(fact.lemma[:4])
        assert not each.text[fact.end].isalpha()


def test_mentions_nest_and_do_not_cross(wire: list[Article]) -> None:
    for each in wire[:500]:
        open_ends: list[int] = []
        for mention in each.mentions:
            open_ends = [end for end in open_ends if end > mention.start]
            assert all(mention.end <= end for end in open_ends), each.id
            open_ends.append(mention.end)
        assert [m.start for m in each.mentions] == sorted(m.start for m in each.mentions)


def test_every_pronoun_has_its_referent(wire: list[Article]) -> None:
    for each in wire:
        known = {m.start for m in each.mentions if m.kind in ("pronoun", "possessive")}
        found = {match.start() for match in PRONOUNS.finditer(each.text)}
        assert known == found, each.text


def test_entities_are_numbered_as_they_appear_and_keep_their_actor(wire: list[Article]) -> None:
    for each in wire[:500]:
        actors: dict[int, str] = {}
        for mention in each.mentions:
            assert actors.setdefault(mention.entity, mention.actor) == mention.actor
        assert sorted(actors) == list(range(len(actors)))
        assert {actor for actor in actors.values() if actor} <= {c.code for c in COUNTRIES}


def test_a_pronoun_fits_its_entity(wire: list[Article]) -> None:
    classes = {"it": "it", "its": "it", "they": "they", "their": "they", "them": "they",
               "he": "he", "his": "he", "him": "he", "she": "she", "her": "she"}  # fmt: skip
    for each in wire:
        used: dict[int, set[str]] = defaultdict(set)
        for mention in each.mentions:
            if mention.kind in ("pronoun", "possessive") and mention.text.lower() in classes:
                used[mention.entity].add(classes[mention.text.lower()])
        assert all(len(found) == 1 for found in used.values()), each.text


def test_every_kind_of_mention_and_report_occurs(wire: list[Article]) -> None:
    assert {m.kind for each in wire for m in each.mentions} == MENTION_KINDS
    found = {(f.kind, f.form) for each in wire for f in each.facts}
    planned = {
        (kind, form)
        for group in (REPORTS, SENSES)
        for kind, forms in group.items()
        for form in forms
    }
    assert found == planned
    assert {kind for kind, _ in found} == set(KINDS)
    lemmas = {f.lemma for each in wire for f in each.facts if f.kind == "asserted"}
    assert lemmas == {"attack", "shell", "bomb", "raid", "invade", "bombard", "storm"}
    agents = {
        each.mentions[f.agent].kind for each in wire for f in each.facts if f.kind == "asserted"
    }
    assert agents >= {"name", "described", "nominal", "pronoun", "metonym", "demonym", "surname"}


def test_the_agent_of_a_report_belongs_to_the_actor(wire: list[Article]) -> None:
    for each in wire:
        for fact in each.facts:
            if fact.agent >= 0:
                assert each.mentions[fact.agent].actor == fact.actor
            assert fact.agent >= 0 or fact.kind not in ("asserted", "ordered", "attributed")


def test_no_word_of_attack_is_left_out(wire: list[Article]) -> None:
    stems = re.compile(r"\b(?:attack|shell|bomb|raid|invad|bombard|storm)\w*", re.I)
    for each in wire:
        found = [match.start() for match in stems.finditer(each.text)]
        assert found == [fact.start for fact in each.facts], each.text


def test_an_attacker_is_somewhere_said_to_be_of_its_country(wire: list[Article]) -> None:
    words = {
        c.code: [n.removeprefix("the ") for n in c.names] + list(c.adjectives) for c in COUNTRIES
    }
    for each in wire:
        texts: dict[int, list[str]] = defaultdict(list)
        for mention in each.mentions:
            texts[mention.entity].append(mention.text)
        for fact in each.facts:
            if fact.kind == "asserted":
                said = " ".join(texts[each.mentions[fact.agent].entity])
                assert any(word in said for word in words[fact.actor]), each.text


def test_an_ambiguous_agent_has_two_candidates_in_the_sentence_before() -> None:
    process = Process(5, *DATES, ambiguous=1.0)
    seen = 0
    for k in range(600):
        each = article(process, k)
        for fact in each.facts:
            if not fact.ambiguous:
                continue
            seen += 1
            agent = each.mentions[fact.agent]
            assert agent.ambiguous
            assert agent.kind in ("pronoun", "nominal")
            sentence = max(s for s in each.sentences if s <= agent.start)
            before = max(s for s in each.sentences if s < sentence)
            nouns = {
                m.entity: m.text.split()[-1]
                for m in each.mentions
                if before <= m.start < sentence and m.actor in (fact.actor, fact.target)
                and m.kind == "described"
            }  # fmt: skip
            assert len(nouns) == 2
            assert len(set(nouns.values())) == 1
            assert agent.entity in nouns
    assert seen > 100


def test_the_truth_of_an_ambiguous_report_changes_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of the draws turns the attacker round and leaves every word where it is."""

    class Turned(Random):
        turned, drawn = -1, 0

        def random(self) -> float:
            drawn = super().random()
            self.drawn += 1
            return (drawn + 0.5) % 1 if self.drawn == Turned.turned else drawn

    monkeypatch.setattr("gnomon.wire.compose.Random", Turned)
    process = Process(7, *DATES, ambiguous=1.0)
    seen = 0
    for k in range(60):
        Turned.turned = -1
        each = article(process, k)
        if not each.facts or not each.facts[0].ambiguous:
            continue
        seen += 1
        for place in range(60):
            Turned.turned = place
            other = article(process, k)
            if other.text == each.text and other.facts and other.facts[0] != each.facts[0]:
                break
        else:
            pytest.fail(f"the words of {each.id} depend on who attacked")
        assert (other.date, other.title) == (each.date, each.title)
        assert (other.facts[0].actor, other.facts[0].target) == (
            each.facts[0].target,
            each.facts[0].actor,
        )
        changed = [
            one.ambiguous
            for one, two in zip(each.mentions, other.mentions, strict=True)
            if one != two
        ]
        assert changed == [True, True]
    assert seen > 5


def test_the_words_do_not_tell_who_attacked() -> None:
    """Of the two forces, the one named first is the attacker half of the time."""
    process = Process(6, *DATES, ambiguous=1.0)
    first = total = 0
    for k in range(3000):
        each = article(process, k)
        for fact in each.facts:
            if fact.ambiguous:
                forces = [m for m in each.mentions if m.actor and m.kind == "described"]
                total += 1
                first += forces[0].actor == fact.actor
    assert abs(first - total / 2) < 4 * (total / 4) ** 0.5


def test_length_and_layout(wire: list[Article]) -> None:
    words = Counter[int]()
    for each in wire:
        assert 5 <= len(each.sentences) <= 14
        assert 2 <= len(each.text.split("\n\n")) <= 5
        assert not re.search(r"  | [.,]|\.\.|,,|,\.|\n\n\n|^\s|\s$|[{}|]", each.text), each.text
        assert each.title
        assert not re.search(r"[{}]|^[a-z]", each.title)
        for sentence in sentences(each):
            assert sentence[0].isupper() or (sentence[0] == '"' and sentence[1].isupper()), sentence
            assert sentence.endswith("."), sentence
            assert sentence.count('"') % 2 == 0, sentence
            words[len(sentence.split())] += 1
    assert min(words) >= 6
    assert max(words) <= 30


def test_agreement(wire: list[Article]) -> None:
    bad = re.compile(
        r"\b(?:forces|troops|soldiers|they) (?:was|has|is)\b"
        r"|\b(?:army|military|it) (?:were|have|are)\b"
        r"|\ba [AEIOaeio]\w|\b[Aa]n (?!hour)[^aeiouAEIOU\W]|\bthe the\b|\bof of\b"
    )
    for each in wire:
        assert not bad.search(each.text), bad.search(each.text)


def test_the_wire_is_varied(wire: list[Article]) -> None:
    assert len({each.text for each in wire}) == len(wire)
    assert len({each.id for each in wire}) == len(wire)
    openings = Counter(sentences(each)[0] for each in wire)
    assert openings.most_common(1)[0][1] <= 10
