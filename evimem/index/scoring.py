"""The full score of chosen turns, as named parts that sum to it.

Everything is elementwise or an exact sum of whole numbers, so that a turn's score does not depend on which others are
scored beside it, and a rebuilt memory ranks to the bit as the one it was built from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .corpus import NEVER, Corpus
from .kernel import Neighbourhood, neighbourhood
from .lexicon import Asked, asked_terms
from .question import Question
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


def score(question: Question, corpus: Corpus, positions: NDArray[np.int32], weights: Weights) -> Scored:
    """Return the parts of the score of these turns; the session part sees only the turns given."""
    near = neighbourhood(corpus, positions, weights)
    asked = asked_terms(question, corpus)
    parts = _lexical(asked, corpus, near, weights)
    parts["meaning"] = weights.meaning * _cosine(question, corpus, near)
    content = parts["words"] + parts["related"] + parts["meaning"]
    parts["session"] = weights.session * _best_of_session(content, corpus.session[positions])
    parts["asks"] = -weights.asks * corpus.asks[positions].astype(np.float64)
    if len(question.names) == 1:
        (name,) = question.names
        parts["speaker"] = weights.speaker * (corpus.speaker[positions] == name)
    if question.times:
        parts["date"] = weights.date * _closeness(question, corpus, positions, weights)
    if question.when:
        parts["when"] = weights.when * corpus.temporal[positions]
    return Scored(positions, parts, near)


def _lexical(asked: Asked, corpus: Corpus, near: Neighbourhood, weights: Weights) -> dict[str, Scores]:
    lengths = _smoothed(corpus.length, near)
    average = (corpus.words / corpus.turns if corpus.words else 1.0) * _smoothed(np.ones(len(corpus)), near)
    room = weights.k1 * (1 - weights.b + weights.b * lengths / average)
    sums = {"words": np.zeros(len(lengths)), "related": np.zeros(len(lengths))}
    counts = np.zeros(len(corpus), np.uint16)
    for term in asked.terms:
        counts[term.posting.positions] = term.posting.counts
        frequency = _smoothed(counts, near)
        counts[term.posting.positions] = 0
        part = term.weight * (frequency * (weights.k1 + 1) / (frequency + room))
        sums[term.part] = sums[term.part] + part
    scale = weights.words / (asked.total * (weights.k1 + 1)) if asked.total else 0.0
    return {name: scale * part for name, part in sums.items()}


def _smoothed(values: NDArray[Any], near: Neighbourhood) -> Scores:
    total: Scores = np.zeros(len(near.positions))
    for column in range(near.positions.shape[1]):
        total = total + near.shares[:, column] * values[near.positions[:, column]]  # no share, no matter who
    return total


def _cosine(question: Question, corpus: Corpus, near: Neighbourhood) -> Scores:
    """Return the cosine of the question with each turn's smoothed vector; 0 where either has none."""
    size = len(near.positions)
    asked = quantized(question, corpus.dimension)
    if asked is None or not size:
        return np.zeros(size)
    places, inverse = np.unique(near.positions, return_inverse=True)
    inverse = inverse.reshape(near.positions.shape)
    rows = corpus.vectors[places].astype(np.float32)
    scale = corpus.scale[places].astype(np.float64)
    dots = (rows @ asked).astype(np.float64) * scale  # whole numbers below 2 ** 24: exact in any order
    along = np.zeros(size)
    smooth = np.zeros((size, corpus.dimension), np.float32)
    for column in range(near.positions.shape[1]):
        share, place = near.shares[:, column], inverse[:, column]
        along = along + share * dots[place]
        smooth += (share * scale[place]).astype(np.float32)[:, None] * rows[place]
    norm = np.sqrt(np.square(smooth).sum(axis=1, dtype=np.float64)) * np.sqrt(float(np.square(asked).sum()))
    cosine: Scores = np.divide(along, norm, out=np.zeros(size), where=norm > 0)
    return cosine


def quantized(question: Question, dimension: int) -> NDArray[np.float32] | None:
    """Return the question's direction in whole numbers, few enough for products to sum exactly in float32."""
    if question.vector is None:
        return None
    peak = float(np.abs(question.vector).max(initial=0.0))
    if peak == 0.0:
        return None
    levels = min(127, (1 << 24) // (127 * dimension))
    whole: NDArray[np.float32] = np.rint(question.vector * (levels / peak)).astype(np.float32)
    return whole


def _best_of_session(content: Scores, sessions: NDArray[np.int32]) -> Scores:
    names, index = np.unique(sessions, return_inverse=True)
    best = np.full(len(names), -np.inf)
    np.maximum.at(best, index, content)
    best_of_each: Scores = best[index]
    return best_of_each


def _closeness(question: Question, corpus: Corpus, positions: NDArray[np.int32], weights: Weights) -> Scores:
    """Return 1 for a turn said in a time asked about, or whose facts happen in it, and less the further away."""
    said = corpus.time[positions]
    has_event = corpus.event_start[positions] != NEVER
    start, end = corpus.event_start[positions], corpus.event_end[positions]
    best = np.zeros(len(positions))
    for first, last in question.times:
        away = _days(said, said + 1, first, last)
        away = np.where(has_event, np.minimum(away, _days(start, end, first, last)), away)
        best = np.maximum(best, 1 / (1 + np.square(away / weights.days)))
    return best


def _days(start: NDArray[np.int64], end: NDArray[np.int64], first: int, last: int) -> Scores:
    """Return how far two half-open intervals are apart; 0 where they meet."""
    gap: Scores = np.maximum(np.maximum(first - end, start - last), 0) / DAY
    return gap
