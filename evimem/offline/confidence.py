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

    `answerable` scores whether the memory answers the question, and `calibrated` makes a probability of the score;
    `sufficient` gives the probability that the view holds all the evidence, `word` that a word belongs to the answer.
    Below `abstain_below` no answer is given; a tenth of the answerable questions lie there. Below `misattributed` it
    is certain that the evidence is about somebody else, or about something else. From `exact` on, 19 of 20 views hold
    all of the evidence.
    """

    answerable: Linear
    calibrated: Monotone
    sufficient: Linear
    word: Linear
    abstain_below: float
    misattributed: float
    exact: float
    inferrable: float

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the memory answers the question."""
        return self.calibrated(self.answerable.score(signals))


SHIPPED = Constants(
    answerable=Linear(
        {
            "gap": 1.192,
            "gap_best": 0.957,
            "facts_own": 2.319,
            "facts_other": -1.611,
            "unsaid": -0.461,
            "window": 1.147,
        },
        0.001,
    ),
    calibrated=Monotone(
        (
            (-2.069, 0.11),
            (-0.63, 0.312),
            (0.346, 0.714),
            (1.074, 0.846),
            (1.645, 0.848),
            (2.219, 0.909),
            (2.83, 0.962),
            (3.517, 0.984),
            (4.409, 1.0),
            (6.159, 1.0),
        )
    ),
    sufficient=Linear(
        {
            "fall": 9.259,
            "words": -2.129,
            "length": 1.93,
            "listed": -0.824,
            "timed": 0.374,
            "guess": -1.733,
            "sessions": -0.524,
            "window": 0.469,
        },
        -0.342,
    ),
    word=Linear(
        {
            "asked": -1.56,
            "rarity": 1.143,
            "stop": -0.514,
            "name": 0.925,
            "number": 0.254,
            "near": 0.358,
            "after": 0.293,
            "like_head": 2.154,
            "like_question": 1.205,
            "sentence": 0.994,
            "own": 0.189,
            "rank": 3.875,
            "object": 0.649,
            "of_verb": 0.75,
            "typed": 0.82,
            "heard": 0.563,
            "caption": -0.495,
            "first": -0.297,
        },
        -8.865,
    ),
    abstain_below=0.716,
    misattributed=0.2,
    exact=0.885,
    inferrable=0.7,
)
