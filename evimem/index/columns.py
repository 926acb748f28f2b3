"""Numpy columns that grow: one value a position, appended at a constant price."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]


class Column:
    """An array that makes more room when it is full; `values` is a view of what it holds."""

    __slots__ = ("_room", "size")

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._room: Array = np.zeros(16 if width is None else (16, width), dtype)
        self.size = 0

    @property
    def values(self) -> Array:
        return self._room[: self.size]

    def append(self, value: Any) -> None:
        """Add one value (one row of a column that has a width)."""
        if self.size == len(self._room):
            self._grow(self.size + 1)
        self._room[self.size] = value
        self.size += 1

    def extend(self, values: Array) -> None:
        """Add many values."""
        if self.size + len(values) > len(self._room):
            self._grow(self.size + len(values))
        self._room[self.size : self.size + len(values)] = values
        self.size += len(values)

    def _grow(self, least: int) -> None:
        room = np.zeros((least + least // 4 + 16, *self._room.shape[1:]), self._room.dtype)
        room[: self.size] = self.values
        self._room = room
