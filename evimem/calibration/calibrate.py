"""Calibrate, as a flow: ask every labelled question as `ask` does, fit a map to the scores, store it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..flow import Flow
from ..loops import answer_question
from ..protocols import Store
from ..types.budget import Budget
from ..types.trace import Acted, Judged, Trace
from .apply_calibration import CalibrationTarget, active_calibration, setting_name
from .calibration_report import Calibration
from .fit_map import ScoredQuestion, Wanted, check, fit


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A labelled question with its time parsed, as the loops take it."""

    text: str
    answerable: bool
    asked_at: datetime | None = None


def calibrate(
    store: Store,
    questions: Sequence[LabelledQuestion],
    target: CalibrationTarget,
    wanted: Wanted,
    *,
    keep: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Flow[Calibration]:
    """Ask the questions, fit a map from score to probability and, with `keep`, store it for `ask` to use.

    Questions that retrieve nothing are never judged, so they are left out of the fit. Raise InvalidQuery for too few.
    """
    check([question.answerable for question in questions], wanted)  # before any model request is paid for
    before = active_calibration(store, target)
    scored: list[ScoredQuestion] = []
    for question in questions:
        answer = yield from answer_question(
            question.text, store=store, asked_at=question.asked_at, budget=Budget(), judge=target.judge
        )
        one = _scored(answer.trace, answerable=question.answerable, before=before)
        scored += [] if one is None else [one]
        if progress:
            progress(1)
    found = fit(scored, target.judge_name, target.embedder, wanted)
    if keep:
        store.keep_setting(setting_name(target.judge), found.to_json())
    return found


def _scored(trace: Trace, *, answerable: bool, before: Calibration | None) -> ScoredQuestion | None:
    """Return the score and probabilities of the last check of a question; None if it was never judged."""
    scores = [event.detail["score"] for event in trace if isinstance(event, Acted) and "score" in event.detail]
    judged = [event.own_probability for event in trace if isinstance(event, Judged)]
    if not scores or not judged:
        return None
    in_use = judged[-1] if before is None else before.probability(scores[-1])
    return ScoredQuestion(scores[-1], judged[-1], in_use, answerable)
