"""Vectors, as compared and as stored, the result of a vector index, and arrays that grow: values of numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

Vectors: TypeAlias = NDArray[np.float32]
"""Unit vectors, shape (n, dimension), float32, one row a text; a row of zeros for a text that has no embedding."""
Packed: TypeAlias = tuple[NDArray[np.int8], float]
"""A unit vector as stored: int8 with one scale, a quarter of float32; cosines agree to four digits."""

_THREADED_PRODUCTS = 2**25  # of so many, several threads spare more time than they take


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest vectors to another, best first; equal ones by position.

    `positions` has shape (k,) and dtype int64: the caller's numbers of the vectors. `scores` has shape (k,) and dtype
    float32: their cosines, from -1 to 1.
    """

    positions: NDArray[np.int64]
    scores: NDArray[np.float32]


class Column:
    """An array, or with a `width` one of rows, that grows at its end at a cost that does not grow with it.

    `values` is a view of its content: an attribute, because it is read far oftener than it grows.
    """

    __slots__ = ("_room", "values")

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._room: NDArray[Any] = np.zeros(16 if width is None else (16, width), dtype)
        self.values: NDArray[Any] = self._room[:0]

    def __len__(self) -> int:
        return len(self.values)

    def extend(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        size, end = len(self.values), len(self.values) + len(values)
        if end > len(self._room):
            room = np.zeros((end + end // 4 + 16, *self._room.shape[1:]), self._room.dtype)
            room[:size] = self.values
            self._room = room
        self._room[size:end] = values
        self.values = self._room[:end]


def products(rows: Vectors, vector: Vectors) -> Vectors:
    """Return the product of each row with a vector, without BLAS: its threads spin for longer than so little takes."""
    found: Vectors = np.einsum("ij,j->i", rows, vector)
    return found


def all_products(rows: Vectors, others: Vectors) -> Vectors:
    """Return the products of two sets of rows, shape (rows, others); a small matrix in parts that wake no threads."""
    if len(rows) == 1:
        return products(others, rows[0])[None]
    if rows.size * len(others) > _THREADED_PRODUCTS:
        return rows @ others.T
    # BLAS uses one thread for up to 2**18 multiplications.
    step = max(2, (2**18) // max(rows.size, 1))
    parts = [rows @ others[at : at + step].T for at in range(0, len(others), step)]
    return np.concatenate([np.zeros((len(rows), 0), np.float32), *parts], axis=1)


def pack(vector: Vectors) -> Packed:
    """Return a vector, shape (dimension,), as int8 values and a scale: float32 ~ int8 * scale."""
    scale = float(np.abs(vector).max()) / 127
    if scale == 0:
        return np.zeros(len(vector), np.int8), 0.0
    return np.rint(vector / scale).astype(np.int8), float(np.float32(scale))


def is_packed(packed: Packed) -> bool:
    """Return whether stored values are as `pack` leaves them: the largest is 127, or all are 0."""
    values, scale = packed
    if scale == 0:
        return not values.any()
    return bool(np.isfinite(scale) and scale > 0 and np.abs(values.astype(np.int16)).max() == 127)
