"""The vectors of facts: rows in the file, and a matrix in memory that is kept in step with them.

Which facts, of all that there are, are worth comparing with one is known by cells of like vectors.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..db.derived_sql import VECTORS, select_has_more_vectors_than
from ..db.tables import Tables
from ..types.vectors import Column, Vectors, all_products, pack, products

PER_FACT = 4  # most `similar` edges from a fact to earlier ones; later facts may add theirs to it
# A fact is compared with so many before and after it, by arrival, and with so many each way in each of its cells among
# the others: up to `WINDOW_FACTS` facts with all, and beyond it at a cost that does not grow with the memory.
WINDOW_FACTS = 8_192
IN_A_CELL = 64

Positions = NDArray[np.int64]
_MAX_ROUNDING_ERROR = 1e-4  # bound on the rounding error of a float32 cosine
_BLOCK_FACTS = 256  # facts compared with others in one matrix product

_AT_ONCE = 512  # vectors that become floats at once: 2,048 leave the cache, and take eight times as long each
_PAGE_VECTORS = 16_384  # vectors read at once
_HASH_BATCH_VECTORS = 8_192  # vectors put into cells at once

# A vector falls into the cell of that one of `HASH_DIRECTIONS` fixed random directions, or their opposites, that it is
# nearest to: a cross-polytope hash (Andoni et al. 2015). A cell of a pair of hashes holds the vectors that fall alike
# in both: like vectors share a cell of some pair, and unlike ones of few.
HASH_COUNT = 16
HASH_DIRECTIONS = 16  # directions of a hash: 32 cells, or 1,024 of a pair
_PAIRS = tuple((one, (one + step) % HASH_COUNT) for step in (1, 3) for one in range(HASH_COUNT))
_CELLS = (2 * HASH_DIRECTIONS) ** 2  # of a pair


class CellIndex:
    """The cells of vectors at positions from 0, in the order in which they are added."""

    def __init__(self) -> None:
        self._hashes = Column(np.uint8, HASH_COUNT)
        self._cells = [array("i") for _ in range(len(_PAIRS) * _CELLS)]  # positions, ascending

    def __len__(self) -> int:
        return len(self._hashes)

    def extend(self, vectors: Vectors) -> None:
        """Add vectors, float32 of shape (n, dimension) and of any length, at the next positions."""
        first, hashes = len(self), _hash_rows(vectors)
        self._hashes.extend(hashes)
        for numbers in self._cell_numbers(hashes).T:  # a pair after the other
            order = np.argsort(numbers, kind="stable")
            inside = numbers[order]
            bounds = [0, *(np.flatnonzero(np.diff(inside)) + 1).tolist(), len(inside)]
            placed = (order + first).astype(np.int32)
            for start, stop in pairwise(bounds):
                self._cells[inside[start]].frombytes(placed[start:stop].tobytes())

    def positions_sharing_a_cell(self, position: int, most: int) -> Positions:
        """Return positions that share a cell with one: in each cell the `most` before and after it; ascending."""
        found = []
        for number in self._cell_numbers(self._hashes.values[position : position + 1])[0].tolist():
            cell = self._cells[number]
            place = bisect_left(cell, position)
            found.append(np.array(cell[max(0, place - most) : place + most + 1], np.int64))
        return np.unique(np.concatenate(found))

    @staticmethod
    def _cell_numbers(hashes: NDArray[np.uint8]) -> Positions:
        """Return the numbers of the cells of hashes, shape (n, pairs)."""
        one, two = np.array(_PAIRS).T
        numbers: Positions = hashes[:, one].astype(np.int64) * (2 * HASH_DIRECTIONS) + hashes[:, two]
        return numbers + np.arange(len(_PAIRS)) * _CELLS


def _hash_rows(vectors: Vectors) -> NDArray[np.uint8]:
    products = (vectors @ _random_directions(vectors.shape[1])).reshape(len(vectors), HASH_COUNT, HASH_DIRECTIONS)
    nearest = np.abs(products).argmax(axis=2)
    opposite = np.take_along_axis(products, nearest[:, :, None], axis=2)[:, :, 0] < 0
    hashes: NDArray[np.uint8] = (2 * nearest + opposite).astype(np.uint8)
    return hashes


@cache
def _random_directions(dimension: int) -> Vectors:
    return np.random.default_rng(dimension).normal(size=(dimension, HASH_COUNT * HASH_DIRECTIONS)).astype(np.float32)


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
    """Positions, and their float32 cosines with one fact: at most 1, which products of stored vectors may exceed."""

    positions: Positions
    cosines: Vectors

    def join(self, other: _Close) -> _Close:
        """Return both sets of vectors as one."""
        if not len(other.positions):
            return self
        positions = np.concatenate([self.positions, other.positions])
        return _Close(positions, np.concatenate([self.cosines, other.cosines]))


_NOBODY = _Close(np.zeros(0, np.int64), np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True)
class FactMatrix:
    """Facts that have a vector, one position each.

    Rows are ascending; `turns` are sequence numbers and `instants` microseconds since 1970. `quantized` holds the
    vectors as stored, int8 of shape (facts, dimension), to be multiplied by `scales`. `cells` are those of the same
    positions; None where all facts are within a window.

    Products of floats find candidates, many facts at once. The stored integers give their cosines: a sum of integers
    is exact, so an edge weighs the same to the last bit whatever block it was computed in.
    """

    rows: Positions
    turns: Positions
    instants: Positions
    quantized: NDArray[np.int8]
    scales: NDArray[np.float64]
    cells: CellIndex | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def positions_of(self, rows: Sequence[int]) -> list[int]:
        """Return the positions of these rows; rows without a vector are left out."""
        found = np.searchsorted(self.rows, rows)
        return [int(at) for at, row in zip(found, rows, strict=True) if at < len(self.rows) and self.rows[at] == row]

    def nearest_rows(self, vector: Vectors, among: Positions, most: int) -> list[int]:
        """Return the rows of the facts at some positions that are nearest to a vector of shape (dimension,)."""
        if len(among) > most:
            # Copy the vectors to compare only where they are at most an eighth.
            few = len(among) < len(self) // 8
            near = products(self._floats(among), vector) if few else self._dot_products(vector)[among]
            among = among[np.argpartition(-near, most)[:most]]
        nearest: list[int] = self.rows[among].tolist()
        return nearest

    def _dot_products(self, vector: Vectors) -> Vectors:
        """Return the products of all facts with a vector."""
        parts = (slice(at, at + _AT_ONCE) for at in range(0, len(self), _AT_ONCE))
        found = np.concatenate([products(self.quantized[part].astype(np.float32), vector) for part in parts])
        scaled: Vectors = found * self.scales.astype(np.float32)
        return scaled

    def cosines(self, vector: Vectors, rows: Sequence[int]) -> dict[int, float]:
        """Return the cosine of a vector with that of each of these rows that has one."""
        positions = np.array(self.positions_of(rows), np.int64)
        if not len(positions):
            return {}
        return dict(zip(self.rows[positions].tolist(), products(self._floats(positions), vector).tolist(), strict=True))

    def find_similar(self, positions: Sequence[int], min_cosine: float) -> Iterator[SimilarFacts]:
        """Yield the facts of other turns similar to each of these (cosine >= min_cosine); ties go to the older turn.

        Each is compared with the `WINDOW_FACTS` facts before and after it by row, and with farther ones of its cells.
        """
        for block in _split_into_blocks(positions):
            bounds = np.clip(block[:, None] + np.array([-WINDOW_FACTS, WINDOW_FACTS + 1]), 0, len(self))
            for position, near in self._compare_block(block, bounds, min_cosine):
                yield self._similar_facts(position, near.join(self._compare_cells(position, min_cosine)), min_cosine)

    def find_similar_in_window(self, positions: Sequence[int], min_cosine: float) -> Iterator[SimilarFacts]:
        """Yield, for each of these, the similar facts among those whose rows differ by at most `WINDOW_FACTS`.

        Rows are never used twice, so that these were within the window whenever the fact was compared, whatever was
        forgotten since. `later` may be incomplete: facts that are in the order of the dialogue are compared with
        those before them only.
        """
        later, after = np.diff(self.instants), np.diff(self.turns)
        in_order = bool(((later > 0) | ((later == 0) & (after >= 0))).all())
        for block in _split_into_blocks(positions):
            bounds = np.searchsorted(self.rows, self.rows[block, None] + np.array([-WINDOW_FACTS, WINDOW_FACTS + 1]))
            if in_order:
                bounds[:, 1] = block
            for position, near in self._compare_block(block, bounds, min_cosine):
                yield self._similar_facts(position, near, min_cosine)

    def _compare_block(self, block: Positions, bounds: Positions, min_cosine: float) -> Iterator[tuple[int, _Close]]:
        """Yield each position of a block with those from its first to before its second bound that may be similar."""
        begin, end = int(bounds[0, 0]), int(bounds[-1, 1])
        with np.errstate(all="ignore"):  # a damaged scale may overflow; `exact_cosines` decides
            cosines = all_products(self._floats(block), self._floats(slice(begin, end)))
        for position, (first, stop), row in zip(block.tolist(), bounds.tolist(), cosines, strict=True):
            inside = row[first - begin : stop - begin]
            enough = np.flatnonzero(inside >= min_cosine - _MAX_ROUNDING_ERROR)
            yield position, _Close(enough + first, np.minimum(inside[enough], 1.0))

    def _compare_cells(self, position: int, min_cosine: float) -> _Close:
        """Return the facts outside the window of one that share a cell with it and whose cosine may suffice."""
        if self.cells is None:
            return _NOBODY
        others = self.cells.positions_sharing_a_cell(position, IN_A_CELL)
        others = others[np.abs(others - position) > WINDOW_FACTS]
        with np.errstate(all="ignore"):  # as in `_compare_block`
            cosines = products(self._floats(others), self._floats(slice(position, position + 1))[0])
        enough = cosines >= min_cosine - _MAX_ROUNDING_ERROR
        return _Close(others[enough], np.minimum(cosines[enough], 1.0))

    def _floats(self, which: Positions | slice) -> Vectors:
        """Return vectors as float32, shape (those, dimension)."""
        scales: Vectors = self.scales[which, None].astype(np.float32)
        return scales * self.quantized[which]

    def _similar_facts(self, position: int, found: _Close, min_cosine: float) -> SimilarFacts:
        others = self.turns[found.positions] != self.turns[position]
        close, cosines = found.positions[others], found.cosines[others]
        is_earlier = self._mask_earlier(close, position)
        earlier, later, cosines = close[is_earlier], close[~is_earlier], cosines[is_earlier]
        if len(earlier) > PER_FACT:  # exact cosines are slow: compute them only for those that can be among the best
            bound = np.partition(cosines, len(earlier) - PER_FACT)[len(earlier) - PER_FACT]
            earlier = earlier[cosines >= bound - 2 * _MAX_ROUNDING_ERROR]
        exact = np.minimum(1.0, self.exact_cosines(earlier, position))
        earlier, exact = earlier[exact >= min_cosine], exact[exact >= min_cosine]
        first = np.lexsort((earlier, self.turns[earlier], -exact))[:PER_FACT]  # as `keep_best_links`, of many alike
        links = tuple(zip(earlier[first].tolist(), exact[first].tolist(), strict=True))
        return SimilarFacts(position, links, later)

    def find_unsound_edges(self, edges: Sequence[tuple[int, int, float]], min_cosine: float) -> list[int]:
        """Return the later end of each edge (row, row, weight) that the vectors of its ends do not give."""
        ends = np.array([edge[:2] for edge in edges], np.int64)
        if not len(self):
            return [int(row) for row in ends.max(axis=1)]
        weights = np.array([edge[2] for edge in edges], np.float64)
        places = np.minimum(np.searchsorted(self.rows, ends), len(self) - 1)
        known = (self.rows[places] == ends).all(axis=1)
        one, two = places.T
        dots = np.einsum("ij,ij->i", self.quantized[one], self.quantized[two], dtype=np.int32)
        cosines = np.minimum(1.0, dots * (self.scales[one] * self.scales[two]))
        sound = known & (cosines == weights) & (weights >= min_cosine) & (self.turns[one] != self.turns[two])
        two_is_later = (self.instants[one] < self.instants[two]) | (
            (self.instants[one] == self.instants[two]) & (self.turns[one] < self.turns[two])
        )
        later = np.where(two_is_later, ends[:, 1], ends[:, 0])
        return [int(row) for row in later[~sound]]

    def exact_cosines(self, positions: Positions, position: int) -> NDArray[np.float64]:
        """Return the cosines of facts with one, as `similar` edges weigh."""
        # float32 holds each sum exactly below 2 ** 24, so to 1,040 dimensions, and is multiplied three times as fast;
        # int32 does to 133,000.
        # Up to this many dimensions, sums of products of bytes are exact in float32.
        kind = np.float32 if self.quantized.shape[1] <= (2**24 // 127**2) else np.int32
        dots = np.einsum("ij,j->i", self.quantized[positions].astype(kind), self.quantized[position].astype(kind))
        exact: NDArray[np.float64] = dots * (self.scales[positions] * self.scales[position])
        return exact

    def _mask_earlier(self, positions: Positions, position: int) -> NDArray[np.bool_]:
        """Return which facts of other turns were said before one; not by row, for facts read again have larger ones."""
        instant, turn = self.instants[position], self.turns[position]
        others = self.instants[positions]
        earlier: NDArray[np.bool_] = (others < instant) | ((others == instant) & (self.turns[positions] < turn))
        return earlier


def keep_best_links(known: FactMatrix, links: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the `PER_FACT` links that a fact keeps, each of a row and a weight; ties go to the older turn."""

    def sort_key(link: tuple[int, float]) -> tuple[float, int, int]:
        row, weight = link
        at = min(int(np.searchsorted(known.rows, row)), len(known) - 1)
        return -weight, int(known.turns[at]), row

    return heapq.nsmallest(PER_FACT, links, key=sort_key)


