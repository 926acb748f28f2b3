"""The best turns for a question: candidates first, then the full score on them only."""

from __future__ import annotations

import numpy as np

from ..protocols import VectorIndex
from .candidates import EFFORT, Effort, candidates
from .corpus import Corpus
from .dialogue_order import NONE
from .filters import eligible
from .prepared_query import inquire
from .resolved_query import Question, Ranked
from .scoring import Scored, score
from .weights import WEIGHTS, Weights


def rank(
    question: Question,
    corpus: Corpus,
    k: int,
    weights: Weights = WEIGHTS,
    nearest: VectorIndex | None = None,
    effort: Effort = EFFORT,
) -> list[Ranked]:
    """Return the k best eligible turns, best first, ties by arrival; fewer only where there are fewer.

    Up to `effort.whole` eligible turns are all scored. Of more, candidates are; without a vector index the nearest of
    them are found by comparing with all.
    """
    inquiry = inquire(question, corpus, weights)
    allowed = eligible(question, corpus)
    if np.count_nonzero(allowed) <= effort.whole:
        return _best(score(inquiry, np.flatnonzero(allowed).astype(np.int32)), k)
    positions = candidates(inquiry, k, allowed, nearest, effort)
    return _best(score(inquiry, positions, max(effort.final, 10 * k)), k)


def _best(scored: Scored, k: int) -> list[Ranked]:
    """Return the k best; positions are ascending, so equal ones keep their order of arrival."""
    total = scored.total
    chosen = np.arange(len(total))
    if len(chosen) > k:
        chosen = np.flatnonzero(total >= np.partition(total, len(total) - k)[len(total) - k])
    chosen = chosen[np.argsort(-total[chosen], kind="stable")][:k]
    return [_ranked(scored, int(index), float(total[index])) for index in chosen]


def _ranked(scored: Scored, index: int, total: float) -> Ranked:
    parts = {name: float(part[index]) for name, part in scored.parts.items() if part[index]}
    around = scored.neighbours.positions[index, 1:].tolist()
    return Ranked(int(scored.positions[index]), total, parts, tuple(p for p in around if p != NONE))
