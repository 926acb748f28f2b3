"""The evidence for a question, judged as `ask` judges it, without an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..flow import Flow, roster
from ..types.values import Gap
from .iris import look
from .retrieve import Search
from .session import Check, Session
from .task import Task


@dataclass(frozen=True, slots=True)
class Gathered:
    """The last check of a question, None where nothing was found, and what is missing, the worst first.

    The evidence of its view goes on, best first, where the judge stopped reading: `Task.further` turns of the search.
    """

    check: Check | None
    missing: tuple[Gap, ...]


def gather(task: Task) -> Flow[Gathered]:
    """Retrieve, judge and refine as IRIS does, and stop where it would answer or abstain."""
    session = Session(task, "iris", (yield from roster()))
    check = yield from look(session)
    if check is None:
        return Gathered(None, tuple(requirement.gap for requirement in session.tracker.open))
    yield from session.search(Search(task.question), task.further, path="anchor", iteration=check.view.iteration)
    view = replace(check.view, evidence=session.retrieval.evidence)
    return Gathered(replace(check, view=view), check.verdict.gaps)
