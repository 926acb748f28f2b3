"""Dialogue order as two links a turn: the turn before it and the turn after it in its session."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from .columns import Column

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
