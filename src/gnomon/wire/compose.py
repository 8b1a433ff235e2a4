"""Articles: what each is to report is drawn first, then the sentences are written around it."""

import datetime
from collections.abc import Iterator, Sequence
from itertools import accumulate
from random import Random
from typing import NamedTuple, TypeVar

from gnomon.errors import InputError
from gnomon.wire.entities import (
    BothEntity,
    CountryEntity,
    ForcesEntity,
    LeaderEntity,
    TownEntity,
)
from gnomon.wire.process import ASSERTED, RETALIATED, Process
from gnomon.wire.reports import (
    AMBIGUOUS_REPORTS,
    AMBIGUOUS_SETUPS,
    REPORTS,
    SENSES,
    SETUPS,
    Template,
)
from gnomon.wire.sentences import Draft, Fact, Mention, Report, Sentence
from gnomon.wire.stories import (
    BACKGROUND,
    DETAILS,
    FIGHTING_LEADS,
    FIGHTING_TITLES,
    REACTIONS,
    TOPICS,
)
from gnomon.wire.vocabulary import ATTACK, COUNTRIES, FORCES, OTHER_VERBS

SINCE, UNTIL = datetime.date(2015, 1, 1), datetime.date(2019, 12, 31)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_Item = TypeVar("_Item")


class Article(NamedTuple):
    """A news article with everything that is true of it; offsets count characters of `text`.

    `sentences` holds where each sentence starts, `facts` every report of an attack in the text.
    """

    id: str
    date: datetime.date
    title: str
    text: str
    mentions: tuple[Mention, ...]
    facts: tuple[Fact, ...]
    sentences: tuple[int, ...]


class _Step(NamedTuple):
    """Sentences to write, and what they report if they report something.

    `agent` is the letter of the agent (see `reports`), `main` whether it is about the story's town.
    """

    sentences: tuple[Sentence, ...]
    template: Template | None = None
    agent: str = ""
    by_first: bool = True
    other_verb: bool = False
    main: bool = False


class _Shares:
    """Named outcomes with their shares, drawn by a uniform number."""

    def __init__(self, **share: float) -> None:
        self.names = tuple(share)
        self.ends = tuple(accumulate(share.values()))

    def draw(self, uniform: float) -> str:
        for name, end in zip(self.names, self.ends, strict=True):
            if uniform < end:
                return name
        return self.names[-1]


# What the main report is if it does not assert an attack with that verb.
_OTHER_MAIN = _Shares(
    violent=0.26, attributed=0.2, future=0.16, nominal=0.14, negated=0.12, ordered=0.12
)
_EXTRA = _Shares(
    attributed=0.2, future=0.16, nominal=0.14, negated=0.12, ordered=0.1, agentless=0.12,
    figurative=0.1, violent=0.06,
)  # fmt: skip
_ASIDE = _Shares(
    figurative=0.34, other_sense=0.24, nominal=0.12, attributed=0.08, future=0.08, negated=0.07,
    ordered=0.04, agentless=0.03,
)  # fmt: skip
_LIGHT_ASIDE = _Shares(figurative=0.5, other_sense=0.5)
_ANY_VERB = frozenset(("negated", "future", "attributed", "ordered", "agentless"))
# Kinds after which a reader would ask what has happened at all.
_NEEDS_LEAD = frozenset(("negated", "future", "ordered"))
_ASSERTED_FORM = _Shares(active=0.4, conjoined=0.25, passive=0.2, relative=0.15)
_AGENT = _Shares(f=0.55, c=0.3, g=0.15)


def articles(
    n: int,
    seed: int = 0,
    since: datetime.date = SINCE,
    until: datetime.date = UNTIL,
    *,
    ambiguous: float = 0.1,
) -> Iterator[Article]:
    """The first n (1 or more) articles of a seed's wire, dated from `since` to `until`.

    `ambiguous` is the share of main reports of an attack whose agent no reader can know, from 0 to
    1. Article k depends on k and the other arguments only, so a longer wire starts with a shorter.

    >>> first = next(articles(1, seed=1))
    >>> first.id, first.date.isoformat(), len(first.sentences)
    ('w1-0000001', '2019-11-04', 6)
    """
    if n < 1:
        raise InputError("n", f"{n} documents", "ask for 1 or more")
    process = Process(seed, since, until, ambiguous)
    return (article(process, k) for k in range(n))


