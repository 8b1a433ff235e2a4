"""Trains `en_gnomon_sm`, the English pipeline that comes with Gnomon.

    python scripts/train_parser.py build/en_gnomon_sm

The folder keeps a checkpoint a round; a killed run, started again, goes on from the last one and
ends with the same weights. Everything random follows from the seed. `--evaluate` prints the
figures of the model card; `--pack` writes the pipeline below `src/gnomon/resources`.

Training data: UD English EWT (CC BY-SA 4.0), the genres of GUM whose texts may be used
commercially, and as silver the news and interviews of AMALGUM (CC BY 2.5), parsed by a machine.
"""

import os

for name in ("OMP_NUM_THREADS", "BLIS_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"  # one thread, so that sums are added in the same order every time

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex
from thinc.api import Adam, Optimizer, fix_random_seed

from gnomon.corpus import conllu, datasets
from gnomon.corpus.document import Document

Item = TypeVar("Item")
SEED = 20150917
NOT_FOR_ALL = {"essay", "fiction", "letter", "podcast", "whow"}  # texts under a licence with NC
SILVER_ROUNDS, GOLD_ROUNDS = 16, 8
SILVER_SHARE = 3  # a round takes every third silver chunk, so three rounds see them all
PEAK, TURN = 1e-3, 4e-4  # learning rate at the start and where the gold rounds begin
BATCH = 1000  # words
DROPOUT = 0.1
WIDTH, DEPTH = 128, 4
MEMORY = ("mom1", "mom2", "averages", "nr_update")  # what the optimizer knows of each weight

# Hyphens split words, except after these prefixes and in telephone numbers: as EWT and GUM do it.
PREFIXES = ("non", "e", "re", "co", "anti", "mid", "pre", "pro", "cross", "post", "semi", "sub",
            "counter", "ex", "multi", "mini", "inter", "socio", "over", "super")  # fmt: skip
ABBREVIATIONS = ("etc.", "Sgt.", "al.", "Lt.", "Col.", "Ft.", "Wed.", "Sat.", "Sec.",
                 "Vol.", "Capt.", "Maj.", "Cpl.", "Pvt.", "Thu.", "Tue.")  # fmt: skip


@dataclass(frozen=True)
class Chunk:
    """A few sentences as they stand in a text, with the annotation to be learned."""

    words: list[str]
    spaces: list[bool]
    tags: list[str]
    heads: list[int]
    deps: list[str]
    lemmas: list[str]
    pos: list[str] = field(default_factory=list)  # empty: not to be learned from this chunk
    morphs: list[str] = field(default_factory=list)


def tokenizer_as_in_treebanks(nlp: Language) -> None:
    """Makes spaCy's English tokenizer cut words where EWT and GUM cut them."""
    defaults: Any = nlp.Defaults
    tokenizer: Any = nlp.tokenizer
    kept = "".join(rf"(?<!^{p})(?<!^{p.title()})" for p in PREFIXES)
    letters = "[^\\W\\d_]"
    infixes = [x for x in defaults.infixes if not ("-|" in x and "(?:" in x)]
    infixes += [
        rf"(?<={letters})(?:--+|–|—|~){{1}}(?={letters})",
        rf"{kept}(?<={letters})-(?=[^\W_])",
        rf"(?<=[\w.]\.)-(?={letters})",
        rf"(?<=[0-9])-(?={letters})",
        r"(?<=[\])])[-–](?=[\[(])",
        rf"(?<=[a-zA-Z0-9])[:<>=/](?={letters})",
    ]
    runs = [r"[!?]{2,}", r"=+", r"\*+", r"\$+", r">+", r"<+"]
    prefixes = [*runs, *(x for x in defaults.prefixes if x != "#")]
    tokenizer.prefix_search = compile_prefix_regex(prefixes).search
    suffixes = [*runs, *defaults.suffixes]
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    rules = {k: v for k, v in tokenizer.rules.items() if k != "and/or"}
    tokenizer.rules = rules
    for word in ABBREVIATIONS:
        tokenizer.add_special_case(word, [{"ORTH": word}])
    for start, end in (("wan", "na"), ("Wan", "na"), ("out", "ta")):
        tokenizer.add_special_case(start + end, [{"ORTH": start}, {"ORTH": end}])


def blank() -> Language:
    """The pipeline before training."""
    nlp = spacy.blank("en")
    tokenizer_as_in_treebanks(nlp)
    nlp.add_pipe(
        "tok2vec",
        config={
            "model": {
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
                    "depth": DEPTH,
                    "window_size": 1,
                    "maxout_pieces": 3,
                },
            }
        },
    )
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "*"}
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    nlp.add_pipe("tagger", config={"model": tagger})
    nlp.add_pipe("morphologizer", config={"model": tagger})
    nlp.add_pipe("trainable_lemmatizer", config={"model": tagger, "min_tree_freq": 3, "top_k": 3})
    nlp.add_pipe(
        "parser",
        config={
            "model": {
                "@architectures": "spacy.TransitionBasedParser.v2",
                "state_type": "parser",
                "extra_state_tokens": True,
                "hidden_width": 64,
                "maxout_pieces": 2,
                "use_upper": True,
                "tok2vec": listener,
            }
        },
    )
    return nlp


