"""The words of the wire: real countries, invented people and places, verbs and small fillings.

Every person and every town is made up; names are put together from syllables so that none is
anyone's in particular. Cities and capitals are real, and nothing violent happens in them.
"""

from typing import NamedTuple


class Person(NamedTuple):
    """An invented office holder of a country."""

    title: str
    given: str
    surname: str
    female: bool


class Town(NamedTuple):
    """An invented place: its name and what it is (town, village or district)."""

    name: str
    sort: str


class Country(NamedTuple):
    """A country with the words that stand for it.

    `names` are used in running text, `plain` in headlines; `people` is the demonym with "the".
    """

    code: str
    names: tuple[str, ...]
    plain: str
    adjectives: tuple[str, ...]
    people: str
    capital: str
    city: str
    leaders: tuple[Person, Person]
    general: Person
    towns: tuple[Town, Town, Town, Town]


_COUNTRIES = """
USA|the United States,the United States,America|American,U.S.|the Americans|Washington|Chicago|P
RUS|Russia|Russian|the Russians|Moscow|Kazan|P
CHN|China|Chinese|the Chinese|Beijing|Shanghai|P
GBR|Britain,Britain,the United Kingdom|British|the British|London|Leeds|M
FRA|France|French|the French|Paris|Lyon|P
DEU|Germany|German|the Germans|Berlin|Hamburg|M
POL|Poland|Polish|the Poles|Warsaw|Gdansk|M
GRC|Greece|Greek|the Greeks|Athens|Patras|M
TUR|Turkey|Turkish|the Turks|Ankara|Izmir|P
UKR|Ukraine|Ukrainian|the Ukrainians|Kyiv|Odesa|P
MDA|Moldova|Moldovan|the Moldovans|Chisinau|Balti|P
GEO|Georgia|Georgian|the Georgians|Tbilisi|Kutaisi|M
ARM|Armenia|Armenian|the Armenians|Yerevan|Gyumri|M
AZE|Azerbaijan|Azerbaijani|the Azerbaijanis|Baku|Ganja|P
IRN|Iran|Iranian|the Iranians|Tehran|Shiraz|P
IRQ|Iraq|Iraqi|the Iraqis|Baghdad|Basra|M
EGY|Egypt|Egyptian|the Egyptians|Cairo|Alexandria|P
ETH|Ethiopia|Ethiopian|the Ethiopians|Addis Ababa|Mekelle|M
KEN|Kenya|Kenyan|the Kenyans|Nairobi|Mombasa|P
IND|India|Indian|the Indians|New Delhi|Mumbai|M
PAK|Pakistan|Pakistani|the Pakistanis|Islamabad|Lahore|M
JPN|Japan|Japanese|the Japanese|Tokyo|Osaka|M
BRA|Brazil|Brazilian|the Brazilians|Brasilia|Recife|P
COL|Colombia|Colombian|the Colombians|Bogota|Cali|P
PER|Peru|Peruvian|the Peruvians|Lima|Arequipa|P
"""
_SURNAME_STARTS = (
    "Vel",
    "Dor",
    "Kes",
    "Bran",
    "Tol",
    "Mar",
    "Sor",
    "Hal",
    "Ner",
    "Gar",
    "Lin",
    "Rov",
    "Per",
    "Zan",
    "Ost",
)
_SURNAME_ENDS = ("vane", "arin", "oska", "imond", "etti")
_TOWN_STARTS = (
    "Kar",
    "Tes",
    "Vol",
    "Ush",
    "Bel",
    "Dra",
    "Mir",
    "Sar",
    "Zel",
    "Nor",
    "Pet",
    "Gos",
    "Lum",
    "Rav",
    "Yel",
)
_TOWN_ENDS = ("vala", "dovo", "mintor", "anka", "eth", "orno", "ilda")
_WOMEN = (
    "Anna",
    "Elena",
    "Maria",
    "Clara",
    "Irene",
    "Nadia",
    "Helena",
    "Julia",
    "Sofia",
    "Laura",
    "Vera",
    "Alma",
)
_MEN = (
    "Viktor",
    "Daniel",
    "Pavel",
    "Anton",
    "Omar",
    "Marco",
    "Leon",
    "Adam",
    "Simon",
    "Martin",
    "Karl",
    "Jonas",
)
_SORTS = ("town", "village", "town", "district")


