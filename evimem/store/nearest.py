"""The nearest vectors of turns and of facts, in caches that the tables give again.

Turns of a large memory: by HNSW, in a file of its own, used if its origin matches, else skipped. Facts: by sketches,
the faster way, or by HNSW, as LaceMem searches its tuples. HNSW needs hnswlib, an extra: without it all is compared, or
sketches are.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..db.atomic_files import delete_stale_temporaries, translate_os_errors
from ..edges.fact_vectors import FactMatrix, vectors_of_rows
from ..errors import StoreClosed
from ..index.corpus import Corpus
from ..index.hnsw import HnswIndex, has_hnswlib, keep_best_neighbours, unit_rows
from ..index.saved_index import Origin, description_path, load_index, save_index
from ..index.sketches import Sketches, StoredVectors
from ..types.vectors import Neighbours, Vectors

MIN_ROWS = 500_000  # below, sketches (see `index.sketches`) are about as fast and need no building
_PAGE_VECTORS = 4_096  # vectors between two reports of progress
_SAVE_EVERY = 100_000  # vectors: the work that an interrupted build loses at most
MAX_COMPARED_FACTS = 8_192  # facts up to which all are compared: sketches save nothing
SKETCHED, SHARE = 2_048, 64  # of more, so many with the nearest sketches, or one of so many, are compared


class CompleteIndex:
    """An HNSW index, and an exact comparison with the vectors it does not hold yet: together, every vector there is.

    A `VectorIndex`. Positions are those of the corpus; `rows` returns unit vectors at positions, one row each.
    """

    def __init__(self, index: HnswIndex, corpus: Corpus, rows: Callable[[NDArray[np.int64]], Vectors]) -> None:
        self.index = index
        self.size: int = len(corpus)
        self._rows = rows
        unindexed = corpus.scale > 0  # a scale of 0 stands for no vector
        unindexed[index.positions()] = False
        self._unindexed = np.flatnonzero(unindexed)

    def search(self, vector: Vectors, k: int) -> Neighbours:
        """Return the k nearest by cosine to a float32 vector of shape (dimension,)."""
        found, others = self.index.search(vector, k), self._unindexed
        if not len(others):
            return found
        positions = np.concatenate([found.positions, others])
        scores = np.concatenate([found.scores, self._rows(others) @ unit_rows(vector, self.index.dimension)[0]])
        return keep_best_neighbours(positions, scores, k)


class AnnIndexCache:
    """The vector index of one file, in memory and in `<path>.ann`; only for a corpus of at least `min_rows`.

    An `Origin` names the file, the embedder and the numbering of positions that an index was built from. An index of
    another origin is never used.
    """

    def __init__(self, path: Path | None, min_rows: int = MIN_ROWS) -> None:
        """Take the path of the memory; without one there is no index, and every vector is compared."""
        self.min_rows = min_rows if path is not None and has_hnswlib() else sys.maxsize
        self._file = None if path is None else path.with_name(f"{path.name}.ann")
        self._corpus: Corpus | None = None
        self._index: HnswIndex | None = None
        self._complete: CompleteIndex | None = None
        self._origin: Origin | None = None
        self._tried: Origin | None = None  # the origin for which loading was tried: a bad file is read only once

    def load_index(self, corpus: Corpus, origin: Origin) -> HnswIndex | None:
        """Return the index of this origin, loaded if need be; None where there is none. It may lack new vectors."""
        self._corpus = corpus
        if len(corpus) < self.min_rows:
            return None
        if self._origin != origin:
            self._index, self._origin = None, None
        if self._index is None and self._tried != origin and self._file is not None:
            self._tried = origin
            self._index = load_index(self._file, origin, len(corpus), self._exact_vectors)
            self._origin = origin if self._index is not None else None
        return self._index

    def complete_index(self, corpus: Corpus, origin: Origin) -> CompleteIndex | None:
        """Return the index that finds the nearest of all vectors; None without an index: all are compared."""
        index = self.load_index(corpus, origin)
        if index is None:
            self._complete = None
        elif self._complete is None or self._complete.size != len(corpus) or self._complete.index is not index:
            self._complete = CompleteIndex(index, corpus, self._exact_vectors)
        return self._complete

    def extend_index(self, corpus: Corpus, origin: Origin, is_current: Callable[[], bool]) -> Iterator[int]:
        """Index every vector that is not indexed yet, and save now and then; yield how many at a time.

        `is_current` says whether `origin` is still that of the memory. Where it is not, turns may have been forgotten
        meanwhile, and the file that was just written is deleted: it may hold their vectors.
        """
        if len(corpus) < self.min_rows or self._file is None:
            return
        index = self.load_index(corpus, origin) or HnswIndex(corpus.dimension, self._exact_vectors)
        missing = np.setdiff1d(np.flatnonzero(corpus.scale), index.positions())
        for start in range(0, len(missing), _PAGE_VECTORS):
            page = missing[start : start + _PAGE_VECTORS]
            index.add(page, self._exact_vectors(page))
            last = start + _PAGE_VECTORS >= len(missing)
            if (
                last or (start + _PAGE_VECTORS) % _SAVE_EVERY < _PAGE_VECTORS
            ):  # as one page in every `_SAVE_EVERY` vectors does
                with translate_os_errors(repr(str(self._file)), "the memory is whole, and is searched without it"):
                    save_index(self._file, index, origin)
                if not is_current():
                    self.delete_index()
                    return
            yield len(page)
        self._index = index
        self._origin = self._tried = origin

    def delete_index(self) -> None:
        """Delete the index, its file and its temporary files: it holds vectors of turns that are being forgotten."""
        self._index = self._complete = self._origin = self._tried = None
        if self._file is None:
            return
        with translate_os_errors(repr(str(self._file)), "nothing was forgotten"):
            self._file.unlink(missing_ok=True)
            description_path(self._file).unlink(missing_ok=True)
        delete_stale_temporaries(self._file)

    def _exact_vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """Return unit vectors, float32 of shape (len(positions), dimension); zeros where there is none."""
        corpus = self._corpus
        if corpus is None:
            raise StoreClosed("the vector index is used after its memory was closed")
        exact: Vectors = corpus.vectors[positions] * corpus.scale[positions, None]
        norms = np.linalg.norm(exact, axis=1, keepdims=True).astype(np.float32)
        norms[norms == 0] = 1  # of a turn forgotten meanwhile: leave its zeros as they are
        unit: Vectors = exact / norms
        return unit


class FactSketches:
    """Sketches of the vectors of facts (see `index.sketches`), made when many are first searched."""

    def __init__(self) -> None:
        self._sketches = Sketches()
        self._known: FactMatrix | None = None
        self._searching = threading.Lock()

    def find_nearest(self, known: FactMatrix, vector: Vectors, allowed: NDArray[np.bool_], most: int) -> list[int]:
        """Return the rows of the facts nearest to a vector of shape (dimension,); `allowed` is by turn."""
        there = allowed[known.turns]
        if np.count_nonzero(there) <= MAX_COMPARED_FACTS:
            return known.nearest_rows(vector, np.flatnonzero(there), most)
        stored = StoredVectors(known.quantized, known.scales.astype(np.float32))
        with self._searching:
            if self._known is None or not _only_appends_to(known, self._known):
                self._sketches = Sketches()
            self._known = known
            near = self._sketches.nearest(stored, vector, there, max(SKETCHED, most, len(known) // SHARE))
        return known.nearest_rows(vector, near.astype(np.int64), most)


class FactGraph:
    """HNSW over rows of facts, in memory; see `HnswIndex`, which compares all of few vectors."""

    def __init__(self) -> None:
        self._index: HnswIndex | None = None
        self._known: FactMatrix | None = None
        self._searching = threading.Lock()

    def find_nearest(self, known: FactMatrix, vector: Vectors, allowed: NDArray[np.bool_], most: int) -> list[int]:
        """Return the rows of the facts nearest to a vector of shape (dimension,), best first; `allowed` is by turn."""
        if not len(known):
            return []
        hidden = known.rows[~allowed[known.turns]]
        with self._searching:
            index, gone = self._update_index(known)
            found: list[int] = index.search(vector, most, np.concatenate([gone, hidden]).tolist()).positions.tolist()
        return found

    def _update_index(self, known: FactMatrix) -> tuple[HnswIndex, NDArray[np.int64]]:
        """Return an index that holds all of these facts, and which rows of it are of none.

        It is built anew only where a vector changed, as with another embedder, or where half of it is gone.
        """
        index, before = self._index, self._known
        if index is not None and before is not None and _have_equal_vectors(known, before):
            gone = np.setdiff1d(index.positions(), known.rows)
            index = None if 2 * len(gone) > len(index) else index
        else:
            index = None
        self._known = known
        if index is None:
            index, gone = HnswIndex(known.quantized.shape[1], self._exact_vectors), np.zeros(0, np.int64)
            self._index = index
        missing = np.setdiff1d(known.rows[known.scales > 0], index.positions())
        index.add(missing, self._exact_vectors(missing))
        return index, gone

    def _exact_vectors(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the vectors of rows, float32 of shape (len(rows), dimension); zeros for one that is gone."""
        assert self._known is not None
        return vectors_of_rows(self._known, rows)


def _have_equal_vectors(one: FactMatrix, other: FactMatrix) -> bool:
    """Return whether each fact of both has one vector, as its scale tells."""
    _, here, there = np.intersect1d(one.rows, other.rows, assume_unique=True, return_indices=True)
    same_width = one.quantized.shape[1] == other.quantized.shape[1]
    return same_width and bool((one.scales[here] == other.scales[there]).all())


def _only_appends_to(known: FactMatrix, before: FactMatrix) -> bool:
    """Return whether facts were only added since."""
    end = len(before)
    same = known.quantized.shape[1] == before.quantized.shape[1] and np.array_equal(known.rows[:end], before.rows)
    return same and np.array_equal(known.scales[:end], before.scales)
