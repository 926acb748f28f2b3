"""Percentiles, and confidence intervals by a bootstrap over conversations."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


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
    filled = [cluster for cluster in clusters if cluster]
    drawn = _drawn(len(filled), rounds, seed)
    totals, counts = (drawn @ np.array([measure(cluster) for cluster in filled]) for measure in (sum, len))
    means: list[float] = (totals / counts).tolist()
    return ConfidenceInterval(percentile(means, 0.025), percentile(means, 0.975))


def statistic_bootstrap(
    clusters: Sequence[Sequence[T]],
    statistic: Callable[[Sequence[T]], float | None],
    rounds: int = 1000,
    seed: int = 0,
) -> ConfidenceInterval | None:
    """Return the 95 % interval of what is no mean, such as an area, drawing whole clusters with replacement.

    A draw of which the statistic is None is left out; None if all are.
    """
    filled = [cluster for cluster in clusters if cluster]
    draws, counts = np.unique(_drawn(len(filled), rounds, seed), axis=0, return_counts=True)
    found: list[float] = []
    for draw, count in zip(draws.tolist(), counts.tolist(), strict=True):
        value = statistic([item for cluster, times in zip(filled, draw, strict=True) for item in times * [*cluster]])
        found += [] if value is None else count * [value]
    return ConfidenceInterval(percentile(found, 0.025), percentile(found, 0.975)) if found else None


@lru_cache(maxsize=16)
def _drawn(clusters: int, rounds: int, seed: int) -> NDArray[np.int64]:
    """Return how often each cluster is drawn, a row a round: the same for every figure of a run."""
    draw = random.Random(seed)
    return np.array([np.bincount(draw.choices(range(clusters), k=clusters), minlength=clusters) for _ in range(rounds)])
