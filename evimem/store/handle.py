"""One open memory file: its connection and layers, and what this process caches of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..db.connection import Connection
from ..index.ann_file import Origin
from ..index.corpus import Corpus
from ..raw.commit_mark import EVERY
from .ann import AnnIndexCache
from .erase import finish_erasure
from .layers import Layers
from .open_file import save_mark


class StoreHandle:
    """The state shared by the reads, writes and maintenance of one open file.

    Everything cached here can be read again from the file: the corpus (what searches score), the vectors of facts
    (inside `layers.edges`) and the vector index (`ann`).
    """

    def __init__(self, layers: Layers, ann: AnnIndexCache) -> None:
        self.layers = layers
        self.ann = ann
        self._corpus: Corpus | None = None
        self._corpus_epoch = -1  # the counter `epoch` of the file when the corpus was read
        self._seen: tuple[str | None, ...] = ()  # the counters `epoch` and `links` at the last write of this handle
        self._erasure_finished = True
        self._commits_since_mark = 0

    @property
    def db(self) -> Connection:
        """The connection of the file."""
        return self.layers.db

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock; drop caches after a failure, or where another handle has rewritten rows since."""
        try:
            with self.db.writing():
                counters = (self.layers.meta("epoch"), self.layers.meta("links"))
                if counters != self._seen:
                    self.layers.edges.drop_cache()
                    self._seen = counters
                yield
        except BaseException:
            self.drop_caches()  # they may hold rows of the transaction that was rolled back
            raise

    def corpus(self) -> Corpus:
        """Return what searches score, caught up with the file; call it inside `db.reading()`."""
        epoch = int(self.layers.meta("epoch") or 0)
        if self._corpus is None or epoch != self._corpus_epoch or not self.layers.segments.follow(self._corpus):
            self._corpus, self._corpus_epoch = self.layers.segments.corpus(), epoch
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
        """Write the high-water mark."""
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
