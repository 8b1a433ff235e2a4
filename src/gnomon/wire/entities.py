"""What an article is about: countries, armies, leaders, towns, and the words that refer to each.

An entity is first mentioned in a way that says whose it is ("Russian forces"), and only then by
shorter forms. A pronoun is used where the entity was the subject of the sentence before and nothing
since could take the same pronoun; everything else is an ambiguous report, written on purpose.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from gnomon.wire.vocabulary import FORCES, Country, Person, Town

IT = ("it", "it", "its")
THEY = ("they", "them", "their")
HE = ("he", "him", "his")
SHE = ("she", "her", "her")


class Words(NamedTuple):
    """A mention's words and kind, a mention within it (start, end, entity, kind), what follows."""

    text: str
    kind: str
    within: "tuple[int, int, Entity, str] | None" = None
    after: str = ""


class Story(Protocol):
    """What an entity must know of the article so far to choose its words."""

    rand: Callable[[], float]

    def salient(self, entity: "Entity") -> bool:
        """Whether a pronoun would be taken for this entity."""

    def alone(self, entity: "Entity") -> bool:
        """Whether no other entity of its sort has been mentioned."""


class Entity:
    """Someone or something an article mentions, with the words for it."""

    __slots__ = ("actor", "known", "number", "plural", "pronouns", "sort")

    def __init__(self, sort: str, actor: str, pronouns: tuple[str, str, str]) -> None:
        self.sort = sort
        self.actor = actor
        self.pronouns = pronouns
        self.plural = pronouns is THEY
        self.number = -1
        self.known = False  # whether a mention has said whose or who it is

    def first(self, story: Story, subject: bool) -> Words:
        """The words of the first mention."""
        raise NotImplementedError

    def again(self, story: Story) -> Words:
        """The words of a later mention, not a pronoun."""
        return self.first(story, False)

    def refer(self, story: Story, subject: bool) -> Words:
        """The words for the entity here; only a subject can be a pronoun."""
        if not self.known:
            return self.first(story, subject)
        if subject and story.salient(self) and story.rand() < 0.6:
            return Words(self.pronouns[0], "pronoun")
        return self.again(story)


class CountryEntity(Entity):
    """A country: its name, its capital for its government, "the country"."""

    __slots__ = ("country",)

    def __init__(self, country: Country) -> None:
        super().__init__("country", country.code, IT)
        self.country = country

    def first(self, story: Story, subject: bool) -> Words:
        names = self.country.names
        return Words(names[int(story.rand() * len(names))], "name")

    def refer(self, story: Story, subject: bool) -> Words:
        # Only as a subject does a capital stand for the government and not for the city.
        if not (subject and self.known):
            return self.first(story, subject)
        return super().refer(story, subject)

    def nation(self, story: Story) -> Words:
        """The words for the people or the land, for which the capital cannot stand."""
        if self.known and story.salient(self) and story.rand() < 0.6:
            return Words("it", "pronoun")
        return self.first(story, True)

    def again(self, story: Story) -> Words:
        draw = story.rand()
        if draw < 0.22:
            return Words(self.country.capital, "metonym")
        if draw < 0.4 and (story.alone(self) or story.salient(self)):
            return Words("the country", "nominal")
        return self.first(story, True)

    def possessive(self, story: Story) -> Words:
        """Its name as an owner's: "Russia's"."""
        name = self.first(story, False).text
        return Words(owners(name), "name")


class ForcesEntity(Entity):
    """A country's forces: "Russian forces", "Russia's army", "the troops", "the Russians"."""

    __slots__ = ("country", "noun", "owner")

    def __init__(self, owner: CountryEntity, noun: tuple[str, bool]) -> None:
        super().__init__("forces", owner.actor, THEY if noun[1] else IT)
        self.owner = owner
        self.country = owner.country
        self.noun = noun[0]

    @classmethod
    def drawn(cls, owner: CountryEntity, story: Story) -> "ForcesEntity":
        """The forces of a country, called by a noun drawn at random."""
        return cls(owner, FORCES[int(story.rand() * len(FORCES))])

    def adjective(self, story: Story) -> str:
        """The country's adjective."""
        adjectives = self.country.adjectives
        return adjectives[int(story.rand() * len(adjectives))]

    def described(self, story: Story) -> Words:
        """Forces with their country's adjective, after "the" if they are an army."""
        phrase = f"{self.adjective(story)} {self.noun}"
        return Words(phrase if self.plural else f"the {phrase}", "described")

    def definite(self, story: Story) -> Words:
        """The same with "the" in any case, for a relative clause to follow."""
        return Words(f"the {self.adjective(story)} {self.noun}", "described")

    def first(self, story: Story, subject: bool) -> Words:
        draw = story.rand()
        if draw < 0.15:
            owner = self.owner.possessive(story).text
            within = (0, len(owner), self.owner, "name")
            return Words(f"{owner} {self.noun}", "described", within)
        if draw < 0.25 and self.plural:
            name = self.owner.first(story, False).text
            phrase = f"{self.noun} from {name}"
            within = (len(phrase) - len(name), len(phrase), self.owner, "name")
            return Words(phrase, "described", within)
        return self.described(story)

    def again(self, story: Story) -> Words:
        draw = story.rand()
        if draw < 0.5 and story.alone(self):
            return Words(f"the {self.noun}", "nominal")
        if draw < 0.65 and self.plural:
            return Words(self.country.people, "demonym")
        return self.described(story) if draw < 0.8 else self.definite(story)

    def owned(self, owner: Entity) -> Words:
        """The forces as someone's who has just been named: "its troops", "her army"."""
        pronoun = owner.pronouns[2]
        within = (0, len(pronoun), owner, "possessive")
        return Words(f"{pronoun} {self.noun}", "owned", within)


