"""The known process behind the wire: which quarter, which conflict, and so how often who attacks.

Time is cut into calendar quarters, and within a quarter nothing changes. Peaceful news and stray
incidents come at constant rates; a conflict has a first and a last quarter and a rate that is
log-linear between them, sometimes flat. So a difference between two quarters is real or it is not.
"""

import datetime
import math
from bisect import bisect_right
from itertools import accumulate
from random import Random
from typing import NamedTuple

from gnomon.errors import InputError
from gnomon.wire.vocabulary import COUNTRIES

PEACE, STRAY = 0.6, 0.15
"""Rates a day of peaceful articles and of articles about incidents between any two countries."""

CONFLICTS = 6
ASSERTED = 0.52
"""The share of an attack story's articles whose main report asserts an attack with that verb."""
RETALIATED = 0.15
"""The share of those, if clear, in which the victim is said to have attacked as well."""


class Quarter(NamedTuple):
    """A calendar quarter as far as it lies within the dates asked for; both days belong to it."""

    name: str
    first: datetime.date
    last: datetime.date

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.last - self.first).days + 1


class Conflict(NamedTuple):
    """One country attacks another from quarter `start` to quarter `end` (exclusive).

    Its rate a day is `level` in the first quarter and changes by a factor exp(`slope`) a quarter.
    """

    attacker: int
    victim: int
    start: int
    end: int
    level: float
    slope: float

    def rate(self, quarter: int) -> float:
        """Articles a day in a quarter, relative to PEACE and STRAY."""
        if not self.start <= quarter < self.end:
            return 0.0
        return self.level * math.exp(self.slope * (quarter - self.start))


class Choice(NamedTuple):
    """What an article is about: its quarter and its conflict, or None and whether it is a stray."""

    quarter: Quarter
    conflict: Conflict | None
    stray: bool


class Process:
    """The quarters, the conflicts drawn for a seed, and the probability of everything that counts.

    >>> process = Process(0, datetime.date(2015, 1, 1), datetime.date(2016, 2, 29))
    >>> [quarter.name for quarter in process.quarters]
    ['2015Q1', '2015Q2', '2015Q3', '2015Q4', '2016Q1']
    >>> process.quarters[-1].days
    60
    """

    def __init__(
        self, seed: int, since: datetime.date, until: datetime.date, ambiguous: float = 0.1
    ) -> None:
        if until < since:
            raise InputError("until", f"{until} is before {since}", "give a later day")
        if not 0 <= ambiguous <= 1:
            raise InputError(
                "ambiguous", f"{ambiguous} is not a share", "give a number from 0 to 1"
            )
        if seed < 0:
            raise InputError("seed", f"{seed} is negative", "give 0 or more")
        self.seed, self.since, self.until, self.ambiguous = seed, since, until, ambiguous
        self.quarters = quarters(since, until)
        self.conflicts = _conflicts(seed, len(self.quarters))
        self.choices: list[Choice] = []
        weights: list[float] = []
        for k, quarter in enumerate(self.quarters):
            self.choices += (Choice(quarter, None, False), Choice(quarter, None, True))
            weights += (quarter.days * PEACE, quarter.days * STRAY)
            for conflict in self.conflicts:
                if rate := conflict.rate(k):
                    self.choices.append(Choice(quarter, conflict, False))
                    weights.append(quarter.days * rate)
        total = math.fsum(weights)
        self.probabilities = [weight / total for weight in weights]
        self._ends = list(accumulate(self.probabilities))
        self._ends[-1] = 1.0

    def choose(self, uniform: float) -> Choice:
        """What an article is about, for a uniform number in [0, 1)."""
        return self.choices[bisect_right(self._ends, uniform)]

    def attack_probability(self) -> dict[tuple[str, str], float]:
        """For each quarter and actor, how likely an article is to be from it and assert an attack.

        >>> process = Process(0, datetime.date(2015, 1, 1), datetime.date(2019, 12, 31))
        >>> each = process.attack_probability()
        >>> len(each), round(sum(each.values()), 2)
        (500, 0.26)
        """
        chance = {(q.name, c.code): 0.0 for q in self.quarters for c in COUNTRIES}
        # An ambiguous report is of either side's attack, with equal chances and no retaliation.
        clear, unclear = ASSERTED * (1 - self.ambiguous), ASSERTED * self.ambiguous
        first, second = clear + unclear / 2, clear * RETALIATED + unclear / 2
        for choice, probability in zip(self.choices, self.probabilities, strict=True):
            if choice.stray:
                for country in COUNTRIES:
                    chance[choice.quarter.name, country.code] += (
                        probability * (first + second) / len(COUNTRIES)
                    )
            elif choice.conflict:
                for side, share in (
                    (choice.conflict.attacker, first),
                    (choice.conflict.victim, second),
                ):
                    chance[choice.quarter.name, COUNTRIES[side].code] += probability * share
        return chance


def quarters(since: datetime.date, until: datetime.date) -> tuple[Quarter, ...]:
    """The calendar quarters that have a day between two dates, cut off at them.

    >>> [q.name for q in quarters(datetime.date(2019, 12, 31), datetime.date(2020, 1, 1))]
    ['2019Q4', '2020Q1']
    """
    found = []
    first = since
    while first <= until:
        number = (first.month + 2) // 3
        last_month = 3 * number
        days = 31 if last_month in (3, 12) else 30
        last = min(datetime.date(first.year, last_month, days), until)
        found.append(Quarter(f"{first.year}Q{number}", first, last))
        if last == until:
            break
        first = last + datetime.timedelta(days=1)
    return tuple(found)


def _conflicts(seed: int, quarter_count: int) -> tuple[Conflict, ...]:
    rand = Random(f"gnomon wire conflicts {seed}").random
    places = list(range(len(COUNTRIES)))
    found = []
    for _ in range(CONFLICTS):
        attacker, victim = (places.pop(int(rand() * len(places))) for _ in range(2))
        length = min(quarter_count, 2 + int(rand() * max(1, quarter_count // 2)))
        start = int(rand() * (quarter_count - length + 1))
        level = 0.1 + 0.25 * rand()
        slope = (-0.25, -0.1, 0.0, 0.0, 0.1, 0.25)[int(rand() * 6)]
        # A rate that grows for many quarters would drown the rest of the news.
        slope = min(slope, 1.0 / length)
        found.append(Conflict(attacker, victim, start, start + length, level, slope))
    return tuple(found)
