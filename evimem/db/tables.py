"""Tables in sets: each verb is one statement, however many rows it is about; and the differences between engines.

Names of tables and columns are constants of the package, never text of a user: they become part of the statements.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from ..errors import UNREADABLE, StoreCorrupt
from ..types.type_variables import T

if TYPE_CHECKING:
    from .encryption import Key

Value: TypeAlias = int | float | str | bytes | list[Any] | None
Query: TypeAlias = tuple[str, Sequence[Value]]
# The condition on a column: one of these values, in a range, this value, or NULL.
Condition: TypeAlias = Collection[int | str] | int | str | bytes | None


class Dialect:
    """The SQL that differs between engines, as of SQLite; another engine overrides it. A text holds a `?` a value.

    Sets and rows are JSON, which SQLite reads as a table: one statement for any number, prepared once.
    """

    calls_python = True  # whether statements can call `meets`, which is Python
    # A table with the highest number ever given in each table, by `name`, and the column of that number.
    numbers = "sqlite_sequence", "seq"

    def in_set_sql(self, column: str) -> str:
        """Return the condition that a column is one of a set; bind `bind_set`."""
        return f"{column} IN (SELECT value FROM json_each(?))"

    def values_table(self, name: str, *columns: str) -> str:
        """Return a table of given rows, for FROM; bind `bind_rows`. A column is its name and its type."""
        fields = ", ".join(f"value ->> {at} AS {column.split()[0]}" for at, column in enumerate(columns))
        return f"(SELECT {fields} FROM json_each(?)) AS {name}"

    def join_rows(self, table: str, key: str, query: str) -> str:
        """Return a join with the rows of a table whose key is among those that a query of the rows before it returns.

        The query may end in a LIMIT, which counts for each of the rows before it.
        """
        return f"JOIN {table} ON {table}.{key} IN ({query})"

    def bind_set(self, values: Collection[int | str]) -> Value:
        """Return a set as one value."""
        return orjson.dumps(list(values)).decode()

    def bind_rows(self, rows: Collection[Sequence[int | float | str | None]]) -> Value:
        """Return rows as one value."""
        return orjson.dumps(list(rows)).decode()


class LoneSurrogates(bytes):
    """Text that is not valid Unicode, as bytes: another engine tells it from bytes by this type."""


def encode_text(text: str) -> str | bytes:
    """Return text as SQLite can hold it: lone surrogates, which are not UTF-8, as bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return LoneSurrogates(text.encode("utf-8", "surrogatepass"))
    return text


def is_storable_text(value: object) -> bool:
    """Return whether a value is text without lone surrogates, as every id and name is that was ever stored."""
    return isinstance(value, str) and isinstance(encode_text(value), str)


