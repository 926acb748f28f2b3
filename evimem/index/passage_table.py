"""Which rows of the index a turn has: numbered from 1 in order of arrival.

Numbers of erased turns stay unused until there are many of them; then all rows are numbered anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ..db.dialect import Query
from ..db.index_sql import highest_row, passages_within, used_rows
from ..db.meta import drop_meta, set_meta
from ..db.tables import Tables

# The highest row number that was ever given is kept when turns are erased; else it is that of a turn that is there.
_HIGH = "rows"
# Every position of a corpus takes room and time, used or not, and to number a row anew takes 50 microseconds: an eighth
# keeps a memory that forgets as much as it adds within an eighth of its size. Chosen by the two hours of test_soak.py.
_UNUSED = 8


@dataclass(frozen=True, slots=True)
class RowRange:
    """The rows of a turn: `first`, and how many follow one another."""

    first: int
    count: int

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    @property
    def last(self) -> int:
        """The last of them."""
        return self.first + self.count - 1


class PassageTable:
    """The row numbers of turns."""

    def __init__(self, db: Tables) -> None:
        self._db = db

    @property
    def high_water(self) -> int:
        """The highest row number that was ever given; 0 in a new memory."""
        return int(self._db.value(*self.asking()) or 0)

    def asking(self) -> Query:
        """Return the query that `high_water` asks."""
        return highest_row(_HIGH)

    def assign(self, counts: Sequence[tuple[int, int]]) -> list[RowRange]:
        """Give turns their rows, the next ones; `counts` are (sequence number, number of rows)."""
        given, last = list[RowRange](), self.high_water if counts else 0
        for _, count in counts:
            given.append(RowRange(last + 1, count))
            last += count
        numbered = [(seq, rows.first, rows.count) for (seq, _), rows in zip(counts, given, strict=True)]
        self._db.insert("passage", "seq, first, count", numbered)
        return given

    def of(self, seqs: Collection[int]) -> dict[int, RowRange]:
        """Return the rows of these turns; a turn without any is missing."""
        found = self._db.rows(*self.asking_of(seqs))
        return {seq: RowRange(first, count) for seq, first, count in found}

    def asking_of(self, seqs: Collection[int]) -> Query:
        """Return the query that `of` asks."""
        return self._db.selecting("passage", "seq, first, count", seq=seqs)

    def within(self, first: int, last: int) -> dict[int, RowRange]:
        """Return the turns that have a row from `first` to `last`, with all of their rows, in order."""
        ranges = {seq: RowRange(at, count) for seq, at, count in passages_within(self._db, first, last)}
        return {seq: rows for seq, rows in ranges.items() if rows.first + rows.count > first}

    def erase(self, seqs: Collection[int]) -> None:
        """Forget the rows of turns that are being erased; their numbers stay used."""
        set_meta(self._db, _HIGH, str(self.high_water))
        self._db.delete("passage", seq=seqs)

    def sparse(self, spare: int) -> bool:
        """Say whether more than an eighth as many numbers are unused as used, and more than `spare`."""
        used = used_rows(self._db)
        return self.high_water - used > max(used // _UNUSED, spare)

    def renumber(self) -> dict[int, int]:
        """Number all rows anew from 1, in the same order; return the new number of each."""
        numbers: dict[int, int] = {}
        moved: list[tuple[int, int]] = []
        for seq, first, count in self._db.select("passage", "seq, first, count", "first"):
            moved.append((len(numbers) + 1, seq))
            numbers |= zip(range(first, first + count), range(len(numbers) + 1, len(numbers) + count + 1), strict=True)
        self._db.update("passage", "first", "seq", moved)  # ascending: a number is free by then
        drop_meta(self._db, _HIGH)
        return numbers

    def clear(self) -> None:
        """Drop all rows, to number them anew from 1."""
        self._db.delete("passage")
        drop_meta(self._db, _HIGH)
