"""What engines say differently: sets and rows of values as one parameter, whatever their size; and text.

Lone surrogates are no UTF-8: SQLite is given them as bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import orjson

Value: TypeAlias = int | float | str | bytes | list[Any] | None
Query: TypeAlias = tuple[str, Sequence[Value]]


class Dialect:
    """How SQLite writes what SQL has no common words for; another engine overrides it. A text holds a `?` a value.

    Sets and rows are JSON, which SQLite reads as a table: one statement for any number, prepared once.
    """

    calls_python = True  # whether statements can call `meets`, which is Python
    # A table with the highest number ever given in each table, by `name`, and the column of that number.
    numbers = "sqlite_sequence", "seq"

    def among(self, column: str) -> str:
        """Return the condition that a column is one of a set; bind `values`."""
        return f"{column} IN (SELECT value FROM json_each(?))"

    def table(self, name: str, *columns: str) -> str:
        """Return a table of given rows, for FROM; bind `table_of`. A column is its name and its type."""
        fields = ", ".join(f"value ->> {at} AS {column.split()[0]}" for at, column in enumerate(columns))
        return f"(SELECT {fields} FROM json_each(?)) AS {name}"

    def joined(self, table: str, key: str, query: str) -> str:
        """Return a join with the rows of a table whose key is among those that a query of the rows before it returns.

        The query may end in a LIMIT, which counts for each of the rows before it.
        """
        return f"JOIN {table} ON {table}.{key} IN ({query})"

    def values(self, values: Collection[int | str]) -> Value:
        """Return a set as one value."""
        return orjson.dumps(list(values)).decode()

    def table_of(self, rows: Collection[Sequence[int | float | str | None]]) -> Value:
        """Return rows as one value."""
        return orjson.dumps(list(rows)).decode()


class LoneSurrogates(bytes):
    """Text that is not valid Unicode, as bytes: another engine tells it from bytes by this type."""


def bindable(text: str) -> str | bytes:
    """Return text as SQLite can hold it: lone surrogates, which are not UTF-8, as bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return LoneSurrogates(text.encode("utf-8", "surrogatepass"))
    return text


def is_text(value: object) -> bool:
    """Return whether a value is text without lone surrogates, as every id and name is that was ever stored."""
    return isinstance(value, str) and isinstance(bindable(value), str)


def unbound(value: Any) -> str:
    """Return the text that `bindable` made bindable."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
