"""Apply a stored calibration to a judge, if it was fitted to the same judge and embedder."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b

from ..errors import EmbedderError, attempt, without
from ..flow import Flow
from ..judging.judge import Judge
from ..loops import Task, answer_question
from ..offline.offline_judge import OfflineJudge
from ..offline.signals import Constants, Monotone
from ..protocols import Store
from ..types.trace import Acted, Judged, Trace
from .calibration_report import Calibration, ScoredQuestion, Wanted, check, fit

_UNREADABLE = "the stored calibration cannot be read and is not used: run calibrate() again"


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
    check([question.answerable for question in questions], wanted)  # before any model request is paid for
    before = active_calibration(store, target)
    scored: list[ScoredQuestion] = []
    for question in questions:
        answer = yield from answer_question(Task(question.text, target.judge, store, question.asked_at))
        one = _scored(answer.trace, answerable=question.answerable, before=before)
        scored += [] if one is None else [one]
        if progress:
            progress(1)
    found = fit(scored, target.judge_name, target.embedder, wanted)
    if keep:
        store.keep_setting(setting_name(target.judge), found.to_json())
    return found


def _scored(trace: Trace, *, answerable: bool, before: Calibration | None) -> ScoredQuestion | None:
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


def setting_name(judge: Judge) -> str:
    """Return the name of the setting that stores the calibration: one for the rules, one for models."""
    return "calibration.offline" if isinstance(judge, OfflineJudge) else "calibration.llm"


def judge_name(judge: Judge, model: str) -> str:
    """Return the identity of a judge: the model's name, or the rules with a digest of the constants of their score."""
    return f"offline {_digest(judge.constants)}" if isinstance(judge, OfflineJudge) else model


def matches(calibration: Calibration, judge: str, embedder: str) -> bool:
    """Whether a calibration was fitted with this judge and embedder."""
    return calibration.judge == judge and calibration.embedder == embedder


def mismatch(calibration: Calibration, judge: str, embedder: str) -> str | None:
    """Return why a calibration is not used, or None if it is."""
    if matches(calibration, judge, embedder):
        return None
    return (
        f"the calibration was fitted with judge {calibration.judge!r} and embedder {calibration.embedder!r}; it is not "
        f"used with judge {judge!r} and embedder {embedder!r}: run calibrate() again"
    )


def with_calibration(judge: Judge, calibration: Calibration) -> Judge:
    """Return the judge with the probabilities of a calibration and its threshold for abstaining."""
    if isinstance(judge, OfflineJudge):
        constants = replace(
            judge.constants, calibrated=Monotone(calibration.knots), abstain_below=calibration.abstain_below
        )
        return replace(judge, constants=constants)
    from ..llm.llm_judge import LLMJudge  # noqa: PLC0415 - a question without a model loads nothing that asks one

    if isinstance(judge, LLMJudge):
        return replace(judge, probability=calibration.probability, abstain_below=calibration.abstain_below)
    return judge


def _digest(constants: Constants) -> str:
    weights: Mapping[str, float] = constants.answerable.weights
    # `inf` stood for a cap that is gone: what was fitted before is still known by its digest
    text = repr((sorted(weights.items()), constants.answerable.bias, math.inf, constants.not_stated))
    return blake2b(text.encode(), digest_size=4).hexdigest()


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


def stored_calibration(store: Store, judge: Judge) -> Calibration | None:
    """Return the calibration that is stored for a kind of judge, whether or not it matches this judge."""
    text = store.setting(setting_name(judge))
    return None if text is None else _read(text)


def active_calibration(store: Store, target: CalibrationTarget) -> Calibration | None:
    """Return the calibration that is used with a judge and embedder, if any."""
    found = stored_calibration(store, target.judge)
    return found if found and matches(found, target.judge_name, target.embedder) else None


def calibrated_judge(store: Store, target: CalibrationTarget) -> Judge:
    """Return the judge with the active calibration applied, or as it is if there is none."""
    found = active_calibration(store, target)
    return target.judge if found is None else without(target.judge, with_calibration, target.judge, found)


def calibrated_offline(store: Store, judge: OfflineJudge, embedder: str) -> Judge:
    """Return a judge that needs no model, with the active calibration of the rules applied, if there is one."""
    return calibrated_judge(store, CalibrationTarget(judge, "", embedder))


def calibration_problems(store: Store, target: CalibrationTarget) -> tuple[str, ...]:
    """Return why the stored calibration is not used; empty if it is used or there is none."""
    text = store.setting(setting_name(target.judge))
    if text is None:
        return ()
    found = _read(text)
    why = mismatch(found, target.judge_name, target.embedder) if found else _UNREADABLE
    if found and why is None and attempt(None, with_calibration, target.judge, found).error is not None:
        why = _UNREADABLE
    return () if why is None else (why,)


def _read(text: str) -> Calibration | None:
    """Return a stored calibration, None for one of another version: `calibration_problems` reports it."""
    return attempt(None, Calibration.from_json, text).value
