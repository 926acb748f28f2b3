"""Which fact took the place of which: the first one said later, of the same topic, that does.

Decided when a fact arrives or leaves, for that fact and for those just before it, so that a long topic costs no more
than a short one. An older fact looks at most `REACH` facts of its topic ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..connection import Connection
from ..extract import ENDING, replaces
from ..types import Fact

REACH = 64

_FACTS = (
    "fact.seq, fact.span_start, fact.row, fact.instant, fact.owner, topic, "
    "fact.id, turn.id, subject, predicate, object, "
    "event_start, event_end, granularity, phrase, span_start, span_end, kind, extractor, replaced_by "
    "FROM fact JOIN turn USING (seq)"
)
_ORDER = "(fact.instant, fact.seq, fact.span_start, fact.row)"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact stands: its topic, then when it was said, when it came in, where in the turn."""

    owner: str | bytes | None
    topic: str
    instant: int
    seq: int
    start: int
    row: int

    @property
    def order(self) -> tuple[int, int, int, int]:
        return (self.instant, self.seq, self.start, self.row)


class Replacing:
    """Keeps `replaced_by` of every fact right. `read` makes a fact of a row's columns."""

    def __init__(self, db: Connection, read: Callable[[Sequence[Any]], Fact]) -> None:
        self._db = db
        self._read = read

    def arrive(self, place: Place, fact: Fact) -> None:
        """Let a new fact replace what was said before it, and be replaced by what was said after it."""
        for topic in self._topics(place):
            for other, older in self._before(place, topic):
                if replaces(fact, older) and self._comes_first(place, older):
                    self._set(other.row, fact.id)
        self._look_ahead(place, fact)

    def leave(self, fact_ids: Sequence[str]) -> None:
        """Decide again for what deleted facts had replaced."""
        for fact_id in fact_ids:
            for place, fact in self._facts("replaced_by = ?", (fact_id,)):
                self._look_ahead(place, fact)

    def settle(self) -> None:
        """Decide again for every fact that has a topic."""
        self._db.execute("UPDATE fact SET replaced_by = NULL WHERE replaced_by IS NOT NULL AND topic IS NULL")
        for owner, topic in self._db.rows("SELECT DISTINCT owner, topic FROM fact WHERE topic IS NOT NULL"):
            for place, fact in self._facts("fact.owner = ? AND topic = ?", (owner, topic)):
                self._look_ahead(place, fact)

    def _look_ahead(self, place: Place, fact: Fact) -> None:
        where = f"fact.owner = ? AND topic IN (?, '{ENDING}') AND {_ORDER} > (?, ?, ?, ?)"
        later = [] if place.topic == ENDING else self._facts(where, (place.owner, place.topic, *place.order), REACH)
        winner = next((newer.id for _, newer in later if replaces(newer, fact)), None)
        if winner != fact.replaced_by:
            self._set(place.row, winner)

    def _before(self, place: Place, topic: str) -> list[tuple[Place, Fact]]:
        where = f"fact.owner = ? AND topic = ? AND {_ORDER} < (?, ?, ?, ?)"
        return self._facts(where, (place.owner, topic, *place.order), REACH, newest=True)

    def _comes_first(self, place: Place, older: Fact) -> bool:
        """Say whether the new fact stands before what has replaced the older one so far."""
        if older.replaced_by is None:
            return True
        sql = f"SELECT {_ORDER} > (?, ?, ?, ?) FROM fact WHERE id = ?"
        return bool(self._db.value(sql, (*place.order, older.replaced_by)))

    def _topics(self, place: Place) -> list[str]:
        """Return the topics that a fact may change: its own, or all of its owner's where it ends something."""
        if place.topic != ENDING:
            return [place.topic]
        sql = f"SELECT DISTINCT topic FROM fact WHERE owner = ? AND topic IS NOT NULL AND topic <> '{ENDING}'"
        return [topic for (topic,) in self._db.rows(sql, (place.owner,))]

    def _facts(
        self, where: str, args: Sequence[Any], limit: int = -1, *, newest: bool = False
    ) -> list[tuple[Place, Fact]]:
        way = "DESC" if newest else "ASC"
        order = f"fact.instant {way}, fact.seq {way}, fact.span_start {way}, fact.row {way}"
        rows = self._db.rows(f"SELECT {_FACTS} WHERE {where} ORDER BY {order} LIMIT {limit}", args)
        return [
            (Place(owner, topic, instant, seq, start, row), self._read(rest))
            for seq, start, row, instant, owner, topic, *rest in rows
        ]

    def _set(self, row: int, winner: str | None) -> None:
        self._db.execute("UPDATE fact SET replaced_by = ? WHERE row = ?", (winner, row))
