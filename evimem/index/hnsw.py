"""Approximate nearest neighbours by HNSW (Malkov and Yashunin 2018) of hnswlib: a cache that can be rebuilt.

How wide a search must be (`ef`) is measured on the index itself, because no formula fits every embedder: at a fixed
width the recall falls as an index grows, and how fast depends on how the vectors lie. At 50,000 vectors .95 takes a
width of 32 for well-separated clusters, 130 for chat under the shipped embedding and 1,000 for noise.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import DimensionMismatch, EmbedderError
from ..types.vectors import Neighbours, Vectors

Positions: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = Callable[[Positions], Vectors]
EMPTY = Neighbours(np.empty(0, np.int64), np.empty(0, np.float32))
_ADD_BATCH_VECTORS = 32  # vectors added under one lock: some 20 ms, so that searches never wait long
_COMPARE_BATCH_VECTORS = 16_384  # vectors compared at once
PROBE_NEIGHBOURS = 10
PROBE_COUNT = 100


def library_version() -> str:
    """Return the version of hnswlib that is installed."""
    from importlib.metadata import version  # noqa: PLC0415 - it loads sockets and archives, which a search does without

    return version("hnswlib")


def has_hnswlib() -> bool:
    """Return whether hnswlib is installed; without it there is no `HnswIndex`."""
    return find_spec("hnswlib") is not None


@dataclass(frozen=True, slots=True)
class SearchWidth:
    """A width (`ef`) that reached the wanted recall@10 in an index of `size` vectors."""

    ef: int = 128
    size: int = 1000

    def width_for(self, size: int, k: int) -> int:
        """Return the width for another size and k: it grows with the root of both until it is measured again."""
        return math.ceil(self.ef * math.sqrt(max(size / self.size, 1) * max(k / PROBE_NEIGHBOURS, 1)))


class _FairLock:
    """A fair lock: a waiting thread gets it before the last holder."""

    def __init__(self) -> None:
        self._next, self._lock = threading.Lock(), threading.Lock()

    def __enter__(self) -> None:
        with self._next:
            self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()


class HnswIndex:
    """Approximate search with recall@10 of at least .95 against exact search at every size.

    `exact`, a function from positions to their vectors, scores the neighbours that the graph finds. A vector is never
    removed: exclude its position, and rebuild the index when much of it is excluded. Raise ImportError without hnswlib.
    """

    def __init__(self, dimension: int, exact: Rows, links: int = 24, effort: SearchWidth = SearchWidth()) -> None:
        import hnswlib  # noqa: PLC0415 - most memories are too small to need it, and it is an extra

        self._new_graph = partial(hnswlib.Index, "ip", dimension)
        self.dimension = dimension
        self.effort: SearchWidth = effort
        self.library: str = f"hnswlib {library_version()}"
        self._exact = exact
        self._graph = self._new_graph()
        self._graph.init_index(1024, ef_construction=128, M=links, random_seed=1)
        self._held = np.zeros(0, np.bool_)  # by position
        self._size = 0
        self._adding, self._querying = threading.Lock(), threading.Lock()
        self._lock = _FairLock()

    def __len__(self) -> int:
        return self._size

    def positions(self) -> Positions:
        """Return the positions it holds, in order."""
        return np.flatnonzero(self._held)

    def add(self, positions: Sequence[int] | Positions, vectors: Vectors) -> None:
        """Add one vector a position, a few at a time, so that searches are served meanwhile.

        Raise DimensionMismatch, EmbedderError for a vector without direction, ValueError for bad positions.
        """
        rows, places = unit_rows(vectors, self.dimension), np.asarray(positions, np.int64).reshape(-1)
        if len(places) != len(rows):
            raise ValueError(f"expected a position a vector, got {len(places)} positions for {len(rows)} vectors")
        with self._adding:
            self._make_room(places)
            for start in range(0, len(places), _ADD_BATCH_VECTORS):
                # Measure the width again at 1.5 times the size at which it was measured.
                if self._size >= self.effort.size * 1.5:
                    self._measure(rows[start :: max((len(rows) - start) // PROBE_COUNT, 1)][:PROBE_COUNT])
                some = places[start : start + _ADD_BATCH_VECTORS]
                with self._lock:
                    if self._size + len(some) > (room := int(self._graph.get_max_elements())):
                        self._graph.resize_index(room * 3 // 2)
                    # Two threads would build another graph each time.
                    self._graph.add_items(rows[start : start + _ADD_BATCH_VECTORS], some, num_threads=1)
                    self._held[some] = True
                    self._size += len(some)

    def search(self, vector: Vectors, k: int, exclude: Collection[int] = ()) -> Neighbours:
        """Return the k nearest that are not excluded; all of them when there are fewer."""
        query, excluded = unit_rows(vector, self.dimension)[0], np.unique(np.fromiter(exclude, np.int64, len(exclude)))
        with self._lock:
            return self._search(query, k, excluded, self.effort)

    def save(self, path: Path) -> int:
        """Have the library write the graph, while searches go on; return how many bytes it has.

        The library says nothing of a full disk: a file of fewer bytes is cut short.
        """
        with self._adding:
            self._graph.save_index(str(path))
            return int(self._graph.index_file_size())

    def load(self, path: Path) -> None:
        """Replace the content by that which `save` wrote. Native code reads this: verify it first."""
        with self._adding, self._lock:
            graph = self._new_graph()  # a graph in use would be freed twice where its load fails
            graph.load_index(str(path))
            self._graph = graph
            positions = np.asarray(graph.get_ids_list(), np.int64)
            self._held = np.zeros(positions.max(initial=-1) + 1, np.bool_)
            self._held[positions] = True
            self._size = len(positions)

    def _search(self, query: Vectors, k: int, excluded: Positions, effort: SearchWidth) -> Neighbours:
        excluded = excluded[(excluded >= 0) & (excluded < len(self._held))]
        excluded = excluded[self._held[excluded]]
        k = min(k, self._size - len(excluded))
        if k < 1:
            return EMPTY
        # Exact vectors rank four candidates for each wanted neighbour: theirs are of length 1 up to rounding only.
        wanted = k * 4
        fetched = wanted + min(len(excluded), wanted)
        while (ef := max(effort.width_for(self._size, k), fetched)) * 2 < self._size:
            found = self._query(query, fetched, ef)
            if found is None:
                break
            kept = found[np.isin(found, excluded, invert=True)]
            if len(kept) >= k:
                return keep_best_neighbours(kept, self._exact(kept) @ query, k)
            fetched *= 4
        # A graph would have to visit most of them: all are compared.
        return _nearest_exactly(self._exact, np.setdiff1d(self.positions(), excluded, assume_unique=True), query, k)

    def _query(self, query: Vectors, k: int, ef: int) -> Positions | None:
        """Return the positions of k neighbours, or None where the graph does not reach so many."""
        with self._querying:  # the width is kept in the graph, not in the query
            self._graph.set_ef(ef)
            try:
                labels, _ = self._graph.knn_query(query, k, num_threads=1)
            except RuntimeError:  # "Cannot return the results in a contiguous 2D array"
                return None
        return np.asarray(labels[0], np.int64)

    def _measure(self, probes: Vectors) -> None:
        """Widen searches until they find the wanted share of the neighbours of probes, or see half of the index.

        Probes are vectors about to be added or, where these are too few, some of the index. Runs inside `add`, so that
        nothing else writes meanwhile.
        """
        held = self.positions()
        # A hundred probes measure recall to about .01, and .95 must hold.
        own, wanted = np.full(len(probes), -1), 0.965
        if len(probes) < PROBE_COUNT:
            # Vectors in the index are found more easily than new ones.
            own, wanted = np.random.default_rng(len(held)).choice(held, PROBE_COUNT), 0.985
            probes = self._exact(own)
        top = np.full((len(probes), PROBE_NEIGHBOURS), -2, dtype=np.float32)
        for part in _slices(held):
            scores = probes @ self._exact(part).T
            scores[own[:, None] == part] = -2
            top = np.partition(np.hstack([top, scores]), -PROBE_NEIGHBOURS, axis=1)[:, -PROBE_NEIGHBOURS:]
        # Cosines that differ by less than 1e-5 count as equal.
        least, ef = top.min(axis=1) - 1e-5, self.effort.ef  # a vector as near as the tenth counts
        while ef * 2 < self._size:
            width = SearchWidth(ef, self._size)
            found = [
                self._search(one, PROBE_NEIGHBOURS, own[at : at + 1], width).scores for at, one in enumerate(probes)
            ]
            shares = [(scores >= bound).sum() / PROBE_NEIGHBOURS for scores, bound in zip(found, least, strict=True)]
            if np.mean(shares) >= wanted:
                break
            # The width grows by the cube root of 2.
            ef = math.ceil(ef * (2 ** (1 / 3)))
        self.effort = SearchWidth(ef, self._size)

    def _make_room(self, positions: Positions) -> None:
        if len(positions) and (positions.min() < 0 or len(np.unique(positions)) != len(positions)):
            raise ValueError("positions count from 0, and a vector is added once; got a negative or a repeated one")
        if self._held[positions[positions < len(self._held)]].any():
            raise ValueError("a vector is added once; got a position that is held already")
        if (size := int(positions.max(initial=-1)) + 1) > len(self._held):
            grown = np.zeros(max(size, 2 * len(self._held)), np.bool_)
            grown[: len(self._held)] = self._held
            self._held = grown


def unit_rows(vectors: Vectors, dimension: int) -> Vectors:
    """Return a float32 copy with rows of length 1. Raise EmbedderError for a row that is zero or not finite.

    No library sees these: they accept a NaN silently, and some then rank it first.
    """
    rows = np.array(vectors, dtype=np.float32, order="C", ndmin=2)
    if rows.shape[1] != dimension:
        raise DimensionMismatch(rows.shape[1], dimension)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not (np.isfinite(norms) & (norms > 0)).all():
        raise EmbedderError(
            "a vector to index or to search for is zero or not finite; leave texts without an embedding out, "
            "and correct the embedder where it made the vector",
            retryable=False,
        )
    rows /= norms[:, None].astype(np.float32)
    return rows


def keep_best_neighbours(positions: Positions, scores: NDArray[np.float32], k: int) -> Neighbours:
    """Return the k best, best first, equal ones by position."""
    if k < len(scores):
        among = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        positions, scores = positions[among], scores[among]
    order = np.lexsort((positions, -scores))[:k]
    return Neighbours(positions[order], scores[order])


def _nearest_exactly(exact: Rows, positions: Positions, query: Vectors, k: int) -> Neighbours:
    """Return the k nearest of these positions by their exact vectors."""
    nearest = EMPTY
    for part in _slices(positions):
        scores = np.concatenate([nearest.scores, exact(part) @ query])
        nearest = keep_best_neighbours(np.concatenate([nearest.positions, part]), scores, k)
    return nearest


def _slices(positions: Positions) -> Iterator[Positions]:
    """Cut positions into parts whose rows fit in a little memory."""
    for start in range(0, len(positions), _COMPARE_BATCH_VECTORS):
        yield positions[start : start + _COMPARE_BATCH_VECTORS]
