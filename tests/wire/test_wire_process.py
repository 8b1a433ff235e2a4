"""The process: rates that are what the articles do, dates within range, refusals."""

import datetime
import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gnomon.errors import InputError
from gnomon.wire import Article, articles, truth
from gnomon.wire.process import Process, quarters
from gnomon.wire.vocabulary import COUNTRIES

SINCE, UNTIL = datetime.date(2016, 1, 1), datetime.date(2017, 12, 31)
N = 12_000


@pytest.fixture(scope="module")
def wire() -> list[Article]:
    return list(articles(N, 3, SINCE, UNTIL, ambiguous=0.3))


@given(st.dates(datetime.date(1, 1, 1)), st.integers(0, 4000))
def test_quarters_divide_the_days(since: datetime.date, days: int) -> None:
    until = datetime.date.fromordinal(min(since.toordinal() + days, datetime.date.max.toordinal()))
    found = quarters(since, until)
    assert found[0].first == since
    assert found[-1].last == until
    assert sum(quarter.days for quarter in found) == (until - since).days + 1
    for quarter in found:
        assert {(d.year, (d.month - 1) // 3) for d in (quarter.first, quarter.last)} == {
            (int(quarter.name[:-2]), int(quarter.name[-1]) - 1)
        }
    assert len({quarter.name for quarter in found}) == len(found)


def test_counts_agree_with_the_rates(wire: list[Article]) -> None:
    chance = Process(3, SINCE, UNTIL, 0.3).attack_probability()
    seen: Counter[tuple[str, str]] = Counter()
    for each in wire:
        quarter = f"{each.date.year}Q{(each.date.month + 2) // 3}"
        for row in truth(each):
            seen[quarter, row.actor] += row.attacked
    assert set(seen) <= set(chance)
    # Cells with few expected are pooled, so that chi-square holds.
    large = [(seen[cell], N * p) for cell, p in chance.items() if N * p >= 8]
    small = [(seen[cell], N * p) for cell, p in chance.items() if N * p < 8]
    large.append((sum(s for s, _ in small), sum(e for _, e in small)))
    statistic = sum((s - e) ** 2 / e for s, e in large)
    assert len(large) > 10
    assert stats.chi2.sf(statistic, len(large)) > 1e-4
    assert stats.chi2.cdf(statistic, len(large)) > 1e-4


def test_conflicts_start_and_end() -> None:
    process = Process(0, datetime.date(2010, 1, 1), datetime.date(2019, 12, 31))
    for conflict in process.conflicts:
        rates = [conflict.rate(k) for k in range(len(process.quarters))]
        active = [rate for rate in rates if rate]
        assert 2 <= len(active) < len(rates)
        steps = [math.log(b / a) for a, b in pairwise(active)]
        assert steps == pytest.approx([conflict.slope] * len(steps))
    countries = [side for c in process.conflicts for side in (c.attacker, c.victim)]
    assert len(set(countries)) == len(countries)
    assert sum(process.probabilities) == pytest.approx(1.0)


def test_a_country_without_a_conflict_has_one_rate_a_day() -> None:
    process = Process(0, SINCE, UNTIL)
    fighting = {side for c in process.conflicts for side in (c.attacker, c.victim)}
    chance = process.attack_probability()
    for k, country in enumerate(COUNTRIES):
        daily = {round(chance[q.name, country.code] / q.days, 15) for q in process.quarters}
        assert (len(daily) == 1) == (k not in fighting)


def test_the_ambiguous_share_is_as_set(wire: list[Article]) -> None:
    asserted = [
        [f for f in each.facts if f.kind == "asserted" and f.lemma == "attack"] for each in wire
    ]
    total = sum(bool(facts) for facts in asserted)
    unclear = sum(any(f.ambiguous for f in facts) for facts in asserted)
    assert stats.binomtest(unclear, total, 0.3).pvalue > 1e-4
    marked = sum(row.ambiguous for each in wire for row in truth(each))
    assert marked == unclear


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_no_or_only_ambiguous_reports(share: float) -> None:
    rows = [row for each in articles(400, 1, ambiguous=share) for row in truth(each)]
    attacked = [row.ambiguous for row in rows if row.attacked]
    assert len(attacked) > 20
    assert set(attacked) == {int(share)}


def test_dates_are_within_range(wire: list[Article]) -> None:
    days = {each.date for each in wire}
    assert min(days) == SINCE
    assert max(days) == UNTIL
    one = datetime.date(2020, 2, 29)
    assert {each.date for each in articles(20, 0, one, one)} == {one}


def test_the_last_day_there_is() -> None:
    last = datetime.date.max
    assert {each.date for each in articles(3, 0, last, last)} == {last}


def test_the_same_seed_gives_the_same_articles() -> None:
    long = list(articles(300, 9))
    assert list(articles(100, 9)) == long[:100]
    assert [each.text for each in articles(100, 10)] != [each.text for each in long[:100]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n: 0 documents; ask for 1 or more"),
        ({"n": -3}, "n: -3 documents; ask for 1 or more"),
        ({"seed": -1}, "seed: -1 is negative; give 0 or more"),
        (
            {"since": UNTIL, "until": SINCE},
            "until: 2016-01-01 is before 2017-12-31; give a later day",
        ),
        ({"ambiguous": 1.5}, "ambiguous: 1.5 is not a share; give a number from 0 to 1"),
        ({"ambiguous": math.nan}, "ambiguous: nan is not a share; give a number from 0 to 1"),
    ],
)
def test_refused_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        articles(**{"n": 5, **arguments})  # type: ignore[arg-type]
    assert str(caught.value) == message
