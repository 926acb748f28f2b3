"""One question in progress, whatever the loop: what was found, shown and judged, recorded in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from ..errors import ModelError, ModelTimeout
from ..flow import Flow, within
from ..judging.apply_verdict import all_gaps, follow, settle
from ..judging.evidence import Ablation, Analysis, Draft, Variant, Verdict, View
from ..judging.judge import Judge
from ..judging.tracker import Show, Tracker, apply, grounded, start
from ..query.analysis import analyse
from ..types.answer import Budget
from ..types.stored import EVERYTHING, Roster, Scope
from ..types.trace import VERSION, Acted, Complete, Event, Found, Judged, Queried, Stopped
from ..types.values import Tier, Turn
from .evidence_view import EntityCounter, select
from .retrieve import Arrived, Retrieval, Search, TupleRetrieval, strategy
from .task import Task

T = TypeVar("T")
ANSWER_SHARE = 0.25  # of the seconds of a budget: time to word the answer, however long the judging took
UNJUDGED = Verdict(Tier.PARTIAL, 0.5, reason="the evidence was not judged")
UNREAD = replace(UNJUDGED, mapped=False)  # of a judge that is not asked what supports a requirement


@dataclass(frozen=True, slots=True)
class Check:
    """One sufficiency check: what was seen, the verdict after calibration, and whether that lowered its tier.

    `most` is the confidence that the clamps of E7 and E8 leave, 1 where they lowered none. `draft` is the answer that
    the judge gave with the verdict, None where it was not asked for one; `rests_on` are the ids of the turns that any
    answer from it cites.
    """

    view: View
    verdict: Verdict
    lowered: bool = False
    most: float = 1.0
    draft: Draft | None = None
    rests_on: tuple[str, ...] = ()


class Record(list[Event]):
    """The events of a question; each is passed to the callback, if there is one, as it is recorded."""

    def __init__(self, on_event: Callable[[Event], None] | None, earlier: Iterable[Event] = ()) -> None:
        super().__init__(earlier)  # those were passed to the callback already
        self._on_event = on_event

    def append(self, event: Event) -> None:
        """Record one event."""
        super().append(event)
        if self._on_event is not None:
            self._on_event(event)

    def extend(self, events: Iterable[Event]) -> None:
        """Record several events."""
        for event in events:
            self.append(event)


class Session:
    """The state of one question. A loop decides what to do next; a session does it and remembers."""

    def __init__(self, task: Task, loop: str, variant: Variant = Variant()) -> None:
        self.task = task
        self.loop = loop
        self.variant: Variant = replace(variant, without=frozenset((*variant.without, *task.lacking)))
        self.iterations: int = task.budget.iterations or variant.iterations
        self.k: int = task.budget.k or variant.k
        self.edge_share: float = 0.0  # of what is shown, for turns that edges brought
        self.neighbours: bool = True  # are shown
        self.roster: Roster = task.store.roster()
        self.asked_at: datetime | None = task.asked_at or self.roster.last
        found = analyse(task.question, self.roster.speakers, self.asked_at, self.roster.date_order)
        self.analysis: Analysis = found if self.has("temporal") else replace(found, temporal=False)
        supposed, indexed = self.analysis.supposed, self.has("index")
        self.retrieval: Retrieval = Retrieval(task, self.analysis, self.roster, indexed=indexed)
        self._counter = EntityCounter(task.store, task.scope, variant.delta, indexed=indexed, supposed=supposed)
        self._names: tuple[str, ...] = self.analysis.entities
        self.tracker: Tracker = start(self.analysis.requirements)
        self.pinned: frozenset[str] = frozenset()
        self.before: Verdict | None = None
        self.checks: int = 0
        self.queries: list[str] = []
        self.events: list[Event] = Record(task.on_event, task.earlier)
        self.events.append(_analysed(self))
        self.shown: dict[str, Turn] = {}
        self.shown_facts: set[str] = set()
        self._memo: dict[Any, Any] = {}
        self._started = task.clock()

    @property
    def budget(self) -> Budget:
        """How hard to look."""
        return self.task.budget

    @property
    def late(self) -> bool:
        """Whether the time allowed for the question is used up."""
        return self.budget.seconds is not None and self.seconds >= self.budget.seconds

    @property
    def seconds(self) -> float:
        """The time that the question has taken."""
        return self.task.clock() - self._started

    def has(self, part: Ablation) -> bool:
        """Whether a part is in use, which the variant or the backend may lack."""
        return part not in self.variant.without

    def search(self, wanted: Search, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Search on a path and record it."""
        how = strategy(temporal=self.analysis.temporal, iteration=iteration)
        how += f"; only {wanted.speaker}" if wanted.speaker else ""
        how += "; times first" if wanted.when else ""
        record_query(self, wanted, k, how, path=path, iteration=iteration)
        return self.arrive((yield from self.retrieval.search(wanted, k, path=path, iteration=iteration)), iteration)

    def expand(self, seeds: tuple[str, ...], limit: int | None, iteration: int) -> Arrived:
        """Follow edges from turns and record what they brought."""
        return self.arrive(self.retrieval.expand(seeds, limit, iteration), iteration)

    def look_up(self, entity: str, iteration: int) -> Arrived:
        """Look up an entity's facts and record what they brought."""
        self.events.append(Acted(iteration, "look up", f"too little is known about {entity}", {"entity": entity}))
        return self.arrive(self.retrieval.look_up(self._counter.called(entity), iteration), iteration)

    def arrive(self, arrived: Arrived, iteration: int) -> Arrived:
        """Record what a path brought, and what it was looked for by words alone."""
        for text in self.retrieval.vectors.by_words:
            self.events.append(Acted(iteration, "by words", "the embedder gave no vector", {"query": text}))
        self.retrieval.vectors.by_words = ()
        self.events.append(Found(iteration, arrived.path, arrived.turns, arrived.facts))
        return arrived

    def search_further(
        self, wanted: Search, k: int, *, path: str, iteration: int, without: frozenset[str] = frozenset()
    ) -> Flow[Arrived]:
        """Search for turns that are no evidence yet, nor among those `without` which it is to do, and record it.

        Without the "mask" (an ablation) it returns the best turns whatever they are, those known as of this iteration.
        """
        if self.has("mask"):
            record_query(self, wanted, k, "nothing twice", path=path, iteration=iteration)
            found = yield from self.retrieval.further(wanted, k, path=path, iteration=iteration, without=without)
            return self.arrive(found, iteration)
        arrived = yield from self.search(wanted, k, path=path, iteration=iteration)
        best = (hit.turn.id for hit in (yield from self.retrieval.ranked(wanted, k))[:k])
        returned = tuple(turn_id for turn_id in best if self.retrieval.has(turn_id))
        self.retrieval.put_off(returned, iteration)
        return replace(arrived, turns=returned)

    def check(self, iteration: int) -> Flow[Check]:
        """Show the evidence to the judge, then track and calibrate what it says."""
        view = self.show(iteration, self._names if self.has("entities") else ())
        verdict = UNJUDGED
        if self.has("sufficiency"):
            verdict = yield from self.consult(self.task.judge.judge(view), iteration)
        return self.weigh(view, verdict)

    def show(self, iteration: int, entities: Iterable[str] = (), *, only: Collection[str] | None = None) -> View:
        """Return the view of the evidence, with the facts about these entities counted, and record what it shows.

        With `only`, the view is of the turns of these ids.
        """
        view = _legible(_view(self, iteration, entities, only), self.task.judge)
        _record_shown(self, view)
        return replace(view, tracker=self.tracker)

    def weigh(self, view: View, verdict: Verdict) -> Check:
        """Track and calibrate a verdict and record it."""
        iteration = view.iteration
        self.checks += 1
        if found := [name for name in verdict.names if name not in self._names and self.has("entities")]:
            self._names += tuple(found)
            view = replace(view, entities={**view.entities, **self._counter.count(found, view.evidence)})
        self.events.extend(verdict.calls)
        if verdict.signals:
            signals = {name: round(value, 6) for name, value in verdict.signals.items()}
            self.events.append(Acted(iteration, "measure", detail=signals))
        followed = follow(self.tracker, verdict, iteration)
        self.tracker = followed.tracker
        self.events.extend(followed.events)
        self.pinned |= frozenset(grounded(verdict.pinned, self.tracker.shown))
        self.adopt(self.pinned.union(self.tracker.witnesses), view)
        self.before = settled = _calibrated(self, view, verdict)
        view = replace(view, tracker=self.tracker, pinned=self.pinned)
        most = settled.confidence if settled.confidence < verdict.confidence else 1.0
        return Check(view, settled, lowered=settled.tier is not verdict.tier, most=most)

    def adopt(self, turn_ids: Iterable[str], view: View) -> None:
        """Take turns that stood around the evidence of a view as evidence: what a verdict rests on stays in view."""
        near = view.around
        turns = [near[one] for one in sorted(set(turn_ids)) if one in near and not self.retrieval.has(one)]
        if turns:
            self.arrive(self.retrieval.adopt(turns, view.iteration), view.iteration)

    def consult(self, flow: Flow[T], iteration: int) -> Flow[T]:
        """Run a judge's flow. A model's failure is recorded and raised; it is never taken for an answer."""
        try:
            return (yield from flow if self.budget.seconds is None else within(flow, partial(_seconds_for, self)))
        except ModelError as error:
            self.events.extend(error.calls)
            self.events.append(Acted(iteration, "fail", f"{type(error).__name__}: {error}"))
            raise

    def stop(self, iteration: int, reason: str) -> None:
        """Record that the search ended."""
        self.events.append(Stopped(iteration, reason))


