"""Facts in SQLite, and which later fact replaced which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from ..connection import Connection, bindable, unbound
from ..extract.topics import replaces, topic_of
from ..types import Fact, Granularity, TimeSpan

WINDOW = 16  # how many later facts of a topic are asked whether they replace one: bounds the work of a long topic

_COLUMNS = (
    "fact.row, fact.id, turn.id, subject, predicate, object, event_start, event_end, granularity, phrase, "
    "span_start, span_end, kind, extractor, replaced_by FROM fact JOIN turn USING (seq)"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact stands among those of its topic: order of what was said, then of arrival, then in the turn."""

    topic: str
    instant: int
    seq: int


class FactTable:
    """The rows of the Index layer that a reader sees."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def insert(self, seq: int, said: int, facts: Iterable[Fact]) -> None:
        """Store the facts of a turn; a fact that is already stored keeps its row."""
        for fact in facts:
            topic = topic_of(fact)
            self._db.execute(
                "INSERT INTO fact (id, seq, subject, predicate, object, event_start, event_end, granularity, phrase, "
                "span_start, span_end, kind, extractor, topic, instant) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                (
                    fact.id,
                    seq,
                    bindable(fact.subject),
                    bindable(fact.predicate),
                    bindable(fact.object),
                    *_event(fact.event),
                    *fact.span,
                    fact.kind,
                    fact.extractor,
                    topic,
                    said,
                ),
            )
            if topic is not None:
                self.settle(Place(topic, said, seq))

    def of_turns(self, seqs: Sequence[int]) -> dict[int, list[Fact]]:
        """Return the facts of each turn, in the order in which the turn states them."""
        found: dict[int, list[Fact]] = {seq: [] for seq in seqs}
        for start in range(0, len(seqs), 500):
            page = seqs[start : start + 500]
            marks = ", ".join("?" * len(page))
            sql = f"SELECT fact.seq, {_COLUMNS} WHERE fact.seq IN ({marks}) ORDER BY fact.seq, span_start, fact.row"
            for row in self._db.rows(sql, page):
                found[row[0]].append(_fact(row[2:]))
        return found

    def rows(self, fact_ids: Iterable[str]) -> list[int]:
        """Return the rows of these facts."""
        return [self._db.value("SELECT row FROM fact WHERE id = ?", (fact_id,)) for fact_id in fact_ids]

    def rows_of(self, seqs: Iterable[int]) -> list[int]:
        """Return the rows of the facts of these turns."""
        return [row[0] for seq in seqs for row in self._db.rows("SELECT row FROM fact WHERE seq = ?", (seq,))]

    def erase(self, seqs: Sequence[int]) -> int:
        """Delete the facts of these turns, and let what they had replaced stand again; return how many went."""
        places, gone = [], 0
        for seq in seqs:
            found = self._db.rows("SELECT topic, instant FROM fact WHERE seq = ?", (seq,))
            gone += len(found)
            places += [Place(topic, said, seq) for topic, said in found if topic is not None]
            self._db.execute("DELETE FROM fact WHERE seq = ?", (seq,))
        for place in dict.fromkeys(places):
            self.settle(place)
        return gone

    def settle(self, place: Place) -> None:
        """Decide again, for the facts of a topic that a change at this place can reach, what replaced them."""
        key = (place.topic, place.instant, place.seq)
        before = self._db.rows(
            f"SELECT {_COLUMNS} WHERE topic = ? AND (fact.instant, fact.seq) <= (?, ?) "
            "ORDER BY fact.instant DESC, fact.seq DESC, span_start DESC, fact.row DESC LIMIT ?",
            (*key, 2 * WINDOW),
        )
        after = self._db.rows(
            f"SELECT {_COLUMNS} WHERE topic = ? AND (fact.instant, fact.seq) > (?, ?) "
            "ORDER BY fact.instant, fact.seq, span_start, fact.row LIMIT ?",
            (*key, WINDOW),
        )
        group = [(row[0], _fact(row[1:])) for row in (*reversed(before), *after)]
        for index, (row, fact) in enumerate(group[: len(before)]):
            later = (other for _, other in group[index + 1 : index + 1 + WINDOW])
            winner = next((other.id for other in later if replaces(other, fact)), None)
            if winner != fact.replaced_by:
                self._db.execute("UPDATE fact SET replaced_by = ? WHERE row = ?", (winner, row))

    def reconcile(self, seq: int, said: int, facts: Sequence[Fact], extractor: str) -> bool:
        """Make the facts that an extractor found in a turn be these; return whether that changed anything."""
        wanted = {fact.id: fact for fact in facts}
        kept = {fact.id: fact for fact in self.of_turns([seq])[seq] if fact.extractor == extractor}
        same = {fact_id for fact_id, fact in kept.items() if wanted.get(fact_id) == replace(fact, replaced_by=None)}
        for fact_id in kept.keys() - same:
            self._db.execute("DELETE FROM fact WHERE id = ?", (fact_id,))
        self.insert(seq, said, [fact for fact_id, fact in wanted.items() if fact_id not in same])
        return kept.keys() != wanted.keys() or len(same) != len(wanted)

    def settle_all(self) -> None:
        """Decide for every fact again what replaced it."""
        for topic, said, seq in self._db.rows("SELECT DISTINCT topic, instant, seq FROM fact WHERE topic IS NOT NULL"):
            self.settle(Place(topic, said, seq))

    def count(self) -> int:
        """Return how many facts there are."""
        return int(self._db.value("SELECT count(*) FROM fact"))


def _event(event: TimeSpan | None) -> tuple[Any, ...]:
    if event is None:
        return (None, None, None, None)
    bounds = (bound and bound.isoformat() for bound in (event.start, event.end))
    return (*bounds, event.granularity, bindable(event.text))


def _fact(row: Sequence[Any]) -> Fact:
    fact_id, turn_id, subject, predicate, thing, start, end, granularity, phrase, *rest = row
    span_start, span_end, kind, extractor, replaced_by = rest
    event = None
    if granularity is not None:
        event = TimeSpan(parsed(start), parsed(end), cast(Granularity, granularity), unbound(phrase))
    words = (unbound(subject), unbound(predicate), unbound(thing))
    return Fact(fact_id, turn_id, *words, event, (span_start, span_end), kind, extractor, replaced_by)


def parsed(value: str | None) -> datetime | None:
    """Return a stored time."""
    return None if value is None else datetime.fromisoformat(value)
