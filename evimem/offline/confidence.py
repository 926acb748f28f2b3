"""Two probabilities from named signals: that the memory answers the question, and that the view holds all of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Linear:
    """A logistic model over named features: all there is to it can be read here."""

    weights: Mapping[str, float]
    bias: float

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability; a signal that is not there counts as zero."""
        total = self.bias + sum(weight * signals.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


ANSWERABLE = Linear({"gap": 2.0, "own_best": 1.0, "covered": 1.0}, -1.0)
SUFFICIENT = Linear({"own_best": 1.0, "margin": 1.0, "covered": 1.0}, -2.0)
ABSTAIN_BELOW = 0.5
EXACT_AT = 0.85
INFERRABLE_AT = 0.60
