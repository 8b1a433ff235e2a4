"""Where a document may speak of something: candidate mentions from its dependency trees.

A mention is the phrase of a nominal word: the word itself and what hangs on it by relations that
belong to a noun phrase. The rules follow what the training parts of GUM and OntoGUM mark:

- Heads are nouns, names, pronouns except relative and interrogative ones, and numbers, symbols,
  foreign words, adjectives and determiners that stand in a noun's place. Verbs are none.
- Determiners, modifiers, possessors, the possessive 's, prepositional phrases, relative and other
  adnominal clauses belong to the phrase. Prepositions before it, conjuncts, parentheses, what makes
  a noun a predicate (subject, copula, auxiliaries, markers, adverbs) and punctuation at its edges
  do not; a bracket or quotation mark that closes what was opened inside does.
- What follows a conjunct or a parenthesis is cut with it, but belongs to the whole coordination.

It reads forms, UD tags and relations, and tells relative pronouns by their Penn tags.

The schemes differ. "gum" marks every nominal, a phrase and its apposition apart, most nouns that
modify nouns, the clause that "it" stands for ("it is hard *to say*"), and a coordination where its
members share a determiner or what follows. "ontonotes" marks what corefers, a phrase together with
its apposition (both ways are given), of modifying nouns names only, and any coordination.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gnomon.corpus.document import Document, Ints, Mentions, tree_fault
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
Spans = tuple[Places, Places, Places]  # start, end (exclusive), head

SCHEMES = ("gum", "ontonotes")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A label whose subtype is not named here counts as its base: "obl:tmod" as "obl".
_SUBTYPES = _words(
    "acl:relcl advcl:relcl aux:pass cc:preconj compound:prt det:predet nmod:desc nmod:poss"
    " nmod:unmarked obl:agent obl:unmarked"
)
_BEFORE = _words(
    "amod compound det det:predet fixed flat goeswith nmod:desc nmod:poss nmod:unmarked nummod"
)
_AFTER = _words(
    "acl acl:relcl amod case compound det fixed flat goeswith nmod nmod:desc nmod:poss"
    " nmod:unmarked nummod"
)
_BREAKS = _words("conj list parataxis")
_NO_PHRASE = _words(
    "advmod aux case cc compound:prt discourse fixed flat goeswith mark nmod:desc punct"
)
_ARGUMENTS = _words("iobj nsubj obj")
_NOUN_PLACES = _ARGUMENTS | _words(
    "advcl appos ccomp conj dep dislocated list nmod nmod:poss nmod:unmarked obl obl:agent"
    " obl:unmarked parataxis reparandum root vocative xcomp"
)
_ADJECTIVE_PLACES = _ARGUMENTS | _words("appos conj nmod obl root")
_PREMODIFIERS = _words("amod compound det nmod:poss nummod")
_QUESTIONS = _words("EX WDT WP WP$ WRB")
_PLACE_ADVERBS = _words("here home there")
_ADVERBS_AFTER = _words("alone else here")
_DASHES = _words("- – —")
_OPENING, _CLOSING = _words('( [ “ " ‘'), _words(") ] ” \" ’ '")
# GUM marks no mention in "for example" and "take place", and of "a lot of people" only the whole.
_IDIOMS = {
    "at": _words("issue"),
    "for": _words("example instance"),
    "in": _words("addition fact love mind order place question touch turn"),
    "into": _words("account"),
}
_LIGHT_OBJECTS = _words("birth place rise")
_AMOUNTS = _words(
    "bit couple cup cups dozens group hundreds kind kinds lot lots millions sort sorts thousands"
    " type"
)


def detect(document: Document, scheme: str = "gum") -> Mentions:
    """The candidate mentions of a parsed document, each an entity of its own.

    `scheme` is "gum" (every nominal) or "ontonotes" (what OntoNotes would mark if it corefers).
    They stand in order of start, the longer first, and no two have the same span; each lies in one
    sentence and contains its head.

    >>> from gnomon.corpus import conllu
    >>> from gnomon.corpus.source import Raw
    >>> words = ["The DET 2 det", "mayor NOUN 3 nsubj", "met VERB 0 root",
    ...          "her PRON 5 nmod:poss", "twin NOUN 3 obj"]
    >>> rows = [f"{k} {word}" for k, word in enumerate(words, 1)]
    >>> text = "\\n".join("\\t".join((k, form, form, upos, "_", "_", head, deprel, "_", "_"))
    ...                  for k, form, upos, head, deprel in map(str.split, rows))
    >>> document = conllu.parse(Raw("a", "conllu", text + "\\n\\n", "here"))
    >>> mentions = detect(document)
    >>> [document.text(a, b) for a, b in zip(mentions.start, mentions.end, strict=True)]
    ['The mayor', 'her twin', 'her']
    """
    if scheme not in SCHEMES:
        known = ", ".join(SCHEMES)
        raise InputError("scheme", f"{scheme!r} is not a scheme", f"give one of: {known}")
    if len(document) == 0:
        return Mentions()
    fault = tree_fault(document.head, document.sentence)
    if fault is not None:
        where = f"document {document.id}, sentence {fault[0] + 1}"
        raise InputError(where, fault[1], "give a dependency tree for every sentence")
    tree = _Tree.of(document)
    gum = scheme == "gum"
    heads = _heads(tree, gum)
    parts = _phrases(tree, gum)
    found = _spans(tree, heads, parts, gum)
    start, end, head = (np.concatenate(column) for column in zip(*found, strict=True))
    return _ordered(*_trimmed(tree, start, end, head))


def given(document: Document) -> Mentions:
    """The gold mentions of an annotated document, with their entities and nothing else.

    A mention in several pieces is its hull, the words from its first to its last; of mentions with
    the same span the first is kept. What an annotation says besides is left out: it gives away who
    is whom.
    """
    gold = document.mentions
    if gold is None:
        problem = "its mentions are not annotated"
        raise InputError(f"document {document.id}", problem, "give one that has them, or `detect`")
    check(gold, document)
    order = np.lexsort((-gold.end, gold.start))
    start, end = gold.start[order], gold.end[order]
    order = order[_first_of_each(start, end)]
    return Mentions(
        gold.start[order], gold.end[order], gold.head[order], gold.entity[order], gold.entities
    )


def check(mentions: Mentions, document: Document) -> None:
    """Raises unless every mention is a span of words of the document with its head inside."""
    columns = (mentions.start, mentions.end, mentions.head, mentions.entity)
    where = f"document {document.id}"
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(str(len(column)) for column in columns)
        problem = f"start, end, head and entity of its mentions have lengths {lengths}"
        raise InputError(where, problem, "give one value a mention in each")
    outside = (mentions.start < 0) | (mentions.end > len(document))
    empty = mentions.end <= mentions.start
    headless = (mentions.head < mentions.start) | (mentions.head >= mentions.end)
    bad = np.flatnonzero(outside | empty | headless)
    if len(bad) == 0:
        return
    k = int(bad[0])
    span = f"words {mentions.start[k]} to {mentions.end[k]}"
    if outside[k]:
        problem = f"{span} are not in the document, which has {len(document)} words"
    elif empty[k]:
        problem = f"{span} are no words"
    else:
        problem = f"head {mentions.head[k]} is not among {span}"
    raise InputError(f"{where}, mention {k + 1}", problem, "give mentions of this document")


@dataclass(frozen=True, eq=False)
class _Tree:
    """The words of a document with the masks that every rule asks for.

    `head` is a word's head, or itself for a root, so that a look upwards needs no special case;
    `low` and `high` are the first and last word of its subtree.
    """

    upos: Strings
    xpos: Strings
    form: Strings
    deprel: Strings
    place: Places
    head: Places
    low: Places
    high: Places

    @classmethod
    def of(cls, document: Document) -> "_Tree":
        place = np.arange(len(document))
        head = np.where(document.head < 0, place, document.head)
        low, high = _subtrees(head)
        # A stored document shares the words of its whole part; only its own are worth changing.
        form = document.form.compact().map(str.lower)
        deprel = document.deprel.compact().map(_known_label)
        return cls(document.upos, document.xpos, form, deprel, place, head, low, high)

    def tagged(self, *tags: str) -> Mask:
        return self.upos.is_in(set(tags))

    def related(self, *labels: str) -> Mask:
        """Words with one of these relations to their heads."""
        return self.deprel.is_in(set(labels))

    def with_child(self, child: Mask) -> Mask:
        """Words on which one of these words hangs."""
        found = np.zeros(len(self.place), dtype=np.bool_)
        found[self.head[child & (self.head != self.place)]] = True
        return found

    @cached_property
    def left(self) -> Mask:
        return self.place < self.head

    @cached_property
    def right(self) -> Mask:
        return self.place > self.head

    @cached_property
    def name(self) -> Mask:
        return self.tagged("PROPN")

    @cached_property
    def noun(self) -> Mask:
        return self.tagged("NOUN", "PROPN")

    def marked_by(self, prepositions: frozenset[str]) -> Mask:
        """Words with one of these prepositions before them."""
        return self.with_child(self.related("case") & self.left & self.form.is_in(prepositions))

    def passed(self, between: Mask) -> Mask:
        """Words that have one of these words between their head and themselves, on its right."""
        count = np.cumsum(between)
        return self.right & (count[self.place] > count[self.head])

    def follows(self, breaks: Mask) -> Mask:
        """Words that come after one of these words, on the right of the head they share."""
        border = np.full(len(self.place), len(self.place))
        np.minimum.at(border, self.head[breaks], self.place[breaks])
        return self.right & (self.place > border[self.head])

    def spans(self, heads: Mask, kept: Mask) -> Spans:
        """The hulls of words and the subtrees of their children that are kept."""
        low, high = self.place.copy(), self.place.copy()
        child = np.flatnonzero(kept)
        np.minimum.at(low, self.head[child], self.low[child])
        np.maximum.at(high, self.head[child], self.high[child])
        return low[heads], high[heads] + 1, self.place[heads]


def _known_label(label: str) -> str:
    return label if label in _SUBTYPES else label.partition(":")[0]


def _subtrees(head: Places) -> tuple[Places, Places]:
    """The first and the last word of each word's subtree; a root is its own head."""
    low = np.arange(len(head))
    depth, up = np.zeros(len(head), dtype=np.intp), low
    while (moves := (above := head[up]) != up).any():
        depth += moves
        up = above
    high = low.copy()
    deepest_first = np.argsort(-depth, kind="stable")
    for level in np.split(deepest_first, np.flatnonzero(np.diff(depth[deepest_first])) + 1)[:-1]:
        np.minimum.at(low, head[level], low[level])
        np.maximum.at(high, head[level], high[level])
    return low, high


