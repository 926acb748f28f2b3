"""Queries of facts, of the links between them and of the index, beyond a row by its key."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from .tables import Query, Tables

_WHOLE = (
    "fact.row, fact.id, turn.id, subject, predicate, object, event_start, event_end, granularity, phrase, "
    "span_start, span_end, kind, extractor, replaced_by, topic"
)
_OF_TURN = "fact JOIN turn ON turn.seq = fact.seq"


def select_facts_of_turns(db: Tables, seqs: Collection[int]) -> Query:
    """Return the query of (number of the turn, and the columns of a fact) in the order of the turns' text."""
    return db.select_query(_OF_TURN, f"fact.seq, {_WHOLE}", "fact.seq, span_start, fact.row", **{"fact.seq": seqs})


def read_facts(db: Tables, rows: Collection[int]) -> list[Any]:
    """Return (number of the turn, row, and the columns of a fact) in the order of the rows."""
    return db.select(_OF_TURN, f"fact.seq, {_WHOLE}", "fact.row", **{"fact.row": rows})


def read_facts_with_places(db: Tables, rows: Collection[int]) -> list[Any]:
    """Return (instant, turn, place in its text, row, speaker, and the columns of a fact)."""
    place = "fact.instant, fact.seq, fact.span_start, fact.row, speaker.name"
    by_speaker = f"{_OF_TURN} JOIN speaker ON speaker.ord = turn.speaker"
    return db.select(by_speaker, f"{place}, {_WHOLE}", **{"fact.row": rows})


def read_neighbouring_facts(db: Tables, asked: Iterable[tuple[int, str]], side: str, reach: int) -> list[Any]:
    """Return (row, other row) of facts by the same owner that stand before (<) or after (>) one: the `reach` nearest.

    A fact is asked about by its row with its topic. SQLite walks the index in order and stops, however long that is.
    """
    way = "DESC" if side == "<" else "ASC"
    near = (
        "SELECT near.row FROM fact AS near "
        "WHERE near.owner = here.owner AND near.topic = asked.topic AND (near.instant, near.seq, near.span_start, "
        f"near.row) {side} (here.instant, here.seq, here.span_start, here.row) ORDER BY near.instant {way}, "
        f"near.seq {way}, near.span_start {way}, near.row {way} LIMIT {reach}"
    )
    sql = (
        f"SELECT asked.fact, fact.row FROM {db.dialect.values_table('asked', 'fact bigint', 'topic text')} "
        f"JOIN fact AS here ON here.row = asked.fact {db.dialect.join_rows('fact', 'row', near)}"
    )
    return db.rows(sql, [db.dialect.bind_rows(list(asked))])


def select_later_turns_with_facts(db: Tables, seqs: Collection[int], count: int, extractor: str) -> Query:
    """Return the query of turns, of so many after each of these in its session, in which an extractor found facts."""
    following = (
        "SELECT later.seq FROM turn AS later "
        "WHERE later.session = turn.session AND later.seq > turn.seq ORDER BY later.seq LIMIT ?"
    )
    sql = (
        f"SELECT DISTINCT fact.seq FROM turn {db.dialect.join_rows('fact', 'seq', following)} "
        f"WHERE {db.dialect.in_set_sql('turn.seq')} AND fact.extractor = ?"
    )
    return sql, (count, db.dialect.bind_set(seqs), extractor)


def select_similar_turns(db: Tables, seqs: Collection[int]) -> Query:
    """Return the query of (turn, turn, weight) for each edge between their facts that leaves one of these turns.

    An edge is stored once, with the smaller row as its source: each end is looked up by an index of its own.
    """
    halves = (
        f"SELECT here.seq, there.seq, edge.weight FROM fact AS here JOIN edge ON edge.{near} = here.row "
        f"JOIN fact AS there ON there.row = edge.{far} WHERE {db.dialect.in_set_sql('here.seq')}"
        for near, far in (("source", "target"), ("target", "source"))
    )
    return " UNION ALL ".join(halves), [db.dialect.bind_set(seqs)] * 2


