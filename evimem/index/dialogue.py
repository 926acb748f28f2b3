"""Dialogue order, and the share of its neighbours' words and vectors that counts for a passage.

An answer often stands in the turn after its question, and a turn often refers to what the one before it named. Shares
are computed at query time, so that nothing stored depends on a neighbour.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .columns import Column
from .weights import Weights

NONE = -1


class Dialogue:
    """Doubly linked sessions, ordered by time, then by arrival; a late turn finds its place.

    `before` and `after` hold one position for each position, `NONE` where there is no turn.
    """

    def __init__(self) -> None:
        self.before: Column = Column(np.int32)
        self.after: Column = Column(np.int32)
        self._last: dict[int, int] = {}
        self._sorted: dict[int, list[tuple[int, int]]] = {}  # only of sessions that had a late turn

    def append(self, session: int, time: int, times: NDArray[np.int64]) -> None:
        """Link the next position; `times` holds those of all earlier ones."""
        position = self.before.size
        last = self._last.get(session, NONE)
        self.before.append(NONE)
        self.after.append(NONE)
        if last == NONE or times[last] <= time:
            self._link(last, position)
            self._last[session] = position
            if session in self._sorted:
                self._sorted[session].append((time, position))
        else:
            self._insert(session, time, position, times)

    def hole(self) -> None:
        """Append a position that no turn has."""
        self.before.append(NONE)
        self.after.append(NONE)

    def load(self, sessions: NDArray[np.int32], times: NDArray[np.int64], alive: NDArray[np.bool_]) -> None:
        """Link the positions of a block at once; the dialogue must be empty."""
        before = np.full(len(sessions), NONE, np.int32)
        after = np.full(len(sessions), NONE, np.int32)
        order = np.flatnonzero(alive).astype(np.int32)
        order = order[np.argsort(sessions[order], kind="stable")]
        same = sessions[order[1:]] == sessions[order[:-1]]
        if (same & (times[order[1:]] < times[order[:-1]])).any():  # rare and slow: some turns came late
            order = order[np.lexsort((order, times[order], sessions[order]))]
        before[order[1:][same]] = order[:-1][same]
        after[order[:-1][same]] = order[1:][same]
        ends = order[np.append(~same, True)] if len(order) else order
        self._last = dict(zip(sessions[ends].tolist(), ends.tolist(), strict=True))
        self.before.extend(before)
        self.after.extend(after)

    def remove(self, session: int, position: int) -> None:
        """Unlink a turn and link its neighbours."""
        before, after = int(self.before.values[position]), int(self.after.values[position])
        self._link(before, after)
        if after == NONE:
            if before == NONE:
                self._last.pop(session, None)
            else:
                self._last[session] = before
        self.before.values[position] = self.after.values[position] = NONE
        self._sorted.pop(session, None)

    def _insert(self, session: int, time: int, position: int, times: NDArray[np.int64]) -> None:
        ordered = self._sorted.get(session)
        if ordered is None:
            ordered = self._sorted[session] = self._walk(session, times)
        place = bisect_left(ordered, (time, position))
        ordered.insert(place, (time, position))
        self._link(ordered[place - 1][1] if place else NONE, position)
        self._link(position, ordered[place + 1][1])

    def _walk(self, session: int, times: NDArray[np.int64]) -> list[tuple[int, int]]:
        chain = []
        position = self._last[session]
        while position != NONE:
            chain.append((int(times[position]), position))
            position = int(self.before.values[position])
        return chain[::-1]

    def _link(self, first: int, second: int) -> None:
        if first != NONE:
            self.after.values[first] = second
        if second != NONE:
            self.before.values[second] = first


Shares = NDArray[np.float64]


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
    places: NDArray[np.int32]
    slots: NDArray[np.int32]
    rows: NDArray[np.intp]

    def take(self, chosen: NDArray[np.intp]) -> Neighbourhood:
        """Return these columns."""
        around, size = self.positions[:, chosen], len(self.slots) - 1
        return Neighbourhood(around, self.shares[:, chosen], self.answers[:, chosen], *_places(around, size))


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


@lru_cache(maxsize=16)
def _fading(weights: Weights) -> tuple[Shares, Shares]:
    """Return what counts of a row after so many steps of length one and repeats, and of the question that it asks.

    The entry is steps * (most steps + 1) + repeats, the last one of no row. Tables, because numpy's exp may differ in
    its last bit with the length of an array.
    """
    states = [(changes, repeats) for changes in range(weights.steps + 1) for repeats in range(weights.steps + 1)]
    left = np.array([*(decay(distance(*state, weights), weights) for state in states), 0.0])
    return weights.spread * left, np.where([*(changes == 1 for changes, _ in states), False], left, 0.0)


class Smoothing:
    """What the dialogue around rows makes of them under the weights of the last query, computed when first needed.

    Of its lines the first are the rows themselves, then those before them from the nearest on, then those after them.
    """

    def __init__(self) -> None:
        self._for: tuple[Weights, float] | None = None
        self._norms: Shares = np.zeros(0)  # of the smoothed vectors; NaN where it is not known yet
        self._there: NDArray[np.int32] = np.zeros((1, 0), np.int32)  # NONE in the first line: not known yet
        self._states: NDArray[np.int16] = np.zeros((1, 0), np.int16)  # entries of `_fading`
        self._changed: list[int] = []

    def change(self, position: int) -> None:
        """Mark what is around a position as stale: its vector or its place in the dialogue has changed."""
        self._changed.append(position)

    def follow(self, dialogue: Dialogue, size: int, weights: Weights, echoing: float) -> None:
        """Make room for so many positions under these weights, and forget what is stale.

        `echoing` is how many stems of a row count as asking at most: it changes when an assistant first speaks.
        """
        changed = np.array(self._changed, np.int32)
        if (weights, echoing) != self._for:
            lines = 2 * weights.steps + 1
            self._for, self._norms = (weights, echoing), np.zeros(0)
            self._there, self._states = np.zeros((lines, 0), np.int32), np.zeros((lines, 0), np.int16)
        if (missing := size - len(self._norms)) > 0:
            room = np.full((len(self._there), missing + size // 8), NONE)
            self._norms = np.append(self._norms, np.full(room.shape[1], np.nan))
            self._there = np.append(self._there, room.astype(np.int32), axis=1)
            self._states = np.append(self._states, room.astype(np.int16), axis=1)
        stale = _reached(dialogue, changed, weights.steps)
        self._norms[stale], self._there[0, stale] = np.nan, NONE
        del self._changed[: len(changed)]

    def norms(self, positions: NDArray[np.int32], smoothed: Callable[[NDArray[np.intp]], Shares]) -> Shares:
        """Return the lengths of the smoothed vectors of rows; `smoothed` computes those at some of these indexes."""
        missing = np.flatnonzero(np.isnan(self._norms[positions]))
        if len(missing):
            self._norms[positions[missing]] = smoothed(missing)
        found: Shares = self._norms[positions]
        return found

    def neighbourhood(
        self,
        dialogue: Dialogue,
        speakers: NDArray[np.int32],
        turns: NDArray[np.int32],
        positions: NDArray[np.int32],
        weights: Weights,
    ) -> Neighbourhood:
        """Return the rows that count in the score of each of some positions, and by how much.

        `speakers` and `turns` say who speaks at each position of the corpus, and of which turn it is.
        """
        shares_of, answers_of = _fading(weights)
        missing = positions[self._there[0, positions] == NONE]
        if len(missing):
            self._fill(dialogue, speakers, turns, missing, shares_of)
        states = self._states[:, positions]
        reaching = np.flatnonzero([True, *(states[1:] != NONE).any(axis=1)])  # the other lines reach no row
        around, states = self._there[reaching][:, positions], states[reaching]
        shares, answers = shares_of[states], answers_of[states]
        steps = len(self._there) // 2
        shares[0], answers[0], answers[reaching > steps] = 1.0, 0.0, 0.0
        return Neighbourhood(around, shares, answers, *_places(around, len(turns)))

    def _fill(
        self,
        dialogue: Dialogue,
        speakers: NDArray[np.int32],
        turns: NDArray[np.int32],
        positions: NDArray[np.int32],
        share: Shares,
    ) -> None:
        steps = len(self._there) // 2
        self._there[:, positions], self._states[:, positions] = NONE, NONE
        self._there[0, positions], self._states[0, positions] = positions, 0
        # Both directions at once: the first line of each array goes backward, the second forward.
        here, speaker, turn = (np.stack([one, one]) for one in (positions, speakers[positions], turns[positions]))
        states = np.zeros(here.shape, np.intp)
        for step in range(1, steps + 1):
            there = np.stack([dialogue.before.values[here[0]], dialogue.after.values[here[1]]])
            there[here == NONE] = NONE
            following, next_turn = speakers[there], turns[there]
            states += np.where((following == speaker) & (next_turn != turn), 1, steps + 1)
            beyond = (there == NONE) | (share[states] == 0)
            there[beyond] = NONE  # no turn beyond the reach is followed
            if beyond.all():
                break
            for line, back in ((step, 0), (steps + step, 1)):
                self._there[line, positions] = there[back]
                self._states[line, positions] = np.where(beyond[back], NONE, states[back])
            here, speaker, turn = there, following, next_turn


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
