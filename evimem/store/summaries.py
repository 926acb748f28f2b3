"""Summaries of a store for pages that show it: counts by day, session and name, kept traces, the jobs of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone

from ..db.overview_sql import (
    read_fact_counts_by_subject,
    read_sessions_between,
    read_turn_counts_by_day,
    read_turn_counts_by_speaker,
)
from ..db.tables import decode_text
from ..types.overview import DayCount, JobState, KeptTrace, NameCount, SessionSummary
from ..types.values import instant
from .handle import StoreHandle
from .reads import read_trace

_FIRST_DAY = date(1970, 1, 1)


def count_turns_by_day(handle: StoreHandle) -> tuple[DayCount, ...]:
    """Return the number of turns of each day that has any, in order, by the clock of the newest turn's offset."""
    with handle.db.reading():
        last = handle.raw.read_overview().last
        if last is None:
            return ()
        offset = (last.utcoffset() or timedelta()) // timedelta(microseconds=1)
        return tuple(
            DayCount(_FIRST_DAY + timedelta(day), turns) for day, turns in read_turn_counts_by_day(handle.db, offset)
        )


def summarize_sessions(
    handle: StoreHandle, after: datetime, before: datetime, limit: int
) -> tuple[SessionSummary, ...]:
    """Return up to `limit` sessions with turns said at or after `after` and earlier than `before`, the latest first."""
    with handle.db.reading():
        rows = read_sessions_between(handle.db, instant(after), instant(before), limit)
        zone = after.tzinfo
        return tuple(
            SessionSummary(decode_text(name), turns, _to_datetime(first, zone), _to_datetime(last, zone))
            for name, turns, first, last in rows
        )


def count_turns_by_speaker(handle: StoreHandle, limit: int) -> tuple[NameCount, ...]:
    """Return up to `limit` speakers with the number of their turns, the most talkative first."""
    with handle.db.reading():
        return tuple(
            NameCount(decode_text(name), turns) for name, turns in read_turn_counts_by_speaker(handle.db, limit)
        )


def count_facts_by_subject(handle: StoreHandle, limit: int) -> tuple[NameCount, ...]:
    """Return up to `limit` subjects of facts with the number of their facts, the most frequent first."""
    with handle.db.reading():
        return tuple(
            NameCount(decode_text(name), facts) for name, facts in read_fact_counts_by_subject(handle.db, limit)
        )


def list_traces(handle: StoreHandle, limit: int, turn_ids: Sequence[str] | None = None) -> tuple[KeptTrace, ...]:
    """Return up to `limit` kept traces, the newest first: all, or those that read any of these turns."""
    with handle.db.reading():
        if turn_ids is None:
            numbers = [number for (number,) in handle.db.select("trace", "number", f"number DESC LIMIT {int(limit)}")]
        else:
            seqs = list(handle.raw.seqs_of_known(turn_ids).values())
            found = {number for (number,) in handle.db.select("trace_turn", "number", seq=seqs)} if seqs else set()
            numbers = sorted(found, reverse=True)[:limit]
        return tuple(KeptTrace(number, read_trace(handle, number)) for number in numbers)


def jobs_of_turn(handle: StoreHandle, turn_id: str) -> tuple[JobState, ...]:
    """Return the jobs of a turn, finished extraction included; none for an unknown turn."""
    with handle.db.reading():
        seqs = list(handle.raw.seqs_of_known([turn_id]).values())
        rows = handle.db.select("job", "kind, state, attempts, since, error", "kind", seq=seqs) if seqs else []
        return tuple(
            JobState(kind, state, attempts, datetime.fromtimestamp(since, timezone.utc), error)
            for kind, state, attempts, since, error in rows
        )


def _to_datetime(microseconds: int, zone: object) -> datetime:
    """Return the time of an instant, naive or in a zone as the times of the memory are."""
    if zone is None:
        return datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    aware = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=microseconds)
    return aware.astimezone(zone)  # type: ignore[arg-type]
