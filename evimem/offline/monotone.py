"""A monotone map from a raw score to a probability: a few knots, pooled until they rise, straight lines between."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

BINS = 16
LEAST = 50  # labelled scores; fewer say nothing that holds for the next one
_RISE = 0.002  # between knots, so that no two scores in order become one


@dataclass(frozen=True, slots=True)
class Monotone:
    """Knots (score, probability), both rising; scores beyond the ends get the ends' probabilities."""

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
