"""How wide an HNSW search must be (`ef`): measured on the index itself, because no formula fits every embedder.

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
_WANTED = 0.965  # a hundred probes measure recall to about .01, and .95 must hold
_WANTED_OF_OWN = 0.985  # vectors that are in the index are found more easily than new ones
_STEP = 2 ** (1 / 3)
_OUTGROWN = 1.5  # times the size at which the width was measured
_SLICE = 16_384  # vectors compared at once
_EQUAL = 1e-5  # cosines that differ by less count as equal


@dataclass(frozen=True, slots=True)
class SearchWidth:
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
class RecallTest:
    """Probes to measure recall with.

    `probes` has shape (n, dimension); `own` holds the position of each probe that is in the index itself, else -1;
    `least` the cosine of its tenth nearest vector, not counting itself.
    """

    probes: Vectors
    own: NDArray[np.int64]
    least: NDArray[np.float32]

    @property
    def wanted(self) -> float:
        """The mean recall to reach."""
        return _WANTED if self.own[0] < 0 else _WANTED_OF_OWN

    def recall(self, probe: int, scores: NDArray[np.float32]) -> float:
        """Return the share of the ten nearest that was found; a vector as near as the tenth counts."""
        return float((scores >= self.least[probe] - _EQUAL).sum()) / K


def recall_test(probes: Vectors, positions: NDArray[np.int64], rows: Rows) -> RecallTest:
    """Compare vectors about to be added (or, where they are too few, some of the index) with the whole index."""
    own = np.full(len(probes), -1)
    if len(probes) < PROBES:
        own = np.random.default_rng(len(positions)).choice(positions, PROBES)
        probes = rows(own)
    top = np.full((len(probes), K), -2, dtype=np.float32)
    for part in slices(positions):
        scores = probes @ rows(part).T
        scores[own[:, None] == part] = -2
        top = np.partition(np.hstack([top, scores]), -K, axis=1)[:, -K:]
    return RecallTest(probes, own, top.min(axis=1))


def widened(effort: SearchWidth, size: int, wanted: float, recall: Callable[[int], float]) -> SearchWidth:
    """Return the least width, from the present one up, that has the wanted recall, or half the index."""
    ef = effort.ef
    while ef * 2 < size and recall(ef) < wanted:
        ef = math.ceil(ef * _STEP)
    return SearchWidth(ef, size)


def slices(positions: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Cut positions into parts whose rows fit in a little memory."""
    for start in range(0, len(positions), _SLICE):
        yield positions[start : start + _SLICE]
