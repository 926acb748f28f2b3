"""Two bits a dimension: sketches that preselect the nearest of millions of vectors without reading them.

A dimension is low, medium or high relative to the mean of the memory's first vectors, because the sentences of one
conversation share most of their direction. Sketches differ by a number of bits, their Hamming distance (Charikar
2002), which a processor counts 64 at a time; the few turns that differ least are then compared exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAMPLE = 4_096  # positions whose vectors set the bounds
_STEP = 0.5  # standard deviations from the mean to a low or high value
_SLICE = 8_192  # rows sketched at once
_WORD = 64  # bits
Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The vectors of all positions: `vectors` int8, shape (n, dimension), times `scale` float32, shape (n,)."""

    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]


class Sketches:
    """The sketches of a corpus, made when they are first needed.

    A word holds 64 bits of a sketch; the first words of all turns lie together, then the second ones.
    """

    def __init__(self) -> None:
        self._words: Words = np.zeros((0, 0), np.uint64)
        self._size = 0
        self._bounds: NDArray[np.float32] = np.zeros((2, 0), np.float32)

    def nearest(
        self, stored: StoredVectors, direction: NDArray[np.float32], allowed: NDArray[np.bool_], most: int
    ) -> NDArray[np.int32]:
        """Return the `most` allowed positions that seem nearest to a direction, with ties, ascending.

        `direction` has shape (dimension,); `allowed` is a mask over positions.
        """
        words = self._of(stored)
        asked = self._sketch(direction[None] / np.sqrt(np.square(direction).sum()))[0]
        distances = np.zeros(len(stored.scale), np.uint16)
        for word, bits in zip(words, asked, strict=True):
            distances += np.bitwise_count(word ^ bits)
        far = _WORD * len(words) + 1  # further than any
        distances[~allowed] = far
        within = np.cumsum(np.bincount(distances, minlength=far)[:far])  # counting beats a partition five times
        last = min(int(np.searchsorted(within, most)), far - 1)
        return np.flatnonzero(distances <= last).astype(np.int32)

    def _of(self, stored: StoredVectors) -> Words:
        """Return the sketches of every position; those before the last call are kept, unless the sample grew."""
        size = len(stored.scale)
        if self._size < SAMPLE:
            self._bounds, self._size = _bounds(stored), 0
        if self._words.shape[1] < size:
            words = np.zeros((2 * -(-stored.vectors.shape[1] // _WORD), size + size // 8), np.uint64)
            if self._size:
                words[:, : self._size] = self._words[:, : self._size]
            self._words = words
        for start in range(self._size, size, _SLICE):
            some = slice(start, min(start + _SLICE, size))
            self._words[:, some] = self._sketch(stored.vectors[some] * stored.scale[some, None]).T
        self._size = size
        return self._words[:, :size]

    def _sketch(self, vectors: NDArray[np.float32]) -> Words:
        bits = [np.packbits(vectors > bound, axis=1) for bound in self._bounds]
        room = -bits[0].shape[1] % 8
        return np.concatenate([np.pad(part, ((0, 0), (0, room))).view(np.uint64) for part in bits], axis=1)


def _bounds(stored: StoredVectors) -> NDArray[np.float32]:
    """Return two bounds a dimension, shape (2, dimension): above the first it is not low, above the second high."""
    known = np.flatnonzero(stored.scale[:SAMPLE])
    if not len(known):
        return np.zeros((2, stored.vectors.shape[1]), np.float32)
    vectors = stored.vectors[known] * stored.scale[known, None]
    mean, spread = vectors.mean(axis=0), vectors.std(axis=0)
    return np.stack([mean - _STEP * spread, mean + _STEP * spread])
