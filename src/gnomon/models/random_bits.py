"""Random numbers that depend on a counter and a key only, compiled.

Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
2011) turns a counter and a key into random bits, so a draw never depends on what else is drawn.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_FIRST, _SECOND = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL, _OTHER_WEYL = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_ELEVEN = np.uint64(11)

kernel = njit(cache=True, nogil=True, error_model="numpy")


@kernel
def philox(counter: Words, key: np.uint64, out: Words) -> None:
    """Four random 32-bit numbers for a counter of four 32-bit numbers and a key of 64 bits."""
    a, b, c, d = counter[0], counter[1], counter[2], counter[3]
    k, m = key & _LOW, key >> _HALF
    for _ in range(10):
        first, second = _FIRST * a, _SECOND * c
        a, b, c, d = (
            (second >> _HALF) ^ b ^ k, second & _LOW,
            (first >> _HALF) ^ d ^ m, first & _LOW,
        )  # fmt: skip
        k, m = (k + _WEYL) & _LOW, (m + _OTHER_WEYL) & _LOW
    out[0], out[1], out[2], out[3] = a, b, c, d


@kernel
def uniform(high: np.uint64, low: np.uint64) -> float:
    """A number in [0, 1) from 53 of 64 random bits."""
    return float(((high << _HALF) | low) >> _ELEVEN) * 2.0**-53
