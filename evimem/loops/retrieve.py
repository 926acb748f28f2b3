"""Retrieval for one question: what to search for next, each search made once, each turn kept once as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..embedding import count_tokens
from ..flow import Flow
from ..judging.evidence import Analysis, Evidence
from ..protocols import Store
from ..query.analysis import hints, looked_for
from ..query.find_turns import QuestionVectors, query_of
from ..types.answer import MOST
from ..types.stored import LABEL, Roster, Scope, statements
from ..types.values import Fact, FactHit, Gap, Hints, Hit, Turn
from .evidence_view import tokens
from .task import Task

ENTITY_FACTS = 8  # newest facts that a look-up of an entity brings
BEHIND = 10_000  # ranks: of what no search found
NEIGHBOURS = 1  # turns before and after a shown one that are shown with it
_STRATEGIES = {
    True: ("dates and words of time", "date formats and what came before or after", "milestones around it"),
    False: ("keywords and names", "a different angle", "synonyms and what is implied"),
}
_ANGLES = {
    True: ("when date", "before after", "last next week month year"),
    False: ("", "about", "like favourite plan"),
}


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a loop: a text, one speaker's turns only where one is named, turns that tell a time first.

    With `holding`, only turns that have all of these keywords; `session`, only those of this session; `between`, only
    what happened, or was said where nothing is dated, at or after the first time and before the second.
    """

    text: str
    speaker: str | None = None
    when: bool = False
    holding: tuple[str, ...] = ()
    session: str | None = None
    between: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Arrived:
    """What one path brought: the ids of turns seen for the first time, best first, and those of their facts."""

    path: str
    turns: tuple[str, ...]
    facts: tuple[str, ...]


