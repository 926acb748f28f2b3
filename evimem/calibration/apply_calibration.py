"""Judges whose probabilities a calibration has put right, where it still holds for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b

from ..judging.judge import Judge
from ..llm.llm_judge import LLMJudge
from ..offline.constants import Constants, Monotone
from ..offline.offline_judge import OfflineJudge
from .calibration_report import Calibration


def kept_as(judge: Judge) -> str:
    """Return the name that the calibration of a kind of judge is kept under: rules and models have one each."""
    return "calibration.offline" if isinstance(judge, OfflineJudge) else "calibration.llm"


def judge_of(judge: Judge, model: str) -> str:
    """Return the name of what judges: the model, or the rules with a digest of what their score is made of."""
    return f"offline {_digest(judge.constants)}" if isinstance(judge, OfflineJudge) else model


def holds(calibration: Calibration, judge: str, embedder: str) -> bool:
    """Whether a calibration was made with this judge and embedder."""
    return calibration.judge == judge and calibration.embedder == embedder


def complaint(calibration: Calibration, judge: str, embedder: str) -> str | None:
    """Return why a calibration is not used, or None where it is."""
    if holds(calibration, judge, embedder):
        return None
    return (
        f"the calibration is of judge {calibration.judge!r} over embedder {calibration.embedder!r}, and not used with "
        f"{judge!r} over {embedder!r}: calibrate() again"
    )


def calibrated(judge: Judge, calibration: Calibration) -> Judge:
    """Return a judge that says the probabilities of a calibration, and abstains by its threshold."""
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
    said = repr((sorted(weights.items()), constants.answerable.bias, constants.altered))
    return blake2b(said.encode(), digest_size=4).hexdigest()
