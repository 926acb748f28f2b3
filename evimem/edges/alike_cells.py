"""Cells of like vectors: which facts, of all that there are, are worth comparing with one.

A vector falls into the cell of the one of `SIZE` fixed random directions, or their opposites, that it is nearest to: a
cross-polytope hash (Andoni et al. 2015). There are `HASHES` such sets of directions; a cell of a pair of hashes holds
the vectors that fall alike in both. Like vectors share a cell of some pair, and unlike ones of few.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..types.vectors import Vectors

HASHES = 16
SIZE = 16  # directions of a hash: 32 cells, or 1,024 of a pair
_PAIRS = tuple((one, (one + step) % HASHES) for step in (1, 3) for one in range(HASHES))
_CELLS = (2 * SIZE) ** 2  # of a pair
_SLICE = 8_192  # vectors hashed at once
Positions = NDArray[np.int64]


class AlikeCells:
    """The cells of vectors at positions from 0, in the order in which they are added."""

    def __init__(self) -> None:
        self._hashes = np.empty((0, HASHES), np.uint8)
        self._size = 0
        self._cells = [array("i") for _ in range(len(_PAIRS) * _CELLS)]  # positions, ascending

    def __len__(self) -> int:
        return self._size

    def extend(self, vectors: Vectors) -> None:
        """Add vectors, float32 of shape (n, dimension) and of any length, at the next positions."""
        for start in range(0, len(vectors), _SLICE):
            self._add(_hashed(vectors[start : start + _SLICE]))

    def near(self, position: int, most: int) -> Positions:
        """Return positions that share a cell with one: in each cell the `most` before and after it; ascending."""
        found = []
        for number in self._numbers(self._hashes[position : position + 1])[0].tolist():
            cell = self._cells[number]
            place = bisect_left(cell, position)
            found.append(np.array(cell[max(0, place - most) : place + most + 1], np.int64))
        return np.unique(np.concatenate(found))

    def _add(self, hashes: NDArray[np.uint8]) -> None:
        first, end = self._size, self._size + len(hashes)
        if end > len(self._hashes):
            room = np.empty((end + end // 4 + 64, HASHES), np.uint8)
            room[:first] = self._hashes[:first]
            self._hashes = room
        self._hashes[first:end] = hashes
        self._size = end
        for numbers in self._numbers(hashes).T:  # a pair after the other
            order = np.argsort(numbers, kind="stable")
            inside = numbers[order]
            bounds = [0, *(np.flatnonzero(np.diff(inside)) + 1).tolist(), len(inside)]
            placed = (order + first).astype(np.int32)
            for start, stop in pairwise(bounds):
                self._cells[inside[start]].frombytes(placed[start:stop].tobytes())

    @staticmethod
    def _numbers(hashes: NDArray[np.uint8]) -> Positions:
        """Return the numbers of the cells of hashes, shape (n, pairs)."""
        one, two = np.array(_PAIRS).T
        numbers: Positions = hashes[:, one].astype(np.int64) * (2 * SIZE) + hashes[:, two]
        return numbers + np.arange(len(_PAIRS)) * _CELLS


def _hashed(vectors: Vectors) -> NDArray[np.uint8]:
    products = (vectors @ _directions(vectors.shape[1])).reshape(len(vectors), HASHES, SIZE)
    nearest = np.abs(products).argmax(axis=2)
    opposite = np.take_along_axis(products, nearest[:, :, None], axis=2)[:, :, 0] < 0
    hashes: NDArray[np.uint8] = (2 * nearest + opposite).astype(np.uint8)
    return hashes


@cache
def _directions(dimension: int) -> Vectors:
    return np.random.default_rng(dimension).normal(size=(dimension, HASHES * SIZE)).astype(np.float32)
