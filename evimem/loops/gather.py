"""The evidence for a question, judged as `ask` judges it, without an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..flow import Flow, roster
from ..judging.evidence import Evidence
from ..types.values import Gap
from .iris import look
from .retrieve import Search
from .session import Check, Session
from .task import Task

# Ranks by which a turn that another search than the question's own brought comes later. Chosen on every third question
# of two LoCoMo development conversations, for gold turns within 500 to 1,500 tokens; 5 does about as well.
BEHIND = 10


@dataclass(frozen=True, slots=True)
class Gathered:
    """The last check of a question, None where nothing was found, and what is missing, the worst first.

    The evidence of its view goes on where the judge stopped reading, `Task.further` turns of the search, and is in the
    order of the question's own search: turns that refined queries or edges brought stand `BEHIND` ranks lower.
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
    view = replace(check.view, evidence=(yield from _by_question(session)))
    return Gathered(replace(check, view=view), check.verdict.gaps)


def _by_question(session: Session) -> Flow[tuple[Evidence, ...]]:
    """Return all evidence by its rank in the search for the question itself; others stand behind."""
    own = yield from session.retrieval.ranked(Search(session.task.question), session.task.further)
    ranks = {hit.turn.id: rank for rank, hit in enumerate(own)}
    placed = [
        (min(ranks.get(item.turn.id, most), most), item) for most, item in enumerate(session.retrieval.evidence, BEHIND)
    ]
    return tuple(item for _, item in sorted(placed, key=lambda pair: pair[0]))
