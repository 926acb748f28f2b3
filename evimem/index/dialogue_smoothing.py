"""The dialogue kernel: the share of its neighbours' words and vectors that counts for a passage.

An answer often stands in the turn after its question, and a turn often refers to what the one before it named. Shares
are computed at query time, so that nothing stored depends on a neighbour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .dialogue_order import NONE, Dialogue
from .weights import Weights

Shares = NDArray[np.float64]
_Step: TypeAlias = tuple[NDArray[np.int32], Shares, Shares]  # one step from each passage: positions, shares, answers


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """One column a passage: the rows that count in its score, itself first; NONE with share 0 where there are fewer.

    `shares` is what counts of a neighbour, `answers` what counts beyond it of a question that the passage may answer.
    `places` are all the positions that occur, ascending; `slots` says for each position of the corpus where among
    them it is, counting from 1, and `rows` says it for each of `positions`.
    """

    positions: NDArray[np.int32]
    shares: Shares
    answers: Shares
    weights: Weights
    places: NDArray[np.int32]
    slots: NDArray[np.int32]
    rows: NDArray[np.intp]

    def take(self, chosen: NDArray[np.intp], size: int) -> Neighbourhood:
        """Return these columns of a neighbourhood in a corpus of a size."""
        around = self.positions[:, chosen]
        shares, answers = self.shares[:, chosen], self.answers[:, chosen]
        return Neighbourhood(around, shares, answers, self.weights, *_places(around, size))


def neighbourhood(
    dialogue: Dialogue,
    speakers: NDArray[np.int32],
    turns: NDArray[np.int32],
    positions: NDArray[np.int32],
    weights: Weights,
) -> Neighbourhood:
    """Return the rows that count in the score of each of these, and by how much."""
    itself = positions.astype(np.int32)
    backward: list[_Step] = []
    forward: list[_Step] = []
    fading = _fading(weights)
    # Both directions at once: the first line of each array goes backward, the second forward.
    here, speaker, turn = (np.stack([column, column]) for column in (itself, speakers[itself], turns[itself]))
    state = np.zeros(here.shape, np.intp)
    for _ in range(weights.steps):
        there = np.stack([dialogue.before.values[here[0]], dialogue.after.values[here[1]]])
        there[here == NONE] = NONE
        following, next_turn = speakers[there], turns[there]
        state += np.where((following == speaker) & (next_turn != turn), 1, weights.steps + 1)
        share = fading.shares[state]
        share[there == NONE] = 0.0
        reached = share > 0
        if not reached.any():
            break
        there[~reached] = NONE  # no turn beyond the reach is followed
        backward.append((there[0], share[0], np.where(reached[0], fading.answers[state[0]], 0.0)))
        forward.append((there[1], share[1], np.zeros(len(itself))))
        here, speaker, turn = there, following, next_turn
    lines = [(itself, np.ones(len(itself)), np.zeros(len(itself))), *_reaching(backward), *_reaching(forward)]
    around, shares, answering = (np.stack(values) for values in zip(*lines, strict=True))
    return Neighbourhood(around, shares, answering, weights, *_places(around, len(speakers)))


def _reaching(steps: list[_Step]) -> list[_Step]:
    """Return the steps that reach any row."""
    return [step for step in steps if step[1].any()]


def around(dialogue: Dialogue, positions: NDArray[np.int32], hops: int) -> NDArray[np.int32]:
    """Return one row a turn: itself and up to `hops` turns before and after it, of any speaker; NONE for none."""
    columns = [positions.astype(np.int32)]
    for links in (dialogue.before.values, dialogue.after.values):
        here = columns[0]
        for _ in range(hops):
            here = np.where(here == NONE, NONE, links[here])
            columns.append(here)
    return np.stack(columns, axis=1)


def distinct(positions: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Return the positions that occur, ascending, in a corpus of a size; faster than sorting them."""
    occurs = np.zeros(size + 1, np.bool_)  # one more element: NONE (-1) points to the last
    occurs[positions] = True
    return np.flatnonzero(occurs[:size]).astype(np.int32)


def _places(around: NDArray[np.int32], size: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.intp]]:
    places = distinct(around, size)
    slots = np.zeros(size + 1, np.int32)
    slots[places] = np.arange(1, len(places) + 1)
    return places, slots, slots[around].astype(np.intp) - 1  # NONE gets an arbitrary row: its share is 0


def distance(changes: int, repeats: int, weights: Weights) -> float:
    """Return how far a row is after so many steps of length one, and so many to another turn of the same speaker.

    A step to another speaker, or to another passage of the same turn, has length one.
    """
    return changes + weights.burst * repeats


def decay(far: float, weights: Weights) -> float:
    """Return the weight of a neighbour at a distance, in units of the next speaker's turn."""
    return math.exp(-(far - 1) / weights.fade) if far <= weights.reach else 0.0


@dataclass(frozen=True, slots=True)
class _Fading:
    """What counts of a row after so many steps of length one and repeats: entry steps * (most steps + 1) + repeats.

    Tables, because numpy's exp may differ in its last bit with the length of an array.
    """

    shares: NDArray[np.float64]
    answers: NDArray[np.float64]


@lru_cache(maxsize=16)
def _fading(weights: Weights) -> _Fading:
    states = [(changes, repeats) for changes in range(weights.steps + 1) for repeats in range(weights.steps + 1)]
    left = np.array([decay(distance(*state, weights), weights) for state in states])
    return _Fading(weights.spread * left, np.where([changes == 1 for changes, _ in states], left, 0.0))


class SmoothedNorms:
    """The length of each row's smoothed vector, by position; NaN where no query has needed it yet."""

    def __init__(self) -> None:
        self._known: NDArray[np.float64] = np.zeros(0)
        self._for: tuple[Weights, float] | None = None
        self._changed: list[int] = []

    def change(self, position: int) -> None:
        """Mark the lengths around a position as stale: its vector or its place in the dialogue has changed."""
        self._changed.append(position)

    def of(self, dialogue: Dialogue, size: int, weights: Weights, echoing: float) -> NDArray[np.float64]:
        """Return the lengths of `size` positions under these weights, float64, as an array to fill in.

        `echoing` is how many stems of a row count as asking at most: it changes when an assistant first speaks.
        """
        changed = np.array(self._changed, np.int32)
        if (weights, echoing) != self._for:
            self._known, self._for = np.zeros(0), (weights, echoing)
        if len(self._known) < size:
            more = np.full(size + size // 8 - len(self._known), np.nan)
            self._known = np.concatenate([self._known, more])
        self._known[_reached(dialogue, changed, weights.steps)] = np.nan
        del self._changed[: len(changed)]
        return self._known[:size]


def _reached(dialogue: Dialogue, positions: NDArray[np.int32], steps: int) -> NDArray[np.int32]:
    """Return these positions and those up to so many turns before and after them."""
    reached = [positions]
    for links in (dialogue.before.values, dialogue.after.values):
        here = positions
        for _ in range(steps):
            here = links[here]
            here = here[here != NONE]
            if not len(here):
                break
            reached.append(here)
    return np.concatenate(reached)
