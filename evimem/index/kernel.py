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

Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """One row a turn: who counts in its score, the turn itself first; NONE and no share where there is nobody.

    `shares` is what counts of a neighbour, `answers` what counts beyond it of a question that the turn may answer.
    """

    positions: NDArray[np.int32]
    shares: Shares
    answers: Shares


def neighbourhood(corpus: Corpus, positions: NDArray[np.int32], weights: Weights) -> Neighbourhood:
    """Return who counts in the score of these turns, and by how much."""
    itself = positions.astype(np.int32)
    columns = [(itself, np.ones(len(itself)), np.zeros(len(itself)))]
    fading = _Fading(weights)
    for links, backward in ((corpus.dialogue.before, True), (corpus.dialogue.after, False)):
        here = itself
        changes = np.zeros(len(itself), np.int64)
        repeats = np.zeros(len(itself), np.int64)
        for _ in range(weights.steps):
            there = np.where(here == NONE, NONE, links[here])
            changed = corpus.speaker[there] != corpus.speaker[here]
            changes, repeats = changes + changed, repeats + ~changed
            near = fading.near[changes, repeats] & (there != NONE)
            if not near.any():
                break
            answered = near & (changes == 1) & backward
            columns.append(
                (
                    np.where(near, there, NONE).astype(np.int32),
                    np.where(near, fading.share[changes, repeats], 0.0),
                    np.where(answered, fading.decay[changes, repeats], 0.0),
                )
            )
            here = there
    places, shares, answers = zip(*columns, strict=True)
    return Neighbourhood(np.stack(places, axis=1), np.stack(shares, axis=1), np.stack(answers, axis=1))


def distance(changes: int, repeats: int, weights: Weights) -> float:
    """Return how far a turn is after so many changes of speaker, and so many turns by the one who spoke before."""
    return changes + weights.burst * repeats


def decay(far: float, weights: Weights) -> float:
    """Return what is left of a neighbour at a distance, in units of the next speaker's turn."""
    return math.exp(-(far - 1) / weights.fade) if far <= weights.reach else 0.0


class _Fading:
    """`decay` as tables by changes and repeats: numpy's exp may differ in its last bit with the length of an array."""

    def __init__(self, weights: Weights) -> None:
        sides = range(weights.steps + 1)
        table = [[decay(distance(changes, repeats, weights), weights) for repeats in sides] for changes in sides]
        self.decay = np.array(table)
        self.share = weights.spread * self.decay
        self.near = self.decay > 0
