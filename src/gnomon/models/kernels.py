"""Modules of compiled kernels, loaded when first needed, and the numbers that are given to them."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.errors import InputError, MissingExtra


def compiled(name: str) -> Any:
    """A module of kernels, imported when first needed."""
    try:
        import numba  # noqa: F401
    except ImportError:
        raise MissingExtra("text", "numba") from None
    return import_module(f"gnomon.models.{name}")


def wholes(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Values as an array of whole numbers, or an error that names them."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.array(None)
    if array.size == 0:
        return array.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(name, "not whole numbers", "give an array of integers")
    return np.ascontiguousarray(array, dtype=np.int64)


def whole(value: int, name: str, least: int, most: int) -> int:
    """A whole number within limits, or an error that names it."""
    numeric = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (numeric and least <= value <= most):
        raise InputError(name, f"{value!r} is not possible",
                         f"give a whole number from {least} to {most}")  # fmt: skip
    return int(value)
