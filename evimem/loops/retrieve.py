"""Retrieve evidence for one question: each search is made once, each turn kept once, and both are recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from ..embedding.static_embedder import count_tokens
from ..flow import Flow
from ..judging.evidence import Ablation, Analysis, Evidence, Variant
from ..judging.judge import Judge
from ..protocols import Store
from ..query.analysis import find_hints, looked_for
from ..query.find_turns import RERANK_PART, QuestionVectors, query_of, read_remaining, rerank_hits, user_among
from ..types.results import MAX_COUNT, Answer, Budget
from ..types.stored import EVERYTHING, LABEL, MemoryOverview, Scope, statements
from ..types.trace import RERANK, Acted, Event, Found, Queried
from ..types.values import Fact, FactHit, Gap, Hit, Turn, is_discarded
from .evidence_view import count_turn_tokens

MAX_ENTITY_FACTS = 8  # newest facts that a look-up of an entity brings
UNFOUND_RANK = 10_000  # rank of a turn that no search found
SHOWN_NEIGHBOUR_TURNS = 1  # turns before and after a shown one that are shown with it
_STRATEGY_NAMES = {
    True: ("dates and words of time", "date formats and what came before or after", "milestones around it"),
    False: ("keywords and names", "a different angle", "synonyms and what is implied"),
}
_GAP_WORDS = {
    True: ("when date", "before after", "last next week month year"),
    False: ("", "about", "like favourite plan"),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One question put to a loop: its judge, its budget and its date.

    `store` is the memory, called plainly.
    `asked_at` None means the time of the newest turn. `clock` counts seconds. `on_event` is called with each event
    of the trace as it is recorded. `earlier` are the events of a failed attempt, after which the trace goes on. Turns
    whose ids are in `exclude`, or that `scope` does not admit, are never evidence. `unsupported` are parts that
    the store has not, whatever the loop. `quoting` is the judge without a model that quotes where a model finds no
    answer; None where `judge` is none of a model. `rerank_depth` hits of each search are reranked, 0 for none. `move`
    moves the vector of a request towards statements that bear on it, shape (dimension,); None for another embedder's.
    """

    question: str
    judge: Judge
    store: Store = field(compare=False)
    asked_at: datetime | None = None
    budget: Budget = field(default_factory=Budget)
    exclude: frozenset[str] = frozenset()
    scope: Scope = EVERYTHING
    clock: Callable[[], float] = field(default=time.monotonic, compare=False)
    on_event: Callable[[Event], None] | None = field(default=None, compare=False)
    earlier: tuple[Event, ...] = ()
    unsupported: frozenset[Ablation] = frozenset()
    quoting: Judge | None = None
    rerank_depth: int = 0
    move: Callable[[Any], Any] | None = field(default=None, compare=False)

    @property
    def lacking(self) -> frozenset[Ablation]:
        """The earlier name of `unsupported`, for a release."""
        return self.unsupported


class Loop(Protocol):
    """How a question is answered: a flow from a task to an answer, as `ask(loop=)` takes it, by name or as it is.

    A flow is a generator that yields requests to a model or an embedder (see `evimem.flow`) and never blocks
    itself, so that both doors, a replay and a `Searcher` in place of the memory run it unchanged. `evimem.loops` has
    the parts that the shipped ones are made of: `as_loop` gives a flow the `Session` of its question, which searches,
    shows, judges and records, and `conclude` makes an answer whose citations were shown. A loop that asks a model
    (`evimem.flow.complete`) where there is none is ended with NoModel.
    """

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer the question of a task; a ModelError that ends it carries the answer so far in `partial`."""
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a loop: a text, one speaker's turns only where one is named, turns that tell a time first.

    With `holding`, only turns that have all of these keywords; `session`, only those of this session; `between`, only
    turns with events, or said where nothing is dated, at or after the first time and before the second.
    """

    text: str
    speaker: str | None = None
    when: bool = False
    holding: tuple[str, ...] = ()
    session: str | None = None
    between: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Arrived:
    """The new turns of one path: their ids, best first, and those of their facts."""

    path: str
    turns: tuple[str, ...]
    facts: tuple[str, ...]


