"""The tables of sessions and speakers: a number for each name, so that a turn's row and the index hold numbers."""

from __future__ import annotations

from ..db.connection import Connection
from ..db.text_columns import bindable


class NameTable:
    """One table of names. A number is never given to another name, not even after its name was erased."""

    def __init__(self, db: Connection, table: str) -> None:
        self._db = db
        self._table = table  # a constant of the package, never text of a user: it becomes part of the statements

    def number(self, name: str) -> int | None:
        """Return the number of a name, or None for an unknown one."""
        found: int | None = self._db.value(f"SELECT ord FROM {self._table} WHERE name = ?", (bindable(name),))
        return found

    def number_or_add(self, name: str) -> int:
        """Return the number of a name, which is added if need be."""
        found = self.number(name)
        return found if found is not None else self._db.execute(f"INSERT INTO {self._table} (name) VALUES (?)", (name,))

    def names(self) -> tuple[str, ...]:
        """Return every name, in the order in which they were added. Raise ValueError for a damaged one."""
        names = tuple(row[0] for row in self._db.rows(f"SELECT name FROM {self._table} ORDER BY ord"))
        if any(type(name) is not str for name in names):
            raise ValueError(f"the name of a {self._table} has another type than was stored")
        return names

    def drop_unused(self) -> None:
        """Delete the names that no turn has: a name can identify a person, and is erased with the last turn."""
        self._db.execute(
            f"DELETE FROM {self._table} "
            f"WHERE NOT EXISTS (SELECT 1 FROM turn WHERE turn.{self._table} = {self._table}.ord)"
        )

    def clear(self) -> None:
        """Delete every name."""
        self._db.execute(f"DELETE FROM {self._table}")
