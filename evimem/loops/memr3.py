"""MemR3: search, then decide each time to search on, to think or to answer; a router has the last word (M1 to M12).

A model is shown what the last search returned, and what it claimed of everything before, with the turns that say so: a
request has the same size however many decisions there were. A judge that claims nothing is shown all that was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from ..errors import ReplyError
from ..flow import Flow
from ..judging.evidence import Variant, whole_around
from ..judging.judge import NOT_SEARCHED, Action, Decided, Stage
from ..judging.tracker import Tracker, start
from ..types.answer import Answer
from ..types.stored import COUNTED
from ..types.trace import Acted
from ..types.values import Gap
from .answering import answered
from .retrieve import Search, compose, fresh
from .session import UNJUDGED, Check, Session, in_time
from .task import Task

MOST_MISSES = 2  # searches in a row that bring nothing, after which nothing is expected of another

Rule = Literal["budget", "nothing left", "nothing found", "enough thought", "gaps are open", "as decided"]


@dataclass(frozen=True, slots=True)
class Situation:
    """What the router goes by.

    `wanted` is the action that was decided on. `decisions` counts those made, this one included, of at most `most`
    (n_max); `cap` is how many reflections in a row there may be (n_cap). `exhausted` is whether every item of the
    backend was returned. `searched` is whether the step before this decision was a search; the last search brought
    nothing if `misses`, the number of such in a row, is above 0. `reflections` counts those in a row before this
    decision, `gaps` is whether a requirement is open that a search may close.
    """

    wanted: Action
    decisions: int
    most: int
    cap: int
    exhausted: bool
    misses: int
    searched: bool
    reflections: int
    gaps: bool


@dataclass(frozen=True, slots=True)
class Route:
    """What is done next, and the rule that says so."""

    action: Action
    rule: Rule


def route(now: Situation) -> Route:
    """Return what is done next; of several rules that apply the first holds (M2).

    A reflection is forced only right after a search that brought nothing: thinking finds nothing new, so a rule that
    held for longer would never end.
    """
    if now.decisions >= now.most:
        return Route("answer", "budget")
    if now.exhausted or now.misses >= MOST_MISSES:
        return Route("answer", "nothing left")
    if now.searched and now.misses:
        return Route("reflect", "nothing found")
    if now.gaps and now.reflections >= now.cap:
        return Route("retrieve", "enough thought")
    if now.gaps and now.wanted == "answer":
        return Route("retrieve", "gaps are open")
    return Route(now.wanted, "as decided")


def route_literally(now: Situation) -> Route:
    """Return what the paper's Algorithm 1 does next, in its order: for ablations only.

    Its second rule holds for as long as the last search has brought nothing, and thinking changes nothing of that: from
    then on it thinks until the budget ends.
    """
    if now.decisions >= now.most:
        return Route("answer", "budget")
    if now.misses:
        return Route("reflect", "nothing found")
    if now.reflections >= now.cap:
        return Route("retrieve", "enough thought")
    return Route(now.wanted, "as decided")


@dataclass(frozen=True, slots=True)
class MemR3(Variant):
    """MemR3: at most `iterations` decisions (n_max), each after a search of `k` turns (n_chk) or a reflection.

    Attributes:
        reflections: So many in a row, after which an open gap is searched for (n_cap).
        router: "paper" is Algorithm 1 in its order: after a search that brings nothing it thinks until the budget ends,
            and an answer is believed though gaps are open. "guarded" ends where nothing is left, and searches on.
        neighbours: The turns before and after a returned one are shown with it, and not returned later.
    """

    iterations: int = 5
    k: int = 5
    reflections: int = 1
    router: Literal["guarded", "paper"] = "guarded"
    neighbours: bool = True

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question once the router says so."""
        return answered(Session(task, "memr3", self), partial(_look, self))


