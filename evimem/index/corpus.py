"""The corpus: everything a ranking reads, in columns by position.

A position is a row: a passage of a turn. Rows are numbered from 0 in the order in which their turns arrived; a turn's
rows follow one another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DimensionMismatch
from .columns import Array, Column
from .dialogue_order import NONE, Dialogue
from .dialogue_smoothing import SmoothedNorms
from .document import Document
from .passages import Span, passage
from .postings import NO_POSTING, Posting, Postings, RecentPostings, TailPostings, joined
from .sketches import Sketches, StoredVectors

NEVER = np.iinfo(np.int64).min  # the event time of a turn whose facts have none
COLUMNS = np.dtype(
    [
        ("alive", "?"),
        ("temporal", "?"),
        ("rules", "?"),
        ("role", "u1"),
        ("part", "<u2"),
        ("parts", "<u2"),
        ("session", "<i4"),
        ("speaker", "<i4"),
        ("turn", "<i4"),
        ("time", "<i8"),
        ("length", "<i4"),
        ("asks", "<f4"),
    ]
)
ROLES = ("user", "assistant", "system", "tool")
ASSISTANT = ROLES.index("assistant")
SYSTEM = ROLES.index("system")
SPANS = 4096  # places of passages that are kept
Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One passage as it is indexed: `session` and `speaker` are ordinals, `time` and `events` microseconds.

    `vector` is int8, shape (dimension,), times `scale`; None while it is pending. `turn` is the number of its turn,
    from 1 in order of arrival; the passage is number `part`, from 0, of `parts`. `events` are those of the whole turn.
    """

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
    """Columns by position, dialogue links and postings. One writer at a time, and no reader meanwhile."""

    def __init__(self, dimension: int, sealed: Postings | None = None) -> None:
        self.dimension = dimension
        self.dialogue: Dialogue = Dialogue()
        self.norms: SmoothedNorms = SmoothedNorms()
        self.sketches: Sketches = Sketches()
        self._sealed = None if sealed is None else RecentPostings(sealed)
        self._tail = TailPostings()
        self._alive = Column(np.bool_)
        self._session = Column(np.int32)
        self._speaker = Column(np.int32)
        self._time = Column(np.int64)
        self._turn = Column(np.int32)
        self._part = Column(np.uint16)
        self._parts = Column(np.uint16)
        self._role = Column(np.uint8)
        self._rules = Column(np.bool_)
        self._length = Column(np.int32)
        self._asks = Column(np.float32)
        self._temporal = Column(np.bool_)
        self._event_start = Column(np.int64)
        self._event_end = Column(np.int64)
        self._vectors = Column(np.int8, dimension)
        self._scale = Column(np.float32)
        self._events: dict[int, tuple[Interval, ...]] = {}  # of rows with more than one
        self._has_forgotten = False
        self.rows: int = 0  # alive
        self.turns: int = 0  # whose rows they are
        self.words: int = 0  # their lengths' sum
        self._replies = 0  # alive rows of an assistant
        self._spoken: dict[int, tuple[int, int]] = {}  # turns and words by speaker
        self._spans: dict[int, Span] = {}  # of passages that were found lately, by position

    def __len__(self) -> int:
        """Return how many positions there are, dead ones included."""
        return self._alive.size

    def passage(self, position: int, text: str) -> Span:
        """Return the characters of a row's passage in its turn's text.

        A search finds the same long turns again and again, and cutting one up takes a millisecond.
        """
        found = self._spans.get(position)
        if found is None:
            if len(self._spans) >= SPANS:
                self._spans.clear()
            found = passage(text, int(self.part[position]), int(self.parts[position]))
            self._spans[position] = found
        return found

    @property
    def alive(self) -> NDArray[np.bool_]:
        return self._alive.values

    @property
    def session(self) -> NDArray[np.int32]:
        return self._session.values

    @property
    def speaker(self) -> NDArray[np.int32]:
        return self._speaker.values

    @property
    def time(self) -> NDArray[np.int64]:
        return self._time.values

    @property
    def turn(self) -> NDArray[np.int32]:
        """The number of each row's turn: it never falls from one row to the next."""
        return self._turn.values

    @property
    def part(self) -> NDArray[np.uint16]:
        return self._part.values

    @property
    def parts(self) -> NDArray[np.uint16]:
        return self._parts.values

    @property
    def role(self) -> NDArray[np.uint8]:
        return self._role.values

    @property
    def rules(self) -> NDArray[np.bool_]:
        return self._rules.values

    @property
    def has_assistant(self) -> bool:
        """Whether an assistant speaks in the memory."""
        return self._replies > 0

    @property
    def length(self) -> NDArray[np.int32]:
        return self._length.values

    @property
    def asks(self) -> NDArray[np.float32]:
        return self._asks.values

    @property
    def temporal(self) -> NDArray[np.bool_]:
        return self._temporal.values

    @property
    def event_start(self) -> NDArray[np.int64]:
        return self._event_start.values

    @property
    def event_end(self) -> NDArray[np.int64]:
        return self._event_end.values

    @property
    def vectors(self) -> NDArray[np.int8]:
        return self._vectors.values

    @property
    def scale(self) -> NDArray[np.float32]:
        return self._scale.values

    @property
    def stored(self) -> StoredVectors:
        return StoredVectors(self.vectors, self.scale)

    def append(self, row: IndexRow) -> int:
        """Add a passage; return its position."""
        position = len(self)
        self._check_width(row.vector)
        self.dialogue.append(row.session, row.time, self.time)
        document = row.document
        self._tail.add(position, document.terms)
        self._alive.append(True)
        self._session.append(row.session)
        self._speaker.append(row.speaker)
        self._time.append(row.time)
        self._turn.append(row.turn)
        self._part.append(row.part)
        self._parts.append(row.parts)
        self._role.append(row.role)
        self._rules.append(row.rules)
        self._length.append(document.length)
        self._asks.append(document.asks)
        self._temporal.append(document.temporal)
        self._vectors.append(0 if row.vector is None else row.vector)
        self._scale.append(0.0 if row.vector is None else row.scale)
        self._event_start.append(NEVER)
        self._event_end.append(NEVER)
        self.set_events(position, row.events)
        self.norms.change(position)
        self._count(position, 1)
        return position

    def hole(self) -> int:
        """Append a position that no passage has; return it."""
        self.dialogue.hole()
        turn = int(self.turn[-1]) if len(self) else 0
        for column in self._columns():
            column.append(turn if column is self._turn else 0)
        return len(self) - 1

    def load(self, block: RowBlock) -> None:
        """Fill an empty corpus with columns; terms of rows in open segments must be added with `add_terms`."""
        if len(self):
            raise ValueError(f"the corpus holds {len(self)} positions already; load blocks as one, before any append")
        self._check_width(block.vectors)
        rows = block.columns
        alive = rows["alive"]
        self.dialogue.load(rows["session"], rows["time"], alive)
        starts, ends = np.full((2, len(rows)), NEVER)
        values: tuple[Array, ...] = (
            alive, rows["session"], rows["speaker"], rows["time"], np.maximum.accumulate(rows["turn"]), rows["part"],
            rows["parts"], rows["role"], rows["rules"], rows["length"], rows["asks"], rows["temporal"], starts, ends,
            block.vectors, block.scale,
        )  # fmt: skip
        for column, value in zip(self._columns(), values, strict=True):
            column.extend(value)
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
                self.norms.change(int(neighbour))
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
        self.norms.change(position)
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

    def posting(self, term: str) -> Posting:
        """Return the living rows that have a term."""
        sealed = NO_POSTING if self._sealed is None else self._sealed.read(term)
        found = joined(sealed, self._tail.read(term))
        if not self._has_forgotten:
            return found
        living = self.alive[found.positions]
        return found if living.all() else found.keep(living)

    def holding(self, terms: Iterable[str]) -> list[int]:
        """Return the numbers of the living turns with a row that has all of these terms, in order; none for no term."""
        postings = sorted((self.posting(term).positions for term in set(terms)), key=len)
        shared = postings[0] if postings else NO_POSTING.positions
        for positions in postings[1:]:
            shared = np.intersect1d(shared, positions, assume_unique=True)
        return list(dict.fromkeys(self.turn[shared].tolist()))  # in order: `turn` never falls

    def turns_with(self, terms: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of the living turns that have all of these terms in any rows, ascending; all for none."""
        first, *others = [self.turn[self.posting(term).positions] for term in set(terms)] or [self.turn[self.alive]]
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

    def _columns(self) -> tuple[Column, ...]:
        return (
            self._alive, self._session, self._speaker, self._time, self._turn, self._part, self._parts, self._role,
            self._rules, self._length, self._asks, self._temporal, self._event_start, self._event_end,
            self._vectors, self._scale,
        )  # fmt: skip

    def _check_width(self, vectors: NDArray[np.int8] | None) -> None:
        if vectors is not None and vectors.shape[-1] != self.dimension:
            raise DimensionMismatch(vectors.shape[-1], self.dimension)
