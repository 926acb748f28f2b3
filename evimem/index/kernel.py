"""The dialogue kernel: what share of its neighbours' words and vectors a turn is given.

An answer often stands in the turn after its question, and a turn often speaks of what the one before it named. The
shares are computed when a question is asked, so that nothing that is kept depends on a neighbour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus
from .dialogue import NONE
from .weights import Weights


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """One row a turn: positions (the turn itself first, NONE where there is nobody) and their shares."""

    positions: NDArray[np.int32]
    shares: NDArray[np.float64]


def neighbourhood(corpus: Corpus, positions: NDArray[np.int32], weights: Weights) -> Neighbourhood:
    """Return who counts in the score of these turns, and by how much."""
    itself = positions.astype(np.int32)
    places, shares = [itself], [np.ones(len(itself))]
    for links, backward in ((corpus.dialogue.before, True), (corpus.dialogue.after, False)):
        here = itself
        distance = np.zeros(len(itself))
        changes = np.zeros(len(itself))
        for _ in range(weights.steps):
            there = np.where(here == NONE, NONE, links[here])
            change = np.where(there == NONE, weights.reach, corpus.speaker[there] != corpus.speaker[here])
            changes = changes + change
            distance = distance + np.where(change == 0, weights.burst, change)
            near = (there != NONE) & (distance <= weights.reach)
            if not near.any():
                break
            share = _fading(distance, weights)
            if backward:
                answers = (changes == 1) & corpus.hands_over[there]
                share = np.where(answers, share * (1 + weights.flow / weights.spread), share)
            places.append(np.where(near, there, NONE).astype(np.int32))
            shares.append(np.where(near, share, 0.0))
            here = there
    return Neighbourhood(np.stack(places, axis=1), np.stack(shares, axis=1))


def fade(distance: float, weights: Weights) -> float:
    """Return the share of a neighbour so many turns away."""
    return weights.spread * math.exp(-(distance - 1) / weights.fade) if distance <= weights.reach else 0.0


def _fading(distance: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Look `fade` up, because numpy's exp may differ in the last bit with the length of an array."""
    unit = weights.burst if weights.burst < 1 else 1.0
    table = np.array([fade(step * unit, weights) for step in range(int(weights.reach / unit) + 1)] + [0.0])
    return table[np.minimum(np.rint(distance / unit), len(table) - 1).astype(np.int64)]