class LeaderEntity(Entity):
    """An office holder: title and name, surname, "the president", he or she."""

    __slots__ = ("owner", "person")

    def __init__(self, owner: CountryEntity, person: Person) -> None:
        super().__init__("leader", owner.actor, SHE if person.female else HE)
        self.owner = owner
        self.person = person

    def first(self, story: Story, subject: bool) -> Words:
        title, given, surname, _ = self.person
        country = self.owner.country
        draw = story.rand()
        if draw < 0.2:
            name = self.owner.first(story, False).text
            phrase = f"{title} {given} {surname} of {name}"
            within = (len(phrase) - len(name), len(phrase), self.owner, "name")
            return Words(phrase, "described", within)
        if draw < 0.35 and subject and title != "General":
            owner = self.owner.possessive(story).text
            phrase = f"{owner} {title.lower()}, {given} {surname}"
            return Words(phrase, "described", (0, len(owner), self.owner, "name"), ",")
        adjective = country.adjectives[int(story.rand() * len(country.adjectives))]
        return Words(f"{adjective} {title} {given} {surname}", "described")

    def again(self, story: Story) -> Words:
        title, _, surname, _ = self.person
        draw = story.rand()
        if draw < 0.4:
            return Words(surname, "surname")
        if draw < 0.6:
            return Words(f"{title} {surname}", "titled")
        if draw < 0.85:
            return Words(f"the {title.lower()}", "title")
        return Words(f"the {self.owner.country.adjectives[0]} {title.lower()}", "described")


class TownEntity(Entity):
    """An invented place, in a country or between two."""

    __slots__ = ("owner", "town")

    def __init__(self, owner: CountryEntity | None, town: Town) -> None:
        super().__init__("town", "", IT)
        self.owner = owner
        self.town = town

    def first(self, story: Story, subject: bool) -> Words:
        name, sort = self.town
        if self.owner is None:
            return Words(f"the disputed {sort} of {name}", "place")
        draw = story.rand()
        country = self.owner.country
        if draw < 0.25:
            owner = self.owner.first(story, False).text
            phrase = f"the {sort} of {name} in {owner}"
            within = (len(phrase) - len(owner), len(phrase), self.owner, "name")
            return Words(phrase, "place", within)
        if draw < 0.4:
            return Words(f"the border {sort} of {name}", "place")
        return Words(f"the {country.adjectives[0]} {sort} of {name}", "place")

    def refer(self, story: Story, subject: bool) -> Words:
        return self.again(story) if self.known else self.first(story, subject)

    def again(self, story: Story) -> Words:
        name, sort = self.town
        if story.rand() < 0.45 and story.alone(self):
            return Words(f"the {sort}", "nominal")
        return Words(name, "place")


class BothEntity(Entity):
    """The two countries of a story taken together."""

    __slots__ = ()
    PHRASES = ("the two sides", "the two countries", "both countries", "both sides")

    def __init__(self) -> None:
        super().__init__("both", "", THEY)

    def first(self, story: Story, subject: bool) -> Words:
        return Words(self.PHRASES[int(story.rand() * 4)], "both")


class OtherEntity(Entity):
    """Someone else the templates name themselves: residents, observers, a newspaper."""

    __slots__ = ()

    def refer(self, story: Story, subject: bool) -> Words:
        return Words(self.pronouns[0], "pronoun")


def owners(name: str) -> str:
    """A name as an owner's.

    >>> owners("Peru"), owners("the United States")
    ("Peru's", "the United States'")
    """
    return f"{name}'" if name.endswith("s") else f"{name}'s"
