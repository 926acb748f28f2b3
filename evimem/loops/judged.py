"""How far a memory answers a question, judged as `ask` judges it, without an answer."""

from __future__ import annotations

from dataclasses import dataclass

from ..flow import Flow
from ..types.values import Gap, Tier
from .iris import Iris
from .task import Task


@dataclass(frozen=True, slots=True)
class Judgement:
    """The tier of the evidence, the probability that it answers the question, and what is missing, the worst first."""

    tier: Tier
    confidence: float
    missing: tuple[Gap, ...]


def judged(task: Task) -> Flow[Judgement]:
    """Ask as IRIS does, and return what its answer or abstention says of the evidence."""
    answer = yield from Iris()(task)
    confidence = 1.0 - answer.confidence if answer.abstained else answer.confidence
    return Judgement(answer.tier, confidence, answer.gaps)
