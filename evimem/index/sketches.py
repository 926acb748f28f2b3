"""Two bits a dimension: sketches that preselect the nearest of millions of vectors without reading them.

A dimension is low, medium or high relative to the mean of the memory's first vectors, because the sentences of one
conversation share most of their direction. Sketches differ by a number of bits, their Hamming distance (Charikar
2002), which a processor counts 64 at a time; the few turns that differ least are then compared exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAMPLE_VECTORS = 4_096  # positions whose vectors set the bounds
_STEP_DEVIATIONS = 0.5  # standard deviations from the mean to a low or high value
_SLICE_ROWS = 8_192  # rows sketched at once
_WORD_BITS = 64  # bits
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
        self._is_sampled = False  # whether the bounds are those of the first vectors as they are now

    def sample_again(self) -> None:
        """Take the bounds anew from the first vectors, of which some are gone, before the next search."""
        self._is_sampled = False

    def nearest(
        self, stored: StoredVectors, direction: NDArray[np.float32], allowed: NDArray[np.bool_], most: int
    ) -> NDArray[np.int32]:
        """Return the `most` allowed positions that seem nearest to a direction, with ties, ascending.

        `direction` has shape (dimension,); `allowed` is a mask over positions.
        """
        words = self._update_sketches(stored)
        asked = self._sketch(direction[None] / np.sqrt(np.square(direction).sum()))[0]
        distances = np.zeros(len(stored.scale), np.uint16)
        for word, bits in zip(words, asked, strict=True):
            distances += np.bitwise_count(word ^ bits)
        far = _WORD_BITS * len(words) + 1  # further than any
        distances[~allowed] = far
        within = np.cumsum(np.bincount(distances, minlength=far)[:far])  # counting beats a partition five times
        last = min(int(np.searchsorted(within, most)), far - 1)
        return np.flatnonzero(distances <= last).astype(np.int32)

    def _update_sketches(self, stored: StoredVectors) -> Words:
        """Return the sketches of every position; those before the last call are kept where their bounds are."""
        size = len(stored.scale)
        if not self._is_sampled or self._size < SAMPLE_VECTORS:
            self._take_bounds(stored)
        if self._words.shape[1] < size:
            words = np.zeros((2 * -(-stored.vectors.shape[1] // _WORD_BITS), size + size // 8), np.uint64)
            if self._size:
                words[:, : self._size] = self._words[:, : self._size]
            self._words = words
        for start in range(self._size, size, _SLICE_ROWS):
            some = slice(start, min(start + _SLICE_ROWS, size))
            self._words[:, some] = self._sketch(stored.vectors[some] * stored.scale[some, None]).T
        self._size = size
        return self._words[:, :size]

    def _take_bounds(self, stored: StoredVectors) -> None:
        """Take the bounds from the first vectors, and set the bits of the dimensions anew whose bounds have moved."""
        bounds, before = _bounds(stored), self._bounds
        self._bounds, self._is_sampled = bounds, True
        moved = np.argwhere(bounds != before) if self._size else bounds
        if 4 * len(moved) > bounds.shape[1]:  # it is quicker to sketch all vectors anew
            self._size = 0
        for side, dimension in moved.tolist() if self._size else ():
            self._set_bits(stored, side, dimension)

    def _set_bits(self, stored: StoredVectors, side: int, dimension: int) -> None:
        values = stored.vectors[: self._size, dimension] * stored.scale[: self._size]
        of_one = np.zeros((2, len(self._bounds[0])), np.bool_)
        of_one[side, dimension] = True
        bits = _pack_bits(of_one[:, None])[0]
        (word,) = np.flatnonzero(bits)
        row = self._words[word, : self._size]
        row &= ~bits[word]
        row[values > self._bounds[side, dimension]] |= bits[word]

    def _sketch(self, vectors: NDArray[np.float32]) -> Words:
        return _pack_bits(np.stack([vectors > bound for bound in self._bounds]))


def _pack_bits(bits: NDArray[np.bool_]) -> Words:
    """Return bits, shape (2, n, dimension), as the words of n sketches."""
    sides = [np.packbits(side, axis=1) for side in bits]
    room = -sides[0].shape[1] % 8
    return np.concatenate([np.pad(side, ((0, 0), (0, room))).view(np.uint64) for side in sides], axis=1)


def _bounds(stored: StoredVectors) -> NDArray[np.float32]:
    """Return two bounds a dimension, shape (2, dimension): above the first it is not low, above the second high.

    They are rounded to an eighth of the mean value of a dimension in a unit vector: a few vectors that go then move few
    bounds, and only the bits of those dimensions are set anew.
    """
    scale, vectors = stored.scale[:SAMPLE_VECTORS], stored.vectors[:SAMPLE_VECTORS].astype(np.float32)
    if not (known := np.count_nonzero(scale)):
        return np.zeros((2, vectors.shape[1]), np.float32)
    mean = scale @ vectors / known
    spread = np.sqrt(np.maximum(0, np.square(scale) @ np.square(vectors) / known - np.square(mean)))
    grid = np.float32(1 / (8 * math.sqrt(vectors.shape[1])))
    return np.rint(np.stack([mean - _STEP_DEVIATIONS * spread, mean + _STEP_DEVIATIONS * spread]) / grid) * grid