def _countries() -> tuple[Country, ...]:
    lines = _COUNTRIES.split("\n")[1:-1]
    count = len(lines)

    def person(place: int, role: int, title: str) -> Person:
        k = role * count + place
        surname = _SURNAME_STARTS[k % 15] + _SURNAME_ENDS[k // 15]
        female = (place + role) % 2 == 0
        return Person(title, (_WOMEN if female else _MEN)[k % 12], surname, female)

    def town(place: int, which: int) -> Town:
        k = which * count + place
        return Town(_TOWN_STARTS[k % 15] + _TOWN_ENDS[k // 15], _SORTS[(place + which) % 4])

    made = []
    for place, line in enumerate(lines):
        code, names, adjectives, people, capital, city, head = line.split("|")
        first = names.split(",")[0]
        made.append(
            Country(
                code,
                tuple(names.split(",")),
                first.removeprefix("the "),
                tuple(adjectives.split(",")),
                people,
                capital,
                city,
                (
                    person(place, 0, "President" if head == "P" else "Prime Minister"),
                    person(place, 1, "Foreign Minister"),
                ),
                person(place, 2, "General"),
                (town(place, 0), town(place, 1), town(place, 2), town(place, 3)),
            )
        )
    return tuple(made)


COUNTRIES = _countries()
"""The actors, in a fixed order: a country's place in it is its number everywhere in the wire."""

FORCES = (
    ("forces", True),
    ("troops", True),
    ("soldiers", True),
    ("army", False),
    ("military", False),
)
"""What an army is called, and whether that is a plural."""


class Verb(NamedTuple):
    """A verb of violence in the forms that the templates use."""

    lemma: str
    past: str
    participle: str
    ing: str


ATTACK = Verb("attack", "attacked", "attacked", "attacking")
OTHER_VERBS = (
    Verb("shell", "shelled", "shelled", "shelling"),
    Verb("bomb", "bombed", "bombed", "bombing"),
    Verb("raid", "raided", "raided", "raiding"),
    Verb("invade", "invaded", "invaded", "invading"),
    Verb("bombard", "bombarded", "bombarded", "bombarding"),
    Verb("storm", "stormed", "stormed", "storming"),
)

FILLINGS: dict[str, tuple[str, ...]] = {
    "n": ("two", "three", "four", "five", "six", "seven", "eight", "nine"),
    "nn": tuple(str(k) for k in range(11, 97, 3)),
    "hundreds": tuple(str(k) for k in range(120, 980, 40)),
    "percent": ("2", "3", "4.5", "6", "7", "8.5", "11", "12", "14"),
    "hour": (
        "before dawn", "shortly after midnight", "early in the morning", "late in the evening",
        "at noon", "during the night", "at sunrise",
    ),
    "ago": ("last week", "last month", "in the spring", "two weeks ago", "last winter"),
    "when": ("next week", "next month", "in the coming days", "by the end of the year"),
    "month": (
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ),
    "side": ("north", "south", "east", "west"),
    "goods": ("wheat", "steel", "natural gas", "cotton", "timber", "machinery", "fish", "sugar"),
    "sport": ("football", "volleyball", "handball", "basketball", "hockey"),
    "river": ("a swollen river", "two swollen rivers", "a broken dam", "days of heavy rain"),
    "plan": ("the plan", "the budget", "the proposal", "the draft treaty", "the report"),
}  # fmt: skip
"""Words a template leaves open that stand for nobody."""
