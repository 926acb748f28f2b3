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
            "gap": 1.2,
            "gap_best": 0.852,
            "facts_own": 1.993,
            "facts_other": -1.541,
            "unsaid": -0.462,
            "margin": 0.041,
            "window": 1.127,
        },
        -0.012,
    ),
    calibrated=Monotone(
        (
            (-2.375, 0.0484),
            (-1.244, 0.1449),
            (-0.576, 0.3588),
            (0.094, 0.6885),
            (0.59, 0.7983),
            (1.033, 0.834),
            (1.407, 0.836),
            (1.743, 0.8778),
            (2.091, 0.8798),
            (2.487, 0.9535),
            (2.912, 0.956),
            (3.253, 0.958),
            (3.75, 1.0),
            (4.296, 1.0),
            (4.963, 1.0),
            (6.343, 1.0),
        )
    ),
    sufficient=Linear(
        {
            "fall": 8.578,
            "spread": -0.58,
            "words": -2.495,
            "length": 1.764,
            "listed": -0.961,
            "timed": 0.277,
            "guess": -2.161,
            "sessions": -0.408,
            "window": 0.723,
        },
        -0.029,
    ),
    word=Linear(
        {
            "asked": -1.502,
            "rarity": 1.07,
            "stop": -0.491,
            "name": 0.982,
            "number": 0.242,
            "near": 0.306,
            "after": 0.279,
            "like_head": 2.055,
            "like_question": 1.203,
            "sentence": 1.023,
            "own": -0.023,
            "rank": 3.79,
            "object": 0.581,
            "of_verb": 0.777,
            "typed": 0.744,
            "heard": 0.523,
            "caption": -0.586,
            "first": -0.415,
        },
        -8.536,
    ),
    abstain_below=0.745,
    misattributed=0.2,
    exact=0.892,
    inferrable=0.7,
)
