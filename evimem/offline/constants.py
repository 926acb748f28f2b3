"""The fitted numbers: linear models over named signals, and maps from a score to a probability.

All there is to them can be read in `fitted.toml`: names and weights, with the data that chose them and the commands
that fit them again.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BINS = 16
LEAST = 50  # labelled scores; from fewer, a map does not hold for new questions
_MARGIN = 0.005
_RISE = 0.002  # added from knot to knot, so that two scores in order never get one probability

C = TypeVar("C", bound="Constants")


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

    `answerable` scores whether the memory answers the question, in log-odds. The score is at most `not_stated` where
    what is asked for is of a kind that is looked up and is not stated. `calibrated` maps the score to a probability.
    `sufficient` gives the probability that the view holds all the evidence.

    `likely` gives the probability that a turn of the view holds the answer. `right` gives the probability that a short
    answer is right, `holds` that a quotation holds the answer; both take the log-odds of the calibrated probability as
    their signal "told", so that they follow a calibration of one's own.

    Below the probability `abstain_below` nothing is given. A short answer is given from the probability `answer_from`
    on, else a quotation. From `exact` on, 19 of 20 views hold all of the evidence; `inferrable` is the lower bound of
    that tier.
    """

    answerable: Linear
    not_stated: float
    calibrated: Monotone
    sufficient: Linear
    likely: Linear
    right: Linear
    holds: Linear
    abstain_below: float
    answer_from: float
    exact: float
    inferrable: float

    @classmethod
    def of(cls: type[C], table: Mapping[str, Any]) -> C:
        """Return the constants of a table as `fitted.toml` has them."""
        return cls(**{field.name: _value(table[field.name]) for field in fields(cls)})

    def score(self, signals: Mapping[str, float]) -> float:
        """Return how far the memory seems to answer the question, as log-odds that are not yet calibrated."""
        score = self.answerable.score(signals)
        return min(score, self.not_stated) if signals.get("stated", 0.0) < 0 else score

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the memory answers the question."""
        return self.calibrated(self.score(signals))


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, clipped to .005 and .995: they must stay finite."""
    clipped = min(max(probability, _MARGIN), 1 - _MARGIN)
    return math.log(clipped / (1 - clipped))


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


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Linear(dict(value["weights"]), value["bias"])
    if isinstance(value, list):
        return Monotone(tuple((score, probability) for score, probability in value))
    return value


def _fitted() -> Mapping[str, Any]:
    with (Path(__file__).parent / "fitted.toml").open("rb") as file:
        return tomllib.load(file)


FITTED = _fitted()
SHIPPED = Constants.of(FITTED)
