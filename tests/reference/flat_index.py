"""Exact nearest neighbours: the reference that every other index is tested against."""

import threading
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from evimem.index.hnsw import EMPTY, keep_best_neighbours, unit_rows
from evimem.types.vectors import Column, Neighbours, Vectors


class FlatIndex:
    """Compares a vector with every other, in float32."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._positions = Column(np.int64)
        self._vectors = Column(np.float32, dimension)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._positions)

    def add(self, positions: Sequence[int] | NDArray[np.int64], vectors: Vectors) -> None:
        """Add one vector a position."""
        rows, places = unit_rows(vectors, self.dimension), np.asarray(positions, np.int64).reshape(-1)
        with self._lock:
            repeated = np.isin(places, self._positions.values).any() or len(np.unique(places)) < len(rows)
            if repeated or len(places) != len(rows) or places.min(initial=0) < 0:
                raise ValueError("each vector has a position of its own, from 0 on")
            self._positions.extend(places)
            self._vectors.extend(rows)

    def search(self, vector: Vectors, k: int, exclude: Collection[int] = ()) -> Neighbours:
        """Return the k nearest that are not excluded."""
        query = unit_rows(vector, self.dimension)[0]
        if k < 1:
            return EMPTY
        with self._lock:
            positions, vectors = self._positions.values, self._vectors.values
        scores = vectors @ query
        if len(exclude):
            kept = np.isin(positions, np.array(list(exclude)), invert=True)
            positions, scores = positions[kept], scores[kept]
        return keep_best_neighbours(positions, scores, k)
