"""Numpy arrays that grow: one value a position, appended at an amortized constant cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]


class Column:
    """An array that makes more room when it is full.

    `values` is a view of what it holds: an attribute, because a ranking reads columns far oftener than it grows them.
    """

    __slots__ = ("_room", "size", "values")

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._room: Array = np.zeros(16 if width is None else (16, width), dtype)
        self.size: int = 0
        self.values: Array = self._room[:0]

    def append(self, value: Any) -> None:
        """Add one value (one row of a column that has a width)."""
        if self.size == len(self._room):
            self._grow(self.size + 1)
        self._room[self.size] = value
        self._hold(self.size + 1)

    def extend(self, values: Array) -> None:
        """Add many values."""
        if self.size + len(values) > len(self._room):
            self._grow(self.size + len(values))
        self._room[self.size : self.size + len(values)] = values
        self._hold(self.size + len(values))

    def _hold(self, size: int) -> None:
        self.size = size
        self.values = self._room[:size]

    def _grow(self, least: int) -> None:
        room = np.zeros((least + least // 4 + 16, *self._room.shape[1:]), self._room.dtype)
        room[: self.size] = self.values
        self._room = room
