"""What every vector index shares: checks of the vectors it is given, and the order of its results."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import DimensionMismatch, EmbedderError
from ..types.vectors import Neighbours, Vectors

EMPTY = Neighbours(np.empty(0, np.int64), np.empty(0, np.float32))


@dataclass(frozen=True, slots=True)
class Batch:
    """Checked vectors, float32, shape (n, dimension), each with its position, int64, shape (n,)."""

    positions: NDArray[np.int64]
    vectors: Vectors


def checked_batch(positions: Sequence[int] | NDArray[np.int64], vectors: Vectors, dimension: int) -> Batch:
    """Check a batch before any library sees it: libraries accept a NaN silently, and some then rank it first.

    Raise DimensionMismatch, EmbedderError for a vector without direction, ValueError for bad positions.
    """
    rows = unit_rows(vectors, dimension)
    places = np.asarray(positions, dtype=np.int64).reshape(-1)
    if len(places) != len(rows):
        raise ValueError(f"expected a position a vector, got {len(places)} positions for {len(rows)} vectors")
    if len(places) and (places.min() < 0 or len(np.unique(places)) != len(places)):
        raise ValueError("positions count from 0, and a vector is added once; got a negative or a repeated one")
    return Batch(places, rows)


def unit_rows(vectors: Vectors, dimension: int) -> Vectors:
    """Return a float32 copy with rows of length 1. Raise EmbedderError for a row that is zero or not finite."""
    rows = np.array(vectors, dtype=np.float32, order="C", ndmin=2)
    if rows.shape[1] != dimension:
        raise DimensionMismatch(rows.shape[1], dimension)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not (np.isfinite(norms) & (norms > 0)).all():
        raise EmbedderError(
            "a vector to index or to search for is zero or not finite; leave texts without an embedding out, "
            "and correct the embedder where it made the vector",
            retryable=False,
        )
    rows /= norms[:, None].astype(np.float32)
    return rows


def best(positions: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Neighbours:
    """Return the k best, best first, equal ones by position."""
    if k < len(scores):
        among = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        positions, scores = positions[among], scores[among]
    order = np.lexsort((positions, -scores))[:k]
    return Neighbours(positions[order], scores[order])


def as_positions(exclude: Collection[int]) -> NDArray[np.int64]:
    """Return a collection of positions as a sorted array."""
    return np.unique(np.fromiter(exclude, np.int64, len(exclude)))
