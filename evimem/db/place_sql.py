"""What is asked of the tables that outlive a turn: places in a session, digests of ids, kept traces."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from .dialect import Query
from .tables import Tables

# A turn is in a session that nobody named where that is the calendar day of its time.
UNNAMED = "session.name = substr(turn.time, 1, 10)"
_JOINED = "turn JOIN session ON session.ord = turn.session"
_OF_SESSION = "turn.session = (SELECT ord FROM session WHERE name = ?)"
_FREE = "turn.seq NOT IN (SELECT taken FROM place WHERE taken IS NOT NULL)"


def sessions_of_turns(db: Tables, seqs: Collection[int]) -> list[Any]:
    """Return (turn, name of its session, whether nobody named that, its role and instant)."""
    return db.select(_JOINED, f"turn.seq, session.name, {UNNAMED}, turn.role, turn.instant", **{"turn.seq": seqs})


def drop_places(db: Tables, places: Collection[tuple[bytes, int]]) -> None:
    """Delete places by session and number."""
    db.executemany("DELETE FROM place WHERE session = ? AND seq = ?", places)


def open_runs_from(db: Tables, session: bytes, first: int) -> list[Any]:
    """Return (seq, count) of the places of a session, from a number on, in which no turn stands."""
    return db.rows(
        "SELECT seq, count FROM place WHERE session = ? AND seq >= ? AND taken IS NULL ORDER BY seq", (session, first)
    )


def end_of_places(session: bytes, limit: int, order: str) -> Query:
    """Return the query of (seq, count, taken) of the first (ASC) or last (DESC) places of a session."""
    return f"SELECT seq, count, taken FROM place WHERE session = ? ORDER BY seq {order} LIMIT ?", (session, limit)


def end_of_turns(session: str, limit: int, order: str) -> Query:
    """Return the query of the first or last turns of a session that stand in no other's place."""
    sql = f"SELECT turn.seq FROM turn WHERE {_OF_SESSION} AND {_FREE} ORDER BY turn.seq {order} LIMIT ?"
    return sql, (session, limit)


def end_of_unnamed_turns(limit: int, scanned: int, order: str) -> Query:
    """Return the query of the first or last turns of sessions that nobody named, looking at so many turns."""
    newest = f"SELECT seq, session, time FROM turn ORDER BY seq {order} LIMIT ?"
    sql = (
        f"SELECT turn.seq FROM ({newest}) AS turn JOIN session ON session.ord = turn.session "
        f"WHERE {UNNAMED} AND {_FREE} ORDER BY turn.seq {order} LIMIT ?"
    )
    return sql, (scanned, limit)


def turns_at(db: Tables, session: str, instants: Collection[int]) -> Query:
    """Return the query of the turns that were said at some instants: in a session, or in all that nobody named."""
    where, args = (_OF_SESSION, [session]) if session else (UNNAMED, [])
    sql = f"SELECT turn.seq FROM {_JOINED} WHERE {where} AND {db.dialect.among('turn.instant')} ORDER BY turn.seq"
    return sql, [*args, db.dialect.values(instants)]


def last_turn(session: str) -> Query:
    """Return the query of the newest turn of a session."""
    return f"SELECT max(seq) FROM turn WHERE {_OF_SESSION}", (session,)


def calls_kept(session: bytes) -> Query:
    """Return the query of what is kept of the lists of messages of a session."""
    return "SELECT kept FROM calls WHERE session = ?", (session,)


ANY_FORGOTTEN: Query = "SELECT 1 FROM forgotten LIMIT 1", ()  # whether any turn was ever erased


def marks_among(db: Tables, marks: Sequence[bytes]) -> set[bytes]:
    """Return which of these digests are those of erased ids."""
    sql = f"SELECT mark FROM forgotten JOIN {db.dialect.table('asked', 'digits text')} ON mark = unhex(digits)"
    return {mark for (mark,) in db.rows(sql, [db.dialect.table_of([[mark.hex()] for mark in marks])])}


def newest_trace(db: Tables) -> int | None:
    """Return the number of the newest trace."""
    number: int | None = db.value("SELECT max(number) FROM trace")
    return number


def drop_traces_to(db: Tables, number: int) -> None:
    """Delete the traces up to a number."""
    for table in ("trace_turn", "trace"):  # the rows that refer to a trace first, for the foreign key
        db.execute(f"DELETE FROM {table} WHERE number <= ?", (number,))
