"""Linear models over named signals: what an answer, a sufficient view and a word of an answer look like.

All there is to them can be read here: names and weights, no file. LoCoMo's development conversations, and our own in
`evimem.examples`, chose the constants; benchmarks/offline.py fits them again and reports them with each conversation
left out in turn. Nothing else of LoCoMo is here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .monotone import Monotone


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
    """Every number that was fitted rather than written down.

    `answerable` scores whether the memory answers the question, at most `altered` where the evidence has another word
    in the place of one that the question takes for granted, and `calibrated` makes a probability of the score;
    `sufficient` gives the probability that the view holds all the evidence, `word` that a word belongs to the answer.
    Below `abstain_below` no answer is given; a tenth of the answerable questions lie there. Below `misattributed` it
    is certain that the evidence is about somebody else, or about something else. From `exact` on, 19 of 20 views hold
    all of the evidence.
    """

    answerable: Linear
    altered: float
    told: float
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
        if told := signals.get("told", 0.0):
            return max(score, self.told) if told > 0 else min(score, self.altered)
        return min(score, self.altered) if signals.get("altered") else score

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the memory answers the question."""
        return self.calibrated(self.score(signals))


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
    told=2.0,
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
