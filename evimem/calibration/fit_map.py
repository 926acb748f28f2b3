"""Fit a calibration to scores and labels: the map uses all questions, its figures are cross-validated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidQuery, shown
from ..offline.constants import LEAST, Monotone, pooled_map
from .calibration_report import Calibration, Point, aurc, auroc, ece, reliability, risk_coverage, threshold_for

_MARGIN = 0.005  # probabilities are clipped to this distance from 0 and 1: log-odds must stay finite
_MIN_SLOPE = 0.05  # the map must rise, also where few labels say otherwise
_MAX_STEPS, _TOLERANCE = 50, 1e-9  # Newton converges in about five steps
Array = NDArray[np.float64]
_UNCHANGED: Array = np.array([1.0, 0.0])  # slope and shift
_PRECISION: Array = np.array([2.0, 0.5])  # of the Gaussian prior around `_UNCHANGED`: few labels change little


def tilt(probabilities: Sequence[float], labels: Sequence[bool]) -> Callable[[float], float]:
    """Return the map from a probability to the tilted and shifted one, fitted to the labels."""
    odds = np.array([_log_odds(p) for p in probabilities])
    rows = np.stack([odds, np.ones(len(odds))], axis=1)
    slope, shift = _fitted(rows, np.array(labels, float))
    slope = max(slope, _MIN_SLOPE)
    return lambda p: 1 / (1 + math.exp(-(slope * _log_odds(p) + shift)))


def _fitted(rows: Array, labels: Array) -> tuple[float, float]:
    """Return slope and shift of maximum posterior: Newton's method, each step halved until it does not lose."""
    found = _UNCHANGED
    for _ in range(_MAX_STEPS):
        predicted = 1 / (1 + np.exp(-(rows @ found)))
        gradient = rows.T @ (labels - predicted) - _PRECISION * (found - _UNCHANGED)
        curvature = (rows * (predicted * (1 - predicted))[:, None]).T @ rows + np.diag(_PRECISION)
        step = np.linalg.solve(curvature, gradient)
        reached = _log_posterior(rows, labels, found)
        while np.abs(step).max() > _TOLERANCE and _log_posterior(rows, labels, found + step) < reached:
            step = step / 2
        found = found + step
        if np.abs(step).max() <= _TOLERANCE:
            break
    return float(found[0]), float(found[1])


def _log_posterior(rows: Array, labels: Array, found: Array) -> float:
    """Return the log-likelihood of the labels plus the log-prior, up to a constant."""
    odds = rows @ found
    likelihood = labels * odds - np.logaddexp(0, odds)
    return float(likelihood.sum() - (_PRECISION * (found - _UNCHANGED) ** 2).sum() / 2)


def _log_odds(p: float) -> float:
    clipped = min(max(p, _MARGIN), 1 - _MARGIN)
    return math.log(clipped / (1 - clipped))


FALSE_ABSTENTION = 0.10
PRECISION = 0.95
_MIN_PER_LABEL = 10  # answerable and unanswerable questions each; shares of fewer are noise
_FOLDS = 5
_PER_BIN = 8  # labelled questions, between the least and the most bins
_MIN_BINS, _MAX_BINS = 5, 16
_PRIOR = 10  # questions: the weight of the tilted map in every bin, against the labels in it


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A labelled question that was judged: raw score, the judge's own probability, and the one `ask` used so far."""

    score: float
    judged: float
    before: float
    answerable: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """The goal of a threshold: at most this share of false abstentions, or with `precision` at least this precision."""

    false_abstention: float = FALSE_ABSTENTION
    precision: float | None = None