@dataclass(frozen=True, slots=True)
class LoopState:
    """Where the loop stands between two decisions, and how it goes to work.

    `decisions` counts those made; `searched` is whether the last step was a search, `misses` how many searches in a row
    brought nothing new, and `reflections` how many in a row there were. `tried` is what was searched for besides the
    question, `thoughts` what reflections came to, in order; `check` is the last evidence judged. `newest` are the turns
    to be shown next, `unread` those of them that were not, `seen` what was shown whole beside others.
    """

    how: MemR3
    decisions: int = 0
    searched: bool = True
    misses: int = 0
    reflections: int = 0
    tried: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    check: Check | None = None
    newest: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """One decision, the evidence it is about, and what the router made of it."""

    decision: Decided
    check: Check
    route: Route


def _look(how: MemR3, session: Session) -> Flow[Check | None]:
    session.neighbours = how.neighbours
    if not session.has("tracker"):
        session.tracker = start(())
    check = yield from _decided_by(session, how)
    return None if check is None or not session.retrieval.evidence else _with_sources(session, check)


def _with_sources(session: Session, check: Check) -> Check:
    """Return the last check with what its answer is written from: what was claimed, and the turns that say so."""
    if not _claims(session):
        return check
    claims, shown = session.tracker.held, {item.turn.id for item in check.view.shown}
    only = shown.union(session.pinned, session.tracker.witnesses) if claims else None
    view = session.show(check.view.iteration, only=only)
    notes = (*(claim.text for claim in claims), *check.verdict.notes)
    return replace(check, view=view, verdict=replace(check.verdict, notes=notes))


def _decided_by(session: Session, how: MemR3) -> Flow[Check | None]:
    """Search and decide until the router says to answer; return the last check, None where nothing is there."""
    state = yield from _search(session, LoopState(how), session.task.question)
    while session.retrieval.evidence or not _exhausted(session, state):
        step = yield from in_time(session, _decide(session, state), state.decisions + 1, state.check)
        if step is None:
            return state.check
        state = _decided(session, state, step)
        if step.route.action == "answer" or session.late:
            session.stop(state.decisions, step.route.rule if step.route.action == "answer" else "time used up")
            return step.check
        state = yield from _go_on(session, state, step)
    return None


def _decided(session: Session, state: LoopState, step: Step) -> LoopState:
    """Return the state after a decision; what stood in a request whose reply could not be read was not seen."""
    view, read = step.check.view, step.decision.verdict.reason != UNJUDGED.reason
    shown = {item.turn.id for item in view.shown} if read else set()
    beside = (turn.id for turn in view.around.values() if whole_around(turn))
    return replace(
        state,
        decisions=state.decisions + 1,
        check=step.check,
        unread=tuple(turn_id for turn_id in state.newest if turn_id not in shown),
        seen=state.seen.union(beside) if _claims(session) and read else state.seen,
    )


def _go_on(session: Session, state: LoopState, step: Step) -> Flow[LoopState]:
    """Search for what is missing, or keep the thought of a reflection."""
    verdict = step.decision.verdict
    if step.route.action == "reflect" and session.has("reflection"):
        thought = "" if verdict.reason == UNJUDGED.reason else verdict.reason
        thoughts = (*state.thoughts, thought) if thought else state.thoughts
        return replace(state, searched=False, reflections=state.reflections + 1, thoughts=thoughts)
    return (yield from _refine(session, state, step))


def _refine(session: Session, state: LoopState, step: Step) -> Flow[LoopState]:
    """Search for the question and what is missing, in words that were not tried (M4); a miss where there are none."""
    earlier = (session.task.question, *state.tried)
    if not session.has("delta"):
        return (yield from _search(session, state, session.task.question))
    number = state.decisions + 1
    delta = step.decision.verdict.query
    if not fresh(delta, earlier):
        delta = compose(session.analysis, step.check.verdict.gaps, earlier, number)
    if not delta:
        session.events.append(Acted(number, "search nothing", "every query for what is missing was tried"))
        return replace(state, searched=True, reflections=0, misses=state.misses + 1, newest=state.unread)
    state = replace(state, tried=(*state.tried, delta))
    return (yield from _search(session, state, f"{session.task.question} {delta}"))


