"""Dialogue order, and the share of its neighbours' words and vectors that counts for a passage.

An answer often stands in the turn after its question, and a turn often refers to names of the one before it. Shares
are computed at query time, so that nothing stored depends on a neighbour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..types.vectors import Column
from .weights import Weights

NO_POSITION = -1


class Dialogue:
    """Doubly linked sessions, ordered by time, then by arrival; a late turn finds its place.

    `before` and `after` hold one position for each position, `NO_POSITION` where there is no turn.
    """

    def __init__(self) -> None:
        self.before: Column = Column(np.int32)
        self.after: Column = Column(np.int32)
        self._last: dict[int, int] = {}

    def extend(self, sessions: NDArray[np.int32], times: NDArray[np.int64], alive: NDArray[np.bool_]) -> None:
        """Link the newest positions, given the columns of all; those that are not alive are linked to none."""
        first = len(self.before)
        for links in (self.before, self.after):
            links.extend(np.full(len(sessions) - first, NO_POSITION, np.int32))
        fresh = (first + np.flatnonzero(alive[first:])).astype(np.int32)
        touched = set(sessions[fresh].tolist()) if first else set()
        last = np.array([self._last[one] for one in touched if one in self._last], np.int32)
        order = np.concatenate([last, fresh])
        order = order[np.argsort(sessions[order], kind="stable")]
        if _is_late(order, sessions, times):  # rare: later turns of their sessions are ordered anew
            follows = alive & np.isin(sessions, sessions[fresh]) & (times >= times[fresh].min())
            before = self.before.values[follows]
            order = np.union1d(np.flatnonzero(follows), np.append(last, before[before != NO_POSITION])).astype(np.int32)
            order = order[np.lexsort((order, times[order], sessions[order]))]
        same = sessions[order[1:]] == sessions[order[:-1]]
        self.before.values[order[1:][same]] = order[:-1][same]
        self.after.values[order[:-1][same]] = order[1:][same]
        ends = order[np.append(~same, True)] if len(order) else order
        self._last.update(zip(sessions[ends].tolist(), ends.tolist(), strict=True))

    def erase(self, positions: NDArray[np.int64], sessions: NDArray[np.int32]) -> set[int]:
        """Take linked positions out of their sessions; return those that were beside them."""
        before, after, beside = self.before.values, self.after.values, set[int]()
        for position in positions.tolist():
            earlier, later = int(before[position]), int(after[position])
            if earlier != NO_POSITION:
                after[earlier] = later
            if later != NO_POSITION:
                before[later] = earlier
            elif earlier != NO_POSITION:
                self._last[int(sessions[position])] = earlier
            else:
                del self._last[int(sessions[position])]
            before[position] = after[position] = NO_POSITION
            beside |= {earlier, later}
        return beside - {NO_POSITION}


def _is_late(order: NDArray[np.int32], sessions: NDArray[np.int32], times: NDArray[np.int64]) -> bool:
    """Return whether a position comes after a later one of its session."""
    one, next_one = order[:-1], order[1:]
    return bool(((sessions[one] == sessions[next_one]) & (times[next_one] < times[one])).any())


Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """One column a passage: the rows that count in its score, itself first; NONE with share 0 where there are fewer.

    `shares` is the weight of a neighbour, `answers` the additional weight of a question that the passage may answer.
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


def rows_around_turns(dialogue: Dialogue, positions: NDArray[np.int32], hops: int) -> NDArray[np.int32]:
    """Return one row a turn: itself and up to `hops` turns before and after it, of any speaker; NONE for none."""
    columns = [positions.astype(np.int32)]
    for links in (dialogue.before.values, dialogue.after.values):
        here = columns[0]
        for _ in range(hops):
            here = np.where(here == NO_POSITION, NO_POSITION, links[here])
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
def _weights_by_steps(weights: Weights) -> tuple[Shares, Shares]:
    """Return the weight of a row after so many steps of length one and repeats, and of the question that it asks.

    The entry is steps * (most steps + 1) + repeats, the last one of no row. Tables, because numpy's exp may differ in
    its last bit with the length of an array.
    """
    states = [(changes, repeats) for changes in range(weights.steps + 1) for repeats in range(weights.steps + 1)]
    left = np.array([*(decay(distance(*state, weights), weights) for state in states), 0.0])
    return weights.spread * left, np.where([*(changes == 1 for changes, _ in states), False], left, 0.0)


