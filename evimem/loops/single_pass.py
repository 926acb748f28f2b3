"""Retrieve once, judge, answer: the baseline."""

from __future__ import annotations

from ..errors import ModelError
from ..flow import Flow, roster
from ..types.answer import Answer
from .answering import concluded, drafted, nothing, partial
from .retrieve import Search
from .session import Session
from .task import Task


def single_pass(task: Task) -> Flow[Answer]:
    """Answer a question from one search."""
    session = Session(task, "single_pass", (yield from roster()))
    try:
        yield from session.search(Search(task.question), task.budget.k, path="anchor", iteration=1)
        if not session.retrieval.evidence:
            return nothing(session, 1)
        check = yield from session.check(1)
        session.stop(1, "single pass")
        return concluded(session, check, (yield from drafted(session, check)))
    except ModelError as error:
        error.partial = partial(session, error)
        raise
