"""A hidden Markov model of tags: bigram transitions and word emissions, smoothed by pseudocounts.

With K tags, V words in training, and counts n, the maximum a posteriori estimates under Dirichlet
priors of α pseudocounts for each transition and β for each emission are

    P(first tag b)  = (n(first b) + α) / (sentences + α K)
    P(b | a)        = (n(a b) + α) / (n(a) + α (K + 1))        b a tag, or the end of the sentence
    P(w | t)        = (n(t w) + β) / (n(t) + β (V + 1))

What a word not in training is, is said by `unknown`:

- "plain": one more word, never seen, which stands for every unknown word: P = β / (n(t) + β (V+1)).
- "classes": unknown words fall into classes by shape and ending, and words seen once in training
  show which tags a class has. A class is a node of a tree (all words; a shape; a shape and the
  last one, two and three letters); an unknown word belongs to its deepest node that a word seen
  once has. With m the counts of words seen once, P(t | node) = (m(t, node) + P(t | parent)) /
  (m(node) + 1), and at the root (m(t) + β) / (m + β K). Known words draw on the same tree: the βK
  pseudocounts of a word go to tags as its class has them instead of β to each. A class c weighs as
  its m(c) words and β more, so that

    P(w | t) ∝ n(t w) + β K P(t | class of w)        P(c | t) ∝ (m(c) + β) P(t | c)

  and words and classes together have probability 1.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gnomon.corpus.strings import Strings
from gnomon.errors import InputError
from gnomon.models.tagged import Codes, Tagged
from gnomon.models.tagging import Floats, Tagger, check_tagged, shaped, tried

TRANSITION = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
EMISSION = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
UNKNOWN = ("plain", "classes")
ENDING = 3  # letters
ROOT = ""


@dataclass(frozen=True, eq=False)
class HMM(Tagger):
    """A fitted hidden Markov model, as log probabilities.

    `emission` has a row for each of `words` and then for each of `classes` of unknown words;
    `settings` the pseudocounts and, in "development", the accuracy each pair of them had.

    >>> data = Tagged.of([["the", "dial"], ["the", "sun"]], [["DT", "NN"], ["DT", "NN"]])
    >>> list(HMM.fit(data).tag(Tagged.of([["the", "shadow"]])))
    ['DT', 'NN']
    """

    kind: ClassVar[str] = "hmm"
    words: tuple[str, ...]
    classes: tuple[str, ...]
    start: Floats
    transition: Floats
    end: Floats
    emission: Floats

    @classmethod
    def fit(
        cls,
        train: Tagged,
        dev: Tagged | None = None,
        *,
        transition: "float | Sequence[float] | None" = None,
        emission: "float | Sequence[float] | None" = None,
        unknown: str = "plain",
        step: Callable[[], None] = lambda: None,
    ) -> "HMM":
        """Counts `train`, and chooses the pseudocounts (above 0) by the accuracy on `dev`.

        Each may be one value or several; by default it is 1 without `dev` and a grid with it. Of
        pairs that do equally well the largest pseudocounts win. `step` is called after each.
        """
        if unknown not in UNKNOWN:
            problem = f"{unknown!r} is not a way to treat unknown words"
            raise InputError("unknown", problem, f"name one of {', '.join(UNKNOWN)}")
        usual = ((1.0,), (1.0,)) if dev is None else (TRANSITION, EMISSION)
        alphas = tried(transition, usual[0], "transition", "above 0")
        betas = tried(emission, usual[1], "emission", "above 0")
        grid = list(product(alphas, betas))
        if len(grid) > 1 and dev is None:
            problem = f"{len(grid)} pairs of pseudocounts and nothing to choose by"
            raise InputError("dev", problem, "give development data, or one value of each")
        check_tagged(train, "train")
        if dev is not None:
            check_tagged(dev, "dev")
        counts = _count(train, unknown)
        found: list[tuple[float, float, float]] = []
        for pair in grid:
            if dev is not None and len(grid) > 1:
                model = cls._estimated(counts, *pair, {})
                found.append((*pair, model.accuracy(dev).value))
                step()
        best = max(found, key=lambda row: row[2])[:2] if found else grid[0]
        settings = {"transition": best[0], "emission": best[1], "unknown": unknown}
        return cls._estimated(counts, *best, settings | {"development": found})

    @classmethod
    def _estimated(
        cls, counts: "_Counts", alpha: float, beta: float, settings: Mapping[str, Any]
    ) -> "HMM":
        k = len(counts.tags)
        following = np.concatenate([counts.transition, counts.end[:, None]], axis=1) + alpha
        following = np.log(following / following.sum(axis=1, keepdims=True))
        start = counts.start + alpha
        tree = counts.tree
        given_class = tree.tag_shares(beta)
        if counts.plain:
            words, classes = counts.emission + beta, np.full((1, k), beta)
        else:
            words = counts.emission + beta * k * given_class[counts.word_class]
            classes = (tree.own[:, None] + beta) * given_class
        emission = np.concatenate([words, classes])
        return cls(
            counts.tags, settings, counts.words, tree.names,
            start=np.log(start / start.sum()),
            transition=np.ascontiguousarray(following[:, :k]),
            end=np.ascontiguousarray(following[:, k]),
            emission=np.log(emission / emission.sum(axis=0)),
        )  # fmt: skip

    def scores(self, words: Tagged) -> tuple[Floats, Floats, Floats, Floats]:
        """Log probabilities, so that a sequence's score is the log of its joint with the words."""
        column = words.words.compact()
        known, classes = self._rows
        rows = [
            known[word] if word in known else classes[_deepest(word, classes)]
            for word in column.values
        ]
        unary = self.emission[np.array(rows, dtype=np.int64)[column.codes]]
        return unary, self.transition, self.start, self.end

    @cached_property
    def _rows(self) -> tuple[dict[str, int], dict[str, int]]:
        """The rows of `emission` for words and for classes of unknown words."""
        v = len(self.words)
        return dict(zip(self.words, range(v), strict=True)), {
            name: row for row, name in enumerate(self.classes, v)
        }

    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The names and arrays of a saved model."""
        arrays = {name: getattr(self, name) for name in ("start", "transition", "end", "emission")}
        return {"words": self.words, "classes": self.classes}, arrays

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> "HMM":
        """The model that was saved; a ValueError or KeyError says the file holds none."""
        tags, words, classes = (tuple(map(str, header[n])) for n in ("tags", "words", "classes"))
        k = len(tags)
        if ROOT not in classes:
            raise ValueError("classes")
        return cls(
            tags, header["settings"], words, classes,
            start=shaped(arrays, "start", k),
            transition=shaped(arrays, "transition", k, k),
            end=shaped(arrays, "end", k),
            emission=shaped(arrays, "emission", len(words) + len(classes), k),
            temperature=float(header["temperature"]),
        )  # fmt: skip


@dataclass(frozen=True)
class _Tree:
    """Classes of words: each node's parent and level, and the tags of words seen once below it.

    `own` counts the words seen once whose deepest node it is.
    """

    names: tuple[str, ...]
    parent: Codes
    level: Codes
    tags: Floats
    own: Floats

    def tag_shares(self, beta: float) -> Floats:
        """P(tag | node), smoothed by the node's parent."""
        shares = np.empty_like(self.tags)
        root = self.tags[0] + beta
        shares[0] = root / root.sum()
        for level in range(1, int(self.level.max()) + 1):
            here = np.flatnonzero(self.level == level)
            mixed = self.tags[here] + shares[self.parent[here]]
            shares[here] = mixed / mixed.sum(axis=1, keepdims=True)
        return shares