class Smoothing:
    """Rows with the dialogue around them under the weights of the last query, computed when first needed.

    `norms` are the lengths of smoothed vectors by position, NaN where not known yet; the code that computes them stores
    them. Of the lines of the other two the first are the rows themselves, then those before them from the nearest on,
    then those after them.
    """

    def __init__(self) -> None:
        self._for: tuple[Weights, float] | None = None
        self.norms: Shares = np.zeros(0)
        self._there: NDArray[np.int32] = np.zeros((1, 0), np.int32)  # NONE in the first line: not known yet
        self._states: NDArray[np.int16] = np.zeros((1, 0), np.int16)  # entries of `_weights_by_steps`
        self._changed: list[int] = []

    def change(self, positions: Iterable[int]) -> None:
        """Mark the neighbours of positions as stale: their place in the dialogue has changed."""
        self._changed += positions

    def neighbourhood(
        self,
        dialogue: Dialogue,
        speakers: NDArray[np.int32],
        turns: NDArray[np.int32],
        positions: NDArray[np.int32],
        weights: Weights,
        echoing: float = 0.0,
    ) -> Neighbourhood:
        """Return the rows that count in the score of each of some positions, and by how much.

        `speakers` and `turns` say who speaks at each position of the corpus, and of which turn it is; `echoing` is how
        many stems of a row count as asking at most: it changes when an assistant first speaks.
        """
        self._follow(dialogue, len(turns), weights, echoing)
        shares_of, answers_of = _weights_by_steps(weights)
        missing = positions[self._there[0, positions] == NO_POSITION]
        if len(missing):
            self._fill(dialogue, speakers, turns, missing, shares_of)
        states = self._states[:, positions]
        reaching = np.flatnonzero([True, *(states[1:] != NO_POSITION).any(axis=1)])  # the other lines reach no row
        around, states = self._there[reaching][:, positions], states[reaching]
        shares, answers = shares_of[states], answers_of[states]
        shares[0], answers[0], answers[reaching > weights.steps] = 1.0, 0.0, 0.0
        return Neighbourhood(around, shares, answers, *_places(around, len(turns)))

    def _follow(self, dialogue: Dialogue, size: int, weights: Weights, echoing: float) -> None:
        """Make room for so many positions under these weights, and drop stale ones."""
        changed = np.array(self._changed, np.int32)
        if (weights, echoing) != self._for:
            lines = 2 * weights.steps + 1
            self._for, self.norms = (weights, echoing), np.zeros(0)
            self._there, self._states = np.zeros((lines, 0), np.int32), np.zeros((lines, 0), np.int16)
        if (missing := size - len(self.norms)) > 0:
            room = np.full((len(self._there), missing + size // 8), NO_POSITION)
            self.norms = np.append(self.norms, np.full(room.shape[1], np.nan))
            self._there = np.append(self._there, room.astype(np.int32), axis=1)
            self._states = np.append(self._states, room.astype(np.int16), axis=1)
        if len(changed):
            near = rows_around_turns(dialogue, changed, weights.steps)
            stale = near[near != NO_POSITION]
            self.norms[stale], self._there[0, stale] = np.nan, NO_POSITION
            del self._changed[: len(changed)]

    def _fill(
        self,
        dialogue: Dialogue,
        speakers: NDArray[np.int32],
        turns: NDArray[np.int32],
        positions: NDArray[np.int32],
        share: Shares,
    ) -> None:
        steps = len(self._there) // 2
        self._there[:, positions], self._states[:, positions] = NO_POSITION, NO_POSITION
        self._there[0, positions], self._states[0, positions] = positions, 0
        # Both directions at once: the first line of each array goes backward, the second forward.
        here, speaker, turn = (np.stack([one, one]) for one in (positions, speakers[positions], turns[positions]))
        states = np.zeros(here.shape, np.intp)
        for step in range(1, steps + 1):
            there = np.stack([dialogue.before.values[here[0]], dialogue.after.values[here[1]]])
            there[here == NO_POSITION] = NO_POSITION
            following, next_turn = speakers[there], turns[there]
            states += np.where((following == speaker) & (next_turn != turn), 1, steps + 1)
            beyond = (there == NO_POSITION) | (share[states] == 0)
            there[beyond] = NO_POSITION  # no turn beyond the reach is followed
            if beyond.all():
                break
            for line, back in ((step, 0), (steps + step, 1)):
                self._there[line, positions] = there[back]
                self._states[line, positions] = np.where(beyond[back], NO_POSITION, states[back])
            here, speaker, turn = there, following, next_turn
