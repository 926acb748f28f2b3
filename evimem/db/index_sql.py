"""What is asked of the tables that searches read, beyond a row by its key."""

from __future__ import annotations

from typing import Any

from .dialect import Query
from .tables import Tables


def highest_row(key: str) -> Query:
    """Return the query of the highest row number: that of the last passage, or one that `meta` has under a key."""
    return (
        "SELECT max(number) FROM (SELECT first + count - 1 AS number FROM passage WHERE first = "
        "(SELECT max(first) FROM passage) UNION ALL "
        "SELECT CAST(value AS BIGINT) FROM meta WHERE key = ?) AS given",
        (key,),
    )


def used_rows(db: Tables) -> int:
    """Return how many row numbers turns have."""
    return int(db.value("SELECT coalesce(sum(count), 0) FROM passage"))


def passages_within(db: Tables, first: int, last: int) -> list[Any]:
    """Return (turn, first row, number of rows) from the passage that holds a row to the last that begins by another."""
    start = "coalesce((SELECT max(first) FROM passage WHERE first <= ?), ?)"
    sql = f"SELECT seq, first, count FROM passage WHERE first BETWEEN {start} AND ? ORDER BY first"
    return db.rows(sql, (first, first, last))


DOCUMENT = "row, columns, events, terms, vector, scale"


SEALED: Query = "SELECT coalesce(max(number) + 1, 0) FROM segment", ()


def sealed_segments(db: Tables) -> int:
    """Return how many segments are sealed."""
    return int(db.value(*SEALED))


def documents_within(first: int, last: int) -> Query:
    """Return the query of the columns of the open documents from a row up to another, in their order."""
    return f"SELECT {DOCUMENT} FROM document WHERE row BETWEEN ? AND ? ORDER BY row", (first, last)


def stored_since(first: int) -> tuple[Query, Query, Query]:
    """Return the queries of how many segments are sealed, the newest fact's row, and the open documents from a row."""
    documents = f"SELECT {DOCUMENT} FROM document WHERE row >= ? ORDER BY row"
    return SEALED, ("SELECT max(row) FROM fact", ()), (documents, (first,))


def vectors_within(db: Tables, first: int, last: int) -> list[Any]:
    """Return (row, vector, scale) of the open documents in a range that have a vector."""
    sql = "SELECT row, vector, scale FROM document WHERE row BETWEEN ? AND ? AND vector IS NOT NULL"
    return db.rows(sql, (first, last))


def drop_documents(db: Tables, first: int, last: int) -> None:
    """Delete the open documents in a range."""
    db.execute("DELETE FROM document WHERE row BETWEEN ? AND ?", (first, last))


def drop_all_vectors(db: Tables, empty_vectors: bytes, empty_scales: bytes) -> None:
    """Delete the vectors of every document, and write empty ones into every segment."""
    db.execute("UPDATE document SET vector = NULL, scale = NULL")
    db.execute("UPDATE segment SET vectors = ?, scales = ?", (empty_vectors, empty_scales))


def postings_below(db: Tables, term: str, segments: int) -> list[Any]:
    """Return the (positions, counts) of a term in the first so many segments."""
    sql = "SELECT positions, counts FROM posting WHERE term = ? AND number < ? ORDER BY number"
    return db.rows(sql, (term, segments))


def newest_number(db: Tables, *tables: str) -> int:
    """Return the highest number that was ever given in some tables."""
    return max(db.newest(table) for table in tables)


def events_since(db: Tables, row: int) -> list[Any]:
    """Return (first row, number of rows, start, end) of the dated facts of turns that have a fact after a row."""
    return db.rows(
        "SELECT first, count, event_start, event_end FROM fact JOIN passage ON passage.seq = fact.seq "
        "WHERE event_start IS NOT NULL AND event_end IS NOT NULL "
        "AND fact.seq IN (SELECT seq FROM fact WHERE row > ?)",
        (row,),
    )


def turns_without_rows(db: Tables) -> int:
    """Return how many turns have no rows."""
    return int(db.value("SELECT count(*) FROM turn WHERE seq NOT IN (SELECT seq FROM passage)"))


def drop_postings_without_segment(db: Tables) -> None:
    """Delete postings of segments that do not exist."""
    db.execute("DELETE FROM posting WHERE number NOT IN (SELECT number FROM segment)")


def drop_rows_without_turn(db: Tables, table: str) -> None:
    """Delete the rows of a table whose turn is missing."""
    db.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM turn)")
