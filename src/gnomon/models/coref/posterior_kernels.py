"""Antecedent distributions, compiled: what `gnomon.models.coref.posterior` runs on.

Row i of a ragged array, `offsets[i]` to `offsets[i + 1]`, belongs to mention i.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gnomon.models.random_bits import philox, uniform

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Clusters = NDArray[np.int32]

NEW = -1
NORMAL = 1e-12  # a row whose sum is this near to 1 is left as it is, digit for digit
ROUNDED = 1e-3  # what float32, or printing four digits, may have done to a row's sum

# What can be wrong with a row.
AFTER, BELOW, TWICE, NOT_A_SCORE, NO_NEW, NOTHING, NOT_NORMAL = range(1, 8)

_DRAWS_A_BLOCK = 256
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_STREAM = np.uint64(1 << 31)  # so that a lattice drawn with the same seed and key has other numbers

kernel = njit(cache=True, nogil=True, error_model="numpy")
# Multiply and add in one instruction; sums keep their order.
contracted = njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")


@kernel
def _ascending(values: Wholes) -> bool:
    falls = 0
    for k in range(1, len(values)):
        falls += values[k] < values[k - 1]
    return falls == 0


@kernel
def _row_fault(i: int, candidate: Wholes, score: Floats, new_known: bool) -> tuple[int, float]:
    """What is wrong with a row sorted by candidate (0: nothing), and the value that is."""
    n = len(candidate)
    possible = False
    for k in range(n):
        if candidate[k] >= i:
            return AFTER, float(candidate[k])
        if candidate[k] < NEW:
            return BELOW, float(candidate[k])
        if k > 0 and candidate[k] == candidate[k - 1]:
            return TWICE, float(candidate[k])
        if not score[k] < np.inf:  # NaN is not
            return NOT_A_SCORE, score[k]
        possible = possible or score[k] > -np.inf
    if n == 0 or candidate[0] != NEW:
        return (0 if new_known else NO_NEW), 0.0
    return (0 if possible else NOTHING), 0.0


@kernel
def _normalise(score: Floats, must_be: bool) -> bool:
    """Turns scores into log-probabilities; False if they should have been and were not."""
    largest = np.max(score)
    total = 0.0
    for k in range(len(score)):
        total += np.exp(score[k] - largest)
    log_total = largest + np.log(total)
    if must_be and not abs(log_total) <= ROUNDED:
        return False
    if abs(log_total) > NORMAL:
        # The largest first: it can be so large that the rest of the sum is lost in it.
        for k in range(len(score)):
            score[k] = (score[k] - largest) - np.log(total)
    return True


@kernel
def prepare(
    offsets: Wholes, candidate: Wholes, score: Floats, new_score: float, new_known: bool,
    must_be_normal: bool,
) -> tuple[int, int, float, Wholes, Clusters, Floats]:  # fmt: skip
    """Sorts the rows, gives those without NEW one, and normalises them.

    First come the fault, its mention and the value at fault; then the new columns.
    """
    n = len(offsets) - 1
    size = len(candidate) + n
    out_offsets = np.zeros(n + 1, dtype=np.int64)
    out_candidate, out_score = np.empty(size, dtype=np.int32), np.empty(size)
    at = 0
    for i in range(n):
        start, size = at, offsets[i + 1] - offsets[i]
        own, values = candidate[offsets[i] : offsets[i + 1]], score[offsets[i] : offsets[i + 1]]
        if not _ascending(own):
            order = np.argsort(own)
            own, values = own[order], values[order]
        fault, wrong = _row_fault(i, own, values, new_known)
        if fault > 0:
            return fault, i, wrong, out_offsets, out_candidate, out_score
        if size == 0 or own[0] != NEW:
            out_candidate[at], out_score[at] = NEW, new_score
            at += 1
        out_candidate[at : at + size] = own
        out_score[at : at + size] = values
        at += size
        if not _normalise(out_score[start:at], must_be_normal):
            total = np.sum(np.exp(out_score[start:at]))
            return NOT_NORMAL, i, total, out_offsets, out_candidate, out_score
        out_offsets[i + 1] = at
    return 0, 0, 0.0, out_offsets, out_candidate[:at].copy(), out_score[:at].copy()


@kernel
def components(antecedent: Clusters) -> Clusters:
    """The clusters that links to earlier mentions make, each named by its first mention."""
    ids = np.empty(len(antecedent), dtype=np.int32)
    for i in range(len(antecedent)):
        ids[i] = i if antecedent[i] < 0 else ids[antecedent[i]]
    return ids


@kernel
def _cumulate(
    offsets: Wholes, candidate: Clusters, probability: Floats, sums: Floats, link: Clusters,
    guide: Clusters,
) -> None:  # fmt: skip
    """Fills `sums` with the running sums of each row and `link` with whose cluster is joined.

    guide[i, s] is where to look for numbers from s / steps on: none of them is below the sum
    before it, so a search from there finds what a search of the whole row finds (Chen and Asau,
    "On generating random variates from an empirical distribution", AIIE Transactions 1974).
    """
    n, steps = guide.shape
    for i in range(n):
        total = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            total += probability[k]
            sums[k] = total
            link[k] = i if candidate[k] == NEW else candidate[k]
        k = offsets[i]
        for s in range(steps):
            while sums[k] <= s / steps * total:
                k += 1
            guide[i, s] = k


@kernel
def draw(
    offsets: Wholes, candidate: Clusters, probability: Floats, seed: np.uint64, key: np.uint64,
    first: int, out: Clusters,
) -> None:  # fmt: skip
    """Fills `out` (draw, mention) with clusters; the first row is draw number `first`.

    The number that decides an antecedent depends on seed, key, draw and mention only.
    """
    draws, n = out.shape
    steps = 256 if draws > 500 else 64  # powers of two, so that a number times them is exact
    sums, link = np.empty(len(probability)), np.empty(len(probability), dtype=np.int32)
    guide = np.empty((n, steps), dtype=np.int32)
    _cumulate(offsets, candidate, probability, sums, link, guide)
    ids, uniforms = np.empty((n, _DRAWS_A_BLOCK), dtype=np.int32), np.empty((2, _DRAWS_A_BLOCK))
    counter, bits = np.empty(4, dtype=np.uint64), np.empty(4, dtype=np.uint64)
    counter[0], counter[1] = key & _LOW, key >> _HALF
    for start in range(0, draws, _DRAWS_A_BLOCK):
        block = min(_DRAWS_A_BLOCK, draws - start)
        for i in range(n):
            if i % 2 == 0:  # one call gives the numbers of two mentions
                counter[3] = _STREAM | np.uint64(i // 2)
                for d in range(block):
                    counter[2] = np.uint64(first + start + d)
                    philox(counter, seed, bits)
                    uniforms[0, d] = uniform(bits[0], bits[1])
                    uniforms[1, d] = uniform(bits[2], bits[3])
            own, total = ids[i], sums[offsets[i + 1] - 1]
            own[:] = i
            for d in range(block):
                # The first candidate whose sum is above the mark: there is one, as the number is
                # below 1, and it is never one of probability zero.
                number = uniforms[i % 2, d]
                mark = number * total
                k = guide[i, int(number * steps)]
                while sums[k] <= mark:
                    k += 1
                own[d] = ids[link[k], d]
        for d in range(block):
            for i in range(n):
                out[start + d, i] = ids[i, d]


@contracted
def _add_rows(weight: Floats, row: Wholes, matrix: Floats, out: Floats) -> None:
    """out = the weighted sum of these rows, four at a time so that `out` is seldom stored."""
    m = len(out)
    whole = len(row) - len(row) % 4
    out[:] = 0.0
    for k in range(0, whole, 4):
        a, b, c, d = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        p, q, r, s = matrix[row[k]], matrix[row[k + 1]], matrix[row[k + 2]], matrix[row[k + 3]]
        for j in range(m):
            out[j] += (a * p[j] + b * q[j]) + (c * r[j] + d * s[j])
    for k in range(whole, len(row)):
        a, p = weight[k], matrix[row[k]]
        for j in range(m):
            out[j] += a * p[j]
    for j in range(m):
        out[j] = min(out[j], 1.0)  # sums of rounded products can pass 1 by a last digit


@kernel
def pairs(offsets: Wholes, candidate: Clusters, probability: Floats, out: Floats) -> None:
    """P(i and j corefer) for all i and j: that of i's antecedent and j, averaged."""
    rows, weights = np.empty(len(out), dtype=np.int64), np.empty(len(out))
    for i in range(len(out)):
        used = 0
        for k in range(offsets[i], offsets[i + 1]):
            if candidate[k] >= 0 and probability[k] > 0.0:
                rows[used], weights[used] = candidate[k], probability[k]
                used += 1
        _add_rows(weights[:used], rows[:used], out, out[i, :i])
        out[i, i] = 1.0
        for j in range(i):
            out[j, i] = out[i, j]


