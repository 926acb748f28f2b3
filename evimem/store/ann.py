"""The vector index of a large memory: built when asked, read back when it can be believed, else done without."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..db.atomic_files import changing, sweep
from ..errors import StoreClosed
from ..index import ann_file
from ..index.ann_file import Origin
from ..index.corpus import Corpus
from ..index.hnsw import HnswIndex
from ..index.nearest import best, unit_rows
from ..types.vectors import Neighbours, Vectors

FROM = 500_000  # turns; below, sketches find the nearest about as fast, and need no building
_PAGE = 4_096  # vectors between two reports of progress
_SAVE_EVERY = 100_000  # vectors: what an interruption can cost


class Reaching:
    """An index together with what it lacks, which is compared one by one: a `VectorIndex` of every vector there is."""

    def __init__(self, index: HnswIndex, corpus: Corpus, rows: Callable[[NDArray[np.int64]], Vectors]) -> None:
        self.index = index
        self._rows = rows
        lacks = corpus.scale > 0
        lacks[index.positions()] = False
        self._lacking = np.flatnonzero(lacks)
        self.size = len(corpus)

    def __len__(self) -> int:
        return len(self.index) + len(self._lacking)

    def add(self, positions: Sequence[int] | NDArray[np.int64], vectors: Vectors) -> None:
        """Index some of what is lacking."""
        self.index.add(positions, vectors)
        self._lacking = np.setdiff1d(self._lacking, positions)

    def search(self, vector: Vectors, k: int, exclude: Collection[int] = ()) -> Neighbours:
        """Return the k nearest of all."""
        found = self.index.search(vector, k, exclude)
        others = np.setdiff1d(self._lacking, np.fromiter(exclude, np.int64, len(exclude)))
        if not len(others):
            return found
        positions = np.concatenate([found.positions, others])
        scores = np.concatenate([found.scores, self._rows(others) @ unit_rows(vector, self.index.dimension)[0]])
        return best(positions, scores, k)


class Nearby:
    """Holds the index of one memory of at least `least` turns, for the corpus that is open.

    `origin` tells which memory an index was built from, and which positions.
    """

    def __init__(self, path: Path, least: int = FROM) -> None:
        self._least = least
        self._file = path.with_name(f"{path.name}.ann")
        self._corpus: Corpus | None = None
        self._index: HnswIndex | None = None
        self._reaching: Reaching | None = None
        self._origin: Origin | None = None
        self._tried: Origin | None = None

    def index(self, corpus: Corpus, origin: Origin) -> HnswIndex | None:
        """Return the index where there is one for these positions; it may lack the newest."""
        self._corpus = corpus
        if len(corpus) < self._least:
            return None
        if self._origin != origin:
            self._index, self._origin = None, None
        if self._index is None and self._tried != origin:
            self._tried = origin
            self._index = ann_file.load(self._file, origin, len(corpus), self._rows).index
            self._origin = origin if self._index is not None else None
        return self._index

    def nearest(self, corpus: Corpus, origin: Origin) -> Reaching | None:
        """Return what finds the nearest of all vectors without comparing each; None where there is no index."""
        index = self.index(corpus, origin)
        if index is None:
            self._reaching = None
        elif self._reaching is None or self._reaching.size != len(corpus) or self._reaching.index is not index:
            self._reaching = Reaching(index, corpus, self._rows)
        return self._reaching

    def build(self, corpus: Corpus, origin: Origin, still: Callable[[], bool]) -> Iterator[int]:
        """Index every vector that is not indexed yet, saving now and then; yield how many at a time.

        `still` says whether `origin` is what the memory is now: what was forgotten meanwhile must not stay in a file.
        """
        if len(corpus) < self._least:
            return
        index = self.index(corpus, origin) or HnswIndex(corpus.dimension, self._rows)
        missing = np.setdiff1d(np.flatnonzero(corpus.scale), index.positions())
        for start in range(0, len(missing), _PAGE):
            page = missing[start : start + _PAGE]
            index.add(page, self._rows(page))
            last = start + _PAGE >= len(missing)
            if last or (start + _PAGE) % _SAVE_EVERY < _PAGE:
                with changing(repr(str(self._file)), "the memory is whole, and is searched without it"):
                    ann_file.save(self._file, index, origin)
                if not still():
                    self.drop()
                    return
            yield len(page)
        self._index = index
        self._origin = self._tried = origin

    def drop(self) -> None:
        """Delete the index: it holds vectors of turns that were forgotten."""
        self._index = self._reaching = self._origin = self._tried = None
        with changing(repr(str(self._file)), "nothing was forgotten"):
            self._file.unlink(missing_ok=True)
        sweep(self._file)

    def _rows(self, positions: NDArray[np.int64]) -> Vectors:
        corpus = self._corpus
        if corpus is None:
            raise StoreClosed("the vector index is used after its memory was closed")
        exact: Vectors = corpus.vectors[positions] * corpus.scale[positions, None]
        norms = np.linalg.norm(exact, axis=1, keepdims=True).astype(np.float32)
        norms[norms == 0] = 1  # one that was forgotten meanwhile has no direction
        unit: Vectors = exact / norms
        return unit