def gold() -> list[Chunk]:
    """The chunks annotated by people."""
    found: list[Chunk] = []
    for name in ("ewt", "gum"):
        for document in conllu.read(datasets.path(name, "train.conllu.gz", verify=True)):
            if document.meta.get("genre") not in NOT_FOR_ALL:
                found += chunks(document, longest=10, silver=False)
    return found


def silver() -> list[Chunk]:
    """The chunks annotated by a machine."""
    return [
        chunk
        for document in silver_documents()
        for chunk in chunks(document, longest=6, silver=True)
    ]


def silver_documents() -> Iterator[Document]:
    """The news and interviews of AMALGUM, but for the few whose trees are none."""
    for file in ("news", "interview"):
        path = datasets.path("amalgum", f"{file}.conllu.gz", verify=True)
        yield from conllu.read(path, quarantine=lambda refused: say(str(refused.error())))


def chunks(document: Document, *, longest: int, silver: bool) -> Iterator[Chunk]:
    """A document in pieces: paragraphs where they are known, else a few sentences at a time."""
    rng = random.Random(f"{SEED} {document.id}")
    starts = set(document.paragraph.tolist()) if not silver else set()
    joined = {s for s in sorted(starts) if rng.random() < 0.15}  # headings run into the text
    first = 0
    size = rng.randint(1, longest)
    for s in range(1, document.sentences + 1):
        end = s == document.sentences or s in starts - joined
        if end or s - first >= (size if silver else longest):
            chunk = _chunk(document, first, s, silver)
            if chunk is not None:
                yield chunk
            first, size = s, rng.randint(1, longest)


def _chunk(document: Document, first: int, last: int, silver: bool) -> Chunk | None:
    start, end = int(document.sentence[first]), int(document.sentence[last])
    part = slice(start, end)
    forms = list(document.form[part])
    spaces = document.space_after[part].tolist()
    for a, b, form in zip(
        document.fusions.start.tolist(),
        document.fusions.end.tolist(),
        document.fusions.form,
        strict=True,
    ):
        if start <= a < end and "".join(forms[a - start : b - start]) != form:
            return None  # the words are not what is written: nothing to align them with
    heads = (document.head[part] - start).tolist()
    deps = list(document.deprel[part])
    roots = [k for k, dep in enumerate(deps) if document.head[start + k] == -1]
    for k in roots:
        heads[k], deps[k] = k, "ROOT"
    if silver:
        deps = newer_labels(forms, heads, deps)
    return Chunk(
        forms,
        spaces,
        list(document.xpos[part]),
        heads,
        deps,
        list(document.lemma[part]),
        [] if silver else list(document.upos[part]),
        [] if silver else list(document.feats[part]),
    )