@kernel
def pair_block(
    offsets: Wholes, candidate: Clusters, probability: Floats, last_use: Wholes, first: int,
    holder: Wholes, slot: Wholes, kept: Floats, out: Floats,
) -> None:  # fmt: skip
    """Fills `out` with the pair probabilities of mentions `first` and on with those before them.

    `kept` has the rows of earlier mentions that later ones may still pick (`last_use`): mention
    `holder[s]` has row s, and `slot` says which row a mention has.
    """
    rows, weights = np.empty(len(slot), dtype=np.int64), np.empty(len(slot))
    for t in range(len(out)):
        i = first + t
        used = 0
        for k in range(offsets[i], offsets[i + 1]):
            if candidate[k] >= 0 and probability[k] > 0.0:
                rows[used], weights[used] = slot[candidate[k]], probability[k]
                used += 1
        _add_rows(weights[:used], rows[:used], kept, out[t, :i])
        out[t, i] = 1.0
        out[t, i + 1 :] = 0.0
        own = -1
        for s in range(len(holder)):
            if holder[s] >= 0:
                kept[s, i] = out[t, holder[s]]
                if last_use[holder[s]] <= i:
                    holder[s] = -1
            if holder[s] < 0 and own < 0:
                own = s
        if last_use[i] > i:
            holder[own], slot[i] = i, own
            kept[own, : i + 1] = out[t, : i + 1]


