"""Resolve a query for the index: names to row numbers, times to microseconds, turn ids to positions."""

from __future__ import annotations

from ..errors import DimensionMismatch
from ..index.prepared_query import IndexQuery, microseconds
from ..index.weights import BM25, WEIGHTS
from ..raw import RawLog
from ..types.values import Query


def question_of(query: Query, raw: RawLog, dimension: int) -> IndexQuery | None:
    """Return the resolved query; None where a filter names an unknown speaker or session, so that nothing can match.

    Raise DimensionMismatch where the query's vector has another dimension than the file's.
    """
    speaker = None if query.speaker is None else raw.speakers.number(query.speaker)
    session = None if query.session is None else raw.sessions.number(query.session)
    if (query.speaker is not None and speaker is None) or (query.session is not None and session is None):
        return None
    if query.vector is not None and len(query.vector) != dimension:
        raise DimensionMismatch(len(query.vector), dimension)
    return IndexQuery(
        query.text,
        query.vector,
        frozenset(at for name in query.names if (at := raw.speakers.number(name)) is not None),
        tuple((microseconds(t.start), microseconds(t.end)) for t in query.times if t.start and t.end),
        query.when,
        None if query.before is None else microseconds(query.before),
        None if query.after is None else microseconds(query.after),
        speaker,
        session,
        frozenset(seq - 1 for turn_id in query.exclude if (seq := raw.find(turn_id)) is not None),
        BM25 if query.bare else WEIGHTS,
    )
