"""Everything a memory stores, table by table, with ids instead of row numbers, so that two memories can be compared.

Tables are listed from the schema: a new one is compared from the day it is added.
"""

from collections import defaultdict
from typing import Any

import numpy as np
import orjson

from evimem import Memory
from evimem.db.connection import Connection
from evimem.index.corpus import COLUMNS

_NAMES = {  # what stands for a row of these tables
    "turn": "SELECT seq, id FROM turn",
    "fact": "SELECT row, id FROM fact",
    "session": "SELECT ord, name FROM session",
    "speaker": "SELECT ord, name FROM speaker",
    "trace": "SELECT number, body FROM trace",
}
_OF_THE_FILE = {"meta", "forgotten", "place", "calls"}  # which file it is and what it has been through
_INDEX = {"document", "segment", "posting"}  # told turn by turn, whether sealed or not
_WHEN = {("job", "due"), ("job", "since"), ("passage", "first")}  # row numbers depend on what came before

Dump = dict[str, Any]


def dump(memory: Memory) -> Dump:
    """Return what every table holds."""
    db = memory._core.store.db
    names = {table: dict(db.rows(sql)) for table, sql in _NAMES.items()}
    tables = [name for (name,) in db.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    plain = [name for name in tables if not name.startswith("sqlite_") and name not in _INDEX | _OF_THE_FILE]
    found: Dump = {table: sorted(_rows(db, table, names), key=repr) for table in plain}
    return {**found, "turns in order": list(names["turn"].values()), "index": _index(memory, names)}


def differences(one: Dump, other: Dump) -> list[str]:
    """Return the tables in which two dumps differ, with the differences."""
    said = []
    for table in sorted(one.keys() | other.keys()):
        left, right = one.get(table), other.get(table)
        if left != right:
            pairs = (
                (left.items(), right.items()) if isinstance(left, dict) and isinstance(right, dict) else (left, right)
            )
            only = [[item for item in mine if item not in theirs][:3] for mine, theirs in (pairs, pairs[::-1])]
            said.append(f"{table}: {only[0]} against {only[1]}")
    return said


def indexed(memory: Memory) -> set[str]:
    """Return the ids of the turns of which the index holds anything, or the row number of one that is gone."""
    names = {table: dict(memory._core.store.db.rows(sql)) for table, sql in _NAMES.items()}
    return set(_index(memory, names))


def _rows(db: Connection, table: str, names: dict[str, dict[int, Any]]) -> list[Any]:
    columns = [row[1] for row in db.rows(f"PRAGMA table_info({table})")]
    refers = {row[3]: row[2] for row in db.rows(f"PRAGMA foreign_key_list({table})")} | {
        column: "turn" for column in columns if column == "seq" and table != "turn"
    }
    own = {"turn": "seq", "fact": "row", "session": "ord", "speaker": "ord", "trace": "number"}.get(table)
    kept = [column for column in columns if column != own and (table, column) not in _WHEN]
    rows = db.rows(f"SELECT {', '.join(kept)} FROM {table}")
    named = [
        {column: _named(value, refers.get(column), names) for column, value in zip(kept, row, strict=True)}
        for row in rows
    ]
    if table == "edge":
        return [(*sorted((row["source"], row["target"])), row["kind"], row["weight"]) for row in named]
    return [tuple(row.items()) for row in named]


def _named(value: Any, table: str | None, names: dict[str, dict[int, Any]]) -> Any:
    return value if table is None else names[table].get(value, f"row {value} of {table}, which is not there")


def _index(memory: Memory, names: dict[str, dict[int, Any]]) -> dict[str, Any]:
    """Return what the index holds of each turn: its columns, events, terms and vector."""
    store = memory._core.store
    db, size, dimension = store.db, store.segments.size, store.segments.dimension
    index: dict[str, Any] = {}
    passages = db.rows("SELECT seq, first, count FROM passage")
    owners = {first + part: names["turn"].get(seq) for seq, first, count in passages for part in range(count)}

    def put(row: int, columns: Any, events: Any, terms: Any, vector: bytes, scale: float) -> None:
        values = dict(zip(COLUMNS.names or (), columns.tolist(), strict=True))
        values |= {key: names[key].get(values[key], values[key]) for key in ("session", "speaker", "turn")}
        kept = index.setdefault(owners.get(row) or f"row {row}, which is not there", {})
        kept[values["part"]] = (values, events, terms, (vector, scale) if scale else None)

    for seq, columns, events, terms, vector, scale in db.rows("SELECT * FROM document"):
        put(seq, np.frombuffer(columns, COLUMNS)[0], orjson.loads(events), orjson.loads(terms), vector, scale)
    terms_of = _sealed_terms(db)
    for number, columns, events, vectors, scales in db.rows("SELECT * FROM segment"):
        for at, row in enumerate(np.frombuffer(columns, COLUMNS)):
            position, happened = number * size + at, orjson.loads(events).get(str(at), [])
            vector, scale = vectors[at * dimension : (at + 1) * dimension], float(np.frombuffer(scales, "<f4")[at])
            if row["alive"] or happened or scale or any(vector) or terms_of.get(position):
                put(position + 1, row, happened, terms_of.pop(position, {}), vector, scale)
    return index | {f"terms of turn {position + 1}, which is not there": found for position, found in terms_of.items()}


def _sealed_terms(db: Connection) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for term, positions, counts in db.rows("SELECT term, positions, counts FROM posting ORDER BY term"):
        for position, count in zip(np.frombuffer(positions, "<i4"), np.frombuffer(counts, "<u2"), strict=True):
            found[int(position)][term] = int(count)
    return found
