"""`gnomon tag`: train taggers, tag with posteriors, and see whether the posteriors are honest."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.output import AsJson, Bar, Html, Seed, check_target, show
from gnomon.errors import InputError

if TYPE_CHECKING:
    from gnomon.calibration.analyse import Calibration
    from gnomon.calibration.groups import Groups
    from gnomon.models.tagged import Tagged
    from gnomon.models.tagging import Accuracy, Tagger

app = typer.Typer(no_args_is_help=True, help="Taggers whose probabilities can be looked at.")
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A corpus that gnomon parse made, a CoNLL-U file, or word<TAB>tag lines with a blank "
        "line between sentences.",
    ),
]
Column = Annotated[
    str, typer.Option("--column", metavar="xpos|upos", help="Which tags of a corpus or CoNLL-U.")
]
Model = Annotated[str, typer.Argument(metavar="MODEL.npz", help="What gnomon tag train wrote.")]


@app.command()
def train(
    data: Data,
    out: Annotated[
        str, typer.Option("--out", metavar="MODEL.npz", help="Where to write the model.")
    ],
    model: Annotated[str, typer.Option("--model", metavar="hmm|crf")] = "crf",
    dev: Annotated[
        str | None,
        typer.Option("--dev", metavar="DATA", help="Sentences to choose the smoothing by."),
    ] = None,
    column: Column = "xpos",
    sentences: Annotated[
        int | None, typer.Option("--sentences", min=1, help="Learn from the first so many only.")
    ] = None,
    features: Annotated[
        str, typer.Option("--features", metavar="basic|full", help="Of a CRF.")
    ] = "full",
    c2: Annotated[
        list[float] | None,
        typer.Option("--c2", help="L2 penalty of a CRF; several are tried on --dev."),
    ] = None,
    unknown: Annotated[
        str,
        typer.Option("--unknown", metavar="plain|classes", help="Unknown words of an HMM."),
    ] = "classes",
    transition: Annotated[
        list[float] | None,
        typer.Option("--transition", help="Pseudocounts of tag pairs of an HMM to try."),
    ] = None,
    emission: Annotated[
        list[float] | None,
        typer.Option("--emission", help="Pseudocounts of words of an HMM to try."),
    ] = None,
    temperature: Annotated[
        bool,
        typer.Option("--temperature", help="Choose a temperature on --dev, too (recalibration)."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train a hidden Markov model or a conditional random field.

    With `--dev` the smoothing is chosen by accuracy there, from a grid or from the values given.
    """
    from gnomon.models.crf import CRF
    from gnomon.models.hmm import HMM
    from gnomon.models.tagged import read_sentences

    check_target(out, (".npz",), "--out")
    if model not in ("hmm", "crf"):
        raise InputError("--model", f"{model!r} is not a model", "give hmm or crf")
    if temperature and dev is None:
        raise InputError("--temperature", "there is nothing to choose it by", "give --dev")
    given = read_sentences(data, column)
    if sentences is not None:
        given = given.take(slice(0, sentences))
    held = None if dev is None else read_sentences(dev, column)
    with Bar("training") as bar:
        steps = iter(range(1, 1_000_000))

        def step() -> None:
            bar(next(steps), 0)

        fitted: Tagger
        if model == "crf":
            fitted = CRF.fit(given, held, features=features, c2=c2 or None, step=step)
        else:
            fitted = HMM.fit(
                given,
                held,
                transition=transition or None,
                emission=emission or None,
                unknown=unknown,
                step=step,
            )
        if temperature and held is not None:
            fitted = fitted.recalibrated(held)
    fitted.save(out)
    show(_Trained(fitted, given, held, out), as_json)


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="FILE", help="Where to write; - is standard output; .gz is zipped."
        ),
    ] = "-",
    give: Annotated[
        str,
        typer.Option(
            "--give",
            metavar="tags|marginals|samples|best",
            help="tags: word<TAB>tag; the others: a JSON object a sentence.",
        ),
    ] = "tags",
    least: Annotated[
        float, typer.Option("--least", min=0, max=1, help="Marginals below this are left out.")
    ] = 0.001,
    draws: Annotated[int, typer.Option("--draws", min=1, help="How many samples.")] = 10,
    best: Annotated[int, typer.Option("--best", min=1, help="How many sequences.")] = 5,
    seed: Seed = 0,
) -> None:
    """Tag sentences: the best tags, their probabilities, samples, or the k best sequences."""
    from gnomon.corpus.files import write_texts
    from gnomon.models.tagged import read_sentences
    from gnomon.models.tagging import load

    kinds = {"tags": _tags, "marginals": _marginals, "samples": _samples, "best": _best}
    if give not in kinds:
        raise InputError("--give", f"{give!r} is not one of them", f"give {', '.join(kinds)}")
    tagger = load(model)
    sentences = read_sentences(data, None)
    numbers = {"least": least, "draws": draws, "best": best, "seed": seed}
    write_texts(kinds[give](tagger, sentences, numbers), out)


