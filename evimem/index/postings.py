"""Which turns have a term, and how often."""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
    """The positions of the turns that have a term, ascending, and how often each has it."""

    positions: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.positions)

    def keep(self, mask: NDArray[np.bool_]) -> Posting:
        """Return the entries where the mask is true."""
        return Posting(self.positions[mask], self.counts[mask])


NO_POSTING = Posting(np.zeros(0, np.int32), np.zeros(0, np.uint16))


class Postings(Protocol):
    """Reads the posting of a term from sealed segments; an unknown term has an empty one."""

    def read(self, term: str) -> Posting: ...


class RecentPostings:
    """A least-recently-used cache of sealed postings, bounded by entries; their source must not change."""

    def __init__(self, postings: Postings, entries: int = 16_000_000) -> None:
        self._postings = postings
        self._room = entries
        self._found: OrderedDict[str, Posting] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, term: str) -> Posting:
        """Return the posting of a term."""
        with self._lock:
            found = self._found.get(term)
            if found is not None:
                self._found.move_to_end(term)
                return found
        found = self._postings.read(term)
        with self._lock:
            if term not in self._found:
                self._found[term] = found
                self._room -= len(found) + 1
            while self._room < 0:
                self._room += len(self._found.popitem(last=False)[1]) + 1
        return found


class TailPostings:
    """The postings of the newest turns, growing in memory: a number an entry, its position above its count."""

    def __init__(self) -> None:
        self._entries: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))

    def add(self, position: int, counts: Mapping[str, int]) -> None:
        """Add a turn's terms; positions only grow."""
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
