"""What a memory asks of its store beyond what loops do (`Store`): the seam that a second engine fills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ..protocols import Extractor, Store
from ..raw import LocalTimes
from ..times import Conventions
from ..types.reports import AddReport, EraseReport, Health, Stats
from ..types.stored import Continuation, Job, JobKind, Past, PastWanted
from ..types.trace import Trace
from ..types.values import Fact, Hit, Query, Turn, Where
from .rebuild import Progress


class Keeper(Store, Protocol):
    """A `Store` with the care of it: what waits in its queue, sessions that go on, traces, checks and copies."""

    times: LocalTimes  # how times are read
    conventions: Conventions  # how dates in texts are
    name: str  # what it is called in messages: the path of a file

    @property
    def usable(self) -> bool:
        """Whether it is open, and still where it was opened."""
        ...

    def forget_where(
        self,
        *,
        session: str | None = None,
        before: datetime | None = None,
        speaker: str | None = None,
        where: Where | None = None,
        as_in: Path | None = None,
    ) -> EraseReport:
        """As `Store.forget_where`; with `as_in`, erase what that copy of the memory has erased."""
        ...

    def past(self, asked: PastWanted) -> Past:
        """Return what a list of messages is laid beside."""
        ...

    def continue_session(self, more: Continuation) -> tuple[AddReport, tuple[str, int]] | None:
        """Store what continues a session in one transaction; None, and nothing stored, where it changed meanwhile.

        Return the report, and the state of the session from then on.
        """
        ...

    def untried(self, kind: JobKind, limit: int) -> tuple[Job, ...]:
        """Return those of `due` that were never tried."""
        ...

    def recall_read(self, query: Query, kind: JobKind, limit: int) -> tuple[int, tuple[Hit, ...]]:
        """Return how many jobs `untried` would return and, where there are none, what `recall` finds in that state."""
        ...

    def waiting(self, kind: JobKind, turn_ids: Sequence[str]) -> frozenset[str]:
        """Return of which of these turns a job of a kind is pending."""
        ...

    def put_off(self) -> list[tuple[str, int, float]]:
        """Return (reason, number of jobs, earliest next try in seconds since 1970) of pending jobs that wait."""
        ...

    def enqueue_missing(self, kind: JobKind) -> None:
        """Queue a job for each turn that never had one of this kind."""
        ...

    def lease(self, kind: JobKind, limit: int, seconds: float) -> tuple[Job, ...]:
        """Return jobs as `due` does, and offer them to nobody else for so many seconds."""
        ...

    def release(self, kind: JobKind, turn_ids: Sequence[str]) -> None:
        """Offer the jobs of these turns again that this process leased and neither finished nor put off."""
        ...

    def retry_now(self) -> None:
        """Make every job that was put off after a failure, or given up, due now."""
        ...

    def unread(self, before: int) -> Iterator[tuple[Turn, tuple[Turn, ...]]]:
        """Yield the turns that no model has read, each with up to so many turns before it."""
        ...

    def pairs(self) -> Iterator[tuple[Turn, tuple[Fact, ...]]]:
        """Yield every turn with its facts, in order of arrival."""
        ...

    def keep_trace(self, trace: Trace) -> int:
        """Keep a trace, and drop the oldest of many; return its number.

        Raise UnknownTurn or TraceMismatch where a turn that it quotes is not there, or says something else.
        """
        ...

    def trace(self, number: int | None) -> Trace:
        """Return a kept trace, the newest without a number."""
        ...

    def health(self, problems: Sequence[str] = ()) -> Health:
        """Return what waits and what failed, with these problems."""
        ...

    def stats(self) -> Stats:
        """Return how much is stored."""
        ...

    def check(self, extractor: Extractor, progress: Progress = ...) -> tuple[str, ...]:
        """Return a line for each kind of damage; `progress` hears of the turns that were looked at."""
        ...

    def rebuild(self, extractor: Extractor, *, reread: bool = False) -> Iterator[int]:
        """Derive everything again from the turns; with `reread`, queue every turn for a model again.

        Yield how many turns were read after each of many transactions, between which others can write.
        """
        ...

    def change_embedder(self, name: str, dimension: int) -> None:
        """Drop every vector, and queue those of another embedder."""
        ...

    def index_vectors(self) -> Iterator[int]:
        """Index the vectors of a large memory for the search of the nearest; yield how many at a time."""
        ...

    def backup(self, target: Path) -> None:
        """Copy the memory into a new file that appears only when it is whole; raise StoreError where it exists."""
        ...

    def remove(self) -> bool:
        """Delete an empty memory; return False where somebody else has it open."""
        ...

    def close(self) -> None:
        """Close it."""
        ...
