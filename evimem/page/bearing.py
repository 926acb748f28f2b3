"""Search for statements that bear on a request: "suggest a dinner" is near "the epipen is in my other bag".

No word leads from one to the other, and no word vector. Two linear models over the shipped embedding do: one tells the
topics of a request, the other the direction in which statements on each topic lie. The vector of a request is moved
towards those, so that one search finds both what its words are near to and what bears on it.

`python -m benchmarks.bearing --write` fits them on requests and details that were written for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..types.vectors import Vectors

EMBEDDER = "static-minilm-256"  # the embedder whose vectors the models read
SHIFT = 1.0  # length of the move towards what bears on a request, in lengths of its own vector
FILE = Path(__file__).with_name("bearing.npy")


@dataclass(frozen=True, slots=True)
class Bearing:
    """The fitted models.

    Attributes:
        requests: Weights of each topic over a request's vector, the bias last, shape (topics, dimension + 1).
        statements: The direction of statements on each topic, shape (topics, dimension).
    """

    requests: NDArray[np.float32]
    statements: NDArray[np.float32]

    @property
    def lasting(self) -> Vectors:
        """The unit vector in whose direction statements of any topic lie, shape (dimension,)."""
        lengths = np.linalg.norm(self.statements, axis=1, keepdims=True)
        total = (self.statements / np.maximum(lengths, 1e-9)).sum(axis=0)
        return np.asarray(total / max(float(np.linalg.norm(total)), 1e-9), np.float32)

    def move(self, vector: Vectors) -> Vectors:
        """Return the unit vector to search with for a request, of its own unit vector, shape (dimension,)."""
        probabilities = 1 / (1 + np.exp(-(self.requests[:, :-1] @ vector + self.requests[:, -1])))
        towards = probabilities @ self.statements
        moved = vector + SHIFT * towards / max(float(np.linalg.norm(towards)), 1e-9)
        return np.asarray(moved / max(float(np.linalg.norm(moved)), 1e-9), np.float32)


@cache
def fitted() -> Bearing:
    """Return the models that ship."""
    stored = np.load(FILE, allow_pickle=False).astype(np.float32)
    dimension = stored.shape[1] // 2
    return Bearing(stored[:, : dimension + 1], stored[:, dimension + 1 :])
