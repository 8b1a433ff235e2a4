"""Hypothesis strategies for whole documents, and CoNLL-U made by hand for tests."""

import datetime

import numpy as np
from hypothesis import strategies as st

from gnomon.corpus.document import Document, Fusions, Ints, Mentions, Relation, ints
from gnomon.corpus.entities import mention_heads
from gnomon.corpus.source import Raw
from gnomon.corpus.strings import Strings

WORDS = st.one_of(
    st.sampled_from(["the", "cat", "_", "#", "1", "New York", "(", "a|b", "naïve", "\u2028", "𝒳"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), min_size=1),
)
NAMES = st.text(st.characters(categories=("L", "N", "P"), exclude_characters="="), min_size=1)
COMMENT_LINES = st.sampled_from(["s_type = decl", "plain", "text_en = Yes", "a = b = c", "new = 1"])
MISC = st.sampled_from(["", "", "Gloss=cat", "A=1|B=2", "Z=1|A=2", "CorrectSpaceAfter=No"])
HEADERS = (None, "GRP", "GRP-etype", "GRP-etype-infstat-identity", "eid-head-etype", "entity-GRP-x")

Span = tuple[int, int]


def row(id: object, form: str, head: object = 0, misc: str = "_", deprel: str = "dep") -> str:
    """One line of CoNLL-U."""
    return f"{id}\t{form}\t{form}\tX\tXX\t_\t{head}\t{deprel}\t_\t{misc}\n"


def raw(text: str, id: str = "d") -> Raw:
    """The text as one document of a file `f.conllu`."""
    return Raw(id, "conllu", text, "f.conllu")


def strings(draw: st.DrawFn, each: st.SearchStrategy[str], n: int) -> Strings:
    return Strings.of(draw(st.lists(each, min_size=n, max_size=n)))


