"""MemR3: search, then decide each time to search on, to think or to answer; a router has the last word (M1 to M8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..errors import ReplyError
from ..flow import Flow
from ..judging.decision import NOT_SEARCHED, Decided, Stage
from ..judging.tracker import Tracker
from ..types.answer import Answer
from ..types.stored import COUNTED
from ..types.trace import Acted
from ..types.values import Gap
from .answering import as_loop, concluded, drafted, nothing
from .retrieve import Search, compose, fresh
from .router import MOST_MISSES, Route, Situation, route, route_literally
from .session import UNJUDGED, Check, Session, in_time

N_CHK = 5  # turns that a search returns (M3)


@dataclass(frozen=True, slots=True)
class LoopState:
    """Where the loop stands between two decisions.

    `decisions` counts those made; `searched` is whether the last step was a search, `misses` how many searches in a row
    brought nothing new, and `reflections` how many in a row there were. `tried` is what was searched for besides the
    question, `thoughts` what reflections came to, in order; `check` is the last evidence judged.
    """

    decisions: int = 0
    searched: bool = True
    misses: int = 0
    reflections: int = 0
    tried: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One decision, the evidence it is about, and what the router made of it."""

    decision: Decided
    check: Check
    route: Route


@as_loop("memr3")
def memr3(session: Session) -> Flow[Answer]:
    """Answer a question after at most `budget.decisions` decisions, each after a search or a reflection."""
    check = yield from _look(session)
    if check is None or not session.retrieval.evidence:
        return nothing(session, 1)
    return concluded(session, check, (yield from drafted(session, check)))


def _look(session: Session) -> Flow[Check | None]:
    """Search and decide until the router says to answer; return the last check, None where nothing is there."""
    state = yield from _search(session, LoopState(), session.task.question)
    while session.retrieval.evidence or not _exhausted(session):
        step = yield from in_time(session, _decide(session, state), state.decisions + 1, state.check)
        if step is None:
            return state.check
        state = replace(state, decisions=state.decisions + 1, check=step.check)
        if step.route.action == "answer" or session.late:
            session.stop(state.decisions, step.route.rule if step.route.action == "answer" else "time used up")
            return step.check
        state = yield from _go_on(session, state, step)
    return None


def _go_on(session: Session, state: LoopState, step: Step) -> Flow[LoopState]:
    """Search for what is missing, or keep the thought of a reflection."""
    verdict = step.decision.verdict
    if step.route.action == "reflect":
        thought = "" if verdict is UNJUDGED else verdict.reason
        thoughts = (*state.thoughts, thought) if thought else state.thoughts
        return replace(state, searched=False, reflections=state.reflections + 1, thoughts=thoughts)
    return (yield from _refine(session, state, step))


def _refine(session: Session, state: LoopState, step: Step) -> Flow[LoopState]:
    """Search for the question and what is missing, in words that were not tried (M4); a miss where there are none."""
    earlier = (session.task.question, *state.tried)
    number = state.decisions + 1
    delta = step.decision.verdict.query
    if not fresh(delta, earlier):
        delta = compose(session.analysis, step.check.verdict.gaps, earlier, number)
    if not delta:
        session.events.append(Acted(number, "search nothing", "every query for what is missing was tried"))
        return replace(state, searched=True, reflections=0, misses=state.misses + 1)
    state = replace(state, tried=(*state.tried, delta))
    return (yield from _search(session, state, f"{session.task.question} {delta}"))


def _search(session: Session, state: LoopState, text: str) -> Flow[LoopState]:
    """Search for turns that were not returned before (M3)."""
    number = state.decisions + 1
    path = "refined" if state.decisions else "anchor"
    arrived = yield from session.search_further(Search(text), N_CHK, path=path, iteration=number)
    misses = 0 if arrived.turns else state.misses + 1
    return replace(state, searched=True, reflections=0, misses=misses)


def _decide(session: Session, state: LoopState) -> Flow[Step]:
    """Have the judge decide on the evidence so far, record it, and route it."""
    number, most = state.decisions + 1, session.budget.decisions
    view = replace(session.show(number), iterations=most)
    literal = "router" in session.budget.literal
    last = number >= most or (not literal and (_exhausted(session) or state.misses >= MOST_MISSES))
    empty = state.searched and state.misses > 0
    stage = Stage(number, most, last, empty, state.tried, state.thoughts)
    try:
        decision = yield from session.consult(session.task.judge.decide(view, stage), number)
    except ReplyError:  # unreadable twice: the search goes on by the gaps that are known (M7)
        decision = Decided("retrieve", UNJUDGED)
    check = _with_gaps(session.weigh(view, decision.verdict), (*state.thoughts, decision.draft))
    routed = (route_literally if literal else route)(_situation(session, state, decision, check.view.tracker))
    detail = {"wanted": decision.action, "action": routed.action, "rule": routed.rule, "draft": decision.draft}
    session.events.append(Acted(number, "decide", decision.verdict.reason, detail))
    return Step(decision, check, routed)


def _situation(session: Session, state: LoopState, decision: Decided, tracker: Tracker) -> Situation:
    return Situation(
        wanted=decision.action,
        decisions=state.decisions + 1,
        most=session.budget.decisions,
        exhausted=_exhausted(session),
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


def _exhausted(session: Session) -> bool:
    """Whether every turn of the memory was returned; not known of one that is large."""
    counted = session.roster.counted
    return counted < COUNTED and len(session.retrieval.evidence) >= counted
