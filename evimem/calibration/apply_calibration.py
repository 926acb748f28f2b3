"""Apply a stored calibration to a judge, if it was fitted to the same judge and embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b

from ..errors import EmbedderError, or_else, try_read
from ..flow import Flow
from ..judging.judge import Judge
from ..loops import Task, answer_question
from ..offline.offline_judge import OfflineJudge
from ..offline.signals import Monotone
from ..protocols import Store
from ..types.trace import Acted, Judged, Trace
from . import Calibration, ScoredQuestion, Wanted, check_labels, fit


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

    Questions that retrieve nothing are never judged, so they are left out of the fit. Raise InvalidQuery for too few,
    and EmbedderError where a question was searched for by its words: the fit would be that of another memory.
    """
    check_labels([question.answerable for question in questions], wanted)  # before any model request is paid for
    before = active_calibration(store, target)
    scored: list[ScoredQuestion] = []
    for question in questions:
        answer = yield from answer_question(Task(question.text, target.judge, store, question.asked_at))
        one = _last_scores(answer.trace, answerable=question.answerable, before=before)
        scored += [] if one is None else [one]
        if progress:
            progress(1)
    found = fit(scored, target.judge_name, target.embedder, wanted)
    if keep:
        store.keep_setting(target.setting, found.to_json())
    return found


def _last_scores(trace: Trace, *, answerable: bool, before: Calibration | None) -> ScoredQuestion | None:
    """Return the score and probabilities of the last check of a question; None if it was never judged.

    Raise EmbedderError where it was searched for by its words.
    """
    acted = [event for event in trace if isinstance(event, Acted)]
    if any(event.action == "by words" for event in acted):
        raise EmbedderError("the embedder failed on a question; nothing is stored: calibrate again when it works")
    scores = [event.detail["score"] for event in acted if "score" in event.detail]
    judged = [event.own_probability for event in trace if isinstance(event, Judged)]
    if not scores or not judged:
        return None
    in_use = judged[-1] if before is None else before.probability(scores[-1])
    return ScoredQuestion(scores[-1], judged[-1], in_use, answerable)


@dataclass(frozen=True, slots=True)
class CalibrationTarget:
    """The target of a calibration: a judge, the name of its model (empty for rules) and of the embedder."""

    judge: Judge
    model: str
    embedder: str

    @property
    def setting(self) -> str:
        """The name of the setting that stores the calibration: one for the rules, one for models."""
        return "calibration.offline" if isinstance(self.judge, OfflineJudge) else "calibration.llm"

    @property
    def judge_name(self) -> str:
        """The identity of the judge: the model's name, or the rules with a digest of the constants of their score."""
        if not isinstance(self.judge, OfflineJudge):
            return self.model
        answerable = self.judge.constants.answerable
        text = repr((sorted(answerable.weights.items()), answerable.bias))
        return f"offline {blake2b(text.encode(), digest_size=4).hexdigest()}"

    def reason_not_used(self, found: Calibration) -> str | None:
        """Return why a calibration is not used; None if it was fitted with this judge and embedder."""
        if (found.judge, found.embedder) == (self.judge_name, self.embedder):
            return None
        return (
            f"the calibration was fitted with judge {found.judge!r} and embedder {found.embedder!r}; it is not "
            f"used with judge {self.judge_name!r} and embedder {self.embedder!r}: run calibrate() again"
        )

    def with_probabilities(self, found: Calibration) -> Judge:
        """Return the judge with the probabilities of a calibration and its threshold for abstaining."""
        judge, least = self.judge, found.abstain_below
        if isinstance(judge, OfflineJudge):
            return replace(
                judge, constants=replace(judge.constants, calibrated=Monotone(found.knots), abstain_below=least)
            )
        from ..llm.llm_judge import LLMJudge  # noqa: PLC0415 - a question without a model loads nothing that asks one

        if isinstance(judge, LLMJudge):
            return replace(judge, probability=found.probability, abstain_below=least)
        return judge


def active_calibration(store: Store, target: CalibrationTarget) -> Calibration | None:
    """Return the calibration that is used with a judge and embedder, if any: not one of another version."""
    text = store.setting(target.setting)
    found = None if text is None else try_read(None, Calibration.from_json, text).value
    return found if found and target.reason_not_used(found) is None else None


def calibrated_judge(store: Store, target: CalibrationTarget) -> Judge:
    """Return the judge with the active calibration applied, or as it is if there is none."""
    found = active_calibration(store, target)
    return target.judge if found is None else or_else(target.judge, target.with_probabilities, found)


def calibration_problems(store: Store, target: CalibrationTarget) -> tuple[str, ...]:
    """Return why the stored calibration is not used; empty if it is used or there is none."""
    text = store.setting(target.setting)
    if text is None:
        return ()
    found = try_read(None, Calibration.from_json, text).value
    misfit = None if found is None else target.reason_not_used(found)
    if found is not None and misfit is None and try_read(None, target.with_probabilities, found).error is None:
        return ()
    return (misfit or "the stored calibration cannot be read and is not used: run calibrate() again",)
