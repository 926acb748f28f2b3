"""Which fact replaced which: the first later one of the same topic that does (`extract.replaces`).

What somebody says of another never replaces that person's own word (`extract.outranks`).

Decided when a fact arrives or leaves, for that fact and for those just before it, so that a long topic costs no more
than a short one. An older fact looks at most `REACH` facts of its topic ahead, as they stand in the end: whatever the
order in which they came and went, the result is that of `settle`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..db.connection import Connection
from ..db.text_columns import unbound
from ..extract import ENDABLE, ENDING, outranks, replaces
from ..types.values import Fact

REACH = 16

_FACTS = (
    "fact.seq, fact.span_start, fact.row, fact.instant, fact.owner, topic, speaker.name, "
    "fact.id, turn.id, subject, predicate, object, "
    "event_start, event_end, granularity, phrase, span_start, span_end, kind, extractor, replaced_by "
    "FROM fact JOIN turn USING (seq) JOIN speaker ON speaker.ord = turn.speaker"
)
_ORDER = "(fact.instant, fact.seq, fact.span_start, fact.row)"


@dataclass(frozen=True, slots=True)
class FactPlace:
    """Where a fact stands: its topic, then when it was said, when it arrived, where in the turn, and by whom."""

    owner: str | bytes | None
    topic: str
    instant: int
    seq: int
    start: int
    row: int
    speaker: str

    @property
    def order(self) -> tuple[int, int, int, int]:
        return (self.instant, self.seq, self.start, self.row)


class Supersession:
    """Keeps `replaced_by` of every fact up to date. `read` makes a fact of a row's columns."""

    def __init__(self, db: Connection, read: Callable[[Sequence[Any]], Fact]) -> None:
        self._db = db
        self._read = read

    def arrive(self, place: FactPlace, fact: Fact) -> None:
        """Update `replaced_by` around a new fact: of earlier facts that it replaces, and of the fact itself."""
        is_newest = True
        for topic in self._topics(place):
            if self._is_newest(place, topic):  # turns usually arrive in order: only unreplaced facts can change
                self._replace_standing(place, topic, fact)
                continue
            is_newest, after = False, self._after(place, topic)
            for back, (other, older) in enumerate(self._before(place, topic)):
                if other.topic == ENDING:
                    continue
                if _replaces(place, fact, other, older) and self._comes_first(place, older):
                    self._set(other.row, fact.id)
                elif self._is_pushed_out(older, place, after[: REACH - back - 1]):
                    self._set(other.row, None)
        if not is_newest:
            self._look_ahead(place, fact)

    def _replace_standing(self, place: FactPlace, topic: str, fact: Fact) -> None:
        for other, older in self._before(place, topic, standing=True):
            if _replaces(place, fact, other, older):
                self._set(other.row, fact.id)

    def places(self, fact_ids: Sequence[str]) -> dict[str, FactPlace]:
        """Return where these facts stand, for `leave` once they are deleted; those without a topic are left out."""
        found = ((fact_id, self._facts("fact.id = ? AND topic IS NOT NULL", (fact_id,))) for fact_id in fact_ids)
        return {fact_id: place for fact_id, facts in found for place, _ in facts}

    def leave(self, left: Mapping[str, FactPlace]) -> None:
        """Recompute facts that deleted ones had replaced, and those that now reach further ahead."""
        for fact_id in left:
            for place, fact in self._facts("replaced_by = ?", (fact_id,)):
                self._look_ahead(place, fact)
        nearer: dict[int, tuple[FactPlace, Fact]] = {}
        for place in left.values():
            for topic in self._topics(place):
                if self._is_long(place, topic, len(left)):
                    nearer |= {other.row: (other, fact) for other, fact in self._before(place, topic)}
        for other, fact in nearer.values():
            if fact.replaced_by is None:
                self._look_ahead(other, fact)

    def settle(self) -> None:
        """Recompute every fact that has a topic."""
        self._db.execute("UPDATE fact SET replaced_by = NULL WHERE replaced_by IS NOT NULL AND topic IS NULL")
        for owner, topic in self._db.rows("SELECT DISTINCT owner, topic FROM fact WHERE topic IS NOT NULL"):
            for place, fact in self._facts("fact.owner = ? AND topic = ?", (owner, topic)):
                self._look_ahead(place, fact)

    def wrong(self) -> int:
        """Return how many facts have a wrong `replaced_by`."""
        facts = self._facts("topic IS NOT NULL", ())
        stray = self._db.value("SELECT count(*) FROM fact WHERE replaced_by IS NOT NULL AND topic IS NULL")
        return int(stray) + sum(fact.replaced_by != self._winner(place, fact) for place, fact in facts)

    def _look_ahead(self, place: FactPlace, fact: Fact) -> None:
        winner = self._winner(place, fact)
        if winner != fact.replaced_by:
            self._set(place.row, winner)

    def _winner(self, place: FactPlace, fact: Fact) -> str | None:
        near, args = _near(place, place.topic, ">")
        later = [] if place.topic == ENDING else self._facts(f"fact.row IN ({near})", args)
        return next((newer.id for other, newer in later if _replaces(other, newer, place, fact)), None)

    def _before(self, place: FactPlace, topic: str, *, standing: bool = False) -> list[tuple[FactPlace, Fact]]:
        """Return facts that reach this place, the nearest first; with `standing`, only those not replaced yet."""
        near, args = _near(place, topic, "<")
        may_change = f" AND replaced_by IS NULL AND topic <> '{ENDING}'" if standing else ""
        return self._facts(f"fact.row IN ({near}){may_change}", args, newest=True)

    def _is_newest(self, place: FactPlace, topic: str) -> bool:
        sql = f"SELECT 1 FROM fact WHERE owner = ? AND topic = ? AND {_ORDER} > (?, ?, ?, ?) LIMIT 1"
        return not any(self._db.value(sql, (place.owner, rival, *place.order)) for rival in _rivals(topic))

    def _after(self, place: FactPlace, topic: str) -> list[Any]:
        """Return the order keys of facts that those before this place can still reach."""
        near, args = _near(place, topic, ">")
        sql = "SELECT instant, seq, span_start, row FROM fact "
        return self._db.rows(f"{sql} WHERE row IN ({near}) ORDER BY instant, seq, span_start, row", args)

    def _is_pushed_out(self, older: Fact, place: FactPlace, seen: Sequence[Any]) -> bool:
        """Return whether a fact that came between has put the replacement of an older one out of its reach."""
        if older.replaced_by is None:
            return False
        order = self._db.rows("SELECT instant, seq, span_start, row FROM fact WHERE id = ?", (older.replaced_by,))[0]
        return order > place.order and (not seen or order > seen[-1])

    def _is_long(self, place: FactPlace, topic: str, left: int) -> bool:
        """Return whether a topic had more facts than its first one could reach."""
        topics = _rivals(topic)
        marks = ", ".join("?" * len(topics))
        sql = f"SELECT 1 FROM fact WHERE owner = ? AND topic IN ({marks}) LIMIT {REACH + 1}"
        return len(self._db.rows(sql, (place.owner, *topics))) + left > REACH

    def _comes_first(self, place: FactPlace, older: Fact) -> bool:
        """Return whether the new fact stands before the present replacement of the older one."""
        if older.replaced_by is None:
            return True
        sql = f"SELECT {_ORDER} > (?, ?, ?, ?) FROM fact WHERE id = ?"
        return bool(self._db.value(sql, (*place.order, older.replaced_by)))

    def _topics(self, place: FactPlace) -> list[str]:
        """Return the topics that a fact may change: its own, or what its owner can end."""
        if place.topic != ENDING:
            return [place.topic]
        sql = "SELECT 1 FROM fact WHERE owner = ? AND topic = ? LIMIT 1"
        return [topic for topic in sorted(ENDABLE) if self._db.value(sql, (place.owner, topic))]

    def _facts(self, where: str, args: Sequence[Any], *, newest: bool = False) -> list[tuple[FactPlace, Fact]]:
        way = "DESC" if newest else "ASC"
        order = f"fact.instant {way}, fact.seq {way}, fact.span_start {way}, fact.row {way}"
        rows = self._db.rows(f"SELECT {_FACTS} WHERE {where} ORDER BY {order}", args)
        return [
            (FactPlace(owner, topic, instant, seq, start, row, unbound(speaker)), self._read(rest))
            for seq, start, row, instant, owner, topic, speaker, *rest in rows
        ]

    def _set(self, row: int, winner: str | None) -> None:
        self._db.execute("UPDATE fact SET replaced_by = ? WHERE row = ?", (winner, row))


