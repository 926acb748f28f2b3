"""HNSW by voyager, which has wheels for every platform."""

from __future__ import annotations

from importlib.metadata import version
from typing import BinaryIO

import numpy as np
import voyager
from numpy.typing import NDArray

from ..types.vectors import Neighbours, Vectors

_SEED = 1


class VoyagerGraph:
    """`compact` stores a byte a value: 0.47 KB a vector of 256 instead of 1.24, for neighbours to be ranked again."""

    def __init__(self, dimension: int, m: int, ef_construction: int, *, compact: bool = False) -> None:
        self._storage = voyager.StorageDataType.Float8 if compact else voyager.StorageDataType.Float32
        self._index = voyager.Index(
            voyager.Space.Cosine, dimension, m, ef_construction, _SEED, storage_data_type=self._storage
        )
        self.kind: str = f"voyager-{version('voyager').split('.')[0]}-{self._storage.name.lower()}"

    @property
    def room(self) -> int:
        """How many vectors fit before the index must be reallocated."""
        return int(self._index.max_elements)

    def reserve(self, size: int) -> None:
        """Grow ahead of time: voyager itself would reallocate at each batch."""
        if size > self.room:
            self._index.resize(max(size, self.room * 3 // 2))

    def add(self, positions: NDArray[np.int64], vectors: Vectors) -> None:
        self._index.add_items(vectors, positions.tolist(), num_threads=1)  # two threads build another graph each time

    def search(self, vector: Vectors, k: int, ef: int) -> Neighbours | None:
        try:
            positions, distances = self._index.query(vector, k, 1, max(k, ef))
        except voyager.RecallError:
            return None
        return Neighbours(positions.astype(np.int64), np.float32(1) - distances)

    def positions(self) -> NDArray[np.int64]:
        return np.sort(np.fromiter(self._index.ids, np.int64, len(self._index)))

    def rows(self, positions: NDArray[np.int64]) -> Vectors:
        rows: Vectors = self._index.get_vectors(positions)
        return rows

    def save(self, file: BinaryIO) -> None:
        self._index.save(file)

    def load(self, file: BinaryIO) -> None:
        self._index = voyager.Index.load(file, voyager.Space.Cosine, self._index.num_dimensions, self._storage)
