"""Keep the state of a question in progress: find, show and judge evidence in rounds, and record each step."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from ..errors import ModelError, PoolFull
from ..flow import Flow, within
from ..judging.apply_verdict import all_gaps, clamp_verdict, update_tracker
from ..judging.evidence import Ablation, Draft, Evidence, Variant, Verdict, View
from ..judging.tracker import Show, Tracker, apply, shown_witnesses, start
from ..page.loop_page import lines_to_add
from ..query.analysis import analyse
from ..query.find_turns import stored_ids
from ..types.stored import EVERYTHING
from ..types.trace import TRACE_VERSION, Acted, Complete, Event, Judged, Stopped
from ..types.type_variables import T
from ..types.values import Hit, Tier, Turn
from .evidence_view import EntityCounter, select
from .retrieve import Arrived, Retrieval, Search, Task, TupleRetrieval, strategy_name

ANSWER_SECONDS_SHARE = 0.25  # of the seconds of a budget: time to word the answer, however long the judging took
UNJUDGED = Verdict(Tier.PARTIAL, 0.5, reason="the evidence was not judged")
UNMAPPED = replace(UNJUDGED, mapped=False)  # of a judge that maps no evidence to requirements


@dataclass(frozen=True, slots=True)
class Check:
    """One sufficiency check: the view, the verdict after calibration, and whether that lowered its tier.

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


@dataclass(frozen=True, slots=True)
class PageLimits:
    """How the evidence is chosen for a judge.

    `tokens` are those that the lines of a model's page may take at the next check, `whole` is whether that keeps lines
    that say little, or the same as another; `edge_share` of the shown tokens are for turns over edges.
    """

    tokens: int
    whole: bool = True
    edge_share: float = 0.0


