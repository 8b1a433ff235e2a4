"""Templates made into sentences, with every mention and every report's verb at its offsets.

A template is text with slots. `{A}` is a mention of entity A as a subject, in whatever words suit;
what may follow the letter:

    {A.o}      not as a subject: never a pronoun          {A.pro} {A.pos} {A.acc}  it, its, it
    {A.s}      Russia's                                   {A.we} {A.our}           in quotations
    {A.nation} as a subject, but never the capital
    {a.the}    the Russian forces (a clause follows)      {a.the.plain}            the forces
    {a.ownP}   his forces (P's)                           {A|the other side}       these words
    {A.adj} {A.an} {A.city} {A.capital}                   words that are no mention
    {X.which}  which or who                               {was} {has} {is}         agreeing words
    {v.past} {v.base} {v.ing} {v.part} {v.noun}           the report's verb
    {day}, {n}, {goods} ...                               fillings of the vocabulary

Two sentences that belong together are divided by ` // `.
"""

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from gnomon.wire.entities import (
    HE,
    IT,
    SHE,
    THEY,
    CountryEntity,
    Entity,
    ForcesEntity,
    OtherEntity,
    Words,
)
from gnomon.wire.vocabulary import ATTACK, FILLINGS, Verb

OTHERS = {
    "residents": THEY,
    "gunmen": THEY,
    "observers": THEY,
    "farmers": THEY,
    "players": THEY,
    "workers": THEY,
    "voters": THEY,
    "council": IT,
    "newspaper": IT,
    "agency": IT,
    "team": IT,
    "woman": SHE,
    "man": HE,
}
"""Entities that templates name in their own words, and their pronouns."""


class Mention(NamedTuple):
    """Characters `start` to `end` (exclusive) of the text, which mention an entity.

    `entity` numbers the article's entities from 0 in order of appearance; `actor` is the country it
    stands for ("" for none), `kind` how it is put, `ambiguous` whether a reader could not know.
    """

    start: int
    end: int
    entity: int
    actor: str
    kind: str
    ambiguous: bool
    text: str


class Fact(NamedTuple):
    """One report: who is said to have done what, how it is put, and where the verb or noun stands.

    `agent` is the place of the agent's mention in the article's mentions, -1 if it has none of its
    own; `actor` and `target` are countries, "" where there is none.
    """

    kind: str
    form: str
    lemma: str
    actor: str
    target: str
    start: int
    end: int
    agent: int
    ambiguous: bool


class Report(NamedTuple):
    """What the sentence being written is to report."""

    kind: str
    form: str
    verb: Verb
    actor: str
    target: str
    ambiguous: bool


Part = str | Callable[["Draft"], None]
Sentence = tuple[Part, ...]


