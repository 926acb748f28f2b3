"""What the probabilities of a run are worth: of answering at all, and of having seen all the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..calibration.curves import Bin, Point, aurc, auroc, ece, reliability, risk_coverage
from .answer_f1 import ADVERSARIAL
from .run_locomo import QuestionResult


@dataclass(frozen=True, slots=True)
class Worth:
    """A probability against what came true: `base` is the share that did, `marked` what acting on a tier comes to."""

    questions: int
    base: float
    auroc: float
    ece: float
    aurc: float
    reliability: tuple[Bin, ...]
    curve: tuple[Point, ...]
    marked: Point | None = None


def answering(asked: Sequence[QuestionResult]) -> Worth | None:
    """Return what `confidence` is worth as the probability that a question has an answer."""
    return _worth([one.confidence for one in asked], [one.category != ADVERSARIAL for one in asked])


def sufficiency(asked: Sequence[QuestionResult]) -> Worth | None:
    """Return what the judge's confidence is worth as the probability that all gold turns are in its last view.

    Over answerable questions with evidence; `marked` is the tier EXACT.
    """
    seen = [one for one in asked if one.gold and one.category != ADVERSARIAL]
    exact = [one.complete for one in seen if one.tier == "exact"]
    marked = Point(0.0, len(exact) / len(seen), exact.count(False) / len(exact)) if exact else None
    return _worth([one.sufficient for one in seen], [one.complete for one in seen], marked)


def _worth(sure: Sequence[float], labels: Sequence[bool], marked: Point | None = None) -> Worth | None:
    """Return None where there is only one kind: nothing can be told apart then."""
    if len(set(labels)) < 2:
        return None
    bins = reliability(sure, labels)
    return Worth(
        questions=len(labels),
        base=sum(labels) / len(labels),
        auroc=auroc(sure, labels),
        ece=ece(bins),
        aurc=aurc(sure, labels),
        reliability=bins,
        curve=risk_coverage(sure, labels),
        marked=marked,
    )
