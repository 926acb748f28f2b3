"""Every row of a memory, from the tables of one engine to those of another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from ..errors import StoreError
from .dialect import bindable, unbound
from .postgres_schema import NUMBERED, TABLES, types_of
from .tables import Tables

_COPIED = tuple(TABLES)[1:]  # in an order in which no row refers to one that comes later; counters are set apart
_PAGE = {"segment": 1, "trace": 100}  # rows read at once, where they are large
_FEW = 1000  # of the other tables


@dataclass(frozen=True, slots=True)
class Copied:
    """What a table holds: how many rows, and a digest of all in the order of their keys."""

    rows: int
    digest: bytes


def copy_rows(source: Tables, target: Tables, said: Callable[[int], None]) -> dict[str, Copied]:
    """Write every row of a memory into tables in which no turn was ever stored; return what was read, by table.

    Inside a transaction of the caller on either side. `said` is called with the number of turns of each page.
    """
    if target.newest("turn"):
        raise StoreError(
            f"{target.name!r} is a memory already; nothing was copied: give a new file, or a user who has no memory yet"
        )
    for table in reversed(_COPIED):
        target.delete(table)  # what opening an empty memory has written
    copied: dict[str, Copied] = {}
    for table in _COPIED:
        digest, count = blake2b(digest_size=16), 0
        for page in _pages(source, table):
            target.insert(table, ", ".join(types_of(table)), page)
            digest.update(repr(page).encode())
            count += len(page)
            if table == "turn":
                said(len(page))
        copied[table] = Copied(count, digest.digest())
    target.number_from({table: source.newest(table) for table in NUMBERED})
    return copied


def differing(db: Tables, copied: dict[str, Copied]) -> list[str]:
    """Return the tables that do not hold what was copied, in a transaction of the caller."""
    return [table for table, was in copied.items() if _read(db, table) != was]


def _read(db: Tables, table: str) -> Copied:
    digest, count = blake2b(digest_size=16), 0
    for page in _pages(db, table):
        digest.update(repr(page).encode())
        count += len(page)
    return Copied(count, digest.digest())


def _pages(db: Tables, table: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a table in the order of their keys, each value of the type of its column."""
    types, keys = types_of(table), TABLES[table].key.split(", ")
    names, after, where = list(types), tuple[Any, ...](), ""
    later = f"{keys[0]} > ?" if len(keys) == 1 else f"({', '.join(keys)}) > ({', '.join('?' * len(keys))})"
    sql, size = f"SELECT {', '.join(names)} FROM {table}", _PAGE.get(table, _FEW)
    while page := db.rows(f"{sql}{where} ORDER BY {', '.join(keys)} LIMIT ?", (*after, size)):
        yield [_typed(row, types.values()) for row in page]
        after, where = tuple(page[-1][names.index(key)] for key in keys), f" WHERE {later}"


_MADE: dict[str, Callable[[Any], Any]] = {
    "string": lambda text: bindable(unbound(text)),
    "bigint": int,
    "double precision": float,
    "bytea": bytes,
}


def _typed(row: Sequence[Any], kinds: Iterable[str]) -> tuple[Any, ...]:
    return tuple(None if value is None else _MADE[kind](value) for value, kind in zip(row, kinds, strict=True))
