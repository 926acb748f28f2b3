"""The full score of chosen turns, as named parts that sum to it.

Everything is elementwise or an exact sum of whole numbers, so that a turn's score does not depend on which others are
scored beside it, and a rebuilt memory ranks to the bit as the one it was built from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .asked import UNIT, Asked, Related, asked_terms
from .corpus import NEVER, Corpus
from .kernel import Neighbourhood, neighbourhood
from .question import Question
from .weights import Weights

DAY = 86_400_000_000  # microseconds
ASKED_BITS = 32  # counts are summed as told + asked << ASKED_BITS
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
    """Return the parts of the score of these turns."""
    near = neighbourhood(corpus, positions, weights)
    parts = _lexical(asked_terms(question, corpus, weights), corpus, near, weights)
    parts["meaning"] = weights.meaning * _cosine(question, corpus, near, weights)
    parts["asks"] = -weights.asks * corpus.asks[positions].astype(np.float64)
    if len(question.names) == 1:
        (name,) = question.names
        parts["speaker"] = weights.speaker * (corpus.speaker[positions] == name)
    if question.times:
        parts["date"] = weights.date * _closeness(question, corpus, positions, weights)
    if question.when:
        parts["when"] = weights.when * corpus.temporal[positions].astype(np.float64)
    return Scored(positions, parts, near)


def _lexical(asked: Asked, corpus: Corpus, near: Neighbourhood, weights: Weights) -> dict[str, Scores]:
    """BM25 on the counts that a turn has with its neighbours' shares; related words count as fewer of the term."""
    told, asking = near.shares, weights.asking * near.shares + weights.answering * near.answers
    room = _room(corpus, near, told, asking, weights)
    sums = {"words": np.zeros(len(room)), "related": np.zeros(len(room))}
    counts = np.zeros(len(corpus), np.int64)
    for term in asked.terms:
        own = _frequency(counts, [Related(term.posting, UNIT)], near, told, asking)
        words = _saturated(own, room, weights)
        sums["words"] = sums["words"] + term.weight * words
        if term.related:
            whole = own + _frequency(counts, term.related, near, told, asking)
            sums["related"] = sums["related"] + term.weight * (_saturated(whole, room, weights) - words)
    scale = weights.words / asked.total if asked.total else 0.0
    return {name: scale * part for name, part in sums.items()}


def _room(corpus: Corpus, near: Neighbourhood, told: Scores, asking: Scores, weights: Weights) -> Scores:
    """Return BM25's length term: k1 for a turn of average length with average neighbours."""
    length = np.zeros(len(near.positions))
    whole = np.zeros(len(near.positions))
    for column, places in enumerate(near.positions.T):
        size = corpus.length[places] * (1 - corpus.asks[places].astype(np.float64))
        length = length + (told[:, column] * size + asking[:, column] * (corpus.length[places] - size))
        whole = whole + told[:, column]
    average = corpus.words / corpus.turns if corpus.words else 1.0
    room: Scores = weights.k1 * (1 - weights.b + weights.b * length / (average * whole))
    return room


def _frequency(
    counts: NDArray[np.int64], members: Sequence[Related], near: Neighbourhood, told: Scores, asking: Scores
) -> Scores:
    """Return how often these turns have a term, with their neighbours' shares; `counts` is zeros, and is left so."""
    for member in members:
        found = member.posting.counts.astype(np.int64)
        counts[member.posting.positions] += member.share * ((found & 0xFF) + ((found >> 8) << ASKED_BITS))
    frequency: Scores = np.zeros(len(near.positions))
    for column, places in enumerate(near.positions.T):
        here = counts[places]
        frequency = frequency + (told[:, column] * (here & 0xFFFFFFFF) + asking[:, column] * (here >> ASKED_BITS))
    for member in members:
        counts[member.posting.positions] = 0
    return frequency / UNIT


def _saturated(frequency: Scores, room: Scores, weights: Weights) -> Scores:
    """Return BM25's share of a term: 1 where a turn has nothing else."""
    share: Scores = frequency / (frequency + room)
    return share


def _cosine(question: Question, corpus: Corpus, near: Neighbourhood, weights: Weights) -> Scores:
    """Return the cosine of the question with each turn's smoothed vector; 0 where either has none."""
    size = len(near.positions)
    asked = quantized(question, corpus.dimension)
    if asked is None or not size:
        return np.zeros(size)
    places, inverse = np.unique(near.positions, return_inverse=True)
    inverse = inverse.reshape(near.positions.shape)
    rows = corpus.vectors[places].astype(np.float32)
    scale = corpus.scale[places].astype(np.float64)
    echoes = weights.echo * corpus.asks[places].astype(np.float64)
    dots = (rows @ asked).astype(np.float64) * scale  # whole numbers below 2 ** 24: exact in any order
    along = np.zeros(size)
    smooth = np.zeros((size, corpus.dimension), np.float32)
    for column in range(near.positions.shape[1]):
        place = inverse[:, column]
        share = near.shares[:, column] + near.answers[:, column] * echoes[place]
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
