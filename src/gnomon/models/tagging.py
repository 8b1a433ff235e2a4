"""What the taggers share: what a lattice over tags predicts of sentences (`models.tagged`).

A `Tagger` is a chain model, `gnomon.models.hmm.HMM` or `gnomon.models.crf.CRF`: it
makes a `Lattice` of the words, and here is what every such model can do with it. Predictions come
in batches of columns that `gnomon.calibration` takes:

    for batch in tagger.predictions(data):
        stream.update(batch.probability, batch.label)
    all_of_them = gather(tagger.predictions(data, tags=["NN", "VB"]))
    calibrate_groups(all_of_them.probability, all_of_them.label, all_of_them.group_names())
"""

import io
import json
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gnomon.corpus.files import reported, shown
from gnomon.corpus.strings import Strings
from gnomon.errors import InputError
from gnomon.models.lattice import Lattice
from gnomon.models.tagged import BATCH, Codes, Tagged
from gnomon.tables import write_bytes

if TYPE_CHECKING:
    from gnomon.models.crf import CRF
    from gnomon.models.hmm import HMM

Floats = NDArray[np.float64]

FORMAT = 1  # of saved taggers
TEMPERATURES = (0.05, 20.0)  # where `recalibrated` looks


@dataclass(frozen=True)
class Accuracy:
    """How many words got their gold tag, and how often gold tags occur that the model has not.

    Words with such an `unseen` tag count among the words, and as wrong.

    >>> print(Accuracy(9, 10, {"UH": 1}))
    0.9000 of 10 words; 1 has a tag the model does not know (UH)
    """

    right: int
    words: int
    unseen: Mapping[str, int]

    @property
    def value(self) -> float:
        """The share of words tagged right."""
        return self.right / self.words

    def __str__(self) -> str:
        text = f"{self.value:.4f} of {self.words} words"
        if n := sum(self.unseen.values()):
            verb = "has a tag" if n == 1 else "have tags"
            text += f"; {n} {verb} the model does not know ({', '.join(self.unseen)})"
        return text


@dataclass(frozen=True, eq=False)
class Predictions:
    """Columns of equal length: a probability, whether it came true (0 or 1), of which group."""

    probability: Floats
    label: NDArray[np.uint8]
    group: Strings

    def __len__(self) -> int:
        return len(self.probability)

    def group_names(self) -> NDArray[np.str_]:
        """The group of each row as an array of names."""
        return np.array(self.group.values, dtype=np.str_)[self.group.codes]


def gather(batches: Iterable[Predictions]) -> Predictions:
    """All batches of one model's predictions as one."""
    parts = list(batches)
    if not parts:
        raise InputError("predictions", "there are none", "give sentences with words")
    codes = np.concatenate([part.group.codes for part in parts])
    return Predictions(
        np.concatenate([part.probability for part in parts]),
        np.concatenate([part.label for part in parts]),
        Strings(codes, parts[0].group.values),
    )


@dataclass(frozen=True, eq=False)
class Tagger(ABC):
    """A model of tag sequences; `temperature` flattens (above 1) or sharpens all it says."""

    kind: ClassVar[str]
    tags: tuple[str, ...]
    settings: Mapping[str, Any]
    temperature: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        if not 0 < self.temperature < np.inf:
            problem = f"{self.temperature} is not a temperature"
            raise InputError("temperature", problem, "give a number above 0")

    @abstractmethod
    def scores(self, words: Tagged) -> tuple[Floats, Floats, Floats, Floats]:
        """Scores before the temperature: each word's tags, transitions, first and last tags."""

    @abstractmethod
    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What a saved model holds besides tags, settings and temperature: names and arrays."""

    def lattice(self, words: Tagged) -> Lattice:
        """The distribution over tag sequences of each sentence."""
        unary, transition, start, end = self.scores(words)
        lattice = Lattice(unary, words.offsets, transition, start, end)
        return lattice if self.temperature == 1 else lattice.tempered(self.temperature)

    def tag(self, words: Tagged, *, batch: int = BATCH) -> Strings:
        """The tags of the most probable sequence of each sentence."""
        found = [self.lattice(part).viterbi()[0] for part in words.batches(batch)]
        return Strings(np.concatenate([np.empty(0, np.int32), *found]).astype(np.int32), self.tags)

    def accuracy(self, data: Tagged, *, batch: int = BATCH) -> Accuracy:
        """How often the most probable sequence has the gold tag."""
        gold = data.gold(self.tags)
        if not len(gold):
            raise InputError("data", "there are no words", "give sentences with words")
        right = int(np.count_nonzero(self.tag(data, batch=batch).codes == gold))
        assert data.tags is not None
        unseen = Counter(data.tags[gold < 0])
        return Accuracy(right, len(gold), dict(unseen.most_common()))

    def recalibrated(self, data: Tagged) -> Self:
        """The same model with the temperature that makes the gold tags of held-out data likeliest.

        A sentence that has a tag the model does not know has no likelihood and is left out.
        """
        from scipy.optimize import minimize_scalar

        gold = data.gold(self.tags)
        own = np.repeat(np.arange(data.sentences), np.diff(data.offsets))
        unknown = np.bincount(own[gold < 0], minlength=data.sentences)
        usable = data.take((unknown == 0) & (np.diff(data.offsets) > 0))
        if not len(usable):
            problem = "no sentence has only tags the model knows"
            raise InputError("data", problem, "give sentences tagged with the model's tags")
        lattice = replace(self, temperature=1.0).lattice(usable)
        score = float(np.sum(lattice.log_score(usable.gold(self.tags))))

        def loss(log_temperature: float) -> float:
            temperature = float(np.exp(log_temperature))
            return float(lattice.tempered(temperature).log_partition().sum()) - score / temperature

        # The likelihood is concave in 1 / temperature, so it has one peak.
        bounds = tuple(np.log(TEMPERATURES))
        found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-5})
        best = min((0.0, float(found.x)), key=loss)
        return replace(self, temperature=float(np.exp(best)))

    def predictions(
        self, data: Tagged, tags: "str | Sequence[str] | None" = None, *, batch: int = BATCH
    ) -> Iterator[Predictions]:
        """P(tag of the word) for every word and every tag, or every one of some tags.

        The rows go word by word, and for each word tag by tag; the group is the tag. A word whose
        gold tag the model does not know has only labels 0. A batch has about `batch` words.
        """
        names = self.tags if tags is None else (tags,) if isinstance(tags, str) else tuple(tags)
        columns = self._numbers(names)
        data.gold(self.tags)  # raises now, not at the first batch
        return self._predictions(data, names, columns, batch)

    def _predictions(
        self, data: Tagged, names: tuple[str, ...], columns: Codes, batch: int
    ) -> Iterator[Predictions]:
        for part in data.batches(batch):
            if len(part):
                probability = self.lattice(part).marginals()[:, columns]
                label = part.gold(self.tags)[:, None] == columns
                yield _rows(probability, label, names)

    def pair_predictions(
        self, data: Tagged, pairs: "Sequence[tuple[str, str]] | int" = 100, *, batch: int = BATCH
    ) -> Iterator[Predictions]:
        """P(tags of two neighbouring words) for every two neighbours and every one of some pairs.

        `pairs` names them, or says how many: the most frequent in the data among pairs of tags
        the model knows. The rows go place by place, then pair by pair; the group is "DT NN".
        """
        if isinstance(pairs, int):
            wanted = self._frequent_pairs(data, pairs)
        else:
            data.gold(self.tags)
            flat = self._numbers(tuple(tag for pair in pairs for tag in pair))
            if len(flat) != 2 * len(pairs):
                raise InputError("pairs", "not each has two tags", "give pairs of tags")
            wanted = flat.reshape(-1, 2)
        names = tuple(f"{self.tags[a]} {self.tags[b]}" for a, b in wanted.tolist())
        return self._pair_predictions(data, names, wanted, batch)

    def _pair_predictions(
        self, data: Tagged, names: tuple[str, ...], pairs: Codes, batch: int
    ) -> Iterator[Predictions]:
        for part in data.batches(batch):
            places, gold = part.pair_places(), part.gold(self.tags)
            if len(places):
                probability = self.lattice(part).pair_marginals(pairs)
                label = (gold[places][:, None] == pairs[:, 0]) & (
                    gold[places + 1][:, None] == pairs[:, 1]
                )
                yield _rows(probability, label, names)

    def _frequent_pairs(self, data: Tagged, most: int) -> Codes:
        if most < 1:
            raise InputError("pairs", f"{most} of them", "give 1 or more")
        places, gold, k = data.pair_places(), data.gold(self.tags), len(self.tags)
        first, second = gold[places], gold[places + 1]
        known = (first >= 0) & (second >= 0)
        count = np.bincount(first[known] * k + second[known], minlength=k * k)
        order = np.argsort(-count, kind="stable")[:most]
        order = order[count[order] > 0]
        return np.stack([order // k, order % k], axis=1)

    def _numbers(self, names: tuple[str, ...]) -> Codes:
        place = {tag: k for k, tag in enumerate(self.tags)}
        for name in names:
            if name not in place:
                problem = f"the model has no tag {name!r}"
                raise InputError("tags", problem, f"name one of {' '.join(self.tags)}")
        if not names:
            raise InputError("tags", "none is named", "name one or more")
        return np.array([place[name] for name in names], dtype=np.int64)

    def save(self, path: str | Path) -> None:
        """Writes the model to one file, whole or not at all: arrays and a JSON header, as NPZ."""
        names, arrays = self.packed()
        header = {"kind": self.kind, "format": FORMAT, "tags": self.tags, "settings": self.settings}
        text = json.dumps(header | {"temperature": self.temperature} | names)
        buffer = io.BytesIO()
        columns: dict[str, Any] = {"header": np.frombuffer(text.encode(), np.uint8), **arrays}
        np.savez_compressed(buffer, allow_pickle=False, **columns)
        write_bytes(path, buffer.getvalue())


def _rows(probability: Floats, label: NDArray[np.bool_], names: tuple[str, ...]) -> Predictions:
    n, k = probability.shape
    group = np.tile(np.arange(k, dtype=np.int32), n)
    # Sums of rounded products can pass 1 by a last digit.
    flat = np.clip(np.ascontiguousarray(probability, dtype=np.float64).ravel(), 0.0, 1.0)
    return Predictions(flat, label.astype(np.uint8).ravel(), Strings(group, names))


def load(path: str | Path) -> "HMM | CRF":
    """A tagger as it was saved."""
    from gnomon.models.crf import CRF
    from gnomon.models.hmm import HMM

    name = shown(path)
    with reported(name):
        data = Path(path).read_bytes()
    try:
        header, arrays = _unzipped(data)
        version, kind = int(header["format"]), str(header["kind"])
    except (
        ValueError, KeyError, TypeError, EOFError, OSError, NotImplementedError, RuntimeError,
        AttributeError, zipfile.BadZipFile, zlib.error,
    ):  # fmt: skip
        raise _foreign(name) from None
    if version > FORMAT:
        problem = f"it was made by a newer Gnomon (format {version}, this one reads {FORMAT})"
        raise InputError(name, problem, "update Gnomon")
    model = {"hmm": HMM, "crf": CRF}.get(kind)
    if model is None or not isinstance(header.get("settings"), dict):
        raise _foreign(name)
    try:
        return model.unpacked(header, arrays)  # type: ignore[attr-defined,no-any-return]
    except (ValueError, KeyError, TypeError, IndexError):
        raise _foreign(name) from None


def _unzipped(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if archive.testzip() is not None:  # NumPy itself does not read to where the sum is checked
            raise ValueError
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    header = json.loads(arrays.pop("header").tobytes())
    return header, arrays


def _foreign(name: str) -> InputError:
    problem = "it is no tagger saved by Gnomon, or is damaged"
    return InputError(name, problem, "train it again, or copy it again")


def check_tagged(data: Tagged, name: str) -> None:
    """Refuses data to train on or choose by that has no tagged words."""
    if data.tags is None or not len(data):
        raise InputError(name, "there are no tagged words", "give sentences with tags")


def tried(given: Any, default: tuple[float, ...], name: str, least: str) -> list[float]:
    """The values of a setting to try, largest first; `least` is "0 or more" or "above 0".

    >>> tried([0.1, 1], (1.0,), "emission", "above 0")
    [1.0, 0.1]
    """
    try:
        values = np.atleast_1d(np.asarray(default if given is None else given, dtype=np.float64))
    except (ValueError, TypeError):
        raise InputError(name, f"{given!r} is no number", f"give numbers {least}") from None
    if not values.size:
        raise InputError(name, "there is no value to try", "give one or more")
    for value in values.ravel().tolist():
        if not 0 <= value < np.inf or (value == 0 and least == "above 0"):
            raise InputError(name, f"{value} is not {least}", f"give numbers {least}")
    return sorted(values.ravel().tolist(), reverse=True)


def shaped(arrays: Mapping[str, NDArray[Any]], name: str, *shape: int) -> Floats:
    """An array of a saved model, if it has this shape and only finite numbers."""
    array = arrays[name]
    if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError(name)
    return array
