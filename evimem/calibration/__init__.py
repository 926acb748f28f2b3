"""Calibrate probabilities on labelled questions: a monotone map that corrects them, with its measured quality.

The map is fitted to all questions, its figures are cross-validated.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import groupby
from math import floor
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ..db.connection import check_readable
from ..errors import ImportFailed, InvalidQuery, StoreError, shown
from ..offline.signals import MIN_LABELLED_SCORES, Monotone, pooled_map
from ..types.public_value import PublicValue
from ..types.results import FALSE_ABSTENTION

_EXPECTED = (
    'expected a line such as {"question": "When did we move?", "answer": "May 2023"}, with null if the memory has '
    'no answer, or with "answerable": true or false instead of the answer'
)

_MIN_PROBABILITY = 0.005  # probabilities are clipped to this distance from 0 and 1: log-odds must stay finite

Array = NDArray[np.float64]
_UNCHANGED: Array = np.array([1.0, 0.0])  # slope and shift
_PRECISION: Array = np.array([2.0, 0.5])  # of the Gaussian prior around `_UNCHANGED`: few labels change little

_MIN_PER_LABEL = 10  # answerable and unanswerable questions each; shares of fewer are noise
_VALIDATION_FOLDS = 5
_MIN_BINS, _MAX_BINS, _PER_BIN = 5, 16, 8  # labelled questions, between the least and the most bins
_MAX_STEPS, _TOLERANCE = 50, 1e-9  # Newton converges in about five steps

_PRIOR_QUESTIONS = 10  # questions: the weight of the tilted map in every bin, against the labels in it


@dataclass(frozen=True, slots=True, repr=False)
class Bin(PublicValue):
    """The predictions in one interval of probability: their mean, the share of true labels, and their number."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True, slots=True, repr=False)
class Point(PublicValue):
    """Answering everything at or above a threshold: the share answered (coverage), and the share of it wrong (risk)."""

    threshold: float
    coverage: float
    risk: float


def reliability(probabilities: Sequence[float], labels: Sequence[bool], bins: int = 10) -> tuple[Bin, ...]:
    """Return predicted against observed over equally wide bins of probability; empty ones are left out."""
    places = [min(int(p * bins), bins - 1) for p in probabilities]
    parts = (
        [(p, label) for p, label, at in zip(probabilities, labels, places, strict=True) if at == place]
        for place in range(bins)
    )
    return tuple(
        Bin(fmean(p for p, _ in part), fmean(float(label) for _, label in part), len(part)) for part in parts if part
    )


def ece(bins: Sequence[Bin]) -> float:
    """Return the expected calibration error: |predicted - observed|, averaged with the sizes of the bins as weights.

    >>> ece((Bin(0.2, 0.3, 10), Bin(0.9, 0.9, 30)))
    0.025
    """
    total = sum(one.count for one in bins)
    return round(sum(one.count * abs(one.predicted - one.observed) for one in bins) / total, 12)


def risk_coverage(probabilities: Sequence[float], labels: Sequence[bool]) -> tuple[Point, ...]:
    """Return a point for each distinct probability as the threshold, the strictest first."""
    total, taken, wrong = len(probabilities), 0, 0
    points = []
    for threshold, group in _descending(probabilities, labels):
        taken, wrong = taken + len(group), wrong + group.count(False)
        points.append(Point(threshold, taken / total, wrong / taken))
    return tuple(points)


