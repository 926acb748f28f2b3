"""Means over questions with intervals over conversations, and tables of such means."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypeVar

from .bootstrap import cluster_bootstrap, statistic_bootstrap
from .result_file import Cell, MeanScore

T = TypeVar("T")


def estimate(items: Sequence[T], measure: Callable[[T], float], conversation: Callable[[T], Hashable]) -> Cell:
    """Return the mean of a measure with its interval over conversations; None for the mean of nothing.

    A single conversation has no interval: nothing is known of how another would differ.
    """
    if not items:
        return None
    clusters = [[float(measure(one)) for one in some] for some in _by(conversation, items)]
    values = [value for cluster in clusters for value in cluster]
    if len(clusters) == 1:
        return MeanScore(fmean(values), len(values))
    interval = cluster_bootstrap(clusters)
    return MeanScore(fmean(values), len(values), interval.low, interval.high)


def estimate_of(
    items: Sequence[T], statistic: Callable[[Sequence[T]], float | None], conversation: Callable[[T], Hashable]
) -> MeanScore | None:
    """Return what is no mean, such as an area, with its interval over conversations; None where it is undefined."""
    value = statistic(items) if items else None
    if value is None:
        return None
    clusters = _by(conversation, items)
    interval = statistic_bootstrap(clusters, statistic) if len(clusters) > 1 else None
    if interval is None:
        return MeanScore(value, len(items))
    return MeanScore(value, len(items), interval.low, interval.high)


def rows_of(
    measures: Mapping[str, Callable[[T], float]],
    groups: Mapping[str, Sequence[T]],
    conversation: Callable[[T], Hashable],
) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each measure with a cell for each group, and a last row of their numbers of questions."""
    rows = [
        (name, *(estimate(items, measure, conversation) for items in groups.values()))
        for name, measure in measures.items()
    ]
    return (*rows, ("questions", *map(len, groups.values())))


def _by(conversation: Callable[[T], Hashable], items: Iterable[T]) -> list[list[T]]:
    clusters: dict[Hashable, list[T]] = {}
    for one in items:
        clusters.setdefault(conversation(one), []).append(one)
    return list(clusters.values())