class Retrieval:
    """The evidence of one question, and the searches already made for it.

    Without the "index" (an ablation) turns are found by BM25 alone and have no facts; turns that name an entity count
    in place of facts.
    """

    def __init__(self, task: Task, analysis: Analysis, roster: Roster, *, indexed: bool) -> None:
        """Take the analysed question. A search keeps `deepest` turns, of which later iterations read further down."""
        self._store = task.store
        self._exclude = task.exclude
        self._scope = task.scope
        self._indexed = indexed
        self._analysis = analysis
        self._roster = roster
        self._asked_at = task.asked_at or roster.last
        self.deepest = 0
        self.vectors = QuestionVectors()
        self.filed: dict[str, tuple[Fact, ...]] = {}  # the labels of the turns that are evidence, by id
        self._searches: dict[Search, tuple[int, tuple[Hit, ...]]] = {}  # with how many were asked for
        self._evidence: dict[str, Evidence] = {}
        self._ranks: dict[str, float] = {}
        self._around: dict[str, tuple[Turn, ...]] = {}
        self._costs: dict[str, int] = {}

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Everything found, best first: by its best rank on any path, ties in order of arrival."""
        return tuple(sorted(self._evidence.values(), key=lambda item: self._ranks[item.turn.id]))

    @property
    def turns(self) -> dict[str, Turn]:
        """Every turn that was read, by id: the evidence, and what stands around it."""
        around = {turn.id: turn for turns in self._around.values() for turn in turns}
        return {item.turn.id: item.turn for item in self._evidence.values()} | around

    def search(self, wanted: Search, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Add the k best turns of a search; one that was made before costs nothing."""
        return self.keep((yield from self.ranked(wanted, max(k, self.deepest)))[:k], path, iteration)

    def ranked(self, wanted: Search, most: int) -> Flow[tuple[Hit, ...]]:
        """Return the best turns of a search, none of them as evidence; one that was made before costs nothing."""
        if self._searches.get(wanted, (0, ()))[0] < most:
            self._searches[wanted] = most, (yield from self._found(wanted, most))
        return self._searches[wanted][1]

    def further(
        self, wanted: Search, k: int, *, path: str, iteration: int, without: frozenset[str] = frozenset()
    ) -> Flow[Arrived]:
        """Add the k best turns of a search that are no evidence yet: none is returned twice (M3, G3).

        A backend that returns one all the same changes nothing: it brought nothing new.
        """
        found = yield from self._found(wanted, k, without.union(self._evidence))
        return self.keep(
            [hit for hit in found[:k] if hit.turn.id not in without and hit.turn.id not in self._evidence],
            path,
            iteration,
        )

    def expand(self, seeds: Sequence[str], limit: int | None, iteration: int) -> Arrived:
        """Add the best turns one edge away from the seeds; without a limit all of them, in order of time."""
        hits = self._store.expand(seeds, MOST if limit is None else limit, self._scope)
        if limit is None:
            hits = tuple(sorted(hits, key=lambda hit: hit.turn.time))
        return self.keep(hits, "edge", iteration)

    def look_up(self, names: Sequence[str], iteration: int) -> Arrived:
        """Add the turns of the newest facts about an entity, under its own name before others of it."""
        facts: list[Fact] = []
        for name in names:
            facts += self._store.about(name, ENTITY_FACTS, self._scope).facts
        ids = tuple(dict.fromkeys(fact.turn_id for fact in facts[:ENTITY_FACTS]))
        new = [turn_id for turn_id in ids if turn_id not in self._evidence]
        return self.keep(loaded(self._store, new), "about", iteration)

    def put_off(self, turn_ids: Iterable[str], iteration: int) -> None:
        """Have turns that were found be those of a later iteration, as where they were not shown."""
        for turn_id in turn_ids:
            self._evidence[turn_id] = replace(self._evidence[turn_id], iteration=iteration)

    def has(self, turn_id: str) -> bool:
        """Whether a turn is evidence."""
        return turn_id in self._evidence

    def adopt(self, turns: Sequence[Turn], iteration: int) -> Arrived:
        """Add turns that were seen around the evidence."""
        return self.keep([Hit(turn, (), 0.0, path="around") for turn in turns], "around", iteration)

    def around(self, turn_ids: Iterable[str]) -> dict[str, tuple[Turn, ...]]:
        """Return the dialogue around turns, each asked for once."""
        wanted = tuple(turn_ids)
        unknown = [turn_id for turn_id in wanted if turn_id not in self._around]
        if unknown:
            found = self._store.contexts(unknown, NEIGHBOURS, NEIGHBOURS)
            kept = [tuple(turn for turn in around if self.admits(turn)) for around in found]
            self._around.update(zip(unknown, kept, strict=True))
        return {turn_id: self._around[turn_id] for turn_id in wanted}

    def cost(self, item: Evidence) -> int:
        """Return how many tokens a turn takes in a view, counted once."""
        if item.turn.id not in self._costs:
            self._costs[item.turn.id] = tokens(item)
        return self._costs[item.turn.id]

    def admits(self, turn: Turn) -> bool:
        """Whether a turn may be evidence."""
        instructs = turn.role == "system" and self._scope.role is None  # found where it is asked for, as by a search
        return turn.id not in self._exclude and self._scope.admits(turn) and not instructs

    def _found(self, wanted: Search, k: int, without: frozenset[str] = frozenset()) -> Flow[tuple[Hit, ...]]:
        text, scope = looked_for(wanted.text), _of_session(self._scope.of_speaker(wanted.speaker), wanted.session)
        if scope is None:
            return ()
        after, before = wanted.between or (None, None)
        within = scope.query(text, k, self._exclude | without, after=after, before=before, holding=wanted.holding)
        if not self._indexed:
            return self._store.recall(replace(within, bare=True))
        vector, hinted = (yield from self.vectors.of(text)), self._hints(text)
        return self._store.recall(query_of(text, k, hinted, within, vector, when=wanted.when))

    def _hints(self, text: str) -> Hints:
        if text == self._analysis.question:
            return self._analysis.hints
        return hints(text, self._roster.speakers, self._asked_at, self._roster.date_order)

    def keep(self, hits: Sequence[Hit], path: str, iteration: int) -> Arrived:
        """Add these turns; those that are evidence already keep where they came from."""
        hits = [hit for hit in hits if self.admits(hit.turn)]
        new = [hit for hit in hits if hit.turn.id not in self._evidence]
        for hit in new:
            facts = statements(hit.facts) if self._indexed else ()
            self.filed[hit.turn.id] = tuple(fact for fact in hit.facts if fact.kind == LABEL)
            reached = hit.path if path == "edge" else path
            self._evidence[hit.turn.id] = Evidence(hit.turn, facts, hit.score, reached, iteration, hit.parts, hit.span)
        self._rank(hits, path)
        brought = tuple(fact.id for hit in new for fact in self._evidence[hit.turn.id].facts)
        return Arrived(path, tuple(hit.turn.id for hit in new), brought)

    def _rank(self, hits: Sequence[Hit], path: str) -> None:
        """Note the best rank of each turn; edges and look-ups come behind every search."""
        if path == "keyword":  # all of them for the same question, so that their scores compare
            self._ranks.update((hit.turn.id, -hit.score) for hit in hits)
            return
        behind = 0 if path in {"anchor", "refined", "further"} else BEHIND
        for rank, hit in enumerate(hits):
            self._ranks[hit.turn.id] = min(rank + behind, self._ranks.get(hit.turn.id, rank + behind))
            known = self._evidence[hit.turn.id]
            if path == "anchor" and known.path != "anchor":
                self._evidence[hit.turn.id] = replace(known, score=hit.score, parts=hit.parts, span=hit.span)


