"""One question put to a loop: who judges it, how hard to look, and what day it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from ..judging.judge import Judge
from ..types.budget import Budget
from ..types.stored import EVERYTHING, Scope
from ..types.trace import Event


@dataclass(frozen=True, slots=True)
class Task:
    """Everything a loop is given.

    `asked_at` None means the time of the newest turn. `clock` counts seconds. `on_event` is called with each event
    of the trace as it is recorded. `earlier` are the events of a failed attempt, after which the trace goes on. Turns
    whose ids are in `exclude`, or that `scope` does not admit, are never evidence. `further` is how many turns a search
    keeps at least, for what comes after the last check.
    """

    question: str
    judge: Judge
    asked_at: datetime | None = None
    budget: Budget = field(default_factory=Budget)
    exclude: frozenset[str] = frozenset()
    scope: Scope = EVERYTHING
    further: int = 0
    clock: Callable[[], float] = field(default=time.monotonic, compare=False)
    on_event: Callable[[Event], None] | None = field(default=None, compare=False)
    earlier: tuple[Event, ...] = ()
