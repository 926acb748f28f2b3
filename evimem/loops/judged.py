"""How far a memory answers a question, judged as `ask` judges it, without an answer."""

from __future__ import annotations

from dataclasses import dataclass

from ..flow import Flow
from ..types.values import Gap, Tier
from .iris import look
from .session import Session
from .task import Task


@dataclass(frozen=True, slots=True)
class Judgement:
    """The tier of the evidence, the probability that it answers the question, and what is missing, the worst first."""

    tier: Tier
    confidence: float
    missing: tuple[Gap, ...]


def judged(task: Task) -> Flow[Judgement]:
    """Retrieve, judge and refine as IRIS does, and stop where it would answer or abstain."""
    session = Session(task, "iris")
    check = yield from look(session)
    if check is None:
        return Judgement(Tier.NONE, 0.0, tuple(requirement.gap for requirement in session.tracker.open))
    verdict = check.verdict
    confidence = verdict.confidence if verdict.probability is None else verdict.probability
    return Judgement(verdict.tier, confidence, verdict.gaps)
