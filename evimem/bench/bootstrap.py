"""Percentiles, and confidence intervals by a bootstrap over conversations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """The bounds of the middle 95 % of the resampled means."""

    low: float
    high: float


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed (nearest rank)."""
    return sorted(values)[max(ceil(share * len(values)) - 1, 0)]


def cluster_bootstrap(clusters: Sequence[Sequence[float]], rounds: int = 1000, seed: int = 0) -> ConfidenceInterval:
    """Return the 95 % interval of the mean of all values, drawing whole clusters with replacement.

    Questions about one conversation are not independent, so conversations are drawn instead of questions.
    """
    draw = random.Random(seed)
    sums = [(sum(cluster), len(cluster)) for cluster in clusters if cluster]
    rounds_drawn = (draw.choices(sums, k=len(sums)) for _ in range(rounds))
    means = [sum(total for total, _ in drawn) / sum(count for _, count in drawn) for drawn in rounds_drawn]
    return ConfidenceInterval(percentile(means, 0.025), percentile(means, 0.975))
