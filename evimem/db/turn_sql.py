"""Queries of turns, sessions and speakers beyond a row by its key, and of the records that outlive a turn.

That is its place in a session, and a digest of its id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

from ..types.stored import Listing
from ..types.values import Where, meets
from .tables import Query, Tables, Value, encode_text

_FIELDS = (
    "turn.seq, turn.id, session.name, speaker.name, turn.text, turn.time, turn.caption, turn.role, "
    "turn.metadata, turn.digest"
)
_COLUMNS = f"{_FIELDS} FROM turn JOIN session ON session.ord = turn.session JOIN speaker ON speaker.ord = turn.speaker"
TURNS = "SELECT seq, id, instant FROM turn WHERE seq > ? ORDER BY seq LIMIT ?"


def select_turns(db: Tables, seqs: Collection[int]) -> Query:
    """Return the query of the columns of turns, `seq` first and the digest last."""
    return f"SELECT {_COLUMNS} WHERE {db.dialect.in_set_sql('turn.seq')}", [db.dialect.bind_set(seqs)]


def read_turn_pages(db: Tables, after: int, size: int) -> Iterator[list[Any]]:
    """Yield the same columns of every turn after a number, in order of arrival, so many at once."""
    return db.read_pages(f"SELECT {_COLUMNS} WHERE turn.seq > ? ORDER BY turn.seq LIMIT ?", (after,), size)


def select_numbers_of_ids(db: Tables, ids: Collection[str]) -> Query:
    """Return the query of (id, number, id of the turn of that number).

    An indexed id would be read from the index alone. The join reads the row too, which shows a damaged index.
    """
    sql = "SELECT named.id, named.seq, turn.id FROM turn AS named LEFT JOIN turn ON turn.seq = named.seq WHERE "
    return sql + db.dialect.in_set_sql("named.id"), [db.dialect.bind_set(ids)]


def select_turns_around(db: Tables, seqs: Collection[int], before: int, after: int) -> Query:
    """Return the query of (number, number of a turn of its session before or after it), so many of each, in any order.

    Each half is one range of the index `turn_in_dialogue`, read from the turn outwards.
    """
    given = db.dialect.bind_set(seqs)
    near = [
        f"SELECT near.seq FROM turn AS near WHERE near.session = here.session AND (near.instant, near.seq) {side} "
        f"(here.instant, here.seq) ORDER BY near.instant {way}, near.seq {way} LIMIT ?"
        for side, way in (("<", "DESC"), (">", "ASC"))
    ]
    halves = [
        f"SELECT here.seq, turn.seq FROM turn AS here {db.dialect.join_rows('turn', 'seq', query)} "
        f"WHERE {db.dialect.in_set_sql('here.seq')}"
        for query in near
    ]
    return " UNION ALL ".join(halves), [before, given, after, given]


def select_turn_columns_around(db: Tables, seqs: Collection[int], before: int, after: int) -> Query:
    """Return the query of (number, instant and columns of a turn), for each turn and those around it.

    SQLite takes CROSS JOINs in the order given.
    """
    pairs, args = select_turns_around(db, seqs, before, after)
    itself = f"SELECT turn.seq, turn.seq FROM turn WHERE {db.dialect.in_set_sql('turn.seq')}"
    sql = f"WITH around (here, near) AS ({pairs} UNION ALL {itself}) SELECT around.here, turn.instant, {_FIELDS} "
    sql += "FROM around CROSS JOIN turn CROSS JOIN session CROSS JOIN speaker WHERE turn.seq = around.near "
    return f"{sql} AND session.ord = turn.session AND speaker.ord = turn.speaker", [*args, db.dialect.bind_set(seqs)]


def read_listed_numbers(db: Tables, listing: Listing, before: int | None, after: int | None) -> list[int]:
    """Return the numbers of the turns of a listing, ascending: its times as instants, and whatever its limit."""
    where, args = _listing_conditions(db, listing, before, after)
    where = where.replace("+turn.speaker", "turn.speaker")  # here its index serves
    return [row[0] for row in db.rows(f"SELECT turn.seq FROM turn WHERE {where} ORDER BY turn.seq", args)]


def read_listed_turns(
    db: Tables, listing: Listing, before: int | None, start: tuple[int, int], limit: int
) -> list[Any]:
    """Return (instant, and the columns of turns) of a listing from an instant and number on, in dialogue order."""
    where, args = _listing_conditions(db, listing, before, None)
    sql = f"SELECT turn.instant, {_COLUMNS} WHERE {where} AND (turn.instant, turn.seq) >= (?, ?) "
    return db.rows(f"{sql} ORDER BY turn.instant, turn.seq LIMIT ?", (*args, *start, limit))


def read_place_from_last(
    db: Tables, listing: Listing, before: int | None, after: int | None, back: int
) -> tuple[int, int] | None:
    """Return the instant and number of the turn of a listing that is so many before its last."""
    where, args = _listing_conditions(db, listing, before, after)
    order = "ORDER BY turn.instant DESC, turn.seq DESC LIMIT 1 OFFSET ?"
    found = db.rows(f"SELECT turn.instant, turn.seq FROM turn WHERE {where} {order}", (*args, back))
    return found[0] if found else None


def delete_unused_names(db: Tables, table: str) -> None:
    """Delete the sessions or speakers that no turn has."""
    db.execute(f"DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM turn WHERE turn.{table} = {table}.ord)")


def select_first_last_and_count(most: int) -> tuple[Query, Query, Query]:
    """Return the queries of the times of the first and the last turn in dialogue order, and of how many there are.

    It counts no further than `most`: a full count scans the table.
    """
    return (
        ("SELECT time FROM turn ORDER BY instant, seq LIMIT 1", ()),
        ("SELECT time FROM turn ORDER BY instant DESC, seq DESC LIMIT 1", ()),
        ("SELECT count(*) FROM (SELECT 1 FROM turn LIMIT ?) AS counted", (most,)),
    )


def _listing_conditions(db: Tables, listing: Listing, before: int | None, after: int | None) -> tuple[str, list[Value]]:
    """Return the conditions of a listing as SQL over `turn`, with their arguments.

    The unary plus keeps SQLite from the index of speakers: it has no order, so that all turns of one would be sorted
    for each page. Turns are read in the order of `turn_in_dialogue` (with a session) or `turn_in_time`.
    """
    args: list[Value] = []
    clauses = ["TRUE"]
    for clause, value in (
        ("turn.session = (SELECT ord FROM session WHERE name = ?)", listing.session and encode_text(listing.session)),
        ("+turn.speaker = (SELECT ord FROM speaker WHERE name = ?)", listing.speaker and encode_text(listing.speaker)),
        ("turn.role = ?", listing.role),
        ("turn.instant < ?", before),
        ("turn.instant >= ?", after),
    ):
        if value is not None:
            clauses.append(clause)
            args.append(value)
    of_metadata = _metadata_conditions if db.dialect.calls_python else partial(_metadata_number_condition, db)
    for clause, values in () if listing.where is None else of_metadata(listing.where):
        clauses.append(clause)
        args.extend(values)
    return " AND ".join(clauses), args


def _metadata_conditions(where: Where) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the conditions on metadata as SQL with their arguments: quick tests of its text, then the whole of them.

    `meets` is a call of Python, for each turn that it is made for, so that it is left out where a turn is known to meet
    everything without it: whole numbers are compared by SQLite, and a value that is not in the text is not equal to it.
    """
    yield from _metadata_text_tests(where)
    absent: list[str] = []
    for condition in where.conditions:
        if condition.orders_numbers:
            at = "".join(f'."{key}"' for key in condition.path)
            order = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}[condition.operator]
            yield (
                f"CASE json_type(turn.metadata, ?) WHEN 'integer' THEN json_extract(turn.metadata, ?) {order} ? "
                "WHEN 'real' THEN meets(turn.metadata, ?) ELSE 0 END",
                (f"${at}", f"${at}", condition.operand, where.text),
            )
        elif condition.operator == "$ne":
            absent.append(condition.whole)
        else:
            yield "meets(turn.metadata, ?)", (where.text,)
            return
    if absent:
        sure = " AND ".join("NOT instr(turn.metadata, ?)" for _ in absent)
        yield f"({sure} OR meets(turn.metadata, ?))", (*absent, where.text)