def article(process: Process, k: int) -> Article:
    """Article k (0 is the first) of a process's wire."""
    random = Random((process.seed << 64) | k)
    rand = random.random
    quarter, conflict, stray = process.choose(rand())
    date = quarter.first + datetime.timedelta(days=int(rand() * quarter.days))
    draft = Draft(random, _DAYS[date.weekday()])
    if conflict is not None:
        first, second = conflict.attacker, conflict.victim
    else:
        first = int(rand() * len(COUNTRIES))
        second = (first + 1 + int(rand() * (len(COUNTRIES) - 1))) % len(COUNTRIES)
    if conflict is not None or stray:
        title, steps = _fighting(draft, first, second, process.ambiguous)
    else:
        title, steps = _peace(draft, first, second)
    _write(draft, steps)
    return Article(
        f"w{process.seed}-{k + 1:07d}",
        date,
        title,
        draft.text(),
        tuple(draft.mentions),
        tuple(draft.facts),
        tuple(draft.starts),
    )


def _pick(draft: Draft, items: Sequence[_Item]) -> _Item:
    return items[int(draft.rand() * len(items))]


def _some(draft: Draft, items: Sequence[_Item], count: int) -> list[_Item]:
    """Some items, none twice, in random order."""
    left = list(items)
    return [left.pop(int(draft.rand() * len(left))) for _ in range(min(count, len(left)))]


def _cast(draft: Draft, first: int, second: int, alike: bool) -> None:
    """The entities of a story; where it is to be ambiguous, both forces have the same noun."""
    rand, cast = draft.rand, draft.cast
    one, two = (CountryEntity(COUNTRIES[k]) for k in (first, second))
    cast["A"], cast["B"] = one, two
    if alike:
        noun = FORCES[int(rand() * 3)]
        cast["a"], cast["b"] = ForcesEntity(one, noun), ForcesEntity(two, noun)
    else:
        cast["a"], cast["b"] = ForcesEntity.drawn(one, draft), ForcesEntity.drawn(two, draft)
    # One head of government and one foreign minister, so that "the president" is one person.
    head = rand() < 0.5
    cast["P"] = LeaderEntity(one, one.country.leaders[0 if head else 1])
    cast["Q"] = LeaderEntity(two, two.country.leaders[1 if head else 0])
    cast["W"] = BothEntity()


def _report(draft: Draft, kind: str, by_first: bool, main: bool = False) -> _Step:
    """A step that makes a report of a kind ("violent" is an assertion with another verb)."""
    rand = draft.rand
    told = "asserted" if kind == "violent" else kind
    forms = REPORTS.get(told) or SENSES[told]
    form = _ASSERTED_FORM.draw(rand()) if told == "asserted" else _pick(draft, tuple(forms))
    template = _pick(draft, forms[form])
    while template.agents == "g" and not main:  # a second general would make two of "the general"
        template = _pick(draft, forms[form])
    agents = template.agents
    agent = agents if len(agents) == 1 else _AGENT.draw(rand())
    while agent not in agents or (agent == "g" and not main):
        agent = _AGENT.draw(rand())
    sentences = template.sentences
    if main and told == "asserted" and len(sentences) == 1 and rand() < 0.45:
        sentences = (_pick(draft, SETUPS[agent]), *sentences)
    other = kind == "violent" or (told in _ANY_VERB and form != "under" and rand() < 0.2)
    return _Step(sentences, template, agent, by_first, other, main)


def _fighting(draft: Draft, first: int, second: int, ambiguous: float) -> tuple[str, list[_Step]]:
    """The headline and the steps of a story of attack and defense."""
    rand = draft.rand
    asserted = rand() < ASSERTED
    unclear = asserted and rand() < ambiguous
    _cast(draft, first, second, unclear)
    cast = draft.cast
    town = _pick(draft, COUNTRIES[second].towns)
    victim = cast["B"]
    assert isinstance(victim, CountryEntity)
    cast["S"] = TownEntity(None if unclear else victim, town)
    draft.towns.add(town.name)
    opening: list[_Step] = []
    extras: list[_Step] = []
    if unclear:
        if rand() < 0.6:
            opening.append(_Step(_pick(draft, FIGHTING_LEADS)))
        opening.append(_ambiguous(draft))
    else:
        kind = "asserted" if asserted else _OTHER_MAIN.draw(rand())
        if kind in _NEEDS_LEAD or rand() < 0.25:
            opening.append(_Step(_pick(draft, FIGHTING_LEADS)))
        opening.append(_report(draft, kind, True, main=True))
        if asserted and rand() < RETALIATED:
            extras.append(_report(draft, "asserted", False))
        if asserted and rand() < 0.3:
            extras.append(_report(draft, "asserted", True))
        while len(extras) < 3 and rand() < 0.4:
            extras.append(_report(draft, _EXTRA.draw(rand()), rand() < 0.5))
    room = 5 + int(rand() * 7) - _length(opening) - _length(extras)
    details = _fill(draft, DETAILS, 0.3 * room)
    background = _fill(draft, BACKGROUND, 0.3 * room)
    reactions = _fill(draft, REACTIONS, room - _length(details) - _length(background))
    middle = [*reactions, *extras]
    steps = [*opening, *details, *_some(draft, middle, len(middle)), *background]
    return _title(draft, _pick(draft, FIGHTING_TITLES)), steps


