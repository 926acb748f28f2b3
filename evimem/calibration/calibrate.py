"""Calibrating as a flow: ask every labelled question as it is asked in earnest, fit, keep what was found."""

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
from .apply_calibration import calibrated, complaint, holds, judge_of, kept_as
from .calibration_report import Calibration
from .fit_map import Scored, Wanted, check, fit

_UNREADABLE = "the calibration that the memory keeps cannot be read, and is not used: calibrate() again"


@dataclass(frozen=True, slots=True)
class Question:
    """A labelled question as the loops take it."""

    text: str
    answerable: bool
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Judging:
    """Who judges, over which embedder: what a calibration is of."""

    judge: Judge
    model: str
    embedder: str

    @property
    def judge_name(self) -> str:
        """The judge's name in a calibration."""
        return judge_of(self.judge, self.model)


def calibrate(
    questions: Sequence[Question],
    judging: Judging,
    wanted: Wanted,
    *,
    keep: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Flow[Calibration]:
    """Ask the questions, fit a map, and keep it in the memory; `ask` uses it from then on.

    Questions that bring up nothing at all are not judged, and say nothing of the judge. Raise InvalidQuery for too few.
    """
    check([question.answerable for question in questions], wanted)  # before any model is asked for it
    before = yield from in_force(judging)
    scored: list[Scored] = []
    for question in questions:
        answer = yield from answer_question(
            question.text, asked_at=question.asked_at, budget=Budget(), judge=judging.judge
        )
        one = _scored(answer.trace, answerable=question.answerable, before=before)
        scored += [] if one is None else [one]
        if progress:
            progress(1)
    found = fit(scored, judging.judge_name, judging.embedder, wanted)
    if keep:
        yield from keep_setting(kept_as(judging.judge), found.to_json())
    return found


def kept(judge: Judge) -> Flow[Calibration | None]:
    """Return the calibration that the memory keeps for a kind of judge, whether or not it still holds."""
    text = yield from setting(kept_as(judge))
    return None if text is None else _read(text)


def in_force(judging: Judging) -> Flow[Calibration | None]:
    """Return the calibration that is used with a judge, if any."""
    found = yield from kept(judging.judge)
    return found if found and holds(found, judging.judge_name, judging.embedder) else None


def put_right(judging: Judging) -> Flow[Judge]:
    """Return the judge with the probabilities of the calibration that is in force."""
    found = yield from in_force(judging)
    return judging.judge if found is None else calibrated(judging.judge, found)


def gated(judge: LLMJudge, embedder: str, extractor: Extractor) -> Flow[Judge]:
    """Return a judge that spares requests of which the offline judge, as it is calibrated here, can tell the outcome.

    A small memory gets none: what the offline judge is worth there was not measured.
    """
    if (yield from roster()).counted < LEAST_TURNS:
        return judge
    offline = yield from put_right(Judging(OfflineJudge(extractor=extractor), "", embedder))
    return GatedJudge(judge, offline) if isinstance(offline, OfflineJudge) else judge


def complaints(judging: Judging) -> Flow[tuple[str, ...]]:
    """Return why a calibration that the memory holds is not used."""
    text = yield from setting(kept_as(judging.judge))
    if text is None:
        return ()
    found = _read(text)
    why = complaint(found, judging.judge_name, judging.embedder) if found else _UNREADABLE
    return () if why is None else (why,)


def _read(text: str) -> Calibration | None:
    try:
        return Calibration.from_json(text)
    except ValueError:
        return None  # what another version wrote: complaints() say so


def _scored(trace: Trace, *, answerable: bool, before: Calibration | None) -> Scored | None:
    """Return what the last check of a question said, if it came to one."""
    scores = [event.detail["score"] for event in trace if isinstance(event, Acted) and "score" in event.detail]
    judged = [event.probability for event in trace if isinstance(event, Judged)]
    if not scores or not judged:
        return None
    in_use = judged[-1] if before is None else before.probability(scores[-1])
    return Scored(scores[-1], judged[-1], in_use, answerable)
