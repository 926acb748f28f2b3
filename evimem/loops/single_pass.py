"""Retrieve once, judge, answer: the baseline."""

from __future__ import annotations

from dataclasses import dataclass

from ..flow import Flow
from ..judging.variant import Variant
from ..types.answer import Answer
from .answering import answered
from .retrieve import Search
from .session import Check, Session
from .task import Task


@dataclass(frozen=True, slots=True)
class SinglePass(Variant):
    """One search, one check, one answer."""

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question from one search."""
        return answered(Session(task, "single_pass", self), _look)


def _look(session: Session) -> Flow[Check | None]:
    yield from session.search(Search(session.task.question), session.k, path="anchor", iteration=1)
    if not session.retrieval.evidence:
        return None
    check = yield from session.check(1)
    session.stop(1, "single pass")
    return check