class Searches:
    """The searches of one question, each made once. A search keeps `depth_limit` turns, to be read further."""

    def __init__(self, task: Task, analysis: Analysis, roster: MemoryOverview, *, indexed: bool) -> None:
        self._task = task
        self._analysis = analysis
        self._roster = roster
        self._indexed = indexed
        self.depth_limit = 0
        self.vectors = QuestionVectors()
        self._reranks: tuple[dict[str, Any], ...] = ()  # since the last search that was recorded
        self._made: dict[Search, tuple[int, tuple[Hit, ...]]] = {}  # with how many were asked for

    def rank(self, wanted: Search, most: int) -> Flow[tuple[Hit, ...]]:
        """Return the best turns of a search; one that was made before costs nothing."""
        most = max(most, self.depth_limit)
        if self._made.get(wanted, (0, ()))[0] < most:
            self._made[wanted] = most, (yield from self.found(wanted, most))
        return self._made[wanted][1]

    def found(self, wanted: Search, k: int, without: frozenset[str] = frozenset()) -> Flow[tuple[Hit, ...]]:
        """Return the k best turns, none of those `without` which it is to do."""
        task, text = self._task, looked_for(wanted.text)
        scope = task.scope.of_speaker(wanted.speaker)
        if scope is None or (wanted.session is not None and scope.session not in (None, wanted.session)):
            return ()
        scope = scope if wanted.session is None else replace(scope, session=wanted.session)
        after, before = wanted.between or (None, None)
        within = scope.query(text, k, task.exclude | without, after=after, before=before, holding=wanted.holding)
        within = replace(within, k=max(k, task.rerank_depth))
        if not self._indexed:
            return (yield from self._rerank(text, k, task.store.recall(replace(within, bare=True))))
        vector, hinted = (yield from self.vectors.vector_of(text)), self._analysis.hints
        moved = task.move if task.judge.uses_model and wanted.text == task.question else None
        if moved is not None and vector is not None and user_among(self._roster.speakers) is not None:
            vector = moved(vector)
        if text != self._analysis.question:
            asked_at = task.asked_at or self._roster.last
            hinted = find_hints(text, self._roster.speakers, asked_at, self._roster.date_order)
        query = query_of(text, within.k, hinted, within, vector, when=wanted.when)
        return (yield from self._rerank(text, k, task.store.recall(query)))

    def take_events(self, iteration: int) -> list[Event]:
        """Return the events of the searches since the last call: those without a vector, and those reranked."""
        found: list[Event] = [
            Acted(iteration, "by words", "the embedder gave no vector", {"query": text})
            for text in self.vectors.by_words
        ]
        for asked in self._reranks:
            why = "the reranker failed" if asked["order"] is None else "the first hits are ordered anew"
            found.append(Acted(iteration, RERANK, why, asked))
        self.vectors.by_words = self._reranks = ()
        return found

    def _rerank(self, text: str, k: int, hits: tuple[Hit, ...]) -> Flow[tuple[Hit, ...]]:
        """Return the k best hits in the order of the reranker, and note its request for the trace."""
        depth = self._task.rerank_depth
        if min(depth, len(hits)) < 2:
            return hits[:k]
        ordered = yield from rerank_hits(text, hits, depth)
        places = {hit.turn.id: place for place, hit in enumerate(hits)}
        failed = RERANK_PART not in ordered[0].parts
        order = None if failed else [places[hit.turn.id] for hit in ordered[:depth]]
        self._reranks += ({"query": text, "depth": depth, "order": order},)
        return ordered[:k]


