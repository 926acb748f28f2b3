"""The corpus: everything a ranking reads, in columns by position.

A position is a row: a passage of a turn. Rows are numbered from 0 in the order in which their turns arrived; a turn's
rows follow one another.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from ..types.values import ROLES
from ..types.vectors import Column, Packed
from .dialogue import Dialogue, Smoothing
from .document import Document, Span, passage
from .sketches import SAMPLE_VECTORS, Sketches, StoredVectors

NEVER = np.iinfo(np.int64).min  # the event time of a turn whose facts have none
ASSISTANT = ROLES.index("assistant")
SYSTEM = ROLES.index("system")
DISCARDED_ROW = 1 << 7  # added to the index of the role of a turn that is no longer part of its dialogue
Interval = tuple[int, int]
_COUNT_BITS = 16  # of a count
_MOST = 2**_COUNT_BITS - 1
S = TypeVar("S", bound=np.generic)


class Values(Generic[S]):
    """A column of values of one type; of a corpus, its array by position. One that is not `derived` is in the file."""

    def __init__(self, kind: type[S], *, derived: bool = False) -> None:
        self.kind = kind
        self.derived = derived

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, table: Any, owner: type | None = None) -> NDArray[S]:
        found: NDArray[S] = table.columns[self.name].values
        return found


@dataclass(frozen=True, slots=True)
class Posting:
    """The positions of the rows that have a term, ascending, and how often each has it."""

    positions: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.positions)


NO_POSTING = Posting(np.zeros(0, np.int32), np.zeros(0, np.uint16))


class StoredPostings(Protocol):
    """The postings of the rows of a corpus that are stored by term."""

    def read(self, terms: Collection[str]) -> Mapping[str, Posting]:
        """Return the postings of terms, and of related terms."""
        ...

    def terms_beginning(self, prefix: str) -> Collection[str]:
        """Return the terms that begin with some letters."""
        ...

    def drop(self, terms: Iterable[str]) -> None:
        """Have the postings of terms be read again."""
        ...


class NoPostings:
    """Of a corpus whose rows are all new."""

    def read(self, terms: Collection[str]) -> Mapping[str, Posting]:
        del terms
        return {}

    def terms_beginning(self, prefix: str) -> Collection[str]:
        del prefix
        return ()

    def drop(self, terms: Iterable[str]) -> None:
        """Do nothing: none were read."""


NONE_STORED = NoPostings()


class TailPostings:
    """The postings of the newest rows, growing in memory: a number an entry, its position above its count."""

    def __init__(self) -> None:
        self._entries: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))

    def add(self, position: int, counts: Mapping[str, int]) -> None:
        """Add a row's terms; positions only grow."""
        entries, above = self._entries, position << _COUNT_BITS
        for term, count in counts.items():
            entries[term].append(above | (count if count < _MOST else _MOST))

    def terms_beginning(self, prefix: str) -> Iterator[str]:
        """Yield the terms that begin with some letters."""
        return (term for term in self._entries if term.startswith(prefix))

    def erase(self, term: str, positions: Sequence[int]) -> None:
        """Take positions out of the posting of a term."""
        found = self._entries.pop(term, None)
        if found is not None:
            packed = np.array(found, np.int64)
            left = packed[~np.isin(packed >> _COUNT_BITS, positions)]
            if len(left):
                self._entries[term] = array("q", left.tobytes())

    def read(self, term: str) -> Posting:
        found = self._entries.get(term)
        if found is None:
            return NO_POSTING
        packed = np.array(found, np.int64)
        return Posting((packed >> _COUNT_BITS).astype(np.int32), (packed & _MOST).astype(np.uint16))


def join_postings(first: Posting, second: Posting) -> Posting:
    """Return one posting of two, the second's positions being the larger."""
    if not len(first) or not len(second):
        return first if len(first) else second
    return Posting(np.concatenate([first.positions, second.positions]), np.concatenate([first.counts, second.counts]))


