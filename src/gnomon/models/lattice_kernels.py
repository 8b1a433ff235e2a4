"""Forward-backward over linear chains, compiled: what `gnomon.models.lattice` runs on.

A block is some sentences one after the other; `bounds` are their offsets in its rows. Every row of
log-potentials is shifted so that its largest is 0, and so are the transitions. A steady sentence is
run on exponentials, its forward vector divided by its sum at every word. That is exact as long as
nothing underflows, so it is given up, for that sentence, where a weight or a forward value that is
not zero becomes very small; the sentence is then run again on logarithms.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Flags = NDArray[np.bool_]

# exp(−200) a weight, twice, and exp(−280) a forward value multiply to more than the smallest
# normal number, about exp(−708): above these floors a product is zero only if a factor is.
LOWEST = -200.0
FORWARD_FLOOR = np.exp(-280.0)

# Multiply and add in one instruction; sums keep their order, so blocks do not change results.
kernel = njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")


@kernel
def fold(
    unary: Floats, bounds: Wholes, start: Floats, end: Floats,
    rows: Floats, top: Floats, steady: Flags,
) -> int:  # fmt: skip
    """Fills `rows` with the words' log-potentials (start and end added, largest 0) and `top` with
    what was taken off; the first sentence with a word no tag of which is allowed, or −1.
    """
    tags = unary.shape[1]
    for s in range(len(bounds) - 1):
        first, last = bounds[s], bounds[s + 1] - 1
        for t in range(first, last + 1):
            row = rows[t]
            row[:] = unary[t]
            if t == first:
                for j in range(tags):
                    row[j] += start[j]
            if t == last:
                for j in range(tags):
                    row[j] += end[j]
            largest = row[0]
            for j in range(1, tags):
                largest = row[j] if row[j] > largest else largest
            if largest == -np.inf:
                return s
            top[t] = largest
            low = 0
            for j in range(tags):
                value = row[j] - largest
                row[j] = value
                low += (value < LOWEST) & (value > -np.inf)
            if low:
                steady[s] = False
    return -1


@kernel
def _times(x: Floats, matrix: Floats, out: Floats) -> None:
    """out = x @ matrix, four rows of the matrix at a time so that `out` is seldom stored."""
    n, m = matrix.shape
    whole = n - n % 4
    for j in range(m):
        out[j] = 0.0
    for i in range(0, whole, 4):
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(m):
            out[j] += (a * matrix[i, j] + b * matrix[i + 1, j]) + (
                c * matrix[i + 2, j] + d * matrix[i + 3, j]
            )
    for i in range(whole, n):
        a = x[i]
        for j in range(m):
            out[j] += a * matrix[i, j]


@kernel
def _log_times(x: Floats, transposed: Floats, out: Floats) -> None:
    """The same on logarithms; row j of `transposed` has the weights of out[j]."""
    n = len(x)
    for j in range(len(out)):
        largest = -np.inf
        for i in range(n):
            largest = max(largest, x[i] + transposed[j, i])
        total = 0.0
        if largest > -np.inf:
            for i in range(n):
                below = x[i] + transposed[j, i] - largest
                if below > -60.0:  # what is less is lost in rounding, and exponentials are dear
                    total += np.exp(below)
        out[j] = largest + np.log(total) if total > 0.0 else -np.inf


@kernel
def _total(x: Floats) -> float:
    """The sum in four strands, which the processor adds at once."""
    n = len(x)
    whole = n - n % 4
    a = b = c = d = 0.0
    for i in range(0, whole, 4):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    total = (a + b) + (c + d)
    for i in range(whole, n):
        total += x[i]
    return total


@kernel
def _forward_steady(weights: Floats, move: Floats, alpha: Floats, scale: Floats) -> bool:
    """Whether one sentence could be run on exponentials; a scale of 0 means that no path exists."""
    tags = move.shape[0]
    for t in range(len(weights)):
        now = alpha[t]
        if t == 0:
            now[:] = weights[0]
        else:
            _times(alpha[t - 1], move, now)
            for j in range(tags):
                now[j] *= weights[t, j]
        total = _total(now)
        scale[t] = total
        if total == 0.0:
            return True
        inverse = 1.0 / total
        faint = 0
        for j in range(tags):
            value = now[j] * inverse
            now[j] = value
            faint += (value < FORWARD_FLOOR) & (value > 0.0)
        if faint:
            return False
    return True


@kernel
def _forward_logs(rows: Floats, log_move_t: Floats, alpha: Floats, scale: Floats) -> None:
    """The same on logarithms, always possible; a scale of −inf means that no path exists."""
    tags = rows.shape[1]
    for t in range(len(rows)):
        now = alpha[t]
        if t == 0:
            now[:] = rows[0]
        else:
            _log_times(alpha[t - 1], log_move_t, now)
            for j in range(tags):
                now[j] += rows[t, j]
        largest = np.max(now)
        scale[t] = largest
        if largest == -np.inf:
            return
        total = 0.0
        for j in range(tags):
            total += np.exp(now[j] - largest)
        scale[t] = largest + np.log(total)
        for j in range(tags):
            now[j] -= scale[t]


@kernel
def forward(
    rows: Floats, weights: Floats, bounds: Wholes, log_move_t: Floats, move: Floats,
    steady: Flags, alpha: Floats, scale: Floats,
) -> int:  # fmt: skip
    """Fills `alpha` with P(tag | words so far) and `scale` with what each word was divided by, both
    as logarithms where a sentence is not steady; the first sentence without a path, or −1.
    """
    for s in range(len(bounds) - 1):
        a, b = bounds[s], bounds[s + 1]
        if steady[s]:
            steady[s] = _forward_steady(weights[a:b], move, alpha[a:b], scale[a:b])
        if not steady[s]:
            _forward_logs(rows[a:b], log_move_t, alpha[a:b], scale[a:b])
        dead = 0.0 if steady[s] else -np.inf
        for t in range(a, b):
            if scale[t] == dead:
                return s
    return -1


@kernel
def partition(
    scale: Floats, top: Floats, bounds: Wholes, steady: Flags, move_top: float, out: Floats
) -> None:
    """The logarithm of each sentence's sum over paths."""
    for s in range(len(bounds) - 1):
        a, b = bounds[s], bounds[s + 1]
        total = move_top * (b - a - 1) if b > a else 0.0
        for t in range(a, b):
            total += top[t] + (np.log(scale[t]) if steady[s] else scale[t])
        out[s] = total