@kernel
def count_pairs(ids: Clusters, out: Floats) -> None:
    """The share of draws (columns) in which two mentions (rows) are in one cluster."""
    n, draws = ids.shape
    for i in range(n):
        out[i, i] = 1.0
        for j in range(i):
            together = 0
            for d in range(draws):
                together += ids[i, d] == ids[j, d]
            out[i, j] = out[j, i] = together / draws


@kernel
def losses(pair: Floats, ids: Clusters, weight: float, out: Floats) -> None:
    """The expected pairwise loss of each clustering (row of `ids`)."""
    n = len(pair)
    apart = 0.0  # the loss if no two mentions are together
    for i in range(n):
        for j in range(i):
            apart += pair[i, j]
    for s in range(len(ids)):
        own = ids[s]
        change = 0.0
        for i in range(n):
            for j in range(i):
                if own[i] == own[j]:
                    change += weight - (1.0 + weight) * pair[i, j]
        out[s] = apart + change


@kernel
def best_link(pair: Floats, threshold: float) -> Clusters:
    """Clusters where each mention joins the earlier one it most probably corefers with.

    It joins none if that is not above the threshold; of equally probable ones, the first.
    """
    antecedent = np.full(len(pair), NEW, dtype=np.int32)
    for i in range(1, len(pair)):
        best = np.argmax(pair[i, :i])
        if pair[i, best] > threshold:
            antecedent[i] = best
    return components(antecedent)
