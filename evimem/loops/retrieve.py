"""Retrieval for one question: searches cached, evidence kept once a turn, and nothing ever dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..flow import Flow, about, contexts, embed, expand, facts_of, read, recall
from ..judging.clamps import most_needed, needed
from ..judging.evidence import EntityCount, Evidence
from ..query.analysis import hints
from ..text.names import is_about, names
from ..types.stored import Roster
from ..types.values import Hit, Query, Turn
from .select_evidence import tokens

ENTITY_FACTS = 8
NEIGHBOURS = 1


@dataclass(frozen=True, slots=True)
class Look:
    """What to search for: a text, only one speaker's turns where one is given, those that tell a time first."""

    text: str
    speaker: str | None = None
    when: bool = False


@dataclass(frozen=True, slots=True)
class Arrived:
    """What one path brought: the turns seen for the first time, best first, and their facts."""

    path: str
    turns: tuple[str, ...]
    facts: tuple[str, ...]


class Gathering:
    """The evidence of one question, and the searches already made for it.

    Unless it is `indexed`, turns are all there is: found by BM25, with no facts, and counted as facts are.
    """

    def __init__(self, roster: Roster, asked_at: datetime | None, most: int, *, indexed: bool = True) -> None:
        self._indexed = indexed
        self._roster = roster
        self._asked_at = asked_at
        self._most = most
        self._vectors: dict[str, Any] = {}
        self._searches: dict[Look, tuple[Hit, ...]] = {}
        self._evidence: dict[str, Evidence] = {}
        self._ranks: dict[str, int] = {}
        self._around: dict[str, tuple[Turn, ...]] = {}
        self._totals: dict[str, int] = {}
        self._costs: dict[str, int] = {}

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Everything found, best first: by its best rank on any path, ties in order of arrival."""
        return tuple(sorted(self._evidence.values(), key=lambda item: self._ranks[item.turn.id]))

    def search(self, look: Look, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Add the k best turns for a look; one that was made before costs nothing."""
        if look not in self._searches:
            self._searches[look] = yield from self._recall(look)
        return (yield from self._keep(self._searches[look][:k], path, iteration))

    def hop(self, seeds: Sequence[str], limit: int, iteration: int) -> Flow[Arrived]:
        """Add the best turns one edge away from the seeds."""
        hits = yield from expand(seeds, limit)
        return (yield from self._keep(hits, "edge", iteration))

    def know(self, entity: str, iteration: int) -> Flow[Arrived]:
        """Add the turns of the newest facts about an entity."""
        known = yield from about(entity, ENTITY_FACTS)
        self._totals[entity] = known.total
        ids = tuple(dict.fromkeys(fact.turn_id for fact in known.facts))
        turns = yield from read([turn_id for turn_id in ids if turn_id not in self._evidence])
        hits = [Hit(turn, (), 0.0, path="about") for turn in turns]
        return (yield from self._keep(hits, "about", iteration))

    def counts(self, entities: Iterable[str], delta: int | str) -> Flow[dict[str, EntityCount]]:
        """Return how many facts about each entity were found, how many are needed and how many there are.

        How many the memory holds is asked for only while too few were found; else it is at least what was found.
        """
        counts: dict[str, EntityCount] = {}
        for entity in entities:
            found = self._found_about(entity)
            if entity not in self._totals and found < most_needed(delta):
                self._totals[entity] = (yield from about(entity, 1)).total
            total = max(found, self._totals.get(entity, 0))
            counts[entity] = EntityCount(found, needed(total, delta), total)
        return counts

    def around(self, turn_ids: Iterable[str]) -> Flow[dict[str, tuple[Turn, ...]]]:
        """Return the dialogue around turns, each asked for once."""
        wanted = tuple(turn_ids)
        unknown = [turn_id for turn_id in wanted if turn_id not in self._around]
        if unknown:
            found = yield from contexts(unknown, NEIGHBOURS, NEIGHBOURS)
            self._around.update(zip(unknown, found, strict=True))
        return {turn_id: self._around[turn_id] for turn_id in wanted}

    def cost(self, item: Evidence) -> int:
        """Return what a turn costs in a view, counted once."""
        if item.turn.id not in self._costs:
            self._costs[item.turn.id] = tokens(item)
        return self._costs[item.turn.id]

    def _found_about(self, entity: str) -> int:
        """Return how many facts about an entity were found, or turns that name it where there are no facts."""
        evidence = self._evidence.values()
        if not self._indexed:
            return sum(names(f"{item.turn.speaker}: {item.turn.text}", entity) for item in evidence)
        return len({fact.id for e in evidence for fact in e.facts if is_about(fact, e.turn.speaker, entity)})

    def _recall(self, look: Look) -> Flow[tuple[Hit, ...]]:
        text = look.text
        if not self._indexed:
            return (yield from recall(Query(text, self._most, speaker=look.speaker, bare=True)))
        if text not in self._vectors:
            self._vectors[text] = (yield from embed([text]))[0]
        hinted = hints(text, self._roster.speakers, self._asked_at)
        query = Query(
            text,
            self._most,
            vector=self._vectors[text],
            speaker=look.speaker,
            names=hinted.names,
            times=hinted.times,
            when=look.when or hinted.when,
        )
        return (yield from recall(query))

    def _keep(self, hits: Sequence[Hit], path: str, iteration: int) -> Flow[Arrived]:
        new = [hit for hit in hits if hit.turn.id not in self._evidence]
        facts = (yield from _facts_by_turn([hit.turn.id for hit in new])) if self._indexed else {}
        for hit in new:
            found = facts.get(hit.turn.id, ())
            reached = hit.path if path == "edge" else path
            self._evidence[hit.turn.id] = Evidence(hit.turn, found, hit.score, reached, iteration, hit.parts)
        self._rank(hits, path)
        brought = tuple(fact.id for hit in new for fact in facts.get(hit.turn.id, ()))
        return Arrived(path, tuple(hit.turn.id for hit in new), brought)

    def _rank(self, hits: Sequence[Hit], path: str) -> None:
        behind = 0 if path in {"anchor", "refined"} else self._most
        for rank, hit in enumerate(hits):
            self._ranks[hit.turn.id] = min(rank + behind, self._ranks.get(hit.turn.id, rank + behind))
            known = self._evidence[hit.turn.id]
            if path == "anchor" and known.path != "anchor":
                self._evidence[hit.turn.id] = replace(known, score=hit.score, parts=hit.parts)


def _facts_by_turn(turn_ids: Sequence[str]) -> Flow[dict[str, tuple[Any, ...]]]:
    found: dict[str, tuple[Any, ...]] = {}
    if turn_ids:
        for fact in (yield from facts_of(turn_ids)):
            found[fact.turn_id] = (*found.get(fact.turn_id, ()), fact)
    return found
