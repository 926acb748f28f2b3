"""Summaries of a memory for pages that show it: days and sessions, names, kept traces, the jobs of a turn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from .public_value import PublicValue
from .trace import Trace


@dataclass(frozen=True, slots=True, repr=False)
class DayCount(PublicValue):
    """How many turns were said on a day of the memory's calendar."""

    day: date
    turns: int


@dataclass(frozen=True, slots=True, repr=False)
class SessionSummary(PublicValue):
    """A session within an interval: its name, its number of turns there, and the times of the first and last."""

    session: str
    turns: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, repr=False)
class NameCount(PublicValue):
    """A name and how often it occurs: turns of a speaker, or facts of a subject."""

    name: str
    count: int


@dataclass(frozen=True, slots=True, repr=False)
class KeptTrace(PublicValue):
    """A stored trace and its number."""

    number: int
    trace: Trace


@dataclass(frozen=True, slots=True, repr=False)
class JobState(PublicValue):
    """A queued, failed or finished job of a turn.

    Attributes:
        kind: "facts", "terms", "vector", "link" or "extract".
        state: "pending", "failed" or "done".
        attempts: How often it failed.
        queued: When it was queued, in UTC.
        reason: Why it waits or failed; None if it only waits for its turn.
    """

    kind: str
    state: str
    attempts: int
    queued: datetime
    reason: str | None
