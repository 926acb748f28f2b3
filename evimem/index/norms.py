"""A cache of the lengths of smoothed vectors that queries needed; entries are dropped where a neighbour changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .dialogue_order import NONE, Dialogue
from .weights import Weights


class SmoothedNorms:
    """One length a position, NaN where it is not known."""

    def __init__(self) -> None:
        self._known: NDArray[np.float64] = np.zeros(0)
        self._weights: Weights | None = None
        self._changed: list[int] = []

    def change(self, position: int) -> None:
        """Mark the lengths around a position as stale: its vector or its place in the dialogue has changed."""
        self._changed.append(position)

    def of(self, dialogue: Dialogue, size: int, weights: Weights) -> NDArray[np.float64]:
        """Return the lengths of `size` positions under these weights, float64, as an array to fill in."""
        changed = np.array(self._changed, np.int32)
        if weights != self._weights:
            self._known, self._weights = np.zeros(0), weights
        if len(self._known) < size:
            more = np.full(size + size // 8 - len(self._known), np.nan)
            self._known = np.concatenate([self._known, more])
        self._known[_around(dialogue, changed, weights.steps)] = np.nan
        del self._changed[: len(changed)]
        return self._known[:size]


def _around(dialogue: Dialogue, positions: NDArray[np.int32], steps: int) -> NDArray[np.int32]:
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