def find_similar_rows(known: FactMatrix, rows: Sequence[int], min_cosine: float) -> dict[int, float]:
    """Return each row of another turn whose cosine with one of these is at least so much, with the largest.

    That is every edge of LaceMem's `similar`, where the file keeps the best `PER_FACT` of a fact.
    """
    found: dict[int, float] = {}
    for position in known.positions_of(rows):
        cosines = known.exact_cosines(np.arange(len(known)), position)
        for at in np.flatnonzero((cosines >= min_cosine) & (known.turns != known.turns[position])).tolist():
            row = int(known.rows[at])
            found[row] = max(found.get(row, 0.0), min(1.0, float(cosines[at])))
    return found


def vectors_of_rows(known: FactMatrix, rows: Positions) -> Vectors:
    """Return the vectors of rows, float32 of shape (len(rows), dimension); zeros for one without."""
    at = np.minimum(np.searchsorted(known.rows, rows), len(known) - 1)
    there = known.rows[at] == rows
    vectors: Vectors = (known.scales[at] * there)[:, None].astype(np.float32) * known.quantized[at]
    return vectors


class FactVectors:
    """The vectors of facts in the file, and a cached `FactMatrix` of them.

    `read_matrix` reads the rows that were added since it was last called, by this handle or another.
    """

    def __init__(self, db: Tables) -> None:
        self._db = db
        self.drop_cache()

    def largest_row(self) -> int:
        """Return the largest row that has a vector; 0 where none has."""
        return self._db.highest_value("fact_vector", "row")

    def store_vectors(self, rows: Sequence[int], vectors: Vectors, newest: int) -> list[int]:
        """Store the vectors of these facts; return the rows of those that were not stored so yet.

        `newest` is the largest row that has a vector. `read_matrix` reads only larger ones: else drop the cache.
        """
        packed = {row: (data.tobytes(), scale) for row, (data, scale) in zip(rows, map(pack, vectors), strict=True)}
        old = [row for row in rows if row <= newest]
        there = self._db.select("fact_vector", "row, vector, scale", row=old) if old else ()
        kept = {row: tuple(one) for row, *one in there}
        fresh = [row for row in rows if kept.get(row) != packed[row]]
        values = [(row, *packed[row]) for row in fresh]
        self._db.insert("fact_vector", "row, vector, scale", values, key="row", new="vector, scale")
        return fresh

    def has_more_than(self, count: int) -> bool:
        """Say whether there are more than `count`; finding the row at an offset reads no vectors and stops there."""
        return self._cached_count > count or bool(self._db.rows(*select_has_more_vectors_than(count)))

    def delete_vectors(self, rows: Sequence[int]) -> None:
        """Delete the vectors of facts."""
        self._db.delete_rows("fact_vector", row=rows)
        self.drop_cache()

    def read_matrix(self) -> FactMatrix:
        """Return every vector that the file holds now; inside a transaction of the caller."""
        last = int(self._columns.values[-1, 0]) if self._cached_count else 0
        for found in self._db.read_pages(VECTORS, (last,), _PAGE_VECTORS):
            quantized = np.stack([np.frombuffer(row[3], np.int8) for row in found])
            if not self._cached_count:
                self._quantized = Column(np.int8, quantized.shape[1])
            self._columns.extend(np.array([row[:3] for row in found], np.int64))
            self._quantized.extend(quantized)
            self._scales.extend(np.array([row[4] for row in found]))
            if len(found) < _PAGE_VECTORS:
                break
        rows, turns, instants = self._columns.values.T
        known = FactMatrix(rows, turns, instants, self._quantized.values, self._scales.values)
        return known if len(known) <= WINDOW_FACTS + 1 else replace(known, cells=self._update_cells(known))

    def drop_cache(self) -> None:
        """Drop the cached matrix; `read_matrix` reads the file again."""
        self._columns = Column(np.int64, 3)
        self._quantized = Column(np.int8, 0)
        self._scales = Column(np.float64)
        self._cells: CellIndex | None = None

    @property
    def _cached_count(self) -> int:
        return len(self._columns)

    def _update_cells(self, known: FactMatrix) -> CellIndex:
        """Return the cells of all positions, those added since included."""
        self._cells = self._cells or CellIndex()
        for start in range(len(self._cells), len(known), _HASH_BATCH_VECTORS):
            # Without their scales: the cell of a vector does not depend on its length.
            self._cells.extend(known.quantized[start : start + _HASH_BATCH_VECTORS].astype(np.float32))
        return self._cells


def _split_into_blocks(positions: Sequence[int]) -> Iterator[Positions]:
    """Yield positions, ascending, in blocks that lie together: a block is compared with the cells around all of it."""
    block: list[int] = []
    for position in sorted(positions):
        if block and (len(block) == _BLOCK_FACTS or position - block[0] > WINDOW_FACTS):
            yield np.array(block)
            block = []
        block.append(position)
    if block:
        yield np.array(block)
