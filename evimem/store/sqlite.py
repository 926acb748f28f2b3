"""A memory in one SQLite file: a write is one transaction, a search sees all that was committed before it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ..index.segments import SIZE
from ..protocols import Extractor
from ..raw import settle_timezone
from ..raw.local_times import LocalTimes
from ..times import Conventions
from ..times.date_order import checked_date_order, order_of_zone
from ..types.reports import AddReport, EraseReport, Health, Stats
from ..types.stored import (
    EVERYTHING,
    About,
    Continuation,
    Entry,
    Holding,
    Job,
    JobKind,
    Keyword,
    Listing,
    Past,
    PastWanted,
    Roster,
    Scope,
)
from ..types.trace import Trace
from ..types.values import DateOrder, Fact, Hit, Query, Turn
from ..types.where import Where
from . import check, maintenance, reads, sequence, statistics, writes
from .ann import MIN_ROWS, AnnIndexCache
from .backup import write_backup
from .file_identity import check_identity
from .handle import StoreHandle
from .layers import Layers
from .open_file import open_checked, real_path


class SqliteStore:
    """The `Store` that evimem ships, and the maintenance of its file.

    Every method delegates to a function of `reads`, `writes`, `sequence`, `maintenance`, `statistics`, `check` or
    `backup`.
    """

    def __init__(  # noqa: PLR0913 - what a file is opened with
        self,
        path: Path,
        embedder: str,
        dimension: int,
        *,
        vfs: str | None = None,
        clock: Callable[[], float] = time.time,
        busy_seconds: float = 5.0,
        owner: str | None = None,
        segment: int = SIZE,
        index_from: int = MIN_ROWS,
        timezone: str | None = None,
        date_order: DateOrder | None = None,
    ) -> None:
        """Open or create a file.

        Args:
            path: The file; its folder must exist.
            embedder: The name of the embedder, compared with the one in the file.
            dimension: The dimension of its vectors, compared likewise.
            vfs: The name of an apsw VFS; the system's own by default.
            clock: Seconds since 1970, for the times at which queued jobs are due.
            busy_seconds: How long to wait for a lock of another process before StoreBusy.
            owner: The user of a pool that the file belongs to; recorded in a new file, compared in an old one.
            segment: Turns a segment, recorded in a new file and ignored in an old one.
            index_from: Turns from which `index_vectors` builds a vector index.
            timezone: The IANA name of the zone in which times are read, recorded in the file; by default the recorded
                one.
            date_order: How dates in figures are written, recorded in the file; by default the recorded order.

        Raises:
            InvalidQuery: `timezone` is no zone, or the file holds turns that were read in another.
            EmbedderMismatch, DimensionMismatch: The file was made with another embedder.
            StoreError: The file cannot be opened; see its subclasses.
        """
        path = real_path(path)
        self.path: Path = path
        db = open_checked(path, vfs, busy_seconds)
        try:
            with db.decoding():
                kept = db.value("SELECT value FROM meta WHERE key = 'segment'")
                layers = Layers.over(db, dimension, int(kept or segment), clock)
                self._handle = StoreHandle(layers, AnnIndexCache(path, index_from))
                with self._handle.writing():
                    check_identity(layers, embedder, dimension, owner)
                    self.times: LocalTimes = settle_timezone(db, timezone)
                    if (given := checked_date_order(date_order)) and given != layers.meta("date_order"):
                        layers.set_meta("date_order", given)
                    order: Any = layers.meta("date_order")
                    self.conventions: Conventions = Conventions("recent", order, self.times.zone)
                self._handle.finish_erasure()
                self._handle.save_mark()
        except BaseException:
            db.close()
            raise

    def known(self, turns: Sequence[Turn]) -> tuple[bool, ...]:
        """Say which of these turns are stored with the same content."""
        return reads.known(self._handle, turns)

    def write(
        self, entries: Sequence[Entry], *, strict: bool = False, replace: bool = False, gone: Sequence[str] = ()
    ) -> AddReport:
        """Store the first turns of a batch in one transaction; see `Store.write`."""
        return writes.write(self._handle, entries, strict=strict, replace=replace, gone=gone)

    def past(self, asked: PastWanted) -> Past:
        """Return what a list of messages is laid beside: the sequence of a session, and what of it has such an id."""
        return sequence.past(self._handle.layers, asked)

    def continue_session(self, more: Continuation) -> tuple[AddReport, tuple[str, int]] | None:
        """Store what continues a session, or nothing where it changed meanwhile; see `writes.continue_session`."""
        return writes.continue_session(self._handle, more)

    def recall(self, query: Query) -> tuple[Hit, ...]:
        """Return the k best turns; see `Store.recall`."""
        return reads.recall(self._handle, query)

    def expand(self, turn_ids: Sequence[str], limit: int, scope: Scope = EVERYTHING) -> tuple[Hit, ...]:
        """Return up to `limit` turns one edge away; see `Store.expand`."""
        return reads.expand(self._handle, turn_ids, limit, scope)

    def read(self, turn_ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return these turns. Raise UnknownTurn."""
        return reads.read(self._handle, turn_ids)

    def find(self, turn_ids: Sequence[str]) -> tuple[Turn | None, ...]:
        """Return these turns, None for each that is not there."""
        return reads.find(self._handle, turn_ids)

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return the turns around each of these, in dialogue order. Raise UnknownTurn."""
        return reads.contexts(self._handle, turn_ids, before, after)

    def order(self, turn_ids: Sequence[str]) -> tuple[str, ...]:
        """Return these ids in dialogue order. Raise UnknownTurn."""
        return reads.order(self._handle, turn_ids)

    def facts(self, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of these turns. Raise UnknownTurn."""
        return reads.facts_of(self._handle, turn_ids)

    def about(self, entity: str, limit: int, scope: Scope = EVERYTHING) -> About:
        """Return the facts about an entity; see `Store.about`."""
        return reads.about(self._handle, entity, limit, scope)

    def keywords(self, words: Sequence[str], scope: Scope = EVERYTHING) -> tuple[Keyword, ...]:
        """Return the keywords that words match; see `Store.keywords`."""
        return reads.keywords(self._handle, words, scope)

    def holding(self, terms: Collection[str], limit: int, scope: Scope = EVERYTHING) -> Holding:
        """Return the turns that have all of these terms; see `Store.holding`."""
        return reads.holding(self._handle, terms, limit, scope)

    def roster(self) -> Roster:
        """Return the speakers and the time of the first and last turn."""
        order = self.conventions.date_order or order_of_zone(self.conventions.zone)
        return replace(reads.roster(self._handle), date_order=order)

    def due(self, kind: JobKind, limit: int, reason: str | None = None) -> tuple[Job, ...]:
        """Return queued jobs of a kind that may be tried now; see `Store.due`."""
        return reads.due(self._handle, kind, limit, reason)

    def untried(self, kind: JobKind, limit: int) -> tuple[Job, ...]:
        """Return up to `limit` queued jobs of a kind that were never tried, oldest first."""
        return reads.untried(self._handle, kind, limit)

    def count_untried(self, kind: JobKind, limit: int) -> int:
        """Return how many queued jobs of a kind were never tried, counted up to `limit`."""
        return reads.count_untried(self._handle, kind, limit)

    def waiting(self, kind: JobKind, turn_ids: Sequence[str]) -> frozenset[str]:
        """Return of which of these turns a job of a kind is queued."""
        return reads.waiting(self._handle, kind, turn_ids)

    def settle(self, kind: JobKind, entries: Sequence[Entry]) -> int:
        """Store the results of the first of these jobs and complete them; see `Store.settle`."""
        return writes.settle(self._handle, kind, entries)

    def hold(self, kind: JobKind, turn_ids: Sequence[str], reason: str, seconds: float) -> None:
        """Offer no jobs of these turns for a while; see `Store.hold`."""
        writes.hold(self._handle, kind, turn_ids, reason, seconds)

    def lease(self, kind: JobKind, limit: int, seconds: float) -> tuple[Job, ...]:
        """Return queued jobs that may be tried now, and offer them to no other caller for so many seconds."""
        return writes.lease(self._handle, kind, limit, seconds)

    def release(self, kind: JobKind, turn_ids: Sequence[str]) -> None:
        """Offer leased jobs again that were neither finished nor put off."""
        writes.release(self._handle, kind, turn_ids)

    def retry_now(self) -> None:
        """Make every job that was put off after a failure, or given up, due now."""
        writes.retry_now(self._handle)

    def put_off(self) -> list[tuple[str, int, float]]:
        """Return (reason, number of jobs, earliest next try in seconds since 1970) of the jobs that wait."""
        return self._handle.layers.leases.put_off()

    def postpone(self, kind: JobKind, turn_id: str, error: str, seconds: float | None) -> None:
        """Record a failure; see `Store.postpone`."""
        writes.postpone(self._handle, kind, turn_id, error, seconds)

    def setting(self, name: str) -> str | None:
        """Return the text kept under a name; see `Store.setting`."""
        return reads.setting(self._handle, name)

    def keep_setting(self, name: str, value: str | None) -> None:
        """Keep a text under a name; see `Store.keep_setting`."""
        writes.keep_setting(self._handle, name, value)

    def forget(self, turn_ids: Sequence[str]) -> EraseReport:
        """Erase turns by id. Raise UnknownTurn, and erase nothing, where one is not there."""
        return writes.forget(self._handle, turn_ids)

    def forget_where(
        self,
        *,
        session: str | None = None,
        before: datetime | None = None,
        speaker: str | None = None,
        where: Where | None = None,
        as_in: Path | None = None,
    ) -> EraseReport:
        """Erase as `Store.forget_where` does or, `as_in` another copy of this memory, what that has forgotten."""
        return writes.forget_where(self._handle, Listing(session, speaker, before=before, where=where), as_in)

    def enqueue_missing(self, kind: JobKind) -> None:
        """Queue a job of a kind for every turn that never had one."""
        writes.enqueue_missing(self._handle, kind)

    def unread(self, before: int) -> Iterator[tuple[Turn, tuple[Turn, ...]]]:
        """Yield every turn that a model has not read yet, with up to `before` turns that precede it."""
        return reads.unread(self._handle.layers, before)

    def turns(self, listing: Listing | None = None) -> Iterator[Turn]:
        """Yield the turns of a listing, or every turn; see `Store.turns`."""
        layers = self._handle.layers
        return reads.turns(layers) if listing is None else reads.listed(layers, listing)

    def pairs(self) -> Iterator[tuple[Turn, tuple[Fact, ...]]]:
        """Yield every turn with its facts, in order of arrival."""
        return reads.turns_with_facts(self._handle.layers)

    def change_embedder(self, name: str, dimension: int) -> None:
        """Switch to another embedder; every vector is queued again."""
        maintenance.change_embedder(self._handle, name, dimension)

    def index_vectors(self) -> Iterator[int]:
        """Build the vector index of a large memory; yield how many vectors at a time. Searches go on meanwhile."""
        return maintenance.index_vectors(self._handle)

    def rebuild(
        self, extractor: Extractor, *, reread: bool = False, progress: Callable[[int], None] = lambda turns: None
    ) -> None:
        """Derive everything again from the turns in one transaction; missing vectors are queued.

        With `reread`, facts of other extractors are dropped, and extraction is queued again.
        """
        maintenance.rebuild(self._handle, extractor, reread=reread, progress=progress)

    def check(self, extractor: Extractor, progress: Callable[[int], None] = lambda turns: None) -> tuple[str, ...]:
        """Return what is wrong with the file; see `check.problems`."""
        return check.problems(self._handle.layers, extractor, progress)

    def health(self, problems: Sequence[str] = ()) -> Health:
        """Report pending and failed jobs, and these problems if any."""
        with self._handle.db.reading():
            return statistics.health(self._handle.layers, problems)

    def stats(self) -> Stats:
        """Return counts and dates."""
        with self._handle.db.reading():
            return statistics.stats(self._handle.layers)

    def keep_trace(self, trace: Trace) -> int:
        """Store a trace; return its number."""
        return maintenance.keep_trace(self._handle, trace)

    def trace(self, number: int | None) -> Trace:
        """Return a stored trace, the newest without a number. Raise InvalidQuery."""
        return maintenance.trace(self._handle, number)

    def backup(self, target: Path) -> None:
        """Copy the memory into a new file; a crash leaves no partial one. Raise StoreError where it exists."""
        write_backup(self._handle.db, target)

    @property
    def usable(self) -> bool:
        """Whether the file is open in this process, and still at its path."""
        return self._handle.db.usable

    def remove(self) -> bool:
        """Delete the files of an empty memory; return False, and leave them, while another handle is open."""
        return maintenance.remove(self._handle)

    def close(self) -> None:
        """Close the file."""
        self._handle.close()