class Draft:
    """An article being written: its text, mentions and facts so far, and who was just mentioned."""

    def __init__(self, random: Random, weekday: str) -> None:
        self.rand = random.random
        self.weekday = weekday
        self.pieces: list[str] = []
        self.at = 0
        self.mentions: list[Mention] = []
        self.facts: list[Fact] = []
        self.starts: list[int] = []
        self.entities = 0
        self.cast: dict[str, Entity] = {}
        self.recent: dict[str, Entity] = {}
        self.sorts: dict[str, Entity | None] = {}
        self.subject: Entity | None = None
        self.topic: Entity | None = None
        self.plural = False
        self.report: Report | None = None
        self.verb = (0, 0)
        self.agent = -1
        self.towns: set[str] = set()
        self.fillings: dict[str, str] = {}

    def salient(self, entity: Entity) -> bool:
        """Whether the entity was the subject before and nothing since takes its pronoun."""
        return self.topic is entity and self.recent.get(entity.pronouns[0]) is entity

    def alone(self, entity: Entity) -> bool:
        """Whether no other entity of its sort has been mentioned."""
        return self.sorts.get(entity.sort, entity) is entity

    def entity(self, key: str) -> Entity:
        """The entity that a slot's letter or word stands for."""
        found = self.cast.get(key)
        if found is None:
            found = self.cast[key] = OtherEntity(key, "", OTHERS[key])
        return found

    def filling(self, key: str) -> str:
        """A word of the vocabulary that stays the same throughout the article."""
        found = self.fillings.get(key)
        if found is None:
            options = FILLINGS[key]
            found = self.fillings[key] = options[int(self.rand() * len(options))]
        return found

    def put(self, text: str) -> None:
        """Appends words that are no mention."""
        self.pieces.append(text)
        self.at += len(text)

    def mention(self, entity: Entity, words: Words, capital: bool, unclear: bool = False) -> int:
        """Appends a mention and says which one it is."""
        text, kind, within, after = words
        if entity.number < 0:
            entity.number = self.entities
            self.entities += 1
        if capital:
            text = text[0].upper() + text[1:]
        start = self.at
        end = start + len(text)
        number = len(self.mentions)
        self.mentions.append(Mention(start, end, entity.number, entity.actor, kind, unclear, text))
        sort = entity.sort
        if self.sorts.setdefault(sort, entity) is not entity:
            self.sorts[sort] = None
        if within is not None:
            left, right, inner, inner_kind = within
            if inner.number < 0:
                inner.number = self.entities
                self.entities += 1
            if self.sorts.setdefault(inner.sort, inner) is not inner:
                self.sorts[inner.sort] = None
            inner.known = inner.known or inner_kind == "name"
            self.mentions.append(
                Mention(
                    start + left, start + right, inner.number, inner.actor, inner_kind, False,
                    text[left:right],
                )
            )  # fmt: skip
        if kind not in _SHORT:
            entity.known = True
        if self.subject is None:
            self.subject = entity
        if sort != "town":
            self.recent[entity.pronouns[0]] = entity
        self.plural = entity.plural
        self.pieces.append(text + after)
        self.at = end + len(after)
        return number

    def write(self, sentence: Sentence, gap: str) -> None:
        """Appends a sentence after a gap, with its fact if it holds the verb of a report."""
        if self.pieces:
            self.put(gap)
        self.starts.append(self.at)
        self.topic, self.subject = self.subject, None
        self.agent = -1
        self.verb = (0, 0)
        for part in sentence:
            if type(part) is str:
                self.pieces.append(part)
                self.at += len(part)
            else:
                part(self)  # type: ignore[operator]
        report = self.report
        if report is not None and self.verb[1]:
            kind, form, verb, actor, target, unclear = report
            self.facts.append(
                Fact(kind, form, verb.lemma, actor, target, *self.verb, self.agent, unclear)
            )
            if unclear:
                # What follows must not depend on who it was, or the words would give it away.
                self.subject = None
                self.recent.clear()

    def text(self) -> str:
        """Everything written so far."""
        return "".join(self.pieces)


_SHORT = frozenset(("pronoun", "possessive", "owned", "nominal"))
"""Kinds of mention that do not say who is meant, so that a longer one must still come."""


def chunk(template: str) -> tuple[Sentence, ...]:
    """A template as one or more sentences ready to be written.

    >>> len(chunk("{A} held an election. // {A} had waited for years."))
    2
    """
    return tuple(_sentence(each) for each in template.split(" // "))


def chunks(templates: str) -> tuple[tuple[Sentence, ...], ...]:
    """Templates, one a line."""
    return tuple(chunk(line.strip()) for line in templates.strip().splitlines() if line.strip())


_SLOT = re.compile(r"\{([A-Za-z]+)(?:\.([A-Za-z.]+))?(?:\|([^}]*))?\}")


def _sentence(template: str) -> Sentence:
    parts: list[Part] = []
    end = 0
    for slot in _SLOT.finditer(template):
        before = template[end : slot.start()]
        if before:
            parts.append(before)
        capital = slot.start() == 0 or before == '"' or before.endswith(', "')
        parts.append(_part(slot[1], slot[2] or "", slot[3], capital))
        end = slot.end()
    if template[end:]:
        parts.append(template[end:])
    return tuple(parts)