def record_query(session: Session, wanted: Search, k: int, how: str, *, path: str, iteration: int) -> None:
    """Record what is searched for, and how."""
    if wanted.text not in session.queries:
        session.queries.append(wanted.text)
    session.events.append(Queried(iteration, path, " ".join(wanted.holding) or wanted.text, k, how))


def in_time(session: Session, step: Flow[T], iteration: int, earlier: Check | None) -> Flow[T | None]:
    """Run a step of a loop; return None, the search being stopped, where its model is late after an earlier check.

    Raise ModelTimeout where there is no earlier check to answer from, or where the budget has no limit of seconds.
    """
    try:
        return (yield from step)
    except ModelTimeout:
        if earlier is None or session.budget.seconds is None:
            raise
        session.stop(iteration, "time used up")
        return None


def _view(session: Session, iteration: int, entities: Iterable[str], only: Collection[str] | None) -> View:
    evidence = session.retrieval.evidence
    counts = session._counter.count(entities, evidence)
    witnesses = session.pinned.union(session.tracker.witnesses)
    if only is not None:
        evidence = tuple(item for item in evidence if item.turn.id in only)
    shown = select(
        evidence,
        session.budget.tokens,
        iteration=iteration,
        witnesses=witnesses,
        cost=session.retrieval.cost,
        edge_share=session.edge_share,
    )
    around: dict[str, tuple[Turn, ...]] = {item.turn.id: (item.turn,) for item in shown}
    if session.neighbours:
        around = session.retrieval.around(around)
    return View(
        analysis=session.analysis,
        asked_at=session.asked_at,
        speakers=session.roster.speakers,
        iteration=iteration,
        iterations=session.iterations,
        strategy=strategy(temporal=session.analysis.temporal, iteration=iteration),
        queries=tuple(session.queries),
        entities=counts,
        evidence=evidence,
        shown=shown,
        context=around,
        tracker=session.tracker,
        memo=session._memo,
        pinned=session.pinned,
        scope=session.task.scope,
        store=session.task.store,
        before=session.before,
        by_fact=isinstance(session.retrieval, TupleRetrieval),
        variant=session.variant,
        form=session.budget.format,
    )


