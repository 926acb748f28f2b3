"""The vectors of facts: rows in the file, and a matrix in memory that is kept in step with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..db.connection import Connection
from ..embedding.quantize import pack
from ..types.vectors import Vectors
from .link_rules import PER_FACT

Positions = NDArray[np.int64]
_ROUNDING = 1e-4  # bound on the rounding error of a float32 cosine
_BLOCK = 256  # facts compared with others in one matrix product
_TILE = 16_384  # others in one matrix product: 16 MB of cosines, however many facts there are


@dataclass(frozen=True, slots=True)
class SimilarFacts:
    """The facts similar to the one at `position`.

    `links` are up to `PER_FACT` (position, cosine) of earlier facts, best first; `later` holds the positions of all
    later facts that are similar, up to rounding: their links may have to be computed again.
    """

    position: int
    links: tuple[tuple[int, float], ...]
    later: Positions


@dataclass(frozen=True, slots=True)
class _Close:
    """Positions, ascending, and their float32 cosines with one fact."""

    positions: Positions
    cosines: Vectors


@dataclass(frozen=True, slots=True)
class FactMatrix:
    """Facts that have a vector, one position each.

    Rows are ascending; `turns` are sequence numbers and `instants` microseconds since 1970. `matrix` is float32 of
    shape (facts, dimension), `quantized` the same as stored, int8, to be multiplied by `scales`.

    The float matrix finds candidates, in one product for many facts. The stored integers give their cosines: a sum of
    integers is exact, so an edge weighs the same to the last bit whatever block it was computed in.
    """

    rows: Positions
    turns: Positions
    instants: Positions
    matrix: Vectors
    quantized: NDArray[np.int8]
    scales: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def positions(self, rows: Sequence[int]) -> list[int]:
        """Return the positions of these rows; rows without a vector are left out."""
        found = np.searchsorted(self.rows, rows)
        return [int(at) for at, row in zip(found, rows, strict=True) if at < len(self.rows) and self.rows[at] == row]

    def similar(
        self, positions: Sequence[int], min_cosine: float, *, only_earlier: bool = False
    ) -> Iterator[SimilarFacts]:
        """Yield the facts of other turns similar to each of these (cosine >= min_cosine); ties go to the older row.

        With `only_earlier`, `later` may be incomplete: facts that are in the order of the dialogue are compared with
        those before them only.
        """
        in_order = only_earlier and bool((np.diff(self.instants) >= 0).all())
        for start in range(0, len(positions), _BLOCK):
            block = np.asarray(positions[start : start + _BLOCK])
            end = int(block.max()) + 1 if in_order else len(self)
            for position, close in zip(block.tolist(), self._close(block, end, min_cosine - _ROUNDING), strict=True):
                yield self._similar_to(position, close, min_cosine)

    def _close(self, block: Positions, end: int, least: float) -> Iterator[_Close]:
        """Yield, for each fact of a block, the positions before `end` whose float32 cosine is at least `least`."""
        rows, others, cosines = [], [], []
        for start in range(0, end, _TILE):
            with np.errstate(all="ignore"):  # a damaged scale may overflow; `_exact` decides
                tile = self.matrix[block] @ self.matrix[start : min(end, start + _TILE)].T
            row, other = np.nonzero(tile >= least)
            rows.append(row)
            others.append(other + start)
            cosines.append(tile[row, other])
        row, other, cosine = np.concatenate(rows), np.concatenate(others), np.concatenate(cosines)
        order = np.argsort(row, kind="stable")
        edges = np.searchsorted(row[order], np.arange(len(block) + 1))
        for first, last in pairwise(edges.tolist()):
            yield _Close(other[order[first:last]], cosine[order[first:last]])

    def _similar_to(self, position: int, found: _Close, min_cosine: float) -> SimilarFacts:
        others = self.turns[found.positions] != self.turns[position]
        close, cosines = found.positions[others], found.cosines[others]
        is_earlier = self._is_earlier(close, position)
        earlier, later, cosines = close[is_earlier], close[~is_earlier], cosines[is_earlier]
        if len(earlier) > PER_FACT:  # exact cosines are slow: compute them only for those that can be among the best
            bound = np.partition(cosines, len(earlier) - PER_FACT)[len(earlier) - PER_FACT]
            earlier = earlier[cosines >= bound - 2 * _ROUNDING]
        exact = self._exact(earlier, position)
        earlier, exact = earlier[exact >= min_cosine], exact[exact >= min_cosine]
        best = np.lexsort((earlier, -exact))[:PER_FACT]
        links = tuple((int(earlier[one]), min(1.0, float(exact[one]))) for one in best)
        return SimilarFacts(position, links, later)

    def unsound(self, edges: Sequence[tuple[int, int, float]], min_cosine: float) -> list[int]:
        """Return the later end of each edge (row, row, weight) that the vectors of its ends do not give."""
        ends = np.array([edge[:2] for edge in edges], np.int64)
        weights = np.array([edge[2] for edge in edges], np.float64)
        places = np.minimum(np.searchsorted(self.rows, ends), len(self) - 1)
        known = (self.rows[places] == ends).all(axis=1)
        one, two = places.T
        dots = np.einsum("ij,ij->i", self.quantized[one], self.quantized[two], dtype=np.int32)
        cosines = np.minimum(1.0, dots * (self.scales[one] * self.scales[two]))
        sound = known & (cosines == weights) & (weights >= min_cosine) & (self.turns[one] != self.turns[two])
        two_is_later = (self.instants[one] < self.instants[two]) | (
            (self.instants[one] == self.instants[two]) & (ends[:, 0] < ends[:, 1])
        )
        later = np.where(two_is_later, ends[:, 1], ends[:, 0])
        return [int(row) for row in later[~sound]]

    def _exact(self, positions: Positions, position: int) -> NDArray[np.float64]:
        # int32 holds the sum: 127 * 127 * dimension stays below 2 ** 31 up to 133,000 dimensions.
        dots = self.quantized[positions].astype(np.int32) @ self.quantized[position].astype(np.int32)
        exact: NDArray[np.float64] = dots * (self.scales[positions] * self.scales[position])
        return exact

    def _is_earlier(self, positions: Positions, position: int) -> NDArray[np.bool_]:
        instant, row = self.instants[position], self.rows[position]
        others = self.instants[positions]
        earlier: NDArray[np.bool_] = (others < instant) | ((others == instant) & (self.rows[positions] < row))
        return earlier


class FactVectors:
    """The vectors of facts in the file, and a cached `FactMatrix` of them.

    `current` reads the rows that were added since it was last called, by this handle or another.
    """

    def __init__(self, db: Connection) -> None:
        self._db = db
        self.drop_cache()

    def newest(self) -> int:
        """Return the largest row that has a vector; 0 where none has."""
        return int(self._db.value("SELECT max(row) FROM fact_vector") or 0)

    def keep(self, rows: Sequence[int], vectors: Vectors) -> bool:
        """Store the vectors of these facts that are not stored yet; return whether a larger row had a vector before."""
        newest = self.newest()
        packed = {row: pack(vector) for row, vector in zip(rows, vectors, strict=True)}
        fresh = [row for row in rows if row > newest or not self._has(row, *packed[row])]
        if not fresh:
            return False
        late = min(fresh) <= newest
        values = [(row, packed[row][0].tobytes(), packed[row][1]) for row in fresh]
        self._db.executemany("INSERT OR REPLACE INTO fact_vector (row, vector, scale) VALUES (?, ?, ?)", values)
        if late:  # `current` reads only rows larger than the largest it knows
            self.drop_cache()
        return late

    def more_than(self, count: int) -> bool:
        """Say whether there are more than `count`; finding the row at an offset reads no vectors and stops there."""
        return self._size > count or bool(self._db.rows("SELECT 1 FROM fact_vector LIMIT 1 OFFSET ?", (count,)))

    def drop(self, rows: Sequence[int]) -> None:
        """Delete the vectors of facts."""
        self._db.executemany("DELETE FROM fact_vector WHERE row = ?", [(row,) for row in rows])
        self.drop_cache()

    def current(self) -> FactMatrix:
        """Return every vector that the file holds now; inside a transaction of the caller."""
        last = int(self._columns[self._size - 1, 0]) if self._size else 0
        found = self._db.rows(
            "SELECT fact.row, fact.seq, fact.instant, vector, scale FROM fact_vector JOIN fact USING (row) "
            "WHERE fact_vector.row > ? ORDER BY fact_vector.row",
            (last,),
        )
        if found:
            columns = np.array([row[:3] for row in found], dtype=np.int64)
            quantized = np.stack([np.frombuffer(row[3], np.int8) for row in found])
            self._append(columns, quantized, np.array([row[4] for row in found]))
        end = self._size
        rows, turns, instants = self._columns[:end].T
        return FactMatrix(rows, turns, instants, self._matrix[:end], self._quantized[:end], self._scales[:end])

    def drop_cache(self) -> None:
        """Drop the cached matrix; `current` reads the file again."""
        self._size = 0
        self._columns = np.empty((0, 3), dtype=np.int64)
        self._matrix: Vectors = np.empty((0, 0), dtype=np.float32)
        self._quantized = np.empty((0, 0), dtype=np.int8)
        self._scales = np.empty(0)

    def _has(self, row: int, vector: NDArray[np.int8], scale: float) -> bool:
        return bool(
            self._db.rows(
                "SELECT 1 FROM fact_vector WHERE row = ? AND vector = ? AND scale = ?", (row, vector.tobytes(), scale)
            )
        )

    def _append(self, columns: Positions, quantized: NDArray[np.int8], scales: NDArray[np.float64]) -> None:
        end, width = self._size + len(columns), quantized.shape[1]
        if end > len(self._columns):
            room = max(end, 2 * self._size, 64)  # doubled, so that appending n facts one by one copies O(n)
            self._columns = _grown(self._columns, (room, 3), self._size)
            self._matrix = _grown(self._matrix, (room, width), self._size)
            self._quantized = _grown(self._quantized, (room, width), self._size)
            self._scales = _grown(self._scales, (room,), self._size)
        fresh = slice(self._size, end)
        self._columns[fresh], self._quantized[fresh], self._scales[fresh] = columns, quantized, scales
        self._matrix[fresh] = quantized * scales[:, None].astype(np.float32)
        self._size = end


def _grown(array: NDArray[Any], shape: tuple[int, ...], size: int) -> NDArray[Any]:
    grown = np.empty(shape, dtype=array.dtype)
    if size:
        grown[:size] = array[:size]
    return grown