def fit(scored: Sequence[ScoredQuestion], judge: str, embedder: str, wanted: Wanted = Wanted()) -> Calibration:
    """Return the calibration. Raise InvalidQuery for too few questions or a precision that no threshold reaches."""
    labels = [one.answerable for one in scored]
    check(labels, wanted)
    scores = [one.score for one in scored]
    probable = _map(scored)
    held = _held_out(scored, wanted)
    probabilities = [probability for probability, _ in held]
    bins = reliability(probabilities, labels)
    answered = [answers for _, answers in held]
    precision = PRECISION if wanted.precision is None else wanted.precision
    precise = threshold_for(scores, labels, precision)
    if wanted.precision is not None and precise is None:
        best = min(risk_coverage(scores, labels), key=lambda point: point.risk)
        raise InvalidQuery(
            f"no threshold gives a precision of {precision}: on these questions it is {1 - best.risk:.3f} at best, "
            f"answering {best.coverage:.0%} of them; give a lower precision, or label more questions"
        )
    return Calibration(
        judge=judge,
        embedder=embedder,
        questions=len(scored),
        answerable=sum(labels),
        knots=probable.knots,
        abstain_below=_rounded(probable(_threshold(scored, wanted))),
        ece=ece(bins),
        ece_before=ece(reliability([one.before for one in scored], labels)),
        auroc=auroc(scores, labels),
        aurc=aurc(probabilities, labels),
        caught=_refused(answered, labels, kind=False),
        false_abstention=_refused(answered, labels, kind=True),
        precision=precision,
        precise=precise and Point(_rounded(probable(precise.threshold)), precise.coverage, precise.risk),
        reliability=bins,
        curve=risk_coverage(probabilities, labels),
    )


def check(labels: Sequence[bool], wanted: Wanted) -> None:
    """Raise InvalidQuery for too few labels, or a share that is not between 0 and 1."""
    answerable, unanswerable = labels.count(True), labels.count(False)
    if len(labels) < LEAST or min(answerable, unanswerable) < _MIN_PER_LABEL:
        raise InvalidQuery(
            f"calibration needs at least {LEAST} labelled questions that retrieve anything, {_MIN_PER_LABEL} of them "
            f"answerable and {_MIN_PER_LABEL} not; got {answerable} answerable and {unanswerable} not: label more"
        )
    for name, share in (("false_abstention", wanted.false_abstention), ("precision", wanted.precision)):
        if share is not None and not 0 <= share <= 1:
            raise InvalidQuery(f"{name} is {shown(share)}; expected a share between 0 and 1, such as 0.1")


def _map(scored: Sequence[ScoredQuestion]) -> Monotone:
    """Fit a map: the judge's own probabilities, first tilted and shifted as a whole, then corrected bin by bin.

    50 labels suffice for the two numbers of a tilt, but not for the shape of a map: the labels of a bin count more the
    more there are.
    """
    labels = [one.answerable for one in scored]
    tilted = tilt([one.judged for one in scored], labels)
    bins = max(_MIN_BINS, min(_MAX_BINS, len(scored) // _PER_BIN))
    own = _PRIOR / (_PRIOR + len(scored) / bins)
    mixed = [own * tilted(one.judged) + (1 - own) * one.answerable for one in scored]
    return pooled_map([one.score for one in scored], mixed, bins)


def _threshold(scored: Sequence[ScoredQuestion], wanted: Wanted) -> float:
    """Return the lowest score that is answered."""
    if wanted.precision is not None:
        point = threshold_for([one.score for one in scored], [one.answerable for one in scored], wanted.precision)
        return point.threshold if point else max(one.score for one in scored)
    answerable = sorted(one.score for one in scored if one.answerable)
    return answerable[int(wanted.false_abstention * len(answerable))] if wanted.false_abstention < 1 else answerable[-1]


def _rounded(threshold: float) -> float:
    return floor(threshold * 1e6) / 1e6  # rounded down, so that the score that set the threshold stays on it


def _held_out(scored: Sequence[ScoredQuestion], wanted: Wanted) -> list[tuple[float, bool]]:
    """Return each question's probability and whether it is answered, by a map fitted to the other folds."""
    found: list[tuple[float, bool]] = [(0.0, False)] * len(scored)
    # Sorted by label and dealt out in turn, so that each fold gets its share of both labels.
    order = sorted(range(len(scored)), key=lambda place: scored[place].answerable)
    for fold in range(_FOLDS):
        inside = order[fold::_FOLDS]
        others = [scored[place] for place in order if place not in set(inside)]
        probable, least = _map(others), _threshold(others, wanted)
        for place in inside:
            found[place] = probable(scored[place].score), scored[place].score >= least
    return found


def _refused(answered: Sequence[bool], labels: Sequence[bool], *, kind: bool) -> float:
    return fmean(float(not given) for given, label in zip(answered, labels, strict=True) if label is kind)
