"""EviMem's section 4.4: whether a judge's confidence tells that the evidence suffices, and how answers fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from .answer_f1 import ADVERSARIAL
from .answer_overlap import rouge_l
from .estimates import estimate, estimate_of
from .locomo_tables import by_category
from .result_file import Cell
from .run_locomo import QuestionResult

Runs: TypeAlias = Mapping[str, Sequence[QuestionResult]]
RIGHT = 0.5  # official F1 from which an answer that nobody marked counts as right
NEAR = 0.4  # ROUGE-L above which a wrong answer is a near miss
LEVELS = (0.85, 0.7)  # thresholds of confidence at which the loop ends
RELIABILITY = ("", "checks", "Spearman", *(f"precision@{level:g}" for level in LEVELS), "PR-AUC", "of chance")
FAILURES = (
    "", "wrong", "commission", "false abstention", "missed abstention", "commissions at EXACT or from .85",
    "false abstentions after the last check", "false abstentions at PARTIAL", "commissions near the answer",
)  # fmt: skip
Check: TypeAlias = tuple[str, float, bool]  # its conversation, confidence, and whether all gold turns were shown


def reliability(runs: Runs, _: object = ()) -> Iterator[tuple[Cell, ...]]:
    """Yield how far the confidence of each check tells whether all gold turns were shown, by row and category."""
    for name, asked in runs.items():
        for category, some in by_category([one for one in asked if one.gold]).items():
            checks = [
                (one.sample, sure, whole)
                for one in some
                for sure, whole in zip(one.confidences, one.covered, strict=True)
            ]
            precise = (
                estimate([one for one in checks if one[1] >= level], lambda one: one[2], _conversation)
                for level in LEVELS
            )
            yield (
                f"{name}, {category}",
                len(checks),
                estimate_of(checks, spearman, _conversation),
                *precise,
                estimate_of(checks, pr_auc, _conversation),
                estimate(checks, lambda one: one[2], _conversation),
            )


def failures(runs: Runs, _: object = ()) -> Iterator[tuple[Cell, ...]]:
    """Yield the kinds of wrong answers of each row by category, as shares of the wrong ones.

    A commission is a wrong answer to a question that has one, a false abstention none to such a question, and a missed
    abstention an answer to a question that has none.
    """
    for name, asked in runs.items():
        for category, some in by_category([one for one in asked if not one.failed]).items():
            wrong = [one for one in some if not _is_right(one)]
            committed = [one for one in wrong if _kind(one) == "commission"]
            abstained = [one for one in wrong if _kind(one) == "false abstention"]
            yield (
                f"{name}, {category}",
                len(wrong),
                *(_share(wrong, _is_of(kind)) for kind in FAILURES[2:5]),
                _share(committed, lambda one: one.tier == "exact" or one.sufficient >= LEVELS[0]),
                _share(abstained, _is_of_last(asked)),
                _share(abstained, lambda one: one.tier == "partial"),
                _share(committed, _is_near),
            )


def spearman(checks: Sequence[Check]) -> float | None:
    """Return the rank correlation of confidence and sufficiency, ties at their mean; None where one is constant."""
    sure, whole = (_ranks([float(one[place]) for one in checks]) for place in (1, 2))
    if not (sure.std() and whole.std()):
        return None
    return float(np.corrcoef(sure, whole)[0, 1])


def pr_auc(checks: Sequence[Check]) -> float | None:
    """Return the average precision of sufficiency by confidence, equal ones at once; None where no check suffices."""
    sure = np.array([one[1] for one in checks])
    whole = np.array([one[2] for one in checks])
    if not whole.any():
        return None
    area = found = 0.0
    for level in np.unique(sure)[::-1]:
        at_least = sure >= level
        hits = float(whole[at_least].sum())
        area += (hits - found) / whole.sum() * hits / at_least.sum()
        found = hits
    return float(area)


def _ranks(values: Sequence[float]) -> np.ndarray:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _is_right(one: QuestionResult) -> bool:
    if one.correct is not None:
        return one.correct
    return one.abstained if one.category == ADVERSARIAL or one.wanted is None else one.f1 >= RIGHT


def _kind(one: QuestionResult) -> str:
    if one.category == ADVERSARIAL or one.wanted is None:
        return "missed abstention"
    return "false abstention" if one.abstained else "commission"


def _is_near(one: QuestionResult) -> bool:
    """Return whether a wrong answer has much of the right one in it: a part was found, and a detail was not."""
    return one.text is not None and one.wanted is not None and rouge_l(one.text, one.wanted) > NEAR


def _is_of(kind: str) -> Callable[[QuestionResult], bool]:
    return lambda one: _kind(one) == kind


def _is_of_last(asked: Sequence[QuestionResult]) -> Callable[[QuestionResult], bool]:
    most = max((one.checks for one in asked), default=0)
    return lambda one: one.checks == most


def _share(some: Sequence[QuestionResult], holds: Callable[[QuestionResult], bool]) -> Cell:
    return estimate(some, holds, lambda one: one.sample)


def _conversation(check: Check) -> str:
    return check[0]
