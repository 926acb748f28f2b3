"""The columns of a corpus, and postings: which rows have a term, and how often."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)


class DerivedColumn(Generic[S]):
    """A column of values of one type; of an object with `columns`, its array by position."""

    def __init__(self, kind: type[S]) -> None:
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, table: Any, owner: type | None = None) -> NDArray[S]:
        found: NDArray[S] = table.columns[self.name].values
        return found


class StoredColumn(DerivedColumn[S]):
    """A column that is kept in the file; `of` is where a row has its value: by default an attribute of that name."""

    def __init__(self, kind: type[S], of: str = "") -> None:
        super().__init__(kind)
        self.of = of


def stored_table(table: type) -> tuple[np.dtype[Any], Callable[[Any], tuple[Any, ...]]]:
    """Return the type of a stored row of a class with columns, and what reads the values of a row."""
    stored = [one for one in vars(table).values() if isinstance(one, StoredColumn)]
    dtype = np.dtype([(one.name, np.dtype(one.kind).newbyteorder("<")) for one in stored])
    return dtype, attrgetter(*(one.of or one.name for one in stored))


_BITS = 16  # of a count
MOST = 2**_BITS - 1
_HALF = 255  # of either kind; BM25 saturates long before


def packed(stated: Mapping[str, int], asked: Mapping[str, int]) -> dict[str, int]:
    """Return two counts of each term as one number: in statements in the low byte, in questions in the high one."""
    counts = {term: count if count < _HALF else _HALF for term, count in stated.items()}
    for term, count in asked.items():
        counts[term] = counts.get(term, 0) | min(count, _HALF) << 8
    return counts


@dataclass(frozen=True, slots=True)
class Posting:
    """The positions of the rows that have a term, ascending, and how often each has it."""

    positions: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.positions)


NO_POSTING = Posting(np.zeros(0, np.int32), np.zeros(0, np.uint16))


class TailPostings:
    """The postings of the newest rows, growing in memory: a number an entry, its position above its count."""

    def __init__(self) -> None:
        self._entries: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))

    def add(self, position: int, counts: Mapping[str, int]) -> None:
        """Add a row's terms; positions only grow."""
        entries, above = self._entries, position << _BITS
        for term, count in counts.items():
            entries[term].append(above | (count if count < MOST else MOST))

    def read(self, term: str) -> Posting:
        found = self._entries.get(term)
        if found is None:
            return NO_POSTING
        packed = np.array(found, np.int64)
        return Posting((packed >> _BITS).astype(np.int32), (packed & MOST).astype(np.uint16))


def joined(first: Posting, second: Posting) -> Posting:
    """Return one posting of two, the second's positions being the larger."""
    if not len(first) or not len(second):
        return first if len(first) else second
    return Posting(np.concatenate([first.positions, second.positions]), np.concatenate([first.counts, second.counts]))