def newer_labels(forms: list[str], heads: list[int], deps: list[str]) -> list[str]:
    """The relations of AMALGUM in the terms of the newer EWT and GUM."""
    now = {
        "nmod:tmod": "nmod:unmarked",
        "nmod:npmod": "nmod:unmarked",
        "obl:tmod": "obl:unmarked",
        "obl:npmod": "obl:unmarked",
        "root:pass": "ROOT",
    }
    new = [now.get(dep, dep) for dep in deps]
    passive = {h for h, dep in zip(heads, deps, strict=True) if dep in {"aux:pass", "nsubj:pass"}}
    by = {
        h
        for h, dep, form in zip(heads, deps, forms, strict=True)
        if dep == "case" and form.lower() == "by"
    }
    for k, (head, dep) in enumerate(zip(heads, deps, strict=True)):
        if dep == "obl" and k in by and head in passive:
            new[k] = "obl:agent"
    return new


def example(nlp: Language, chunk: Chunk, rng: random.Random) -> Example:
    """A chunk to learn from: the words as our tokenizer cuts them, the annotation beside them."""
    words = chunk.words
    if rng.random() < 0.04:
        words = [w.lower() for w in words]
    if rng.random() < 0.15:
        words = _other_quotes(words)
    reference = Doc(
        nlp.vocab,
        words=words,
        spaces=chunk.spaces,
        tags=chunk.tags,
        heads=chunk.heads,
        deps=chunk.deps,
        lemmas=chunk.lemmas,
        pos=chunk.pos or None,
        morphs=chunk.morphs or None,
    )
    if chunk.pos:
        predicted = nlp.make_doc(reference.text)
    else:  # silver has no record of its spaces: cut each word by itself
        predicted = Doc(nlp.vocab, words=[t.text for w in words for t in nlp.tokenizer(w)])
        reference = Doc(  # and every word stands apart, on both sides
            nlp.vocab,
            words=words,
            tags=chunk.tags,
            heads=chunk.heads,
            deps=chunk.deps,
            lemmas=chunk.lemmas,
        )
    return Example(predicted, reference)


def _other_quotes(words: list[str]) -> list[str]:
    """Straight double quotes for curly ones and the other way round."""
    new, inside = [], False
    for word in words:
        if word in {"“", "”", "``", "''"}:
            new.append('"')
        elif word == '"':
            new.append("”" if inside else "“")
            inside = not inside
        else:
            new.append(word)
    return new


def learning_rate(r: int) -> float:
    """The learning rate of round r: down a slope, then, on gold alone, down to nothing."""
    if r < SILVER_ROUNDS:
        return PEAK + (TURN - PEAK) * r / SILVER_ROUNDS
    return TURN * (SILVER_ROUNDS + GOLD_ROUNDS - r) / GOLD_ROUNDS


def train(folder: Path) -> Language:
    """Runs the rounds that are still to be run."""
    folder.mkdir(parents=True, exist_ok=True)
    taught, machine = gold(), silver()
    count = sum(len(c.words) for c in taught), sum(len(c.words) for c in machine)
    say(f"gold {count[0]:,} words in {len(taught):,} chunks, silver {count[1]:,} words")
    nlp = blank()
    fix_random_seed(SEED)
    rng = random.Random(SEED)
    nlp.initialize(lambda: [example(nlp, c, rng) for c in [*taught, *machine[::7]]])
    optimizer = Adam(L2=0.01, grad_clip=1.0, use_averages=True)
    begun = resume(nlp, optimizer, folder)
    for r in range(begun, SILVER_ROUNDS + GOLD_ROUNDS):
        started = time.monotonic()
        optimizer.learn_rate = learning_rate(r)
        fix_random_seed(SEED + r)
        rng = random.Random(f"{SEED} round {r}")
        now = list(taught)
        if r < SILVER_ROUNDS:
            now += machine[r % SILVER_SHARE :: SILVER_SHARE]
        rng.shuffle(now)
        losses: dict[str, float] = {}
        words = 0
        for batch in batches(now, lambda chunk: len(chunk.words)):
            words += sum(len(c.words) for c in batch)
            nlp.update(
                [example(nlp, c, rng) for c in batch], sgd=optimizer, drop=DROPOUT, losses=losses
            )
        save(nlp, optimizer, folder, r + 1)
        seconds = time.monotonic() - started
        with nlp.use_params(optimizer.averages):
            figures = quick_figures(nlp)
        say(
            f"round {r + 1}: {words / seconds:,.0f} words/s, "
            f"parser loss {losses['parser'] / words:.4f}, {figures}"
        )
    with nlp.use_params(optimizer.averages):
        nlp.to_disk(folder / "final")
    return nlp


