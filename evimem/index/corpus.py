"""The corpus: everything a ranking reads, in columns by position.

A position is a row: a passage of a turn. Rows are numbered from 0 in the order in which their turns arrived; a turn's
rows follow one another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import DimensionMismatch
from .columns import (
    NO_POSTING,
    Column,
    DerivedColumn,
    Posting,
    StoredColumn,
    TailPostings,
    joined,
    new_columns,
    stored_table,
)
from .dialogue import NONE, Dialogue, Smoothing
from .document import Document, Span, passage
from .sketches import Sketches, StoredVectors

NEVER = np.iinfo(np.int64).min  # the event time of a turn whose facts have none
ROLES = ("user", "assistant", "system", "tool")
ASSISTANT = ROLES.index("assistant")
SYSTEM = ROLES.index("system")
SPANS = 4096  # places of passages that are kept
Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One passage as it is indexed, with a value for each column that is stored of it (see `Corpus`).

    `session` and `speaker` are ordinals, `time` and `events` microseconds. `vector` is int8, shape (dimension,), times
    `scale`; None while it is pending. `turn` is the number of its turn, from 1 in order of arrival; the passage is
    number `part`, from 0, of `parts`. `events` are those of the whole turn.
    """

    alive: ClassVar[bool] = True
    document: Document
    session: int
    speaker: int
    time: int
    turn: int
    part: int = 0
    parts: int = 1
    role: int = 0  # index in ROLES
    rules: bool = False  # whether the turn sets a standing instruction
    vector: NDArray[np.int8] | None = None
    scale: float = 0.0
    events: Sequence[Interval] = ()


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Many rows as columns, for loading sealed segments.

    `columns` has the dtype COLUMNS, `vectors` is int8, shape (rows, dimension), times `scale`; `events` holds event
    times by index in the block.
    """

    columns: NDArray[Any]
    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]
    events: dict[int, Sequence[Interval]] = field(default_factory=dict)


class Corpus:
    """Columns by position, dialogue links and postings. One writer at a time, and no reader meanwhile.

    A column is declared here and nowhere else. A stored one is kept in the file, in this order, and its value is read
    from an `IndexRow`; its place and type are a part of the file's format.
    """

    alive = StoredColumn(np.bool_)
    temporal = StoredColumn(np.bool_, "document.temporal")
    rules = StoredColumn(np.bool_)
    role = StoredColumn(np.uint8)
    part = StoredColumn(np.uint16)
    parts = StoredColumn(np.uint16)
    session = StoredColumn(np.int32)
    speaker = StoredColumn(np.int32)
    turn = StoredColumn(np.int32)  # it never falls from one row to the next
    time = StoredColumn(np.int64)
    length = StoredColumn(np.int32, "document.length")
    asks = StoredColumn(np.float32, "document.asks")
    event_start = DerivedColumn(np.int64)
    event_end = DerivedColumn(np.int64)
    vectors = DerivedColumn(np.int8, wide=True)
    scale = DerivedColumn(np.float32)

    def __init__(
        self, dimension: int, sealed: Callable[[Collection[str]], Mapping[str, Posting]] = lambda terms: {}
    ) -> None:
        self.dimension = dimension
        self.dialogue: Dialogue = Dialogue()
        self.smoothing: Smoothing = Smoothing()
        self.sketches: Sketches = Sketches()
        self.columns: dict[str, Column] = new_columns(type(self), dimension)
        self._sealed = sealed
        self._tail = TailPostings()
        self._events: dict[int, tuple[Interval, ...]] = {}  # of rows with more than one
        self._has_forgotten = False
        self.rows: int = 0  # alive
        self.turns: int = 0  # whose rows they are
        self.words: int = 0  # their lengths' sum
        self.last_fact: int = 0  # the newest fact whose time is known here
        self._replies = 0  # alive rows of an assistant
        self._spoken: dict[int, tuple[int, int]] = {}  # turns and words by speaker
        self._spans: dict[int, Span] = {}  # of passages that were found lately, by position

    def __len__(self) -> int:
        """Return how many positions there are, dead ones included."""
        return self.columns["alive"].size

    def passage(self, position: int, text: str) -> Span:
        """Return the characters of a row's passage in its turn's text.

        A search finds the same long turns again and again, and cutting ten of 9 kB up takes as long as a third of it.
        """
        found = self._spans.get(position)
        if found is None:
            if len(self._spans) >= SPANS:
                self._spans.clear()
            found = passage(text, int(self.part[position]), int(self.parts[position]))
            self._spans[position] = found
        return found

    @property
    def has_assistant(self) -> bool:
        """Whether an assistant speaks in the memory."""
        return self._replies > 0

    @property
    def stored(self) -> StoredVectors:
        return StoredVectors(self.vectors, self.scale)

    def append(self, row: IndexRow) -> int:
        """Add a passage; return its position."""
        position = len(self)
        self._check_width(row.vector)
        self.dialogue.append(row.session, row.time, self.time)
        self._tail.add(position, row.document.terms)
        for name, value in zip(NAMES, values_of(row), strict=True):
            self.columns[name].append(value)
        self.columns["vectors"].append(0 if row.vector is None else row.vector)
        self.columns["scale"].append(0.0 if row.vector is None else row.scale)
        self.columns["event_start"].append(NEVER)
        self.columns["event_end"].append(NEVER)
        self.set_events(position, row.events)
        self.smoothing.change(position)
        self._count(position, 1)
        return position

    def hole(self) -> int:
        """Append a position that no passage has; return it."""
        self.dialogue.hole()
        turn = int(self.turn[-1]) if len(self) else 0
        for name, column in self.columns.items():
            column.append(turn if name == "turn" else 0)
        return len(self) - 1

    def load(self, block: RowBlock) -> None:
        """Fill an empty corpus with columns; terms of rows in open segments must be added with `add_terms`."""
        if len(self):
            raise ValueError(f"the corpus holds {len(self)} positions already; load blocks as one, before any append")
        self._check_width(block.vectors)
        rows = block.columns
        alive = rows["alive"]
        self.dialogue.load(rows["session"], rows["time"], alive)
        never = np.full(len(rows), NEVER)
        derived = {"event_start": never, "event_end": never, "vectors": block.vectors, "scale": block.scale}
        values = {name: rows[name] for name in NAMES} | {"turn": np.maximum.accumulate(rows["turn"])} | derived
        for name, column in self.columns.items():
            column.extend(values[name])
        single = {position: events[0] for position, events in block.events.items() if len(events) == 1}
        where, bounds = np.fromiter(single, np.int64, len(single)), np.array(list(single.values()), np.int64)
        self.event_start[where], self.event_end[where] = bounds.reshape(-1, 2).T
        for position, events in block.events.items():
            if len(events) > 1:
                self.set_events(position, [(start, end) for start, end in events])
        living = rows[alive]
        turns = np.bincount(living["speaker"], living["part"] == 0)
        words = np.bincount(living["speaker"], living["length"])
        for speaker in np.flatnonzero(np.bincount(living["speaker"])).tolist():
            self._spoken[speaker] = (int(turns[speaker]), int(words[speaker]))
        self.rows = len(living)
        self.turns, self.words = int(turns.sum()), int(words.sum())
        self._replies = int(np.count_nonzero(living["role"] == ASSISTANT))

    def add_terms(self, position: int, counts: Mapping[str, int]) -> None:
        """Add the terms of a loaded row of an open segment; positions must ascend."""
        self._tail.add(position, counts)

    def forget(self, position: int) -> None:
        """Remove a passage from every result; its position stays, marked dead."""
        if not self.alive[position]:
            return
        self.alive[position] = False
        self._has_forgotten = True
        for neighbour in (self.dialogue.before.values[position], self.dialogue.after.values[position]):
            if neighbour != NONE:
                self.smoothing.change(int(neighbour))
        self.dialogue.remove(int(self.session[position]), position)
        self._count(position, -1)
        self.vectors[position] = 0
        self.scale[position] = 0
        self.sketches.change(position)
        self._events.pop(position, None)

    def set_vector(self, position: int, vector: NDArray[np.int8], scale: float) -> None:
        """Set the vector of a passage that was indexed without one."""
        self._check_width(vector)
        self.vectors[position] = vector
        self.scale[position] = scale
        self.smoothing.change(position)
        self.sketches.change(position)

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
    def scattered(self) -> NDArray[np.int64]:
        """The positions of rows whose turns have several event times."""
        return np.fromiter(self._events, np.int64, len(self._events))

    def expect(self, terms: Collection[str]) -> None:
        """Read what is stored of terms at once, before their postings are asked for."""
        self._sealed(terms)

    def posting(self, term: str) -> Posting:
        """Return the living rows that have a term."""
        found = joined(self._sealed([term]).get(term, NO_POSTING), self._tail.read(term))
        if not self._has_forgotten:
            return found
        living = self.alive[found.positions]
        return found if living.all() else found.keep(living)

    def holding(self, terms: Iterable[str]) -> list[int]:
        """Return the numbers of the living turns with a row that has all of these terms, in order; none for no term."""
        self.expect(wanted := set(terms))
        postings = sorted((self.posting(term).positions for term in wanted), key=len)
        shared = postings[0] if postings else NO_POSTING.positions
        for positions in postings[1:]:
            shared = np.intersect1d(shared, positions, assume_unique=True)
        return list(dict.fromkeys(self.turn[shared].tolist()))  # in order: `turn` never falls

    def turns_with(self, terms: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of the living turns that have all of these terms in any rows, ascending; all for none."""
        self.expect(wanted := set(terms))
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
        """Return the mean length of a speaker's turns over that of all turns; 1 for a speaker without turns."""
        turns, words = self._spoken.get(speaker, (0, 0))
        return (words / turns) / (self.words / self.turns) if words else 1.0

    def _count(self, position: int, sign: int) -> None:
        """Count a row that comes (1) or goes (-1)."""
        speaker = int(self.speaker[position])
        turns, words = sign * int(self.part[position] == 0), sign * int(self.length[position])
        before = self._spoken.get(speaker, (0, 0))
        self._spoken[speaker] = (before[0] + turns, before[1] + words)
        self.rows += sign
        self.turns += turns
        self.words += words
        self._replies += sign * int(self.role[position] == ASSISTANT)

    def _check_width(self, vectors: NDArray[np.int8] | None) -> None:
        if vectors is not None and vectors.shape[-1] != self.dimension:
            raise DimensionMismatch(vectors.shape[-1], self.dimension)


NAMES, COLUMNS, values_of = stored_table(Corpus)  # the stored columns: their names, their type, and those of a row
