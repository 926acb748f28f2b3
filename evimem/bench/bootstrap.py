"""Percentiles, and confidence intervals by a bootstrap over conversations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean


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
    filled = [cluster for cluster in clusters if cluster]
    means = [
        fmean(value for cluster in draw.choices(filled, k=len(filled)) for value in cluster) for _ in range(rounds)
    ]
    return ConfidenceInterval(percentile(means, 0.025), percentile(means, 0.975))
