"""Coreference scores: MUC, B³, CEAF-e and their mean (CoNLL), LEA and BLANC.

A document's entities are clusters: collections of mentions, which may be anything hashable, a span
for example. Every measure is a quotient of sums over documents, as in the reference scorer (Pradhan
et al. 2014), so what is kept of a document is its sums (`Statistics`), and a bootstrap over
documents is arithmetic. A quotient with nothing below the line is 0, as there.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from gnomon.errors import InputError
from gnomon.estimate import JSON, Estimate, number

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Clusters = Sequence[Collection[Hashable]]

# What is summed for a document: each is four numbers, a numerator and a denominator of precision
# and of recall. BLANC is made of the two kinds of links.
SUMS = ("mentions", "muc", "b_cubed", "ceaf_e", "lea", "coreferent_links", "other_links")
METRICS = ("mentions", "muc", "b_cubed", "ceaf_e", "lea", "blanc")
_CONLL = slice(1, 4)
_BLOCK = 1 << 22  # of numbers drawn at a time


class Score(NamedTuple):
    """Precision, recall and their harmonic mean, from 0 to 1."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class Scores:
    """The scores of a corpus; `mentions` is how well its mentions were found.

    >>> print(score([[{1, 2, 3}, {4, 5}]], [[{1, 2}, {3, 4, 5}]]))
               precision  recall       F
    mentions      100.00  100.00  100.00
    MUC            66.67   66.67   66.67
    B³             73.33   73.33   73.33
    CEAF-e         80.00   80.00   80.00
    CoNLL                          73.33
    LEA            60.00   60.00   60.00
    BLANC          58.33   58.33   58.33
    1 document, singletons kept
    """

    mentions: Score
    muc: Score
    b_cubed: Score
    ceaf_e: Score
    lea: Score
    blanc: Score
    documents: int
    singletons: bool

    @property
    def conll(self) -> float:
        """The mean of the F of MUC, B³ and CEAF-e, by which systems are ranked."""
        return (self.muc.f + self.b_cubed.f + self.ceaf_e.f) / 3

    def to_dict(self) -> dict[str, JSON]:
        """Every score under its name, ready for JSON."""
        fields: dict[str, JSON] = {"conll": number(self.conll)}
        for name in METRICS:
            each: Score = getattr(self, name)
            fields[name] = {key: number(value) for key, value in each._asdict().items()}
        return fields | {"documents": self.documents, "singletons": self.singletons}

    def __str__(self) -> str:
        titles = {"mentions": "mentions", "muc": "MUC", "b_cubed": "B³", "ceaf_e": "CEAF-e",
                  "lea": "LEA", "blanc": "BLANC"}  # fmt: skip
        lines = [f"{'':8}  {'precision':>10}  {'recall':>6}  {'F':>6}"]
        for name, title in titles.items():
            p, r, f = (100 * value for value in getattr(self, name))
            lines.append(f"{title:8}  {p:10.2f}  {r:6.2f}  {f:6.2f}")
            if name == "ceaf_e":
                lines.append(f"{'CoNLL':8}  {'':10}  {'':6}  {100 * self.conll:6.2f}")
        plural = "" if self.documents == 1 else "s"
        kept = "kept" if self.singletons else "left out"
        return "\n".join([*lines, f"{self.documents} document{plural}, singletons {kept}"])


@dataclass(frozen=True, eq=False)
class Statistics:
    """What each document adds to the sums: documents × `SUMS` × (numerator and denominator of
    precision, numerator and denominator of recall)."""

    sums: Floats
    singletons: bool

    def __len__(self) -> int:
        return len(self.sums)

    def scores(self) -> Scores:
        """The scores of all documents together."""
        found = (Score(*each) for each in _scores(self.sums.sum(axis=0)).tolist())
        mentions, muc, b_cubed, ceaf_e, lea, blanc = found
        return Scores(mentions, muc, b_cubed, ceaf_e, lea, blanc, len(self), self.singletons)


def score(
    key: Sequence[Clusters], response: Sequence[Clusters], *, singletons: bool = True
) -> Scores:
    """The scores of a system's clusters against the true ones, one entry a document.

    Without `singletons`, clusters of one mention are left out of both, as suits a corpus that
    marks only what corefers.

    >>> score([[{"Ann", "she"}, {"Bob"}]], [[{"Ann", "she", "Bob"}]]).b_cubed
    Score(precision=0.555..., recall=1.0, f=0.714...)
    """
    return statistics(key, response, singletons=singletons).scores()