def _replaces(later: FactPlace, newer: Fact, place: FactPlace, older: Fact) -> bool:
    """Return whether a later fact replaces an older one: not by a report against a person's own word."""
    return replaces(newer, older) and not outranks(older, place.speaker, later.speaker)


def _near(place: FactPlace, topic: str, side: str) -> tuple[str, tuple[Any, ...]]:
    """Return a query, and its values, for the rows that stand next to a place, at most `REACH` before (<) or after (>).

    One part a topic: only then does SQLite walk the index in order and stop, however long the topic is.
    """
    way = "DESC" if side == "<" else "ASC"
    order = f"instant {way}, seq {way}, span_start {way}, row {way} LIMIT {REACH}"
    part = (
        f"SELECT * FROM (SELECT row, instant, seq, span_start FROM fact WHERE owner = ? AND topic = ? "
        f"AND (instant, seq, span_start, row) {side} (?, ?, ?, ?) ORDER BY {order})"
    )
    topics = _rivals(topic)
    args = tuple(value for rival in topics for value in (place.owner, rival, *place.order))
    return f"SELECT row FROM ({' UNION ALL '.join([part] * len(topics))}) ORDER BY {order}", args


def _rivals(topic: str) -> tuple[str, ...]:
    """Return the topics whose facts may replace one of this topic."""
    return (topic, ENDING) if topic in ENDABLE else (topic,)
