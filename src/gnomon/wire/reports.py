"""Sentences that report an attack, or hold the word in another sense, by kind and form.

In them X is the agent (the country, its forces or its general), C the agent's country, F its
forces, K its leader, D the other country, L that country's leader, T the town. Every template
lists by letters which agents suit it: c(ountry), f(orces), g(eneral).
"""

from typing import NamedTuple

from gnomon.wire.sentences import Sentence, chunk


class Template(NamedTuple):
    """A way to put a report: its kind and form, the agents that suit it, its sentences."""

    kind: str
    form: str
    agents: str
    sentences: tuple[Sentence, ...]


KINDS = (
    "asserted", "nominal", "negated", "future", "attributed", "ordered", "agentless", "figurative",
    "other_sense",
)  # fmt: skip

_REPORTS = """
asserted active
cfg {X} {v.past} {T.o} on {day}, officials said.
cfg {X} {v.past} {T.o} {hour} on {day}.
cfg On {day}, {X} {v.past} {T.o} from the {side}.
fg  {X} {v.past} {T.o} {hour} and met little resistance.
cfg {X} {v.past} several farms near {T.o} {hour} on {day}.
cf  {X} {v.past} {T.o} for the second time in a month.
cfg Without warning, {X} {v.past} {T.o} on {day}.
fg  {X} {v.past} {T.o} with tanks and about {hundreds} men.
cf  {X} twice {v.past} the area around {T.o} on {day}.
cfg By the end of {day}, {X} had {v.part} {T.o} and {n} smaller places nearby.
f   {X} reached the river {hour} and waited. // {X} {v.past} {T.o} when the fog lifted.
fg  {X} spent the night in the hills above {T.o}. // {X} {v.past} the area {hour}.
cf  {C} broke the truce on {day}. // {X} {v.past} {T.o} {hour} that day.
g   {X} took command at the border {ago}. // On {day} {X} {v.past} {T.o} {hour}.

asserted passive
cfg {T} was {v.part} by {X.o} on {day}.
cfg {T} was {v.part} {hour} by {X.o}.
cfg On {day}, {T} was {v.part} by {X.o}, the second such incident this year.
cf  Two bridges near {T.o} were {v.part} by {X.o} {hour}.
cfg Roads and farms around {T.o} were {v.part} by {X.o} during the day.
f   {D.nation} was {v.part} by {X.o} on {day}, and the fighting went on until evening.
cf  {T} had been {v.part} by {X.o} {hour}, local officials confirmed.

asserted relative
f   {X.the} that {v.past} {T.o} on {day} later withdrew.
f   {X.the} that {v.past} {T.o} came from a base {nn} kilometers away.
cg  {X.o}, {X.which} {v.past} {T.o} {ago}, made no comment on {day}.
f   {L} visited {T.o} and spoke of {X.the} that {v.past} the area.
cg  {L} met relatives of the victims and blamed {X.o}, {X.which} {v.past} {T.o} {ago}.
f   Satellite pictures show {X.the} that {v.past} {T.o} {hour} on {day}.

asserted conjoined
cfg {X} crossed the border and {v.past} {T.o} on {day}.
fg  {X} left the barracks {hour} and {v.past} {T.o}.
cfg {X} ignored the ceasefire and {v.past} {T.o} {hour}.
f   {X} gathered in the {side}, advanced along the river and {v.past} {T.o}.
c   {X} broke off the talks, closed the border and {v.past} {T.o}.
fg  {X} surrounded {T.o}, cut the roads and {v.past} the center {hour}.

nominal attack
cfg An {v.noun} by {X.o} on {T.o} left {n} people dead.
cf  The {v.noun} on {T.o} by {X.o} lasted most of the night.
c   {X.an} {v.noun} on {T.o} forced hundreds of families to leave.
c   The {X.adj} {v.noun} on {T.o} was the largest this year.
c   {X.s} {v.noun} on {T.o} drew criticism from several neighbors.
f   Schools near {T.o} stayed closed after an {v.noun} by {X.o}.

negated not
cf  {X} did not {v.base} {T.o}, in spite of days of warnings.
cfg {X} never {v.past} {T.o}, an inquiry found on {day}.
f   {X} stopped short of the border and did not {v.base} {T.o}.
cf  No evidence has been found that {X.o} {v.past} {T.o}.

negated denied
c   {X} firmly denied {v.ing} {T.o} on {day}.
c   {X} again denied {v.ing} {T.o} or any other place on {day}.
g   {X} denied {v.ing} {T.o} and called for an inquiry.
f   {K} denied that {X.o} had {v.part} {T.o}.

future will
cf  {X} will {v.base} {T.o} if the talks fail, a newspaper in {D.capital} wrote.
f   {K} said {X.ownK} would {v.base} {T.o} unless the road was opened.
f   {X} {is} expected to {v.base} {T.o} {when}.

future may
cfg {X} may {v.base} {T.o} {when}, diplomats believe.
cf  Many people in the region fear that {X.o} could {v.base} {T.o} {when}.
f   If the truce ends, {X} might {v.base} {T.o}, according to a study.

future threat
c   {X} threatened to {v.base} {T.o} {when}.
cfg {X} threatened on {day} to {v.base} {T.o} and nearby villages.
f   {X} {is} preparing to {v.base} {T.o}, two diplomats said.
c   {X} has made plans to {v.base} {T.o}, a leaked report suggests.

attributed said
cfg {L} said that {X.o} had {v.part} {T.o}.
cf  According to {L.o}, {X.o} {v.past} {T.o} {hour}.
cf  {D} claimed on {day} that {X.o} had {v.part} {T.o}.
cf  Several residents told a radio station that {X.o} had {v.part} {T.o}.
cfg {L} told reporters that {T.o} had been {v.part} by {X.o}.
f   A blog in {D.capital} claimed that {X.o} {v.past} {T.o} {ago}.

attributed quoted
cf  "{X.o} {v.past} {T.o} while {D.our} children were asleep," {L} said.
cf  "There is no doubt that {X.o} {v.past} {T.o}," {L} told parliament.
c   "{X.o} {v.past} {D.our} people in {T.o}, and {D.we} will not forget this," {L} said.

attributed accused
cfg {D} accused {X.o} of {v.ing} {T.o}.
cf  {L} accused {X.o} of {v.ing} {T.o} {ago}.
cf  Officials in {D.capital} suspect {X.o} of {v.ing} {T.o} {hour}.

ordered ordered
f   {C} ordered {X.ownC} to {v.base} {T.o}.
f   {K} ordered {X.ownK} to {v.base} {T.o} {hour}.
f   {C} sent {X.ownC} to {v.base} {T.o}, but the order was withdrawn.
f   {K} told {X.ownK} to {v.base} {T.o} after a long meeting.
f   Parliament in {C.capital} allowed {X.o} to {v.base} {T.o}.

agentless passive
c   {T} was {v.part} {hour}, but nobody claimed responsibility.
c   {T} was {v.part} on {day}, the third such incident this year.
c   Several farms near {T.o} were {v.part} {hour} by {gunmen|unidentified gunmen}.

agentless under
c   {T} came under {v.noun} {hour} on {day}.
c   {D.s} border posts near {T.o} came under {v.noun} from unknown groups.
c   The road to {T.o} has been under {v.noun} since {day}.

agentless gunmen
c   {gunmen|Masked gunmen} {v.past} {T.o} {hour}, and {gunmen.pro} fled on foot.
c   {gunmen|A group of gunmen} {v.past} a bank near {T.o} on {day}.
"""

