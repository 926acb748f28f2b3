"""A query in a caller's words, as the index takes it: numbers for names, microseconds for times."""

from __future__ import annotations

from ..errors import DimensionMismatch
from ..index.prepared_query import IndexQuery, microseconds
from ..index.weights import BM25, WEIGHTS
from ..raw import RawLog
from ..types.values import Query


def question_of(query: Query, raw: RawLog, dimension: int) -> IndexQuery | None:
    """Return the question; None where a filter names what is not here. Raise DimensionMismatch."""
    speaker = None if query.speaker is None else raw.ord("speaker", query.speaker)
    session = None if query.session is None else raw.ord("session", query.session)
    if (query.speaker is not None and speaker is None) or (query.session is not None and session is None):
        return None
    if query.vector is not None and len(query.vector) != dimension:
        raise DimensionMismatch(len(query.vector), dimension)
    return IndexQuery(
        query.text,
        query.vector,
        frozenset(at for name in query.names if (at := raw.ord("speaker", name)) is not None),
        tuple((microseconds(t.start), microseconds(t.end)) for t in query.times if t.start and t.end),
        query.when,
        None if query.before is None else microseconds(query.before),
        None if query.after is None else microseconds(query.after),
        speaker,
        session,
        frozenset(seq - 1 for turn_id in query.exclude if (seq := raw.find(turn_id)) is not None),
        BM25 if query.bare else WEIGHTS,
    )
