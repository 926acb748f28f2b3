"""The loops, by name: each a flow from a task to an answer with its trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, get_args

from ..errors import InvalidQuery, ModelError
from ..flow import Flow
from ..judging.judge import Judge
from ..query.analysis import check_asked
from ..types.answer import Answer
from ..types.budget import MOST, Ablation, Budget
from ..types.stored import EVERYTHING, Scope
from ..types.trace import FALL_BACK, Acted, Event
from .iris import iris
from .memr3 import memr3
from .single_pass import single_pass
from .task import Task
from .variants import VARIANTS as VARIANTS

ABLATIONS = get_args(Ablation)
LOOPS: Mapping[str, Callable[[Task], Flow[Answer]]] = MappingProxyType(
    {"iris": iris, "memr3": memr3, "single_pass": single_pass}
)


def answer_question(  # noqa: PLR0913 - a task, in parts
    question: str,
    *,
    judge: Judge,
    loop: str = "iris",
    asked_at: datetime | None = None,
    budget: Budget | None = None,
    scope: Scope = EVERYTHING,
    on_event: Callable[[Event], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Flow[Answer]:
    """Answer a question with a loop and a judge. Raise InvalidQuery for one that makes no sense.

    `usage.seconds` of the answer, or of a failure's partial answer, is the time that passed by `clock`.
    """
    check_asked("question", question)
    if not isinstance(loop, str) or loop not in LOOPS:
        raise InvalidQuery(f"there is no loop {loop!r}; expected one of {', '.join(sorted(LOOPS))}")
    allowed = budget or Budget()
    _check_budget(allowed)
    task = Task(question, judge, asked_at, allowed, scope=scope, clock=clock, on_event=on_event)
    return (yield from _timed(task, loop))


def fall_back(
    error: ModelError,
    *,
    judge: Judge,
    asked_at: datetime | None = None,
    budget: Budget | None = None,
    scope: Scope = EVERYTHING,
    on_event: Callable[[Event], None] | None = None,
) -> Flow[Answer]:
    """Ask the question that a model's failure ended once more, of a judge that needs no model.

    `error` has a partial answer: the trace goes on after its events, with one that names the failure; its usage and
    seconds are counted. The answer's reason begins with that failure. `budget` is what is left, see `remaining`. Raise
    InvalidQuery for one that makes no sense.
    """
    allowed = budget or Budget()
    _check_budget(allowed)
    failed: Answer = error.partial
    why = f"the model failed ({type(error).__name__}: {error}), so the {judge.name} judge was asked"
    event = Acted(failed.trace.events[-1].iteration, FALL_BACK, why)
    if on_event is not None:
        on_event(event)
    earlier = (*failed.trace.events, event)
    again = Task(failed.trace.question, judge, asked_at, allowed, scope=scope, on_event=on_event, earlier=earlier)
    answer = yield from _timed(again, failed.trace.loop)
    reason = f"{why}; {answer.reason}" if answer.reason else why
    return replace(_with_seconds(answer, failed.usage.seconds + answer.usage.seconds), reason=reason)


def remaining(budget: Budget, spent: Answer) -> Budget:
    """Return the budget with the seconds that an attempt has left of it, 0 where it used them up."""
    if budget.seconds is None:
        return budget
    return replace(budget, seconds=max(0.0, budget.seconds - spent.usage.seconds))


def _timed(task: Task, loop: str) -> Flow[Answer]:
    """Run a loop; its answer, or the partial answer of a failure, says how long it took."""
    started = task.clock()
    try:
        answer = yield from LOOPS[loop](task)
    except ModelError as error:
        if error.partial is not None:
            error.partial = _with_seconds(error.partial, task.clock() - started)
        raise
    return _with_seconds(answer, task.clock() - started)


def _with_seconds(answer: Answer, seconds: float) -> Answer:
    return replace(answer, usage=replace(answer.usage, seconds=seconds))


def _check_budget(budget: Budget) -> None:
    for name, least in (("iterations", 1), ("decisions", 1), ("k", 1), ("step", 0), ("hops", 0), ("tokens", 1)):
        value = getattr(budget, name)
        if not isinstance(value, int) or not least <= value <= MOST:
            raise InvalidQuery(f"budget.{name} is {value!r:.60}; expected a whole number from {least} to {MOST}")
    parts: Any = budget.without
    if not isinstance(parts, Collection) or isinstance(parts, str) or any(part not in ABLATIONS for part in parts):
        raise InvalidQuery(f"budget.without is {parts!r}; expected some of {', '.join(ABLATIONS)}")
    below, seconds, delta = budget.abstain_below, budget.seconds, budget.delta
    if below is not None and not (_is_number(below) and 0 <= below <= 1):
        raise InvalidQuery(f"budget.abstain_below is {below!r}; expected a probability between 0 and 1")
    if seconds is not None and not (_is_number(seconds) and seconds >= 0):
        raise InvalidQuery(f"budget.seconds is {seconds!r}; expected a number from 0 on, or None")
    if delta != "paper" and not (isinstance(delta, int) and 0 <= delta <= MOST):
        raise InvalidQuery(f"budget.delta is {delta!r}; expected a whole number from 0 on, or 'paper'")
    for name, kinds in (
        ("abstain", ("calibrated", "paper")),
        ("calls", ("joint", "separate")),
        ("gate", (True, False)),
        ("reader", ("verified", "span")),
    ):
        if getattr(budget, name) not in kinds:
            raise InvalidQuery(f"budget.{name} is {getattr(budget, name)!r}; expected one of {kinds!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))
