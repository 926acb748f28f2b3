"""One open memory file: its connection and layers, and what this process caches of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ..db.connection import Connection
from ..db.safe_context import safe_context
from ..errors import StoreBusy
from ..index.ann_file import Origin
from ..index.corpus import Corpus
from ..raw import LocalTimes
from ..raw.commit_mark import EVERY
from ..times import Conventions
from .ann import AnnIndexCache
from .erase import finish_erasure
from .layers import Layers
from .open_file import save_mark
from .spare_room import give_back


class StoreHandle:
    """The state shared by the reads, writes and maintenance of one open file.

    Everything cached here can be read again from the file: the corpus (what searches score), the vectors of facts
    (inside `layers.edges`) and the vector index (`ann`).
    """

    times: LocalTimes  # how times are read
    conventions: Conventions  # how dates in texts are

    def __init__(self, layers: Layers, ann: AnnIndexCache) -> None:
        self.layers = layers
        self.path = layers.db.path
        self.ann = ann
        self._corpus: Corpus | None = None
        # The counter `epoch` of the file and the aborted blocks of this handle when the corpus was read: an aborted
        # block may leave half an update in memory.
        self._corpus_state = (-1, 0)
        # The counters `epoch` and `links` of the file, and the aborted blocks, at the last write of this handle.
        self._written_state: tuple[object, ...] = ()
        self._erasure_finished = True
        self._commits_since_mark = 0

    @property
    def db(self) -> Connection:
        """The connection of the file."""
        return self.layers.db

    @property
    def usable(self) -> bool:
        """Whether the file is open in this process, and still at its path."""
        return self.db.usable

    @safe_context
    def writing(self, *, durably: bool = True) -> Iterator[None]:
        """Hold the write lock; after an aborted block or another handle's rewrite, drop the cached vectors of facts."""
        with self.db.writing(durably=durably):
            state = (self.layers.meta("epoch"), self.layers.meta("links"), self.db.aborted)
            if state != self._written_state:
                self.layers.edges.drop_cache()
                self._written_state = state
            yield

    def corpus(self) -> Corpus:
        """Return what searches score, caught up with the file; call it inside `db.reading()`."""
        state = (int(self.layers.meta("epoch") or 0), self.db.aborted)
        if self._corpus is None or state != self._corpus_state or not self.layers.segments.follow(self._corpus):
            self._corpus, self._corpus_state = self.layers.segments.corpus(), state
        return self._corpus

    def ann_origin(self) -> Origin:
        """Return what a vector index must have been built from: this file, its embedder, its current positions."""
        layers = self.layers
        store = f"{layers.meta('store')}/{layers.meta('dealt')}"
        return Origin(store, layers.meta("embedder") or "", layers.segments.dimension)

    def drop_corpus(self) -> None:
        """Drop the cached corpus after rows it holds were rewritten."""
        self._corpus = None

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
        self._erasure_finished = finish_erasure(self.layers, wait=False)

    def note_erasure(self, *, finished: bool) -> None:
        """Remember whether the last erasure still has bytes in the log, to be retried by `after_commit`."""
        self._erasure_finished = finished

    def save_mark(self) -> None:
        """Write the high-water mark; while others write on and on, leave it to the next commit, or to `close`.

        What was committed is kept without it, so that no call fails for it.
        """
        self._commits_since_mark = EVERY
        with suppress(StoreBusy):
            save_mark(self.db)
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
