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
from ..types.trace import Event
from .iris import iris
from .memr3 import memr3
from .single_pass import single_pass
from .task import Task
from .variants import VARIANTS as VARIANTS

ABLATIONS = get_args(Ablation)
LOOPS: Mapping[str, Callable[[Task], Flow[Answer]]] = MappingProxyType(
    {"iris": iris, "memr3": memr3, "single_pass": single_pass}
)


def answer_question(
    question: str,
    *,
    judge: Judge,
    loop: str = "iris",
    asked_at: datetime | None = None,
    budget: Budget | None = None,
    on_event: Callable[[Event], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Flow[Answer]:
    """Answer a question with a loop and a judge. Raise InvalidQuery for one that makes no sense.

    `usage.seconds` of the answer, or of a failure's partial answer, is the time that passed by `clock`.
    """
    started = clock()
    check_asked("question", question)
    if not isinstance(loop, str) or loop not in LOOPS:
        raise InvalidQuery(f"there is no loop {loop!r}; expected one of {', '.join(sorted(LOOPS))}")
    allowed = budget or Budget()
    _check_budget(allowed)
    try:
        answer = yield from LOOPS[loop](Task(question, judge, asked_at, allowed, clock, on_event))
    except ModelError as error:
        if error.partial is not None:
            error.partial = _timed(error.partial, clock() - started)
        raise
    return _timed(answer, clock() - started)


def _timed(answer: Answer, seconds: float) -> Answer:
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
