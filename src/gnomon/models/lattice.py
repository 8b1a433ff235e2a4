"""What a linear chain believes: every tag and pair of tags, whole sequences, draws of sequences.

A tagger that scores words and transitions (a conditional random field, a hidden Markov model) gives
each sequence of tags y of a sentence the probability

    exp(start[y₁] + Σ unary[t, y_t] + Σ transition[y_t, y_t+1] + end[y_n]) / Z.

A `Lattice` holds those log-potentials for many sentences and answers exactly. Its memory grows with
the number of words; only all pair marginals at once need K × K numbers a word.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.errors import InputError
from gnomon.models.kernels import compiled, whole, wholes

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Tags = NDArray[np.int32]

_WORDS_A_BLOCK = 1024  # their weights stay in the processor's cache
_LARGEST = 1e300  # so that sums of potentials are still numbers


@dataclass(frozen=True, eq=False)
class Lattice:
    """Log-potentials of linear chains over K tags.

    `unary` (N × K) has the words of all sentences one after the other, `offsets` (S + 1) where each
    sentence starts and, last, N; `transition` (K × K) goes from its row's tag to its column's;
    `start` and `end` (K) belong to the first and last word and are 0 unless given. A sentence may
    be empty. −inf forbids a tag or a transition.

    >>> lattice = Lattice([[0.0, 1.0], [0.5, 0.0]], [0, 2], [[1.0, 0.0], [0.0, 1.0]])
    >>> lattice.marginals().round(3).tolist()
    [[0.316, 0.684], [0.517, 0.483]]
    >>> tags, score = lattice.viterbi()
    >>> tags.tolist(), float(np.exp(score - lattice.log_partition())[0].round(3))
    ([1, 1], 0.426)
    """

    unary: Floats
    offsets: Wholes
    transition: Floats
    start: Floats
    end: Floats

    def __init__(
        self,
        unary: ArrayLike,
        offsets: ArrayLike,
        transition: ArrayLike,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
    ) -> None:
        moves = _potentials(transition, "transition", 2)
        tags = len(moves)
        if moves.shape != (tags, tags) or tags == 0:
            raise InputError("lattice, transition", f"its shape is {moves.shape}",
                             "give one row and one column a tag")  # fmt: skip
        words = _potentials(unary, "unary", 2)
        if words.shape[1] != tags:
            raise InputError("lattice, unary", f"{words.shape[1]} columns for {tags} tags",
                             "give one column a tag")  # fmt: skip
        given = {"unary": words, "transition": moves, "offsets": _offsets(offsets, len(words))}
        for name, values in (("start", start), ("end", end)):
            given[name] = _potentials(np.zeros(tags) if values is None else values, name, 1)
            if len(given[name]) != tags:
                raise InputError(f"lattice, {name}", f"{len(given[name])} values for {tags} tags",
                                 "give one value a tag")  # fmt: skip
        for name, array in given.items():
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        """How many sentences there are."""
        return len(self.offsets) - 1

    def tempered(self, temperature: float) -> "Lattice":
        """Every log-potential divided by a temperature: above 1 flatter, below 1 sharper."""
        numeric = isinstance(temperature, int | float | np.integer | np.floating)
        if not (numeric and 0 < temperature < np.inf):
            raise InputError("temperature", f"{temperature!r} is not a temperature",
                             "give a number above 0")  # fmt: skip
        with np.errstate(over="ignore"):
            unary, transition, start, end = (
                potentials / np.float64(temperature)
                for potentials in (self.unary, self.transition, self.start, self.end)
            )
        return Lattice(unary, self.offsets, transition, start, end)

    def log_partition(self) -> Floats:
        """The logarithm of the sum over all sequences, a number a sentence; 0 for an empty one."""
        out = np.zeros(len(self))
        for block in self._forward():
            block.partition(out[block.first : block.last])
        return out

    def log_score(self, tags: ArrayLike) -> Floats:
        """The sentences' sums of log-potentials along these tags (one a word).

        Less `log_partition` it is the log-probability of the sequence.
        """
        own = self._checked_tags(tags)
        sizes = np.diff(self.offsets)
        sentence = np.repeat(np.arange(len(self)), sizes)
        first, last = self.offsets[:-1][sizes > 0], self.offsets[1:][sizes > 0] - 1
        score = self.unary[np.arange(len(own)), own]
        score[first] += self.start[own[first]]
        score[last] += self.end[own[last]]
        places = self.pair_places()
        score[places + 1] += self.transition[own[places], own[places + 1]]
        return np.bincount(sentence, score, minlength=len(self)).astype(np.float64, copy=False)

    def marginals(self) -> Floats:
        """P(tag | sentence) of every word, N × K."""
        out = np.empty_like(self.unary)
        for block in self._forward(out):
            block.marginals()
        return out

    def pair_places(self) -> Wholes:
        """The first word of each two adjacent words of a sentence, in order."""
        follows = np.ones(len(self.unary) + 1, dtype=np.bool_)
        follows[self.offsets] = False
        return np.flatnonzero(follows[1:])

    def pair_marginals(self, pairs: ArrayLike | None = None) -> Floats:
        """P(tags of two adjacent words | sentence), a row for each of `pair_places`.

        With `pairs` (P × 2: a tag and the next word's tag) only those, M × P. Without, all of
        them, M × K × K: 17 kB a word for 46 tags; `pair_marginal_blocks` gives them piece by piece.
        """
        wanted = None if pairs is None else self._checked_pairs(pairs)
        tags = len(self.transition)
        shape = (tags, tags) if wanted is None else (len(wanted),)
        out = np.empty((len(self.pair_places()), *shape))
        filled = 0
        for block in self._forward():
            filled += block.pair_marginals(wanted, out[filled:])
        return out

    def pair_marginal_blocks(self) -> Iterator[tuple[Wholes, Floats]]:
        """All pair marginals in pieces of whole sentences: places (m) and P (m × K × K).

        A piece has about a thousand words, or one sentence that is longer.
        """
        places, tags = self.pair_places(), len(self.transition)
        for block in self._forward():
            own = places[slice(*np.searchsorted(places, (block.a, block.b)))]
            out = np.empty((len(own), tags, tags))
            block.pair_marginals(None, out)
            yield own, out

    def sample(self, draws: int, seed: int, keys: ArrayLike | None = None) -> Tags:
        """Sequences drawn from the exact distribution, draws × N.

        A sentence's draws depend on the seed and its key only (a whole number; its own number
        unless given), not on the other sentences, and the first draws not on how many there are.
        """
        draws, seed = whole(draws, "draws", 0, 2**32 - 1), whole(seed, "seed", 0, 2**64 - 1)
        own = np.arange(len(self)) if keys is None else wholes(keys, "keys")
        if own.shape != (len(self),):
            raise InputError("keys", f"{own.shape} of them for {len(self)} sentences",
                             "give one key a sentence")  # fmt: skip
        draw = compiled("lattice_draws").draw
        out = np.empty((draws, len(self.unary)), dtype=np.int32)
        for block in self._forward():
            drawn = np.empty((block.b - block.a, draws), dtype=np.int32)
            draw(block.alpha, block.bounds, block.moves.log_move_t, block.moves.move_t,
                 block.steady, np.uint64(seed), own[block.first : block.last].astype(np.uint64),
                 drawn)  # fmt: skip
            out[:, block.a : block.b] = drawn.T
        return out

    def viterbi(self) -> tuple[Tags, Floats]:
        """The best sequence of every sentence, all words in order, and its `log_score`.

        Of equally good ones the same is always taken.
        """
        tags, score = np.empty(len(self.unary), dtype=np.int32), np.empty(len(self))
        compiled("lattice_paths").best_paths(
            self.unary, self.offsets, self.transition, np.ascontiguousarray(self.transition.T),
            self.start, self.end, tags, score,
        )  # fmt: skip
        dead = np.flatnonzero(score == -np.inf)
        if len(dead):
            raise self._no_path(int(dead[0]))
        return tags, score

    def k_best(self, k: int) -> list[list[tuple[Tags, float]]]:
        """The k best sequences of every sentence with their log-probabilities, best first.

        There are fewer where fewer are possible. Of equally good ones the order is always the same.
        """
        k = whole(k, "k", 1, 2**31 - 1)
        find = compiled("lattice_paths").k_best
        transition_t = np.ascontiguousarray(self.transition.T)
        result: list[list[tuple[Tags, float]]] = []
        bounds, tags = self.offsets.tolist(), len(self.transition)
        for s, total in enumerate(self.log_partition().tolist()):
            n = bounds[s + 1] - bounds[s]
            if n == 0:
                result.append([(np.empty(0, dtype=np.int32), 0.0)])
                continue
            most = k if n * np.log(tags) > np.log(k) + 1 else min(k, tags**n)
            out, score = np.empty((most, n), dtype=np.int32), np.empty(most)
            found = find(self.unary[bounds[s] : bounds[s + 1]], self.transition, transition_t,
                         self.start, self.end, out, score)  # fmt: skip
            result.append(list(zip(out[:found], (score[:found] - total).tolist(), strict=True)))
        return result

    def _forward(self, alpha: Floats | None = None) -> Iterator["_Block"]:
        """The sentences in blocks, forward pass done; `alpha` is where to put it (N × K)."""
        moves = _Moves(self.transition)
        first = 0
        while first < len(self):
            start = self.offsets[first]
            last = int(np.searchsorted(self.offsets, start + _WORDS_A_BLOCK, side="right")) - 1
            last = min(max(last, first + 1), len(self))
            block = _Block(self, moves, first, last, alpha)
            yield block
            first = last

    def _no_path(self, sentence: int) -> InputError:
        a, b = self.offsets[sentence : sentence + 2].tolist()
        return InputError(
            f"lattice, sentence {sentence} (words {a} to {b - 1})",
            "no sequence of tags is allowed",
            "give every word a tag above −inf that can be reached from the word before",
        )

    def _checked_tags(self, tags: ArrayLike) -> Wholes:
        own = wholes(tags, "tags")
        if own.shape != (len(self.unary),):
            raise InputError("tags", f"{own.shape} of them for {len(self.unary)} words",
                             "give one tag a word")  # fmt: skip
        self._check_range(own, "tags")
        return own

    def _checked_pairs(self, pairs: ArrayLike) -> Wholes:
        own = wholes(pairs, "pairs")
        if own.ndim != 2 or own.shape[1] != 2:
            if own.size:
                raise InputError("pairs", f"their shape is {own.shape}",
                                 "give a row of two tags a pair")  # fmt: skip
            own = own.reshape(0, 2)
        self._check_range(own, "pairs")
        return own

    def _check_range(self, tags: Wholes, name: str) -> None:
        bad = tags[(tags < 0) | (tags >= len(self.transition))]
        if len(bad):
            raise InputError(name, f"{bad[0]} is not a tag",
                             f"give numbers from 0 to {len(self.transition) - 1}")  # fmt: skip


class _Moves:
    """The transitions, shifted so that the largest is 0, as the kernels want them."""

    def __init__(self, transition: Floats) -> None:
        kernels = compiled("lattice_kernels")
        largest = float(transition.max())
        self.top = largest if largest > -np.inf else 0.0
        self.log_move = transition - self.top
        self.log_move_t = np.ascontiguousarray(self.log_move.T)
        self.move = np.exp(self.log_move)
        self.move_t = np.ascontiguousarray(self.move.T)
        finite = self.log_move[self.log_move > -np.inf]
        self.steady = bool((finite >= kernels.LOWEST).all())


class _Block:
    """Sentences `first` to `last`, words a to b, with what the forward pass left."""

    def __init__(
        self, lattice: Lattice, moves: _Moves, first: int, last: int, alpha: Floats | None
    ) -> None:
        kernels = compiled("lattice_kernels")
        self.first, self.last, self.moves = first, last, moves
        self.a, self.b = lattice.offsets[[first, last]].tolist()
        self.bounds = lattice.offsets[first : last + 1] - self.a
        n, tags = self.b - self.a, len(lattice.transition)
        self.rows, self.top, self.scale = np.empty((n, tags)), np.empty(n), np.empty(n)
        self.steady = np.full(last - first, moves.steady)
        dead = kernels.fold(lattice.unary[self.a : self.b], self.bounds, lattice.start,
                            lattice.end, self.rows, self.top, self.steady)  # fmt: skip
        if dead < 0:
            # NumPy's exponential is vectorised; the one compiled into a loop is not.
            self.weights = np.exp(self.rows)
            self.alpha = np.empty((n, tags)) if alpha is None else alpha[self.a : self.b]
            dead = kernels.forward(self.rows, self.weights, self.bounds, moves.log_move_t,
                                   moves.move, self.steady, self.alpha, self.scale)  # fmt: skip
        if dead >= 0:
            raise lattice._no_path(first + dead)

    def partition(self, out: Floats) -> None:
        """The log-partition of each sentence."""
        compiled("lattice_kernels").partition(
            self.scale, self.top, self.bounds, self.steady, self.moves.top, out
        )

    def marginals(self) -> None:
        """Turns the forward pass into the marginals."""
        compiled("lattice_kernels").marginals(
            self.rows, self.weights, self.bounds, self.moves.log_move, self.moves.move_t,
            self.steady, self.alpha, self.scale, self.alpha,
        )  # fmt: skip

    def pair_marginals(self, pairs: Wholes | None, out: Floats) -> int:
        """Fills the first rows of `out` with this block's pair marginals; how many rows."""
        kernels, moves = compiled("lattice_kernels"), self.moves
        shared = (self.rows, self.weights, self.bounds, moves.log_move, moves.move, moves.move_t,
                  self.steady, self.alpha, self.scale)  # fmt: skip
        if pairs is None:
            return int(kernels.all_pair_marginals(*shared, out))
        before, after = np.ascontiguousarray(pairs.T)
        return int(kernels.pair_marginals(*shared, before, after, out))


