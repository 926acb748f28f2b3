"""What is asked of a whole file: whether its pages, indexes and references are sound, and what is missing in it."""

from __future__ import annotations

from typing import Any

from .connection import Connection


def page_faults(db: Connection, table: str | None = None) -> list[str]:
    """Return what SQLite finds wrong with the pages of a table, or of the whole file."""
    name = "" if table is None else '("{}")'.format(table.replace('"', '""'))
    return [line for (line,) in db.rows(f"PRAGMA integrity_check{name}") if line != "ok"]


def trees(db: Connection) -> list[Any]:
    """Return (root page, name, name of the table) of every table and index."""
    return db.rows("SELECT rootpage, name, tbl_name FROM sqlite_schema")


def broken_references(db: Connection) -> list[tuple[str, str]]:
    """Return (table, table that it refers to) for each row that refers to a missing one."""
    return [(table, parent) for table, _, parent, _ in db.rows("PRAGMA foreign_key_check")]


def facts_never_linked(db: Connection) -> int:
    """Return how many facts are neither embedded nor queued for it: nothing would ever link them."""
    return int(
        db.value(
            "SELECT count(*) FROM fact "
            "WHERE NOT EXISTS (SELECT 1 FROM fact_vector WHERE fact_vector.row = fact.row) "
            "AND NOT EXISTS (SELECT 1 FROM job WHERE job.kind = 'link' AND job.seq = fact.seq)"
        )
    )


def make_indexes_again(db: Connection) -> None:
    """Make every index again from the rows."""
    db.execute("REINDEX")


def drop_rows_without_turn(db: Connection, table: str) -> None:
    """Delete the rows of a table whose turn is missing."""
    db.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM turn)")


def drop_facts_of_others(db: Connection, extractor: str) -> None:
    """Delete the facts that another extractor found."""
    db.execute("DELETE FROM fact WHERE extractor <> ?", (extractor,))


def file_size(db: Connection) -> int:
    """Return how many bytes the pages of the file have."""
    return int(db.value("PRAGMA page_count") * db.value("PRAGMA page_size"))


TURNS = "SELECT seq, id, instant FROM turn WHERE seq > ? ORDER BY seq LIMIT ?"
