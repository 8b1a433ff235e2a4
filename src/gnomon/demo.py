"""A story told on generated data whose truth is known: `gnomon demo`."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from gnomon.calibration.analyse import calibrate
from gnomon.calibration.compare import compare
from gnomon.calibration.groups import calibrate_groups
from gnomon.calibration.recalibrate import fit
from gnomon.errors import InputError, MissingExtra

GENRES = {"news": 1.0, "interview": 0.8, "fiction": 0.55, "chat": 0.35}
"""How steep the truth is where the model says 1: below 1 the model is overconfident."""


class Predictions(NamedTuple):
    """What a classifier said of each text, what came true, and the true chance of it."""

    genre: NDArray[np.str_]
    probability: NDArray[np.float64]
    label: NDArray[np.bool_]
    truth: NDArray[np.float64]


def predictions(rows: int = 20_000, seed: int = 0) -> Predictions:
    """Predictions of a classifier that is honest on news and overconfident on chat.

    >>> said = predictions(1000, seed=1)
    >>> print(round(float(np.mean(said.probability)), 2), round(float(np.mean(said.truth)), 2))
    0.28 0.31
    """
    rng = np.random.default_rng(seed)
    genre = rng.choice(list(GENRES), rows)
    score = rng.normal(-2.0, 3.0, rows)
    probability = np.clip(expit(score), 1e-6, 1 - 1e-6).round(6)
    steepness = np.array([GENRES[str(each)] for each in genre])
    truth = np.asarray(expit(steepness * logit(probability)))
    return Predictions(genre, probability, rng.random(rows) < truth, truth)


def tell(folder: str | Path, *, rows: int = 20_000, seed: int = 0) -> Iterator[str]:
    """Tells the story line by line, writing its files into `folder`."""
    import polars as pl

    from gnomon.charts import save
    from gnomon.charts.calibration import curve_chart, groups_chart
    from gnomon.report.page import calibration_page
    from gnomon.tables import write, write_text

    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(str(folder), "is not a folder", "name a folder to write into") from None
    said = predictions(rows, seed)
    columns = {name: column for name, column in said._asdict().items() if name != "truth"}
    table = pl.DataFrame(columns).with_columns(pl.col("label").cast(pl.Int8))
    half = rows // 2
    files = {"predictions": table, "first-half": table[:half], "second-half": table[half:]}
    path = {name: folder / f"{name}.csv" for name in files}
    for name, part in files.items():
        write(part, path[name])
    yield f"A classifier read {rows:,} texts of four genres and said how sure it was of each:"
    yield f"{path['predictions']} (genre, probability, label)."
    yield ""
    yield "1. Is it honest?"
    yield f"   gnomon calibrate {path['predictions']}"
    yield ""
    result = calibrate(said.probability, said.label)
    yield _indent(str(result).split("\n\n     n ")[0])
    honest = calibrate_truth(said, result.bin_size or 1.0)
    error = result.calibration_error
    covered = "inside" if error.low <= honest <= error.high else "outside"
    yield f"   The true error is known here: {honest:.4f}, {covered} the interval."
    save(curve_chart(result), folder / "calibration.png")
    write_text(folder / "calibration.html", calibration_page(result, title="predictions.csv"))
    yield f"   Look at {folder / 'calibration.html'} and {folder / 'calibration.png'}."
    yield ""
    yield "2. Where is it worst?"
    yield f"   gnomon calibrate {path['predictions']} --group genre"
    yield ""
    groups = calibrate_groups(said.probability, said.label, said.genre)
    yield _indent(str(groups).rpartition("\n")[0])
    save(groups_chart(groups), folder / "genres.png")
    yield f"   Look at {folder / 'genres.png'}."
    yield ""
    yield "3. Can it be mended? Learn on one half, mend the other."
    yield f"   gnomon recalibrate fit {path['first-half']} --out {folder / 'mend.json'}"
    yield f"   gnomon recalibrate apply {folder / 'mend.json'} {path['second-half']}"
    yield ""
    mend = fit(said.probability[:half], said.label[:half], method="beta")
    write_text(folder / "mend.json", mend.to_json() + "\n")
    mended = mend.apply(said.probability[half:])
    both = compare(said.probability[half:], mended, said.label[half:], names=("before", "after"))
    for name, each in (("before", both.first), ("after", both.second)):
        error = each.calibration_error
        yield f"   {name:<7} error {error.value:.4f}   debiased {error.debiased:.4f}   " + (
            f"{100 * error.level:.4g} % interval {error.low:.4f} to {error.high:.4f}"
        )
    yield f"   {both.verdict().capitalize()}."
    yield ""
    yield from _news(folder, seed)


def _news(folder: Path, seed: int, articles: int = 300) -> Iterator[str]:
    """The part of the story that is about texts: a wire of known truth, parsed."""
    from gnomon import wire

    written = wire.write(folder / "wire", articles, seed, overwrite=True)
    source, corpus = folder / "wire" / "articles.jsonl", folder / "corpus"
    yield f"4. A news wire of {articles} articles, generated, so that the truth about it is known."
    yield f"   gnomon demo-wire {folder / 'wire'} --documents {articles} --seed {seed} --overwrite"
    yield f"   gnomon parse {source} {corpus}"
    yield ""
    if find_spec("spacy") is None:
        yield f"   It is in {folder / 'wire'}. {MissingExtra('text', 'To parse it: spacy')}"
        return
    from gnomon.corpus.build import build
    from gnomon.corpus.store import Corpus

    build(source, corpus, workers=0)
    parsed = Corpus(corpus)
    said = sum(
        bool((d.lemma.is_in({"attack"}) & d.upos.is_in({"VERB"})).any()) for d in parsed.documents()
    )
    yield f"   {len(parsed)} documents, {parsed.counts['words']:,} words, parsed into {corpus}."
    yield f"   The verb 'attack' stands in {said} of them; in truth a country is said to have"
    truth = folder / "wire" / "truth.csv"
    yield f"   attacked in {written.attacks} cases ({truth}). Others deny it, threaten it,"
    yield "   or leave open whose troops they were."


def calibrate_truth(said: Predictions, bin_size: float) -> float:
    """The error that bins of this size would show without label noise."""
    ascending = np.argsort(said.probability, kind="stable")
    starts = np.arange(max(1, int(len(ascending) / bin_size))) * int(bin_size)
    n = np.diff(starts, append=len(ascending))
    gap = np.add.reduceat((said.truth - said.probability)[ascending], starts) / n
    return float(np.sqrt(np.average(gap**2, weights=n)))


def _indent(text: str) -> str:
    return "\n".join(f"   {line}" if line else "" for line in text.splitlines())
