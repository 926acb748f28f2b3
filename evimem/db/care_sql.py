"""What is asked of a whole memory: what is missing in it."""

from __future__ import annotations

from .tables import Tables


def facts_never_linked(db: Tables) -> int:
    """Return how many facts are neither embedded nor queued for it: nothing would ever link them."""
    return int(
        db.value(
            "SELECT count(*) FROM fact "
            "WHERE NOT EXISTS (SELECT 1 FROM fact_vector WHERE fact_vector.row = fact.row) "
            "AND NOT EXISTS (SELECT 1 FROM job WHERE job.kind = 'link' AND job.seq = fact.seq)"
        )
    )


def drop_postings_without_segment(db: Tables) -> None:
    """Delete postings of segments that do not exist."""
    db.execute("DELETE FROM posting WHERE number NOT IN (SELECT number FROM segment)")


def drop_rows_without_turn(db: Tables, table: str) -> None:
    """Delete the rows of a table whose turn is missing."""
    db.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM turn)")


def drop_facts_of_others(db: Tables, extractor: str) -> None:
    """Delete the facts that another extractor found."""
    db.execute("DELETE FROM fact WHERE extractor <> ?", (extractor,))


TURNS = "SELECT seq, id, instant FROM turn WHERE seq > ? ORDER BY seq LIMIT ?"
