"""Facts in SQLite, with what replaced them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from ..db.connection import Connection
from ..db.text_columns import bindable, unbound
from ..errors import UNREADABLE
from ..extract import topic_of
from ..types.stored import EARLIER, OF_A_MODEL
from ..types.values import Fact, Granularity, TimeSpan
from .supersede import FactPlace, Supersession

FACT_COLUMNS = (
    "fact.row, fact.id, turn.id, subject, predicate, object, event_start, event_end, granularity, phrase, "
    "span_start, span_end, kind, extractor, replaced_by FROM fact JOIN turn USING (seq)"
)


class FactTable:
    """The facts of a memory."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._supersession = Supersession(db, read_fact)

    def insert(self, seq: int, said: int, facts: Collection[Fact]) -> None:
        """Store the facts of a turn; a fact that is already stored keeps its row."""
        said_by = self._speaker(seq) if facts else ""
        for fact in facts:
            topic = topic_of(fact)
            owner, name = (None, None) if topic is None else (bindable(topic.owner), topic.name)
            row = self._db.value(
                "INSERT INTO fact (id, seq, subject, predicate, object, event_start, event_end, granularity, phrase, "
                "span_start, span_end, kind, extractor, owner, topic, instant) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING row",
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
                    owner,
                    name,
                    said,
                ),
            )
            if row is not None and name is not None:
                place = FactPlace(owner, name, said, seq, fact.span[0], row, said_by)
                self._supersession.arrive(place, fact)

    def _speaker(self, seq: int) -> str:
        sql = "SELECT speaker.name FROM turn JOIN speaker ON speaker.ord = turn.speaker WHERE seq = ?"
        return unbound(self._db.value(sql, (seq,)))

    def of_turns(self, seqs: Sequence[int]) -> dict[int, list[Fact]]:
        """Return the facts of each turn, in the order in which the turn states them."""
        found: dict[int, list[Fact]] = {seq: [] for seq in seqs}
        for start in range(0, len(seqs), 500):
            page = seqs[start : start + 500]
            marks = ", ".join("?" * len(page))
            sql = f"SELECT fact.seq, {FACT_COLUMNS} WHERE fact.seq IN ({marks}) ORDER BY fact.seq, span_start, fact.row"
            for row in self._db.rows(sql, page):
                found[row[0]].append(read_fact(row[2:]))
        return found

    def of_a_model_after(self, seqs: Sequence[int]) -> set[int]:
        """Return those turns, of the `EARLIER` that follow each of these in its session, in which a model found facts.

        It read these with them, so that whom they name may be the "he" of what follows.
        """
        sql = (
            "SELECT DISTINCT fact.seq FROM json_each(?) AS named JOIN turn ON turn.seq = named.value JOIN fact "
            "ON fact.seq IN (SELECT later.seq FROM turn AS later WHERE later.session = turn.session "
            "AND later.seq > turn.seq ORDER BY later.seq LIMIT ?) WHERE fact.extractor = ?"
        )
        return {seq for (seq,) in self._db.rows(sql, (json.dumps(list(seqs)), EARLIER, OF_A_MODEL))}

    def rows(self, fact_ids: Iterable[str]) -> list[int]:
        """Return the rows of these facts."""
        ids = list(fact_ids)
        found: dict[str, int] = {}
        for start in range(0, len(ids), 500):
            page = ids[start : start + 500]
            marks = ", ".join("?" * len(page))
            found |= dict(self._db.rows(f"SELECT id, row FROM fact WHERE id IN ({marks})", page))
        return [found[fact_id] for fact_id in ids]

    def rows_of(self, seqs: Iterable[int]) -> list[int]:
        """Return the rows of the facts of these turns."""
        return [row[0] for seq in seqs for row in self._db.rows("SELECT row FROM fact WHERE seq = ?", (seq,))]

    def turns_of(self, rows: Iterable[int]) -> list[int]:
        """Return the turns that these facts were found in."""
        return sorted({seq for row in rows for (seq,) in self._db.rows("SELECT seq FROM fact WHERE row = ?", (row,))})

    def erase(self, seqs: Sequence[int]) -> int:
        """Delete the facts of these turns and unmark the facts they had replaced; return how many were deleted."""
        gone = [fact_id for seq in seqs for (fact_id,) in self._db.rows("SELECT id FROM fact WHERE seq = ?", (seq,))]
        places = self._supersession.places(gone)
        self._db.executemany("DELETE FROM fact WHERE seq = ?", [(seq,) for seq in seqs])
        self._supersession.leave(places)
        return len(gone)

    def reconcile(self, seq: int, said: int, facts: Sequence[Fact], extractor: str) -> bool:
        """Replace the facts that an extractor found in a turn by these; return whether anything changed."""
        wanted = {fact.id: fact for fact in facts}
        kept = {fact.id: fact for fact in self.of_turns([seq])[seq] if fact.extractor == extractor}
        same = {fact_id for fact_id, fact in kept.items() if wanted.get(fact_id) == replace(fact, replaced_by=None)}
        leaving = sorted(kept.keys() - same)
        places = self._supersession.places(leaving)
        self._db.executemany("DELETE FROM fact WHERE id = ?", [(fact_id,) for fact_id in leaving])
        self._supersession.leave(places)
        self.insert(seq, said, [fact for fact_id, fact in wanted.items() if fact_id not in same])
        return kept.keys() != wanted.keys() or len(same) != len(wanted)

    def drop_unreadable(self) -> None:
        """Delete facts of which not even the columns can be read."""
        for (row,) in self._db.rows("SELECT row FROM fact"):
            try:
                for found in self._db.rows(f"SELECT {FACT_COLUMNS} WHERE fact.row = ?", (row,)):
                    read_fact(found[1:])
            except UNREADABLE:
                self._db.execute("DELETE FROM fact WHERE row = ?", (row,))

    def settle(self) -> None:
        """Recompute `replaced_by` of every fact."""
        self._supersession.settle()

    def wrongly_replaced(self) -> int:
        """Return how many facts have a wrong `replaced_by`."""
        return self._supersession.wrong()

    def count(self) -> int:
        """Return how many facts there are."""
        return int(self._db.value("SELECT count(*) FROM fact"))


def _event(event: TimeSpan | None) -> tuple[Any, ...]:
    if event is None:
        return (None, None, None, None)
    bounds = (bound and bound.isoformat() for bound in (event.start, event.end))
    return (*bounds, event.granularity, bindable(event.text))


def read_fact(row: Sequence[Any]) -> Fact:
    fact_id, turn_id, subject, predicate, thing, start, end, granularity, phrase, *rest = row
    span_start, span_end, kind, extractor, replaced_by = rest
    event = None
    if granularity is not None:
        event = TimeSpan(parsed(start), parsed(end), cast(Granularity, granularity), unbound(phrase))
    words = (unbound(subject), unbound(predicate), unbound(thing))
    whole = all(type(word) is str for word in (*words, kind, extractor)) and type(span_start) is type(span_end) is int
    if not whole:
        raise ValueError("the row of a fact has other types than were stored")
    return Fact(fact_id, turn_id, *words, event, (span_start, span_end), kind, extractor, replaced_by)


def parsed(value: str | None) -> datetime | None:
    """Return a stored time."""
    return None if value is None else datetime.fromisoformat(value)
