"""The loops, by name: each a flow from a task to an answer with its trace; and the parts to make another of."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from ..errors import InvalidQuery, ModelError, shown
from ..flow import Flow
from ..judging.evidence import Ablation
from ..judging.evidence import Variant as Variant
from ..judging.judge import Judge
from ..protocols import Store
from ..query.analysis import check_asked
from ..types.answer import MOST, Answer, Budget
from ..types.stored import EVERYTHING, Scope
from ..types.trace import FALL_BACK, Acted, Event
from .answering import as_loop as as_loop
from .answering import concluded as concluded
from .answering import drafted as drafted
from .answering import nothing as nothing
from .iris import Iris as Iris
from .iris import SinglePass as SinglePass
from .memr3 import MemR3 as MemR3
from .mgretrieval import MGRetrieval as MGRetrieval
from .mragent import MRAgent as MRAgent
from .retrieve import Search as Search
from .session import Check as Check
from .session import Session as Session
from .task import Loop, Task
from .variants import VARIANTS as VARIANTS

LOOPS: Mapping[str, Iris | MemR3 | MGRetrieval | MRAgent | SinglePass] = MappingProxyType(
    {"iris": Iris(), "memr3": MemR3(), "mgretrieval": MGRetrieval(), "mragent": MRAgent(), "single_pass": SinglePass()}
)

# What these read of a store a searcher answers too: the others read keywords, facts or times, which it has none of.
OVER_SEARCHERS = frozenset(("iris", "memr3", "single_pass"))


def answer_question(  # noqa: PLR0913 - a task, in parts
    question: str,
    *,
    store: Store,
    judge: Judge,
    loop: str | Loop = "iris",
    asked_at: datetime | None = None,
    budget: Budget | None = None,
    scope: Scope = EVERYTHING,
    on_event: Callable[[Event], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    lacking: frozenset[Ablation] = frozenset(),
) -> Flow[Answer]:
    """Answer a question with a loop and a judge. Raise InvalidQuery for one that makes no sense.

    `usage.seconds` of the answer, or of a failure's partial answer, is the time that passed by `clock`.
    """
    check_asked("question", question)
    chosen = chosen_loop(loop)
    allowed = budget or Budget()
    check_budget(allowed)
    task = Task(question, judge, store, asked_at, allowed, scope=scope, clock=clock, on_event=on_event, lacking=lacking)
    return (yield from _timed(task, chosen))


def chosen_loop(loop: str | Loop) -> Loop:
    """Return the loop of a name, or the one that is given. Raise InvalidQuery for what is neither."""
    if isinstance(loop, str) and loop in LOOPS:
        return LOOPS[loop]
    if callable(loop) and not isinstance(loop, type):
        return loop
    raise InvalidQuery(
        f"there is no loop {shown(loop, 100)}; expected one of {', '.join(sorted(LOOPS))}, or a function from an "
        "evimem.loops.Task to a flow"
    )


def fall_back(  # noqa: PLR0913 - a task, in parts
    error: ModelError,
    *,
    store: Store,
    judge: Judge,
    loop: str | Loop | None = None,
    asked_at: datetime | None = None,
    budget: Budget | None = None,
    scope: Scope = EVERYTHING,
    on_event: Callable[[Event], None] | None = None,
) -> Flow[Answer]:
    """Ask the question that a model's failure ended once more, of a judge that needs no model.

    `error` has a partial answer: the trace goes on after its events, with one that names the failure; its usage and
    seconds are counted. The answer's reason begins with that failure. `loop` is what failed, by default that of the
    trace; `budget` is what is left, see `remaining`. Raise InvalidQuery for one that makes no sense.
    """
    allowed = budget or Budget()
    check_budget(allowed)
    failed: Answer = error.partial
    why = f"the model failed ({type(error).__name__}: {error}), so the {judge.name} judge was asked"
    event = Acted(failed.trace.events[-1].iteration, FALL_BACK, why)
    if on_event is not None:
        on_event(event)
    earlier = (*failed.trace.events, event)
    question = failed.trace.question
    again = Task(question, judge, store, asked_at, allowed, scope=scope, on_event=on_event, earlier=earlier)
    answer = yield from _timed(again, chosen_loop(failed.trace.loop if loop is None else loop))
    reason = f"{why}; {answer.reason}" if answer.reason else why
    return replace(_with_seconds(answer, failed.usage.seconds + answer.usage.seconds), reason=reason)


def remaining(budget: Budget, spent: Answer) -> Budget:
    """Return the budget with the seconds that an attempt has left of it, 0 where it used them up."""
    if budget.seconds is None:
        return budget
    return replace(budget, seconds=max(0.0, budget.seconds - spent.usage.seconds))


def _timed(task: Task, loop: Loop) -> Flow[Answer]:
    """Run a loop; its answer, or the partial answer of a failure, says how long it took."""
    started = task.clock()
    try:
        answer = yield from _checked(loop(task))
    except ModelError as error:
        if error.partial is not None:
            error.partial = _with_seconds(error.partial, task.clock() - started)
        raise
    return _with_seconds(answer, task.clock() - started)


def _checked(flow: object) -> Flow[Answer]:
    """Run what a loop returned. Raise InvalidQuery where it is no flow, or comes to no answer."""
    if not isinstance(flow, Generator):
        raise InvalidQuery(f"the loop returned {shown(flow)}; expected a flow: a generator that returns an Answer")
    answer = yield from flow
    if not isinstance(answer, Answer):
        raise InvalidQuery(f"the loop came to {shown(answer)}; expected an Answer, as evimem.loops.concluded makes one")
    return answer


def _with_seconds(answer: Answer, seconds: float) -> Answer:
    return replace(answer, usage=replace(answer.usage, seconds=seconds))


def check_budget(budget: Budget) -> None:
    """Raise InvalidQuery for a budget with a field out of range."""
    for name in ("iterations", "k", "tokens"):
        value = getattr(budget, name)
        if value is None and name != "tokens":
            continue
        if not isinstance(value, int) or not 1 <= value <= MOST:
            raise InvalidQuery(f"budget.{name} is {shown(value)}; expected a whole number from 1 to {MOST}")
    if not isinstance(budget.format, str):
        raise InvalidQuery(f"budget.format is {shown(budget.format)}; expected how to write the answer, in words")
    below, seconds = budget.abstain_below, budget.seconds
    if below is not None and not (_is_number(below) and 0 <= below <= 1):
        raise InvalidQuery(f"budget.abstain_below is {shown(below)}; expected a probability between 0 and 1")
    if seconds is not None and not (_is_number(seconds) and seconds >= 0):
        raise InvalidQuery(f"budget.seconds is {shown(seconds)}; expected a number from 0 on, or None")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))
