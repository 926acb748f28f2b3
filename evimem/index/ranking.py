"""The best turns for a question: candidates first, then the full score on them only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus
from .dialogue import NONE
from .filters import eligible
from .question import Question, Ranked
from .scoring import Scored, score
from .weights import WEIGHTS, Weights


def rank(question: Question, corpus: Corpus, k: int, weights: Weights = WEIGHTS) -> list[Ranked]:
    """Return the k best eligible turns, best first, ties by arrival; fewer only where there are fewer."""
    positions = np.flatnonzero(corpus.alive).astype(np.int32)
    scored = score(question, corpus, positions, weights)
    return best(scored, eligible(question, corpus)[positions], k)


def best(scored: Scored, allowed: NDArray[np.bool_], k: int) -> list[Ranked]:
    """Return the k best of the scored turns that are allowed; positions are ascending, so ties keep arrival."""
    total = scored.total
    chosen = np.flatnonzero(allowed)
    if len(chosen) > k:
        least = np.partition(total[chosen], len(chosen) - k)[len(chosen) - k]
        chosen = chosen[total[chosen] >= least]
    chosen = chosen[np.argsort(-total[chosen], kind="stable")][:k]
    return [_ranked(scored, int(index), float(total[index])) for index in chosen]


def _ranked(scored: Scored, index: int, total: float) -> Ranked:
    parts = {name: float(part[index]) for name, part in scored.parts.items() if part[index]}
    around = scored.neighbours.positions[index, 1:].tolist()
    return Ranked(int(scored.positions[index]), total, parts, tuple(p for p in around if p != NONE))
