"""What probabilities are worth: reliability and its error, risk against coverage, thresholds, ranking.

Pure functions over parallel sequences. A `label` says whether what was predicted came true.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The predictions of one stretch of probability: their mean, how often they came true, and how many there are."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True, slots=True)
class Point:
    """What comes of acting on everything from a threshold on: on how much (coverage), and how often wrongly (risk)."""

    threshold: float
    coverage: float
    risk: float


def reliability(probabilities: Sequence[float], labels: Sequence[bool], bins: int = BINS) -> tuple[Bin, ...]:
    """Return predicted against observed over equal stretches of probability; empty ones are left out."""
    places = [min(int(p * bins), bins - 1) for p in probabilities]
    parts = (
        [(p, label) for p, label, at in zip(probabilities, labels, places, strict=True) if at == place]
        for place in range(bins)
    )
    return tuple(
        Bin(fmean(p for p, _ in part), fmean(float(label) for _, label in part), len(part)) for part in parts if part
    )


def ece(bins: Sequence[Bin]) -> float:
    """Return the expected calibration error: how far predicted is from observed, weighted by the size of the bins.

    >>> ece((Bin(0.2, 0.3, 10), Bin(0.9, 0.9, 30)))
    0.025
    """
    total = sum(one.count for one in bins)
    return round(sum(one.count * abs(one.predicted - one.observed) for one in bins) / total, 12)


def risk_coverage(sure: Sequence[float], labels: Sequence[bool]) -> tuple[Point, ...]:
    """Return a point for each threshold that makes a difference, the strictest first."""
    total, taken, wrong = len(sure), 0, 0
    points = []
    for threshold, group in _descending(sure, labels):
        taken, wrong = taken + len(group), wrong + group.count(False)
        points.append(Point(threshold, taken / total, wrong / taken))
    return tuple(points)


def aurc(sure: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the area under risk against coverage: the mean risk over all coverages (Geifman and El-Yaniv 2017).

    Less is better; at random it is the share of false labels. Equal probabilities are taken as if well mixed.
    """
    taken, wrong, total = 0, 0.0, 0.0
    for _, group in _descending(sure, labels):
        share = group.count(False) / len(group)
        for _ in group:
            taken, wrong = taken + 1, wrong + share
            total += wrong / taken
    return total / len(sure)


def threshold_for(sure: Sequence[float], labels: Sequence[bool], precision: float) -> Point | None:
    """Return the widest point at which this share is right; None where none is."""
    good = [point for point in risk_coverage(sure, labels) if 1 - point.risk >= precision]
    return good[-1] if good else None


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the chance that a true one scores above a false one; equal scores count half.

    >>> auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    0.875
    """
    false = sorted(score for score, label in zip(scores, labels, strict=True) if not label)
    true = [score for score, label in zip(scores, labels, strict=True) if label]
    below = sum(bisect_left(false, score) + bisect_right(false, score) for score in true)
    return below / 2 / (len(true) * len(false))


def _descending(sure: Sequence[float], labels: Sequence[bool]) -> Iterator[tuple[float, list[bool]]]:
    ordered = sorted(zip(sure, labels, strict=True), key=lambda pair: -pair[0])
    for threshold, pairs in groupby(ordered, key=lambda pair: pair[0]):
        yield threshold, [label for _, label in pairs]
