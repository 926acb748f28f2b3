"""BERTScore (Zhang et al. 2020): how alike an answer and its gold form are, each token beside its best partner.

The vectors are a language model's (token_vectors.py), whose weights are not shipped. Not rescaled: with
roberta-large unrelated answers have about .83, so that only differences tell anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedText:
    """The tokens of a text: float32 vectors of shape (tokens, width), and which of them are words of it.

    The marks that a model sets around a text are partners as any token, and have no part in the means.
    """

    vectors: NDArray[np.float32]
    counted: NDArray[np.bool_]


def bert_score(answer: EmbeddedText, gold: EmbeddedText) -> float:
    """Return F1 of the mean best cosine of the answer's tokens and of the gold form's; 0 where either has no token."""
    if not answer.counted.any() or not gold.counted.any():
        return 0.0
    cosines = _unit(answer.vectors) @ _unit(gold.vectors).T
    precision = float(cosines.max(axis=1)[answer.counted].mean())
    recall = float(cosines.max(axis=0)[gold.counted].mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms == 0, 1, norms), dtype=np.float32)