def _search(session: Session, state: LoopState, text: str) -> Flow[LoopState]:
    """Search for turns that were not returned before (M3)."""
    number, wanted = state.decisions + 1, Search(text)
    path = "refined" if state.decisions else "anchor"
    arrived = yield from session.search_further(wanted, session.k, path=path, iteration=number, without=state.seen)
    misses = 0 if arrived.turns else state.misses + 1
    newest = tuple(dict.fromkeys((*state.unread, *arrived.turns)))
    return replace(state, searched=True, reflections=0, misses=misses, newest=newest)


def _decide(session: Session, state: LoopState) -> Flow[Step]:
    """Have the judge decide on the evidence so far, record it, and route it."""
    number, most = state.decisions + 1, session.iterations
    view = session.show(number, only=state.newest if _claims(session) else None)
    literal = state.how.router == "paper"
    last = number >= most or (not literal and (_exhausted(session, state) or state.misses >= MOST_MISSES))
    empty = state.searched and state.misses > 0
    stage = Stage(number, most, last, empty, state.tried, state.thoughts)
    try:
        decision = yield from session.consult(session.task.judge.decide(view, stage), number)
    except ReplyError:  # unreadable twice: the search goes on by the gaps that are known (M7)
        decision = Decided("retrieve", UNJUDGED)
    if not session.has("tracker"):
        untracked = replace(decision.verdict, supported={}, waived={}, extended=(), claims=(), mapped=False)
        decision = replace(decision, verdict=untracked)
    check = _with_gaps(session.weigh(view, decision.verdict), (*state.thoughts, decision.draft))
    routed = (route_literally if literal else route)(_situation(session, state, decision, check.view.tracker))
    detail = {"wanted": decision.action, "action": routed.action, "rule": routed.rule, "draft": decision.draft}
    session.events.append(Acted(number, "decide", decision.verdict.reason, detail))
    return Step(decision, check, routed)


def _situation(session: Session, state: LoopState, decision: Decided, tracker: Tracker) -> Situation:
    return Situation(
        wanted=decision.action,
        decisions=state.decisions + 1,
        most=session.iterations,
        cap=state.how.reflections,
        exhausted=_exhausted(session, state),
        misses=state.misses,
        searched=state.searched,
        reflections=state.reflections,
        gaps=any(need.kind not in NOT_SEARCHED for need in tracker.open),
    )


def _with_gaps(check: Check, notes: Iterable[str]) -> Check:
    """Return the check with what is missing by the tracker (M6), and with notes for the answer."""
    gaps = open_gaps(check.view.tracker, check.verdict.gaps)
    return replace(check, verdict=replace(check.verdict, gaps=gaps, notes=tuple(note for note in notes if note)))


def open_gaps(tracker: Tracker, stated: Iterable[Gap]) -> tuple[Gap, ...]:
    """Return the gaps that were stated, and those of open requirements, without those of closed ones (M5, M6).

    That evidence is about another person is a gap only where it is stated: that nobody has checked is none.
    """
    still_open = tuple(need.gap for need in tracker.open)
    closed = {need.gap for need in tracker.requirements}.difference(still_open)
    missing = (gap for gap in still_open if gap.kind != "attribution")
    return tuple(dict.fromkeys(gap for gap in (*stated, *missing) if gap not in closed))


def _claims(session: Session) -> bool:
    """Whether what was found is kept in words, so that it need not be shown again."""
    return session.task.judge.explores and session.has("tracker")


def _exhausted(session: Session, state: LoopState) -> bool:
    """Whether every turn of the memory was returned, or shown beside another; not known of one that is large."""
    counted = session.roster.counted
    found = state.seen.union(item.turn.id for item in session.retrieval.evidence)
    return counted < COUNTED and len(found) >= counted