@dataclass(frozen=True)
class _Counts:
    """All there is to know about the training data; pseudocounts are added later."""

    tags: tuple[str, ...]
    words: tuple[str, ...]
    start: Floats
    transition: Floats
    end: Floats
    emission: Floats
    plain: bool
    tree: _Tree
    word_class: Codes


def _count(train: Tagged, unknown: str) -> _Counts:
    assert train.tags is not None
    tags = tuple(sorted({train.tags.values[k] for k in np.unique(train.tags.codes).tolist()}))
    gold, k = train.gold(tags), len(tags)
    column: Strings = train.words.compact()
    v = len(column.values)
    filled = np.diff(train.offsets) > 0
    places = train.pair_places()
    emission = _table(column.codes.astype(np.int64), gold, v, k)
    plain = unknown == "plain"
    # With one class, all words, nothing but the root is left of the tree.
    chains = [[ROOT] if plain else chain(word) for word in column.values]
    tree = _grow(chains, emission, emission.sum(axis=1) == 1)
    index = {name: row for row, name in enumerate(tree.names)}
    deepest = [index[_deepest(word, index)] for word in column.values]
    return _Counts(
        tags=tags,
        words=tuple(column.values),
        start=np.bincount(gold[train.offsets[:-1][filled]], minlength=k).astype(np.float64),
        transition=_table(gold[places], gold[places + 1], k, k),
        end=np.bincount(gold[train.offsets[1:][filled] - 1], minlength=k).astype(np.float64),
        emission=emission,
        plain=plain,
        tree=tree,
        word_class=np.array(deepest, dtype=np.int64),
    )


def _table(rows: Codes, columns: Codes, height: int, width: int) -> Floats:
    flat = np.bincount(rows * width + columns, minlength=height * width)
    return flat.reshape(height, width).astype(np.float64)


def _grow(chains: list[list[str]], emission: Floats, once: NDArray[np.bool_]) -> _Tree:
    index, parent, level = {ROOT: 0}, [0], [0]
    single = np.flatnonzero(once).tolist()
    for word in single:
        for depth, name in enumerate(chains[word][1:], 1):
            if name not in index:
                index[name] = len(index)
                parent.append(index[chains[word][depth - 1]])
                level.append(depth)
    tags, own = np.zeros((len(index), emission.shape[1])), np.zeros(len(index))
    for depth in range(len(chains[0])):
        nodes = np.array([index[chains[word][depth]] for word in single], dtype=np.int64)
        np.add.at(tags, nodes, emission[single])
        if depth == len(chains[0]) - 1:
            np.add.at(own, nodes, 1.0)
    return _Tree(tuple(index), np.array(parent), np.array(level), tags, own)


def chain(word: str) -> list[str]:
    """The classes of a word from the widest, all words, to the narrowest.

    >>> chain("Shadows")
    ['', 'capital', 'capital s', 'capital ws', 'capital ows']
    """
    if any(map(str.isdigit, word)):
        shape = "digit"
    elif not any(map(str.isalpha, word)):
        shape = "sign"
    elif word.isupper() and len(word) > 1:
        shape = "capitals"
    else:
        shape = "capital" if word[0].isupper() else "small"
    shape += "-" if "-" in word[1:-1] else ""
    ending = "^" + re.sub(r"\d", "0", word.lower())
    return [ROOT, shape, *(f"{shape} {ending[-n:]}" for n in range(1, ENDING + 1))]


def _deepest(word: str, classes: Mapping[str, int]) -> str:
    if len(classes) == 1:
        return ROOT
    return next(name for name in reversed(chain(word)) if name in classes)
