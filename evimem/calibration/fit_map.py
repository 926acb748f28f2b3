"""From scores and labels to a calibration: a map fitted on all, and figures of questions it was not fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from statistics import fmean

from ..errors import InvalidQuery
from ..offline.constants import LEAST, Monotone, pooled_map
from .calibration_report import Calibration
from .curves import Point, aurc, auroc, ece, reliability, risk_coverage, threshold_for
from .tilt import tilt

FALSE_ABSTENTION = 0.10
PRECISION = 0.95
_OF_EACH = 10  # questions with an answer, and without: fewer say nothing of their kind
_PARTS = 5
_IN_A_BIN = 8  # labelled questions, while they are few
_LEAST_BINS, _MOST_BINS = 5, 16
_PRIOR = 10  # questions that the tilted map counts for in every bin, until labels outweigh it


@dataclass(frozen=True, slots=True)
class Scored:
    """A labelled question that was judged: the raw score, its probability as judged, and the one in force so far."""

    score: float
    judged: float
    before: float
    answerable: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a threshold is chosen for: at most this share of false abstentions, or at least this precision."""

    false_abstention: float = FALSE_ABSTENTION
    precision: float | None = None


def fit(scored: Sequence[Scored], judge: str, embedder: str, wanted: Wanted = Wanted()) -> Calibration:
    """Return the calibration. Raise InvalidQuery for too few questions, or a precision that is out of reach."""
    labels = [one.answerable for one in scored]
    check(labels, wanted)
    scores = [one.score for one in scored]
    probable = _map(scored)
    held = _held_out(scored, wanted)
    sure = [probability for probability, _ in held]
    bins = reliability(sure, labels)
    answered = [answers for _, answers in held]
    precision = PRECISION if wanted.precision is None else wanted.precision
    precise = threshold_for(scores, labels, precision)
    if wanted.precision is not None and precise is None:
        best = min(risk_coverage(scores, labels), key=lambda point: point.risk)
        raise InvalidQuery(
            f"no threshold gives a precision of {precision}: on these questions it is {1 - best.risk:.3f} at best, "
            f"over {best.coverage:.0%} of them; ask for less, or label more questions"
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
        aurc=aurc(sure, labels),
        caught=_refused(answered, labels, kind=False),
        false_abstention=_refused(answered, labels, kind=True),
        precision=precision,
        precise=precise and Point(_rounded(probable(precise.threshold)), precise.coverage, precise.risk),
        reliability=bins,
        curve=risk_coverage(sure, labels),
    )


def check(labels: Sequence[bool], wanted: Wanted) -> None:
    """Raise InvalidQuery for labels that are too few to say anything, or a share that is none."""
    told, untold = labels.count(True), labels.count(False)
    if len(labels) < LEAST or min(told, untold) < _OF_EACH:
        raise InvalidQuery(
            f"calibrating needs at least {LEAST} labelled questions that bring up anything, {_OF_EACH} of them with an "
            f"answer and {_OF_EACH} without; there are {told} with and {untold} without: label more, for "
            "fewer say nothing that holds for the next question"
        )
    for name, share in (("false_abstention", wanted.false_abstention), ("precision", wanted.precision)):
        if share is not None and not 0 <= share <= 1:
            raise InvalidQuery(f"{name} is {share!r}; expected a share between 0 and 1")


def _map(scored: Sequence[Scored]) -> Monotone:
    """Fit a map: the judge's own probabilities, first tilted and shifted as a whole, then bin by bin.

    Two numbers can be told from 50 labels; the shape of a map cannot, and comes with the labels.
    """
    labels = [one.answerable for one in scored]
    tilted = tilt([one.judged for one in scored], labels)
    bins = max(_LEAST_BINS, min(_MOST_BINS, len(scored) // _IN_A_BIN))
    own = _PRIOR / (_PRIOR + len(scored) / bins)
    mixed = [own * tilted(one.judged) + (1 - own) * one.answerable for one in scored]
    return pooled_map([one.score for one in scored], mixed, bins)


def _threshold(scored: Sequence[Scored], wanted: Wanted) -> float:
    """Return the score from which on an answer is given."""
    if wanted.precision is not None:
        point = threshold_for([one.score for one in scored], [one.answerable for one in scored], wanted.precision)
        return point.threshold if point else max(one.score for one in scored)
    told = sorted(one.score for one in scored if one.answerable)
    return told[int(wanted.false_abstention * len(told))] if wanted.false_abstention < 1 else told[-1]


def _rounded(threshold: float) -> float:
    return floor(threshold * 1e6) / 1e6  # down: what lay on the threshold still does


def _held_out(scored: Sequence[Scored], wanted: Wanted) -> list[tuple[float, bool]]:
    """Return for each question its probability, and whether it is answered, by a map of the other parts."""
    found: list[tuple[float, bool]] = [(0.0, False)] * len(scored)
    order = sorted(range(len(scored)), key=lambda place: scored[place].answerable)  # parts hold equally many of a kind
    for part in range(_PARTS):
        inside = order[part::_PARTS]
        others = [scored[place] for place in order if place not in set(inside)]
        probable, least = _map(others), _threshold(others, wanted)
        for place in inside:
            found[place] = probable(scored[place].score), scored[place].score >= least
    return found


def _refused(answered: Sequence[bool], labels: Sequence[bool], *, kind: bool) -> float:
    return fmean(float(not given) for given, label in zip(answered, labels, strict=True) if label is kind)
