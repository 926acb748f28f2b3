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
            "gap": 1.279,
            "gap_best": 0.763,
            "facts_own": 2.051,
            "facts_other": -1.487,
            "unsaid": -0.53,
            "margin": 0.095,
            "window": 0.927,
        },
        0.092,
    ),
    calibrated=Monotone(
        (
            (-2.445, 0.0484),
            (-1.348, 0.1131),
            (-0.572, 0.3911),
            (0.095, 0.6885),
            (0.596, 0.7983),
            (1.049, 0.834),
            (1.428, 0.836),
            (1.761, 0.8696),
            (2.112, 0.8716),
            (2.505, 0.9592),
            (2.918, 0.9612),
            (3.261, 0.9632),
            (3.765, 1.0),
            (4.309, 1.0),
            (4.966, 1.0),
            (6.297, 1.0),
        )
    ),
    sufficient=Linear(
        {
            "fall": 8.741,
            "spread": -0.493,
            "words": -2.694,
            "length": 1.759,
            "listed": -0.92,
            "timed": 0.285,
            "guess": -2.171,
            "sessions": -0.399,
            "window": 0.769,
        },
        -0.067,
    ),
    word=Linear(
        {
            "asked": -1.398,
            "rarity": 1.062,
            "stop": -0.474,
            "name": 1.053,
            "number": 0.125,
            "near": 0.27,
            "after": 0.272,
            "like_head": 2.016,
            "like_question": 1.068,
            "sentence": 1.115,
            "own": -0.138,
            "rank": 3.596,
            "object": 0.537,
            "of_verb": 0.786,
            "typed": 0.849,
            "heard": 0.476,
            "caption": -0.638,
            "first": -0.507,
        },
        -8.251,
    ),
    abstain_below=0.745,
    misattributed=0.2,
    exact=0.93,
    inferrable=0.7,
)
