"""Retrieve once, judge, answer: the baseline."""

from __future__ import annotations

from ..flow import Flow
from ..types.answer import Answer
from .answering import as_loop, concluded, drafted, nothing
from .retrieve import Search
from .session import Session


@as_loop("single_pass")
def single_pass(session: Session) -> Flow[Answer]:
    """Answer a question from one search."""
    yield from session.search(Search(session.task.question), session.budget.k, path="anchor", iteration=1)
    if not session.retrieval.evidence:
        return nothing(session, 1)
    check = yield from session.check(1)
    session.stop(1, "single pass")
    return concluded(session, check, (yield from drafted(session, check)))