def tree(draw: st.DrawFn, n: int) -> list[int]:
    """The heads of n words that are a tree, not always projective."""
    order = draw(st.permutations(range(n)))
    head = [-1] * n
    for k in range(1, n):
        head[order[k]] = order[draw(st.integers(0, k - 1))]
    return head


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document with everything the format can say."""
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    sentence = ints(np.cumsum([0, *sizes]).astype(np.int32))
    n, s = int(sentence[-1]), len(sizes)
    head = ints(
        [
            h if h < 0 else h + start
            for size, start in zip(sizes, sentence.tolist(), strict=False)
            for h in tree(draw, size)
        ]
    )
    form = strings(draw, WORDS, n)
    lemma = Strings.of(
        "_" if f == "_" else "" if entry == "_" else entry
        for f, entry in zip(form, strings(draw, st.one_of(WORDS, st.just("")), n), strict=True)
    )
    space = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    fusions = draw_fusions(draw, sentence)
    for a, b in zip(fusions.start.tolist(), fusions.end.tolist(), strict=True):
        space[a : b - 1] = False
    tag = st.sampled_from(["", "NN", "VB", "A=1|B=2"])
    header = draw(st.sampled_from(HEADERS))
    mentions = draw_mentions(draw, head, header)
    meta = draw(st.dictionaries(NAMES.filter(_plain_key), NAMES, max_size=3))
    if header is not None and mentions is not None:
        meta["global.Entity"] = header
    paragraph = draw(st.lists(st.integers(0, s - 1), unique=True, max_size=s))
    return Document(
        id=draw(NAMES),
        form=form,
        lemma=lemma,
        upos=strings(draw, tag, n),
        xpos=strings(draw, tag, n),
        feats=strings(draw, tag, n),
        head=head,
        deprel=strings(draw, tag, n),
        space_after=space,
        sentence=sentence,
        date=draw(st.none() | st.dates(min_value=datetime.date(1000, 1, 1))),
        title=draw(st.just("") | NAMES),
        meta=meta,
        misc=strings(draw, MISC, n),
        paragraph=ints(sorted(paragraph)),
        sentence_id=strings(draw, st.just("") | NAMES, s),
        speaker=strings(draw, st.just("") | NAMES, s),
        comments=strings(draw, st.lists(COMMENT_LINES, max_size=3).map("\n".join), s),
        fusions=fusions,
        mentions=mentions,
        relations=draw_relations(draw, n),
    )


def _plain_key(key: str) -> bool:
    return key not in ("title", "date", "dateCreated") and not key.startswith(("meta::", "global."))


def draw_fusions(draw: st.DrawFn, sentence: Ints) -> Fusions:
    spans, forms = [], []
    for first, last in zip(sentence[:-1].tolist(), sentence[1:].tolist(), strict=True):
        at = first
        while last - at >= 2 and draw(st.booleans()):
            start = draw(st.integers(at, last - 2))
            at = draw(st.integers(start + 2, last))
            spans.append((start, at))
            forms.append(draw(WORDS))
    return Fusions(ints([a for a, _ in spans]), ints([b for _, b in spans]), tuple(forms))


def spans(draw: st.DrawFn, n: int, most: int) -> tuple[Span, ...]:
    """Ascending spans that do not overlap: one or more, if there is room."""
    found, at = [], 0
    for _ in range(draw(st.integers(1, most))):
        if at >= n:
            break
        start = draw(st.integers(at, n - 1))
        at = draw(st.integers(start + 1, n))
        found.append((start, at))
    return tuple(found)


def draw_mentions(draw: st.DrawFn, head: Ints, header: str | None) -> Mentions | None:
    """Mentions that nest and cross, some in pieces; those of one entity do not cross."""
    kinds, attributes = [""], [""]
    if header != "GRP":
        kinds = ["person", "place"]
    if header == "GRP-etype-infstat-identity":
        kinds, attributes = ["", "person"], ["", "new", "new-Saint-Denis"]
    elif header in ("eid-head-etype", "entity-GRP-x"):
        attributes = ["1", "2"]
    most = 1 if header is None else 3
    kept: list[tuple[Span, tuple[Span, ...], int]] = []
    for _ in range(draw(st.integers(0, 6))):
        pieces = spans(draw, len(head), most)
        hull, entity = (pieces[0][0], pieces[-1][1]), draw(st.integers(0, 2))
        many = len(pieces) > 1
        if not any(
            entity == other and (many or len(parts) > 1 or _cross(hull, span))
            for span, parts, other in kept
            if max(span[0], hull[0]) < min(span[1], hull[1])
        ):
            kept.append((hull, pieces, entity))
    if not kept:
        return None if header is None else Mentions() if draw(st.booleans()) else None
    kept.sort(key=lambda each: (each[0][0], -each[0][1], each[1] if len(each[1]) > 1 else ()))
    in_pieces = {k: parts for k, (_, parts, _) in enumerate(kept) if len(parts) > 1}
    entity_names = Strings.of(str(entity + 5) for _, _, entity in kept)
    start, end = ints([hull[0] for hull, _, _ in kept]), ints([hull[1] for hull, _, _ in kept])
    return Mentions(
        start,
        end,
        mention_heads(head, start, end, in_pieces),
        entity_names.codes,
        tuple(entity_names.values),
        strings(draw, st.sampled_from(kinds), len(kept)),
        strings(draw, st.sampled_from(attributes), len(kept)),
        in_pieces,
    )


def _cross(a: Span, b: Span) -> bool:
    (a, b) = sorted((a, b))
    return a[0] < b[0] < a[1] < b[1]


def draw_relations(draw: st.DrawFn, n: int) -> tuple[Relation, ...] | None:
    relations = [
        Relation(
            draw(st.sampled_from(["Explicit", "EntRel"])),
            draw(st.sampled_from(["Contingency.Cause", "Expansion "])),
            draw(st.sampled_from(["", "because", "a:b", "n’t"])),
            draw(st.just(()) | st.just(spans(draw, n, 2))),
            spans(draw, n, 3),
            spans(draw, n, 1),
            draw(st.integers(0, n - 1)),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return tuple(sorted(relations, key=lambda relation: relation.word)) or None
