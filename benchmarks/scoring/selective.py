"""Score the probabilities of a run: that a question has an answer, that all evidence was seen, that a claim holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evimem.calibration import Bin, Point, aurc, auroc, ece, reliability, risk_coverage

from .answer_f1 import ADVERSARIAL
from .estimates import estimate_of
from .result_file import Cell
from .run_locomo import QuestionResult

MEASURES = ("AUROC", "ECE", "AURC")


@dataclass(frozen=True, slots=True)
class LabelledProbability:
    """A probability about a question of a conversation, and whether what it is of came true."""

    conversation: str
    probability: float
    label: bool


@dataclass(frozen=True, slots=True)
class ProbabilityScores:
    """The quality of a probability. `base` is the share of true labels; `marked` the result of acting on a tier.

    `items` are what was scored, for `measured`: intervals take a thousand times as long as the scores.
    """

    questions: int
    base: float
    auroc: float
    ece: float
    aurc: float
    reliability: tuple[Bin, ...]
    curve: tuple[Point, ...]
    marked: Point | None = None
    items: Sequence[LabelledProbability] = ()


def answering(asked: Sequence[QuestionResult]) -> ProbabilityScores | None:
    """Score `confidence` as the probability that a question has an answer."""
    return _scores([LabelledProbability(one.sample, one.confidence, one.category != ADVERSARIAL) for one in asked])


def sufficiency(asked: Sequence[QuestionResult]) -> ProbabilityScores | None:
    """Score the judge's confidence as the probability that all gold turns are in its last view.

    Over answerable questions with evidence; `marked` is the result of the tier EXACT.
    """
    seen = [one for one in asked if one.gold and one.category != ADVERSARIAL]
    exact = [one.complete for one in seen if one.tier == "exact"]
    marked = Point(0.0, len(exact) / len(seen), exact.count(False) / len(exact)) if exact else None
    return _scores([LabelledProbability(one.sample, one.sufficient, one.complete) for one in seen], marked)


def measured(items: Sequence[LabelledProbability]) -> tuple[Cell, ...]:
    """Return AUROC, ECE and AURC with their intervals over conversations; None where one is undefined."""
    return tuple(estimate_of(items, measure, lambda one: one.conversation) for measure in (_auroc, _ece, _aurc))


def _scores(items: Sequence[LabelledProbability], marked: Point | None = None) -> ProbabilityScores | None:
    """Return the scores; None if all labels are equal, for which AUROC is undefined."""
    area = _auroc(items)
    if area is None:
        return None
    probabilities, labels = _apart(items)
    return ProbabilityScores(
        questions=len(items),
        base=sum(labels) / len(labels),
        auroc=area,
        ece=_ece(items),
        aurc=_aurc(items),
        reliability=reliability(probabilities, labels),
        curve=risk_coverage(probabilities, labels),
        marked=marked,
        items=items,
    )


def _apart(items: Sequence[LabelledProbability]) -> tuple[list[float], list[bool]]:
    return [one.probability for one in items], [one.label for one in items]


def _auroc(items: Sequence[LabelledProbability]) -> float | None:
    return auroc(*_apart(items)) if len({one.label for one in items}) > 1 else None


def _ece(items: Sequence[LabelledProbability]) -> float:
    return ece(reliability(*_apart(items)))


def _aurc(items: Sequence[LabelledProbability]) -> float:
    return aurc(*_apart(items))
