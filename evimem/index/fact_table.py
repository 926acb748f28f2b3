"""Facts, and the facts that replaced them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from ..db.derived_sql import (
    ALL_FACTS,
    TOPICAL,
    count_replaced_without_topic,
    read_facts,
    read_facts_with_places,
    read_neighbouring_facts,
    select_facts_of_turns,
    select_later_turns_with_facts,
    unmark_replaced_without_topic,
)
from ..db.tables import Tables, decode_text, encode_text
from ..errors import UNREADABLE, or_else
from ..types.stored import MAX_EARLIER_TURNS, OF_A_MODEL
from ..types.values import Fact, Granularity, TimeSpan
from .updates import outranks, replaces, topic_of

_COLUMNS = (
    "row, id, seq, subject, predicate, object, event_start, event_end, granularity, phrase, "
    "span_start, span_end, kind, extractor, owner, topic, instant"
)
_PAGE_FACTS = 1_000  # facts read at once
REACH_TURNS = 16


@dataclass(frozen=True, slots=True)
class StatedFacts:
    """Facts of a turn; `said` is its instant, `extractor` names the one that found them."""

    seq: int
    said: int
    facts: Sequence[Fact]
    extractor: str = ""


class FactTable:
    """The facts of a memory."""

    def __init__(self, db: Tables) -> None:
        self._db = db
        self._supersession = Supersession(db)

    def insert(self, stated: Sequence[StatedFacts], held: Collection[int] = ()) -> None:
        """Store facts; one that is already stored, which only turns have that are `held`, keeps its row."""
        new = {fact.id: (one, fact) for one in reversed(stated) for fact in reversed(one.facts)}
        if not new:
            return
        there = [fact_id for fact_id, (one, _) in new.items() if one.seq in held]
        known = {fact_id for (fact_id,) in self._db.select("fact", "id", id=there)} if there else ()
        fresh = [pair for fact_id, pair in reversed(new.items()) if fact_id not in known]
        rows = [_to_row(row, *pair) for row, pair in enumerate(fresh, self._db.highest_number_given("fact") + 1)]
        self._db.insert("fact", _COLUMNS, rows)
        self._supersession.replace_by_new_facts({row[0]: row[_TOPIC] for row in rows if row[_TOPIC] is not None})

    def facts_by_turn(self, seqs: Sequence[int]) -> dict[int, list[Fact]]:
        """Return the facts of each turn, in the order in which the turn states them."""
        found: dict[int, list[Fact]] = {seq: [] for seq in seqs}
        for seq, _, *row in self._db.rows(*select_facts_of_turns(self._db, dict.fromkeys(seqs))):
            found[seq].append(read_fact(row))
        return found

    def turns_with_model_facts(self, seqs: Collection[int]) -> set[int]:
        """Return those of these turns in which a model found facts: they have only those."""
        return {seq for (seq,) in self._db.select("fact", "DISTINCT seq", seq=seqs, extractor=[OF_A_MODEL])}

    def later_turns_with_model_facts(self, seqs: Collection[int]) -> set[int]:
        """Return the turns with facts by a model among the `MAX_EARLIER_TURNS` after each of these in its session.

        It read these with them, so that a person they name may be the "he" of later turns.
        """
        return {
            seq
            for (seq,) in self._db.rows(*select_later_turns_with_facts(self._db, seqs, MAX_EARLIER_TURNS, OF_A_MODEL))
        }

    def rows(self, fact_ids: Sequence[str]) -> list[int]:
        """Return the rows of these facts."""
        found = dict(self._db.select("fact", "id, row", id=fact_ids))
        return [found[fact_id] for fact_id in fact_ids]

    def rows_of(self, seqs: Collection[int]) -> list[int]:
        """Return the rows of the facts of these turns."""
        return [row for (row,) in self._db.select("fact", "row", "row", seq=seqs)]

    def rows_replaced_by(self, fact_ids: Collection[str]) -> list[int]:
        """Return the rows of the facts that these replaced."""
        return [row for (row,) in self._db.select("fact", "row", "row", replaced_by=fact_ids)]

    def read_facts(self, rows: Sequence[int]) -> list[tuple[int, int, Fact]]:
        """Return (row, number of the turn, fact) for each of these rows that is there, in order."""
        return [(row, seq, read_fact(columns)) for seq, row, *columns in read_facts(self._db, rows)]

    def turns_among(self, seqs: Collection[int]) -> set[int]:
        """Return those of these turns that have facts."""
        return {seq for (seq,) in self._db.select("fact", "DISTINCT seq", seq=seqs)}

    def turns_of(self, rows: Collection[int]) -> list[int]:
        """Return the turns that these facts were found in."""
        return [seq for (seq,) in self._db.select("fact", "DISTINCT seq", "seq", row=rows)]

    def erase(self, seqs: Collection[int]) -> int:
        """Delete the facts of these turns and unmark the facts they had replaced; return how many were deleted."""
        gone = self.rows_of(seqs)
        self._delete(gone)
        return len(gone)

    def _delete(self, rows: Collection[int]) -> None:
        if rows:
            reaching = self._supersession.facts_within_reach_of(rows)
            self._db.delete_rows("fact", row=rows)
            self._supersession.mark_replaced(reaching)

    def outdated_ids(self, stated: Sequence[StatedFacts]) -> list[str]:
        """Return the ids of the facts that leave turns as extractors have read these again, as they find them no more.

        A model's facts take the place of all earlier ones of their turn; where it found none, those stay.
        """
        kept = self.facts_by_turn([one.seq for one in stated])
        outdated: list[str] = []
        for one in stated:
            by_model, found = one.extractor == OF_A_MODEL, {fact.id: fact for fact in one.facts}
            if found or not by_model:
                leaving = [fact for fact in kept[one.seq] if by_model or fact.extractor == one.extractor]
                outdated += [fact.id for fact in leaving if found.get(fact.id) != replace(fact, replaced_by=None)]
        return outdated

    def exchange(self, outdated: Sequence[str], stated: Sequence[StatedFacts], held: Collection[int]) -> None:
        """Delete facts and store new ones; some of the turns may have `held` facts."""
        if outdated:
            self._delete(self.rows(outdated))
        self.insert(stated, held)

    def drop_unreadable(self) -> None:
        """Delete facts of which not even the columns can be read."""
        for page in self._db.read_pages(ALL_FACTS, (0,), _PAGE_FACTS):
            rows = [row for (row,) in page]
            if not self._is_readable(rows):
                self._db.delete_rows("fact", row=[row for row in rows if not self._is_readable([row])])

    def _is_readable(self, rows: Sequence[int]) -> bool:
        try:
            self.read_facts(rows)
        except UNREADABLE:
            return False
        return True

    def mark_replaced(self) -> Iterator[None]:
        """Recompute topic and `replaced_by` of every fact, a page at a time."""
        for page in self._db.read_pages(ALL_FACTS, (0,), _PAGE_FACTS):
            read = [(or_else(None, _topic, fact), row) for row, _, fact in self.read_facts([row for (row,) in page])]
            self._db.update("fact", "owner, topic", "row", [(*topic, row) for topic, row in read if topic])
            yield
        unmark_replaced_without_topic(self._db)
        for page in self._db.read_pages(TOPICAL, (0,), _PAGE_FACTS):
            self._supersession.mark_replaced([row for (row,) in page])
            yield

    def count_wrongly_replaced(self) -> int:
        """Return how many facts have a wrong `replaced_by`."""
        pages = self._db.read_pages(TOPICAL, (0,), _PAGE_FACTS)
        topical = (self._supersession.topics([row for (row,) in page]) for page in pages)
        wrong = sum(len(self._supersession.wrong(topics)) for topics in topical)
        return count_replaced_without_topic(self._db) + wrong

    def count(self) -> int:
        """Return how many facts there are."""
        return self._db.count_rows("fact")


_TOPIC = _COLUMNS.split(", ").index("topic")


def _to_row(row: int, stated: StatedFacts, fact: Fact) -> tuple[Any, ...]:
    words = map(encode_text, (fact.subject, fact.predicate, fact.object))
    found = (*_event(fact.event), *fact.span, fact.kind, fact.extractor)
    return (row, fact.id, stated.seq, *words, *found, *_topic(fact), stated.said)


def _topic(fact: Fact) -> tuple[str | bytes | None, str | None]:
    topic = topic_of(fact)
    return (None, None) if topic is None else (encode_text(topic.owner), topic.name)


def _event(event: TimeSpan | None) -> tuple[Any, ...]:
    if event is None:
        return (None, None, None, None)
    bounds = (bound and bound.isoformat() for bound in (event.start, event.end))
    return (*bounds, event.granularity, encode_text(event.text))


def read_fact(row: Sequence[Any]) -> Fact:
    """Return the fact of a row's columns, from its id on."""
    fact_id, turn_id, subject, predicate, thing, start, end, granularity, phrase, *rest = row
    span_start, span_end, kind, extractor, replaced_by, attribute = rest
    event = None
    if granularity is not None:
        event = TimeSpan(parse_time(start), parse_time(end), cast(Granularity, granularity), decode_text(phrase))
    words = (decode_text(subject), decode_text(predicate), decode_text(thing))
    whole = all(type(word) is str for word in (*words, kind, extractor)) and type(span_start) is type(span_end) is int
    if not whole:
        raise ValueError("the row of a fact has other types than were stored")
    of = (kind, extractor, replaced_by, decode_text(attribute) or "")
    return Fact(fact_id, turn_id, *words, event, (span_start, span_end), *of)


