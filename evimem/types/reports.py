"""Reports of calls that change a memory, and of its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from .public_value import PublicValue

TurnOutcome = Literal["added", "readded", "replaced", "uncertain", "exists", "forgotten", "refused", "dropped"]


@dataclass(frozen=True, slots=True, repr=False)
class TurnStatus(PublicValue):
    """What was done with one turn.

    Attributes:
        id: The turn's id, also where the memory has set it.
        outcome: "added", "readded" (it had been forgotten), "replaced" (other content of its id was erased, and this
            stored), "uncertain" (stored by `remember`, though it may be one that was stored before), "exists" (stored
            already with the same content), "forgotten" (it was forgotten, so that `remember` has not stored it again),
            "refused", or "dropped" (its text is a block of `Memory.block`, and nothing else).
        reason: Why it was refused, dropped or is uncertain, that it has "no text", or why bytes of what was replaced
            are still there; else None.
        pending: Jobs queued for it: "facts" (read by enrich(), or when they are first needed), "vector" (embedding),
            "link" (`similar` edges), "extract" (facts by a model), and "terms" where reading them raised: enrich()
            reads them again.
    """

    id: str
    outcome: TurnOutcome
    reason: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class AddReport(PublicValue):
    """What was done with the turns of one call. Every turn that is not refused is durable when the call returns.

    Attributes:
        added: How many turns were stored, those that had been forgotten and the uncertain ones included.
        existing: How many were stored already.
        refused: How many were refused.
        facts: How many facts were stored with the added turns: those of an export. Of other turns they are read when
            they are first needed.
        statuses: One item per turn, in the order given.
        dropped: How many were dropped.
        replaced: How many were stored in place of other content of their ids.
        erased: How many stored turns were erased, because an export says that their branch was abandoned.
        uncertain: How many were stored that may have been stored before.
        forgotten: How many were not stored again, because they had been forgotten.
    """

    added: int
    existing: int
    refused: int
    facts: int
    statuses: tuple[TurnStatus, ...]
    dropped: int = 0
    replaced: int = 0
    erased: int = 0
    uncertain: int = 0
    forgotten: int = 0

    @classmethod
    def of(cls, statuses: Sequence[TurnStatus], facts: int, erased: int = 0) -> AddReport:
        """Count `statuses` into a report; `facts` is the number of facts stored with them, `erased` of turns erased."""
        count = [status.outcome for status in statuses].count
        added = count("added") + count("readded") + count("uncertain")
        least = added, count("exists"), count("refused"), facts, tuple(statuses)
        return cls(*least, count("dropped"), count("replaced"), erased, count("uncertain"), count("forgotten"))

    @classmethod
    def of_all(cls, reports: Sequence[AddReport]) -> AddReport:
        """Combine several `reports` into one."""
        statuses = [status for report in reports for status in report.statuses]
        facts, erased = (sum(getattr(report, name) for report in reports) for name in ("facts", "erased"))
        return cls.of(statuses, facts, erased)


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(PublicValue):
    """What it would cost to have a model extract facts from the turns that it has not read.

    Attributes:
        turns: Turns that no model has read.
        requests: Requests for them; fewer than `turns`, since turns that only greet or ask are skipped.
        input_tokens: Estimated tokens sent.
        output_tokens: Estimated tokens received.
        cost: Dollars; None if the price is unknown.
    """

    turns: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, repr=False)
class EnrichReport(PublicValue):
    """What `enrich` did; true where it did anything.

    Attributes:
        done: Jobs processed, postponed ones included.
        put_off: Jobs that wait: after a failure, in a batch, or with another caller.
        until: When the first of them is tried again, in UTC; None if none waits.
        reasons: How many jobs wait, by reason.
        failed: Jobs given up after repeated failures, by kind; `enrich(retry_now=True)` tries them again.
    """

    done: int
    put_off: int
    until: datetime | None
    reasons: Mapping[str, int] = field(hash=False)
    failed: Mapping[str, int] = field(hash=False)

    def __bool__(self) -> bool:
        return self.done > 0


@dataclass(frozen=True, slots=True, repr=False)
class BatchReport(PublicValue):
    """What `enrich_batch` did, in turns.

    Attributes:
        collected: Turns whose facts were collected from finished batches.
        failed: Turns of finished batches without a usable reply; they are queued again or marked failed.
        handed_in: Turns submitted in new batches.
        waiting: Turns of unfinished batches, those submitted now included.
    """

    collected: int
    failed: int
    handed_in: int
    waiting: int


@dataclass(frozen=True, slots=True, repr=False)
class EraseReport(PublicValue):
    """What was erased.

    Attributes:
        status: "erased", or "pending" while another reader holds an older state of the file, or another process writes
            to it: the turns are gone for every reader to come, and their bytes go when that has ended and the memory
            is next written, opened or closed.
        turns: How many turns were erased.
        facts: How many facts were erased with them.
        reason: Why it is pending, or why nothing was erased; else None.
    """

    status: Literal["erased", "pending"]
    turns: int
    facts: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class CopyReport(PublicValue):
    """What was copied.

    Attributes:
        turns: How many turns.
        facts: How many facts.
        rows: How many rows of all tables.
        verified: Whether every row was read again at the target, before it was committed there.
    """

    turns: int
    facts: int
    rows: int
    verified: bool


@dataclass(frozen=True, slots=True, repr=False)
class BuildReport(PublicValue):
    """What a build did.

    Attributes:
        users: How many users were built now.
        done: How many were done already, by the manifest.
        turns: How many turns the users of now have in the data set.
        added: How many of these were stored.
        existing: How many were stored already.
        refused: How many lines or turns were refused.
        refusals: The first hundred of these: where, and why.
        set_aside: Users whose memory could not be built, each with the reason: repeat the build once that is mended.
        seconds: How long it took.
    """

    users: int
    done: int
    turns: int
    added: int
    existing: int
    refused: int
    refusals: tuple[str, ...]
    set_aside: Mapping[str, str] = field(hash=False)
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Stats(PublicValue):
    """Counts of a memory and the identity of its embedder.

    Attributes:
        path: The file.
        turns: Stored turns.
        sessions: Distinct sessions.
        speakers: Distinct speakers, in order of their first turn.
        facts: Stored facts, replaced ones included.
        edges: Edges by kind.
        first: The earliest time of a turn, naive or aware as stored; None if empty.
        last: The latest time of a turn; None if empty.
        embedder: The name of the embedder.
        dimension: The dimension of its vectors.
        bytes: The size of the file in bytes.
        schema: The version of the file's schema.
    """

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


@dataclass(frozen=True, slots=True, repr=False)
class Health(PublicValue):
    """Whether all stored turns are fully derived.

    Attributes:
        status: "ok", or "degraded" if there are failed jobs or problems.
        turns: Stored turns.
        pending: Queued jobs by kind: "facts" (read when they are first needed), "vector", "link", "extract", "terms".
        failed: Jobs given up after repeated failures, by kind.
        oldest_pending: When the oldest queued job was queued; None if there is none.
        problems: What is wrong and what to do, a sentence each.
    """

    status: Literal["ok", "degraded"]
    turns: int
    pending: Mapping[str, int] = field(hash=False)
    failed: Mapping[str, int] = field(hash=False)
    oldest_pending: datetime | None
    problems: tuple[str, ...]
