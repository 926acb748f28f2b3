"""Tables of numpy arrays that grow: columns that are declared once, in the body of the class that has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
S = TypeVar("S", bound=np.generic)


class Column:
    """An array that makes more room when it is full: one value a position, appended at an amortized constant cost.

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


class HasColumns(Protocol):
    """What has a growing array for each column that its class declares."""

    @property
    def columns(self) -> Mapping[str, Column]: ...


class DerivedColumn(Generic[S]):
    """A column of values of one type; of an object, its array. One that is `wide` has a row of values a position."""

    def __init__(self, kind: type[S], *, wide: bool = False) -> None:
        self.kind = kind
        self.wide = wide

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, table: HasColumns, owner: type | None = None) -> NDArray[S]:
        return table.columns[self.name].values


class StoredColumn(DerivedColumn[S]):
    """A column that is kept in the file; `of` is where a row has its value: by default an attribute of that name."""

    def __init__(self, kind: type[S], of: str = "") -> None:
        super().__init__(kind)
        self.of = of


def new_columns(table: type, width: int) -> dict[str, Column]:
    """Return an empty array for each column that a class declares, in that order; wide ones have so many values."""
    declared = (one for one in vars(table).values() if isinstance(one, DerivedColumn))
    return {one.name: Column(one.kind, width if one.wide else None) for one in declared}


def stored_table(table: type) -> tuple[tuple[str, ...], np.dtype[Any], Callable[[Any], tuple[Any, ...]]]:
    """Return the names of the stored columns of a class, the type of one stored row, and what reads a row's values."""
    stored = [one for one in vars(table).values() if isinstance(one, StoredColumn)]
    dtype = np.dtype([(one.name, np.dtype(one.kind).newbyteorder("<")) for one in stored])
    return tuple(one.name for one in stored), dtype, attrgetter(*(one.of or one.name for one in stored))
