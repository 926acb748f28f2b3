"""Calibrate, as a flow: ask every labelled question as `ask` does, fit a map to the scores, store it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..flow import Flow, keep_setting, roster, setting
from ..judging.judge import Judge
from ..llm.gated_judge import LEAST_TURNS, GatedJudge
from ..llm.llm_judge import LLMJudge
from ..loops import answer_question
from ..offline.offline_judge import OfflineJudge
from ..protocols import Extractor
from ..types.budget import Budget
from ..types.trace import Acted, Judged, Trace
from .apply_calibration import judge_name, matches, mismatch, setting_name, with_calibration
from .calibration_report import Calibration
from .fit_map import ScoredQuestion, Wanted, check, fit

_UNREADABLE = "the stored calibration cannot be read and is not used: run calibrate() again"


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A labelled question with its time parsed, as the loops take it."""

    text: str
    answerable: bool
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CalibrationTarget:
    """What a calibration is fitted to: a judge, the name of its model (empty for rules) and of the embedder."""

    judge: Judge
    model: str
    embedder: str

    @property
    def judge_name(self) -> str:
        """The identity of the judge that a calibration stores."""
        return judge_name(self.judge, self.model)


def calibrate(
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
    before = yield from active_calibration(target)
    scored: list[ScoredQuestion] = []
    for question in questions:
        answer = yield from answer_question(
            question.text, asked_at=question.asked_at, budget=Budget(), judge=target.judge
        )
        one = _scored(answer.trace, answerable=question.answerable, before=before)
        scored += [] if one is None else [one]
        if progress:
            progress(1)
    found = fit(scored, target.judge_name, target.embedder, wanted)
    if keep:
        yield from keep_setting(setting_name(target.judge), found.to_json())
    return found


def stored_calibration(judge: Judge) -> Flow[Calibration | None]:
    """Return the calibration that is stored for a kind of judge, whether or not it matches this judge."""
    text = yield from setting(setting_name(judge))
    return None if text is None else _read(text)


def active_calibration(target: CalibrationTarget) -> Flow[Calibration | None]:
    """Return the calibration that is used with a judge and embedder, if any."""
    found = yield from stored_calibration(target.judge)
    return found if found and matches(found, target.judge_name, target.embedder) else None


def calibrated_judge(target: CalibrationTarget) -> Flow[Judge]:
    """Return the judge with the active calibration applied, or as it is if there is none."""
    found = yield from active_calibration(target)
    return target.judge if found is None else with_calibration(target.judge, found)


def gated_judge(judge: LLMJudge, embedder: str, extractor: Extractor) -> Flow[Judge]:
    """Return a judge that skips the model where the calibrated offline judge is sure of the verdict.

    Below `LEAST_TURNS` turns the judge is returned as it is: the offline judge was not measured on small memories.
    """
    if (yield from roster()).counted < LEAST_TURNS:
        return judge
    offline = yield from calibrated_judge(CalibrationTarget(OfflineJudge(extractor=extractor), "", embedder))
    return GatedJudge(judge, offline) if isinstance(offline, OfflineJudge) else judge


def calibration_problems(target: CalibrationTarget) -> Flow[tuple[str, ...]]:
    """Return why the stored calibration is not used; empty if it is used or there is none."""
    text = yield from setting(setting_name(target.judge))
    if text is None:
        return ()
    found = _read(text)
    why = mismatch(found, target.judge_name, target.embedder) if found else _UNREADABLE
    return () if why is None else (why,)


def _read(text: str) -> Calibration | None:
    try:
        return Calibration.from_json(text)
    except ValueError:
        return None  # written by another version; calibration_problems() reports it


def _scored(trace: Trace, *, answerable: bool, before: Calibration | None) -> ScoredQuestion | None:
    """Return the score and probabilities of the last check of a question; None if it was never judged."""
    scores = [event.detail["score"] for event in trace if isinstance(event, Acted) and "score" in event.detail]
    judged = [event.probability for event in trace if isinstance(event, Judged)]
    if not scores or not judged:
        return None
    in_use = judged[-1] if before is None else before.probability(scores[-1])
    return ScoredQuestion(scores[-1], judged[-1], in_use, answerable)
