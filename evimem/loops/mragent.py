"""MRAgent: explore the memory from cue to tag to turn and back, until what was found answers the question (R1 to R8).

The search of the question gives the first turns; from there each turn of the loop calls tools, whose results are turns
and further cues, such as the month in which something happened, that the question never named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from ..errors import ReplyError
from ..flow import Flow
from ..judging.exploring import Explored, Graph, Move, Result, Tool, ToolCall, next_calls, route, tools_of
from ..judging.tracker import grounded
from ..judging.variant import Variant
from ..types.answer import Answer
from ..types.trace import Acted
from .answering import answered, stated
from .iris import Iris, look
from .memory_views import MemoryViews
from .retrieve import Search
from .session import UNREAD, Check, Session, in_time
from .task import Task

BY_RULE = "exploring takes a model, so the memory was searched as iris does"


@dataclass(frozen=True, slots=True)
class MRAgent(Variant):
    """MRAgent: at most `iterations` turns of a few calls of tools (T), from the `k` turns that the question finds.

    To explore takes a model. Without one the evidence is looked for as the loop "iris" does, which the answer says.

    Attributes:
        graph: What there are tools for: of "cue-tag-event" none for facts and topics, of "cue-event" none for tags too.
        neighbours: The turns before and after a returned one are shown with it; in the paper a tool returns them.
    """

    iterations: int = 8
    k: int = 5
    graph: Graph = "cue-tag-content"
    neighbours: bool = True

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question once no tool is called any more or the turns are used up."""
        if task.judge.explores:
            return (yield from answered(Session(task, "mragent", self), partial(_explore, self)))
        iris = Iris(without=self.without)
        shallow = replace(self, iterations=iris.iterations, k=iris.k)
        answer = yield from answered(Session(task, "mragent", shallow), partial(_look_by_rule, iris))
        return replace(answer, reason=f"{BY_RULE}; {answer.reason}" if answer.reason else BY_RULE)


@dataclass(frozen=True, slots=True)
class Trail:
    """Where the loop stands after a turn.

    `cues` are those of the question, `results` what the tools returned so far and was kept (Z), `context` the ids of
    the turns that were kept (H), `found` those that are to be shown next, to be kept or not. `calls` are those to make
    next, and `check` is the last one, with the answer so far.
    """

    cues: tuple[str, ...]
    results: tuple[Result, ...] = ()
    context: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    check: Check | None = None


def _look_by_rule(how: Iris, session: Session) -> Flow[Check | None]:
    session.events.append(Acted(0, "search", BY_RULE))
    return (yield from look(how, session))


def _explore(how: MRAgent, session: Session) -> Flow[Check | None]:
    """Explore turn by turn until the judge calls no tool or the turns are used up; return the last check."""
    session.neighbours = how.neighbours
    tools = tools_of(how.graph)
    cues, views, first = _cues(session), MemoryViews(session, tools), Search(session.task.question)
    arrived = yield from session.search_further(first, session.k, path="keyword", iteration=1)
    trail, number = Trail(cues, found=arrived.turns), 1
    while session.retrieval.evidence:
        looked = yield from in_time(session, _look(session, trail, tools, number), number, trail.check)
        if looked is None:
            return _context_only(session, trail)
        trail = looked
        if why := _end(session, trail, number):
            session.stop(number, why)
            return _context_only(session, trail)
        number += 1
        results = yield from views.perform(trail.calls, number)
        _record(session, results, number)
        returned = (row.key for result in results for row in result.rows if session.retrieval.has(row.key))
        found = tuple(dict.fromkeys((*trail.found, *returned)))
        trail = replace(trail, results=(*trail.results, *results), found=found)
    return None


def _cues(session: Session) -> tuple[str, ...]:
    """Return the names and words of the question that the memory knows."""
    analysis = session.analysis
    found = session.task.store.keywords((*analysis.entities, *analysis.keywords), session.task.scope)
    cues = tuple(dict.fromkeys(one.word if one.closeness == 1 else one.term for one in found))
    session.events.append(Acted(1, "cues", detail={"cues": list(cues)}))
    return cues


def _look(session: Session, trail: Trail, tools: tuple[Tool, ...], number: int) -> Flow[Trail]:
    """Have the judge look at what it kept and what was found, keep of that what bears on the question, and go on.

    What is not kept joins no later request; a tool may return it again.
    """
    most, view = session.iterations, session.show(number, only=(*trail.context, *trail.found))
    last = number >= most or session.late
    explored = Explored(number, most, last, trail.cues, trail.results, tools)
    try:
        move: Move = yield from session.consult(session.task.judge.explore(view, explored), number)
    except ReplyError:  # unreadable twice: what the results themselves bring up is called
        best = [item.turn.id for item in view.evidence]
        move = Move(UNREAD, () if last else next_calls(explored, best, view.analysis.terms))
    supports = grounded(move.supports, session.tracker.shown)
    routed = move.kept if session.has("routing") else None
    there = view.readable
    new = there.intersection(trail.found) if routed is None else there.intersection(routed)
    context = tuple(dict.fromkeys((*trail.context, *sorted(new.union(supports)))))
    earlier = trail.check.draft if trail.check else None
    draft = stated(move.answer, supports) if move.answer or earlier is None else earlier
    check = session.weigh(view, replace(move.verdict, notes=(draft.text,) if draft.text else ()))
    session.adopt(context, view)
    detail = {"answer": move.answer, "supports": list(supports), "calls": len(move.calls), "context": list(context)}
    session.events.append(Acted(number, "explore", move.verdict.reason, detail))
    results, unread = route(trail.results, number, routed), tuple(one for one in trail.found if one not in there)
    calls, cited = () if last else move.calls, tuple(one.turn_id for one in draft.citations)
    return Trail(trail.cues, results, context, unread, calls, replace(check, draft=draft, rests_on=cited))


def _context_only(session: Session, trail: Trail) -> Check | None:
    """Return the last check with what was kept, which its answer is written from; where that is none, with all."""
    check = trail.check
    if check is None or not trail.context:
        return check
    return replace(check, view=session.show(check.view.iteration, only=trail.context))


def _end(session: Session, trail: Trail, number: int) -> str | None:
    """Return why the exploring ends, None where it goes on."""
    if number >= session.iterations:
        return "turns used up"
    if session.late:
        return "time used up"
    return None if trail.calls else "nothing to call"


def _record(session: Session, results: tuple[Result, ...], number: int) -> None:
    """Record what each call returned, or why it was refused."""
    for result in results:
        call = result.call
        detail = {"tool": call.tool, "of": call.of, "part": call.part, "page": call.page}
        rows = [row.key for row in result.rows]
        session.events.append(Acted(number, "call", result.refused, {**detail, "rows": rows, "total": result.total}))
