"""Tables in sets: each verb is one statement, however many rows it is about.

Names of tables and columns are constants of the package, never text of a user: they become part of the statements.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .dialect import Dialect, Value


class Tables(ABC):
    """A connection to the tables of a memory. An engine gives the statements, transactions and a dialect."""

    dialect: Dialect
    aborted: int  # write blocks that were rolled back, and read blocks that failed unexpectedly

    @abstractmethod
    def rows(self, sql: str, args: Sequence[Value] = ()) -> list[Any]:
        """Return every row of a query."""

    @abstractmethod
    def execute(self, sql: str, args: Sequence[Value] = ()) -> None:
        """Run one statement."""

    @abstractmethod
    def executemany(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row of values."""

    @abstractmethod
    def patch(self, table: str, column: str, rowid: int, pieces: Iterable[tuple[int, bytes]]) -> None:
        """Overwrite parts of a BLOB in place, each at its offset."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """Hold the write lock for a block that is committed whole or not at all."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """See one state throughout a block."""

    @abstractmethod
    def part(self) -> AbstractContextManager[None]:
        """Undo this part of a block of `writing` where it raises; the rest of the block stands."""

    @abstractmethod
    def pages(self, sql: str, after: tuple[int, ...], size: int) -> Iterator[list[Any]]:
        """Yield the rows of a query, so many at once: its parameters are the key to go on after, and the size."""

    def value(self, sql: str, args: Sequence[Value] = ()) -> Any:
        """Return the first column of the first row, or None."""
        found = self.rows(sql, args)
        return found[0][0] if found else None

    def select(self, table: str, columns: str, order: str = "", /, **among: Collection[int | str]) -> list[Any]:
        """Return columns of the rows whose other columns are among these values; of every row without any."""
        sql = f"SELECT {columns} FROM {table}{self._where(among)}" + (order and f" ORDER BY {order}")
        return self.rows(sql, self._given(among))

    def count(self, table: str) -> int:
        """Return how many rows there are."""
        return int(self.value(f"SELECT count(*) FROM {table}"))

    def newest(self, table: str) -> int:
        """Return the highest number that a table's rows were ever given, erased ones included."""
        return int(self.value(f"SELECT {self.dialect.newest(table)}"))

    def insert(self, table: str, columns: str, rows: Iterable[Sequence[Value]], key: str = "", new: str = "") -> None:
        """Insert rows. Of those whose `key` is there, keep the old or, for columns that are named `new`, the new."""
        marks = ", ".join("?" * (columns.count(",") + 1))
        sets = ", ".join(f"{column} = excluded.{column}" for column in new.split(", "))
        known = f" ON CONFLICT ({key}) DO {f'UPDATE SET {sets}' if new else 'NOTHING'}" if key else ""
        self.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks}){known}", rows)

    def update(self, table: str, columns: str, key: str, rows: Iterable[Sequence[Value]]) -> None:
        """Set columns of rows: of each, the values and then the key, whose columns find it."""
        sets, found = ([f"{column} = ?" for column in names.split(", ")] for names in (columns, key))
        self.executemany(f"UPDATE {table} SET {', '.join(sets)} WHERE {' AND '.join(found)}", rows)

    def delete(self, table: str, /, **among: Collection[int | str]) -> None:
        """Delete the rows whose columns are among these values; every row without any."""
        self.execute(f"DELETE FROM {table}{self._where(among)}", self._given(among))

    def _where(self, among: dict[str, Collection[int | str]]) -> str:
        conditions = " AND ".join(self.dialect.among(column) for column in among)
        return f" WHERE {conditions}" if conditions else ""

    def _given(self, among: dict[str, Collection[int | str]]) -> list[Value]:
        return [self.dialect.values(values) for values in among.values()]
