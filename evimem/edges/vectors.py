"""The vectors of facts: rows in the file, one matrix in memory that follows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..connection import Connection
from ..protocols import Vectors
from ..quantize import pack, unpack
from .rules import PER_FACT

Positions = NDArray[np.int64]
_BLOCK = 256  # facts compared with all others in one matrix product


@dataclass(frozen=True, slots=True)
class Near:
    """What one fact is similar to: the best of what was said before it, and all of what was said after it."""

    position: int
    links: tuple[tuple[int, float], ...]
    later: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that have a vector: their rows (ascending), turns, times said, and unit vectors, position by position."""

    rows: Positions
    turns: Positions
    said: Positions
    matrix: Vectors

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
            cosines = self.matrix @ self.matrix[block].T
            for column, position in enumerate(block):
                yield self._near(position, cosines[:, column], least)

    def _near(self, position: int, cosines: Vectors, least: float) -> Near:
        close = np.flatnonzero((cosines >= least) & (self.turns != self.turns[position]))
        before = self._before(close, position)
        past = close[before]
        best = past[np.lexsort((past, -cosines[past]))][:PER_FACT]
        links = tuple((int(at), min(1.0, float(cosines[at]))) for at in best)
        return Near(position, links, tuple(int(at) for at in close[~before]))

    def _before(self, positions: Positions, position: int) -> NDArray[np.bool_]:
        said, row = self.said[position], self.rows[position]
        return (self.said[positions] < said) | ((self.said[positions] == said) & (self.rows[positions] < row))


class FactVectors:
    """Keeps `Known` in step with the file: what other handles added is read when it is next asked for."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self.reset()

    def keep(self, rows: Sequence[int], vectors: Vectors) -> None:
        """Store the vectors of these facts; a row of zeros (no embedding) is not stored."""
        packed = ((row, pack(vector)) for row, vector in zip(rows, vectors, strict=True) if vector.any())
        values = [(row, data.tobytes(), scale) for row, (data, scale) in packed]
        self._db.executemany("INSERT OR REPLACE INTO fact_vector (row, vector, scale) VALUES (?, ?, ?)", values)

    def current(self) -> Known:
        """Return everything that the file holds now."""
        last = int(self._columns[self._size - 1, 0]) if self._size else 0
        found = self._db.rows(
            "SELECT fact.row, fact.seq, fact.instant, vector, scale FROM fact_vector JOIN fact USING (row) "
            "WHERE fact_vector.row > ? ORDER BY fact_vector.row",
            (last,),
        )
        if found:
            self._append(
                np.array([row[:3] for row in found], dtype=np.int64), np.stack([unpack(*row[3:]) for row in found])
            )
        rows, turns, said = self._columns[: self._size].T
        return Known(rows, turns, said, self._matrix[: self._size])

    def reset(self) -> None:
        """Forget what is held in memory; it is read again when it is next asked for."""
        self._size = 0
        self._columns = np.empty((0, 3), dtype=np.int64)
        self._matrix: Vectors = np.empty((0, 0), dtype=np.float32)

    def _append(self, columns: Positions, matrix: Vectors) -> None:
        end = self._size + len(columns)
        if end > len(self._columns):
            room = max(end, 2 * self._size, 64)
            grown = np.empty((room, 3), dtype=np.int64), np.empty((room, matrix.shape[1]), dtype=np.float32)
            if self._size:
                grown[0][: self._size] = self._columns[: self._size]
                grown[1][: self._size] = self._matrix[: self._size]
            self._columns, self._matrix = grown
        self._columns[self._size : end] = columns
        self._matrix[self._size : end] = matrix
        self._size = end