def _part(key: str, form: str, words: str | None, capital: bool) -> Part:
    """What writes a slot."""
    if key == "v":
        return _verb(form)
    if key in _AGREEING:
        singular, plural = _AGREEING[key]
        return lambda draft: draft.put(plural if draft.plural else singular)
    if key == "day":
        return lambda draft: draft.put(draft.weekday)
    if key in _STEADY:
        return lambda draft: draft.put(draft.filling(key))
    if key in FILLINGS:
        return _filling(FILLINGS[key])
    if len(key) > 1 and key not in OTHERS:
        raise ValueError(f"unknown slot {key}")
    if form in _PLAIN:
        return _plain(key, _PLAIN[form], capital)
    choose = _words(key, form, words)
    fresh = words is not None and key in OTHERS  # two nurses are two people

    def write(draft: Draft) -> None:
        if fresh:
            draft.cast.pop(key, None)
        entity = draft.entity(key)
        agent = key == "X"
        unclear = agent and draft.report is not None and draft.report.ambiguous
        unclear = unclear or key == "Z"
        number = draft.mention(entity, choose(draft, entity), capital, unclear)
        if agent:
            draft.agent = number

    return write


_STEADY = frozenset(("goods", "plan", "sport"))
_AGREEING = {"was": ("was", "were"), "has": ("has", "have"), "is": ("is", "are")}


def _filling(options: tuple[str, ...]) -> Part:
    count = len(options)
    return lambda draft: draft.put(options[int(draft.rand() * count)])


def _verb(form: str) -> Part:
    field = {"past": 1, "part": 2, "ing": 3, "base": 0, "noun": -1}[form]

    def write(draft: Draft) -> None:
        verb = draft.report.verb if draft.report else ATTACK
        text = verb[field] if field >= 0 else "attack"
        draft.verb = (draft.at, draft.at + len(text))
        draft.put(text)

    return write


def _adjective(draft: Draft, entity: Entity) -> str:
    country = entity.country if isinstance(entity, CountryEntity | ForcesEntity) else None
    assert country is not None, entity.sort
    return country.adjectives[int(draft.rand() * len(country.adjectives))]


def _with_article(draft: Draft, entity: Entity) -> str:
    adjective = _adjective(draft, entity)
    return f"{'an' if adjective[0] in 'AEIO' else 'a'} {adjective}"


def _place(field: str) -> Callable[[Draft, Entity], str]:
    def find(draft: Draft, entity: Entity) -> str:
        assert isinstance(entity, CountryEntity), entity.sort
        return str(getattr(entity.country, field))

    return find


_PLAIN: dict[str, Callable[[Draft, Entity], str]] = {
    "adj": _adjective,
    "an": _with_article,
    "city": _place("city"),
    "capital": _place("capital"),
    "which": lambda draft, entity: "who" if entity.sort == "leader" else "which",
}


def _plain(key: str, find: Callable[[Draft, Entity], str], capital: bool) -> Part:
    def write(draft: Draft) -> None:
        text = find(draft, draft.entity(key))
        draft.put(text[0].upper() + text[1:] if capital else text)

    return write


def _words(key: str, form: str, words: str | None) -> Callable[[Draft, Entity], Words]:
    """What chooses the words of a mention."""
    if words is not None:
        kind = "nominal"
        return lambda draft, entity: Words(words, kind)
    if form in _PRONOUNS:
        place, kind = _PRONOUNS[form]
        return lambda draft, entity: Words(entity.pronouns[place], kind)
    if form in ("we", "our"):
        kind = "pronoun" if form == "we" else "possessive"
        return lambda draft, entity: Words(form, kind)
    if form.startswith("own"):
        owner = form[3:]

        def owned(draft: Draft, entity: Entity) -> Words:
            assert isinstance(entity, ForcesEntity), entity.sort
            return entity.owned(draft.entity(owner))

        return owned
    if form in ("s", "nation"):

        def country(draft: Draft, entity: Entity) -> Words:
            assert isinstance(entity, CountryEntity), entity.sort
            return entity.possessive(draft) if form == "s" else entity.nation(draft)

        return country
    if form.startswith("the") or form == "described":

        def forces(draft: Draft, entity: Entity) -> Words:
            assert isinstance(entity, ForcesEntity), entity.sort
            if form == "the.plain":
                return Words(f"the {entity.noun}", "nominal")
            return entity.definite(draft) if form == "the" else entity.described(draft)

        return forces
    if form not in ("", "o"):
        raise ValueError(f"unknown form {form} of {key}")
    subject = form == ""
    return lambda draft, entity: entity.refer(draft, subject)


_PRONOUNS = {"pro": (0, "pronoun"), "acc": (1, "pronoun"), "pos": (2, "possessive")}