_SENSES = """
figurative active
k   {X} {v.past} {plan} as too costly.
k   {X} {v.past} {plan} in a long speech on {day}.
c   {X} {v.past} {plan} at the meeting and asked for changes.
k   In an interview, {X} {v.past} critics of {plan} and defended the government.
k   {X} {v.past} the opposition over {plan} on {day}.

figurative passive
k   Later, {plan} was {v.part} by {X.o} as a step backward.
c   On {day}, {plan} was {v.part} by {X.o} for a lack of detail.

other_sense noun
k   {X} was taken to a hospital {ago} after a mild heart {v.noun}.
k   Doctors said {X} had not suffered a heart {v.noun}.
c   The captain of {C.s} national team retired after a heart {v.noun} {ago}.
k   An old friend of {X.o} died of a heart {v.noun} {ago}.
c   A new drug from {C.o} lowers the risk of a heart {v.noun}, a study found.
"""

_AMBIGUOUS_SETUPS = """
{M.described} and {N.described} met near {T.o} {hour} on {day}.
{M.described} faced {N.described} across the river at {T.o} for {n} days.
{M.described} and {N.described} have camped on the hills around {T.o} since {day}.
{M.described} arrived at {T.o} {hour}, a little later than {N.described}.
On {day}, {M.described} and {N.described} reached {T.o} from opposite directions.
{M.described} watched {N.described} from a ridge above {T.o} all day.
"""
_AMBIGUOUS_REPORTS = """
active    {X.pro} {v.past} {Z|the other side} {hour}.
active    {X.the.plain} {v.past} {T.o} {hour}, while {Z|the others} held back.
active    Then {X.pro} {v.past} {Z|the other camp} without warning.
conjoined {X.pro} crossed the water and {v.past} {Z|the other side} {hour}.
active    {X.the.plain} {v.past} first, and {Z|the other side} was taken by surprise.
passive   {Z|One camp} was {v.part} by {X|the other} {hour}.
passive   Nobody knows why {Z|one side} was {v.part} by {X|the other} {hour}.
active    After a short exchange of words, {X.pro} {v.past} {Z|the other camp}.
"""

