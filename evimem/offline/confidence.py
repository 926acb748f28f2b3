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


@dataclass(frozen=True, slots=True)
class Linear:
    """A logistic model: named weights and a bias."""

    weights: Mapping[str, float]
    bias: float

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability; a signal that is not there counts as zero."""
        total = self.bias + sum(weight * signals.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    def probabilities(self, columns: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return a probability a row of named columns."""
        total = sum(
            (np.float32(weight) * columns[name] for name, weight in self.weights.items()), np.float32(self.bias)
        )
        return np.asarray(1 / (1 + np.exp(-total)), np.float32)


@dataclass(frozen=True, slots=True)
class Constants:
    """Every number that was fitted rather than written down.

    `answerable` gives the probability that the memory answers the question, `sufficient` that the view holds all the
    evidence, `word` that a word belongs to the answer. Below `abstain_below` no answer is given; a tenth of the
    answerable questions lie there. Below `misattributed` an answer about somebody else counts as an open gap, below
    `unrelated` nothing relevant was found. From `exact` on, 19 of 20 views hold all of the evidence.
    """

    answerable: Linear
    sufficient: Linear
    word: Linear
    abstain_below: float
    misattributed: float
    unrelated: float
    exact: float
    inferrable: float


SHIPPED = Constants(
    answerable=Linear(
        {"gap": 1.0, "gap_best": 1.0, "facts_own": 1.0, "facts_other": -1.0, "unsaid": -1.0, "margin": 0.5}, 0.0
    ),
    sufficient=Linear({"fall": 1.0}, 0.0),
    word=Linear(
        {
            "asked": -1.26,
            "rarity": 1.10,
            "stop": -0.53,
            "name": 1.13,
            "number": 0.35,
            "near": 0.15,
            "after": 0.28,
            "like_head": 2.07,
            "like_question": 0.81,
            "sentence": 2.96,
            "own": 0.16,
            "rank": 2.65,
            "object": 0.53,
            "of_verb": 0.70,
            "typed": 0.89,
            "heard": 0.84,
            "caption": -0.50,
            "first": -0.47,
        },
        -9.34,
    ),
    abstain_below=0.61,
    misattributed=0.30,
    unrelated=0.05,
    exact=0.87,
    inferrable=0.70,
)
