"""A text in, turns out: what `Memory.search` does, and the first step of every loop."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from ..errors import InvalidQuery
from ..flow import Flow, embed, recall, roster
from ..types.values import Hit, Query
from .analysis import check_asked, hints


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search must not return: `after` <= time < `before`, by event time where a turn's facts have one."""

    before: datetime | None = None
    after: datetime | None = None
    speaker: str | None = None
    session: str | None = None
    exclude: Collection[str] = ()


def search(text: str, k: int, filters: Filters, asked_at: datetime | None = None) -> Flow[tuple[Hit, ...]]:
    """Return the k best turns for a text. Raise InvalidQuery for an empty or endless text or a k below 1."""
    check_asked("query", text)
    if not isinstance(k, int) or k < 1:
        raise InvalidQuery(f"k is {k!r}; expected a whole number from 1 on")
    who = yield from roster()
    check_clock("before", filters.before, who.last)
    check_clock("after", filters.after, who.last)
    hinted = hints(text, who.speakers, asked_at or who.last)
    query = Query(
        text,
        k,
        exclude=frozenset(filters.exclude),
        before=filters.before,
        after=filters.after,
        speaker=filters.speaker,
        session=filters.session,
        names=hinted.names,
        times=hinted.times,
        when=hinted.when,
    )
    vectors = yield from embed([text])
    return (yield from recall(replace(query, vector=vectors[0])))


def check_clock(name: str, bound: datetime | None, last: datetime | None) -> None:
    """Raise InvalidQuery for a bound that cannot be compared with the times of a memory."""
    if bound is not None and last is not None and (bound.tzinfo is None) != (last.tzinfo is None):
        kept = "naive" if last.tzinfo is None else "aware"
        raise InvalidQuery(f"{name} is {bound.isoformat()!r} but this memory holds {kept} times; give it the same kind")
