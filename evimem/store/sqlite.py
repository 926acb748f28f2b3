"""A memory in one SQLite file: a write is one transaction, a search sees all that was committed before it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..db.meta import meta
from ..index.segments import SIZE
from ..raw import settle_timezone
from ..times import Conventions
from ..times.date_order import checked_date_order
from ..types.values import DateOrder
from . import care, check, find_facts, reads, writes
from .ann import MIN_ROWS, AnnIndexCache
from .file_identity import check_identity
from .handle import StoreHandle
from .layers import Layers
from .open_file import open_checked, real_path


class SqliteStore(StoreHandle):
    """The `Store` that evimem ships: a file, and each verb where it is done."""

    known = reads.known
    recall = reads.recall
    recall_facts = find_facts.recall_facts
    expand = reads.expand
    read = reads.read
    find = reads.find
    contexts = reads.contexts
    order = reads.order
    turns = reads.turns
    pairs = reads.pairs
    facts = reads.facts
    about = reads.about
    keywords = reads.keywords
    holding = reads.holding
    roster = reads.roster
    due = reads.due
    untried = reads.untried
    count_untried = reads.count_untried
    waiting = reads.waiting
    put_off = reads.put_off
    unread = reads.unread
    past = reads.past
    setting = reads.setting
    trace = reads.trace
    health = reads.health
    stats = reads.stats

    write = writes.write
    continue_session = writes.continue_session
    settle = writes.settle
    enqueue_missing = writes.enqueue_missing
    lease = writes.lease
    release = writes.release
    hold = writes.hold
    postpone = writes.postpone
    retry_now = writes.retry_now
    keep_setting = writes.keep_setting
    keep_trace = writes.keep_trace
    forget = writes.forget
    forget_where = writes.forget_where

    check = check.check
    rebuild = care.rebuild
    change_embedder = care.change_embedder
    index_vectors = care.index_vectors
    backup = care.backup
    remove = care.remove

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
                kept = meta(db, "segment")
                layers = Layers.over(db, dimension, int(kept or segment), clock)
                super().__init__(layers, AnnIndexCache(path, index_from))
                with self.writing():
                    check_identity(layers, embedder, dimension, owner)
                    self.times = settle_timezone(db, timezone)
                    if (given := checked_date_order(date_order)) and given != layers.meta("date_order"):
                        layers.set_meta("date_order", given)
                    order: Any = layers.meta("date_order")
                    self.conventions = Conventions("recent", order, self.times.zone)
                self.finish_erasure()
                self.save_mark()
        except BaseException:
            db.close()
            raise
