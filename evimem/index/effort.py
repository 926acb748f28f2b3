"""How wide an HNSW search must be: measured on the index itself, because no formula fits every embedder.

At a fixed width the recall falls as an index grows, and how fast depends on how the vectors lie: at 50,000 vectors
.95 takes a width of 32 for well-separated clusters, 130 for chat under the shipped embedding and 1,000 for noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..types.vectors import Vectors

Rows = Callable[[NDArray[np.int64]], Vectors]
K = 10
PROBES = 100
_WANTED = 0.965  # a hundred probes tell the recall to about .01, and .95 is to hold
_WANTED_OF_ITS_OWN = 0.985  # what is in the index already is found more easily than what is not
_STEP = 2 ** (1 / 3)
_OUTGROWN = 1.5
_SLICE = 16_384
_EQUAL = 1e-5


@dataclass(frozen=True, slots=True)
class Effort:
    """A width (`ef`) that reached the wanted recall@10 in an index of `size` vectors."""

    ef: int = 128
    size: int = 1000

    def at(self, size: int, k: int) -> int:
        """Return the width for another size and k: it grows with the root of both until it is measured again."""
        return math.ceil(self.ef * math.sqrt(max(size / self.size, 1) * max(k / K, 1)))

    def is_outgrown(self, size: int) -> bool:
        """Return whether an index of this size is to be measured again."""
        return size >= self.size * _OUTGROWN


@dataclass(frozen=True, slots=True)
class Exam:
    """Vectors to look for, the position of each that is in the index itself (else -1), and what is to be found."""

    probes: Vectors
    own: NDArray[np.int64]
    least: NDArray[np.float32]  # the cosine of the tenth nearest, not counting itself

    @property
    def wanted(self) -> float:
        """The mean recall to reach."""
        return _WANTED if self.own[0] < 0 else _WANTED_OF_ITS_OWN

    def recall(self, probe: int, scores: NDArray[np.float32]) -> float:
        """Return the share of the ten that was found; what is as near as the tenth counts."""
        return float((scores >= self.least[probe] - _EQUAL).sum()) / K


def examine(probes: Vectors, positions: NDArray[np.int64], rows: Rows) -> Exam:
    """Compare vectors that are about to be added, or where they are too few some of its own, with the whole index."""
    own = np.full(len(probes), -1)
    if len(probes) < PROBES:
        own = np.random.default_rng(len(positions)).choice(positions, PROBES)
        probes = rows(own)
    top = np.full((len(probes), K), -2, dtype=np.float32)
    for part in slices(positions):
        scores = probes @ rows(part).T
        scores[own[:, None] == part] = -2
        top = np.partition(np.hstack([top, scores]), -K, axis=1)[:, -K:]
    return Exam(probes, own, top.min(axis=1))


def widened(effort: Effort, size: int, wanted: float, recall: Callable[[int], float]) -> Effort:
    """Return the least width, from the present one up, that has the wanted recall, or half the index."""
    ef = effort.ef
    while ef * 2 < size and recall(ef) < wanted:
        ef = math.ceil(ef * _STEP)
    return Effort(ef, size)


def slices(positions: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Cut positions into parts whose rows fit in a little memory."""
    for start in range(0, len(positions), _SLICE):
        yield positions[start : start + _SLICE]
