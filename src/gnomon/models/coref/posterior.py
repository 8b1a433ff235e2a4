"""What a model believes about who is who: a distribution over the entities of one document.

Each of N mentions, in the order of the text, independently picks an antecedent, which is an earlier
mention or NEW, the beginning of an entity; the entities are what these links connect (Nguyen and
O'Connor 2015, section 5). Any mention-ranking system gives such a distribution: its scores for the
candidates of mention i, written one mention after the other. Saved as NPZ by another program, they
are read like this:

>>> import io
>>> file = io.BytesIO()  # or the path of a file
>>> np.savez(file, offsets=[0, 0, 1, 3], candidates=[0, 0, 1], logits=[1.5, -1.0, 2.0])
>>> size = file.seek(0)
>>> with np.load(file) as scores:
...     posterior = CorefPosterior.from_scores(**scores)
>>> posterior.pair_probabilities().round(3).tolist()
[[1.0, 0.818, 0.732], [0.818, 1.0, 0.878], [0.732, 0.878, 1.0]]
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.errors import InputError
from gnomon.estimate import Estimate
from gnomon.models.kernels import compiled, whole, wholes

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Clusters = NDArray[np.int32]
"""Probabilities, and whether each came true: what `gnomon.calibration` takes."""

NEW = -1
_NUMBERS_A_BLOCK = 2**20
_COLUMNS = ("offsets", "candidate", "log_probability")


@dataclass(frozen=True, eq=False, init=False)
class CorefPosterior:
    """The antecedent distribution of each of N mentions.

    The candidates of mention i are `candidate[offsets[i] : offsets[i + 1]]`: NEW (−1) first, always
    there, then mentions before i from the first to the last; `log_probability` has one number for
    each. They may be given in any order. Draws of clusters, and clusterings, have one number a
    mention: the first mention of its cluster. −inf is a candidate that cannot be picked.

    >>> posterior = CorefPosterior([0, 1, 3], [-1, -1, 0], np.log([1.0, 0.25, 0.75]))
    >>> posterior.probability(0, 1), posterior.map().tolist(), round(posterior.entropy(), 4)
    (0.75, [0, 0], 0.5623)
    """

    offsets: Wholes
    candidate: Clusters
    log_probability: Floats

    def __init__(
        self, offsets: ArrayLike, candidate: ArrayLike, log_probability: ArrayLike, *,
        where: str = "posterior",
    ) -> None:  # fmt: skip
        self._fill(offsets, candidate, log_probability, None, True, where)

    @classmethod
    def from_scores(
        cls, offsets: ArrayLike, candidates: ArrayLike, logits: ArrayLike, *,
        new_score: float | None = 0.0, where: str = "scores",
    ) -> "CorefPosterior":  # fmt: skip
        """The posterior of a mention-ranking model: P(antecedent) ∝ exp(logit).

        A mention without a candidate −1 gets one of score `new_score`, 0 as in neural rankers;
        None refuses it. `where` is what a complaint calls these scores, a file or document.
        """
        if new_score is not None and not _finite(new_score):
            raise InputError("new_score", f"{new_score!r} is not a score", "give a number, or None")
        posterior = cls.__new__(cls)
        posterior._fill(offsets, candidates, logits, new_score, False, where)
        return posterior

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, ArrayLike], *, where: str = "posterior"
    ) -> "CorefPosterior":
        """The posterior that `to_columns` took apart; float32 numbers are normalised again."""
        for name in _COLUMNS:
            if name not in columns:
                raise InputError(where, f"it has no column {name}", f"give {', '.join(_COLUMNS)}")
        return cls(*(columns[name] for name in _COLUMNS), where=where)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Three flat arrays, each fit for one cell of a list column."""
        return {name: getattr(self, name) for name in _COLUMNS}

    def _fill(
        self, offsets: ArrayLike, candidate: ArrayLike, score: ArrayLike,
        new_score: float | None, normal: bool, where: str,
    ) -> None:  # fmt: skip
        own = np.array(wholes(candidate, f"{where}, candidates"))  # copies are never read-only
        scores = _scores(score, where)
        if own.ndim != 1 or scores.shape != own.shape:
            problem = f"{own.shape} candidates and {scores.shape} scores"
            raise InputError(where, problem, "give one score a candidate")
        bounds = _bounds(offsets, len(own), where)
        kernels = compiled("coref.posterior_kernels")
        given = new_score is not None
        fault, mention, value, *columns = kernels.prepare(
            bounds, own, scores, 0.0 if new_score is None else float(new_score), given, normal
        )
        if fault:
            what, remedy = _FAULTS[fault]
            raise InputError(f"{where}, mention {mention}", what.format(value=value), remedy)
        for name, column in zip(_COLUMNS, columns, strict=True):
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        """How many mentions there are."""
        return len(self.offsets) - 1

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of each candidate."""
        return np.exp(self.log_probability)

    def new_probability(self) -> Floats:
        """P(NEW) of each mention."""
        return self.probabilities[self.offsets[:-1]]

    def top(self) -> tuple[Clusters, Floats]:
        """The most probable candidate of each mention and its probability.

        Of equally probable ones it is NEW, or else the earliest mention.
        """
        places = self.top_places()
        return self.candidate[places], self.probabilities[places]

    def top_places(self) -> Wholes:
        if not len(self):
            return np.empty(0, dtype=np.int64)
        starts = self.offsets[:-1]
        largest = np.maximum.reduceat(self.log_probability, starts)
        places = np.flatnonzero(self.log_probability == np.repeat(largest, np.diff(self.offsets)))
        return places[np.searchsorted(places, starts)]

    def entropy(self) -> float:
        """The entropy of all antecedents together, in nats: the sum of the mentions' own.

        Different antecedents can make the same clusters, so it bounds that of the clustering above.
        """
        from scipy.special import entr

        return float(entr(self.probabilities).sum())

    def recalibrated(self, temperature: float = 1.0, new_bias: float = 0.0) -> "CorefPosterior":
        """Log-probabilities divided by a temperature, then NEW's raised by a bias, normalised."""
        if not (_finite(temperature) and temperature > 0):
            raise InputError("temperature", f"{temperature!r} is not a temperature",
                             "give a number above 0")  # fmt: skip
        if not _finite(new_bias):
            raise InputError("new_bias", f"{new_bias!r} is not a bias", "give a number")
        best = np.repeat(self.log_probability[self.top_places()], np.diff(self.offsets))
        with np.errstate(over="ignore"):  # what is that improbable becomes impossible
            logits = (self.log_probability - best) / np.float64(temperature)
        logits[self.offsets[:-1]] += new_bias
        return self.from_scores(self.offsets, self.candidate, logits, where="recalibrated")

    def sample(self, draws: int, seed: int, key: int = 0, *, first: int = 0) -> Clusters:
        """Clusters drawn from the posterior, draws × N.

        A draw depends on the seed, the key and its own number only, so any part of the draws, from
        number `first` on, is the same made alone. With `document_key` as the key a document's draws
        depend on no other document.
        """
        draws = whole(draws, "draws", 0, 2**32 - 1)
        first = whole(first, "first", 0, 2**32 - 1 - draws)
        seed, key = whole(seed, "seed", 0, 2**64 - 1), whole(key, "key", 0, 2**64 - 1)
        out = np.empty((draws, len(self)), dtype=np.int32)
        compiled("coref.posterior_kernels").draw(
            self.offsets, self.candidate, self.probabilities, np.uint64(seed), np.uint64(key),
            first, out,
        )  # fmt: skip
        return out

    def statement(
        self, function: Callable[[Clusters], bool], draws: int, seed: int, key: int = 0, *,
        level: float = 0.95,
    ) -> Estimate:  # fmt: skip
        """The probability that a statement about the clusters is true, with a Wilson interval.

        The function is given one draw and says True or False; the interval is of the draws' own
        chance, not of the model.

        >>> even = CorefPosterior([0, 1, 3], [-1, -1, 0], np.log([1.0, 0.5, 0.5]))
        >>> print(even.statement(lambda cluster: cluster[0] == cluster[1], 1000, seed=0))
        0.4790 [0.4482, 0.5100]
        """
        from scipy.special import ndtri

        n = whole(draws, "draws", 1, 2**32 - 1)
        if not (_finite(level) and 0 < level < 1):
            raise InputError("level", f"{level!r} is not a level", "give a number such as 0.95")
        true = 0
        for start in range(0, n, 1024):
            for own in self.sample(min(1024, n - start), seed, key, first=start):
                answer = function(own)
                if not isinstance(answer, bool | np.bool_):
                    raise InputError("function", f"it says {answer!r} of a draw",
                                     "give a function that says True or False")  # fmt: skip
                true += bool(answer)
        p, z2 = true / n, float(ndtri((1 + level) / 2)) ** 2
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        reach = float(np.sqrt(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2)) / (1 + z2 / n)
        low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
        return Estimate(p, low, high, level, "Wilson", n)

    def pair_probabilities(self) -> Floats:
        """P(i and j corefer), exact, N × N; its memory is that of the matrix."""
        out = np.empty((len(self), len(self)))
        compiled("coref.posterior_kernels").pairs(
            self.offsets, self.candidate, self.probabilities, out
        )
        return out

    def pair_frequencies(self, draws: int, seed: int, key: int = 0) -> Floats:
        """The share of draws in which i and j corefer, N × N."""
        ids = self.sample(whole(draws, "draws", 1, 2**32 - 1), seed, key)
        out = np.empty((len(self), len(self)))
        compiled("coref.posterior_kernels").count_pairs(np.ascontiguousarray(ids.T), out)
        return out

    def pair_rows(self) -> Iterator[tuple[int, Floats]]:
        """The exact pair probabilities in pieces, for long documents.

        A piece is its first mention's number i and rows for it and the mentions that follow, each
        with the probabilities of the mentions up to itself, then zeros. Memory is N numbers for
        each mention that a later one may still pick (100 with a window of 100), and a piece, which
        is about a million numbers.
        """
        return self._pair_rows(len(self))

    def probability(self, i: int, j: int) -> float:
        """P(i and j corefer); it takes a pass over all mentions up to the later of the two."""
        i, j = sorted(whole(k, "mention", 0, len(self) - 1) for k in (i, j))
        *_, (_, rows) = self._pair_rows(j + 1)
        return float(rows[-1, i])

    def _pair_rows(self, n: int) -> Iterator[tuple[int, Floats]]:
        """The pieces of the first n mentions."""
        bounds = self.offsets[: n + 1]
        candidate = self.candidate[: bounds[-1]]
        last_use = np.arange(n)
        linked = candidate >= 0
        np.maximum.at(last_use, candidate[linked], np.repeat(last_use, np.diff(bounds))[linked])
        # How many rows are needed at once: one from its mention's turn to its last use.
        kept_for = last_use - np.arange(n) > 0
        begin = np.bincount(np.flatnonzero(kept_for), minlength=n)
        end = np.bincount(last_use[kept_for], minlength=n)
        most = int(np.cumsum(begin - end).max(initial=0))
        holder, slot, kept = np.full(most, -1), np.full(n, -1), np.empty((most, n))
        fill = compiled("coref.posterior_kernels").pair_block
        step = max(_NUMBERS_A_BLOCK // max(n, 1), 1)
        for first in range(0, n, step):
            last = min(first + step, n)
            out = np.empty((last - first, last))
            fill(bounds, candidate, self.probabilities, last_use, first, holder, slot, kept, out)
            yield first, out

    def map(self) -> Clusters:
        """The clusters that each mention's most probable antecedent makes."""
        clusters: Clusters = compiled("coref.posterior_kernels").components(self.top()[0])
        return clusters

    def expected_loss(self, clusters: ArrayLike, *, weight: float = 1.0) -> float:
        """The expected number of pairs of mentions that a clustering joins or separates wrongly.

        A pair joined wrongly counts `weight` times. `clusters` has a number a mention.
        """
        own = first_mentions(clusters, len(self), "clusters")
        pair = self.pair_probabilities()
        return float(_losses(pair, own[None, :], _checked_weight(weight))[0])

    def mbr(
        self, *, draws: int = 100, seed: int = 0, key: int = 0, weight: float = 1.0
    ) -> Clusters:
        """The clustering of least `expected_loss` among `map`, two others and some draws.

        One joins clusters as long as the mean probability of their pairs is above the threshold
        weight / (1 + weight), where joining pays; the other links each mention to the earlier one
        it most probably corefers with, if that is above it. Of equally good ones the first is
        taken. It is the best of these, not of all clusterings; the memory is that of
        `pair_probabilities`, four times.
        """
        threshold = (own := _checked_weight(weight)) / (1 + own)
        pair = self.pair_probabilities()
        best_link = compiled("coref.posterior_kernels").best_link(pair, threshold)
        some = [self.map(), _average_link(pair, threshold), best_link]
        choices = np.concatenate([np.stack(some), self.sample(draws, seed, key)])
        best: Clusters = choices[int(np.argmin(_losses(pair, choices, own)))]
        return best.copy()

    def log_likelihood(self, gold: ArrayLike, *, pruned_as_new: bool = False) -> float:
        """The log-probability of these entities: of all antecedents that make them, together.

        `gold` has a number a mention, equal for mentions of one entity; a negative number is an
        entity of its own. It is −inf where a mention's entity is not new and no candidate is of
        it, unless `pruned_as_new` counts NEW as right there.
        """
        right = self.right(first_mentions(gold, len(self), "gold"))
        if not len(self):
            return 0.0
        starts = self.offsets[:-1]
        if pruned_as_new:
            right[starts] |= ~np.logical_or.reduceat(right, starts)
        chosen = np.where(right, self.log_probability, -np.inf)
        return float(np.logaddexp.reduceat(chosen, starts).sum())

    def right(self, entity: Clusters) -> NDArray[np.bool_]:
        """Which candidates are right, given the first mention of each mention's entity."""
        mention = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        fitting: NDArray[np.bool_] = np.where(
            self.candidate < 0, entity[mention] == mention,
            entity[self.candidate] == entity[mention],
        )  # fmt: skip
        return fitting


def document_key(name: str) -> int:
    """The key of a document's draws, from its id.

    >>> document_key("story 1")
    4430261320726196048
    """
    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def first_mentions(entity: ArrayLike, n: int, where: str) -> Clusters:
    """The first mention of each mention's entity; a negative number is an entity of its own."""
    labels = wholes(entity, where)
    if labels.shape != (n,):
        raise InputError(where, f"{labels.shape} numbers for {n} mentions", "give one a mention")
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return np.where(labels < 0, np.arange(n), first[place]).astype(np.int32)


def _losses(pair: Floats, clusters: Clusters, weight: float) -> Floats:
    out = np.empty(len(clusters))
    compiled("coref.posterior_kernels").losses(pair, clusters, weight, out)
    return out


def _average_link(pair: Floats, threshold: float) -> Clusters:
    """Clusters joined as long as the mean pair probability is at least the threshold."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    n = len(pair)
    if n < 2:
        return np.arange(n, dtype=np.int32)
    tree = linkage(squareform(1.0 - pair, checks=False), "average")
    return first_mentions(fcluster(tree, 1.0 - threshold, "distance"), n, "clusters")


def _scores(values: ArrayLike, where: str) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}, scores", "not numbers", "give an array of numbers") from None


def _bounds(offsets: ArrayLike, candidates: int, where: str) -> Wholes:
    bounds = np.array(wholes(offsets, f"{where}, offsets"))
    if bounds.ndim != 1 or not len(bounds) or bounds[0] != 0 or bounds[-1] != candidates:
        problem = f"they do not go from 0 to the {candidates} candidates"
        remedy = "give where each mention's candidates start and, last, the end"
        raise InputError(f"{where}, offsets", problem, remedy)
    if (np.diff(bounds) < 0).any():
        raise InputError(f"{where}, offsets", "they go down",
                         "give them in the order of the mentions")  # fmt: skip
    return bounds


def _finite(value: object) -> bool:
    try:
        return isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value)
    except OverflowError:
        return False


def _checked_weight(weight: float) -> float:
    if not (_finite(weight) and weight > 0):
        raise InputError("weight", f"{weight!r} is not a weight", "give a number above 0")
    return float(weight)


# By the numbers of `posterior_kernels`.
_FAULTS = {
    1: ("an antecedent after its mention ({value:.0f})",
        "give earlier mentions, counted from 0, or −1 for NEW"),
    2: ("{value:.0f} is not a mention", "give earlier mentions, counted from 0, or −1 for NEW"),
    3: ("candidate {value:.0f} comes twice", "give each candidate once"),
    4: ("{value} is not a score", "give numbers, or −inf for what is impossible"),
    5: ("it has no candidate NEW (−1)", "give one, or a score for it as new_score"),
    6: ("no candidate is possible", "give one of them a score above −inf"),
    7: ("its probabilities sum to {value:.6g}", "give log-probabilities, or scores to from_scores"),
}  # fmt: skip
