"""A column of strings, each distinct one kept once: what every text column of a document is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]


class Strings(Sequence[str]):
    """Strings as integer codes into a list of distinct values, so that tests run on the values.

    >>> tags = Strings.of(["DT", "NN", "VBZ", "DT", "NN"])
    >>> tags[1], len(tags), tags.is_in({"DT"}).tolist()
    ('NN', 5, [True, False, False, True, False])
    >>> list(tags[3:])
    ['DT', 'NN']
    """

    __slots__ = ("codes", "values")

    def __init__(self, codes: Codes, values: Sequence[str]) -> None:
        self.codes = codes
        self.values = values

    @classmethod
    def of(cls, strings: Iterable[str]) -> "Strings":
        """The column of these strings, its values in the order of first appearance."""
        index: dict[str, int] = {}
        codes = np.fromiter((index.setdefault(s, len(index)) for s in strings), dtype=np.int32)
        return cls(codes, tuple(index))

    @classmethod
    def all_equal(cls, value: str, n: int) -> "Strings":
        """A column of n times the same string."""
        return cls(np.zeros(n, dtype=np.int32), (value,))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: "slice | NDArray[np.intp] | Codes | Mask") -> "Strings": ...
    def __getitem__(
        self, index: "int | slice | NDArray[np.intp] | Codes | Mask"
    ) -> "str | Strings":
        if isinstance(index, int | np.integer):
            return self.values[int(self.codes[index])]
        return Strings(self.codes[index], self.values)

    def __iter__(self) -> Iterator[str]:
        values = self.values
        return (values[code] for code in self.codes.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strings):
            return NotImplemented
        if len(self) != len(other):
            return False
        if self.values is other.values or self.values == other.values:
            return bool(np.array_equal(self.codes, other.codes)) or self._same_strings(other)
        return self._same_strings(other)

    __hash__ = None  # type: ignore[assignment]

    def _same_strings(self, other: "Strings") -> bool:
        return all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        shown = ", ".join(repr(s) for s in self[:6])
        return f"Strings([{shown}{', ...' if len(self) > 6 else ''}], n={len(self)})"

    def where(self, test: Callable[[str], bool]) -> Mask:
        """Which strings pass a test; it is asked once for each distinct value."""
        if len(self.values) > len(self.codes):  # the values of a whole shard, few of them ours
            used, inverse = np.unique(self.codes, return_inverse=True)
            return _asked([self.values[k] for k in used.tolist()], test)[inverse]
        return _asked(self.values, test)[self.codes]

    def is_in(self, wanted: "frozenset[str] | set[str]") -> Mask:
        """Which strings are in a set."""
        return self.where(wanted.__contains__)

    def map(self, change: Callable[[str], str]) -> "Strings":
        """Every string changed by a function, which is called once for each distinct value."""
        return Strings(self.codes, tuple(change(v) for v in self.values)).compact()

    def filled(self, n: int) -> "Strings":
        """This column of n strings; one that was left out is n empty strings."""
        return self if len(self) == n else Strings.all_equal("", n)

    def compact(self) -> "Strings":
        """The same strings with each value once and only values that occur, in that order."""
        index: dict[str, int] = {}
        used, inverse = np.unique(self.codes, return_inverse=True)
        first = np.full(len(used), len(self.codes), dtype=np.int64)
        np.minimum.at(first, inverse, np.arange(len(self.codes)))
        new = np.empty(len(used), dtype=np.int32)
        for place in np.argsort(first, kind="stable").tolist():
            new[place] = index.setdefault(self.values[used[place]], len(index))
        return Strings(new[inverse].astype(np.int32, copy=False), tuple(index))


def _asked(values: Sequence[str], test: Callable[[str], bool]) -> Mask:
    return np.fromiter((test(value) for value in values), dtype=np.bool_, count=len(values))
