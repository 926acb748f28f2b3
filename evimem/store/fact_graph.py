"""The facts nearest to a vector: by sketches, the faster way, or by an HNSW index, as LaceMem searches its tuples."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from ..edges.fact_vectors import FactMatrix, vectors_of
from ..index.hnsw import HnswIndex
from ..index.sketches import Sketches, StoredVectors
from ..types.vectors import Vectors

COMPARED = 8_192  # facts up to which all are compared: sketches save nothing
SKETCHED, SHARE = 2_048, 64  # of more, so many with the nearest sketches, or one of so many, are compared


class FactSketches:
    """Sketches of the vectors of facts (see `index.sketches`), made when many are first searched."""

    def __init__(self) -> None:
        self._sketches = Sketches()
        self._known: FactMatrix | None = None
        self._searching = threading.Lock()

    def nearest(self, known: FactMatrix, vector: Vectors, allowed: NDArray[np.bool_], most: int) -> list[int]:
        """Return the rows of the facts nearest to a vector of shape (dimension,); `allowed` is by turn."""
        there = allowed[known.turns]
        if np.count_nonzero(there) <= COMPARED:
            return known.nearest(vector, np.flatnonzero(there), most)
        stored = StoredVectors(known.quantized, known.scales.astype(np.float32))
        with self._searching:
            if self._known is None or not _begins_with(known, self._known):
                self._sketches = Sketches()
            self._known = known
            near = self._sketches.nearest(stored, vector, there, max(SKETCHED, most, len(known) // SHARE))
        return known.nearest(vector, near.astype(np.int64), most)


class FactGraph:
    """HNSW over rows of facts, in memory; see `HnswIndex`, which compares all of few vectors."""

    def __init__(self) -> None:
        self._index: HnswIndex | None = None
        self._known: FactMatrix | None = None
        self._searching = threading.Lock()

    def nearest(self, known: FactMatrix, vector: Vectors, allowed: NDArray[np.bool_], most: int) -> list[int]:
        """Return the rows of the facts nearest to a vector of shape (dimension,), best first; `allowed` is by turn."""
        if not len(known):
            return []
        hidden = known.rows[~allowed[known.turns]]
        with self._searching:
            index, gone = self._following(known)
            found: list[int] = index.search(vector, most, np.concatenate([gone, hidden]).tolist()).positions.tolist()
        return found

    def _following(self, known: FactMatrix) -> tuple[HnswIndex, NDArray[np.int64]]:
        """Return an index that holds all of these facts, and which rows of it are of none.

        It is built anew only where a vector changed, as with another embedder, or where half of it is gone.
        """
        index, before = self._index, self._known
        if index is not None and before is not None and _agree(known, before):
            gone = np.setdiff1d(index.positions(), known.rows)
            index = None if 2 * len(gone) > len(index) else index
        else:
            index = None
        self._known = known
        if index is None:
            index, gone = HnswIndex(known.quantized.shape[1], self._vectors), np.zeros(0, np.int64)
            self._index = index
        missing = np.setdiff1d(known.rows[known.scales > 0], index.positions())
        index.add(missing, self._vectors(missing))
        return index, gone

    def _vectors(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the vectors of rows, float32 of shape (len(rows), dimension); zeros for one that is gone."""
        assert self._known is not None
        return vectors_of(self._known, rows)


def _agree(one: FactMatrix, other: FactMatrix) -> bool:
    """Return whether each fact of both has one vector, as its scale tells."""
    _, here, there = np.intersect1d(one.rows, other.rows, assume_unique=True, return_indices=True)
    same_width = one.quantized.shape[1] == other.quantized.shape[1]
    return same_width and bool((one.scales[here] == other.scales[there]).all())


def _begins_with(known: FactMatrix, before: FactMatrix) -> bool:
    """Return whether facts were only added since."""
    end = len(before)
    same = known.quantized.shape[1] == before.quantized.shape[1] and np.array_equal(known.rows[:end], before.rows)
    return same and np.array_equal(known.scales[:end], before.scales)