def _legible(view: View, judge: Judge) -> View:
    """Return a view with what there is room for on the judge's page."""
    there = judge.legible(view)
    shown = tuple(item for item in view.shown if item.turn.id in there)
    near = {item.turn.id: tuple(turn for turn in view.context[item.turn.id] if turn.id in there) for item in shown}
    return replace(view, shown=shown, context=near)


def _seconds_for(session: Session, request: Complete) -> float:
    """Return how long a request may take: what is left, and for the answer at least a share of the time."""
    allowed = session.budget.seconds or 0.0
    least = ANSWER_SHARE * allowed if request.role == "answer" else 0.0
    return max(least, allowed - session.seconds)


def _record_shown(session: Session, view: View) -> None:
    turns = [item.turn.id for item in view.shown]
    session.shown.update((item.turn.id, item.turn) for item in view.shown)
    session.shown_facts.update(fact.id for item in view.shown for fact in item.facts)
    around = sorted(view.around.keys() - turns)
    session.tracker = apply(session.tracker, Show((*turns, *around)))
    left_out = len(view.evidence) - len(view.shown)
    detail = {"turns": turns, "around": around, "left_out": left_out}
    session.events.append(Acted(view.iteration, "show", detail=detail))


def _calibrated(session: Session, view: View, verdict: Verdict) -> Verdict:
    clamped = settle(verdict, view, session.tracker)
    gaps = all_gaps(verdict, clamped, session.tracker)
    found = {name: count.found for name, count in view.entities.items()}
    session.events.append(
        Judged(
            view.iteration,
            "nobody" if verdict.reason == UNJUDGED.reason else session.task.judge.name,
            verdict.tier,
            verdict.confidence,
            clamped.tier,
            clamped.confidence,
            verdict.probability,
            found,
            gaps,
            verdict.reason,
        )
    )
    return replace(verdict, tier=clamped.tier, confidence=clamped.confidence, gaps=gaps)


def _analysed(session: Session) -> Acted:
    analysis = session.analysis
    detail = {
        "version": VERSION,
        "judge": session.task.judge.name,
        "abstain_below": session.task.judge.abstain_below,
        "asked_at": session.asked_at.isoformat() if session.asked_at else None,
        "entities": list(analysis.entities),
        "wants": analysis.wants,
        "temporal": analysis.temporal,
        "budget": asdict(session.budget),
        "variant": session.variant.to_dict(),
        "requirements": [asdict(requirement) for requirement in analysis.requirements],
    }
    if session.task.scope != EVERYTHING:
        detail["scope"] = scope_detail(session.task.scope)
    return Acted(0, "analyse", detail=detail)


def scope_detail(scope: Scope) -> dict[str, Any]:
    """Return a scope as the trace keeps it: what of it is set, as JSON values."""
    given = {"session": scope.session, "speaker": scope.speaker, "role": scope.role}
    conditions = {} if scope.where is None else {"where": json.loads(scope.where.text)}
    return {name: value for name, value in given.items() if value is not None} | conditions
