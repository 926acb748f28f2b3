"""One open memory: its tables, the layers over them, the counters of its commits, and the caches of this process."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from typing import Any, Concatenate

from ..db.jobs import Jobs
from ..db.safe_context import safe_context
from ..db.tables import Tables
from ..edges.edge_table import EdgeGraph, similarity_threshold
from ..errors import DimensionMismatch, EmbedderMismatch, StoreError, StoreRolledBack
from ..index.corpus import Corpus
from ..index.fact_table import FactTable
from ..index.hnsw import has_hnswlib
from ..index.saved_index import Origin
from ..index.segments import PassageTable, Segments
from ..raw.commit_mark import COMMITS_PER_MARK
from ..raw.turn_log import RawLog
from ..raw.validate import LocalTimes, fix_timezone
from ..times import Conventions
from ..times.date_order import checked_date_order
from ..types.stored import MemoryOverview
from ..types.type_variables import P, T
from ..types.values import DateOrder
from .nearest import AnnIndexCache, FactGraph, FactSketches

# Of `meta`, in a memory of an earlier version until it is rebuilt: its long turns are indexed whole, and it does not
# know which turns set standing instructions.
WHOLE_TURNS = "whole turns"
# The number of the rules by which turns are read: raised with a release in which the same turns give other words,
# passages, facts or dates. A memory keeps that of its rows in `meta`; one of an earlier version keeps none.
RULES_VERSION = 1
READ_BY = "rules"
# `secure_delete` zeroes deleted rows in the file, but the log keeps their old pages until it is emptied. This setting
# is there from an erasure until then, across crashes.
UNFINISHED = "unfinished erasure"
LACKS_LOG = "it was in use when it was copied or moved, and its log is not beside it, so that turns may be missing"
# Up to so many facts with a vector, new facts are linked when they are written. Linking compares each with all
# later ones, so that beyond this it would hold up `add`, and is queued for enrich() instead.
LINK_NOW = 4_096
FORMER_KEYS = "former_keys"  # ids of memories whose marks of forgotten turns were imported
# Of `meta`: read in each transaction, to compare it with the state seen before.
COMPARED = ("store", "epoch", "links", "commits", FORMER_KEYS)
IDENTITY = ("embedder", "dimension", "owner", "date_order")  # of `meta`: compared by `identify`
SETTING = "setting."  # of settings kept for code above the store, apart from the store's own


class StoreHandle:
    """One open memory: the layers and the queue over its tables, and the caches of this process.

    Everything cached can be read again from the tables: the corpus (the rows that searches score), the vectors of facts
    (inside `edges`), the vector index (`ann`) and those of facts (`fact_graph`, `fact_sketches`).
    """

    compared: tuple[str, ...] = COMPARED  # an engine may add to it
    read_only: bool = False
    lacks_log: bool = False  # whether it was opened from a copy of a file in use, without its log
    times: LocalTimes  # how times are read
    conventions: Conventions  # how dates in texts are

    def __init__(
        self, db: Tables, dimension: int, segment: int, clock: Callable[[], float], ann: AnnIndexCache
    ) -> None:
        """`segment` is the number of turns in a segment, `clock` gives seconds since 1970."""
        self.db = db
        self.name = db.name
        self.raw = RawLog(db)
        self.fact_table = FactTable(db)
        self.passages = PassageTable(db)
        self.segments = Segments(db, dimension, segment)
        self.edges = EdgeGraph(db)
        self.jobs = Jobs(db, clock)
        kept = db.read_meta("store", FORMER_KEYS)
        self.store_id = kept.get("store", "")  # random, drawn when the memory was made
        self.former_keys: tuple[str, ...] = tuple(kept.get(FORMER_KEYS, "").split())
        self.ann = ann
        self.fact_sketches: FactSketches = FactSketches()
        self.fact_graph: FactGraph | FactSketches = FactGraph() if has_hnswlib() else self.fact_sketches
        self.roster_seen: MemoryOverview | None = None  # as it was read last from a store that is far away
        self._corpus: Corpus | None = None
        # The state that the caches were last compared with: the counter `epoch`, and the aborted blocks of this handle,
        # which may leave half an update in memory; for the vectors of facts, the counter `links` too.
        self._state: tuple[str | None, int] = (None, 0)
        self._links: str | None = None
        self._counted = 0  # how many commits that last the block of `writing` that is open counts as
        self.purged = True  # whether nothing that was erased is left in the log
        self._commits_since_mark = 0
        self._commits_seen = 0
        self._is_other = False  # another memory stands where this one was opened

    def identify(self, embedder: str, owner: str | None, timezone: str | None, date_order: DateOrder | None) -> None:
        """Record in a new memory how it is made and how times and dates are read; compare that of an old one.

        Inside a transaction of the caller.

        Raises:
            EmbedderMismatch: It was made with an embedder of another name.
            DimensionMismatch: The embedder has the same name and another dimension.
            StoreError: It belongs to another user of a pool.
            InvalidQuery: `timezone` is no zone, or it holds turns that were read in another.
        """
        known = self.db.read_meta(*IDENTITY)
        kept, width, owned = (known.get(key) for key in ("embedder", "dimension", "owner"))
        if owned != owner and kept is not None and owner is not None:
            raise StoreError(f"{self.name!r} belongs to another user of a pool; put that user's own file back")
        if kept is None or width is None:
            made = {"embedder": embedder, "dimension": self.segments.dimension, "segment": self.segments.size}
            made |= {READ_BY: RULES_VERSION} if owner is None else {READ_BY: RULES_VERSION, "owner": owner}
            for key, value in made.items():
                self.db.set_meta(key, str(value))
        elif kept != embedder:
            raise EmbedderMismatch(embedder, kept)
        elif int(width) != self.segments.dimension:
            raise DimensionMismatch(self.segments.dimension, int(width))
        self.times = fix_timezone(self.db, timezone)
        order: Any = checked_date_order(date_order) or known.get("date_order")
        if order != known.get("date_order"):
            self.db.set_meta("date_order", order)
        self.conventions = Conventions("recent", order, self.times.zone)

    @property
    def usable(self) -> bool:
        """Whether it is open in this process, and still where it was opened."""
        return self.db.usable and not self._is_other

    @property
    def min_cosine(self) -> float:
        """From which cosine on two facts are linked, by the embedder of the memory."""
        return similarity_threshold(self.db.read_meta_value("embedder") or "")

    def is_derived_by_current_rules(self) -> bool:
        """Return whether all rows were derived by the rules of this version, as `rebuild` does."""
        return self.db.read_meta_value(READ_BY) == str(RULES_VERSION)

    @property
    def is_large(self) -> bool:
        """Whether facts are linked by `enrich`, and not when they are written."""
        return self.edges.has_more_facts_than(LINK_NOW)

    def require_writable(self) -> None:
        """Raise StoreReadOnly where it was opened for reading only."""
        self.db.require_writable()

    @safe_context
    def writing(self, *asked: Callable[[], object], durably: bool = True) -> Iterator[None]:
        """Hold the write lock; after an aborted block or another handle's rewrite, drop the caches.

        The queries `asked` in the block before it writes are prefetched with its beginning: see `Tables.prefetch`.
        """
        with self.db.writing(durably=durably):
            self.db.prefetch(*asked)
            self._drop_stale_caches()
            before, self._counted = self._commits_seen, 0
            yield
            counted = self._counted
        if counted:
            # Another thread may have read the memory since the lock was released, and have seen this commit.
            self._commits_seen = max(self._commits_seen, before + counted)
            self.after_commit()

    def count_commit(self, *, rewrote: bool = False, relinked: bool = False, durable: bool = True) -> None:
        """Count this transaction.

        Other handles compare the counters: "commits" (those that a power cut cannot undo) with the high-water mark,
        "epoch" (`rewrote`: rows were changed or deleted) to read their corpus again, "links" (`relinked`: facts older
        than the newest linked one got vectors) to read the vectors of facts again.
        """
        counts = {"commits": durable, "epoch": rewrote, "links": relinked}
        self.db.increment_meta(*(name for name, counted in counts.items() if counted))
        self._counted += durable
        if rewrote:
            self.drop_caches()

    def cache_corpus(self, corpus: Corpus) -> None:
        """Go on with the corpus, changed as its rows were in this transaction, which was counted as one rewrite."""
        epoch, aborted = self._state
        self._corpus, self._state = corpus, (str(int(epoch or 0) + 1), aborted)

    def after_commit(self) -> None:
        """Retry an unfinished erasure; write the high-water mark, and every `COMMITS_PER_MARK` commits sync it."""
        if not self.purged:
            self.finish_erasure()
        self._commits_since_mark += 1
        if self._commits_since_mark >= COMMITS_PER_MARK:
            self.write_mark()
        else:
            self.write_mark_unsynced()

    def finish_erasure(self, *, wait: bool = False) -> bool:
        """Purge the remains of an erasure in the log and in unused parts of pages; return whether none are left.

        See `Tables.purge`. While something is left, each commit tries it again.
        """
        left = self.db.read_meta_value(UNFINISHED) is not None
        self.purged = not left or self.db.purge(lambda: self.db.delete_meta(UNFINISHED), wait=wait)
        return self.purged

    @property
    def resident_corpus(self) -> Corpus | None:
        """The corpus as it was last read; None where there is none, or a block has failed since."""
        return self._corpus if self._state[1] == self.db.aborted else None

    def corpus(self) -> Corpus:
        """Return the corpus that searches score, caught up with the file; call it inside `db.reading()`."""
        self.db.prefetch(self._drop_stale_caches, self._update_corpus)
        self._drop_stale_caches()
        return self._update_corpus()

    def _update_corpus(self) -> Corpus:
        if self._corpus is None or not self.segments.append_new_documents(self._corpus):
            self._corpus = self.segments.corpus()
        return self._corpus

    def prefetch_turns(self, seqs: Sequence[int], *queries: Callable[[], object], facts: bool = True) -> None:
        """Prefetch turns, with their facts, and other queries that this transaction is likely to make."""
        self.db.prefetch(*queries)
        if seqs:
            self.db.prefetch(
                partial(self.raw.read_turns, seqs), *([partial(self.fact_table.facts_by_turn, seqs)] if facts else [])
            )

    def _drop_stale_caches(self) -> None:
        """Drop caches of an older state. Raise StoreRolledBack for another memory, or if this one is older."""
        kept = self.db.read_meta(*self.compared)
        commits = int(kept.get("commits", "0"))
        if kept.get("store", "") != self.store_id or commits < self._commits_seen or not self.is_successor_state(kept):
            self._is_other = True
            raise StoreRolledBack(
                f"{self.name!r} was erased, replaced, or lacks commits that it had (it has {commits}, and "
                f"{self._commits_seen} were seen); open it again, or put the newer one back"
            )
        self._commits_seen = commits
        self.former_keys = tuple(kept.get(FORMER_KEYS, "").split())
        state, links = (kept.get("epoch"), self.db.aborted), kept.get("links")
        if state != self._state:
            self._corpus = None
        if (state, links) != (self._state, self._links):
            self.edges.drop_cache()
        self._state, self._links = state, links

    def is_successor_state(self, kept: dict[str, str]) -> bool:
        """Return whether a state, of which the values to compare are given, follows the last one that was seen."""
        del kept
        return True

    def drop_caches(self) -> None:
        """Have everything that is cached of the rows be read again."""
        self._corpus = self.roster_seen = None
        self.edges.drop_cache()

    def ann_origin(self) -> Origin:
        """Return the origin that a vector index must have: this file, its embedder, its current positions."""
        kept = self.db.read_meta("store", "dealt", "embedder")
        return Origin(f"{kept.get('store')}/{kept.get('dealt')}", kept.get("embedder", ""), self.segments.dimension)

    def invalidate_ann(self) -> None:
        """Mark vector indexes built so far as stale: vectors at positions they hold were erased or changed."""
        self.db.set_meta("dealt", str(int(self.db.read_meta_value("dealt") or 0) + 1))

    def write_mark(self) -> None:
        """Write down outside of the memory how many commits it has, where the engine has a place for that."""
        self._commits_since_mark = 0

    def write_mark_unsynced(self) -> None:
        """Write down the same after each commit, as a killed process leaves it, where that takes microseconds."""

    def close(self) -> None:
        """Write the mark if commits were made since the last one, and close the file."""
        try:
            if self._commits_since_mark and self.db.usable:
                self.write_mark()
        finally:
            self._corpus = None
            self.db.close()
        if TRIM is not None:
            TRIM(0)


def retry_transaction(verb: Callable[Concatenate[StoreHandle, P], T]) -> Callable[Concatenate[StoreHandle, P], T]:
    """Have a verb that is one transaction repeated where a server has undone it; see `Tables.retry_transaction`."""

    @wraps(verb)
    def repeat_verb(handle: StoreHandle, /, *args: P.args, **options: P.kwargs) -> T:
        return handle.db.retry_transaction(partial(verb, handle, *args, **options))

    return repeat_verb


HELD_SECONDS = 0.02  # after so long, a transaction begins no more results of jobs if another waits to write
MOST_HELD = 0.08  # or if none does: the derived rows take as long again, without a break


class WriteBudget:
    """How long a transaction holds the write lock: until somebody waits for it, looked at now and then, or too long."""

    def __init__(self, db: Tables) -> None:
        self._db = db
        self._look_at = time.monotonic() + HELD_SECONDS
        self._until = time.monotonic() + MOST_HELD

    def exceeded(self) -> bool:
        """Return whether to begin no more."""
        now = time.monotonic()
        if now < self._look_at:
            return False
        self._look_at = now + HELD_SECONDS
        return now > self._until or self._db.has_waiting_writer()


# Has the C library give the system its free pages, where it has a call for that: a millisecond in glibc. A process that
# opens and closes memories all day, as a pool does, else grows by megabytes an hour that stay unused.
TRIM: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
