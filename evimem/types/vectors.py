"""Vectors and the result of a vector index: the only value types that need numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]
"""Unit vectors, shape (n, dimension), float32, one row a text; a row of zeros for a text that has no embedding."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest vectors to another, best first; equal ones by position.

    `positions` has shape (k,) and dtype int64: the caller's numbers of the vectors. `scores` has shape (k,) and dtype
    float32: their cosines, from -1 to 1.
    """

    positions: NDArray[np.int64]
    scores: NDArray[np.float32]