@app.command()
def evaluate(
    model: Model,
    data: Data,
    column: Column = "xpos",
    pairs: Annotated[
        int,
        typer.Option("--pairs", min=0, help="The so many most frequent pairs of tags, not tags."),
    ] = 0,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only this tag. May be repeated.")
    ] = None,
    bin_size: Annotated[
        str, typer.Option("--bin-size", metavar="N|auto", help="Predictions a bin.")
    ] = "auto",
    html: Html = None,
    chart: Annotated[
        str | None,
        typer.Option("--chart", metavar="FILE", help="The errors of the tags: PNG, SVG, HTML."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Accuracy, and whether the probabilities of tags (or of pairs of tags) are honest."""
    from gnomon.calibration.analyse import Settings, calibrate
    from gnomon.calibration.groups import calibrate_groups
    from gnomon.models.tagged import read_sentences
    from gnomon.models.tagging import gather, load

    check_target(html, (".html", ".htm"), "--html")
    check_target(chart, (".png", ".svg", ".html", ".json"), "--chart")
    tagger = load(model)
    held = read_sentences(data, column)
    accuracy = tagger.accuracy(held)
    if sum(accuracy.unseen.values()) == accuracy.words:
        problem = f"the model knows none of its tags ({', '.join(list(accuracy.unseen)[:3])}, ...)"
        raise InputError(data, problem, "choose the tags it was trained on, by --column")
    found = gather(
        tagger.pair_predictions(held, pairs) if pairs else tagger.predictions(held, tag or None)
    )
    size: Any = bin_size if bin_size == "auto" else _positive(bin_size)
    whole = calibrate(found.probability, found.label, bin_size=size)
    groups = calibrate_groups(
        found.probability, found.label, found.group_names(), settings=Settings(bin_size=size)
    )
    if html:
        from gnomon.report.page import calibration_page
        from gnomon.tables import write_text

        write_text(html, calibration_page(whole, title=f"{Path(model).name} on {data}"))
    if chart:
        from gnomon.charts import save
        from gnomon.charts.calibration import groups_chart

        save(groups_chart(groups), Path(chart))
    show(_Evaluated(accuracy, whole, groups), as_json)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value >= 1:
        raise InputError("--bin-size", f"{text!r} is not a size", "give auto, or 1 or more")
    return value


def _tags(tagger: "Tagger", data: "Tagged", numbers: dict[str, Any]) -> Iterator[str]:
    for part in data.batches():
        words, tags = list(part.words), list(tagger.tag(part))
        for a, b in zip(part.offsets[:-1].tolist(), part.offsets[1:].tolist(), strict=True):
            lines = (f"{word}\t{tag}\n" for word, tag in zip(words[a:b], tags[a:b], strict=True))
            yield "".join(lines) + "\n"


def _objects(data: "Tagged", rows: Iterator[list[dict[str, Any]]]) -> Iterator[str]:
    for part, objects in zip(data.batches(), rows, strict=True):
        words = list(part.words)
        ends = zip(part.offsets[:-1].tolist(), part.offsets[1:].tolist(), strict=True)
        for (a, b), own in zip(ends, objects, strict=True):
            yield json.dumps({"words": words[a:b], **own}, ensure_ascii=False) + "\n"


def _marginals(tagger: "Tagger", data: "Tagged", numbers: dict[str, Any]) -> Iterator[str]:
    def rows() -> Iterator[list[dict[str, Any]]]:
        for part in data.batches():
            q = tagger.lattice(part).marginals()
            words: list[dict[str, float]] = [
                {
                    tagger.tags[k]: round(float(row[k]), 6)
                    for k in (-row).argsort(kind="stable").tolist()
                    if row[k] >= numbers["least"]
                }
                for row in q
            ]
            yield [{"marginals": words[a:b]} for a, b in _ends(part)]

    return _objects(data, rows())


def _samples(tagger: "Tagger", data: "Tagged", numbers: dict[str, Any]) -> Iterator[str]:
    def rows() -> Iterator[list[dict[str, Any]]]:
        import numpy as np

        done = 0
        for part in data.batches():
            keys = np.arange(done, done + part.sentences)
            done += part.sentences
            drawn = tagger.lattice(part).sample(numbers["draws"], numbers["seed"], keys=keys)
            yield [
                {"samples": [[tagger.tags[k] for k in row[a:b].tolist()] for row in drawn]}
                for a, b in _ends(part)
            ]

    return _objects(data, rows())


def _best(tagger: "Tagger", data: "Tagged", numbers: dict[str, Any]) -> Iterator[str]:
    def rows() -> Iterator[list[dict[str, Any]]]:
        for part in data.batches():
            yield [
                {
                    "best": [
                        {"tags": [tagger.tags[k] for k in tags.tolist()], "log_probability": p}
                        for tags, p in sentence
                    ]
                }
                for sentence in tagger.lattice(part).k_best(numbers["best"])
            ]

    return _objects(data, rows())


def _ends(part: "Tagged") -> Iterator[tuple[int, int]]:
    return zip(part.offsets[:-1].tolist(), part.offsets[1:].tolist(), strict=True)


class _Trained:
    """What was learned, and how well it does where the smoothing was chosen."""

    def __init__(self, tagger: "Tagger", data: "Tagged", dev: "Tagged | None", out: str) -> None:
        self.tagger, self.data, self.out = tagger, data, out
        self.accuracy = None if dev is None else tagger.accuracy(dev)

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.tagger.kind,
            "file": self.out,
            "sentences": self.data.sentences,
            "words": len(self.data),
            "tags": len(self.tagger.tags),
            "settings": dict(self.tagger.settings),
            "temperature": self.tagger.temperature,
            "development_accuracy": None if self.accuracy is None else self.accuracy.value,
        }

    def __str__(self) -> str:
        chosen = {k: v for k, v in self.tagger.settings.items() if k != "development"}
        lines = [
            f"{self.tagger.kind.upper()} of {len(self.tagger.tags)} tags from "
            f"{self.data.sentences:,} sentences, {len(self.data):,} words → {self.out}",
            ", ".join(f"{name} {value}" for name, value in chosen.items()),
        ]
        if self.tagger.temperature != 1:
            lines.append(f"temperature {self.tagger.temperature:.4f}")
        if self.accuracy is not None:
            lines.append(f"development accuracy {self.accuracy}")
        return "\n".join(lines)


class _Evaluated:
    """How right a tagger is, and how honest."""

    def __init__(self, accuracy: "Accuracy", whole: "Calibration", groups: "Groups") -> None:
        self.accuracy, self.whole, self.groups = accuracy, whole, groups

    def to_dict(self) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy.value,
            "words": self.accuracy.words,
            "unseen_tags": dict(self.accuracy.unseen),
            "calibration": self.whole.to_dict(),
            **self.groups.to_dict(),
        }

    def __str__(self) -> str:
        whole = str(self.whole).split("\n\n     n ")[0]
        return f"accuracy {self.accuracy}\n\n{whole}\n\n{self.groups}"
