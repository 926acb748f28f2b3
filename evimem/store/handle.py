"""One open memory file: its connection and layers, and what this process caches of them."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..db.dialect import Query
from ..db.safe_context import safe_context
from ..db.tables import Tables
from ..errors import StoreRolledBack
from ..index.ann_file import Origin
from ..index.corpus import Corpus
from ..raw import LocalTimes, settle_timezone
from ..raw.commit_mark import EVERY
from ..times import Conventions
from ..times.date_order import checked_date_order
from ..types.values import DateOrder
from .ann import AnnIndexCache
from .fact_graph import FactGraph, FactSketches
from .layers import Layers

P = ParamSpec("P")
T = TypeVar("T")


def one_transaction(
    verb: Callable[Concatenate[StoreHandle, P], T],
) -> Callable[Concatenate[StoreHandle, P], T]:
    """Have a verb that is one transaction repeated where a server has undone it; see `Tables.repeating`."""

    @wraps(verb)
    def repeated(handle: StoreHandle, /, *args: P.args, **options: P.kwargs) -> T:
        return handle.db.repeating(partial(verb, handle, *args, **options))

    return repeated


class StoreHandle:
    """The state shared by the reads, writes and maintenance of one open file.

    Everything cached here can be read again from the file: the corpus (what searches score), the vectors of facts
    (inside `layers.edges`), the vector index (`ann`) and those of facts (`fact_graph`, `fact_sketches`).
    """

    times: LocalTimes  # how times are read
    conventions: Conventions  # how dates in texts are

    def __init__(self, layers: Layers, ann: AnnIndexCache) -> None:
        self.layers = layers
        self.name = layers.db.name
        self.ann = ann
        self.fact_graph: FactGraph = FactGraph()
        self.fact_sketches: FactSketches = FactSketches()
        self._corpus: Corpus | None = None
        # The counter `epoch` of the file and the aborted blocks of this handle when the corpus was read: an aborted
        # block may leave half an update in memory.
        self._corpus_state = (-1, 0)
        # The counters `epoch` and `links` of the file, and the aborted blocks, at the last write of this handle.
        self._written_state: tuple[object, ...] = ()
        self._erasure_finished = True
        self._commits_since_mark = 0
        self._commits_seen = 0
        self._is_other = False  # another memory stands where this one was opened

    def settle_times(self, timezone: str | None, date_order: DateOrder | None) -> None:
        """Record how times and dates are read, or take what is recorded; in a transaction of the caller."""
        self.times = settle_timezone(self.db, timezone)
        if (given := checked_date_order(date_order)) and given != self.layers.db.meta("date_order"):
            self.layers.db.set_meta("date_order", given)
        order: Any = self.layers.db.meta("date_order")
        self.conventions = Conventions("recent", order, self.times.zone)

    @property
    def db(self) -> Tables:
        """The connection to the memory."""
        return self.layers.db

    @property
    def usable(self) -> bool:
        """Whether it is open in this process, and still where it was opened."""
        return self.db.usable and not self._is_other

    @safe_context
    def writing(self, *asked: Query, durably: bool = True) -> Iterator[None]:
        """Hold the write lock; after an aborted block or another handle's rewrite, drop the cached vectors of facts.

        What is `asked` in the block before it writes is asked while its beginning is waited for.
        """
        with self.db.writing(durably=durably):
            self.db.ahead(*asked)
            kept = self._counters()
            state = (kept.get("epoch"), kept.get("links"), self.db.aborted)
            if state != self._written_state:
                self.layers.edges.drop_cache()
                self._written_state = state
            yield

    @property
    def resident(self) -> Corpus | None:
        """The corpus as it was last read; None where there is none, or a block has failed since."""
        return self._corpus if self._corpus_state[1] == self.db.aborted else None

    def asking(self) -> Sequence[Query]:
        """Return what `corpus` asks."""
        return (self._asking_counters(), *self.layers.segments.asking(self._corpus))

    def corpus(self) -> Corpus:
        """Return what searches score, caught up with the file; call it inside `db.reading()`."""
        self.db.ahead(*self.asking())
        state = (int(self._counters().get("epoch", "0")), self.db.aborted)
        if self._corpus is None or state != self._corpus_state or not self.layers.segments.follow(self._corpus):
            self._corpus, self._corpus_state = self.layers.segments.corpus(), state
        return self._corpus

    def _counters(self) -> dict[str, str]:
        """Return the counters of commits. Raise StoreRolledBack for another memory, or an older state of this one."""
        kept = dict(self.db.rows(*self._asking_counters()))
        commits = int(kept.get("commits", "0"))
        if kept.get("store", "") != self.layers.store or commits < self._commits_seen:
            self._is_other = True
            raise StoreRolledBack(
                f"{self.name!r} was erased, replaced, or is older than it was: {commits} commits of at least "
                f"{self._commits_seen}; open it again, or put the newer one back"
            )
        self._commits_seen = commits
        return kept

    def _asking_counters(self) -> Query:
        return self.db.asking_meta("store", "epoch", "links", "commits")

    def ann_origin(self) -> Origin:
        """Return what a vector index must have been built from: this file, its embedder, its current positions."""
        layers = self.layers
        self.db.ahead(*(self.db.asking_meta(key) for key in ("store", "dealt", "embedder")))
        store = f"{layers.db.meta('store')}/{layers.db.meta('dealt')}"
        return Origin(store, layers.db.meta("embedder") or "", layers.segments.dimension)

    def drop_caches(self) -> None:
        """Drop the cached corpus and the cached vectors of facts."""
        self._corpus = None
        self.layers.edges.drop_cache()

    def after_commit(self) -> None:
        """Retry an unfinished erasure; write the high-water mark after every `EVERY` commits."""
        if not self._erasure_finished:
            self.finish_erasure()
        self._commits_since_mark += 1
        if self._commits_since_mark >= EVERY:
            self.save_mark()

    def finish_erasure(self) -> None:
        """Purge erased bytes that an earlier reader kept in the log, without waiting for a reader that is there now."""
        self._erasure_finished = self.layers.finish_erasure(wait=False)

    def note_erasure(self, *, finished: bool) -> None:
        """Remember whether the last erasure still has bytes in the log, to be retried by `after_commit`."""
        self._erasure_finished = finished

    def save_mark(self) -> None:
        """Write down outside of the memory how many commits it has, where the engine has a place for that."""
        self._commits_since_mark = 0

    def close(self) -> None:
        """Write the mark if commits were made since the last one, and close the file."""
        try:
            if self._commits_since_mark and self.db.usable:
                self.save_mark()
        finally:
            self._corpus = None
            self.db.close()
        give_back()


HELD_SECONDS = 0.02  # after so long, a transaction begins no more results of jobs if another waits to write
MOST_HELD = 0.08  # or if none does: what follows from them takes as long again, and nobody can cut in


class Held:
    """How long a transaction holds the write lock: until somebody waits for it, looked at now and then, or too long."""

    def __init__(self, db: Tables) -> None:
        self._db = db
        self._look_at = time.monotonic() + HELD_SECONDS
        self._until = time.monotonic() + MOST_HELD

    def long_enough(self) -> bool:
        """Return whether to begin no more."""
        now = time.monotonic()
        if now < self._look_at:
            return False
        self._look_at = now + HELD_SECONDS
        return now > self._until or self._db.is_awaited()


def give_back() -> None:
    """Have the C library give the system its free pages, where it has a call for that: a millisecond in glibc.

    A process that opens and closes memories all day, as a pool does, else grows by megabytes an hour that nobody uses.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    if os.name != "posix":
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim
