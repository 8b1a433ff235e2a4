"""A linear-chain conditional random field of tags, trained by CRFsuite and read by our lattice.

A sequence's score is the sum of the weights of its transitions and of each word's attributes
with its tag; there are no weights for the first and last tag. Attributes come in sets:

- "basic": the word. With the transitions that is what an HMM looks at.
- "full": also the word in small letters, its first and last one to four letters, its shape (Xx-0),
  whether it has a capital, a digit or a hyphen, and the words before and after.

Training maximises log-likelihood − c2 · Σ weights² by L-BFGS (Okazaki, CRFsuite, 2007), on one
thread and without chance: the same data give the same weights.
"""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import InputError, MissingExtra
from gnomon.models.tagged import Codes, Tagged
from gnomon.models.tagging import Floats, Tagger, check_tagged, shaped, tried

C2 = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
FEATURES = ("basic", "full")
EDGE = ""  # the neighbour of a sentence's first and last word; no word is empty
_AFFIX = 4  # letters
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])


@dataclass(frozen=True, eq=False)
class CRF(Tagger):
    """A trained conditional random field: weights of attributes × tags and of tags × tags.

    `settings` has what it was trained with and, in "development", the accuracy of each c2.

    >>> data = Tagged.of([["the", "dial"], ["the", "sun"]], [["DT", "NN"], ["DT", "NN"]])
    >>> model = CRF.fit(data)
    >>> model.attributes, list(model.tag(Tagged.of([["the", "shadow"]])))
    (('word=the', 'word=dial', 'word=sun'), ['DT', 'NN'])
    """

    kind: ClassVar[str] = "crf"
    attributes: tuple[str, ...]
    weights: Floats
    transition: Floats

    @classmethod
    def fit(
        cls,
        train: Tagged,
        dev: Tagged | None = None,
        *,
        features: str = "basic",
        c2: "float | Sequence[float] | None" = None,
        max_iterations: int | None = None,
        possible_states: bool = False,
        possible_transitions: bool = False,
        step: Callable[[], None] = lambda: None,
    ) -> "CRF":
        """Trains on `train`, and chooses `c2` (0 or more) by the accuracy on `dev`.

        `c2` may be one value or several; by default it is 1 without `dev` and a grid with it. Of
        values that do equally well the largest wins. `max_iterations` stops the optimiser before
        it has converged. Attributes and transitions get weights only with the tags they were seen
        with in training, unless all `possible_states` and `possible_transitions` do; no
        attribute is too rare. `step` is called after each training.
        """
        values = tried(c2, C2 if dev is not None else (1.0,), "c2", "0 or more")
        if features not in FEATURES:
            problem = f"{features!r} is no set of features"
            raise InputError("features", problem, f"name one of {', '.join(FEATURES)}")
        if len(values) > 1 and dev is None:
            problem = f"{len(values)} values of c2 and nothing to choose by"
            raise InputError("dev", problem, "give development data, or one value")
        if max_iterations is not None and max_iterations < 1:
            problem = f"{max_iterations} iterations"
            raise InputError("max_iterations", problem, "give 1 or more, or None")
        check_tagged(train, "train")
        if dev is not None:
            check_tagged(dev, "dev")
        options = {
            "features": features, "max_iterations": max_iterations,
            "possible_states": possible_states, "possible_transitions": possible_transitions,
        }  # fmt: skip
        best, best_accuracy = None, -1.0
        found: list[tuple[float, float]] = []
        for value, model in _trained(train, values, options):
            if dev is not None and len(values) > 1:
                found.append((value, model.accuracy(dev).value))
            step()
            if best is None or found[-1][1] > best_accuracy:
                best, best_accuracy = model, found[-1][1] if found else 0.0
        assert best is not None
        settings = {**best.settings, "development": found}
        return cls(best.tags, settings, best.attributes, best.weights, best.transition)

    def scores(self, words: Tagged) -> tuple[Floats, Floats, Floats, Floats]:
        """The weights of each word's attributes added up, and those of transitions."""
        index = self._rows
        column = words.words.compact()
        neighbours = self.settings["features"] == "full"
        # All attributes but the neighbours are the word's own: add them up once a distinct word.
        own = [[index.get(name, -1) for name in own_attributes(word, neighbours)]
               for word in column.values]  # fmt: skip
        unary = _sums(own, self.weights)[column.codes]
        if neighbours:
            for side, places in _neighbours(words, column.codes).items():
                rows = [[index.get(f"{side}={word}", -1)] for word in (*column.values, EDGE)]
                unary += _sums(rows, self.weights)[places]
        edge = np.zeros(len(self.tags))
        return unary, self.transition, edge, edge

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The row of `weights` for each attribute."""
        return {name: row for row, name in enumerate(self.attributes)}

    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The names and arrays of a saved model; of the weights, those that are not 0."""
        place = np.flatnonzero(self.weights)
        weight = self.weights.ravel()[place]
        arrays = {"transition": self.transition, "place": place, "weight": weight}
        return {"attributes": self.attributes}, arrays

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> "CRF":
        """The model that was saved; a ValueError or KeyError says the file holds none."""
        tags, attributes = (tuple(map(str, header[name])) for name in ("tags", "attributes"))
        settings, k = header["settings"], len(tags)
        if settings["features"] not in FEATURES:
            raise ValueError("features")
        place = arrays["place"]
        weight = shaped(arrays, "weight", len(place))
        if place.dtype != np.int64 or np.any((place < 0) | (place >= len(attributes) * k)):
            raise ValueError("place")
        weights = np.zeros((len(attributes), k))
        weights.flat[place] = weight
        transition = shaped(arrays, "transition", k, k)
        temperature = float(header["temperature"])
        return cls(tags, settings, attributes, weights, transition, temperature=temperature)


def own_attributes(word: str, full: bool) -> list[str]:
    """The attributes that depend on the word alone.

    >>> own_attributes("Dial", full=True)[:6]
    ['word=Dial', 'small=dial', 'begins=d', 'begins=di', 'begins=dia', 'begins=dial']
    """
    found = [f"word={word}"]
    if full:
        small = word.lower()
        found.append(f"small={small}")
        sizes = range(1, min(len(small), _AFFIX) + 1)
        found += [f"begins={small[:n]}" for n in sizes]
        found += [f"ends={small[-n:]}" for n in sizes]
        found.append(f"shape={shape(word)}")
        found += ["capital"] if word[:1].isupper() else []
        found += ["digit"] if any(map(str.isdigit, word)) else []
        found += ["hyphen"] if "-" in word else []
    return found


def shape(word: str) -> str:
    """The kinds of characters in a word, runs of one kind as one.

    >>> shape("McDonald's"), shape("mid-1990s"), shape("ÉCOLE")
    ("XxXx'x", 'x-0x', 'X')
    """
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c
             for c in word)  # fmt: skip
    return re.sub(r"(.)\1+", r"\1", "".join(kinds))


def _neighbours(words: Tagged, codes: NDArray[np.int32]) -> dict[str, Codes]:
    """The code of the word before and after each; at the edges one more than the last code."""
    edge = int(codes.max(initial=-1)) + 1
    before, after = np.full((2, len(codes)), edge, dtype=np.int64)
    places = words.pair_places()
    before[places + 1] = codes[places]
    after[places] = codes[places + 1]
    return {"before": before, "after": after}


def _sums(rows: list[list[int]], weights: Floats) -> Floats:
    """The sum of some rows of the weights, for each list of their numbers; -1 is left out."""
    from scipy.sparse import csr_matrix

    known = [[number for number in row if number >= 0] for row in rows]
    pointer = np.concatenate(([0], np.cumsum([len(row) for row in known], dtype=np.int64)))
    column = np.array([number for row in known for number in row], dtype=np.int64)
    chosen = csr_matrix((np.ones(len(column)), column, pointer), (len(rows), len(weights)))
    return np.asarray(chosen @ weights, dtype=np.float64)


def _trained(
    train: Tagged, values: Sequence[float], options: Mapping[str, Any]
) -> Iterator[tuple[float, CRF]]:
    """A model for each value of c2, from one CRFsuite trainer that holds the data."""
    try:
        import pycrfsuite
    except ImportError as error:
        raise MissingExtra("text", "python-crfsuite") from error

    assert train.tags is not None
    tags = tuple(sorted({train.tags.values[k] for k in np.unique(train.tags.codes).tolist()}))
    # CRFsuite sees numbers for names: no character of a word or tag can then be in its way.
    index: dict[str, str] = {}
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    items = _items(train, index, options["features"] == "full")
    labels = [str(code) for code in train.gold(tags).tolist()]
    bounds = train.offsets.tolist()
    for start, end in pairwise(bounds):
        if end > start:
            trainer.append(items[start:end], labels[start:end])
    parameters = {
        "c1": 0.0,
        "feature.minfreq": 0.0,
        "feature.possible_states": options["possible_states"],
        "feature.possible_transitions": options["possible_transitions"],
    }
    if options["max_iterations"] is not None:
        parameters["max_iterations"] = options["max_iterations"]
    trainer.set_params(parameters)
    names = np.array(list(index), dtype=object)
    for value in values:
        trainer.set("c2", value)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            trainer.train(str(file))
            weights, transition = model_weights(file.read_bytes(), len(index), len(tags))
        used = weights.any(axis=1)
        settings = {**options, "c2": value}
        yield value, CRF(tags, settings, tuple(names[used]), weights[used], transition)


def _items(words: Tagged, index: dict[str, str], full: bool) -> list[list[str]]:
    """The numbers of each word's attributes, as text; new attributes get the next number."""

    def number(name: str) -> str:
        return index.setdefault(name, str(len(index)))

    column = words.words.compact()
    own = [[number(name) for name in own_attributes(word, full)] for word in column.values]
    items = [own[code] for code in column.codes.tolist()]
    if full:
        for side, places in _neighbours(words, column.codes).items():
            values = (*column.values, EDGE)
            items = [[*item, number(f"{side}={values[place]}")]
                     for item, place in zip(items, places.tolist(), strict=True)]  # fmt: skip
    return items


def model_weights(data: bytes, attributes: int, labels: int) -> tuple[Floats, Floats]:
    """The weights in a CRFsuite model file whose attributes and labels are named by numbers.

    CRFsuite's own listing rounds weights to six decimals, too few for equal probabilities.
    """
    header = np.frombuffer(data, "<u4", count=12)
    if data[:4] != b"lCRF" or header[3] != 100:
        problem = "it writes model files of an unknown kind"
        raise InputError("CRFsuite", problem, "install python-crfsuite 0.9.10 or 0.9.11")
    at_features, at_labels, at_attributes = header[7:10].tolist()
    count = int(np.frombuffer(data, "<u4", count=1, offset=at_features + 8)[0])
    table = np.frombuffer(data, _FEATURE, count=count, offset=at_features + 12)
    label, attribute = _numbers(data, at_labels), _numbers(data, at_attributes)
    weights, transition = np.zeros((attributes, labels)), np.zeros((labels, labels))
    state = table[table["type"] == 0]
    weights[attribute[state["source"]], label[state["target"]]] = state["weight"]
    pair = table[table["type"] == 1]
    transition[label[pair["source"]], label[pair["target"]]] = pair["weight"]
    return weights, transition


def _numbers(data: bytes, start: int) -> Codes:
    """The names, which are numbers, in one of the file's dictionaries, by CRFsuite's own number."""
    count, offset = np.frombuffer(data, "<u4", count=2, offset=start + 16).tolist()
    records = np.frombuffer(data, "<u4", count=count, offset=start + offset).tolist()
    names = []
    for record in records:  # own number, length of the name with its closing zero, the name
        begin = start + record + 8
        names.append(int(data[begin : data.index(b"\0", begin)]))
    return np.array(names, dtype=np.int64)
