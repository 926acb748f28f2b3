"""What a call did to a memory, and what state the memory is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

TurnOutcome = Literal["added", "readded", "exists", "refused"]


@dataclass(frozen=True, slots=True)
class TurnStatus:
    """What became of one turn. `pending` names the derived work that is still queued ("vector", "link", "extract")."""

    id: str
    outcome: TurnOutcome
    reason: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of the turns of one call. Every turn that is not refused is durable when the call returns."""

    added: int
    existing: int
    refused: int
    facts: int
    statuses: tuple[TurnStatus, ...]

    @classmethod
    def of(cls, statuses: Sequence[TurnStatus], facts: int) -> AddReport:
        """Return the report of these statuses."""
        outcomes = [status.outcome for status in statuses]
        added = outcomes.count("added") + outcomes.count("readded")
        return cls(added, outcomes.count("exists"), outcomes.count("refused"), facts, tuple(statuses))

    @classmethod
    def of_all(cls, reports: Sequence[AddReport]) -> AddReport:
        """Return one report of several."""
        statuses = [status for report in reports for status in report.statuses]
        return cls.of(statuses, sum(report.facts for report in reports))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What it would take to have a model read the turns that it has not read: `cost` in dollars, None without a price.

    Of `turns`, those that only greet or ask are not put to it, so that there may be fewer `requests`.
    """

    turns: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What became of turns that a provider's batches read: facts `collected`, `failed`, handed in now, or `waiting`.

    `waiting` counts the turns of batches that are not done yet, those handed in now included.
    """

    collected: int
    failed: int
    handed_in: int
    waiting: int


@dataclass(frozen=True, slots=True)
class EraseReport:
    """What was forgotten. `status` is "pending" while another reader keeps old pages alive, else "erased"."""

    status: Literal["erased", "pending"]
    turns: int
    facts: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of a memory and where it stands."""

    path: str
    turns: int
    sessions: int
    speakers: tuple[str, ...]
    facts: int
    edges: Mapping[str, int] = field(hash=False)
    first: datetime | None
    last: datetime | None
    embedder: str
    dimension: int
    bytes: int
    schema: int


@dataclass(frozen=True, slots=True)
class Health:
    """Whether everything acknowledged is also derived. `status` is "ok" or "degraded"; `problems` say why."""

    status: Literal["ok", "degraded"]
    turns: int
    pending: Mapping[str, int] = field(hash=False)
    failed: Mapping[str, int] = field(hash=False)
    oldest_pending: datetime | None
    problems: tuple[str, ...]