def _metadata_text_tests(where: Where) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield quick tests of the text of metadata, which any that meets all conditions passes."""
    for parts in where.parts():
        yield f"({' OR '.join('instr(turn.metadata, ?) > 0' for _ in parts) or 'FALSE'})", parts


def _metadata_number_condition(db: Tables, where: Where) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the condition that a turn is one of those whose metadata meets all conditions, for Python reads it here."""
    tests = list(_metadata_text_tests(where))
    passed = " AND ".join(["TRUE", *(test for test, _ in tests)])
    found = db.rows(f"SELECT seq, metadata FROM turn WHERE {passed}", [part for _, parts in tests for part in parts])
    yield (
        db.dialect.in_set_sql("turn.seq"),
        [db.dialect.bind_set([seq for seq, kept in found if meets(kept, where.text)])],
    )


# A turn is in an unnamed session where that is the calendar day of its time.
UNNAMED = "session.name = substr(turn.time, 1, 10)"
_JOINED = "turn JOIN session ON session.ord = turn.session"
_OF_SESSION = "turn.session = (SELECT ord FROM session WHERE name = ?)"
_FREE = "turn.seq NOT IN (SELECT taken FROM place WHERE taken IS NOT NULL)"


def read_sessions_of_turns(db: Tables, seqs: Collection[int]) -> list[Any]:
    """Return (turn, name of its session, whether that is unnamed, its role and instant)."""
    return db.select(_JOINED, f"turn.seq, session.name, {UNNAMED}, turn.role, turn.instant", **{"turn.seq": seqs})