@dataclass(frozen=True, slots=True)
class Stored:
    """A row as it is stored: the bytes of its columns, its events and terms, its vector and scale."""

    columns: bytes
    events: bytes
    terms: bytes
    vector: bytes | None
    scale: float | None

    @classmethod
    def of(cls, document: Document, packed: Packed | None, events: Sequence[Interval], **place: int) -> Stored:
        """Return the stored values of a passage.

        Args:
            document: Its terms, vector and columns.
            packed: Its vector; None while it is pending.
            events: The event times of its whole turn.
            place: The other stored columns by name (see `Corpus`).
        """
        read = {"alive": True, "temporal": document.temporal, "length": document.length, "asks": document.asks}
        values = {**read, **place}
        columns = np.array([tuple(values[name] for name in COLUMNS.names or ())], COLUMNS).tobytes()
        happens = orjson.dumps([list(interval) for interval in events])
        terms = orjson.dumps(document.terms, option=orjson.OPT_SORT_KEYS)
        return cls(columns, happens, terms, *((None, None) if packed is None else (packed[0].tobytes(), packed[1])))


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Many rows as columns.

    `columns` has the dtype COLUMNS, all zeros where there is no row; `vectors` is int8, shape (rows, dimension), times
    `scale`; `events` holds event times by index in the block, `terms` those of the rows whose postings are not sealed.
    """

    columns: NDArray[Any]
    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]
    events: Mapping[int, Sequence[Interval]]
    terms: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Mapping[int, Stored], first: int, dimension: int) -> RowBlock:
        """Return stored rows, by number and in order, as the block that begins at a position."""
        at = np.fromiter(rows, np.int64, len(rows)) - first - 1
        columns = np.zeros(int(at[-1]) + 1, COLUMNS)
        columns[at] = np.frombuffer(b"".join(row.columns for row in rows.values()), COLUMNS)
        vectors, scales = np.zeros((len(columns), dimension), np.int8), np.zeros(len(columns), np.float32)
        having = [(index, row) for index, row in zip(at.tolist(), rows.values(), strict=True) if row.vector is not None]
        where = [index for index, _ in having]
        packed = b"".join(row.vector or b"" for _, row in having)
        vectors[where] = np.frombuffer(packed, np.int8).reshape(len(where), dimension)
        scales[where] = [row.scale or 0.0 for _, row in having]
        # An empty list as it is stored.
        events = {row - first - 1: orjson.loads(one.events) for row, one in rows.items() if one.events != b"[]"}
        terms = {row - first - 1: orjson.loads(one.terms) for row, one in rows.items()}
        return cls(columns, vectors, scales, events, terms)


class Corpus:
    """Columns by position, dialogue links and postings. One writer at a time, and no reader meanwhile.

    A column is declared here and nowhere else. One that is not derived is kept in the file, in this order; its place
    and type are a part of the file's format. Rows are added and erased: where one has changed, a corpus is read again.
    A position without a row, and one of an erased row, is not `alive`.
    """

    alive = Values(np.bool_)
    temporal = Values(np.bool_)
    rules = Values(np.bool_)  # whether its turn sets a standing instruction
    role = Values(np.uint8)  # an index in ROLES, plus DISCARDED_ROW
    part = Values(np.uint16)  # its number among the passages of its turn, from 0
    parts = Values(np.uint16)  # how many these are
    session = Values(np.int32)  # an ordinal, as the next one
    speaker = Values(np.int32)
    turn = Values(np.int32)  # the number of its turn in order of arrival: it never falls from one row to the next
    time = Values(np.int64)  # in microseconds
    length = Values(np.int32)
    asks = Values(np.float32)
    event_start = Values(np.int64, derived=True)
    event_end = Values(np.int64, derived=True)
    vectors = Values(np.int8, derived=True)
    scale = Values(np.float32, derived=True)

    def __init__(self, dimension: int, sealed: StoredPostings = NONE_STORED) -> None:
        self.dimension = dimension
        self.dialogue: Dialogue = Dialogue()
        self.smoothing: Smoothing = Smoothing()
        self.sketches: Sketches = Sketches()
        self.columns: dict[str, Column] = {
            name: Column(one.kind, dimension if name == "vectors" else None)
            for name, one in vars(type(self)).items()
            if isinstance(one, Values)
        }
        self._sealed = sealed
        self._tail = TailPostings()
        self._events: dict[int, tuple[Interval, ...]] = {}  # of rows with more than one
        self.rows: int = 0  # alive
        self.turns: int = 0  # whose rows they are
        self.words: int = 0  # their lengths' sum
        self.last_fact: int = 0  # the newest fact whose time is known here
        self.has_assistant: bool = False  # whether an assistant speaks in the memory
        self._spoken: dict[int, tuple[int, int]] = {}  # turns and words by speaker
        self._spans: dict[int, Span] = {}  # of passages that were found lately, by position

    def __len__(self) -> int:
        """Return how many positions there are, those without a row included."""
        return len(self.columns["alive"])

    def passage(self, position: int, text: str) -> Span:
        """Return the characters of a row's passage in its turn's text.

        A search finds the same long turns again and again, and cutting ten of 9 kB up takes as long as a third of it.
        """
        found = self._spans.get(position)
        if found is None:
            # Places of 4,096 passages are cached.
            if len(self._spans) >= 4096:
                self._spans.clear()
            found = passage(text, int(self.part[position]), int(self.parts[position]))
            self._spans[position] = found
        return found

    @property
    def stored(self) -> StoredVectors:
        return StoredVectors(self.vectors, self.scale)

    def extend(self, block: RowBlock) -> None:
        """Add rows at the end."""
        first, rows = len(self), block.columns
        newest = int(self.turn[-1]) if first else 0
        never = np.full(len(rows), NEVER)
        turns = np.maximum(np.maximum.accumulate(rows["turn"]), newest)
        derived = {"event_start": never, "event_end": never, "vectors": block.vectors, "scale": block.scale}
        for name, column in self.columns.items():
            column.extend(turns if name == "turn" else derived[name] if name in derived else rows[name])
        self.dialogue.extend(self.session, self.time, self.alive)
        if first:
            self.smoothing.change(range(first, len(self)))
        for index, counts in block.terms.items():
            self._tail.add(first + index, counts)
        single = {first + index: events[0] for index, events in block.events.items() if len(events) == 1}
        where, bounds = np.fromiter(single, np.int64, len(single)), np.array(list(single.values()), np.int64)
        self.event_start[where], self.event_end[where] = bounds.reshape(-1, 2).T
        for index, events in block.events.items():
            if len(events) > 1:
                self.set_events(first + index, [(start, end) for start, end in events])
        self._count(first + np.flatnonzero(rows["alive"]), 1)
        self.has_assistant = self.has_assistant or bool((rows["role"][rows["alive"]] == ASSISTANT).any())

    def erase(self, rows: Mapping[int, Collection[str]]) -> None:
        """Take rows out, given by position with their terms; rows that were not read yet are left out.

        Everything is as if they had never been there, but that their positions stay unused.
        """
        among = np.array(sorted(rows), np.int64)
        among = among[among < len(self)]
        positions = among[self.alive[among]]
        self._count(positions, -1)
        said_by_assistant = bool((self.role[positions] == ASSISTANT).any())
        self.smoothing.change(self.dialogue.erase(positions, self.session))
        if (self.scale[positions[positions < SAMPLE_VECTORS]] != 0).any():  # they set the bounds of all sketches
            self.sketches.sample_again()
        for name, column in self.columns.items():
            if name != "turn":  # it never falls
                column.values[positions] = 0
        if said_by_assistant:
            self.has_assistant = bool((self.role[self.alive] == ASSISTANT).any())
        self.drop_events(positions.tolist())
        having: dict[str, list[int]] = defaultdict(list)
        for position in positions.tolist():
            self._spans.pop(position, None)
            for term in rows[position]:
                having[term].append(position)
        for term, some in having.items():
            self._tail.erase(term, some)
        self._sealed.drop(having)

    def _count(self, positions: NDArray[np.int64], sign: int) -> None:
        """Count living rows that come (1) or go (-1)."""
        speakers, which = np.unique(self.speaker[positions], return_inverse=True)
        turns, words = (np.bincount(which, counts) for counts in (self.part[positions] == 0, self.length[positions]))
        for speaker, *new in zip(speakers.tolist(), turns.tolist(), words.tolist(), strict=True):
            before = self._spoken.get(speaker, (0, 0))
            self._spoken[speaker] = (before[0] + sign * int(new[0]), before[1] + sign * int(new[1]))
        self.rows += sign * len(positions)
        self.turns += sign * int(turns.sum())
        self.words += sign * int(words.sum())

    def drop_events(self, positions: Iterable[int]) -> None:
        """Forget the event times of rows: the facts of their turns are gone."""
        for position in positions:
            if position < len(self):
                self.event_start[position] = self.event_end[position] = NEVER
                self._events.pop(position, None)

    def set_events(self, position: int, events: Sequence[Interval]) -> None:
        """Set the event times of the facts of a row's turn."""
        if not events:
            return
        self.event_start[position] = min(start for start, _ in events)
        self.event_end[position] = max(end for _, end in events)
        if len(set(events)) > 1:
            self._events[position] = tuple(sorted(set(events)))

    def events(self, position: int) -> tuple[Interval, ...]:
        """Return the event times of the facts of a row's turn."""
        if self.event_start[position] == NEVER:
            return ()
        hull = (int(self.event_start[position]), int(self.event_end[position]))
        return self._events.get(position, (hull,))

    @property
    def rows_with_several_times(self) -> NDArray[np.int64]:
        """The positions of rows whose turns have several event times."""
        return np.fromiter(self._events, np.int64, len(self._events))

    def prefetch_terms(self, terms: Collection[str]) -> None:
        """Prefetch the postings of terms."""
        self._sealed.read(terms)

    def terms_beginning(self, prefix: str) -> list[str]:
        """Return the terms that begin with some letters, each once."""
        return sorted({*self._sealed.terms_beginning(prefix), *self._tail.terms_beginning(prefix)})

    def posting(self, term: str) -> Posting:
        """Return the rows that have a term."""
        return join_postings(self._sealed.read([term]).get(term, NO_POSTING), self._tail.read(term))

    def turns_with_terms_in_one_row(self, terms: Iterable[str]) -> list[int]:
        """Return the numbers of the living turns with a row that has all of these terms, in order; none for no term."""
        self.prefetch_terms(wanted := set(terms))
        postings = sorted((self.posting(term).positions for term in wanted), key=len)
        shared = postings[0] if postings else NO_POSTING.positions
        for positions in postings[1:]:
            shared = np.intersect1d(shared, positions, assume_unique=True)
        return list(dict.fromkeys(self.turn[shared].tolist()))  # in order: `turn` never falls

    def turns_with_terms(self, terms: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of the living turns that have all of these terms in any rows, ascending; all for none."""
        self.prefetch_terms(wanted := set(terms))
        first, *others = [self.turn[self.posting(term).positions] for term in wanted] or [self.turn[self.alive]]
        shared = np.unique(first)
        for numbers in others:
            shared = np.intersect1d(shared, numbers)
        return shared

    def rows_of(self, turns: Iterable[int]) -> NDArray[np.int64]:
        """Return the positions of the rows of these turns, dead ones included."""
        numbers = np.array(sorted(set(turns)), np.int64)
        first = np.searchsorted(self.turn, numbers, "left")
        last = np.searchsorted(self.turn, numbers, "right")
        return np.concatenate([np.zeros(0, np.int64), *(np.arange(a, b) for a, b in zip(first, last, strict=True))])

    def idf(self, frequency: int) -> float:
        """Return the inverse document frequency of a term in so many rows (Lucene's form: never negative)."""
        return math.log(1 + (self.rows - frequency + 0.5) / (frequency + 0.5))

    def verbosity(self, speaker: int) -> float:
        """Return the mean length of a speaker's turns over that of all turns; 1 for a speaker of no whole turn."""
        turns, words = self._spoken.get(speaker, (0, 0))
        return (words / turns) / (self.words / self.turns) if words and turns else 1.0


_STORED = [one for one in vars(Corpus).values() if isinstance(one, Values) and not one.derived]
COLUMNS = np.dtype([(one.name, np.dtype(one.kind).newbyteorder("<")) for one in _STORED])  # of a row in the file