def _heads(tree: _Tree, gum: bool) -> Mask:
    """The words that head a mention."""
    noun, name, number = tree.noun, tree.name, tree.tagged("NUM")
    of = tree.marked_by(frozenset({"of"}))
    place = tree.related(*_NOUN_PLACES)
    heads = noun & ~tree.related(*_NO_PHRASE)
    # "12 noon", "5 pm": the unit of a number is part of its phrase.
    heads &= name | ~(tree.related("nmod:unmarked") & number[tree.head])
    heads |= tree.tagged("PRON") & ~tree.xpos.is_in(_QUESTIONS)
    heads |= tree.tagged("NUM", "SYM", "X") & place
    # "some of them", "each other", "Main" for a street
    partitive = tree.with_child(of) & tree.related("conj", "dislocated", "nmod", "obl")
    other = tree.form.is_in({"each"}) & tree.with_child(tree.form.is_in({"other"}))
    heads |= tree.tagged("DET") & (tree.related(*_ARGUMENTS) | partitive | (place & other))
    determined = tree.with_child(tree.related("det") & tree.left)
    proper = tree.xpos.is_in({"NNP", "NNPS"})
    adjective = tree.related("nsubj") | (tree.related(*_ADJECTIVE_PLACES) & (determined | proper))
    heads |= tree.tagged("ADJ") & adjective
    heads |= tree.tagged("ADV") & tree.form.is_in(_PLACE_ADVERBS)
    modifier = tree.related("compound")
    if gum:
        # "Hyde Park" is one name, "the Oslo region" holds another; the tree of "a tree-lined road"
        # is none in particular.
        apart = (tree.head - tree.place > 1) | tree.with_child(~tree.tagged("PUNCT"))
        marked = noun[tree.head] & (~name[tree.head] | (name & apart) | number)
        marked &= ~np.append(tree.form.is_in(_DASHES)[1:], False)
        heads |= modifier & number
        heads &= ~_idioms(tree)
        heads &= ~(_bare(tree) & of & tree.related("nmod") & tree.form.is_in(_AMOUNTS)[tree.head])
    else:
        marked = name
        heads &= ~tree.related("expl")
    return np.asarray(heads & (~modifier | marked))