@kernel
def _back(
    t: int, rows: Floats, weights: Floats, log_move: Floats, move_t: Floats,
    steady: bool, scale: Floats, ahead: Floats, beta: Floats,
) -> None:  # fmt: skip
    """One step from word t to the word before: `ahead` is the weight of what begins with each tag
    of word t, `beta` becomes that of what follows each tag of the word before.
    """
    if steady:
        inverse = 1.0 / scale[t]
        for j in range(len(beta)):
            ahead[j] = weights[t, j] * beta[j] * inverse
        _times(ahead, move_t, beta)
    else:
        for j in range(len(beta)):
            ahead[j] = rows[t, j] + beta[j] - scale[t]
        _log_times(ahead, log_move, beta)


@kernel
def marginals(
    rows: Floats, weights: Floats, bounds: Wholes, log_move: Floats, move_t: Floats,
    steady: Flags, alpha: Floats, scale: Floats, out: Floats,
) -> None:  # fmt: skip
    """P(tag | sentence) of every word; `out` may be `alpha` itself."""
    tags = rows.shape[1]
    beta = np.empty(tags)
    ahead = np.empty(tags)
    for s in range(len(bounds) - 1):
        first = bounds[s]
        beta[:] = 1.0 if steady[s] else 0.0
        for t in range(bounds[s + 1] - 1, first - 1, -1):
            if steady[s]:
                for j in range(tags):
                    out[t, j] = alpha[t, j] * beta[j]
            else:
                for j in range(tags):
                    out[t, j] = np.exp(alpha[t, j] + beta[j])
            if t > first:
                _back(t, rows, weights, log_move, move_t, steady[s], scale, ahead, beta)


@kernel
def pair_marginals(
    rows: Floats, weights: Floats, bounds: Wholes, log_move: Floats, move: Floats, move_t: Floats,
    steady: Flags, alpha: Floats, scale: Floats, before: Wholes, after: Wholes, out: Floats,
) -> int:  # fmt: skip
    """P(tag `before[p]`, then tag `after[p]` | sentence) of every two adjacent words, in order; how
    many rows of `out` that filled.
    """
    tags = rows.shape[1]
    beta = np.empty(tags)
    ahead = np.empty(tags)
    filled = 0
    for s in range(len(bounds) - 1):
        first, length = bounds[s], bounds[s + 1] - bounds[s]
        beta[:] = 1.0 if steady[s] else 0.0
        for k in range(length - 1, 0, -1):
            t = first + k
            _back(t, rows, weights, log_move, move_t, steady[s], scale, ahead, beta)
            here = out[filled + k - 1]
            past = alpha[t - 1]
            if steady[s]:
                for p in range(len(before)):
                    i, j = before[p], after[p]
                    here[p] = past[i] * move[i, j] * ahead[j]
            else:
                for p in range(len(before)):
                    i, j = before[p], after[p]
                    here[p] = np.exp(past[i] + log_move[i, j] + ahead[j])
        filled += max(length - 1, 0)
    return filled


@kernel
def all_pair_marginals(
    rows: Floats, weights: Floats, bounds: Wholes, log_move: Floats, move: Floats, move_t: Floats,
    steady: Flags, alpha: Floats, scale: Floats, out: Floats,
) -> int:  # fmt: skip
    """The same for all pairs of tags, without looking each of them up."""
    tags = rows.shape[1]
    beta = np.empty(tags)
    ahead = np.empty(tags)
    filled = 0
    for s in range(len(bounds) - 1):
        first, length = bounds[s], bounds[s + 1] - bounds[s]
        beta[:] = 1.0 if steady[s] else 0.0
        for k in range(length - 1, 0, -1):
            t = first + k
            _back(t, rows, weights, log_move, move_t, steady[s], scale, ahead, beta)
            here = out[filled + k - 1]
            past = alpha[t - 1]
            for i in range(tags):
                if steady[s]:
                    for j in range(tags):
                        here[i, j] = past[i] * move[i, j] * ahead[j]
                else:
                    for j in range(tags):
                        here[i, j] = np.exp(past[i] + log_move[i, j] + ahead[j])
        filled += max(length - 1, 0)
    return filled