def select_turns_linked_by_updates(db: Tables, seqs: Collection[int]) -> Query:
    """Return the query of (turn, turn) where a fact of one replaced a fact of the other."""
    halves = (
        "SELECT here.seq, there.seq FROM fact AS here "
        f"JOIN fact AS there ON {join} WHERE {db.dialect.in_set_sql('here.seq')}"
        for join in ("there.id = here.replaced_by", "there.replaced_by = here.id")
    )
    return " UNION ALL ".join(halves), [db.dialect.bind_set(seqs)] * 2


def read_linked_facts(db: Tables, rows: Collection[int], side: str) -> list[Any]:
    """Return (row, linked row, weight) for each edge from these facts to an earlier (<) or later (>) one.

    That is by the instant of the turn, then by turn: the order of the dialogue, whatever the order of arrival.
    """
    halves = (
        f"SELECT here.row, there.row, edge.weight FROM edge JOIN fact AS here ON here.row = edge.{near} "
        f"JOIN fact AS there ON there.row = edge.{far} "
        f"WHERE {db.dialect.in_set_sql(f'edge.{near}')} AND (there.instant, there.seq) {side} (here.instant, here.seq)"
        for near, far in (("source", "target"), ("target", "source"))
    )
    return db.rows(" UNION ALL ".join(halves), [db.dialect.bind_set(rows)] * 2)


def delete_edges_to_earlier(db: Tables, rows: Collection[int]) -> None:
    """Delete the edges from these facts to earlier ones."""
    for near, far in (("source", "target"), ("target", "source")):
        db.execute(
            f"DELETE FROM edge WHERE {db.dialect.in_set_sql(near)} "
            "AND EXISTS (SELECT 1 FROM fact AS here, fact AS there "
            f"WHERE here.row = edge.{near} AND there.row = edge.{far} "
            "AND (there.instant, there.seq) < (here.instant, here.seq))",
            [db.dialect.bind_set(rows)],
        )


def count_links(db: Tables) -> dict[str, int]:
    """Return how many edges there are of each kind: all but the similar ones follow from other rows."""
    updates = db.read_value("SELECT count(*) FROM fact WHERE replaced_by IS NOT NULL")
    same = db.read_value("SELECT count(*) - count(DISTINCT seq) FROM fact")  # each fact to the next of its turn
    following = db.read_value("SELECT count(*) - count(DISTINCT session) FROM turn")  # all but each first one
    return {"same_turn": int(same), "similar": db.count_rows("edge"), "next": int(following), "updates": int(updates)}


EDGES = "SELECT source, target, weight FROM edge WHERE (source, target) > (?, ?) ORDER BY source, target LIMIT ?"
VECTORS = """
SELECT fact.row, fact.seq, fact.instant, vector, scale FROM fact_vector JOIN fact ON fact.row = fact_vector.row
WHERE fact_vector.row > ? ORDER BY fact_vector.row LIMIT ?"""
TOPICAL = "SELECT row FROM fact WHERE row > ? AND topic IS NOT NULL ORDER BY row LIMIT ?"
ALL_FACTS = "SELECT row FROM fact WHERE row > ? ORDER BY row LIMIT ?"


def read_facts_to_link(db: Tables) -> list[int]:
    """Return the rows of the facts whose turns are queued for linking, ascending."""
    sql = "SELECT fact.row FROM fact JOIN job ON job.seq = fact.seq WHERE job.kind = 'link' ORDER BY fact.row"
    return [row for (row,) in db.rows(sql)]


def select_has_more_vectors_than(count: int) -> Query:
    """Return the query of whether more than `count` facts have a vector: a row at an offset, no vector is read."""
    return "SELECT 1 FROM fact_vector LIMIT 1 OFFSET ?", (count,)


def count_replaced_without_topic(db: Tables) -> int:
    """Return how many facts are marked as replaced that have no topic, so that nothing can replace them."""
    return int(db.read_value("SELECT count(*) FROM fact WHERE replaced_by IS NOT NULL AND topic IS NULL"))


def unmark_replaced_without_topic(db: Tables) -> None:
    """Unmark the facts that are marked as replaced and have no topic."""
    db.execute("UPDATE fact SET replaced_by = NULL WHERE replaced_by IS NOT NULL AND topic IS NULL")


