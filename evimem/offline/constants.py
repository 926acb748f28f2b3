"""The fitted numbers: linear models over named signals, and the map from a score to a probability.

All there is to them can be read here: names and weights, no file. LoCoMo's development conversations, and our own in
`evimem.examples`, chose the constants; benchmarks/offline.py fits them again and reports them with each conversation
left out in turn. Nothing else of LoCoMo is here.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

BINS = 16
LEAST = 50  # labelled scores; from fewer, a map does not hold for new questions
_RISE = 0.002  # added from knot to knot, so that two scores in order never get one probability


@dataclass(frozen=True, slots=True)
class Monotone:
    """A monotone map by straight lines between knots (score, probability), both rising.

    A score beyond the first or last knot gets the probability of that knot.
    """

    knots: tuple[tuple[float, float], ...]

    def __call__(self, score: float) -> float:
        """Return the probability of a score."""
        place = bisect_right([knot for knot, _ in self.knots], score)
        if place == 0:
            return self.knots[0][1]
        if place == len(self.knots):
            return self.knots[-1][1]
        (left, low), (right, high) = self.knots[place - 1 : place + 1]
        return low + (high - low) * (score - left) / (right - left)


@dataclass(frozen=True, slots=True)
class Linear:
    """A logistic model: named weights and a bias."""

    weights: Mapping[str, float]
    bias: float

    def score(self, signals: Mapping[str, float]) -> float:
        """Return the log-odds; a signal that is not there counts as zero."""
        return self.bias + sum(weight * signals.get(name, 0.0) for name, weight in self.weights.items())

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability."""
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.score(signals)))))

    def probabilities(self, columns: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return a probability a row of named columns."""
        total = sum(
            (np.float32(weight) * columns[name] for name, weight in self.weights.items()), np.float32(self.bias)
        )
        return np.asarray(1 / (1 + np.exp(-total)), np.float32)


@dataclass(frozen=True, slots=True)
class Constants:
    """Every number that was fitted to labelled questions.

    `answerable` scores whether the memory answers the question, in log-odds. The score is at most `altered` where the
    evidence contradicts a word of the question or states no value of the attribute asked for, and at least `stated`
    where it does state one. `calibrated` maps the score to a probability. `sufficient` gives the probability that the
    view holds all the evidence, `word` the probability that a word belongs to the answer.

    Below the probability `abstain_below` no answer is given; a tenth of the answerable questions lie there. Below
    `misattributed` the evidence counts as being about another person or thing. From `exact` on, 19 of 20 views hold all
    of the evidence; `inferrable` is the lower bound of that tier.
    """

    answerable: Linear
    altered: float
    stated: float
    calibrated: Monotone
    sufficient: Linear
    word: Linear
    abstain_below: float
    misattributed: float
    exact: float
    inferrable: float

    def score(self, signals: Mapping[str, float]) -> float:
        """Return how far the memory seems to answer the question, as log-odds that are not yet calibrated."""
        score = self.answerable.score(signals)
        if stated := signals.get("stated", 0.0):
            return max(score, self.stated) if stated > 0 else min(score, self.altered)
        return min(score, self.altered) if signals.get("altered") else score

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the memory answers the question."""
        return self.calibrated(self.score(signals))


def fit_monotone(scores: Sequence[float], labels: Sequence[bool], bins: int = BINS) -> Monotone:
    """Fit a map to labelled scores: equal bins, neighbours pooled while they fall (isotonic regression).

    Raise ValueError for fewer than 50, or for labels that are all alike.
    """
    if len(scores) != len(labels) or len(scores) < LEAST or len(set(labels)) < 2:
        raise ValueError(
            f"calibration needs at least {LEAST} labelled scores of both kinds, got {len(scores)} scores and "
            f"{sum(labels)} positive of {len(labels)} labels; label more questions"
        )
    return pooled_map(scores, labels, bins)


def pooled_map(scores: Sequence[float], labels: Sequence[float], bins: int) -> Monotone:
    """Fit a map to however many scores; a label between 0 and 1 says how probably it holds."""
    ordered = _untied(scores, labels)
    size = len(ordered) / bins
    parts = [ordered[round(n * size) : round((n + 1) * size)] for n in range(bins)]
    middles = [sum(score for score, _ in part) / len(part) for part in parts]
    rates = _pooled([sum(rate for _, rate in part) / len(part) for part in parts])
    raised = [rate + _RISE * n * (1 - rate) for n, rate in enumerate(rates)]
    knots = dict(zip(middles, raised, strict=True))
    return Monotone(tuple((round(score, 3), round(rate, 4)) for score, rate in knots.items()))


def _untied(scores: Sequence[float], labels: Sequence[float]) -> list[tuple[float, float]]:
    """Return scores in order with their labels: equal scores share it, wherever a bin parts them."""
    groups = groupby(sorted(zip(scores, labels, strict=True)), key=lambda pair: pair[0])
    tied = [(score, [label for _, label in pairs]) for score, pairs in groups]
    return [(score, sum(same) / len(same)) for score, same in tied for _ in same]


def _pooled(rates: Sequence[float]) -> list[float]:
    """Return the closest rates that never fall."""
    pools: list[tuple[float, int]] = []
    for rate in rates:
        pools.append((rate, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (later, many), (earlier, few) = pools.pop(), pools.pop()
            pools.append(((later * many + earlier * few) / (many + few), many + few))
    return [rate for rate, count in pools for _ in range(count)]


SHIPPED = Constants(
    answerable=Linear(
        {
            "gap": 0.765,
            "gap_best": 0.734,
            "facts_own": 2.559,
            "facts_other": -2.124,
            "margin": 0.214,
            "window": 2.137,
        },
        -1.131,
    ),
    altered=-2.0,
    stated=2.0,
    calibrated=Monotone(
        (
            (-2.598, 0.0704),
            (-1.776, 0.123),
            (-1.039, 0.3414),
            (-0.293, 0.5582),
            (0.221, 0.776),
            (0.737, 0.8494),
            (1.155, 0.8498),
            (1.531, 0.8974),
            (1.897, 0.8976),
            (2.336, 0.9366),
            (2.777, 0.9685),
            (3.184, 0.9686),
            (3.671, 0.9845),
            (4.249, 1.0),
            (4.886, 1.0),
            (5.976, 1.0),
        )
    ),
    sufficient=Linear(
        {
            "fall": 8.741,
            "spread": -0.478,
            "words": -2.675,
            "length": 1.756,
            "listed": -0.919,
            "timed": 0.288,
            "guess": -2.167,
            "sessions": -0.408,
            "window": 0.764,
        },
        -0.068,
    ),
    word=Linear(
        {
            "asked": -1.38,
            "rarity": 1.07,
            "stop": -0.471,
            "name": 1.047,
            "number": 0.124,
            "near": 0.232,
            "after": 0.275,
            "like_head": 2.033,
            "like_question": 1.068,
            "sentence": 1.062,
            "own": -0.23,
            "rank": 3.615,
            "object": 0.55,
            "of_verb": 0.81,
            "typed": 0.847,
            "heard": 0.46,
            "caption": -0.632,
            "first": -0.497,
        },
        -8.138,
    ),
    abstain_below=0.706,
    misattributed=0.2,
    exact=0.93,
    inferrable=0.7,
)