def statistics(
    key: Sequence[Clusters], response: Sequence[Clusters], *, singletons: bool = True
) -> Statistics:
    """The sums of each document, from which every score and its uncertainty follow."""
    if len(key) != len(response):
        problem = f"{len(key)} documents in the key, {len(response)} in the response"
        raise InputError("clusters", problem, "give both for the same documents, in the same order")
    sums = np.zeros((len(key), len(SUMS), 4))
    for n, (true, found) in enumerate(zip(key, response, strict=True)):
        _check(true, f"key, document {n + 1}")
        _check(found, f"response, document {n + 1}")
        if not singletons:
            true = [cluster for cluster in true if len(cluster) > 1]
            found = [cluster for cluster in found if len(cluster) > 1]
        sums[n] = _document_sums(_Overlap.of(true, found))
    return Statistics(sums, singletons)


def bootstrap(
    stats: Statistics,
    repetitions: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    *,
    metric: str = "conll",
) -> Estimate:
    """A score with the interval that resampling documents gives (BCa; Efron 1987).

    BCa corrects the percentiles for the bias and the skewness of the score's distribution.
    `metric` is "conll" or one of `METRICS`, of which the F is taken; `repetitions` is at least 100
    and `level` between 0 and 1. It takes two documents or more.

    >>> stats = statistics([[{1, 2, 3}], [{1, 2}]] * 5, [[{1, 2}, {3}], [{1, 2}]] * 5)
    >>> print(bootstrap(stats))
    0.7887 [0.6930, 0.9058]
    """
    if metric != "conll" and metric not in METRICS:
        known = ", ".join(("conll", *METRICS))
        raise InputError("metric", f"{metric!r} is not a metric", f"give one of: {known}")
    if not 0 < level < 1:
        raise InputError("level", f"{level} is not a level", "give one between 0 and 1")
    if repetitions < 100:
        raise InputError("repetitions", f"{repetitions} are too few", "give at least 100")
    if seed < 0:
        raise InputError("seed", f"{seed} is negative", "give a whole number, 0 or above")
    n = len(stats)
    if n < 2:
        problem = f"{n} documents cannot be resampled"
        raise InputError("documents", problem, "give at least 2")
    total = stats.sums.sum(axis=0)
    value = float(_f(total, metric))
    flat = stats.sums.reshape(n, -1)
    rng = np.random.default_rng(seed)
    rows = max(1, _BLOCK // n)
    draws = np.empty(repetitions)
    for first in range(0, repetitions, rows):
        last = min(first + rows, repetitions)
        times = rng.multinomial(n, np.full(n, 1 / n), size=last - first)
        draws[first:last] = _f((times @ flat).reshape(-1, *total.shape), metric)
    low, high = _bca(value, draws, _f(total - stats.sums, metric), level)
    return Estimate(value, low, high, level, "bca bootstrap over documents", n)


def _bca(value: float, draws: Floats, left_out: Floats, level: float) -> tuple[float, float]:
    """The bias-corrected, accelerated interval; `left_out` is the score without each document."""
    # A draw within rounding of the value is a tie, and half of a tie is below.
    tie = np.isclose(draws, value, rtol=0.0, atol=1e-12)
    below = (np.count_nonzero((draws < value) & ~tie) + 0.5 * np.count_nonzero(tie)) / len(draws)
    bias = float(ndtri(np.clip(below, 0.5 / len(draws), 1 - 0.5 / len(draws))))
    shift = left_out.mean() - left_out
    spread = float((shift**2).sum()) ** 1.5
    acceleration = float((shift**3).sum()) / (6 * spread) if spread > 0 else 0.0
    limits = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + float(ndtri(tail))
        squeeze = 1 - acceleration * z
        # Beyond its pole the formula turns round; there is then no more to correct.
        at = float(ndtr(bias + z / squeeze)) if squeeze > 0 else float(z > 0)
        limits.append(float(np.quantile(draws, at)))
    # At a low level, or with few documents, the corrected limits can pass the value itself.
    return min(limits[0], value), max(limits[1], value)


def _check(clusters: Clusters, where: str) -> None:
    """Raises unless these are clusters that share no mention."""
    seen: set[Hashable] = set()
    for k, cluster in enumerate(clusters):
        place = f"{where}, cluster {k + 1}"
        if isinstance(cluster, str | bytes) or not isinstance(cluster, Collection):
            problem = f"{type(cluster).__name__} is not a collection of mentions"
            raise InputError(place, problem, "give a set of mentions for each cluster")
        if len(cluster) == 0:
            raise InputError(place, "it has no mention", "leave empty clusters out")
        for mention in cluster:
            try:
                again = mention in seen
            except TypeError:
                problem = f"a mention of type {type(mention).__name__} cannot be looked up"
                raise InputError(place, problem, "give spans as tuples") from None
            if again:
                problem = f"mention {mention!r} stands there again"
                raise InputError(place, problem, "give each mention once, in one cluster")
            seen.add(mention)


class _Overlap(NamedTuple):
    """How key and response cut the same mentions: sizes of clusters, and of their intersections.

    `i` and `j` are the clusters of the key and of the response that share `shared` mentions.
    """

    key: Counts
    response: Counts
    i: Counts
    j: Counts
    shared: Counts

    @classmethod
    def of(cls, key: Clusters, response: Clusters) -> "_Overlap":
        own = {mention: j for j, cluster in enumerate(response) for mention in cluster}
        pairs: dict[tuple[int, int], int] = {}
        for i, cluster in enumerate(key):
            for mention in cluster:
                j = own.get(mention)
                if j is not None:
                    pairs[i, j] = pairs.get((i, j), 0) + 1
        places = np.array([*pairs], dtype=np.int64).reshape(-1, 2)
        return cls(
            np.array([len(cluster) for cluster in key], dtype=np.int64),
            np.array([len(cluster) for cluster in response], dtype=np.int64),
            places[:, 0],
            places[:, 1],
            np.array([*pairs.values()], dtype=np.int64),
        )


def _document_sums(overlap: _Overlap) -> Floats:
    """The numerators and denominators of one document, in the order of `SUMS`."""
    key, response, i, j, shared = overlap
    common = int(shared.sum())
    sums = np.zeros((len(SUMS), 4))
    sums[0] = common, response.sum(), common, key.sum()
    similarity = _best_alignment(overlap)
    sums[3] = similarity, len(response), similarity, len(key)
    for side, sizes, own, other in ((0, response, j, key[i]), (2, key, i, response[j])):
        pair = slice(side, side + 2)
        # MUC (Vilain et al. 1995): the links that join a cluster and that the other side has too.
        parts = np.bincount(own, minlength=len(sizes))
        found = np.bincount(own, shared, minlength=len(sizes))
        sums[1, pair] = (found - parts).sum(), (sizes - 1).sum()
        # B³ (Bagga and Baldwin 1998): for each mention, how much of its cluster is right.
        sums[2, pair] = (shared**2 / sizes[own]).sum(), sizes.sum()
        # LEA (Moosavi and Strube 2016): the links of a cluster that are right; a singleton's link
        # is to itself, and right where it is a singleton on the other side too.
        alone = (sizes[own] == 1) & (other == 1)
        links = np.where(sizes[own] == 1, alone, _pairs(shared) / np.maximum(_pairs(sizes[own]), 1))
        sums[4, pair] = (sizes[own] * links).sum(), sizes.sum()
    # BLANC (Recasens and Hovy 2011; Luo et al. 2014 for mentions that differ): both kinds of links.
    together = _pairs(shared).sum()
    in_key = _pairs(np.bincount(i, shared, minlength=len(key)).astype(np.int64)).sum()
    in_response = _pairs(np.bincount(j, shared, minlength=len(response)).astype(np.int64)).sum()
    apart = _pairs(np.array(common)) - in_key - in_response + together
    for side, sizes in ((0, response), (2, key)):
        linked = _pairs(sizes).sum()
        sums[5, side : side + 2] = together, linked
        sums[6, side : side + 2] = apart, _pairs(sizes.sum()) - linked
    return sums


def _pairs(n: Counts) -> Counts:
    return n * (n - 1) // 2


def _best_alignment(overlap: _Overlap) -> float:
    """CEAF-e (Luo 2005): the greatest total similarity of clusters that are aligned one to one."""
    from scipy.optimize import linear_sum_assignment

    key, response, i, j, shared = overlap
    if len(shared) == 0:
        return 0.0
    rows, row = np.unique(i, return_inverse=True)
    columns, column = np.unique(j, return_inverse=True)
    similarity = np.zeros((len(rows), len(columns)))
    similarity[row, column] = 2 * shared / (key[i] + response[j])
    return float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())


def _scores(sums: Floats) -> Floats:
    """Precision, recall and F of `METRICS`, from sums (any shape before the last two axes)."""
    precision = _quotient(sums[..., 0], sums[..., 1])
    recall = _quotient(sums[..., 2], sums[..., 3])
    each = np.stack([precision, recall, _harmonic(precision, recall)], axis=-1)
    links, others = each[..., 5, :], each[..., 6, :]
    # A key without links of one kind is scored by the other, without any by its mentions.
    has_links, has_others = (sums[..., k, 3, None] > 0 for k in (5, 6))
    blanc = np.where(has_links, links, np.where(has_others, others, each[..., 0, :]))
    blanc = np.where(has_links & has_others, (links + others) / 2, blanc)
    return np.concatenate([each[..., :5, :], blanc[..., None, :]], axis=-2)


def _f(sums: Floats, metric: str) -> Floats:
    f = _scores(sums)[..., 2]
    if metric == "conll":
        return np.asarray(f[..., _CONLL].mean(axis=-1))
    return np.asarray(f[..., METRICS.index(metric)])


def _quotient(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def _harmonic(a: Floats, b: Floats) -> Floats:
    return _quotient(2 * a * b, a + b)
