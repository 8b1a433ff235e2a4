"""What is true of an article and an actor, counted from the article's facts."""

import datetime
from typing import NamedTuple

from gnomon.wire.compose import Article
from gnomon.wire.vocabulary import ATTACK


class Truth(NamedTuple):
    """One actor in one article; each of the middle columns is 1 if the text has such a report.

    `attacked`: the text asserts that the actor attacked, with the verb "attack" (active, passive,
    relative clause or conjoined) and the country, its forces or its general as the agent.
    `ambiguous`: it does, but nothing in the text tells which of the two sides it was.
    `violent`: the same with another verb (shell, bomb, raid, invade, bombard, storm).
    `nominal`, `negated`, `future`, `attributed`, `ordered`: "attack" as a noun, denied, foretold or
    threatened, said by somebody, or ordered. `figurative`, `other_sense`: a plan was attacked, a
    heart attack. `victim`: the actor was attacked, by whomever. `mentions`: how often it is
    mentioned, its forces and leaders included.
    """

    document: str
    date: datetime.date
    actor: str
    attacked: int
    ambiguous: int
    violent: int
    nominal: int
    negated: int
    future: int
    attributed: int
    ordered: int
    figurative: int
    other_sense: int
    victim: int
    mentions: int


_FIRST = Truth._fields.index("attacked")
_PLACE = {name: place - _FIRST for place, name in enumerate(Truth._fields)}
_VICTIM, _MENTIONS = _PLACE["victim"], _PLACE["mentions"]
_WIDTH = len(Truth._fields) - _FIRST


def truth(article: Article) -> list[Truth]:
    """The truth about every actor that an article mentions or reports on, by actor.

    >>> from gnomon.wire import articles
    >>> [(row.actor, row.attacked, row.victim) for row in truth(next(articles(1)))]
    [('COL', 1, 0), ('RUS', 0, 1)]
    """
    rows: dict[str, list[int]] = {}
    for mention in article.mentions:
        actor = mention[3]
        if actor:
            row = rows.get(actor)
            if row is None:
                row = rows[actor] = [0] * _WIDTH
            row[_MENTIONS] += 1
    clear = set()
    for kind, _, lemma, actor, target, _, _, _, unclear in article.facts:
        asserted = kind == "asserted"
        if target and (asserted or kind == "agentless") and lemma == ATTACK.lemma:
            rows.setdefault(target, [0] * _WIDTH)[_VICTIM] = 1
        if not actor:
            continue
        row = rows.setdefault(actor, [0] * _WIDTH)
        if lemma != ATTACK.lemma:
            if asserted:
                row[_PLACE["violent"]] = 1
        elif asserted:
            row[_PLACE["attacked"]] = 1
            row[_PLACE["ambiguous"]] = 1
            if not unclear:
                clear.add(actor)
        else:
            row[_PLACE[kind]] = 1
    for actor in clear:
        rows[actor][_PLACE["ambiguous"]] = 0
    return [Truth(article.id, article.date, actor, *rows[actor]) for actor in sorted(rows)]