def select_end_of_places(session: bytes, limit: int, order: str) -> Query:
    """Return the query of (seq, count, taken) of the first (ASC) or last (DESC) places of a session."""
    return f"SELECT seq, count, taken FROM place WHERE session = ? ORDER BY seq {order} LIMIT ?", (session, limit)


def select_end_of_turns(session: str, limit: int, order: str) -> Query:
    """Return the query of the first or last turns of a session that stand in no other's place."""
    sql = f"SELECT turn.seq FROM turn WHERE {_OF_SESSION} AND {_FREE} ORDER BY turn.seq {order} LIMIT ?"
    return sql, (session, limit)


def select_end_of_unnamed_turns(limit: int, scanned: int, order: str) -> Query:
    """Return the query of the first or last turns of unnamed sessions, looking at so many turns."""
    newest = f"SELECT seq, session, time FROM turn ORDER BY seq {order} LIMIT ?"
    sql = (
        f"SELECT turn.seq FROM ({newest}) AS turn JOIN session ON session.ord = turn.session "
        f"WHERE {UNNAMED} AND {_FREE} ORDER BY turn.seq {order} LIMIT ?"
    )
    return sql, (scanned, limit)


def select_turns_at(db: Tables, session: str, instants: Collection[int]) -> Query:
    """Return the query of the turns that were said at some instants: in a session, or in all unnamed ones."""
    where, args = (_OF_SESSION, [session]) if session else (UNNAMED, [])
    sql = f"SELECT turn.seq FROM {_JOINED} WHERE {where} AND {db.dialect.in_set_sql('turn.instant')} ORDER BY turn.seq"
    return sql, [*args, db.dialect.bind_set(instants)]


def select_last_turn(session: str) -> Query:
    """Return the query of the newest turn of a session."""
    return f"SELECT max(seq) FROM turn WHERE {_OF_SESSION}", (session,)


ANY_FORGOTTEN: Query = "SELECT 1 FROM forgotten LIMIT 1", ()  # whether any turn was ever erased


def filter_erased_marks(db: Tables, marks: Sequence[bytes]) -> set[bytes]:
    """Return which of these digests are those of erased ids."""
    sql = f"SELECT mark FROM forgotten JOIN {db.dialect.values_table('asked', 'digits text')} ON mark = unhex(digits)"
    return {mark for (mark,) in db.rows(sql, [db.dialect.bind_rows([[mark.hex()] for mark in marks])])}
