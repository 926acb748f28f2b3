"""A memory in one SQLite file: a write is one transaction, a search sees all that was committed before it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..db.atomic_files import create_database, delete_stale_temporaries, kind_of
from ..db.connection import Connection
from ..db.encryption import Key
from ..errors import StoreBusy, StoreError, StoreReadOnly, WrongKey
from ..index.segments import SEGMENT_ROWS
from ..raw.commit_mark import COMMITS_PER_MARK, CommitMark, raise_mark
from ..types.values import DateOrder
from .keeper import Keeper
from .nearest import MIN_ROWS, AnnIndexCache
from .open_file import delete_commit_mark, open_checked, open_read_only, resolve_memory_path, write_commit_mark


class SqliteStore(Keeper):
    """The `Store` that evimem ships: a file, and each verb where it is done."""

    def __init__(  # noqa: PLR0913 - the settings of a file
        self,
        path: Path,
        embedder: str,
        dimension: int,
        *,
        vfs: str | None = None,
        clock: Callable[[], float] = time.time,
        busy_seconds: float = 5.0,
        owner: str | None = None,
        segment: int = SEGMENT_ROWS,
        index_from: int = MIN_ROWS,
        timezone: str | None = None,
        date_order: DateOrder | None = None,
        read_only: bool | None = False,
        key: Key | None = None,
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
            read_only: Change neither the file nor those beside it; writes are refused. With None, do
                so only where a file that is there cannot be written.
            key: With which the file is encrypted. Nothing is kept beside it then but its mark: it has no vector index.

        Raises:
            InvalidQuery: `timezone` is no zone, or the file holds turns that were read in another.
            EmbedderMismatch, DimensionMismatch: The file was made with another embedder.
            StoreError: The file cannot be opened; see its subclasses.
        """
        path = resolve_memory_path(path)
        self.path: Path = path
        self.file = db = self._open_connection(vfs, busy_seconds, key, read_only=read_only)
        self.lacks_log = db.lacks_log
        try:
            with db.raise_corrupt_on_decoding_errors():
                size = int(db.read_meta_value("segment") or segment)
                super().__init__(db, dimension, size, clock, AnnIndexCache(None if key else path, index_from))
                with self.db.reading() if self.read_only else self.writing():
                    self.identify(embedder, owner, timezone, date_order)
                if not self.read_only:
                    self.finish_erasure()
                    self.write_mark()
        except BaseException:
            db.close()
            raise

    def _open_connection(
        self, vfs: str | None, busy_seconds: float, key: Key | None, *, read_only: bool | None
    ) -> Connection:
        """Return a connection to the file, and note whether it is for reading only."""
        if not read_only:
            try:
                return open_checked(self.path, vfs, busy_seconds, key)
            except StoreReadOnly:
                if read_only is False or kind_of(self.path) != "file":
                    raise
        self.read_only = True
        return open_read_only(self.path, vfs, busy_seconds, key)

    def write_mark(self) -> None:
        """Write the high-water mark; while other processes write on and on, leave it to the next commit, or to `close`.

        Commits are kept without it, so that no call fails for it.
        """
        self._commits_since_mark = COMMITS_PER_MARK
        with suppress(StoreBusy):
            write_commit_mark(self.file)
            self._commits_since_mark = 0

    def write_mark_unsynced(self) -> None:
        raise_mark(self.path, CommitMark(self.store_id, self._commits_seen))

    def remove(self) -> bool:
        """Delete an empty memory; return False where somebody else has it open."""
        try:
            with self.writing():
                if self.raw.count_turns():
                    raise StoreError(f"{self.name!r} holds turns; forget everything before its files are deleted")
                delete_commit_mark(self.file.path)  # first: a mark without its file reads as a lost memory
        except StoreBusy:  # another handle writes
            return False
        removed = self.file.remove()
        if not removed:
            self.write_mark()
        return removed

    def rekey(self, key: Key) -> None:
        """Encrypt the file with another key: a copy takes its place, whole. See `Connection.reencrypt_file`."""
        self.require_writable()
        if self.file.key is None:
            raise WrongKey(f"{self.name!r} is not encrypted; copy it with a key: evimem.copy(..., target_key=)")
        delete_stale_temporaries(self.path)
        self.file.reencrypt_file(key)

    def backup(self, target: Path) -> None:
        """Copy a memory into a new file that appears under its name only when it is whole and on disk.

        Raises:
            StoreError: The target exists, or is no path of a regular file.
            StoreReadOnly, DiskFull: It cannot be written; no backup is left.
        """
        with create_database(target, "there is no backup") as temporary:
            self.file.backup_to(temporary)
