"""The tables of sessions and speakers: a number for each name, so that a turn's row and the index hold numbers."""

from __future__ import annotations

from collections.abc import Iterable

from ..db.tables import Tables
from ..db.text_columns import is_text
from ..db.turn_sql import drop_unused_names


class NameTable:
    """One table of names. A number is never given to another name, not even after its name was erased."""

    def __init__(self, db: Tables, table: str) -> None:
        self._db = db
        self._table = table

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of names by name; unknown ones are missing."""
        wanted = set(filter(is_text, names))
        return dict(self._db.select(self._table, "name, ord", name=wanted)) if wanted else {}

    def numbers_or_add(self, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of names by name; unknown ones are added, in the order given."""
        given = list(dict.fromkeys(names))
        found = self.numbers(given)
        missing = [name for name in given if name not in found]
        if missing:
            added = list(zip(missing, range(self._db.newest(self._table) + 1, 2**63), strict=False))
            self._db.insert(self._table, "name, ord", added)
            found |= added
        return found

    def names(self) -> tuple[str, ...]:
        """Return every name, in the order in which they were added. Raise ValueError for a damaged one."""
        names = tuple(row[0] for row in self._db.select(self._table, "name", "ord"))
        if any(type(name) is not str for name in names):
            raise ValueError(f"the name of a {self._table} has another type than was stored")
        return names

    def drop_unused(self) -> None:
        """Delete the names that no turn has: a name can identify a person, and is erased with the last turn."""
        drop_unused_names(self._db, self._table)

    def clear(self) -> None:
        """Delete every name."""
        self._db.delete(self._table)
