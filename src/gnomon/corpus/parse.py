"""From plain text to documents, by any spaCy pipeline or by the one that comes with Gnomon.

Whatever labels the pipeline has learned, the documents carry Universal Dependencies.
"""

import functools
import hashlib
import lzma
from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.corpus import clearnlp
from gnomon.corpus.document import Document, ints, tree_fault
from gnomon.corpus.paragraphs import paragraphs
from gnomon.corpus.source import Raw
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

BUNDLED = "en_gnomon_sm"
LONGEST = 20_000  # characters that are parsed at once; longer paragraphs are cut between sentences
NAMES = {
    "person": "person",
    "organization": "organization",
    "place": "place",
    "PERSON": "person",
    "PER": "person",
    "ORG": "organization",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
}
"""The kinds of names that are kept, and what pipelines call them."""


@functools.cache
def pipeline(name: str = BUNDLED) -> "Pipeline":
    """A pipeline by name, the bundled one or any installed, loaded once in each process."""
    return Pipeline(name)


class Pipeline:
    """A spaCy pipeline that turns texts into documents."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nlp, self.version = _bundled() if name == BUNDLED else _installed(name)
        missing = sorted({"parser", "tagger"} - set(self.nlp.pipe_names))
        if missing:
            raise InputError(
                f"pipeline {name}",
                f"it has no {' and no '.join(missing)} (it has: {', '.join(self.nlp.pipe_names)})",
                f"use one that has both, {BUNDLED} for example",
            )
        labels: Any = self.nlp.get_pipe("parser")
        self.clearnlp = clearnlp.is_clearnlp(labels.labels)

    def parse(self, raws: Sequence[Raw]) -> Iterator[Document | InputError]:
        """A document, or why there can be none, for each text, in order."""
        plans = [_pieces(raw.text) for raw in raws]
        flat = ((piece, k) for k, plan in enumerate(plans) for piece, _ in plan)
        parsed = self.nlp.pipe(flat, as_tuples=True, batch_size=32)
        groups = groupby(parsed, key=lambda pair: pair[1])
        upcoming = next(groups, None)
        for k, raw in enumerate(raws):
            if upcoming is None or upcoming[0] != k:
                yield InputError(raw.where, "there is no text in it", "leave it out, or fill it")
                continue
            docs = [doc for doc, _ in upcoming[1]]
            starts = [new for _, new in plans[k]]
            upcoming = next(groups, None)
            try:
                yield self._document(raw, docs, starts)
            except InputError as error:
                yield error

    def _document(self, raw: Raw, docs: "list[Doc]", new_paragraph: list[bool]) -> Document:
        columns = [_columns(doc) for doc in docs]
        sizes = [len(c["head"]) for c in columns]
        if sum(sizes) == 0:
            raise InputError(raw.where, "there is no word in it", "leave it out, or fill it")
        bases = np.cumsum([0, *sizes])
        head = np.concatenate(
            [
                np.where(c["head"] < 0, -1, c["head"] + b)
                for c, b in zip(columns, bases, strict=False)
            ]
        ).astype(np.int32)
        starts = np.concatenate([c["starts"] for c in columns])
        sentence = np.append(np.flatnonzero(starts), len(head)).astype(np.int32)
        begins = bases[:-1][np.array(new_paragraph)]
        strings: dict[str, Any] = {
            name: _decoded(np.concatenate([c[name] for c in columns]), self.nlp)
            for name in ("form", "lemma", "upos", "xpos", "feats", "deprel")
        }
        strings["deprel"] = strings["deprel"].map(
            lambda label: "root" if label == "ROOT" else label
        )
        # spaCy's name for no morphology at all
        strings["feats"] = strings["feats"].map(lambda feats: "" if feats == "_" else feats)
        if self.clearnlp:
            head, relabelled = clearnlp.to_ud(
                strings["form"],
                strings["lemma"],
                strings["upos"],
                strings["xpos"],
                head,
                strings["deprel"],
            )
            strings["deprel"] = Strings.of(relabelled)
            strings["upos"] = Strings.of(
                clearnlp.ud_upos(strings["upos"], strings["xpos"], relabelled)
            )
        fault = tree_fault(head, sentence)
        if fault is not None:
            problem = f"the parser gave sentence {fault[0] + 1} {fault[1]}"
            raise InputError(raw.where, problem, "report it to the makers of the pipeline")
        return Document(
            id=raw.id,
            date=raw.date,
            title=raw.title,
            meta=raw.meta,
            head=head,
            space_after=np.concatenate([c["space"] for c in columns]),
            sentence=sentence,
            paragraph=ints(np.searchsorted(sentence, begins).tolist()),
            misc=_names(columns, self.nlp),
            **strings,
        )


def _pieces(text: str) -> list[tuple[str, bool]]:
    """What is parsed at once, and whether it begins a paragraph."""
    found: list[tuple[str, bool]] = []
    for paragraph in paragraphs(text):
        rest, new = paragraph, True
        while len(rest) > LONGEST:
            cut = max(rest.rfind(mark, 0, LONGEST) for mark in (". ", "! ", "? ", '." ', ".” "))
            cut = rest.find(" ", cut) if cut > 0 else rest.rfind(" ", 0, LONGEST)
            cut = cut if cut > 0 else LONGEST
            found.append((rest[:cut], new))
            rest, new = rest[cut:].lstrip(), False
        if rest:
            found.append((rest, new))
    return found


def _columns(doc: "Doc") -> dict[str, Any]:
    """A parsed text as arrays, without the blanks that spaCy takes for words."""
    from spacy import attrs

    names = ("form", "lemma", "upos", "xpos", "feats", "deprel")
    wanted = (attrs.ORTH, attrs.LEMMA, attrs.POS, attrs.TAG, attrs.MORPH, attrs.DEP)
    others = (attrs.SPACY, attrs.ENT_IOB, attrs.ENT_TYPE, attrs.SENT_START, attrs.HEAD)
    table = doc.to_array([*wanted, *others, attrs.IS_SPACE])
    own = np.arange(len(doc))
    head = own + table[:, 10].astype(np.int64)  # how far to the head, as an unsigned number
    starts = table[:, 9].astype(np.int64) == 1
    space = table[:, 6] == 1
    keep = table[:, 11] == 0
    if not keep.all():
        table, head, starts, space = _without_blanks(table, head, starts, space, keep)
        own = np.arange(len(head))
    return {
        **dict(zip(names, table.T[:6], strict=True)),
        "head": np.where(head == own, -1, head),
        "space": space,
        "starts": starts,
        "iob": table[:, 7],
        "name": table[:, 8],
    }


def _without_blanks(table: Any, head: Any, starts: Any, space: Any, keep: Any) -> tuple[Any, ...]:
    """The rows that are words; what hung on a blank hangs on what the blank hung on."""
    words = np.flatnonzero(keep)
    new = np.cumsum(keep) - 1
    sentence = np.cumsum(starts)
    heads = head.copy()
    for word in words.tolist():
        at, seen = int(heads[word]), 0
        while not keep[at] and at != int(head[at]) and seen < len(head):
            at, seen = int(head[at]), seen + 1
        heads[word] = at if keep[at] else word
    # A sentence whose root was a blank is left with several roots: the first takes the others.
    first: dict[int, int] = {}
    for word in words[heads[words] == words].tolist():
        heads[word] = first.setdefault(int(sentence[word]), word)
    begins = np.diff(sentence[words], prepend=-1) > 0
    gaps = np.diff(np.append(words, len(keep))) > 1
    return table[words], new[heads[words]], begins, space[words] | gaps


def _decoded(hashes: Any, nlp: "Language") -> Strings:
    used, codes = np.unique(hashes, return_inverse=True)
    strings = nlp.vocab.strings
    column = Strings(
        codes.astype(np.int32), tuple(strings[int(h)] if h else "" for h in used.tolist())
    )
    return column.compact()


def _names(columns: list[dict[str, Any]], nlp: "Language") -> Strings:
    """Named entities as `Name=B-person` (its first word) and `Name=I-person` (the others)."""
    marks: list[str] = []
    for column in columns:
        for iob, name in zip(column["iob"].tolist(), column["name"].tolist(), strict=True):
            kind = NAMES.get(nlp.vocab.strings[name], "") if name else ""
            marks.append(f"Name={'B' if iob == 3 else 'I'}-{kind}" if kind else "")
    return Strings.of(marks)


def _bundled() -> "tuple[Language, str]":
    """The pipeline that comes with Gnomon, and its version with a digest of its weights."""
    spacy = _spacy()
    place = resources.files("gnomon") / "resources" / BUNDLED / "pipeline.xz"
    packed = place.read_bytes()
    content = spacy.util.srsly.msgpack_loads(lzma.decompress(packed))
    config = spacy.Config().from_str(content["config"])
    nlp = spacy.util.load_model_from_config(config).from_bytes(content["weights"])
    digest = hashlib.blake2b(packed, digest_size=4).hexdigest()
    return nlp, f"{nlp.meta['version']}+{digest}"


def _installed(name: str) -> "tuple[Language, str]":
    spacy = _spacy()
    try:
        nlp = spacy.load(name)
    except (OSError, ValueError, ImportError) as error:
        message = str(error).splitlines()[0][:160]
        raise InputError(
            f"pipeline {name}",
            f"it cannot be loaded ({message})",
            f"install it, give the path of one, or use {BUNDLED}, which comes with Gnomon",
        ) from None
    return nlp, str(nlp.meta.get("version", ""))


def _spacy() -> Any:
    try:
        import spacy
    except ImportError:
        raise MissingExtra("text", "spacy") from None
    return spacy
