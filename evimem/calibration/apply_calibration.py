"""Apply a stored calibration to a judge, if it was fitted to the same judge and embedder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b

from ..judging.judge import Judge
from ..llm.llm_judge import LLMJudge
from ..offline.constants import Constants, Monotone
from ..offline.offline_judge import OfflineJudge
from .calibration_report import Calibration


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
    if isinstance(judge, LLMJudge):
        return replace(judge, probability=calibration.probability, abstain_below=calibration.abstain_below)
    return judge


def _digest(constants: Constants) -> str:
    weights: Mapping[str, float] = constants.answerable.weights
    text = repr((sorted(weights.items()), constants.answerable.bias, constants.altered))
    return blake2b(text.encode(), digest_size=4).hexdigest()
