"""The rest of the news: what surrounds a report of an attack, and stories about other things.

A and B are the countries, a and b their forces, P and Q leaders of theirs, S the town, W the two
sides. No pronoun stands outside a slot, and no sentence here reports an attack by anybody.
"""

from typing import NamedTuple

from gnomon.wire.sentences import Sentence, chunks

Chunks = tuple[tuple[Sentence, ...], ...]

DETAILS = chunks("""
At least {n} people were killed and {nn} were injured, hospital officials said.
Power lines were cut and the main road was closed for most of the day.
{residents|Local residents} said {residents.pro} heard explosions {hour}.
Smoke could be seen over {S.o} for several hours.
{residents|Many families} left {residents.pos} homes and walked toward the {side}.
The number of victims could not be confirmed independently.
A school and {n} houses in the area were badly damaged.
{woman|A nurse in the local hospital} said {woman.pro} had treated {nn} people since {day}.
{man|A shopkeeper} said {man.pro} had closed {man.pos} store and would leave {when}.
The fighting went on for about {n} hours and ended in the evening.
Rescue teams reached {S.o} only late on {day}.
{b} brought in fresh supplies by night. // {b} also repaired a bridge in the area.
Trains to {S.o} were stopped, and {n} buses were sent to bring people out.
{observers|International observers} counted {nn} explosions before {observers.pro} left the area.
""")

REACTIONS = chunks("""
"{B.we} will defend every meter of {B.our} land," {Q} said in a televised speech.
"This is a dark day for {B.our} people," {Q} told reporters in {B.capital}.
{P} said in {A.capital} that the situation was under control. // {P} did not take any questions.
{Q} called an emergency meeting of the cabinet. // {Q} later spoke to the families of the victims.
{P} rejected the criticism from abroad. // "{A.we} want peace with {A.our} neighbors," {P} said.
{A.o} and {B.o} blamed each other for the violence. // {W} refused to talk about peace.
{B} asked the United Nations for help. // {B} also called home {B.pos} ambassador.
{A} closed {A.pos} border on {day}. // {A} gave no reason for the decision.
{council|The Security Council} said {council.pro} would meet {when} to discuss the fighting.
{W} were asked to return to the table before the end of {month}.
{P} and {Q.o} spoke by telephone for almost an hour on {day}.
{Q} thanked {Q.pos} allies for the help that arrived {ago}.
In a short statement, {A} said {A.pro} was ready for talks without conditions.
{newspaper|A newspaper} said {newspaper.pro} had seen secret letters from {month}.
{P} flew to {A.city} on {day}. // There {P} visited wounded soldiers and {P.pos} old regiment.
{Q} warned that {Q.pos} patience was running out. // "{B.we} have waited long enough," {Q} said.
{b} {has} been on high alert since {month}. // {b} {was} joined by volunteers from {B.city}.
{a} {has} received new equipment this year, including {nn} trucks and {n} radar stations.
Protesters marched through {B.city} and called for an end to the violence.
Markets in {A.capital} fell by {percent} percent after the news.
""")

BACKGROUND = chunks("""
{A.o} and {B.o} have argued over the border for many years.
The region around {S.o} is known for {goods} and has about {nn} thousand inhabitants.
A truce signed in {month} had held for {n} weeks.
{W} signed a treaty {n} years ago, but parts of the text were never put into force.
Trade between {A.o} and {B.o} has fallen by {percent} percent since {month}.
{S} has changed hands {n} times in the last century.
More than {hundreds} people have died in the dispute since the beginning of the year.
{agency|An aid agency} said {agency.pro} needed {nn} million dollars for {agency.pos} work.
Earlier this year, {A} sent a delegation to {B.capital}. // {A} had hoped for a quick agreement.
{B.nation} depends on imports of {goods}, and a blockade would hurt {B.pos} economy.
Talks held in {month} ended without a result.
{W} have said that {W.pro} want a lasting settlement.
{farmers|Local farmers} said {farmers.pro} had lost {farmers.pos} harvest because of the fighting.
The next round of negotiations was planned for {month} in a neutral country.
""")

