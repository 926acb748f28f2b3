"""Products of rows' vectors with the direction of a query, each computed once a query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus

_SLICE = 4_096  # rows turned into floats at once: what a core's cache holds
_KEPT = 131_072  # rows of a corpus up to which products are kept: setting up the room for more costs more than it saves


class Projections:
    """The products with one direction of whole numbers, shape (dimension,): below 2 ** 24, exact in any order."""

    def __init__(self, corpus: Corpus, direction: NDArray[np.float32]) -> None:
        self._corpus = corpus
        self._direction = direction
        self._known = np.full(len(corpus), np.nan) if len(corpus) <= _KEPT else None

    def at(self, positions: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the products at these positions, which are ascending and distinct."""
        if self._known is None:
            return self._computed(positions)
        missing = positions[np.isnan(self._known[positions])]
        self._known[missing] = self._computed(missing)
        found: NDArray[np.float64] = self._known[positions]
        return found

    def _computed(self, positions: NDArray[np.int32]) -> NDArray[np.float64]:
        corpus = self._corpus
        dots = np.empty(len(positions), np.float32)
        everything = len(positions) == len(corpus)  # then the rows lie as they are wanted
        for start in range(0, len(positions), _SLICE):
            some = slice(start, start + _SLICE)
            rows = corpus.vectors[some] if everything else corpus.vectors.take(positions[some], axis=0, mode="wrap")
            # Not a matrix product: BLAS would wake threads for it.
            np.einsum("ij,j->i", rows.astype(np.float32), self._direction, out=dots[some])
        return dots.astype(np.float64) * corpus.scale[positions]