def aurc(probabilities: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the area under risk against coverage: the mean risk over all coverages (Geifman and El-Yaniv 2017).

    Less is better; at random it is the share of false labels. Within equal probabilities the order is undefined, so
    each item counts with the mean label of its group.
    """
    taken, wrong, total = 0, 0.0, 0.0
    for _, group in _descending(probabilities, labels):
        share = group.count(False) / len(group)
        for _ in group:
            taken, wrong = taken + 1, wrong + share
            total += wrong / taken
    return total / len(probabilities)


def threshold_for(probabilities: Sequence[float], labels: Sequence[bool], precision: float) -> Point | None:
    """Return the point of largest coverage whose precision (1 - risk) is at least this; None if there is none."""
    good = [point for point in risk_coverage(probabilities, labels) if 1 - point.risk >= precision]
    return good[-1] if good else None


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the chance that an item with a true label scores above one with a false label; equal scores count half.

    >>> auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    0.875
    """
    false = sorted(score for score, label in zip(scores, labels, strict=True) if not label)
    true = [score for score, label in zip(scores, labels, strict=True) if label]
    below = sum(bisect_left(false, score) + bisect_right(false, score) for score in true)
    return below / 2 / (len(true) * len(false))


def _descending(probabilities: Sequence[float], labels: Sequence[bool]) -> Iterator[tuple[float, list[bool]]]:
    ordered = sorted(zip(probabilities, labels, strict=True), key=lambda pair: -pair[0])
    for threshold, pairs in groupby(ordered, key=lambda pair: pair[0]):
        yield threshold, [label for _, label in pairs]


@dataclass(frozen=True, slots=True, repr=False)
class Calibration(PublicValue):
    """A monotone map from a judge's raw score to a probability, with the judge it was fitted to and its quality.

    It is valid for one judge and one embedder, and contains no text of any question. Every figure is cross-validated:
    measured on questions that the map was not fitted on (five parts, each left out in turn).

    Attributes:
        judge: The judge's identity: a model's name, or the rules with a digest of their constants.
        embedder: The embedder's name.
        questions: How many labelled questions were judged.
        answerable: How many of them are answerable.
        knots: The map's points (raw score, probability), scores ascending; linear in between, constant outside.
        abstain_below: The probability below which `ask` abstains, 0 to 1.
        ece: Expected calibration error over 10 equal bins of probability, 0 to 1; less is better.
        ece_before: That of the probabilities used until now, measured on all questions.
        auroc: Chance that an answerable question scores above an unanswerable one, 0 to 1; 0.5 at random.
        aurc: Area under risk against coverage (Geifman and El-Yaniv 2017), 0 to 1; less is better.
        caught: Share of the unanswerable questions that are refused with `abstain_below`.
        false_abstention: Share of the answerable questions that are refused with it.
        precision: The precision that `precise` is for, 0 to 1.
        precise: The lowest threshold at which this share of the answered questions is answerable; None if out of reach.
        reliability: Predicted against observed, one item per non-empty bin.
        curve: Risk against coverage, one item per threshold, the strictest first.
    """

    judge: str
    embedder: str
    questions: int
    answerable: int
    knots: tuple[tuple[float, float], ...]
    abstain_below: float
    ece: float
    ece_before: float
    auroc: float
    aurc: float
    caught: float
    false_abstention: float
    precision: float
    precise: Point | None
    reliability: tuple[Bin, ...]
    curve: tuple[Point, ...]

    def probability(self, score: float) -> float:
        """Return the probability, 0 to 1, of a raw `score` of the judge (any real number)."""
        return Monotone(self.knots)(score)

    def to_json(self) -> str:
        """Return the calibration as a JSON object; `from_json` returns an equal one."""
        return orjson.dumps(self.to_dict()).decode()

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """Return the calibration of a `text` that `to_json` wrote. Raise ImportFailed for anything else."""
        try:
            raw = orjson.loads(text)
            made = {
                "knots": tuple((score, probability) for score, probability in raw["knots"]),
                "reliability": tuple(Bin(**one) for one in raw["reliability"]),
                "curve": tuple(Point(**one) for one in raw["curve"]),
                "precise": raw["precise"] and Point(**raw["precise"]),
            }
            return cls(**{field.name: made.get(field.name, raw[field.name]) for field in fields(cls)})
        except (LookupError, TypeError, ValueError) as error:
            raise ImportFailed(
                f"not a calibration ({error!r}); expected the JSON object that Calibration.to_json writes"
            ) from error


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labelled question, for `Memory.calibrate`.

    Attributes:
        question: The text; 1 to 100,000 characters.
        answerable: Whether the memory holds evidence that answers it.
        asked_at: "Today" for the question: a datetime or an ISO 8601 string, naive or aware like the memory's times; by
            default the time of the newest turn.
    """

    question: str
    answerable: bool
    asked_at: datetime | str | None = None


def read_labelled(path: Path) -> Iterator[Labelled]:
    """Yield the questions of a JSONL file. Raise ImportFailed at the first line that is not one, and for a database."""
    try:
        check_readable(path)
    except StoreError as error:
        raise ImportFailed(str(error)) from error
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            row: Any = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise ImportFailed(f"{place} is not JSON ({error}); {_EXPECTED}") from error
        question = row.get("question") if isinstance(row, dict) else None
        if not isinstance(question, str) or not question.strip():
            raise ImportFailed(f"{place} has no question; {_EXPECTED}")
        answerable = row.get("answerable", row["answer"] is not None if "answer" in row else None)
        if not isinstance(answerable, bool):
            raise ImportFailed(f"{place} has neither 'answer' nor 'answerable' with true or false; {_EXPECTED}")
        yield Labelled(question, answerable, row.get("asked_at"))


def fit_tilt(probabilities: Sequence[float], labels: Sequence[bool]) -> Callable[[float], float]:
    """Return the map from a probability to the tilted and shifted one: slope and shift of maximum posterior."""
    rows = np.stack([np.array([_log_odds(p) for p in probabilities]), np.ones(len(probabilities))], axis=1)
    told, found = np.array(labels, float), _UNCHANGED

    def log_posterior(at: Array) -> float:
        odds = rows @ at
        return float((told * odds - np.logaddexp(0, odds)).sum() - (_PRECISION * (at - _UNCHANGED) ** 2).sum() / 2)

    for _ in range(_MAX_STEPS):  # Newton's method, each step halved until it does not lose
        predicted = 1 / (1 + np.exp(-(rows @ found)))
        gradient = rows.T @ (told - predicted) - _PRECISION * (found - _UNCHANGED)
        curvature = (rows * (predicted * (1 - predicted))[:, None]).T @ rows + np.diag(_PRECISION)
        step = np.linalg.solve(curvature, gradient)
        while np.abs(step).max() > _TOLERANCE and log_posterior(found + step) < log_posterior(found):
            step = step / 2
        found = found + step
        if np.abs(step).max() <= _TOLERANCE:
            break
    # The map must rise, also where a few labels say otherwise.
    slope, shift = max(float(found[0]), 0.05), float(found[1])
    return lambda p: 1 / (1 + math.exp(-(slope * _log_odds(p) + shift)))


def _log_odds(p: float) -> float:
    clipped = min(max(p, _MIN_PROBABILITY), 1 - _MIN_PROBABILITY)
    return math.log(clipped / (1 - clipped))


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
    check_labels(labels, wanted)
    scores = [one.score for one in scored]
    probable = _fit_map(scored)
    held = _cross_validate(scored, wanted)
    probabilities = [probability for probability, _ in held]
    bins = reliability(probabilities, labels)
    answered = [answers for _, answers in held]
    precision = 0.95 if wanted.precision is None else wanted.precision
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
        abstain_below=_round_threshold(probable(_choose_threshold(scored, wanted))),
        ece=ece(bins),
        ece_before=ece(reliability([one.before for one in scored], labels)),
        auroc=auroc(scores, labels),
        aurc=aurc(probabilities, labels),
        caught=_explain_refusal(answered, labels, kind=False),
        false_abstention=_explain_refusal(answered, labels, kind=True),
        precision=precision,
        precise=precise and Point(_round_threshold(probable(precise.threshold)), precise.coverage, precise.risk),
        reliability=bins,
        curve=risk_coverage(probabilities, labels),
    )


def check_labels(labels: Sequence[bool], wanted: Wanted) -> None:
    """Raise InvalidQuery for too few labels, or a share that is not between 0 and 1."""
    answerable, unanswerable = labels.count(True), labels.count(False)
    if len(labels) < MIN_LABELLED_SCORES or min(answerable, unanswerable) < _MIN_PER_LABEL:
        raise InvalidQuery(
            f"calibration needs at least {MIN_LABELLED_SCORES} labelled questions that retrieve anything, "
            f"{_MIN_PER_LABEL} of them answerable and {_MIN_PER_LABEL} not; got {answerable} answerable and "
            f"{unanswerable} not: label more"
        )
    for name, share in (("false_abstention", wanted.false_abstention), ("precision", wanted.precision)):
        if share is not None and not 0 <= share <= 1:
            raise InvalidQuery(f"{name} is {shown(share)}; expected a share between 0 and 1, such as 0.1")


def _fit_map(scored: Sequence[ScoredQuestion]) -> Monotone:
    """Fit a map: the judge's own probabilities, first tilted and shifted as a whole, then corrected bin by bin.

    50 labels suffice for the two numbers of a tilt, but not for the shape of a map: the labels of a bin count more the
    more there are.
    """
    labels = [one.answerable for one in scored]
    tilted = fit_tilt([one.judged for one in scored], labels)
    bins = max(_MIN_BINS, min(_MAX_BINS, len(scored) // _PER_BIN))
    own = _PRIOR_QUESTIONS / (_PRIOR_QUESTIONS + len(scored) / bins)
    mixed = [own * tilted(one.judged) + (1 - own) * one.answerable for one in scored]
    return pooled_map([one.score for one in scored], mixed, bins)


def _choose_threshold(scored: Sequence[ScoredQuestion], wanted: Wanted) -> float:
    """Return the lowest score that is answered."""
    if wanted.precision is not None:
        point = threshold_for([one.score for one in scored], [one.answerable for one in scored], wanted.precision)
        return point.threshold if point else max(one.score for one in scored)
    answerable = sorted(one.score for one in scored if one.answerable)
    return answerable[int(wanted.false_abstention * len(answerable))] if wanted.false_abstention < 1 else answerable[-1]


def _round_threshold(threshold: float) -> float:
    return floor(threshold * 1e6) / 1e6  # rounded down, so that the score that set the threshold stays on it


def _cross_validate(scored: Sequence[ScoredQuestion], wanted: Wanted) -> list[tuple[float, bool]]:
    """Return each question's probability and whether it is answered, by a map fitted to the other folds."""
    found: list[tuple[float, bool]] = [(0.0, False)] * len(scored)
    # Sorted by label and dealt out in turn, so that each fold gets its share of both labels.
    order = sorted(range(len(scored)), key=lambda place: scored[place].answerable)
    for fold in range(_VALIDATION_FOLDS):
        inside = order[fold::_VALIDATION_FOLDS]
        others = [scored[place] for place in order if place not in set(inside)]
        probable, least = _fit_map(others), _choose_threshold(others, wanted)
        for place in inside:
            found[place] = probable(scored[place].score), scored[place].score >= least
    return found


def _explain_refusal(answered: Sequence[bool], labels: Sequence[bool], *, kind: bool) -> float:
    return fmean(float(not given) for given, label in zip(answered, labels, strict=True) if label is kind)