def count_facts_never_linked(db: Tables) -> int:
    """Return how many facts are neither embedded nor queued for it: nothing would ever link them."""
    return int(
        db.read_value(
            "SELECT count(*) FROM fact "
            "WHERE NOT EXISTS (SELECT 1 FROM fact_vector WHERE fact_vector.row = fact.row) "
            "AND NOT EXISTS (SELECT 1 FROM job WHERE job.kind = 'link' AND job.seq = fact.seq)"
        )
    )


def delete_facts_of_other_extractors(db: Tables, extractor: str) -> None:
    """Delete the facts that another extractor found."""
    db.execute("DELETE FROM fact WHERE extractor <> ?", (extractor,))


def select_highest_row(key: str) -> Query:
    """Return the query of the highest row number: that of the last passage, or one that `meta` has under a key."""
    return (
        "SELECT max(number) FROM (SELECT first + count - 1 AS number FROM passage WHERE first = "
        "(SELECT max(first) FROM passage) UNION ALL "
        "SELECT CAST(value AS BIGINT) FROM meta WHERE key = ?) AS given",
        (key,),
    )


def count_row_numbers(db: Tables) -> int:
    """Return how many row numbers turns have."""
    return int(db.read_value("SELECT coalesce(sum(count), 0) FROM passage"))


def read_passages_within(db: Tables, first: int, last: int) -> list[Any]:
    """Return (turn, first row, number of rows) from the passage that holds a row to the last that begins by another."""
    start = "coalesce((SELECT max(first) FROM passage WHERE first <= ?), ?)"
    sql = f"SELECT seq, first, count FROM passage WHERE first BETWEEN {start} AND ? ORDER BY first"
    return db.rows(sql, (first, first, last))


DOCUMENT = "row, columns, events, terms, vector, scale"


SEALED: Query = "SELECT coalesce(max(number) + 1, 0) FROM segment", ()


def count_sealed_segments(db: Tables) -> int:
    """Return how many segments are sealed."""
    return int(db.read_value(*SEALED))


def select_open_documents(size: int) -> Query:
    """Return the query of the columns of all documents after the last sealed segment, in their order."""
    return f"SELECT {DOCUMENT} FROM document WHERE row > ({SEALED[0]}) * ? ORDER BY row", (size,)


def read_events_since(db: Tables, row: int) -> list[Any]:
    """Return (first row, number of rows, start, end) of the dated facts of turns that have a fact after a row."""
    return db.rows(
        "SELECT first, count, event_start, event_end FROM fact JOIN passage ON passage.seq = fact.seq "
        "WHERE event_start IS NOT NULL AND event_end IS NOT NULL "
        "AND fact.seq IN (SELECT seq FROM fact WHERE row > ?)",
        (row,),
    )


def count_turns_without_rows(db: Tables) -> int:
    """Return how many turns have no rows."""
    return int(db.read_value("SELECT count(*) FROM turn WHERE seq NOT IN (SELECT seq FROM passage)"))


def read_terms_with_prefix(db: Tables, prefix: str, limit: int) -> list[str]:
    """Return the first terms of postings that begin with some letters, in order.

    Each is found by one step in the key, so that a term with postings in many segments costs no more than another.
    """
    end = prefix + chr(0x10FFFF)
    found = db.rows(
        "WITH RECURSIVE following(term) AS ("
        "SELECT min(term) FROM posting WHERE term >= ? AND term < ? UNION ALL "
        "SELECT (SELECT min(posting.term) FROM posting WHERE posting.term > following.term AND posting.term < ?) "
        "FROM following WHERE following.term IS NOT NULL) "
        f"SELECT term FROM following WHERE term IS NOT NULL LIMIT {limit}",
        (prefix, end, end),
    )
    return [term for (term,) in found]


def delete_orphan_postings(db: Tables) -> None:
    """Delete postings of segments that do not exist."""
    db.execute("DELETE FROM posting WHERE number NOT IN (SELECT number FROM segment)")


def delete_orphan_rows(db: Tables, table: str) -> None:
    """Delete the rows of a table whose turn is missing."""
    db.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM turn)")