def parse_time(value: str | None) -> datetime | None:
    """Return a stored time."""
    return None if value is None else datetime.fromisoformat(value)


@dataclass(frozen=True, slots=True)
class PlacedFact:
    """A fact, who said it, and where it stands: when it was said, when it arrived, where in the turn; then its row."""

    order: tuple[int, int, int, int]
    speaker: str
    fact: Fact


class Supersession:
    """Keeps `replaced_by` of every fact up to date: the first later one of the same topic that replaces it.

    A statement about another person never replaces that person's own word. It is decided when facts arrive or leave,
    for them and for those just before them, so that a long topic costs no more than a short one. A fact looks at most
    `REACH_TURNS` facts of its topic ahead: whatever the order in which facts came and went, the result is the same.
    """

    def __init__(self, db: Tables) -> None:
        self._db = db

    def replace_by_new_facts(self, topics: Mapping[int, str]) -> None:
        """Update `replaced_by` of new facts, given with their topics, and of those that they may replace."""
        if topics:
            self._settle({**self._before(topics), **topics})

    def facts_within_reach_of(self, rows: Collection[int]) -> set[int]:
        """Return the other facts that these replaced or stand within the reach of, for `mark_replaced` afterwards."""
        ids = [fact_id for (fact_id,) in self._db.select("fact", "id", row=rows)]
        replaced = {row for (row,) in self._db.select("fact", "row", replaced_by=ids)}
        return (replaced | self._before(self.topics(rows)).keys()).difference(rows)

    def mark_replaced(self, rows: Collection[int]) -> None:
        """Recompute `replaced_by` of these facts."""
        self._settle({**dict.fromkeys(rows), **self.topics(rows)})

    def _settle(self, topics: Mapping[int, str | None]) -> None:
        self._db.update("fact", "replaced_by", "row", [(winner, row) for row, winner in self.wrong(topics).items()])

    def wrong(self, topics: Mapping[int, str | None]) -> dict[int, str | None]:
        """Return those of these facts, given with their topics, that have a wrong `replaced_by`, with the right one."""
        asked = [(row, topic) for row, topic in topics.items() if topic is not None]
        near: dict[int, list[int]] = defaultdict(list)
        for row, later in read_neighbouring_facts(self._db, asked, ">", REACH_TURNS) if asked else ():
            near[row].append(later)
        placed = self._with_places({*topics, *(later for some in near.values() for later in some)})
        winners = {row: _winner(placed[row], [placed[later] for later in near[row]]) for row in topics}
        return {row: winner for row, winner in winners.items() if winner != placed[row].fact.replaced_by}

    def _before(self, topics: Mapping[int, str]) -> dict[int, str]:
        """Return the facts, with their topics, that have one of these within their reach."""
        near = read_neighbouring_facts(self._db, topics.items(), "<", REACH_TURNS) if topics else ()
        return {before: topics[row] for row, before in near}

    def topics(self, rows: Collection[int]) -> dict[int, str]:
        """Return the topics of those of these facts that have one."""
        found = self._db.select("fact", "row, topic", row=rows)
        return {row: topic for row, topic in found if topic is not None}

    def _with_places(self, rows: Collection[int]) -> dict[int, PlacedFact]:
        found = read_facts_with_places(self._db, rows)
        return {place[-1]: PlacedFact(place, speaker, read_fact(fact)) for place, speaker, fact in map(_parts, found)}


def _parts(row: Sequence[Any]) -> tuple[tuple[int, int, int, int], str, Sequence[Any]]:
    instant, seq, start, number, speaker, _, *fact = row
    return (instant, seq, start, number), decode_text(speaker), fact


def _winner(older: PlacedFact, later: Sequence[PlacedFact]) -> str | None:
    """Return the id of the first of these facts that replaces one: not by a report against a person's own word."""
    for newer in sorted(later, key=lambda one: one.order):
        if replaces(newer.fact, older.fact) and not outranks(older.fact, older.speaker, newer.speaker):
            return newer.fact.id
    return None
