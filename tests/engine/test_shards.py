"""Shards: a function of the order of the input alone, and read no sooner than asked for."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.engine.shards import cut
from gnomon.errors import InputError


@given(st.lists(st.integers()), st.integers(1, 9))
def test_every_item_once_and_in_order(items: list[int], size: int) -> None:
    shards = list(cut(iter(items), size))
    assert [item for shard in shards for item in shard.items] == items
    assert [shard.index for shard in shards] == list(range(len(shards)))
    assert all(len(shard.items) == size for shard in shards[:-1])
    assert all(0 < len(shard.items) <= size for shard in shards)


def test_nothing_is_read_ahead() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for i in range(100):
            taken.append(i)
            yield i

    shards = cut(items(), 10)
    assert taken == []
    next(shards)
    assert len(taken) == 10


def test_a_size_of_nothing() -> None:
    with pytest.raises(InputError, match="shard size: 0 items a shard; give 1 or more"):
        cut([], 0)