class Session:
    """The state of one question. A loop chooses the next step; a session does it and remembers."""

    def __init__(
        self, task: Task, loop: str, variant: Variant = Variant(), *, neighbours: bool = True, by_fact: bool = False
    ) -> None:
        """Begin a question. With `neighbours` the turns before and after a shown one are shown with it.

        With `by_fact` facts are found and shown in the place of turns.
        """
        self.task: Final = task
        self.loop: Final = loop
        self.variant: Final = replace(variant, without=frozenset((*variant.without, *task.unsupported)))
        self.iterations: Final = task.budget.iterations or variant.iterations
        self.k: Final = task.budget.k or variant.k
        self.page: PageLimits = PageLimits(task.budget.tokens)
        self.roster: Final = task.store.roster()
        self.asked_at: Final = task.asked_at or self.roster.last
        found = analyse(task.question, self.roster.speakers, self.asked_at, self.roster.date_order)
        self.analysis: Final = found if self.has("temporal") else replace(found, temporal=False)
        self.events: Final = Record(task.on_event, task.earlier)
        self.events.append(_record_analysis(self))
        self.by_fact: Final = by_fact and self.has("index")
        kind = TupleRetrieval if self.by_fact else Retrieval
        self.retrieval: Final = kind(task, self.analysis, self.roster, self.variant, self.events)
        self.tracker: Tracker = start(self.analysis.requirements if self.has("tracker") else ())
        self.pinned: frozenset[str] = frozenset()
        self.before: Verdict | None = None
        self.shown: dict[str, Turn] = {}
        self.shown_facts: set[str] = set()
        self._neighbours: Final = neighbours and not self.by_fact
        supposed, indexed = self.analysis.supposed, self.has("index")
        self._counter: Final = EntityCounter(task.store, task.scope, variant.delta, indexed=indexed, supposed=supposed)
        self._names: tuple[str, ...] = self.analysis.entities
        self._page: tuple[Any, ...] = ()  # the lines of a model's page so far
        self._started: Final = task.clock()

    @property
    def late(self) -> bool:
        """Whether the time allowed for the question is used up."""
        allowed = self.task.budget.seconds
        return allowed is not None and self.task.clock() - self._started >= allowed

    def has(self, part: Ablation) -> bool:
        """Whether a part is in use, which the variant or the backend may lack."""
        return part not in self.variant.without

    def search(self, wanted: Search, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Search on a path and record it."""
        return self.retrieval.search(wanted, k, path=path, iteration=iteration)

    def look_up(self, entity: str, iteration: int) -> None:
        """Look up an entity's facts and record the new turns."""
        self.retrieval.look_up(self._counter.known_names(entity), iteration)

    def check(self, iteration: int) -> Flow[Check]:
        """Show the evidence to the judge, then track and calibrate its verdict."""
        view = self.show(iteration, self._names if self.has("entities") else ())
        verdict = UNJUDGED
        if self.has("sufficiency"):
            verdict = yield from self.ask_judge(self.task.judge.judge(view), iteration)
        return self.apply_verdict(view, verdict)

    def show(self, iteration: int, entities: Iterable[str] = (), *, only: Collection[str] | None = None) -> View:
        """Return the view of the evidence, with the facts about these entities counted, and record the shown turns.

        With `only`, the view is of the turns of these ids. Turns without room on the judge's own page are left out.
        """
        view = _view(self, iteration, entities, only)
        view = self.task.judge.fit_page(view)
        shown, self._page = view.shown, view.page
        if reads_page(self):
            view = replace(view, entities=self._counter.count(entities, shown))
        turns = [item.turn.id for item in shown]
        self.shown.update((item.turn.id, item.turn) for item in shown)
        self.shown_facts.update(fact.id for item in shown for fact in item.facts)
        around = sorted(view.turns_around.keys() - turns)
        self.tracker = apply(self.tracker, Show((*turns, *around)))
        left_out = len(view.evidence) - len(shown)
        self.events.append(Acted(iteration, "show", detail={"turns": turns, "around": around, "left_out": left_out}))
        return replace(view, tracker=self.tracker)

    def apply_verdict(self, view: View, verdict: Verdict) -> Check:
        """Track and calibrate a verdict and record it."""
        iteration = view.iteration
        if verdict.basis is None and self.before is not None:  # no judge has read this check
            verdict = replace(verdict, basis=self.before.basis)
        if found := [name for name in verdict.names if name not in self._names and self.has("entities")]:
            self._names += tuple(found)
            view = replace(view, entities={**view.entities, **self._counter.count(found, view.evidence)})
        self.events.extend(verdict.calls)
        if verdict.signals:
            signals = {name: round(value, 6) for name, value in verdict.signals.items()}
            self.events.append(Acted(iteration, "measure", detail=signals))
        updated = update_tracker(self.tracker, verdict, iteration)
        self.tracker = updated.tracker
        self.events.extend(updated.events)
        self.pinned |= frozenset(shown_witnesses(verdict.pinned, self.tracker.shown))
        self.add_context(self.pinned.union(self.tracker.witnesses), view)
        self.before = settled = _calibrate_verdict(self, view, verdict)
        view = replace(view, tracker=self.tracker, pinned=self.pinned)
        most = settled.confidence if settled.confidence < verdict.confidence else 1.0
        lowered = settled.tier is not verdict.tier
        return Check(view, settled, lowered=lowered, most=most, draft=verdict.draft)

    def add_context(self, turn_ids: Iterable[str], view: View) -> None:
        """Add turns around the evidence of a view to the evidence: a verdict's witnesses stay in view."""
        near = view.turns_around
        turns = [near[one] for one in sorted(set(turn_ids)) if one in near and not self.retrieval.has(one)]
        if turns:
            self.retrieval.keep([Hit(turn, (), 0.0, path="around") for turn in turns], "around", view.iteration)

    def ask_judge(self, flow: Flow[T], iteration: int) -> Flow[T]:
        """Run a judge's flow. A model's failure is recorded and raised; it is never taken for an answer.

        While a model was waited for, turns may have been forgotten: they are no evidence any more. Where the memory has
        no place in its pool to be asked, as after the last reply, that reply counts as it is: it was paid for.
        """
        allowed = self.task.budget.seconds

        def seconds_for(request: Complete) -> float:
            """Return the seconds that a request may take: the rest, for the answer at least a share of all."""
            least = ANSWER_SECONDS_SHARE * (allowed or 0.0) if request.role == "answer" else 0.0
            return max(least, (allowed or 0.0) - (self.task.clock() - self._started))

        try:
            is_unbounded = allowed is None or not self.task.judge.uses_model
            result = yield from flow if is_unbounded else within(flow, seconds_for)
        except ModelError as error:
            self.events.extend(error.calls)
            self.events.append(Acted(iteration, "fail", f"{type(error).__name__}: {error}"))
            raise
        if self.task.judge.uses_model:
            read = tuple(self.retrieval.turns)
            try:
                self.retrieval.drop(set(read).difference(stored_ids(self.task.store, read)))
            except PoolFull as error:
                self.events.append(Acted(iteration, "unchecked", f"PoolFull: {error}"))
        return result

    consult = ask_judge  # its earlier name, for a release

    def stop(self, iteration: int, reason: str) -> None:
        """Record that the search ended."""
        self.events.append(Stopped(iteration, reason))


def reads_page(session: Session) -> bool:
    """Return whether the judge reads a page composed of all evidence, and not the turns that `select` leaves."""
    return session.task.judge.uses_model and not session.by_fact and not session.page.whole


def fitting(session: Session, hits: Sequence[Hit], path: str, iteration: int) -> tuple[Hit, ...]:
    """Return the hits that a model's page has room for, beside the evidence; nothing is recorded."""
    found = [Evidence(hit.turn, hit.facts, hit.score, path, iteration, hit.parts, hit.span) for hit in hits]
    known = session.retrieval
    new = tuple(one for one in found if known.admits(one.turn) and not known.has(one.turn.id))
    view = _view(session, iteration, (), None)
    there = lines_to_add(replace(view, evidence=(*view.evidence, *new), shown=(*view.shown, *new)))
    return tuple(hit for hit in hits if hit.turn.id in there)


def has_unseen_words(session: Session, iteration: int) -> bool:
    """Return whether a model's page would get a line: of a new turn, or of words that it left out."""
    view = _view(session, iteration, (), None)
    return bool(view.page and lines_to_add(view))


def _view(session: Session, iteration: int, entities: Iterable[str], only: Collection[str] | None) -> View:
    evidence = session.retrieval.evidence
    counts = session._counter.count(entities, evidence)
    witnesses = session.pinned.union(session.tracker.witnesses)
    if only is not None:
        evidence = tuple(item for item in evidence if item.turn.id in only)
    shown = evidence
    if not reads_page(session):
        shown = select(
            evidence,
            session.task.budget.tokens,
            iteration=iteration,
            witnesses=witnesses,
            cost=session.retrieval.cost,
            edge_share=session.page.edge_share,
        )
    around: dict[str, tuple[Turn, ...]] = {item.turn.id: (item.turn,) for item in shown}
    context = session.retrieval.around(around) if session._neighbours else around
    return View(
        analysis=session.analysis,
        asked_at=session.asked_at,
        speakers=session.roster.speakers,
        iteration=iteration,
        iterations=session.iterations,
        strategy=strategy_name(temporal=session.analysis.temporal, iteration=iteration),
        queries=tuple(session.retrieval.queries),
        entities=counts,
        evidence=tuple(item for item in evidence if session.retrieval.has(item.turn.id)),
        shown=tuple(item for item in shown if item.turn.id in context),
        context=context,
        tracker=session.tracker,
        page=session._page,
        pinned=session.pinned,
        scope=session.task.scope,
        store=session.task.store,
        before=session.before,
        by_fact=session.by_fact,
        variant=session.variant,
        form=session.task.budget.format,
        exclude=frozenset(session.task.exclude),
        parts=session.retrieval.parts,
        tokens=session.page.tokens,
        whole=session.page.whole,
    )


def _calibrate_verdict(session: Session, view: View, verdict: Verdict) -> Verdict:
    clamped = clamp_verdict(verdict, view, session.tracker)
    gaps = all_gaps(verdict, clamped, session.tracker)
    session.events.append(
        Judged(
            view.iteration,
            "none" if verdict.reason == UNJUDGED.reason else session.task.judge.name,
            verdict.tier,
            verdict.confidence,
            clamped.tier,
            clamped.confidence,
            verdict.probability,
            {name: count.found for name, count in view.entities.items()},
            gaps,
            verdict.reason,
        )
    )
    return replace(verdict, tier=clamped.tier, confidence=clamped.confidence, gaps=gaps)


def _record_analysis(session: Session) -> Acted:
    analysis = session.analysis
    detail = {
        "version": TRACE_VERSION,
        "judge": session.task.judge.name,
        "abstain_below": session.task.judge.abstain_below,
        "asked_at": session.asked_at.isoformat() if session.asked_at else None,
        "entities": list(analysis.entities),
        "wants": analysis.wants,
        "temporal": analysis.temporal,
        "budget": asdict(session.task.budget),
        "variant": session.variant.to_dict(),
        "requirements": [asdict(requirement) for requirement in analysis.requirements],
    }
    if session.task.quoting is not None:
        detail["quoting"] = True
    scope = session.task.scope
    if scope != EVERYTHING:
        given = {"session": scope.session, "speaker": scope.speaker, "role": scope.role}
        conditions = {} if scope.where is None else {"where": json.loads(scope.where.text)}
        detail["scope"] = {name: value for name, value in given.items() if value is not None} | conditions
    return Acted(0, "analyse", detail=detail)
