"""A memory in plain Python objects: the obvious store, which the one in SQLite is held to. Nothing is durable."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..edges import Link, ranked, threshold
from ..edges.link_rules import NEXT_WEIGHT, PER_FACT, UPDATE_WEIGHT
from ..embedding.quantize import Packed, pack, unpack
from ..errors import InvalidTurn, TurnConflict, UnknownTurn
from ..extract import ENDING, replaces, topic_of
from ..index.corpus import Corpus, IndexRow
from ..index.document import document
from ..index.exhaustive import rank_all
from ..index.prepared_query import IndexQuery, microseconds
from ..index.weights import BM25, WEIGHTS
from ..raw import digest, instant
from ..text.names import is_about
from ..types.reports import AddReport, EraseReport, TurnStatus
from ..types.stored import COUNTED, MOST_SECONDS, About, Entry, Job, Roster
from ..types.values import Fact, Hit, Query, Turn
from ..types.vectors import Vectors
from .layers import events


@dataclass(slots=True)
class Kept:
    """One turn with what was derived from it."""

    turn: Turn
    facts: tuple[Fact, ...]
    vector: Packed | None
    fact_vectors: dict[str, Vectors]
    owed: dict[str, tuple[int, float | None]] = field(default_factory=dict)  # kind: (attempts, due; None: failed)
    waits: dict[str, str] = field(default_factory=dict)  # kind: what for


class MemoryStore:
    """A `Store` that keeps turns in a list. Every search derives and scores everything."""

    def __init__(self, embedder: str, dimension: int, *, clock: Callable[[], float] = time.time) -> None:
        self._embedder = embedder
        self._dimension = dimension
        self._clock = clock
        self._kept: dict[str, Kept] = {}
        self._forgotten: set[str] = set()
        self._settings: dict[str, str] = {}

    def known(self, turns: Sequence[Turn]) -> tuple[bool, ...]:
        """Say which of these turns are stored with the same content."""
        return tuple(turn.id in self._kept and digest(self._kept[turn.id].turn) == digest(turn) for turn in turns)

    def write(self, entries: Sequence[Entry], *, strict: bool = False) -> AddReport:
        """Store a batch, whole or not at all."""
        before = dict(self._kept)
        try:
            statuses = [self._write_one(entry, strict=strict) for entry in entries]
        except (TurnConflict, InvalidTurn):
            self._kept = before
            raise
        fresh = [
            entry for entry, status in zip(entries, statuses, strict=True) if status.outcome in ("added", "readded")
        ]
        return AddReport.of(statuses, sum(len(entry.facts) for entry in fresh))

    def recall(self, query: Query) -> tuple[Hit, ...]:
        """Return the k best turns, by scoring each of them."""
        kept = list(self._kept.values())
        question = self._question(query, kept)
        if question is None:
            return ()
        found = rank_all(question, self._corpus(kept), query.k, question.weights)
        return tuple(
            Hit(
                kept[one.position].turn,
                self._settled(kept[one.position]),
                one.score,
                one.parts,
                "search",
                tuple(kept[at].turn.id for at in one.neighbours),
            )
            for one in found
        )

    def expand(self, turn_ids: Sequence[str], limit: int) -> tuple[Hit, ...]:
        """Return up to `limit` turns one edge away."""
        kept = list(self._kept.values())
        place = {one.turn.id: at for at, one in enumerate(kept)}
        self.read(turn_ids)
        seeds = [place[turn_id] for turn_id in turn_ids]
        links = [link for seed in dict.fromkeys(seeds) for link in self._links(kept, place, seed)]
        return tuple(
            Hit(kept[link.target].turn, self._settled(kept[link.target]), score, {"edge": score}, f"edge:{link.kind}")
            for link, score in ranked(seeds, links, limit)
        )

    def read(self, turn_ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return these turns. Raise UnknownTurn."""
        for turn_id in turn_ids:
            if turn_id not in self._kept:
                raise UnknownTurn(turn_id)
        return tuple(self._kept[turn_id].turn for turn_id in turn_ids)

    def _context(self, turn_id: str, before: int, after: int) -> tuple[Turn, ...]:
        """Return the turns around one, in dialogue order."""
        (turn,) = self.read([turn_id])
        dialogue = sorted(
            (one.turn for one in self._kept.values() if one.turn.session == turn.session),
            key=lambda other: instant(other.time),
        )
        at = dialogue.index(turn)
        return tuple(dialogue[max(0, at - before) : at + after + 1])

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return the turns around each of these, in dialogue order. Raise UnknownTurn."""
        return tuple(self._context(turn_id, before, after) for turn_id in turn_ids)

    def facts(self, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of these turns."""
        self.read(turn_ids)
        return tuple(fact for turn_id in turn_ids for fact in self._settled(self._kept[turn_id]))

    def about(self, entity: str, limit: int) -> About:
        """Return the facts about an entity, newest first."""
        found = [
            fact
            for one in reversed(self._kept.values())
            for fact in self._settled(one)
            if is_about(fact, one.turn.speaker, entity)
        ]
        return About(entity, len(found), tuple(found[:limit]))

    def roster(self) -> Roster:
        """Return who speaks here and since when."""
        turns = sorted((one.turn for one in self._kept.values()), key=lambda turn: instant(turn.time))
        speakers = tuple(dict.fromkeys(one.turn.speaker for one in self._kept.values()))
        first, last = (turns[0].time, turns[-1].time) if turns else (None, None)
        return Roster(speakers, first, last, min(len(turns), COUNTED))

    def due(self, kind: str, limit: int, reason: str | None = None) -> tuple[Job, ...]:
        """Return turns that are owed work of a kind, or wait for a reason."""
        now = self._clock()
        owed = [(one, one.owed[kind]) for one in self._kept.values() if kind in one.owed]
        if reason is not None:
            ready = [(one, tries) for one, (tries, _) in owed if one.waits.get(kind) == reason]
        else:
            timed = [(one, tries, due - now) for one, (tries, due) in owed if due is not None]
            all_ready = [(one, tries) for one, tries, left in timed if left <= 0 or left > MOST_SECONDS]
            ready = [(one, tries) for one, tries in all_ready if not tries] or all_ready
        return tuple(Job(one.turn, self._settled(one), tries) for one, tries in ready[:limit])

    def settle(self, kind: str, entries: Sequence[Entry]) -> None:
        """Keep what turns were owed."""
        for entry in entries:
            kept = self._kept.get(entry.turn.id)
            if kept is None:
                continue
            if kind == "vector":
                kept.vector = pack(entry.vector)
            if kind == "extract":
                new = tuple(fact for fact in entry.facts if fact.id not in {old.id for old in kept.facts})
                kept.facts = tuple(sorted((*kept.facts, *new), key=lambda fact: fact.span[0]))
            if entry.fact_vectors is not None:
                kept.fact_vectors |= _by_id(entry)
            kept.owed.pop(kind, None)

    def hold(self, kind: str, turn_ids: Sequence[str], reason: str, seconds: float) -> None:
        """Offer no work on these turns for a while."""
        for turn_id in turn_ids:
            kept = self._kept.get(turn_id)
            if kept is not None and kind in kept.owed:
                kept.owed[kind] = (kept.owed[kind][0], self._clock() + seconds)
                kept.waits[kind] = reason

    def postpone(self, kind: str, turn_id: str, error: str, seconds: float | None) -> None:
        """Count a failure."""
        kept = self._kept.get(turn_id)
        if kept is not None and kind in kept.owed:
            due = None if seconds is None else self._clock() + seconds
            kept.owed[kind] = (kept.owed[kind][0] + 1, due)
            kept.waits[kind] = error

    def setting(self, name: str) -> str | None:
        """Return what was kept under a name."""
        return self._settings.get(name)

    def keep_setting(self, name: str, value: str | None) -> None:
        """Keep a text under a name, or take it away."""
        self._settings.pop(name, None)
        if value is not None:
            self._settings[name] = value

    def forget(self, turn_ids: Sequence[str]) -> EraseReport:
        """Erase turns; everything else is derived when it is asked for."""
        self.read(turn_ids)
        gone = [self._kept.pop(turn_id) for turn_id in dict.fromkeys(turn_ids)]
        self._forgotten.update(one.turn.id for one in gone)
        if not self._kept:
            self._settings.clear()
        return EraseReport("erased", len(gone), sum(len(one.facts) for one in gone))

    def _write_one(self, entry: Entry, *, strict: bool) -> TurnStatus:
        turn = entry.turn
        kept = self._kept.get(turn.id)
        if kept is not None and digest(kept.turn) == digest(turn):
            return TurnStatus(turn.id, "exists")
        error = TurnConflict(turn.id) if kept is not None else self._clock_error(turn)
        if error is not None:
            if strict:
                raise error
            return TurnStatus(turn.id, "refused", str(error))
        packed = None if entry.vector is None else pack(entry.vector)
        vectors = {} if entry.fact_vectors is None else _by_id(entry)
        owed = {kind: (0, 0.0) for kind in (*entry.owes, *(() if packed is not None else ("vector",)))}
        if entry.facts and entry.fact_vectors is None:
            owed["link"] = (0, 0.0)
        self._kept[turn.id] = Kept(turn, entry.facts, packed, vectors, dict(owed))
        again = turn.id in self._forgotten
        return TurnStatus(turn.id, "readded" if again else "added", None, tuple(sorted(owed)))

    def _clock_error(self, turn: Turn) -> InvalidTurn | None:
        other = next(iter(self._kept.values()), None)
        if other is None or (other.turn.time.tzinfo is None) == (turn.time.tzinfo is None):
            return None
        return InvalidTurn(f"turn {turn.id!r} has the time {turn.time.isoformat()!r}: naive and aware times do not mix")

    def _corpus(self, kept: Sequence[Kept]) -> Corpus:
        corpus = Corpus(self._dimension)
        sessions = {name: at for at, name in enumerate(dict.fromkeys(one.turn.session for one in kept))}
        speakers = {name: at for at, name in enumerate(dict.fromkeys(one.turn.speaker for one in kept))}
        for one in kept:
            vector, scale = one.vector or (None, 0.0)
            place = (sessions[one.turn.session], speakers[one.turn.speaker], instant(one.turn.time))
            corpus.append(IndexRow(document(one.turn), *place, vector, scale, events(one.facts)))
        return corpus

    def _question(self, query: Query, kept: Sequence[Kept]) -> IndexQuery | None:
        sessions = list(dict.fromkeys(one.turn.session for one in kept))
        speakers = list(dict.fromkeys(one.turn.speaker for one in kept))
        wanted = ((query.speaker, speakers), (query.session, sessions))
        if any(name is not None and name not in names for name, names in wanted):
            return None
        return IndexQuery(
            query.text,
            query.vector,
            frozenset(speakers.index(name) for name in query.names if name in speakers),
            tuple((microseconds(t.start), microseconds(t.end)) for t in query.times if t.start and t.end),
            query.when,
            None if query.before is None else microseconds(query.before),
            None if query.after is None else microseconds(query.after),
            None if query.speaker is None else speakers.index(query.speaker),
            None if query.session is None else sessions.index(query.session),
            frozenset(at for at, one in enumerate(kept) if one.turn.id in query.exclude),
            BM25 if query.bare else WEIGHTS,
        )

    def _settled(self, one: Kept) -> tuple[Fact, ...]:
        """Return the facts of a turn, each with what replaced it: the first later fact of its topic that does."""
        said = [
            (instant(other.turn.time), at, fact) for at, other in enumerate(self._kept.values()) for fact in other.facts
        ]
        said.sort(key=lambda item: (item[0], item[1], item[2].span[0]))
        order = [fact for _, _, fact in said]

        def winner(fact: Fact) -> str | None:
            topic = topic_of(fact)
            if topic is None or topic.name == ENDING:
                return None
            rivals = (topic, topic._replace(name=ENDING))
            later = order[order.index(fact) + 1 :]
            return next((new.id for new in later if topic_of(new) in rivals and replaces(new, fact)), None)

        return tuple(replace(fact, replaced_by=winner(fact)) for fact in one.facts)

    def _links(self, kept: Sequence[Kept], place: dict[str, int], seed: int) -> list[Link]:
        links = []
        here = self._settled(kept[seed])
        for at, one in enumerate(kept):
            if at == seed:
                continue
            there = self._settled(one)
            pairs = [(fact, other) for fact in here for other in there]
            if any(other.replaced_by == fact.id or fact.replaced_by == other.id for fact, other in pairs):
                links.append(Link(seed, at, "updates", UPDATE_WEIGHT))
            links += [Link(seed, at, "similar", weight) for weight in self._similar(kept, seed, at)]
        around = self._context(kept[seed].turn.id, 1, 1)
        beside = [place[turn.id] for turn in around if place[turn.id] != seed]
        return links + [Link(seed, at, "next", NEXT_WEIGHT) for at in beside]

    def _similar(self, kept: Sequence[Kept], seed: int, at: int) -> list[float]:
        later, earlier = sorted((seed, at), key=lambda n: (instant(kept[n].turn.time), n), reverse=True)
        return [
            cosine
            for fact in kept[later].fact_vectors
            for other, cosine in self._links_of(kept, later, fact)
            if other in kept[earlier].fact_vectors
        ]

    def _links_of(self, kept: Sequence[Kept], later: int, fact: str) -> list[tuple[str, float]]:
        """Return the facts that one is linked to: the most similar ones said before it."""
        at = (instant(kept[later].turn.time), later)
        vector = kept[later].fact_vectors[fact]
        near = [
            (min(1.0, float(other_vector @ vector)), other)
            for n, one in enumerate(kept)
            if (instant(one.turn.time), n) < at
            for other, other_vector in one.fact_vectors.items()
        ]
        near = [item for item in near if item[0] >= threshold(self._embedder)]
        near.sort(key=lambda item: -item[0])
        return [(other, cosine) for cosine, other in near[:PER_FACT]]


def _by_id(entry: Entry) -> dict[str, Vectors]:
    rows = {fact.id: unpack(data.tobytes(), scale) for fact, (data, scale) in zip(
        entry.facts, map(pack, entry.fact_vectors), strict=True
    )}  # fmt: skip
    return {fact_id: row for fact_id, row in rows.items() if np.any(row)}