def _ambiguous(draft: Draft) -> _Step:
    """A step after which nobody can say which of the two forces attacked the other.

    The words do not depend on who it was: the draw below decides the truth and nothing else.
    """
    cast, rand = draft.cast, draft.rand
    one, two = cast["a"], cast["b"]
    cast["M"], cast["N"] = (one, two) if rand() < 0.5 else (two, one)
    cast["X"], cast["Z"] = (one, two) if rand() < 0.5 else (two, one)
    form, report = _pick(draft, AMBIGUOUS_REPORTS)
    template = Template("asserted", form, "f", (_pick(draft, AMBIGUOUS_SETUPS), report))
    return _Step(template.sentences, template, "?", main=True)


def _peace(draft: Draft, first: int, second: int) -> tuple[str, list[_Step]]:
    """The headline and the steps of a story about something else."""
    rand = draft.rand
    _cast(draft, first, second, False)
    topic = _pick(draft, TOPICS)
    which = int(rand() * len(topic.leads))
    steps = [_Step(topic.leads[which])]
    if rand() < 0.3:
        shares = _LIGHT_ASIDE if topic.name in ("sport", "museum") else _ASIDE
        steps.append(_report(draft, shares.draw(rand()), rand() < 0.5))
    body = _fill(draft, topic.body, 5 + int(rand() * 8) - _length(steps))
    steps[1:] = _some(draft, [*steps[1:], *body], len(steps) + len(body))
    return _title(draft, topic.titles[which]), steps


def _length(steps: Sequence[_Step]) -> int:
    return sum(len(step.sentences) for step in steps)


def _fill(draft: Draft, pool: Sequence[tuple[Sentence, ...]], room: float) -> list[_Step]:
    """Steps from a pool, none twice, until there are as many sentences as there is room for."""
    left = list(pool)
    found: list[_Step] = []
    while room > 0 and left:
        step = _Step(left.pop(int(draft.rand() * len(left))))
        found.append(step)
        room -= len(step.sentences)
    return found


def _title(draft: Draft, pattern: str) -> str:
    one, two = draft.cast["A"], draft.cast["B"]
    assert isinstance(one, CountryEntity)
    assert isinstance(two, CountryEntity)
    town = draft.cast.get("S")
    return pattern.format(
        A=one.country.plain,
        B=two.country.plain,
        Acity=one.country.city,
        Bcity=two.country.city,
        town=town.town.name if isinstance(town, TownEntity) else "",
        goods=draft.filling("goods"),
        sport=draft.filling("sport"),
    )


def _write(draft: Draft, steps: Sequence[_Step]) -> None:
    """Writes the steps in two to five paragraphs."""
    most = max(2, min(5, (len(steps) + 1) // 2))
    paragraphs = 2 + int(draft.rand() * (most - 1))
    breaks = {round(each * len(steps) / paragraphs) for each in range(1, paragraphs)}
    for place, step in enumerate(steps):
        gap = "\n\n" if place in breaks else " "
        if step.template is not None:
            draft.report = _bind(draft, step)
        for sentence in step.sentences:
            draft.write(sentence, gap)
            gap = " "
        draft.report = None


def _bind(draft: Draft, step: _Step) -> Report:
    """Gives the letters of a report's template their entities, and says what it reports."""
    cast = draft.cast
    template = step.template
    assert template is not None
    verb = _pick(draft, OTHER_VERBS) if step.other_verb else ATTACK
    if step.agent == "?":
        cast["T"] = cast["S"]
        actor, target = cast["X"].actor, cast["Z"].actor
        return Report(template.kind, template.form, verb, actor, target, True)
    own, other = ("AaP", "BbQ") if step.by_first else ("BbQ", "AaP")
    country, victim = cast[own[0]], cast[other[0]]
    assert isinstance(country, CountryEntity)
    assert isinstance(victim, CountryEntity)
    cast["C"], cast["F"], cast["K"] = country, cast[own[1]], cast[own[2]]
    cast["D"], cast["L"] = victim, cast[other[2]]
    aimed = template.kind not in SENSES
    if aimed:
        cast["T"] = cast["S"] if step.main else _another_town(draft, victim)
    if step.agent == "g":
        cast["X"] = LeaderEntity(country, country.country.general)
    else:
        cast["X"] = cast[{"c": "C", "f": "F", "k": "K"}[step.agent]]
    reported = template.kind != "agentless"
    return Report(
        template.kind,
        template.form,
        verb,
        country.actor if reported else "",
        victim.actor if aimed else "",
        False,
    )


def _another_town(draft: Draft, country: CountryEntity) -> TownEntity:
    """A town of a country that the article has not named, so that reports cannot contradict."""
    used = draft.towns
    town = next(town for town in country.country.towns if town.name not in used)
    used.add(town.name)
    return TownEntity(country, town)
