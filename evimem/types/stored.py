"""What goes into a store and what it reports of itself: entries, jobs, the roster, what is known of an entity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from .values import Fact, Turn

JobKind = Literal["vector", "link", "extract"]
"""Queued work on a turn: its vector, the `similar` edges of its facts, facts found by a model."""

COUNTED = 1_000  # turns: whether a memory is small is asked at every question, how large a large one is never
MOST_SECONDS = 7 * 86_400.0  # that work waits before it is tried again


@dataclass(frozen=True, slots=True)
class Entry:
    """One validated turn with what was derived from it outside the store.

    `vector` has shape (dimension,), `fact_vectors` (len(facts), dimension), both float32; either is None while it is
    pending. `owes` names the jobs to queue for the turn.
    """

    turn: Turn
    facts: tuple[Fact, ...] = ()
    vector: Any = None
    fact_vectors: Any = None
    owes: tuple[JobKind, ...] = ()


@dataclass(frozen=True, slots=True)
class Roster:
    """Who speaks in a memory, the time of its first and last turn, and how many turns: at most `COUNTED`."""

    speakers: tuple[str, ...]
    first: datetime | None
    last: datetime | None
    counted: int


@dataclass(frozen=True, slots=True)
class About:
    """The facts about one entity: how many there are in the memory, and the newest of them."""

    entity: str
    total: int
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """Queued work on a turn, and how often it has failed."""

    turn: Turn
    facts: tuple[Fact, ...]
    attempts: int
