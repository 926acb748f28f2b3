"""The full score of chosen turns, as named parts that sum to it.

Everything is elementwise or an exact sum of whole numbers, so that a turn's score does not depend on which others are
scored beside it, and a rebuilt memory ranks to the bit as the one it was built from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .corpus import NEVER, Corpus
from .dialogue_smoothing import Neighbourhood, neighbourhood
from .lexical import lexical
from .meaning import cosines, nearest_cosines
from .prepared_query import Inquiry
from .weights import Weights

DAY = 86_400_000_000  # microseconds
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """Turns with their parts; `total` is the parts summed in their order."""

    positions: NDArray[np.int32]
    parts: dict[str, Scores]
    neighbours: Neighbourhood

    @property
    def total(self) -> Scores:
        total: Scores = np.zeros(len(self.positions))
        for part in self.parts.values():
            total = np.add(total, part)
        return total


def score(inquiry: Inquiry, positions: NDArray[np.int32], most: int | None = None) -> Scored:
    """Return the parts of the score of these turns; of the `most` promising ones, where there are more."""
    size = len(inquiry.corpus)
    near = neighbourhood(inquiry.corpus, positions, inquiry.weights)
    words, others = lexical(inquiry, near), priors(inquiry, positions)
    if most is not None and len(positions) > most:
        hopes = np.sum(
            [*words.values(), *others.values(), inquiry.weights.meaning * nearest_cosines(inquiry, near)], axis=0
        )
        chosen = np.sort(largest(hopes, most))
        positions, near = positions[chosen], near.take(chosen, size)
        words, others = ({name: part[chosen] for name, part in parts.items()} for parts in (words, others))
    meaning = inquiry.weights.meaning * cosines(inquiry, near)
    return Scored(positions, {**words, "meaning": meaning, **others}, near)


def largest(values: NDArray[np.floating[Any]], most: int) -> NDArray[np.intp]:
    """Return where the largest values are, in no order."""
    if len(values) <= most:
        return np.arange(len(values))
    return np.argpartition(values, len(values) - most)[len(values) - most :]


def priors(inquiry: Inquiry, positions: NDArray[np.int32]) -> dict[str, Scores]:
    """Return the parts that need no neighbours."""
    question, corpus, weights = inquiry.question, inquiry.corpus, inquiry.weights
    parts = {"asks": -weights.asks * corpus.asks[positions].astype(np.float64)}
    if len(question.names) == 1:
        (name,) = question.names
        parts["speaker"] = speaker_weight(name, corpus, weights) * (corpus.speaker[positions] == name)
    if question.times:
        parts["date"] = weights.date * _closeness(inquiry, positions)
    if question.when:
        parts["when"] = weights.when * corpus.temporal[positions].astype(np.float64)
    return parts


def speaker_weight(speaker: int, corpus: Corpus, weights: Weights) -> float:
    """Return what it counts that a turn is the named speaker's: more for the laconic one of an unequal pair.

    Beside an assistant's long replies, which repeat what a user said, the user's few words would come second.
    """
    return weights.speaker * min(weights.laconic, max(1.0, math.sqrt(1 / corpus.verbosity(speaker))))


def _closeness(inquiry: Inquiry, positions: NDArray[np.int32]) -> Scores:
    """Return 1 for a turn said in a time asked about, or whose facts happen in it, and less the further away."""
    corpus, times, days = inquiry.corpus, inquiry.question.times, inquiry.weights.days
    said = corpus.time[positions]
    has_event = corpus.event_start[positions] != NEVER
    start, end = corpus.event_start[positions], corpus.event_end[positions]
    best = np.zeros(len(positions))
    for first, last in times:
        away = _days(said, said + 1, first, last)
        away = np.where(has_event, np.minimum(away, _days(start, end, first, last)), away)
        best = np.maximum(best, 1 / (1 + np.square(away / days)))
    return best


def _days(start: NDArray[np.int64], end: NDArray[np.int64], first: int, last: int) -> Scores:
    """Return how far two half-open intervals are apart; 0 where they meet."""
    gap: Scores = np.maximum(np.maximum(first - end, start - last), 0) / DAY
    return gap