def decode_text(value: Any) -> str:
    """Return the text of a value that `encode_text` made."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


class Tables(ABC):
    """A connection to the tables of a memory. An engine gives the statements, transactions and a dialect."""

    dialect: Dialect = Dialect()
    name: str  # the name of the memory in messages
    aborted: int  # write blocks that were rolled back, and read blocks that failed unexpectedly
    is_remote = False  # whether each wait for rows is one for a network
    key: Key | None = None  # of an encrypted file
    unpurgeable_copies: str | None = None  # where the bytes of erased rows stay whatever `purge` does, and until when

    @property
    @abstractmethod
    def usable(self) -> bool:
        """Whether it is open, belongs to this process, and leads to the memory that was opened."""

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

    def require_writable(self) -> None:  # noqa: B027 - an engine that is always opened for writing has none
        """Raise StoreReadOnly where it was opened for reading only."""

    @abstractmethod
    def writing(self, *, durably: bool = True) -> AbstractContextManager[None]:
        """Hold the write lock for a block that is committed whole or not at all.

        Without `durably`, a power cut before the next commit that is durable undoes this one, whole as well.
        """

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """See one state throughout a block."""

    @abstractmethod
    def savepoint(self) -> AbstractContextManager[None]:
        """Undo this part of a block of `writing` where it raises; the rest of the block stands."""

    @abstractmethod
    def find_broken_references(self) -> list[tuple[str, str]]:
        """Return (table, table that it refers to) for each row that refers to a missing one."""

    @abstractmethod
    def size(self) -> int:
        """Return how many bytes the memory takes."""

    @abstractmethod
    def close(self) -> None:
        """Close it; a second call does nothing."""

    def retry_transaction(self, act: Callable[[], T]) -> T:
        """Run one transaction: again where a server has undone it for the sake of another's."""
        return act()

    # Maintenance of files, which a server does by itself, or by its administrator.

    def has_waiting_writer(self) -> bool:
        """Return whether somebody else waits to write: who waits for a row of a server comes next without that."""
        return False

    def yield_write_lock(self) -> None:  # noqa: B027 - see `has_waiting_writer`
        """Let those who wait for the write lock have it now: call it between two transactions of one long work."""

    def purge(self, on_done: Callable[[], None], *, wait: bool) -> bool:
        """Overwrite remains of erased rows, then call `on_done` in a transaction; return False where that must wait.

        With `wait`, wait for other readers up to the timeout.
        """
        del on_done, wait
        return False

    def check_pages(self, table: str | None = None) -> list[str]:
        """Return the damage that the engine finds in the pages of a table, or of all."""
        del table
        return []

    def list_trees(self) -> list[Any]:
        """Return (root page, name, name of the table) of every table and index that `check_pages` may name."""
        return []

    def rebuild_indexes(self) -> None:  # noqa: B027 - an index of a server is that of all users
        """Make every index again from the rows, where they could be damaged apart from these."""

    @contextmanager
    def raise_corrupt_on_decoding_errors(self) -> Iterator[None]:
        """Raise StoreCorrupt for whatever the code that decodes stored values raises in the block."""
        try:
            yield
        except UnicodeError:
            raise StoreCorrupt(
                self._unreadable_message("text that is not UTF-8")
            ) from None  # the cause would quote the text
        except UNREADABLE as error:
            raise StoreCorrupt(
                self._unreadable_message(f"a value that raised {type(error).__name__} when it was decoded")
            ) from error

    def _unreadable_message(self, what: str) -> str:
        return f"{self.name!r} holds {what}; run `evimem doctor`, or restore a backup"

    def read_pages(self, sql: str, after: tuple[int, ...], size: int) -> Iterator[list[Any]]:
        """Yield the rows of a query, so many at once: its parameters are the key to go on after, and the size.

        The key is the beginning of each row. Raise StoreCorrupt where it does not rise: in a damaged tree a page may
        lead back to an earlier one, and the rows would never end.
        """
        while page := self.rows(sql, (*after, size)):
            last = tuple(page[-1][: len(after)])
            if last <= after:
                raise StoreCorrupt(self._unreadable_message("rows out of their order"))
            yield page
            after = last

    def rows_of_queries(self, *queries: Query) -> list[list[Any]]:
        """Return the rows of several queries, of one state: an engine that is far away is waited for once."""
        with self.reading():
            return [self.rows(sql, args) for sql, args in queries]

    def prefetch(self, *asked: Callable[[], object]) -> None:  # noqa: B027 - near ones are asked when it is needed
        """Prefetch for this block the first query of each of these functions.

        An engine that is far away sends that now, leaves the function there, and answers it when it is called.
        """

    def read_value(self, sql: str, args: Sequence[Value] = ()) -> Any:
        """Return the first column of the first row, or None."""
        found = self.rows(sql, args)
        return found[0][0] if found else None

    def select(self, table: str, columns: str, order: str = "", /, **where: Condition) -> list[Any]:
        """Return columns of the rows whose other columns are as wanted; of every row without a condition."""
        return self.rows(*self.select_query(table, columns, order, **where))

    def select_query(self, table: str, columns: str, order: str = "", /, **where: Condition) -> Query:
        """Return the query that `select` asks."""
        conditions, args = self._where_clause(where)
        return f"SELECT {columns} FROM {table}{conditions}" + (order and f" ORDER BY {order}"), args

    def read_meta_value(self, key: str) -> str | None:
        """Return the memory's own value of a key."""
        return self.read_meta(key).get(key)

    def read_meta(self, *keys: str) -> dict[str, str]:
        """Return the memory's own values of some keys, by key."""
        return dict(self.select("meta", "key, value", key=keys))

    def set_meta(self, key: str, value: str) -> None:
        """Keep a text under a key."""
        self.insert("meta", "key, value", [(key, value)], key="key", new="value")

    def delete_meta(self, *keys: str) -> None:
        """Delete the values of keys."""
        self.delete_rows("meta", key=keys)

    def increment_meta(self, *keys: str) -> None:
        """Add one to the numbers that are kept under keys."""
        sql = "UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE "
        self.execute(sql + self.dialect.in_set_sql("key"), [self.dialect.bind_set(keys)])

    def count_rows(self, table: str) -> int:
        """Return how many rows there are."""
        return int(self.read_value(f"SELECT count(*) FROM {table}"))

    def highest_value(self, table: str, column: str) -> int:
        """Return the highest number in a column; 0 without any."""
        return int(self.select(table, f"max({column})")[0][0] or 0)

    def highest_number_given(self, table: str) -> int:
        """Return the highest number that a table's rows were ever given, erased ones included."""
        return int(self.read_value(*self.select_highest_number(table)) or 0)

    def select_highest_number(self, table: str) -> Query:
        """Return the query that `highest_number_given` asks."""
        numbers, column = self.dialect.numbers
        return f"SELECT max({column}) FROM {numbers} WHERE name = '{table}'", ()

    def set_highest_numbers(self, newest: Mapping[str, int]) -> None:
        """Set the highest number that the rows of each of these tables were ever given."""
        numbers, column = self.dialect.numbers
        self.delete_rows(numbers, name=newest)
        self.insert(numbers, f"name, {column}", newest.items())

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

    def set_columns(self, table: str, values: Mapping[str, Value], /, **where: Condition) -> None:
        """Give columns the same values in all rows whose columns are as wanted."""
        conditions, args = self._where_clause(where)
        self.execute(
            f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in values)}{conditions}", [*values.values(), *args]
        )

    def delete_rows(self, table: str, /, **where: Condition) -> None:
        """Delete the rows whose columns are as wanted; every row without a condition."""
        conditions, args = self._where_clause(where)
        self.execute(f"DELETE FROM {table}{conditions}", args)

    def _where_clause(self, where: Mapping[str, Condition]) -> tuple[str, list[Value]]:
        clauses, args = list[str](), list[Value]()
        for column, wanted in where.items():
            if wanted is None:
                clauses.append(f"{column} IS NULL")
            elif isinstance(wanted, (int, str, bytes)):
                clauses.append(f"{column} = ?")
                args.append(wanted)
            elif isinstance(wanted, range):
                clauses.append(f"{column} BETWEEN ? AND ?")
                args += (wanted.start, wanted.stop - 1)
            else:
                clauses.append(self.dialect.in_set_sql(column))
                args.append(self.dialect.bind_set(wanted))
        return f" WHERE {' AND '.join(clauses)}" if clauses else "", args
