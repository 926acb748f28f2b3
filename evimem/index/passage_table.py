"""Which rows of the index a turn has: numbered from 1 in order of arrival.

Numbers of erased turns stay unused until there are many of them; then all rows are numbered anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..db.connection import Connection

# The highest row number that was ever given: of a turn that is there or, written when turns are erased, of one that
# was.
_HIGH = "rows"
_HIGH_WATER = f"""max(
    coalesce((SELECT first + count - 1 FROM passage ORDER BY first DESC LIMIT 1), 0),
    coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = '{_HIGH}'), 0))"""
# Every position of a corpus takes room and time, used or not, and to number a row anew takes 50 microseconds: an eighth
# keeps a memory that forgets as much as it adds within an eighth of its size. Chosen by the two hours of test_soak.py.
_UNUSED = 8
_PARAMETERS = 500  # turns in one statement; SQLite has a limit


@dataclass(frozen=True, slots=True)
class RowRange:
    """The rows of a turn: `first`, and how many follow one another."""

    first: int
    count: int

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.first + self.count))


class PassageTable:
    """The row numbers of turns, in SQLite."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    @property
    def high_water(self) -> int:
        """The highest row number that was ever given; 0 in a new memory."""
        return int(self._db.value(f"SELECT {_HIGH_WATER}"))

    def assign(self, seq: int, count: int) -> RowRange:
        """Give a turn its rows: the next ones."""
        sql = f"INSERT INTO passage (seq, first, count) VALUES (?, 1 + {_HIGH_WATER}, ?) RETURNING first"
        return RowRange(int(self._db.value(sql, (seq, count))), count)

    def of(self, seqs: Iterable[int]) -> dict[int, RowRange]:
        """Return the rows of these turns; a turn without any is missing."""
        wanted = list(seqs)
        found: dict[int, RowRange] = {}
        for start in range(0, len(wanted), _PARAMETERS):
            page = wanted[start : start + _PARAMETERS]
            marks = ", ".join("?" * len(page))
            rows = self._db.rows(f"SELECT seq, first, count FROM passage WHERE seq IN ({marks})", page)
            found |= {seq: RowRange(first, count) for seq, first, count in rows}
        return found

    def within(self, first: int, last: int) -> dict[int, RowRange]:
        """Return the turns that have a row from `first` to `last`, with all of their rows, in order."""
        start = self._db.value("SELECT max(first) FROM passage WHERE first <= ?", (first,)) or first
        sql = "SELECT seq, first, count FROM passage WHERE first BETWEEN ? AND ? ORDER BY first"
        ranges = {seq: RowRange(at, count) for seq, at, count in self._db.rows(sql, (start, last))}
        return {seq: rows for seq, rows in ranges.items() if rows.first + rows.count > first}

    def erase(self, seqs: Sequence[int]) -> None:
        """Forget the rows of turns that are being erased; their numbers stay used."""
        self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_HIGH, str(self.high_water)))
        self._db.executemany("DELETE FROM passage WHERE seq = ?", [(seq,) for seq in seqs])

    def sparse(self, spare: int) -> bool:
        """Say whether more than an eighth as many numbers are unused as used, and more than `spare`."""
        used = int(self._db.value("SELECT coalesce(sum(count), 0) FROM passage"))
        return self.high_water - used > max(used // _UNUSED, spare)

    def renumber(self) -> dict[int, int]:
        """Number all rows anew from 1, in the same order; return the new number of each."""
        numbers: dict[int, int] = {}
        moved: list[tuple[int, int]] = []
        for seq, first, count in self._db.rows("SELECT seq, first, count FROM passage ORDER BY first"):
            moved.append((len(numbers) + 1, seq))
            numbers |= zip(range(first, first + count), range(len(numbers) + 1, len(numbers) + count + 1), strict=True)
        self._db.executemany("UPDATE passage SET first = ? WHERE seq = ?", moved)  # ascending: a number is free by then
        self._db.execute("DELETE FROM meta WHERE key = ?", (_HIGH,))
        return numbers

    def clear(self) -> None:
        """Drop all rows, to number them anew from 1."""
        self._db.execute("DELETE FROM passage")
        self._db.execute("DELETE FROM meta WHERE key = ?", (_HIGH,))