def _of_session(scope: Scope | None, session: str | None) -> Scope | None:
    """Return what of a scope lies in a session; all of it for None, and None where it is of another session."""
    if scope is None or (session is not None and scope.session not in (None, session)):
        return None
    return scope if session is None else replace(scope, session=session)


def loaded(store: Store, turn_ids: Sequence[str]) -> tuple[Hit, ...]:
    """Return turns with their facts."""
    facts: dict[str, tuple[Fact, ...]] = {}
    for fact in store.facts(turn_ids):
        facts[fact.turn_id] = (*facts.get(fact.turn_id, ()), fact)
    return tuple(Hit(turn, facts.get(turn.id, ()), 0.0, path="about") for turn in store.read(turn_ids))


def strategy(*, temporal: bool, iteration: int) -> str:
    """Return the name of the strategy for an iteration, the last one for all that follow."""
    return _STRATEGIES[temporal][min(iteration, 3) - 1]


def fresh(query: str, earlier: Iterable[str]) -> bool:
    """Whether a query says something and was not asked before, whatever its case and spacing."""
    words = _normal(query)
    return bool(words) and all(words != _normal(other) for other in earlier)


def compose(analysis: Analysis, gaps: Sequence[Gap], earlier: Sequence[str], iteration: int) -> str:
    """Return a query from the worst gap whose query is new, or an empty one when every gap was already tried."""
    for gap in (*gaps, Gap("none", "", "")):
        query = _for_gap(analysis, gap, iteration)
        if fresh(query, earlier):
            return query
    return ""


def _for_gap(analysis: Analysis, gap: Gap, iteration: int) -> str:
    angle = _ANGLES[analysis.temporal][min(iteration, 3) - 1]
    names = " ".join(analysis.entities)
    terms = " ".join(analysis.keywords)
    if gap.kind in {"entity", "attribution"}:
        return _joined(gap.about, terms)
    if gap.kind in {"time", "granularity"}:
        return _joined(names, terms, "when date")
    if gap.kind in {"attribute", "conflict"}:
        return _joined(gap.about or terms, angle)
    return _joined(names, terms, angle)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _normal(query: str) -> str:
    return " ".join(query.casefold().split())


class TupleRetrieval(Retrieval):
    """Evidence whose facts are those that were found of each turn, and no others."""

    def nearest(self, text: str, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Add the k facts nearest to a text; return the turns seen for the first time, and all k facts."""
        query = self._scope.query(text, k, self._exclude, vector=(yield from self.vectors.of(text)))
        return self._keep_facts(self._store.nearest_facts(query), path, iteration)

    def linked(self, fact_ids: Sequence[str], iteration: int) -> Arrived:
        """Add every fact one edge away from these."""
        return self._keep_facts(self._store.linked_facts(fact_ids, self._scope), "edge", iteration)

    def cost(self, item: Evidence) -> int:
        """Return how many tokens the facts found of a turn take."""
        return sum(count_tokens(fact.text) + LINE_TOKENS for fact in item.facts)

    def count(self) -> int:
        """Return how many facts were found."""
        return sum(len(item.facts) for item in self._evidence.values())

    def _keep_facts(self, hits: Sequence[FactHit], path: str, iteration: int) -> Arrived:
        """Add facts in the order of their arrival; a turn is as new as the newest of its facts."""
        turns, facts = dict[str, None](), list[str]()
        for hit in (one for one in hits if self.admits(one.turn)):
            facts.append(hit.fact.id)
            known = self._evidence.get(hit.turn.id)
            before = () if known is None else known.facts
            if hit.fact in before:
                continue
            if known is None:
                turns[hit.turn.id] = None
                self._ranks[hit.turn.id] = len(self._ranks)
            reached = known.path if known else path
            self._evidence[hit.turn.id] = Evidence(
                hit.turn, (*before, hit.fact), hit.score, reached, iteration, hit.parts
            )
        return Arrived(path, tuple(turns), tuple(facts))


LINE_TOKENS = 12  # of a fact's label and date