def batches(items: list[Item], size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """The items in groups of about `BATCH` words."""
    batch: list[Item] = []
    words = 0
    for item in items:
        batch.append(item)
        words += size(item)
        if words >= BATCH:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch


def _parameters(nlp: Language) -> Iterator[tuple[str, Any, str]]:
    """Every weight: a name that is the same in every process, the node it is in, its name there."""
    component: Any
    for pipe, component in nlp.pipeline:
        for k, node in enumerate(component.model.walk()):
            for name in node.param_names:
                if node.has_param(name):
                    yield f"{pipe}/{k}/{name}", node, name


def save(nlp: Language, optimizer: Optimizer, folder: Path, rounds: int) -> None:
    """A checkpoint: the weights, their gradients, and the optimizer's memory of them.

    spaCy applies the gradient of the tok2vec layer with the next batch, so one is always waiting.
    """
    state: dict[str, Any] = {
        "rounds": rounds,
        "weights": {label: node.get_param(name) for label, node, name in _parameters(nlp)},
        "gradients": {
            label: node.get_grad(name)
            for label, node, name in _parameters(nlp)
            if node.has_grad(name)
        },
    }
    for what in MEMORY:
        memory = getattr(optimizer, what)
        state[what] = {
            label: memory[node.id, name]
            for label, node, name in _parameters(nlp)
            if (node.id, name) in memory
        }
    place = folder / "checkpoint.msgpack"
    place.with_suffix(".new").write_bytes(srsly.msgpack_dumps(state))
    place.with_suffix(".new").replace(place)


def resume(nlp: Language, optimizer: Optimizer, folder: Path) -> int:
    """Takes up the last checkpoint, if there is one; returns how many rounds are done."""
    place = folder / "checkpoint.msgpack"
    if not place.exists():
        return 0
    state = srsly.msgpack_loads(place.read_bytes())
    for label, node, name in _parameters(nlp):
        node.set_param(name, np.array(state["weights"][label]))
        if label in state["gradients"]:
            node.set_grad(name, np.array(state["gradients"][label]))
        for what in MEMORY:
            if label in state[what]:
                value = state[what][label]
                own = np.array(value) if isinstance(value, np.ndarray) else value
                getattr(optimizer, what)[node.id, name] = own
    return int(state["rounds"])


def quick_figures(nlp: Language) -> str:
    """spaCy's own scores on the development part of GUM, from raw text."""
    examples = [
        example(nlp, c, random.Random(3))
        for document in conllu.read(datasets.path("gum", "dev.conllu.gz"))
        for c in chunks(document, longest=10, silver=False)
    ]
    scores = nlp.evaluate(examples)
    return ", ".join(
        f"{name} {100 * scores[key]:.2f}"
        for name, key in {
            "TAG": "tag_acc",
            "UPOS": "pos_acc",
            "lemma": "lemma_acc",
            "UAS": "dep_uas",
            "LAS": "dep_las",
            "sentences": "sents_f",
        }.items()
    )


def say(text: str) -> None:
    """Tells how far we are."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where checkpoints and the result are kept")
    train(parser.parse_args().folder)