_SETUPS = """
cf  {X} {has} been moving more guns toward {T.o} for {n} days.
f   {X} massed near the border in the first days of {month}.
fg  {X} left the capital {ago} with {n} armored trains.
cg  {X} had promised in {month} to keep the peace.
cfg For weeks, {X} kept a large camp {nn} kilometers from {T.o}.
cfg {X} spent most of {month} preparing for a long campaign.
"""


def _templates(listing: str) -> dict[str, dict[str, list[Template]]]:
    found: dict[str, dict[str, list[Template]]] = {}
    kind = form = ""
    for line in listing.strip().splitlines():
        first, _, rest = line.partition(" ")
        if first in KINDS:
            kind, form = first, rest
        elif first:
            made = Template(kind, form, first, chunk(rest.strip()))
            found.setdefault(kind, {}).setdefault(form, []).append(made)
    return found


REPORTS = _templates(_REPORTS)
"""Templates of reports, by kind and form."""

SENSES = _templates(_SENSES)
"""Templates of "attack" in other senses, where the agent may be a leader, k."""

SETUPS: dict[str, tuple[Sentence, ...]] = {
    letter: tuple(
        chunk(line[3:].strip())[0]
        for line in _SETUPS.strip().splitlines()
        if letter in line.partition(" ")[0]
    )
    for letter in "cfg"
}
"""Sentences that may come before a report of the same agent, which may then be a pronoun."""

AMBIGUOUS_SETUPS = tuple(chunk(line)[0] for line in _AMBIGUOUS_SETUPS.strip().splitlines())
"""Both forces in one sentence and by the same noun, so that neither is the likelier attacker."""

AMBIGUOUS_REPORTS = tuple(
    (form, chunk(text.strip())[0])
    for form, _, text in (line.partition(" ") for line in _AMBIGUOUS_REPORTS.strip().splitlines())
)
"""What comes after them: the form, and a sentence that could be about either."""
