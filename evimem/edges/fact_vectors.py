"""The vectors of facts: rows in the file, one matrix in memory that follows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..db.connection import Connection
from ..embedding.quantize import pack
from ..types.vectors import Vectors
from .link_rules import PER_FACT

Positions = NDArray[np.int64]
_ROUNDING = 1e-4  # how far a product of floats may be off
_BLOCK = 256  # facts compared with all others in one matrix product


@dataclass(frozen=True, slots=True)
class Near:
    """What one fact is similar to: the best of what was said before it, and what was said after it, or nearly so."""

    position: int
    links: tuple[tuple[int, float], ...]
    later: Positions


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that have a vector, position by position: rows (ascending), turns, times said, vectors as stored and not.

    The float matrix finds who may be near; the stored whole numbers say how near, so that a link weighs the same to
    the last bit whatever it was computed beside.
    """

    rows: Positions
    turns: Positions
    said: Positions
    matrix: Vectors
    quantized: NDArray[np.int8]
    scales: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def positions(self, rows: Sequence[int]) -> list[int]:
        """Return where these rows stand; those without a vector are left out."""
        found = np.searchsorted(self.rows, rows)
        return [int(at) for at, row in zip(found, rows, strict=True) if at < len(self.rows) and self.rows[at] == row]

    def near(self, positions: Sequence[int], least: float) -> Iterator[Near]:
        """Yield what each of these facts is similar to (cosine >= least) in other turns; ties go to the older row."""
        for start in range(0, len(positions), _BLOCK):
            block = list(positions[start : start + _BLOCK])
            with np.errstate(all="ignore"):  # scales may be damaged; `_exact` decides
                cosines = self.matrix @ self.matrix[block].T
            for column, position in enumerate(block):
                yield self._near(position, cosines[:, column], least)

    def _near(self, position: int, cosines: Vectors, least: float) -> Near:
        close = np.flatnonzero((cosines >= least - _ROUNDING) & (self.turns != self.turns[position]))
        before = self._before(close, position)
        past, later = close[before], close[~before]
        if len(past) > PER_FACT:  # far more may be close than can be linked, and exactness has its price
            fourth = np.partition(cosines[past], len(past) - PER_FACT)[len(past) - PER_FACT]
            past = past[cosines[past] >= fourth - 2 * _ROUNDING]
        exact = self._exact(past, position)
        past, exact = past[exact >= least], exact[exact >= least]
        best = np.lexsort((past, -exact))[:PER_FACT]
        links = tuple((int(past[at]), min(1.0, float(exact[at]))) for at in best)
        return Near(position, links, later)

    def _exact(self, positions: Positions, position: int) -> NDArray[np.float64]:
        dots = self.quantized[positions].astype(np.int32) @ self.quantized[position].astype(np.int32)
        exact: NDArray[np.float64] = dots * (self.scales[positions] * self.scales[position])
        return exact

    def _before(self, positions: Positions, position: int) -> NDArray[np.bool_]:
        said, row = self.said[position], self.rows[position]
        theirs = self.said[positions]
        earlier: NDArray[np.bool_] = (theirs < said) | ((theirs == said) & (self.rows[positions] < row))
        return earlier


class FactVectors:
    """Keeps `Known` in step with the file: what other handles added is read when it is next asked for."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self.reset()

    def keep(self, rows: Sequence[int], vectors: Vectors) -> bool:
        """Store the vectors of these facts, but for those kept already; return whether some came after later facts'."""
        packed = {row: pack(vector) for row, vector in zip(rows, vectors, strict=True)}
        fresh = [row for row in rows if not self._has(row, *packed[row])]
        if not fresh:
            return False
        late = min(fresh) <= int(self._db.value("SELECT max(row) FROM fact_vector") or 0)
        values = [(row, packed[row][0].tobytes(), packed[row][1]) for row in fresh]
        self._db.executemany("INSERT OR REPLACE INTO fact_vector (row, vector, scale) VALUES (?, ?, ?)", values)
        if late:  # `current` follows the file by row: it would never see them
            self.reset()
        return late

    def more_than(self, count: int) -> bool:
        """Say whether there are more than so many, without reading them."""
        return self._size > count or bool(self._db.rows("SELECT 1 FROM fact_vector LIMIT 1 OFFSET ?", (count,)))

    def drop(self, rows: Sequence[int]) -> None:
        """Delete the vectors of facts."""
        self._db.executemany("DELETE FROM fact_vector WHERE row = ?", [(row,) for row in rows])
        self.reset()

    def current(self) -> Known:
        """Return everything that the file holds now."""
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
        rows, turns, said = self._columns[:end].T
        return Known(rows, turns, said, self._matrix[:end], self._quantized[:end], self._scales[:end])

    def reset(self) -> None:
        """Forget what is held in memory; it is read again when it is next asked for."""
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
            room = max(end, 2 * self._size, 64)
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
