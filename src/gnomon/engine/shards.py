"""The input cut into shards, and what a job gives back for one of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Generic, TypeVar

from gnomon.errors import InputError

Item = TypeVar("Item")


@dataclass(frozen=True)
class Outcome:
    """What a job gives back for one shard: the bytes of its part, and what is to be said of it.

    `rows` is how many rows `content` holds, `problems` the items it had to leave out, each with
    its reason, and `counts` whatever else is to be added up over the run (words, sentences).
    """

    content: bytes
    rows: int
    problems: tuple[Mapping[str, str], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Shard(Generic[Item]):
    """Neighbouring items of the input, which go into one part together."""

    index: int
    items: tuple[Item, ...]


def cut(items: Iterable[Item], size: int) -> Iterator[Shard[Item]]:
    """The items in shards of `size` (1 or more), the last one shorter, read as they are asked for.

    >>> [shard.items for shard in cut("abcde", 2)]
    [('a', 'b'), ('c', 'd'), ('e',)]
    """
    if size < 1:
        raise InputError("shard size", f"{size} items a shard", "give 1 or more")
    remaining = iter(items)
    pieces = iter(lambda: tuple(islice(remaining, size)), ())
    return (Shard(index, piece) for index, piece in zip(count(), pieces, strict=False))
