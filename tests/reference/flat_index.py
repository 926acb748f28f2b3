"""Exact nearest neighbours: the reference that every other index is tested against."""

import threading
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from evimem.index.columns import Column
from evimem.index.nearest import EMPTY, as_positions, best, checked_batch, unit_rows
from evimem.types.vectors import Neighbours, Vectors


class FlatIndex:
    """Compares a vector with every other, in float32."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._positions = Column(np.int64)
        self._vectors = Column(np.float32, dimension)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._positions.size

    def add(self, positions: Sequence[int] | NDArray[np.int64], vectors: Vectors) -> None:
        """Add one vector a position."""
        batch = checked_batch(positions, vectors, self.dimension)
        with self._lock:
            if np.isin(batch.positions, self._positions.values).any():
                raise ValueError("a vector is added once; got a position that is held already")
            self._positions.extend(batch.positions)
            self._vectors.extend(batch.vectors)

    def search(self, vector: Vectors, k: int, exclude: Collection[int] = ()) -> Neighbours:
        """Return the k nearest that are not excluded."""
        query = unit_rows(vector, self.dimension)[0]
        if k < 1:
            return EMPTY
        with self._lock:
            positions, vectors = self._positions.values, self._vectors.values
        scores = vectors @ query
        if len(exclude):
            kept = np.isin(positions, as_positions(exclude), invert=True)
            positions, scores = positions[kept], scores[kept]
        return best(positions, scores, k)
