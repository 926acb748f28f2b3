"""Score the probabilities of a run: that a question has an answer, and that all evidence was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..calibration.curves import Bin, Point, aurc, auroc, ece, reliability, risk_coverage
from .answer_f1 import ADVERSARIAL
from .run_locomo import QuestionResult


@dataclass(frozen=True, slots=True)
class ProbabilityScores:
    """The quality of a probability. `base` is the share of true labels; `marked` the result of acting on a tier."""

    questions: int
    base: float
    auroc: float
    ece: float
    aurc: float
    reliability: tuple[Bin, ...]
    curve: tuple[Point, ...]
    marked: Point | None = None


def answering(asked: Sequence[QuestionResult]) -> ProbabilityScores | None:
    """Score `confidence` as the probability that a question has an answer."""
    return _scores([one.confidence for one in asked], [one.category != ADVERSARIAL for one in asked])


def sufficiency(asked: Sequence[QuestionResult]) -> ProbabilityScores | None:
    """Score the judge's confidence as the probability that all gold turns are in its last view.

    Over answerable questions with evidence; `marked` is the result of the tier EXACT.
    """
    seen = [one for one in asked if one.gold and one.category != ADVERSARIAL]
    exact = [one.complete for one in seen if one.tier == "exact"]
    marked = Point(0.0, len(exact) / len(seen), exact.count(False) / len(exact)) if exact else None
    return _scores([one.sufficient for one in seen], [one.complete for one in seen], marked)


def _scores(
    probabilities: Sequence[float], labels: Sequence[bool], marked: Point | None = None
) -> ProbabilityScores | None:
    """Return the scores; None if all labels are equal, for which AUROC is undefined."""
    if len(set(labels)) < 2:
        return None
    bins = reliability(probabilities, labels)
    return ProbabilityScores(
        questions=len(labels),
        base=sum(labels) / len(labels),
        auroc=auroc(probabilities, labels),
        ece=ece(bins),
        aurc=aurc(probabilities, labels),
        reliability=bins,
        curve=risk_coverage(probabilities, labels),
        marked=marked,
    )