FIGHTING_LEADS = chunks("""
Fighting was reported near {S.o} on {day} after weeks of tension.
Tension between {A.o} and {B.o} rose sharply on {day}.
The border between {A.o} and {B.o} was closed on {day} after new violence.
Heavy fighting was heard around {S.o} on {day}, and many roads were closed.
A week of quiet between {A.o} and {B.o} came to an end on {day}.
""")

FIGHTING_TITLES = (
    "Fighting reported near {town}",
    "New violence at border of {A} and {B}",
    "Tension grows between {A} and {B}",
    "{town}: many families leave their homes",
    "{B} calls emergency meeting after events in {town}",
    "Calls for calm as {A} and {B} trade accusations",
    "What we know about the events in {town}",
    "Border crisis enters a new week",
)


class Topic(NamedTuple):
    """A peaceful subject: its headlines, its first sentences and what may follow."""

    name: str
    titles: tuple[str, ...]
    leads: Chunks
    body: Chunks


TOPICS = (
    Topic(
        "trade",
        (
            "Trade talks open in {Acity}",
            "{A} to lower tariffs on {goods}",
            "{A} and {B} discuss trade",
        ),
        chunks("""
{A} and {B.o} opened a new round of trade talks in {A.city} on {day}.
{A} said on {day} that {A.pro} would lower tariffs on {goods} from {B.o}.
{P} met {Q.o} in {A.capital} on {day} to discuss trade in {goods}.
"""),
        chunks("""
{P} said the talks had been useful. // {P} expects an agreement {when}.
Exports of {goods} to {B.o} rose by {percent} percent in the last year.
{Q} invited {P.o} to a meeting in {B.capital}. // {Q} also promised lower taxes on {goods}.
{W} have set up {n} working groups on customs and transport.
"{A.we} need open markets for {A.our} farmers," {P} said.
{B.nation} buys most of {B.pos} {goods} abroad. // {B} wants to build new factories instead.
{workers|Port workers} said {workers.pro} feared for {workers.pos} jobs.
{A} has signed {n} similar agreements since {month}.
Economists expect growth of about {percent} percent in the coming year.
The price of {goods} fell slightly after the announcement.
A first draft of the agreement has {nn} pages and {n} annexes.
"""),
    ),
    Topic(
        "election",
        ("{A} holds election", "Voters go to the polls in {A}", "Votes counted in {A}"),
        chunks("""
{A} held an election on {day} after a calm campaign of {n} weeks.
{voters|Voters} in {A.o} went to the polls on {day} in cold and rainy weather.
{P} asked for patience on {day} while the votes were counted in {A.o}.
"""),
        chunks("""
{P} promised lower taxes and better schools. // {P} has been in office for {n} years.
{A.nation} has about {nn} million voters. // {A} changed {A.pos} election law {ago}.
{observers|Foreign observers} said {observers.pro} had found no serious problems.
Polls see the government {n} points ahead of the opposition.
"{A.we} will respect the result," {P} said at a rally in {A.city}.
{voters|Many young people} said {voters.pro} had voted for the first time.
{B} sent {nn} observers to the election. // {B} has followed elections in the region for years.
Turnout was expected to be about {nn} percent.
Polling stations in {A.city} stayed open for {n} more hours because of long lines.
{Q} congratulated {P.o} on a fair campaign.
The main subjects of the campaign were jobs, hospitals and the price of {goods}.
"""),
    ),
    Topic(
        "flood",
        ("Floods hit {A}", "{A} asks for help after floods", "Floods in {A} leave many homeless"),
        chunks("""
Two swollen rivers flooded parts of {A.o} on {day}, and {hundreds} families lost everything.
{A} asked for help on {day} after floods near {A.city}.
Floods in the {side} of {A.o} have left {hundreds} people without homes since {day}.
"""),
        chunks("""
{P} visited the people of {A.city} on {day}. // {P} promised help for every family.
{a} {has} brought {hundreds} people to safety. // {a} also built {n} bridges and a camp.
{B} sent {n} planes with tents. // {B} will send doctors {when}.
Water reached the second floor of many houses, and schools were closed.
{residents|Local residents} said {residents.pro} had been warned too late.
"{A.we} are grateful to {A.our} friends abroad," {P} said.
{agency|A relief agency} said {agency.pro} was looking for {nn} missing people.
More rain was expected {when}, the weather service said.
The damage was put at {nn} million dollars.
{Q} offered help on behalf of {B.o}. // {Q} called {P.o} twice on {day}.
{farmers|Farmers in the valley} said {farmers.pro} had lost most of {farmers.pos} animals.
"""),
    ),
    Topic(
        "sport",
        (
            "{A} beat {B} in {sport}",
            "{B} lose {sport} match in {Acity}",
            "{A} and {B} meet in {Acity}",
        ),
        chunks("""
{A.nation} beat {B.o} {n} to one in {sport} on {day} in front of {nn} thousand people.
{B.nation} lost to {A.o} in a friendly {sport} match in {A.city} on {day}.
The national {sport} teams of {A.o} and {B.o} met in {A.city} on {day}.
"""),
        chunks("""
{A.nation} scored early and led at the break. // {A.nation} had lost the last {n} matches.
{B.nation} played well in the second half. // {B.nation} missed {n} good chances to score.
{players|The players} said {players.pro} were tired after a long season.
{man|The coach} said {man.pro} was proud of {man.pos} players.
{woman|The captain} said {woman.pro} would play for {n} more years.
"{B.we} made too many mistakes," the visiting coach said.
{P} watched the game in the stadium. // {P} is said to be a keen {sport} fan.
{team|The home team} won {team.pos} last {n} games and is now in second place.
Tickets were sold out within {n} hours, and many fans watched in cafes.
The next match will be played in {B.city} in {month}.
Rain stopped play for {nn} minutes in the second half.
"""),
    ),
    Topic(
        "aid",
        (
            "{A} to help build schools in {B}",
            "Food from {A} for {B}",
            "{A} sends doctors to {Bcity}",
        ),
        chunks("""
{A} will give {B.o} {nn} million dollars for schools and hospitals, {P} said on {day}.
A ship with food from {A.o} arrived in {B.o} on {day} after {n} weeks at sea.
{A} sent {nn} doctors to {B.city} on {day} to help local hospitals.
"""),
        chunks("""
{Q} thanked {P.o} at a ceremony in {B.capital}. // {Q} called the gift a generous one.
{A} has supported {B.o} since {month}. // {A} plans to double {A.pos} help.
{workers|Aid workers} said {workers.pro} needed better roads for {workers.pos} trucks.
{b} will guard the roads and warehouses. // {b} {has} also lent {nn} trucks.
"{B.we} will not forget this," {Q} said.
{B.nation} has suffered from a long drought. // {B.nation} imports most of {B.pos} food.
{woman|A young doctor} said {woman.pro} would stay for {n} months.
The money will pay for {nn} schools and {n} clinics in the {side} of the country.
{agency|A charity} said {agency.pro} would open {agency.pos} new office {when}.
{P} will travel to {B.city} {when}. // {P} wants to see the work at first hand.
Prices for {goods} have risen by {percent} percent because of the drought.
"""),
    ),
    Topic(
        "museum",
        ("{A} and {B} open museum", "Museum opens in {Acity}", "{A} to pay for new museum"),
        chunks("""
{A} and {B.o} opened a museum of science together in {A.city} on {day}.
A museum of science opened in {A.city} on {day} after {n} years of work.
{A} said on {day} that {A.pro} would pay for a new museum of science in {A.city}.
"""),
        chunks("""
{P} praised the architects of the museum. // {P} studied physics before entering politics.
{W} have worked together in research for {n} years.
{woman|The director} said {woman.pro} hoped for {nn} thousand visitors a year.
{B} will pay a third of the cost. // {B} also lends {n} paintings from {B.pos} national museum.
{team|The research group} said {team.pro} would publish {team.pos} results {when}.
"Science knows no borders," {Q} said in a message.
{Q} spoke of a new beginning. // {Q} hopes to visit {A.city} in {month}.
Work on the site began in {month} and cost {nn} million dollars.
{A} has {n} similar projects this year. // {A} wants to bring scientists to {A.pos} universities.
Schools can visit free of charge on weekdays, the organizers said.
{newspaper|A local newspaper} praised the museum but said {newspaper.pro} would like lower prices.
"""),
    ),
)
