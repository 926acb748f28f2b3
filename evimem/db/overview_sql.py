"""Counts for pages that show a memory: each is one statement that an index answers."""

from __future__ import annotations

from typing import Any

from .tables import Tables

DAY_MICROSECONDS = 86_400_000_000  # microseconds


def read_turn_counts_by_day(db: Tables, offset: int) -> list[Any]:
    """Return (day since 1970, number of turns) in order; `offset` is added to each instant, in microseconds."""
    day = f"(turn.instant + CAST(? AS BIGINT)) / {DAY_MICROSECONDS}"
    return db.rows(f"SELECT {day} AS day, count(*) FROM turn GROUP BY 1 ORDER BY 1", (offset,))


def read_sessions_between(db: Tables, after: int, before: int, limit: int) -> list[Any]:
    """Return (name, turns, first instant, last instant) of the sessions with turns in an interval, the latest first."""
    return db.rows(
        "SELECT session.name, held.turns, held.first, held.last FROM (SELECT turn.session AS ord, count(*) AS turns, "
        "min(turn.instant) AS first, max(turn.instant) AS last FROM turn WHERE turn.instant >= ? AND turn.instant < ? "
        "GROUP BY turn.session ORDER BY max(turn.instant) DESC LIMIT ?) AS held "
        "JOIN session ON session.ord = held.ord ORDER BY held.last DESC",
        (after, before, limit),
    )


def read_turn_counts_by_speaker(db: Tables, limit: int) -> list[Any]:
    """Return (speaker, number of turns), the most talkative first."""
    return db.rows(
        "SELECT speaker.name, held.turns FROM (SELECT turn.speaker AS ord, count(*) AS turns FROM turn "
        "GROUP BY turn.speaker ORDER BY count(*) DESC LIMIT ?) AS held JOIN speaker ON speaker.ord = held.ord "
        "ORDER BY held.turns DESC, speaker.ord",
        (limit,),
    )


def read_fact_counts_by_subject(db: Tables, limit: int) -> list[Any]:
    """Return (subject, number of facts), the most frequent first."""
    return db.rows(
        "SELECT subject, count(*) AS held FROM fact WHERE kind <> 'label' GROUP BY subject "
        "ORDER BY held DESC, min(row) LIMIT ?",
        (limit,),
    )