def _potentials(values: ArrayLike, name: str, dimensions: int) -> Floats:
    """Log-potentials as float64, every one of them a number or −inf."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"lattice, {name}", "not an array of numbers",
                         "give rows of equal length") from None  # fmt: skip
    if array.ndim != dimensions:
        raise InputError(f"lattice, {name}", f"{array.ndim} dimensions instead of {dimensions}",
                         "see the documentation of Lattice")  # fmt: skip
    if array.size and not array.max() <= _LARGEST:  # NaN is not
        place = np.unravel_index(int(np.argmax(~(array <= _LARGEST))), array.shape)
        raise InputError(
            f"lattice, {name}[{', '.join(map(str, place))}]",
            f"{array[place]} is not a log-potential",
            "give numbers below 1e300, or −inf for what is forbidden",
        )
    return array


def _offsets(values: ArrayLike, words: int) -> Wholes:
    offsets = wholes(values, "lattice, offsets")
    if offsets.ndim != 1 or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != words:
        raise InputError("lattice, offsets", f"they do not go from 0 to the {words} words of unary",
                         "give where each sentence starts and, last, the end")  # fmt: skip
    if (np.diff(offsets) < 0).any():
        raise InputError("lattice, offsets", "they go down",
                         "give them in the order of the sentences")  # fmt: skip
    return offsets
