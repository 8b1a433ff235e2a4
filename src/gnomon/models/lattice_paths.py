"""Best paths through linear chains, compiled: the best, and the k best.

The k best are found one after the other by the recursive enumeration algorithm (Jiménez and
Marzal, "Computing the K shortest paths", WAE 1999): the next best path into a tag of a word comes
from a tag of the word before, by the best of its paths not used yet, and only for the tag used
last must a further path be worked out. That walks down one path, so each further path costs one
pass over the sentence.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gnomon.models.lattice_kernels import Floats, Wholes

Tags = NDArray[np.int32]

kernel = njit(cache=True, nogil=True, error_model="numpy")


@kernel
def scores(unary: Floats, transition: Floats, start: Floats, out: Floats) -> None:
    """The score of the best path that ends in each tag of each word of one sentence."""
    tags = unary.shape[1]
    for j in range(tags):
        out[0, j] = start[j] + unary[0, j]
    for t in range(1, len(unary)):
        for j in range(tags):
            out[t, j] = -np.inf
        for i in range(tags):
            so_far = out[t - 1, i]
            for j in range(tags):
                value = so_far + transition[i, j]
                out[t, j] = value if value > out[t, j] else out[t, j]
        for j in range(tags):
            out[t, j] += unary[t, j]


@kernel
def _best_before(past: Floats, into: Floats) -> int:
    """The tag with the largest sum, the first of several."""
    best = 0
    for i in range(1, len(past)):
        if past[i] + into[i] > past[best] + into[best]:
            best = i
    return best


@kernel
def best_path(best: Floats, transition_t: Floats, end: Floats, out: Tags) -> float:
    """Fills `out` with one sentence's best path, from its `scores`; its score."""
    n = len(best)
    out[n - 1] = _best_before(best[n - 1], end)
    score = best[n - 1, out[n - 1]] + end[out[n - 1]]
    for t in range(n - 1, 0, -1):
        out[t - 1] = _best_before(best[t - 1], transition_t[out[t]])
    return float(score)


@kernel
def best_paths(
    unary: Floats, bounds: Wholes, transition: Floats, transition_t: Floats, start: Floats,
    end: Floats, out: Tags, score: Floats,
) -> None:  # fmt: skip
    """The best path of every sentence and its score, −inf where there is no path."""
    longest = 0
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    room = np.empty((longest, unary.shape[1]))
    for s in range(len(bounds) - 1):
        a, b = bounds[s], bounds[s + 1]
        score[s] = 0.0
        if b > a:
            best = room[: b - a]
            scores(unary[a:b], transition, start, best)
            score[s] = best_path(best, transition_t, end, out[a:b])


# A path into a tag of a word (level t; level n is the end of the sentence) is an entry of a pool:
# the tag of the word before, the entry of the path that is continued there, and the entry of the
# next best path into the same tag.
_UNKNOWN, _NONE = -1, -2


@kernel
def _first_entry(
    t: int, j: int, best: Floats, into: Floats, heads: Tags,
    score: Floats, tag: Tags, origin: Tags, after: Tags, used: int,
) -> int:  # fmt: skip
    """Makes the entry of the best path into tag j of level t; how many entries there are then."""
    before = _best_before(best[t - 1], into) if t > 0 else 0
    score[used] = best[t - 1, before] + into[before] if t > 0 else 0.0
    tag[used], origin[used] = before, _UNKNOWN
    after[used] = _UNKNOWN if t > 0 else _NONE
    heads[t, j] = used
    return used + 1


@kernel
def _next_entry(
    t: int, j: int, unary: Floats, best: Floats, into: Floats, heads: Tags,
    score: Floats, tag: Tags, origin: Tags, after: Tags, used: int, spent: Tags,
) -> int:  # fmt: skip
    """Makes the entry of the next path into tag j of level t, if there is one; the same."""
    spent[:] = _UNKNOWN
    entry = last = heads[t, j]
    while entry >= 0:
        spent[tag[entry]] = origin[entry]
        last = entry
        entry = after[entry]
    choice, largest = -1, -np.inf
    for i in range(len(into)):
        if spent[i] == _UNKNOWN:
            value = best[t - 1, i] + into[i]
        else:
            further = after[spent[i]]
            if further < 0:
                continue
            value = (score[further] + unary[t - 1, i]) + into[i]
        if value > largest:
            choice, largest = i, value
    if choice < 0:
        after[last] = _NONE
        return used
    after[last] = used
    score[used], tag[used] = largest, choice
    origin[used] = _UNKNOWN if spent[choice] == _UNKNOWN else after[spent[choice]]
    after[used] = _UNKNOWN
    return used + 1


@kernel
def k_best(
    unary: Floats, transition: Floats, transition_t: Floats, start: Floats, end: Floats,
    out: Tags, out_score: Floats,
) -> int:  # fmt: skip
    """Fills `out` (path, word) with the best paths of one sentence, best first; how many exist."""
    n, tags = unary.shape
    best = np.empty((n, tags))
    scores(unary, transition, start, best)
    heads = np.full((n + 1, tags), _UNKNOWN, dtype=np.int32)
    room = 2 * (n + 1)
    score, used = np.empty(room), 0
    tag, origin = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    after = np.empty(room, dtype=np.int32)
    route = np.empty(n + 1, dtype=np.int32)  # the entries of the path found last
    spent = np.empty(tags, dtype=np.int32)
    for found in range(len(out)):
        if used + 2 * (n + 1) > len(score):  # at most two new entries a level and path
            score = np.concatenate((score, np.empty(len(score) + room)))
            more = np.empty(len(tag) + room, dtype=np.int32)
            tag = np.concatenate((tag, more))
            origin = np.concatenate((origin, more))
            after = np.concatenate((after, more))
        if found > 0:
            # Down the last path to where the next is known, then up again.
            level = n
            while level > 0 and after[route[level]] == _UNKNOWN:
                level -= 1
            for t in range(level + 1, n + 1):
                j = out[found - 1, t] if t < n else 0
                into = transition_t[j] if t < n else end
                used = _next_entry(t, j, unary, best, into, heads,
                                   score, tag, origin, after, used, spent)  # fmt: skip
            entry = int(after[route[n]])
            if entry == _NONE:
                return found
        else:
            used = _first_entry(n, 0, best, end, heads, score, tag, origin, after, used)
            entry = 0
            if score[0] == -np.inf:
                return 0
        out_score[found] = score[entry]
        route[n] = entry
        for t in range(n - 1, -1, -1):
            above = route[t + 1]
            j = tag[above]
            out[found, t] = j
            if origin[above] == _UNKNOWN:
                if heads[t, j] == _UNKNOWN:
                    used = _first_entry(t, j, best, transition_t[j], heads,
                                        score, tag, origin, after, used)  # fmt: skip
                origin[above] = heads[t, j]
            route[t] = origin[above]
    return len(out)
