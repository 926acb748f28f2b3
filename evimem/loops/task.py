"""One question put to a loop: who judges it, how hard to look, and what day it is; and what a loop is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from ..flow import Flow
from ..judging.evidence import Ablation
from ..judging.judge import Judge
from ..protocols import Store
from ..types.answer import Answer, Budget
from ..types.stored import EVERYTHING, Scope
from ..types.trace import Event


@dataclass(frozen=True, slots=True)
class Task:
    """Everything a loop is given.

    `store` is the memory, called plainly.
    `asked_at` None means the time of the newest turn. `clock` counts seconds. `on_event` is called with each event
    of the trace as it is recorded. `earlier` are the events of a failed attempt, after which the trace goes on. Turns
    whose ids are in `exclude`, or that `scope` does not admit, are never evidence. `lacking` are parts that the store
    has not, whatever the loop.
    """

    question: str
    judge: Judge
    store: Store = field(compare=False)
    asked_at: datetime | None = None
    budget: Budget = field(default_factory=Budget)
    exclude: frozenset[str] = frozenset()
    scope: Scope = EVERYTHING
    clock: Callable[[], float] = field(default=time.monotonic, compare=False)
    on_event: Callable[[Event], None] | None = field(default=None, compare=False)
    earlier: tuple[Event, ...] = ()
    lacking: frozenset[Ablation] = frozenset()


class Loop(Protocol):
    """How a question is answered: a flow from a task to an answer, as `ask(loop=)` takes it, by name or as it is.

    A flow is a generator that yields what a model or an embedder is asked (see `evimem.flow`) and waits for nobody
    itself, so that both doors, a replay and a `Searcher` in place of the memory run it unchanged. `evimem.loops` has
    the parts that the shipped ones are made of: `as_loop` gives a flow the `Session` of its question, which searches,
    shows, judges and records, and `concluded` makes an answer whose citations were shown. A loop that asks a model
    (`evimem.flow.complete`) where there is none is ended with NoModel.
    """

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer the question of a task; a ModelError that ends it carries what is known in `partial`."""
        ...