class Dialogue:
    """The turns around those of a question, each asked for once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._around: dict[str, tuple[Turn, ...]] = {}

    @property
    def turns(self) -> dict[str, Turn]:
        """Every turn that was read, by id."""
        return {turn.id: turn for turns in self._around.values() for turn in turns}

    def around(self, turn_ids: Sequence[str], admits: Callable[[Turn], bool]) -> dict[str, tuple[Turn, ...]]:
        """Return each turn between those around it that are admitted; none for a turn that was forgotten."""

        def read(unknown: Sequence[str]) -> dict[str, tuple[Turn, ...]]:
            found = self._store.contexts(unknown, SHOWN_NEIGHBOUR_TURNS, SHOWN_NEIGHBOUR_TURNS)
            return dict(zip(unknown, (tuple(filter(admits, around)) for around in found), strict=True))

        if unknown := [turn_id for turn_id in turn_ids if turn_id not in self._around]:
            self._around.update(read_remaining(self._store, read, unknown))
        return {turn_id: self._around[turn_id] for turn_id in turn_ids if turn_id in self._around}

    def drop(self, gone: Collection[str]) -> None:
        """Leave out turns that were forgotten, by id."""
        left = {turn_id: around for turn_id, around in self._around.items() if turn_id not in gone}
        self._around = {id: tuple(turn for turn in around if turn.id not in gone) for id, around in left.items()}


class Retrieval:
    """The evidence of one question; the turns of each path are recorded.

    Without "index" BM25 alone finds turns, and those with the entity count for facts; without "mask" turns recur.
    """

    def __init__(
        self, task: Task, analysis: Analysis, roster: MemoryOverview, variant: Variant, events: list[Event]
    ) -> None:
        """Take the analysed question, and where to record."""
        self._store, self._scope, self._exclude = task.store, task.scope, task.exclude
        self._temporal = analysis.temporal
        self._indexed = "index" not in variant.without
        self._mask = "mask" not in variant.without
        self._events = events
        self.searches = Searches(task, analysis, roster, indexed=self._indexed)
        self.queries: list[str] = []
        self.filed: dict[str, tuple[Fact, ...]] = {}  # the labels of the turns that are evidence, by id
        self.parts: dict[str, dict[str, str]] = {}  # turns that have a place of their own on a page: see `View.parts`
        self._evidence: dict[str, Evidence] = {}
        self._ranks: dict[str, float] = {}
        self._dialogue = Dialogue(task.store)
        self._costs: dict[str, int] = {}

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Everything found, best first: by its best rank on any path, ties in order of arrival."""
        return tuple(sorted(self._evidence.values(), key=lambda item: self._ranks[item.turn.id]))

    @property
    def turns(self) -> dict[str, Turn]:
        """Every turn that was read, by id: the evidence, and the turns around it."""
        return {item.turn.id: item.turn for item in self._evidence.values()} | self._dialogue.turns

    def query(self, wanted: Search, k: int, how: str, *, path: str, iteration: int) -> None:
        """Record the text and the kind of a search."""
        if wanted.text not in self.queries:
            self.queries.append(wanted.text)
        self._events.append(Queried(iteration, path, " ".join(wanted.holding) or wanted.text, k, how))

    def search(self, wanted: Search, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Add the k best turns of a search; one that was made before costs nothing."""
        how = strategy_name(temporal=self._temporal, iteration=iteration)
        how += f"; only {wanted.speaker}" if wanted.speaker else ""
        how += "; times first" if wanted.when else ""
        self.query(wanted, k, how, path=path, iteration=iteration)
        return (yield from self.deeper(wanted, k, path=path, iteration=iteration))

    def deeper(self, wanted: Search, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Add the k best turns of a search that may be a former one read further, and is no query of its own."""
        return self.keep((yield from self.searches.rank(wanted, k))[:k], path, iteration)

    def further(
        self, wanted: Search, k: int, *, path: str, iteration: int, without: frozenset[str] = frozenset()
    ) -> Flow[Arrived]:
        """Add the k best turns of a search that are no evidence yet, nor `without`: none is returned twice (M3, G3).

        A backend that returns one all the same changes nothing: it brought nothing new. Without the "mask" (an
        ablation) the best turns are returned whatever they are, those known as of this iteration.
        """
        if self._mask:
            self.query(wanted, k, "nothing twice", path=path, iteration=iteration)
            found = yield from self.searches.found(wanted, k, without.union(self._evidence))
            new = [hit for hit in found[:k] if hit.turn.id not in without and hit.turn.id not in self._evidence]
            return self.keep(new, path, iteration)
        arrived = yield from self.search(wanted, k, path=path, iteration=iteration)
        best = (hit.turn.id for hit in (yield from self.searches.rank(wanted, k))[:k])
        returned = tuple(turn_id for turn_id in best if self.has(turn_id))
        self.postpone_turns(returned, iteration)
        return replace(arrived, turns=returned)

    def expand(self, seeds: Sequence[str], limit: int | None, iteration: int) -> Arrived:
        """Add the best turns one edge away from the seeds; without a limit all of them, in order of time."""
        most = MAX_COUNT if limit is None else limit
        hits = read_remaining(self._store, lambda ids: self._store.expand(ids, most, self._scope), seeds)
        if limit is None:
            hits = tuple(sorted(hits, key=lambda hit: hit.turn.time))
        return self.keep(hits, "edge", iteration)

    def look_up(self, names: Sequence[str], iteration: int) -> Arrived:
        """Add the turns of the newest facts about an entity, under its own name before its other names."""
        self._events.append(Acted(iteration, "look up", f"too little is known about {names[0]}", {"entity": names[0]}))
        facts: list[Fact] = []
        for name in names:
            facts += self._store.about(name, MAX_ENTITY_FACTS, self._scope).facts
        ids = tuple(dict.fromkeys(fact.turn_id for fact in facts[:MAX_ENTITY_FACTS]))
        return self.keep(load_facts(self._store, [one for one in ids if one not in self._evidence]), "about", iteration)

    def postpone_turns(self, turn_ids: Iterable[str], iteration: int) -> None:
        """Have turns that were found be those of a later iteration, as where they were not shown."""
        for turn_id in filter(self.has, turn_ids):
            self._evidence[turn_id] = replace(self._evidence[turn_id], iteration=iteration)

    def has(self, turn_id: str) -> bool:
        """Whether a turn is evidence."""
        return turn_id in self._evidence

    def around(self, turn_ids: Collection[str]) -> dict[str, tuple[Turn, ...]]:
        """Return the dialogue around turns, each asked for once; a turn that was forgotten is no evidence any more."""
        found = self._dialogue.around(tuple(turn_ids), self.admits)
        self.drop(set(turn_ids) - found.keys())
        return found

    def drop(self, gone: Collection[str]) -> None:
        """Leave out turns that were forgotten, by id."""
        if gone:
            self._evidence = {turn_id: item for turn_id, item in self._evidence.items() if turn_id not in gone}
            self._dialogue.drop(gone)

    def cost(self, item: Evidence) -> int:
        """Return how many tokens a turn takes in a view, counted once."""
        if item.turn.id not in self._costs:
            self._costs[item.turn.id] = count_turn_tokens(item)
        return self._costs[item.turn.id]

    def admits(self, turn: Turn) -> bool:
        """Whether a turn may be evidence."""
        instructs = turn.role == "system" and self._scope.role is None  # found where it is asked for, as by a search
        return not (turn.id in self._exclude or instructs or is_discarded(turn)) and self._scope.admits(turn)

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
        return self._record_arrival(Arrived(path, tuple(hit.turn.id for hit in new), brought), iteration)

    def _rank(self, hits: Sequence[Hit], path: str) -> None:
        """Note the best rank of each turn; edges and look-ups come behind every search."""
        if path == "keyword":  # all of them for the same question, so that their scores compare
            self._ranks.update((hit.turn.id, -hit.score) for hit in hits)
            return
        behind = 0 if path in {"anchor", "refined", "further"} else UNFOUND_RANK
        for rank, hit in enumerate(hits):
            self._ranks[hit.turn.id] = min(rank + behind, self._ranks.get(hit.turn.id, rank + behind))
            known = self._evidence[hit.turn.id]
            if path == "anchor" and known.path != "anchor":
                self._evidence[hit.turn.id] = replace(known, score=hit.score, parts=hit.parts, span=hit.span)

    def _record_arrival(self, arrived: Arrived, iteration: int) -> Arrived:
        """Record the new turns of a path, after the event of the search."""
        self._events.extend(self.searches.take_events(iteration))
        self._events.append(Found(iteration, arrived.path, arrived.turns, arrived.facts))
        return arrived


def load_facts(store: Store, turn_ids: Sequence[str]) -> tuple[Hit, ...]:
    """Return turns with their facts."""
    facts: dict[str, tuple[Fact, ...]] = {}
    for fact in read_remaining(store, store.facts, turn_ids):
        facts[fact.turn_id] = (*facts.get(fact.turn_id, ()), fact)
    turns = read_remaining(store, store.read, turn_ids)
    return tuple(Hit(turn, facts.get(turn.id, ()), 0.0, path="about") for turn in turns)


def strategy_name(*, temporal: bool, iteration: int) -> str:
    """Return the name of the strategy for an iteration, the last one for all that follow."""
    return _STRATEGY_NAMES[temporal][min(iteration, 3) - 1]


def is_new_query(query: str, earlier: Iterable[str]) -> bool:
    """Whether a query says something and was not asked before, whatever its case and spacing."""
    words = _normalize(query)
    return bool(words) and all(words != _normalize(other) for other in earlier)


def query_from_gaps(analysis: Analysis, gaps: Sequence[Gap], earlier: Sequence[str], iteration: int) -> str:
    """Return a query from the worst gap whose query is new, or an empty one when every gap was already tried."""
    for gap in (*gaps, Gap("none", "", "")):
        query = _for_gap(analysis, gap, iteration)
        if is_new_query(query, earlier):
            return query
    return ""


def _for_gap(analysis: Analysis, gap: Gap, iteration: int) -> str:
    angle = _GAP_WORDS[analysis.temporal][min(iteration, 3) - 1]
    names = " ".join(analysis.entities)
    terms = " ".join(analysis.keywords)
    if gap.kind in {"entity", "attribution"}:
        return _join_words(gap.about, terms)
    if gap.kind in {"time", "granularity"}:
        return _join_words(names, terms, "when date")
    if gap.kind in {"attribute", "conflict"}:
        return _join_words(gap.about or terms, angle)
    return _join_words(names, terms, angle)


def _join_words(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _normalize(query: str) -> str:
    return " ".join(query.casefold().split())


class TupleRetrieval(Retrieval):
    """Evidence whose facts are the found ones of each turn alone."""

    def nearest(self, text: str, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Add the k facts nearest to a text; return the turns seen for the first time, and all k facts."""
        self.query(
            Search(text),
            k,
            strategy_name(temporal=self._temporal, iteration=iteration),
            path=path,
            iteration=iteration,
        )
        query = self._scope.query(text, k, self._exclude, vector=(yield from self.searches.vectors.vector_of(text)))
        return self._keep_facts(self._store.nearest_facts(query), path, iteration)

    def follow_edges(self, fact_ids: Sequence[str], iteration: int) -> Arrived:
        """Add every fact one edge away from these."""
        return self._keep_facts(self._store.linked_facts(fact_ids, self._scope), "edge", iteration)

    def cost(self, item: Evidence) -> int:
        """Return how many tokens the facts found of a turn take."""
        return sum(count_tokens(fact.text) + FACT_FRAME_TOKENS for fact in item.facts)

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
        return self._record_arrival(Arrived(path, tuple(turns), tuple(facts)), iteration)


FACT_FRAME_TOKENS = 12  # of a fact's label and date
