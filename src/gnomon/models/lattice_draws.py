"""Tag sequences drawn from linear chains, compiled: filter forward, then draw backward.

Random numbers come from `random_bits`: the key is the seed and the counter says which sentence,
draw and word, so a draw never depends on what else is drawn.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gnomon.models.lattice_kernels import Flags, Floats, Wholes
from gnomon.models.random_bits import Words, philox, uniform

Tags = NDArray[np.int32]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)

kernel = njit(cache=True, nogil=True, error_model="numpy")


@kernel
def _cumulate(past: Floats, move_t: Floats, steady: bool, then: int, out: Floats) -> None:
    """Cumulated weights of a word's tags given the tag of the word after (−1 if there is none)."""
    total = 0.0
    if steady:
        for i in range(len(past)):
            total += past[i] if then < 0 else past[i] * move_t[then, i]
            out[i] = total
        return
    largest = -np.inf
    for i in range(len(past)):
        out[i] = past[i] if then < 0 else past[i] + move_t[then, i]
        largest = max(largest, out[i])
    for i in range(len(past)):
        total += np.exp(out[i] - largest)
        out[i] = total


@kernel
def draw(
    alpha: Floats, bounds: Wholes, log_move_t: Floats, move_t: Floats, steady: Flags,
    seed: np.uint64, keys: Words, out: Tags,
) -> None:  # fmt: skip
    """Fills `out` (word, draw) with sequences; `alpha` is what `forward` left.

    All draws of a word are made together: those with the same tag on the next word share one
    distribution, and there are few such tags.
    """
    draws, tags = out.shape[1], alpha.shape[1]
    sums = np.empty((tags + 1, tags))  # the last for the end of the sentence
    made = np.empty(tags + 1, dtype=np.int64)
    uniforms = np.empty((draws, 2))
    counter = np.empty(4, dtype=np.uint64)
    bits = np.empty(4, dtype=np.uint64)
    for s in range(len(bounds) - 1):
        first, length = bounds[s], bounds[s + 1] - bounds[s]
        made[:] = -1
        for k in range(length - 1, -1, -1):
            t = first + k
            if k % 2 == 1 or k == length - 1:  # one call gives the numbers of two words
                counter[0], counter[1] = keys[s] & _LOW, keys[s] >> _HALF
                counter[3] = np.uint64(k // 2)
                for d in range(draws):
                    counter[2] = np.uint64(d)
                    philox(counter, seed, bits)
                    uniforms[d, 0] = uniform(bits[0], bits[1])
                    uniforms[d, 1] = uniform(bits[2], bits[3])
            for d in range(draws):
                then = -1 if k == length - 1 else out[t + 1, d]
                cumulated = sums[then]
                if made[then] != k:
                    _cumulate(
                        alpha[t], move_t if steady[s] else log_move_t, steady[s], then, cumulated
                    )
                    made[then] = k
                # The first tag whose cumulated weight is above the mark: never one of weight zero.
                mark = uniforms[d, k % 2] * cumulated[tags - 1]
                low, high = 0, tags - 1
                while low < high:
                    middle = (low + high) // 2
                    if cumulated[middle] > mark:
                        high = middle
                    else:
                        low = middle + 1
                out[t, d] = low