def _bare(tree: _Tree) -> Mask:
    """Common nouns with nothing to say which are meant."""
    said = tree.related("acl", "acl:relcl", "flat", "nmod", *_PREMODIFIERS)
    return tree.tagged("NOUN") & ~tree.with_child(said)


def _idioms(tree: _Tree) -> Mask:
    found = tree.related("obj") & tree.form.is_in(_LIGHT_OBJECTS)
    for preposition, nouns in _IDIOMS.items():
        found |= tree.marked_by(frozenset({preposition})) & tree.form.is_in(nouns)
    return found & _bare(tree)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Which words belong, with all that hangs on them, to the phrases of their heads.

    `core` belongs to a phrase alone; `late` comes after a break and belongs to its coordination.
    """

    core: Mask
    late: Mask
    conjunct: Mask
    apposition: Mask


def _phrases(tree: _Tree, gum: bool) -> _Parts:
    number, name = tree.tagged("NUM"), tree.name
    of = tree.marked_by(frozenset({"of"}))
    before = tree.related(*_BEFORE) | (tree.related("dep") & tree.tagged("PRON"))  # "you guys"
    after = tree.related(*_AFTER) | (tree.related("obl") & of)
    after |= tree.related("advmod") & tree.form.is_in(_ADVERBS_AFTER)
    after |= tree.related("dep") & number & (tree.place == tree.head + 1)  # "Figure 2"
    after &= ~(tree.marked_by(_DASHES) & number & number[tree.head])  # "1914 – 1918"
    apposition = tree.related("appos") & tree.right
    breaks = tree.related(*_BREAKS) & tree.right
    if gum:
        gerund = tree.related("acl") & tree.xpos.is_in({"VBG"})
        after &= ~(gerund & tree.passed(tree.form.is_in({","})))
        close = apposition & name & name[tree.head] & ~tree.passed(tree.tagged("PUNCT"))
        after |= close  # "Mount Kenya"
        breaks |= apposition & ~close
    else:
        after |= apposition
    kept = (tree.left & before) | (tree.right & after)
    late = kept & tree.follows(breaks)
    return _Parts(kept & ~late, late, tree.related("conj") & tree.right, apposition)


def _spans(tree: _Tree, heads: Mask, parts: _Parts, gum: bool) -> list[Spans]:
    """The spans of all mentions, punctuation at their edges included."""
    core, everything = parts.core, parts.core | parts.late | parts.conjunct
    nominal = tree.noun | tree.tagged("PRON")
    whole = heads & nominal & ~tree.related("compound")
    whole &= tree.with_child(parts.conjunct) & ~tree.with_child(parts.conjunct & ~nominal)
    if not gum:
        # A year or a place after a name may or may not be meant ("Smith (2001)", "Paris in May").
        name = tree.name[tree.head]
        year = tree.related("nmod:unmarked") & tree.tagged("NUM")
        around = tree.related("nmod") & name & ~tree.marked_by(frozenset({"of"}))
        loose = tree.right & (year | around | parts.apposition)
        return [
            tree.spans(heads, core),
            tree.spans(whole, everything),
            tree.spans(heads & tree.with_child(loose), core & ~loose & ~tree.follows(loose)),
        ]
    # "the shape and weight of the stone": what all conjuncts share makes them one mention.
    last = np.zeros(len(tree.place), dtype=np.intp)
    np.maximum.at(last, tree.head[parts.conjunct], tree.place[parts.conjunct])
    modified = tree.with_child(tree.related(*_PREMODIFIERS) & tree.left)
    determined = tree.with_child(tree.related("det", "nmod:poss") & tree.left)
    one_determiner = determined & ~modified[last]
    shared = tree.with_child(parts.late & (tree.place > last[tree.head]))
    named = tree.tagged("PRON") | (tree.name & tree.related("nsubj"))
    one = whole & one_determiner & shared
    clause = tree.related("csubj") & tree.right
    return [
        tree.spans(heads & ~one & ~(parts.conjunct & one[tree.head]), core),
        tree.spans(whole & (one_determiner | shared | named), everything),
        (tree.low[clause], tree.high[clause] + 1, tree.place[clause]),
    ]


def _trimmed(tree: _Tree, start: Places, end: Places, head: Places) -> Spans:
    """The spans without punctuation at their edges, but with what closes what they open."""
    punct = np.append(tree.tagged("PUNCT"), False)
    closing = punct & np.append(tree.form.is_in(_CLOSING), False)
    opened = np.append(0, np.cumsum(tree.form.is_in(_OPENING)))
    while (loose := punct[start] & (start < head)).any():
        start = start + loose
    while True:
        closes = closing[end - 1] & (opened[end - 1] > opened[start])
        loose = punct[end - 1] & (end - 1 > head) & ~closes
        if not loose.any():
            break
        end = end - loose
    owner = np.append(tree.head, -1)
    single = opened[end] - opened[start] == 1
    end = end + (closing[end] & (owner[end] == head) & single & ~closing[end - 1])
    return start, end, head


def _ordered(start: Places, end: Places, head: Places) -> Mentions:
    """The mentions in order of start, the longer first, each span once."""
    order = np.lexsort((head, -end, start))
    start, end, head = start[order], end[order], head[order]
    first = _first_of_each(start, end)
    start, end, head = start[first], end[first], head[first]
    return Mentions(
        start.astype(np.int32), end.astype(np.int32), head.astype(np.int32),
        np.arange(len(start), dtype=np.int32),
    )  # fmt: skip


def _first_of_each(start: "Places | Ints", end: "Places | Ints") -> Mask:
    """Of ordered spans, those that are not the same as the one before."""
    return np.append(True, (np.diff(start) != 0) | (np.diff(end) != 0))[: len(start)]
