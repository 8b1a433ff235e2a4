"""What a coreference posterior predicts, as columns that `gnomon.calibration` takes."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.errors import InputError
from gnomon.models.coref.posterior import Clusters, CorefPosterior, first_mentions

Batch: TypeAlias = tuple[NDArray[np.float64], NDArray[np.uint8]]
"""Probabilities, and whether each came true."""


def pair_predictions(
    posteriors: Iterable[CorefPosterior], golds: Iterable[ArrayLike], *,
    draws: int | None = None, seed: int = 0, keys: Iterable[int] | None = None,
) -> Iterator[Batch]:  # fmt: skip
    """P(i and j corefer) and whether they do, for every pair of mentions of each document.

    Exact, or with `draws` the share of so many draws; `keys` are the documents' keys, their
    numbers unless given. Pairs go by the later mention, then by the earlier.
    """
    for key, posterior, entity in _documents(posteriors, golds, keys):
        pieces = (
            posterior.pair_rows()
            if draws is None
            else iter([(0, posterior.pair_frequencies(draws, seed, key))])
        )
        for first, rows in pieces:
            n, width = rows.shape
            earlier = np.tri(n, width, first - 1, dtype=np.bool_)
            label = entity[first : first + n, None] == entity[:width]
            if earlier.any():
                yield rows[earlier], label[earlier].astype(np.uint8)


def new_predictions(
    posteriors: Iterable[CorefPosterior], golds: Iterable[ArrayLike]
) -> Iterator[Batch]:
    """P(NEW) and whether the mention is its entity's first, for all but a document's first."""
    for _, posterior, entity in _documents(posteriors, golds):
        if len(posterior) > 1:
            label = entity == np.arange(len(entity))
            yield posterior.new_probability()[1:], label.astype(np.uint8)[1:]


def top_predictions(
    posteriors: Iterable[CorefPosterior], golds: Iterable[ArrayLike]
) -> Iterator[Batch]:
    """P(best candidate) and whether it is right, for all mentions but a document's first."""
    for _, posterior, entity in _documents(posteriors, golds):
        if len(posterior) > 1:
            places = posterior.top_places()[1:]
            label = posterior.right(entity)[places]
            yield posterior.probabilities[places], label.astype(np.uint8)


def _documents(
    posteriors: Iterable[CorefPosterior],
    golds: Iterable[ArrayLike],
    keys: Iterable[int] | None = None,
) -> Iterator[tuple[int, CorefPosterior, Clusters]]:
    """The documents' keys, posteriors and gold entities, each named by its first mention."""
    columns: dict[str, Iterable[Any]] = {"posterior": posteriors, "gold entities": golds}
    if keys is not None:
        columns["key"] = keys
    for k, values in enumerate(zip_longest(*columns.values())):
        for name, value in zip(columns, values, strict=True):
            if value is None:
                raise InputError(f"document {k}", f"it has no {name}", "give one a document")
        gold = first_mentions(values[1], len(values[0]), f"document {k}, gold")
        yield k if keys is None else values[2], values[0], gold
