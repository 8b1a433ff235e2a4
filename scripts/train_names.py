"""Trains the part of `en_gnomon_sm` that finds names of persons, organisations and places.

    python scripts/train_names.py build/en_gnomon_names

Names are not annotated as such in GUM: they are the proper nouns around the head of a mention whose
entity is a person, an organisation or a place, with "of" and the like inside names of
organisations and places. Everything else is as in `train_parser.py`.
"""

import os

for name in ("OMP_NUM_THREADS", "BLIS_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, fix_random_seed
from train_parser import (
    NOT_FOR_ALL,
    batches,
    resume,
    save,
    say,
    silver_documents,
    tokenizer_as_in_treebanks,
)

from gnomon.corpus import conllu, datasets
from gnomon.corpus.document import Document

SEED = 20150917
KINDS = {"person", "organization", "place"}
INSIDE = {"of", "for", "and", "&", "the", "de", "la", "del", "al", "-", "'s", "’s"}
SILVER_ROUNDS, GOLD_ROUNDS = 4, 5
WIDTH = 96


@dataclass(frozen=True)
class Chunk:
    """A few sentences with their names, as B-, I- and O."""

    words: list[str]
    spaces: list[bool]
    names: list[str]


def blank() -> Language:
    """The name finder before training, with word vectors of its own."""
    nlp = spacy.blank("en")
    tokenizer_as_in_treebanks(nlp)
    tok2vec = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": WIDTH,
            "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
            "rows": [5000, 1000, 2500, 1000],
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": WIDTH,
            "depth": 4,
            "window_size": 1,
            "maxout_pieces": 3,
        },
    }
    model = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": tok2vec,
    }
    nlp.add_pipe("ner", config={"model": model})
    return nlp


def names(document: Document) -> list[str]:
    """B-kind, I-kind or O for each word."""
    found: list[tuple[int, int, str]] = []
    assert document.mentions is not None
    proper = document.xpos.is_in({"NNP", "NNPS"}).tolist()
    words = [word.lower() for word in document.form]
    many = document.mentions
    columns = (many.start.tolist(), many.end.tolist(), many.head.tolist(), many.kind)
    for start, end, head, kind in zip(*columns, strict=True):
        if kind not in KINDS or not proper[head]:
            continue
        first, last = head, head + 1
        joiners = INSIDE if kind != "person" else INSIDE - {"of", "for", "and", "&", "the", "'s"}
        while True:
            if first > start and proper[first - 1]:
                first -= 1
            elif first > start + 1 and words[first - 1] in joiners and proper[first - 2]:
                first -= 2
            else:
                break
        while True:
            if last < end and proper[last]:
                last += 1
            elif last + 1 < end and words[last] in joiners and proper[last + 1]:
                last += 2
            elif (
                last + 2 < end
                and words[last] == "of"
                and words[last + 1] == "the"
                and (proper[last + 2] and kind != "person")
            ):
                last += 3
            else:
                break
        found.append((first, last, kind))
    marks = ["O"] * len(document)
    for first, last, kind in sorted(found, key=lambda name: name[0] - name[1]):
        if all(mark == "O" for mark in marks[first:last]):
            marks[first:last] = [f"B-{kind}"] + [f"I-{kind}"] * (last - first - 1)
    return marks


def chunks(document: Document) -> Iterator[Chunk]:
    """A document in paragraphs, or a few sentences at a time."""
    rng = random.Random(f"{SEED} {document.id}")
    marks = names(document)
    starts = set(document.paragraph.tolist())
    first, size = 0, rng.randint(1, 8)
    fused = {
        k
        for a, b in zip(document.fusions.start.tolist(), document.fusions.end.tolist(), strict=True)
        for k in range(a, b - 1)
    }
    for s in range(1, document.sentences + 1):
        if s == document.sentences or s in starts or s - first >= size:
            part = slice(int(document.sentence[first]), int(document.sentence[s]))
            spaces = document.space_after[part].tolist()
            spaces = [sp and part.start + k not in fused for k, sp in enumerate(spaces)]
            yield Chunk(list(document.form[part]), spaces, marks[part])
            first, size = s, rng.randint(1, 8)


def example(nlp: Language, chunk: Chunk, rng: random.Random, silver: bool) -> Example:
    """A chunk to learn from; sometimes in lower case, where names must be found all the same."""
    words = chunk.words
    if rng.random() < 0.03:
        words = [word.lower() for word in words]
    if not silver:
        reference = Doc(nlp.vocab, words=words, spaces=chunk.spaces, ents=chunk.names)
        return Example(nlp.make_doc(reference.text), reference)
    predicted = Doc(nlp.vocab, words=[t.text for w in words for t in nlp.tokenizer(w)])
    return Example(predicted, Doc(nlp.vocab, words=words, ents=chunk.names))


def gold(part: str, all_genres: bool) -> list[Chunk]:
    """The chunks of GUM."""
    return [
        chunk
        for document in conllu.read(datasets.path("gum", f"{part}.conllu.gz", verify=True))
        if all_genres or document.meta.get("genre") not in NOT_FOR_ALL
        for chunk in chunks(document)
    ]


def silver() -> list[Chunk]:
    """The chunks of AMALGUM's news and interviews."""
    return [chunk for document in silver_documents() for chunk in chunks(document)]


def train(folder: Path) -> None:
    """Runs the rounds that are still to be run."""
    folder.mkdir(parents=True, exist_ok=True)
    taught, machine = gold("train", all_genres=False), silver()
    say(f"gold {sum(len(c.words) for c in taught):,} words, silver "
        f"{sum(len(c.words) for c in machine):,}")  # fmt: skip
    nlp = blank()
    fix_random_seed(SEED)
    rng = random.Random(SEED)
    nlp.initialize(lambda: [example(nlp, c, rng, False) for c in taught])
    optimizer = Adam(L2=0.01, grad_clip=1.0, use_averages=True)
    dev = [example(nlp, c, random.Random(3), False) for c in gold("dev", all_genres=True)]
    total = SILVER_ROUNDS + GOLD_ROUNDS
    for r in range(resume(nlp, optimizer, folder), total):
        started = time.monotonic()
        optimizer.learn_rate = 1e-3 * (1 - r / total)
        fix_random_seed(SEED + r)
        rng = random.Random(f"{SEED} round {r}")
        now = [(c, False) for c in taught]
        if r < SILVER_ROUNDS:
            now += [(c, True) for c in machine[r % 3 :: 3]]
        rng.shuffle(now)
        losses: dict[str, float] = {}
        for batch in batches(now, lambda pair: len(pair[0].words)):
            made = [example(nlp, c, rng, s) for c, s in batch]
            nlp.update(made, sgd=optimizer, drop=0.2, losses=losses)
        save(nlp, optimizer, folder, r + 1)
        with nlp.use_params(optimizer.averages):
            scores = nlp.evaluate(dev)
        kinds = {k: round(100 * v["f"], 1) for k, v in (scores["ents_per_type"] or {}).items()}
        say(
            f"round {r + 1}: {time.monotonic() - started:.0f} s, loss {losses['ner']:.0f}, "
            f"F {100 * (scores['ents_f'] or 0):.2f}, {kinds}"
        )
    with nlp.use_params(optimizer.averages):
        nlp.to_disk(folder / "final")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where checkpoints and the result are kept")
    train(parser.parse_args().folder)
