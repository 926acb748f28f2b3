"""A store of plain Python objects: the reference that the SQLite store is tested against. Nothing is durable."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np

from evimem.edges.edge_table import rank_targets, similarity_threshold
from evimem.errors import InvalidTurn, TurnConflict, UnknownTurn
from evimem.index.document import passages
from evimem.index.prepared_query import match_keywords, prepare
from evimem.raw.turn_log import hash_turn
from evimem.store.find_facts import passes_filter, score_parts
from evimem.text.names import is_fact_about
from evimem.types.results import AddReport, EraseReport, TurnOutcome, TurnStatus
from evimem.types.stored import (
    ANY_FACT,
    EVERYTHING,
    MAX_COUNTED_TURNS,
    About,
    Entry,
    FactFilter,
    Holding,
    Job,
    JobKind,
    Keyword,
    Listing,
    MemoryOverview,
    Scope,
    Settled,
    statements,
)
from evimem.types.values import Fact, FactHit, Hit, Query, Turn, Where, instant, is_discarded
from tests.reference.exhaustive_ranking import rank_all
from tests.reference.from_scratch import (
    QueuedJob,
    StoredTurn,
    corpus_of,
    dialogue_around,
    due_now,
    facts_of,
    hit_of,
    links_from,
    listed,
    resolved,
    settle_turn,
    stored_turn,
    terms_of,
    waiting_for,
)


class MemoryStore:
    """A `Store` that keeps turns in a dict, in order of arrival. Every search derives and scores everything."""

    def __init__(self, embedder: str, dimension: int, *, clock: Callable[[], float] = time.time) -> None:
        self._embedder = embedder
        self._dimension = dimension
        self._clock = clock
        self._kept: dict[str, StoredTurn] = {}
        self._forgotten: set[str] = set()
        self._settings: dict[str, str] = {}

    def known(self, turns: Sequence[Turn]) -> tuple[bool, ...]:
        """Say which of these turns are stored with the same content."""
        return tuple(turn.id in self._kept and hash_turn(self._kept[turn.id].turn) == hash_turn(turn) for turn in turns)

    def write(
        self, entries: Sequence[Entry], *, strict: bool = False, replace: bool = False, gone: Sequence[str] = ()
    ) -> AddReport:
        """Store a batch; with `strict`, whole or not at all."""
        before, forgotten = dict(self._kept), set(self._forgotten)
        if replace:
            last = {entry.turn.id: entry for entry in entries}
            entries = [last[entry.turn.id] for entry in entries]
        stale = self._drop_stale(entries) if replace else frozenset()
        left = [one for one in gone if self._kept.pop(one, None)]
        self._forgotten.update(left)
        try:
            statuses = [self._write_one(entry, stale, strict=strict) for entry in entries]
        except (TurnConflict, InvalidTurn):
            self._kept, self._forgotten = before, forgotten
            raise
        new = ("added", "readded", "replaced")
        written = [one for one, status in zip(entries, statuses, strict=True) if status.outcome in new]
        return AddReport.of(statuses, sum(len(entry.facts) for entry in written), len(left))

    def recall(self, query: Query, *, facts: bool = True) -> tuple[Hit, ...]:
        """Return the k best turns, by scoring each of them."""
        kept = self._all()
        question = resolved(query, kept)
        if question is None:
            return ()
        corpus = corpus_of(kept, self._dimension)
        found = rank_all(question, corpus, query.k)
        return tuple(hit_of(kept, corpus, one) for one in found)

    def recall_facts(self, query: Query, only: FactFilter = ANY_FACT) -> tuple[FactHit, ...]:
        """Return the k best facts, by scoring each of every turn that the query lets through."""
        kept = self._all()
        question = resolved(query, kept)
        if question is None:
            return ()
        corpus = corpus_of(kept, self._dimension)
        asked = prepare(question, corpus)
        found = []
        for one in sorted(rank_all(question, corpus, len(kept)), key=lambda one: one.turn):
            stored = kept[one.turn - 1]
            for fact in facts_of(kept, stored):
                vector = stored.fact_vectors.get(fact.id)
                cosine = 0.0 if vector is None or query.vector is None else float(vector @ query.vector)
                parts = score_parts(asked, fact, cosine, one.score)
                earlier = tuple(old for old in self.facts(list(self._kept)) if old.replaced_by == fact.id)
                if passes_filter(fact, stored.turn, only):
                    found.append(FactHit(fact, stored.turn, sum(parts.values()), parts, earlier))
        return tuple(sorted(found, key=lambda hit: -hit.score)[: query.k])

    def nearest_facts(self, query: Query) -> tuple[FactHit, ...]:
        """Return the k facts of the nearest vectors, by comparing all of them."""
        kept = self._all()
        question = resolved(query, kept)
        if question is None or query.vector is None:
            return ()
        corpus = corpus_of(kept, self._dimension)
        allowed = {one.turn for one in rank_all(question, corpus, len(kept))}
        found = [
            FactHit(fact, one.turn, cosine, {"meaning": cosine})
            for place, one in enumerate(kept, 1)
            for fact in facts_of(kept, one)
            if place in allowed and fact.id in one.fact_vectors
            for cosine in [float(one.fact_vectors[fact.id] @ query.vector)]
        ]
        return tuple(sorted(found, key=lambda hit: -hit.score)[: query.k])

    def linked_facts(self, fact_ids: Sequence[str], scope: Scope = EVERYTHING) -> tuple[FactHit, ...]:
        """Return the facts of the same turns and those alike, by comparing each with each."""
        kept = self._all()
        stated = [(one, fact) for one in kept for fact in facts_of(kept, one)]
        seeds = [(one, fact) for one, fact in stated if fact.id in fact_ids]
        none = np.zeros(self._dimension, np.float32)
        found = []
        for one, fact in stated:
            vector = one.fact_vectors.get(fact.id, none)
            cosines = [
                1.0 if seed is one else min(1.0, float(vector @ seed.fact_vectors.get(other.id, none)))
                for seed, other in seeds
            ]
            weight = max(cosines, default=0.0)
            if fact.id not in fact_ids and weight >= similarity_threshold(self._embedder) and scope.admits(one.turn):
                found.append(FactHit(fact, one.turn, weight, {"edge": weight}))
        return tuple(found)

    def expand(self, turn_ids: Sequence[str], limit: int, scope: Scope = EVERYTHING) -> tuple[Hit, ...]:
        """Return up to `limit` turns one edge away."""
        kept = self._all()
        place = {one.turn.id: position for position, one in enumerate(kept)}
        seeds = [place[turn.id] for turn in self.read(turn_ids)]
        links = [link for seed in dict.fromkeys(seeds) for link in links_from(kept, seed, self._embedder)]
        links = [link for link in links if scope.admits(kept[link.target].turn)]
        return tuple(
            Hit(kept[link.target].turn, facts_of(kept, kept[link.target]), score, {"edge": score}, f"edge:{link.kind}")
            for link, score in rank_targets(seeds, links, limit)
        )

    def read(self, turn_ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return these turns. Raise UnknownTurn."""
        for turn_id in turn_ids:
            if turn_id not in self._kept:
                raise UnknownTurn(turn_id)
        return tuple(self._kept[turn_id].turn for turn_id in turn_ids)

    def find(self, turn_ids: Sequence[str]) -> tuple[Turn | None, ...]:
        """Return these turns, None for each that is not there."""
        return tuple(self._kept[turn_id].turn if turn_id in self._kept else None for turn_id in turn_ids)

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return the turns around each of these, in dialogue order. Raise UnknownTurn."""
        return tuple(dialogue_around(self._all(), turn, before, after) for turn in self.read(turn_ids))

    def order(self, turn_ids: Sequence[str]) -> tuple[str, ...]:
        """Return these ids in dialogue order. Raise UnknownTurn."""
        wanted = {turn.id for turn in self.read(turn_ids)}
        came = (one.turn for one in self._all() if one.turn.id in wanted)
        return tuple(turn.id for turn in sorted(came, key=lambda turn: instant(turn.time)))

    def turns(self, listing: Listing | None = None) -> Iterator[Turn]:
        """Yield the turns of a listing in dialogue order; without one, every turn in order of arrival."""
        turns = [one.turn for one in self._all()]
        return iter(turns if listing is None else listed(turns, listing))

    def facts(self, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of these turns. Raise UnknownTurn."""
        self.read(turn_ids)
        return tuple(fact for turn_id in turn_ids for fact in facts_of(self._all(), self._kept[turn_id]))

    def about(self, entity: str, limit: int, scope: Scope = EVERYTHING) -> About:
        """Return the facts about an entity, newest first."""
        found = [
            fact
            for one in reversed(self._all())
            if scope.admits(one.turn) and not is_discarded(one.turn)
            for fact in statements(facts_of(self._all(), one))
            if is_fact_about(fact, one.turn.speaker, entity)
        ]
        return About(entity, len(found), tuple(found[:limit]))

    def keywords(self, words: Sequence[str], scope: Scope = EVERYTHING) -> tuple[Keyword, ...]:
        """Return the keywords that words match, by the terms of every turn."""
        held = [terms_of(one.turn) for one in self._all() if scope.admits(one.turn)]
        return match_keywords(words, lambda term: sum(term in found for found in held))

    def holding(self, terms: Collection[str], limit: int, scope: Scope = EVERYTHING) -> Holding:
        """Return the turns that have all of these terms."""
        turns = [one.turn for one in self._all() if scope.admits(one.turn)]
        ids = [turn.id for turn in turns if terms_of(turn).issuperset(terms)]
        return Holding(len(ids), tuple(ids[max(0, len(ids) - limit) :]))

    def mentions(self, terms: Collection[str], limit: int, most: int, scope: Scope = EVERYTHING) -> tuple[Turn, ...]:
        """Return the newest turns that have each of these terms, unless it is common."""
        held = [self.holding([term], limit, scope) for term in terms]
        near = {turn_id for one in held if one.total <= most for turn_id in one.turn_ids}
        return tuple(one.turn for one in self._all() if one.turn.id in near)

    def roster(self, *, allow_cached: bool = False) -> MemoryOverview:
        """Return the speakers and the time of the first and last turn."""
        del allow_cached  # nothing is far away
        turns = sorted((one.turn for one in self._all()), key=lambda turn: instant(turn.time))
        speakers = tuple(dict.fromkeys(one.turn.speaker for one in self._all()))
        first, last = (turns[0].time, turns[-1].time) if turns else (None, None)
        return MemoryOverview(speakers, first, last, min(len(turns), MAX_COUNTED_TURNS))

    def due(self, kind: JobKind, limit: int, reason: str | None = None) -> tuple[Job, ...]:
        """Return queued jobs of a kind that may be tried now or, with a reason, that wait for it."""
        kept = self._all()
        ready = due_now(kept, kind, self._clock()) if reason is None else waiting_for(kept, kind, reason)
        return tuple(
            Job(one.turn, facts_of(kept, one), one.jobs[kind].attempts, len(passages(one.turn.text)))
            for one in ready[:limit]
        )

    def complete_jobs(self, kind: JobKind, entries: Sequence[Entry]) -> Settled:
        """Store the results of jobs and complete them: of all."""
        for entry in entries:
            kept = self._kept.get(entry.turn.id)
            if kept is not None and hash_turn(kept.turn) == hash_turn(entry.turn):
                settle_turn(kept, kind, entry)
        return Settled(len(entries))

    def hold(self, kind: JobKind, turn_ids: Sequence[str], reason: str, seconds: float) -> None:
        """Offer no jobs of these turns for a while."""
        for turn_id in turn_ids:
            if job := self._job(turn_id, kind):
                job.due, job.reason = self._clock() + seconds, reason

    def postpone(self, kind: JobKind, failures: Mapping[str, tuple[str, float | None]]) -> None:
        """Count failures."""
        for turn_id, (error, seconds) in failures.items():
            if job := self._job(turn_id, kind):
                job.due = None if seconds is None else self._clock() + seconds
                job.attempts, job.reason = job.attempts + 1, error

    def setting(self, name: str) -> str | None:
        """Return the text kept under a name."""
        return self._settings.get(name)

    def keep_setting(self, name: str, value: str | None) -> None:
        """Keep a text under a name; None deletes it."""
        self._settings.pop(name, None)
        if value is not None:
            self._settings[name] = value

    def forget(self, turn_ids: Sequence[str]) -> EraseReport:
        """Erase turns; derived data is recomputed at each call."""
        there = [one for one in dict.fromkeys(turn_ids) if one in self._kept or one not in self._forgotten]
        self.read(there)
        gone = [self._kept.pop(turn_id) for turn_id in there]
        self._forgotten.update(one.turn.id for one in gone)
        if not self._kept:
            self._settings.clear()
        return EraseReport("erased", len(gone), sum(len(one.facts) for one in gone))

    def forget_where(
        self,
        *,
        session: str | None = None,
        before: datetime | None = None,
        speaker: str | None = None,
        where: Where | None = None,
    ) -> EraseReport:
        """Erase the turns that meet every condition; every turn where nothing is given."""
        selected = listed([one.turn for one in self._all()], Listing(session, speaker, before=before, where=where))
        return self.forget([turn.id for turn in selected])

    def _all(self) -> list[StoredTurn]:
        return list(self._kept.values())

    def _job(self, turn_id: str, kind: JobKind) -> QueuedJob | None:
        kept = self._kept.get(turn_id)
        return None if kept is None else kept.jobs.get(kind)

    def _drop_stale(self, entries: Sequence[Entry]) -> frozenset[str]:
        """Erase the turns that others of the same id replace; return their ids."""
        other = next(iter(self._kept.values()), None)
        turns = [entry.turn for entry in entries if entry.turn.id in self._kept]
        changed = [turn for turn in turns if hash_turn(turn) != hash_turn(self._kept[turn.id].turn)]
        stale = frozenset(turn.id for turn in changed if _clock_error(turn, other) is None)
        for turn_id in stale:
            del self._kept[turn_id]
        self._forgotten |= stale
        return stale

    def _write_one(self, entry: Entry, stale: frozenset[str], *, strict: bool) -> TurnStatus:
        turn, kept = entry.turn, self._kept.get(entry.turn.id)
        if kept is not None and hash_turn(kept.turn) == hash_turn(turn):
            return TurnStatus(turn.id, "exists")
        error = TurnConflict(turn.id) if kept is not None else _clock_error(turn, next(iter(self._kept.values()), None))
        if error is not None:
            if strict:
                raise error
            return TurnStatus(turn.id, "refused", str(error))
        new = self._kept[turn.id] = stored_turn(entry)
        outcome: TurnOutcome = "readded" if turn.id in self._forgotten else "added"
        return TurnStatus(turn.id, "replaced" if turn.id in stale else outcome, None, tuple(sorted(new.jobs)))


def _clock_error(turn: Turn, other: StoredTurn | None) -> InvalidTurn | None:
    if other is None or (other.turn.time.tzinfo is None) == (turn.time.tzinfo is None):
        return None
    return InvalidTurn(f"turn {turn.id!r} has the time {turn.time.isoformat()!r}: naive and aware times do not mix")
