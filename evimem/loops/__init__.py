"""The loops, by name: each a flow from a task to an answer with its trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import get_args

from ..errors import InvalidQuery, ModelError
from ..flow import Flow
from ..judging.judge import Judge
from ..query.analysis import check_asked
from ..types.answer import Answer
from ..types.budget import Ablation, Budget
from ..types.trace import Event
from .iris import iris
from .single_pass import single_pass
from .task import Task
from .variants import VARIANTS as VARIANTS

LOOPS: Mapping[str, Callable[[Task], Flow[Answer]]] = MappingProxyType({"iris": iris, "single_pass": single_pass})


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
    if loop not in LOOPS:
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
    for name, least in (("iterations", 1), ("k", 1), ("step", 0), ("hops", 0), ("tokens", 1)):
        value = getattr(budget, name)
        if not isinstance(value, int) or value < least:
            raise InvalidQuery(f"budget.{name} is {value!r}; expected a whole number from {least} on")
    if budget.reader not in ("verified", "span"):
        raise InvalidQuery(f"budget.reader is {budget.reader!r}; expected 'verified' or 'span'")
    unknown = set(budget.without) - set(get_args(Ablation))
    if unknown or isinstance(budget.without, str):
        raise InvalidQuery(f"budget.without is {budget.without!r}; expected some of {', '.join(get_args(Ablation))}")
    below = budget.abstain_below
    if below is not None and not 0 <= below <= 1:
        raise InvalidQuery(f"budget.abstain_below is {below!r}; expected a probability between 0 and 1")
