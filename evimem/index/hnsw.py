"""Approximate nearest neighbours by HNSW (Malkov and Yashunin 2018): a cache that can be rebuilt from the store."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..protocols import Graph
from ..types.vectors import Neighbours, Vectors
from .effort import PROBES, K, RecallTest, Rows, SearchWidth, recall_test, slices, widened
from .nearest import EMPTY, as_positions, best, checked_batch, unit_rows

_M = 24
_EF_CONSTRUCTION = 128
_SLICE = 32  # vectors added under one write lock: some 20 ms, so that searches never wait long
_RERANKED = 4  # candidates for each wanted neighbour where exact vectors rank them


class ReadWriteLock:
    """After a write the readers that were waiting go first, all of them; after them a waiting writer does."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._reading = 0
        self._writing = False
        self._readers_waiting = 0
        self._writers_waiting = 0
        self._passes = 0  # readers that may still go before the next writer

    @contextmanager
    def read(self) -> Iterator[None]:
        """Hold the lock with other readers; writers wait."""
        with self._changed:
            self._readers_waiting += 1
            try:
                self._changed.wait_for(lambda: not self._writing and (self._passes or not self._writers_waiting))
                self._reading += 1
            finally:
                self._readers_waiting -= 1
                self._passes = min(max(self._passes - 1, 0), self._readers_waiting)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    @contextmanager
    def write(self) -> Iterator[None]:
        """Hold the lock alone."""
        with self._changed:
            self._writers_waiting += 1
            try:
                self._changed.wait_for(lambda: not (self._writing or self._reading or self._passes))
                self._writing = True
            finally:
                self._writers_waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._passes = self._readers_waiting
                self._changed.notify_all()


class HnswIndex:
    """Approximate search with recall@10 of at least .95 against exact search at every size.

    With `exact`, a function from positions to their vectors, what is found is ranked by the exact ones, so that a graph
    may keep a byte a value. A vector is never removed: exclude its position, and rebuild the index when much of it is
    excluded.
    """

    def __init__(self, dimension: int, exact: Rows | None = None, graph: Graph | None = None) -> None:
        self.dimension = dimension
        self.effort: SearchWidth = SearchWidth()
        self._exact = exact
        self._graph = graph or default_graph(dimension, compact=exact is not None)
        self._held = np.zeros(0, np.bool_)  # by position
        self._size = 0
        self._adding = threading.Lock()
        self._lock = ReadWriteLock()

    def __len__(self) -> int:
        return self._size

    @property
    def kind(self) -> str:
        """The library, its version and how it stores vectors."""
        return self._graph.kind

    def positions(self) -> NDArray[np.int64]:
        """Return the positions it holds, in order."""
        return np.flatnonzero(self._held)

    def add(self, positions: Sequence[int] | NDArray[np.int64], vectors: Vectors) -> None:
        """Add one vector a position, a few at a time, so that searches are served meanwhile."""
        batch = checked_batch(positions, vectors, self.dimension)
        with self._adding:
            self._make_room(batch.positions)
            for start in range(0, len(batch.positions), _SLICE):
                if self.effort.is_outgrown(self._size):
                    self._measure(batch.vectors[start :: max((len(batch.vectors) - start) // PROBES, 1)][:PROBES])
                places = batch.positions[start : start + _SLICE]
                with self._lock.write():
                    self._graph.reserve(self._size + len(places))
                    self._graph.add(places, batch.vectors[start : start + _SLICE])
                    self._held[places] = True
                    self._size += len(places)

    def search(self, vector: Vectors, k: int, exclude: Collection[int] = ()) -> Neighbours:
        """Return the k nearest that are not excluded; all of them when there are fewer."""
        query = unit_rows(vector, self.dimension)[0]
        with self._lock.read():
            return self._search(query, k, as_positions(exclude), self.effort)

    def save(self, file: BinaryIO) -> None:
        """Write the graph, while searches go on."""
        with self._adding, self._lock.read():
            self._graph.save(file)

    def load(self, file: BinaryIO, effort: SearchWidth) -> None:
        """Replace what it holds by what `save` wrote. Native code reads this: verify it first."""
        with self._adding, self._lock.write():
            self._graph.load(file)
            positions = self._graph.positions()
            self._held = np.zeros(positions.max(initial=-1) + 1, np.bool_)
            self._held[positions] = True
            self._size = len(positions)
            self.effort = effort

    def _search(self, query: Vectors, k: int, excluded: NDArray[np.int64], effort: SearchWidth) -> Neighbours:
        excluded = excluded[(excluded >= 0) & (excluded < len(self._held))]
        excluded = excluded[self._held[excluded]]
        k = min(k, self._size - len(excluded))
        if k < 1:
            return EMPTY
        wanted = k if self._exact is None else k * _RERANKED
        fetched = wanted + min(len(excluded), wanted)
        while (ef := max(effort.at(self._size, k), fetched)) * 2 < self._size:
            found = self._graph.search(query, fetched, ef)
            if found is None:
                break
            kept = np.isin(found.positions, excluded, invert=True)
            if kept.sum() >= k:
                return self._ranked(query, Neighbours(found.positions[kept], found.scores[kept]), k)
            fetched *= 4
        return self._scan(query, k, excluded)

    def _ranked(self, query: Vectors, found: Neighbours, k: int) -> Neighbours:
        if self._exact is None:
            return best(found.positions, found.scores, k)
        return best(found.positions, self._exact(found.positions) @ query, k)

    def _scan(self, query: Vectors, k: int, excluded: NDArray[np.int64]) -> Neighbours:
        """Compare with every vector: the fallback where a graph would have to visit most of them."""
        nearest = EMPTY
        for part in slices(np.setdiff1d(self.positions(), excluded, assume_unique=True)):
            scores = np.concatenate([nearest.scores, self._rows(part) @ query])
            nearest = best(np.concatenate([nearest.positions, part]), scores, k)
        return nearest

    def _rows(self, positions: NDArray[np.int64]) -> Vectors:
        return self._graph.rows(positions) if self._exact is None else self._exact(positions)

    def _measure(self, added: Vectors) -> None:
        """Measure the width again. Runs inside `add`, so that nothing else writes meanwhile."""
        test = recall_test(added, self.positions(), self._rows)
        self.effort = widened(self.effort, self._size, test.wanted, lambda ef: self._recall(test, ef))

    def _recall(self, test: RecallTest, ef: int) -> float:
        effort = SearchWidth(ef, self._size)
        shares = [
            test.recall(number, self._search(probe, K, test.own[number : number + 1], effort).scores)
            for number, probe in enumerate(test.probes)
        ]
        return float(np.mean(shares))

    def _make_room(self, positions: NDArray[np.int64]) -> None:
        size = int(positions.max(initial=-1)) + 1
        if self._held[positions[positions < len(self._held)]].any():
            raise ValueError("a vector is added once; got a position that is held already")
        if size > len(self._held):
            grown = np.zeros(max(size, 2 * len(self._held)), np.bool_)
            grown[: len(self._held)] = self._held
            self._held = grown


def default_graph(dimension: int, *, compact: bool) -> Graph:
    """Return a graph of hnswlib where it is installed (faster, always float32), else of voyager (a byte a value)."""
    if find_spec("hnswlib"):
        from .hnswlib_graph import HnswlibGraph  # noqa: PLC0415 - an extra

        return HnswlibGraph(dimension, _M, _EF_CONSTRUCTION)
    from .voyager_graph import VoyagerGraph  # noqa: PLC0415 - most memories are too small to need it

    return VoyagerGraph(dimension, _M, _EF_CONSTRUCTION, compact=compact)
