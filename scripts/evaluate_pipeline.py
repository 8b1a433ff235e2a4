"""How well a pipeline parses raw text: the figures of the model card.

    python scripts/evaluate_pipeline.py gum/dev [--pipeline NAME] [--card README.md]

Texts go in as they are written, paragraph by paragraph, and words are compared where both sides
have the same characters. Word, sentence, UAS and LAS figures are F1 over all words, punctuation
included, as in the CoNLL 2018 shared task. Tag and lemma figures are accuracies on the words both
sides have. "without punctuation" is the score spaCy prints.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from train_names import names

from gnomon.corpus import conllu, datasets
from gnomon.corpus.document import Document
from gnomon.corpus.parse import BUNDLED, pipeline
from gnomon.corpus.source import Raw

RELATIONS = ("nsubj", "nsubj:pass", "obj", "obl:agent", "conj", "acl:relcl")


def spans(document: Document) -> list[tuple[int, int]]:
    """The place of each word among the characters that are not white space."""
    owner: dict[int, tuple[int, str]] = {
        a: (b, form)
        for a, b, form in zip(
            document.fusions.start.tolist(),
            document.fusions.end.tolist(),
            document.fusions.form,
            strict=True,
        )
    }
    words, found, at, k = list(document.form), [], 0, 0
    while k < len(words):
        end, form = owner.get(k, (k + 1, words[k]))
        if "".join(words[k:end]) == form:
            for word in words[k:end]:
                found.append((at, at + len(word.replace(" ", ""))))
                at = found[-1][1]
        else:
            width = len(form.replace(" ", ""))
            found += [(at, at + width)] * (end - k)
            at += width
        k = end
    return found


def named(marks: list[str], places: list[tuple[int, int]]) -> set[tuple[int, int, str]]:
    """Names by their place and kind."""
    found: list[tuple[int, int, str]] = []
    for mark, (start, end) in zip(marks, places, strict=True):
        if mark.startswith("B-"):
            found.append((start, end, mark[2:]))
        elif mark.startswith("I-") and found:
            found[-1] = (found[-1][0], end, found[-1][2])
    return set(found)


def compare(gold: Document, found: Document, tally: Counter[str]) -> None:
    """Adds to the tally what the pipeline got right in one document."""
    where, there = spans(gold), spans(found)
    index = {span: k for k, span in enumerate(there)}
    pairs = [(g, index[span]) for g, span in enumerate(where) if span in index]
    tally["gold words"] += len(where)
    tally["words found"] += len(there)
    tally["words"] += len(pairs)
    starts = [{places[s] for s in d.sentence[:-1].tolist()}
              for d, places in ((gold, where), (found, there))]  # fmt: skip
    ends = [
        {(places[a][0], places[b - 1][1])
         for a, b in zip(d.sentence[:-1].tolist(), d.sentence[1:].tolist(), strict=True)}
        for d, places in ((gold, where), (found, there))
    ]  # fmt: skip
    tally["gold sentences"] += len(ends[0])
    tally["sentences found"] += len(ends[1])
    tally["sentences"] += len(ends[0] & ends[1])
    tally["starts"] += len(starts[0] & starts[1])
    place_of_head = [
        [places[h] if h >= 0 else (-1, -1) for h in d.head.tolist()]
        for d, places in ((gold, where), (found, there))
    ]
    columns: Any = [
        (list(d.xpos), list(d.upos), list(d.lemma), list(d.feats), list(d.deprel))
        for d in (gold, found)
    ]
    for k in range(len(where)):
        tally["gold plain"] += columns[0][4][k] != "punct"
        tally[f"gold {columns[0][4][k]}"] += 1
    for k in range(len(there)):
        tally["plain found"] += columns[1][4][k] != "punct"
        tally[f"{columns[1][4][k]} found"] += 1
    for g, f in pairs:
        for name, a, b in zip(("tag", "upos", "lemma", "feats"), *columns, strict=False):
            tally[name] += a[g] == b[f]
        label, other = columns[0][4][g], columns[1][4][f]
        right = place_of_head[0][g] == place_of_head[1][f]
        tally["uas"] += right
        tally["las"] += right and label == other
        tally["plain uas"] += right and label != "punct"
        tally["plain las"] += right and label == other != "punct"
        tally[f"right {label}"] += right and label == other
    if gold.mentions is not None:
        marks = [mark.removeprefix("Name=") for mark in found.misc]
        truth, guess = named(names(gold), where), named(marks, there)
        for kind in {kind for _, _, kind in truth | guess}:
            tally[f"names gold {kind}"] += sum(n[2] == kind for n in truth)
            tally[f"names found {kind}"] += sum(n[2] == kind for n in guess)
            tally[f"names {kind}"] += sum(n[2] == kind for n in truth & guess)


def figures(tally: Counter[str]) -> dict[str, Any]:
    """Per cents, one decimal more than anyone needs."""

    def f1(right: str, gold: str, found: str) -> float:
        return round(200 * tally[right] / max(tally[gold] + tally[found], 1), 2)

    def share(right: str) -> float:
        return round(100 * tally[right] / max(tally["words"], 1), 2)

    result: dict[str, Any] = {
        "words": f1("words", "gold words", "words found"),
        "sentences": f1("sentences", "gold sentences", "sentences found"),
        "TAG": share("tag"),
        "UPOS": share("upos"),
        "FEATS": share("feats"),
        "lemma": share("lemma"),
        "UAS": f1("uas", "gold words", "words found"),
        "LAS": f1("las", "gold words", "words found"),
        "UAS without punctuation": f1("plain uas", "gold plain", "plain found"),
        "LAS without punctuation": f1("plain las", "gold plain", "plain found"),
        "relations": {r: f1(f"right {r}", f"gold {r}", f"{r} found") for r in RELATIONS},
    }
    kinds = [k for k in ("person", "organization", "place") if tally[f"names gold {k}"]]
    if kinds:
        for what in ("", "gold ", "found "):
            tally[f"names {what}all"] = sum(tally[f"names {what}{k}"] for k in kinds)
        result["names"] = {
            k: f1(f"names {k}", f"names gold {k}", f"names found {k}") for k in ("all", *kinds)
        }
    return result


def evaluate(name: str, part: str) -> dict[str, Any]:
    """The figures of a pipeline on a part of a treebank, in all and by genre."""
    corpus, _, split = part.partition("/")
    tallies: dict[str, Counter[str]] = {"all": Counter()}
    gold = list(conllu.read(datasets.path(corpus, f"{split}.conllu.gz", verify=True)))
    raws = [Raw(d.id, "text", d.text(), part) for d in gold]
    for document, found in zip(gold, pipeline(name).parse(raws), strict=True):
        if not isinstance(found, Document):
            raise found
        for group in ("all", document.meta.get("genre", "")):
            if group:
                compare(document, found, tallies.setdefault(group, Counter()))
    genres = {g: figures(t)["LAS"] for g, t in sorted(tallies.items()) if g != "all"}
    return {**figures(tallies["all"]), **({"LAS by genre": genres} if genres else {})}


def table(results: dict[str, Any]) -> str:
    """The figures as Markdown, a column a part."""
    parts = list(results)
    lines = ["| | " + " | ".join(parts) + " |", "|---|" + "--:|" * len(parts)]
    rows = [key for key, value in results[parts[0]].items() if isinstance(value, float)]
    lines += [
        f"| {row} | " + " | ".join(f"{results[p][row]:.1f}" for p in parts) + " |" for row in rows
    ]
    for group in ("relations", "names"):
        for row in results[parts[0]].get(group, {}):
            cells = (results[p].get(group, {}).get(row) for p in parts)
            shown = " | ".join("" if c is None else f"{c:.1f}" for c in cells)
            lines.append(f"| {group[:-1]} {row}, F1 | {shown} |")
    return "\n".join(lines)


def write_card(card: Path, results: dict[str, Any]) -> None:
    """Puts the figures into the model card, between its marks."""
    text = card.read_text(encoding="utf-8")
    genres = next(r["LAS by genre"] for r in results.values() if "LAS by genre" in r)
    told = ", ".join(f"{g} {v:.1f}" for g, v in sorted(genres.items(), key=lambda x: -x[1]))
    for mark, content in (("figures", f"\n\n{table(results)}\n\n"), ("genres", told)):
        before, _, rest = text.partition(f"<!-- {mark} -->")
        after = rest.partition(f"<!-- /{mark} -->")[2]
        text = f"{before}<!-- {mark} -->{content}<!-- /{mark} -->{after}"
    card.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="+", metavar="DATASET/PART")
    parser.add_argument("--pipeline", default=BUNDLED)
    parser.add_argument("--card", type=Path, help="model card to update, figures.json beside it")
    given = parser.parse_args()
    results = {part: evaluate(given.pipeline, part) for part in given.parts}
    whole = {"pipeline": pipeline(given.pipeline).version, "figures": results}
    if given.card:
        figures_file = given.card.with_name("figures.json")
        figures_file.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
        write_card(given.card, results)
    sys.stdout.write(table(results) + "\n")
