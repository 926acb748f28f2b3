"""One question put to one corpus: what every step of a ranking shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus
from .query_terms import Asked, asked_terms
from .resolved_query import Question
from .weights import Weights


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, the corpus it is put to, and its terms and direction there; `direction` is None without a vector."""

    question: Question
    corpus: Corpus
    weights: Weights
    asked: Asked
    direction: NDArray[np.float32] | None


def inquire(question: Question, corpus: Corpus, weights: Weights) -> Inquiry:
    """Look the terms of a question up in a corpus."""
    return Inquiry(question, corpus, weights, asked_terms(question, corpus, weights), _direction(question, corpus))


def _direction(question: Question, corpus: Corpus) -> NDArray[np.float32] | None:
    """Return the question's vector in whole numbers, few enough for products to sum exactly in float32."""
    if question.vector is None:
        return None
    peak = float(np.abs(question.vector).max(initial=0.0))
    if peak == 0.0:
        return None
    levels = min(127, (1 << 24) // (127 * corpus.dimension))
    whole: NDArray[np.float32] = np.rint(question.vector * (levels / peak)).astype(np.float32)
    return whole
