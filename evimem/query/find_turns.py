"""A text in, a query out: what `Memory.search` looks for, and every search of a loop."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..errors import InvalidQuery, shown
from ..flow import Flow
from ..protocols import Store
from ..times import locate_times
from ..types.stored import Scope
from ..types.values import Hints, Query, TimeSpan
from ..types.where import Where
from .analysis import check_asked, hints, looked_for
from .question_vector import QuestionVectors

MOST_READ = 200  # characters of a phrase that names an interval


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search must not return: `after` <= time < `before`, by event time where a turn's facts have one.

    With `holding`, only turns that have all of these terms.
    """

    before: datetime | None = None
    after: datetime | None = None
    speaker: str | None = None
    session: str | None = None
    exclude: Collection[str] = ()
    role: str | None = None
    where: Where | None = None
    holding: Collection[str] = ()

    @classmethod
    def within(cls, scope: Scope, exclude: Collection[str]) -> Filters:
        """Return the filters that let the turns of a scope through, but for those excluded."""
        return cls(None, None, scope.speaker, scope.session, exclude, scope.role, scope.where)

    def query(self, text: str, k: int, **further: Any) -> Query:
        """Return a query with these filters and further fields."""
        of = {"speaker": self.speaker, "session": self.session, "role": self.role, "where": self.where}
        also = {"before": self.before, "after": self.after, "holding": tuple(self.holding)}
        return Query(text, k, exclude=frozenset(self.exclude), **of, **also, **further)  # type: ignore[arg-type]


def asked_for(store: Store, text: str, k: int, filters: Filters, asked_at: datetime | None = None) -> Flow[Query]:
    """Return the query for a text. Raise InvalidQuery for an empty or endless text or a k below 1."""
    check_asked("query", text)
    text = looked_for(text)
    if not isinstance(k, int) or k < 1:
        raise InvalidQuery(f"k is {shown(k)}; expected a whole number from 1 on")
    known = store.roster()
    check_clock("before", filters.before, known.last)
    check_clock("after", filters.after, known.last)
    hinted = hints(text, known.speakers, asked_at or known.last, known.date_order)
    return query_of(text, k, hinted, filters, (yield from QuestionVectors().of(text)))


def query_of(text: str, k: int, hinted: Hints, filters: Filters, vector: Any, *, when: bool = False) -> Query:
    """Return the query for a text, with the hints read from it and its vector, shape (dimension,), if it has one.

    With `when`, turns that speak of time come first even where the text does not ask for one.
    """
    priors = {"names": hinted.names, "times": hinted.times, "when": when or hinted.when}
    priors |= {"recalls": hinted.recalls, "several": hinted.several}
    return filters.query(text, k, vector=vector, **priors)


def interval(during: str | TimeSpan, today: datetime | None) -> TimeSpan:
    """Return the interval that a phrase means, or the one given. Raise InvalidQuery for what means none, or several."""
    found = [during] if isinstance(during, TimeSpan) else []
    if isinstance(during, str) and today is not None:
        found = [located.time for located in locate_times(during[:MOST_READ], today)]
    if len(found) != 1 or found[0].start is None or found[0].end is None:
        raise InvalidQuery(f"during is {shown(during)}; expected one time, such as 'March 2024', or a TimeSpan")
    check_clock("during", found[0].start, today)
    return found[0]


def check_clock(name: str, bound: datetime | None, last: datetime | None) -> None:
    """Raise InvalidQuery for a bound that cannot be compared with the times of a memory."""
    if bound is not None and last is not None and (bound.tzinfo is None) != (last.tzinfo is None):
        kept = "naive" if last.tzinfo is None else "aware"
        raise InvalidQuery(
            f"{name} is {bound.isoformat()!r} but this memory holds {kept} times; give it the same "
            "kind, or open the memory with timezone=, the zone in which naive times are read"
        )
