"""A SQLite connection with the pragmas that durability needs, one lock, and typed errors."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import apsw

from ..errors import (
    DiskFull,
    EvimemError,
    NotAMemory,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreRolledBack,
    WrongKey,
)
from ..types.values import meets
from .atomic_files import (
    check_target,
    check_usable_name,
    create_private,
    create_temporary,
    kind_of,
    sync_folder,
    translate_os_errors,
)
from .encryption import Key
from .file_format import APPLICATION_ID, HEADER_SIZE, MAGIC, MOST_PAGES, find_unused_ranges, is_encrypted_header
from .log_link import CLOSED, LINK, LINK_FORM, NO_STATE, make_next_link, state_after_link
from .open_handles import close_surplus_handles, register_handle, require_free_descriptors
from .safe_context import safe_context
from .still_view import MAX_PAGES, LogPages, open_handle, open_snapshot, system_vfs
from .tables import Tables

# SQLite before 3.51.3 can lose a committed transaction when a WAL is reset while another process writes. Branches 3.50
# and 3.44 got that fix too, but not the detection (3.51.0) of locks that were dropped because some code of the process
# opened and closed the file, such as an application that copies or hashes it: there, acknowledged turns are lost.
_SAFE_SQLITE = (3, 51, 3)
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
)
_AS_MAIN = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
_PAGES_PER_READ = 2048
_STORE_AND_LINK = f"SELECT key, value FROM meta WHERE key IN ('store', '{LINK}', '{CLOSED}')"
_LONGEST_SLEEP = 0.004  # seconds between two attempts at a lock that another process holds
_AS_MAIN_TO_READ = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
_NO_ROOM = {apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_TRUNCATE}  # a file-size limit shows as a failed write


class Connection(Tables):
    """One SQLite handle behind one lock: safe to share between threads, refused after a fork. See `Tables`.

    After an I/O error, or a block that a signal handler cut short, the handle is closed and opened again: the state
    that SQLite holds in memory may then differ from that on disk. `path` is the file, `vfs` names an apsw VFS,
    `busy_seconds` is how long a statement waits for a lock of another process. Until `mark_verified` is called, closing
    the handle leaves the file and its WAL as they were found. A missing file is created with mode 0600. With `readonly`
    it must exist, and neither it nor its folder is changed: where no process has it open for writing, it is read with
    its WAL and without locks (`still_view`), and a change of either is noticed. With a `key` all that is written is
    encrypted.

    `aborted` counts the write blocks that were rolled back and the read blocks that failed unexpectedly. What a
    caller derived in memory during such a block may be half done.
    """

    def __init__(
        self,
        path: Path,
        *,
        vfs: str | None = None,
        busy_seconds: float = 5.0,
        readonly: bool = False,
        key: Key | None = None,
    ) -> None:
        self.path = path
        self.name = str(path)
        self._vfs = vfs
        self._readonly = readonly
        self.key = key
        self._busy_seconds = busy_seconds
        self._give_up_at = 0.0
        self._place: apsw.VFSFile | None = None  # in the queue for the write lock; see `_announce_writer`
        # Entered by `with` in the function that uses it: a C lock is then released whatever a signal handler raises.
        self._lock = threading.RLock()
        self._errors = _TypedErrors(path)
        self._depth = 0
        self._still: FileStates | None = None  # of the file that is read without locks; it must stay as it was
        self._query_only = False
        self._unsynced = False  # commits are not waited for until they are on disk
        self._patched = False  # the transaction has changed pages that SQLite does not count as changed rows
        self._closed = False
        self._parked = False  # closed to give its descriptors up, until it is used again
        self.check_state: Callable[[], None] | None = None  # raises StoreError for an older state than was left
        self._used_at = 0.0
        self._suspect = False
        self._trusted = False
        self._file_id: tuple[int, int] | None = None
        self.aborted: int = 0
        self.lacks_log = False  # whether it was found open and without its log: set by who opens it
        _check_runtime()
        if not readonly:
            with translate_os_errors(repr(str(path)), "nothing was opened"):
                create_private(path)
        with self._errors, self._lock:
            self._db = self._open()

    @property
    def holds_descriptors(self) -> bool:
        """Whether its SQLite handle is open."""
        return not self._closed and not self._parked

    @property
    def last_used(self) -> float:
        """When it was used last, by the monotonic clock."""
        return self._used_at

    @property
    def usable(self) -> bool:
        """Whether the handle is open, belongs to this process, and its file is still at its path."""
        return not self._closed and self._errors.in_its_process and self._current_file_id() == self._file_id

    def park(self) -> None:
        """Close the SQLite handle where no call uses it, so that it holds no descriptor; the next call opens it."""
        if self._lock._is_owned() or not self._errors.in_its_process:  # type: ignore[attr-defined]
            return
        try:
            if self._lock.acquire(blocking=False) and self._is_idle and not self._closed and not self._depth:
                self._note_closed()
                self._parked = True  # first: a signal handler may raise as soon as it is closed
                self._db.close()
        except apsw.Error:  # busy with a cursor, say: it is closed, and opened again, by its next call
            return
        finally:
            while self._lock._is_owned():  # type: ignore[attr-defined]
                self._lock.release()

    @property
    def _is_idle(self) -> bool:
        return self._trusted or self._readonly

    def mark_verified(self) -> None:
        """Mark the file verified: from now on the WAL is checkpointed when the last handle closes."""
        with self._errors, self._lock:
            self._trusted = True
            self._handle().config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[Any]:
        with self._errors, self._lock:
            return self._handle().execute(sql, args).fetchall()

    def execute(self, sql: str, args: Sequence[Any] = ()) -> None:
        with self._errors, self._lock:
            self._handle().execute(sql, args)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._errors, self._lock:
            self._handle().executemany(sql, rows)

    def patch(self, table: str, column: str, rowid: int, pieces: Iterable[tuple[int, bytes]]) -> None:
        """Overwrite parts of a BLOB in place, each at its offset.

        One incremental handle for all of them: SQLite walks the overflow pages of a long BLOB once, not once a part.
        """
        with (
            self._errors,
            self._lock,
            self._handle().blob_open("main", table, column, rowid, writeable=True) as blob,
        ):
            self._patched = True
            for offset, data in pieces:
                blob.seek(offset)
                blob.write(data)

    def require_writable(self) -> None:
        if self._readonly:
            raise StoreReadOnly(f"{str(self.path)!r} is open for reading only; nothing was changed: open it to write")

    @safe_context
    def writing(self, *, durably: bool = True) -> Iterator[None]:
        self.require_writable()
        with self.raise_corrupt_on_decoding_errors(), self._transaction("BEGIN IMMEDIATE", synced=durably):
            self._check_same_file()  # under the write lock, which `remove` takes too
            yield

    def yield_write_lock(self) -> None:
        time.sleep(_LONGEST_SLEEP / 8)  # so that a thread that waits for this handle gets it
        # A waiting process asks for the lock every few milliseconds, unless it was stopped: yield at most 0.1 seconds.
        give_up_at = time.monotonic() + 0.1
        while self.has_waiting_writer() and time.monotonic() < give_up_at:
            time.sleep(_LONGEST_SLEEP / 2)

    @safe_context
    def reading(self) -> Iterator[None]:
        """See one state of the file throughout a block. Nothing can be written, unless `writing` is around it."""
        with self.raise_corrupt_on_decoding_errors(), self._transaction("BEGIN", query_only=True):
            yield
            if self._still is not None and self._depth and self._still != read_file_states(self.path):
                self.aborted += 1
                raise StoreBusy(f"{str(self.path)!r} was changed while it was read; repeat the call")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        with self._errors, self._lock:
            handle, raised = self._handle(), list[BaseException]()
            try:
                with handle:  # a savepoint
                    try:
                        yield
                    except BaseException as error:
                        raised.append(error)
                        raise
            except apsw.SQLError:
                if handle.in_transaction or not raised:
                    raise
                raise raised[0] from None  # a full disk ends the whole transaction, and the savepoint with it

    def purge(self, on_done: Callable[[], None], *, wait: bool) -> bool:
        """Empty the log and blank unused parts of pages, then call `on_done` in a transaction.

        With `wait`, wait for readers up to the busy timeout. Return False while another reader needs the log, others
        write, or the disk is full: the erasure itself is committed, so that it must not be reported as one that failed.
        """
        try:
            if not self.checkpoint(wait=wait):
                return False
            if self.key is not None:  # bytes of an encrypted page cannot be blanked in place
                self.reencrypt_file(self.key, wait=wait)
            with self.writing():
                if self.key is None and not self.blank_unused_bytes():
                    return False  # another handle has written since the checkpoint
                on_done()
        except (StoreBusy, DiskFull):
            return False
        return True

    def check_pages(self, table: str | None = None) -> list[str]:
        name = "" if table is None else '("{}")'.format(table.replace('"', '""'))
        return [line for (line,) in self.rows(f"PRAGMA integrity_check{name}") if line != "ok"]

    def list_trees(self) -> list[Any]:
        return self.rows("SELECT rootpage, name, tbl_name FROM sqlite_schema")

    def find_broken_references(self) -> list[tuple[str, str]]:
        return [(table, parent) for table, _, parent, _ in self.rows("PRAGMA foreign_key_check")]

    def rebuild_indexes(self) -> None:
        with self.writing():
            self._patched = True
            self.execute("REINDEX")

    def size(self) -> int:
        return int(self.read_value("PRAGMA page_count") * self.read_value("PRAGMA page_size"))

    def checkpoint(self, *, wait: bool = True) -> bool:
        """Move the WAL into the file and truncate it; return False while a reader still needs it.

        `wait` for `busy_seconds`, or do not wait at all.
        """
        with self._errors, self._lock:
            kept, self._busy_seconds = self._busy_seconds, self._busy_seconds if wait else 0.0
            try:
                busy, _, _ = next(self._handle().execute("PRAGMA wal_checkpoint(TRUNCATE)"))
            finally:
                self._busy_seconds = kept
            return not busy

    def copy_log_into_file(self) -> None:
        """Copy the log into the file; the log stays beside it."""
        with self._errors, self._lock:
            self._handle().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def blank_unused_bytes(self) -> bool:
        """Overwrite the bytes that moved rows left in unused parts of pages; return False if the WAL is not empty.

        Call it inside `writing`, after `checkpoint`: all committed pages are then in the file; no other process writes.
        A commit must follow, after which other handles read their pages again.
        """
        log = _companion_path(self.path, "-wal")
        if log.exists() and log.stat().st_size:
            return False
        with self._errors, self._lock:
            db = self._handle()
            size, count = db.pragma("page_size"), db.pragma("page_count")
            file = self._open_vfs_file()
            try:
                found = list(_find_unused_bytes(file, size, min(count, MOST_PAGES)))
                for start, end in found:
                    file.xWrite(bytes(end - start), start)
                if found:
                    file.xSync(apsw.SQLITE_SYNC_NORMAL)
                    db.release_memory()  # else this handle would write back pages that it has read before
            finally:
                file.xClose()
        return True

    def backup_to(self, target: Path) -> None:
        """Copy a consistent state into a new file; that of an encrypted file has its key."""
        with self._errors, self._lock:
            _copy_database(self._handle(), target, self.key)

    def remove(self) -> bool:
        """Delete the file and its WAL, and close the handle; return False, and do neither, while another is open."""
        with self._errors, self._lock:
            db = self._handle()
            self._suspect = True  # the journal mode changes: where the file stays, the handle is opened again
            try:
                alone: bool = db.pragma("journal_mode", "DELETE") == "delete"  # fails while another handle is open
                if alone:
                    db.execute("BEGIN EXCLUSIVE")  # a process that opens the file now waits, and then finds it gone
            except apsw.BusyError:
                return False
            if alone:
                self._check_same_file()
                self.path.unlink()
                self.close()
            return alone

    def reencrypt_file(self, key: Key, *, wait: bool = True) -> None:
        """Replace an encrypted file with a new one that holds its rows and nothing else, under a key and a new salt.

        After a crash the one or the other file is there; the log of the one is unreadable beside the other. Where a
        process opens the old one meanwhile, it cannot write to it, and then finds that it was replaced. Raise StoreBusy
        where another handle has the file open; `wait` for it as `checkpoint` does.
        """
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        kept, self._busy_seconds = self._busy_seconds, self._busy_seconds if wait else 0.0
        try:
            with self._errors, self._lock:
                db = self._handle()
                self._suspect = True  # the journal mode changes: the handle is opened again
                if db.pragma("journal_mode", "DELETE") != "delete":
                    raise StoreBusy(f"{str(self.path)!r} is open elsewhere; close it there, and repeat the call")
                with (
                    translate_os_errors(repr(str(self.path)), "it stays as it was"),
                    create_temporary(temporary),
                    self._exclude_writers(),
                ):
                    key.copy_encrypted(db, temporary)
                    self._check_same_file()
                    with temporary.open("rb+") as file:
                        os.fsync(file.fileno())
                    temporary.replace(self.path)
                    sync_folder(self.path.parent)
                    self.key, self._file_id = key, self._current_file_id()
                self._handle()
        finally:
            self._busy_seconds = kept
            temporary.unlink(missing_ok=True)

    @contextmanager
    def _exclude_writers(self) -> Iterator[None]:
        """Hold the lock that each transaction that writes takes, where there is no log."""
        place = self._open_vfs_file()
        try:
            place.xLock(apsw.SQLITE_LOCK_SHARED)
            place.xLock(apsw.SQLITE_LOCK_RESERVED)
            yield
        finally:
            place.xUnlock(apsw.SQLITE_LOCK_NONE)
            place.xClose()

    def close(self) -> None:
        if not self._errors.in_its_process:
            return  # it is the parent's to close
        with self._errors, self._lock:
            if not self._closed:
                self._note_closed()
                self._closed = True  # first: a signal handler may raise as soon as the file is closed
                try:
                    self._db.close()
                except apsw.Error:
                    self._closed = False
                    raise

    def _open(self) -> apsw.Connection:
        """Open the SQLite handle; close other handles of this process where it has few descriptors, or none."""
        close_surplus_handles(self)
        require_free_descriptors(self.name, self)
        db, self._used_at = self._open_handle(), time.monotonic()
        register_handle(self)
        return db

    def _open_handle(self) -> apsw.Connection:
        if self._file_id is not None:
            self._check_same_file()  # opened again: the file that was open must still be there
        before = self._file_id or self._current_file_id()
        if self._readonly:
            db = self._open_read_only()
        else:
            db = open_handle(str(self.path), apsw.SQLITE_OPEN_READWRITE, self._vfs, self.key)
        if self.key is not None:
            _check_key(db, self.path)
        db.set_busy_handler(self._wait_for_lock)
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(not self._trusted))
        db.create_scalar_function("meets", cast(Any, meets), 2, deterministic=True)
        if self._readonly:
            for pragma in ("PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON"):
                db.execute(pragma).fetchall()
            self._file_id = before
            return db
        if db.readonly("main"):
            db.close()
            raise StoreReadOnly(f"{str(self.path)!r} can be read but not written; check its permissions")
        if not db.pragma("page_count"):  # a new file: mark it as a memory before anything else
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        for pragma in _PRAGMAS:
            db.execute(pragma).fetchall()  # all rows: the new mode is reported before it is on disk
        _check_settings(db, str(self.path))
        self._file_id = before or self._current_file_id()
        self._check_same_file()
        return db

    def _open_read_only(self) -> apsw.Connection:
        """Open a handle that changes nothing: with locks where the index of a log shows that the file is in use."""
        self._still, found = None, read_file_states(self.path)
        if found.index:
            db = open_handle(str(self.path), apsw.SQLITE_OPEN_READONLY, self._vfs, self.key)
            try:
                db.execute("SELECT 1 FROM sqlite_schema").fetchone()
            except (apsw.CantOpenError, apsw.ReadOnlyError):  # left by a killed process, where it cannot be written
                db.close()
            else:
                return db
        self._still = found
        return open_snapshot(self.path, self._vfs, _read_log_view(self.path, self._vfs), self.key)

    def _wait_for_lock(self, attempts: int) -> bool:
        """Sleep shortly; return whether to try for the lock again (SQLite's busy handler).

        SQLite's own timeout sleeps longer and longer, so that among many writers an unlucky one hardly ever asks while
        the lock is free, and fails. Short sleeps of random length give each the same chance; long work gives way.
        """
        if attempts == 0:
            self._give_up_at = time.monotonic() + self._busy_seconds
        self._announce_writer()
        time.sleep(random.uniform(0.0, _LONGEST_SLEEP))
        return time.monotonic() < self._give_up_at

    def _announce_writer(self) -> None:
        """Show that this handle waits to write; `_place` is kept while it does, and nothing else shows it.

        The sign is the lock that SQLite calls RESERVED. With a log it takes that one never but to change the journal
        mode, which other handles forbid; it ends with its process, needs no file, and is there on every system. One
        handle at a time can hold it: a second that waits takes it when the first has its turn.
        """
        if self._depth and self._place is None:
            place = self._open_vfs_file()
            with suppress(apsw.BusyError):
                place.xLock(apsw.SQLITE_LOCK_SHARED)
                place.xLock(apsw.SQLITE_LOCK_RESERVED)
                self._place = place

    def has_waiting_writer(self) -> bool:
        with self._errors, self._lock:
            return bool(self._open_vfs_file().xCheckReservedLock())

    def _open_vfs_file(self) -> apsw.VFSFile:
        """Return the file beside its handle, through SQLite's VFS, as in `read_header`. It is closed when let go."""
        return apsw.VFSFile(self._vfs or system_vfs(), str(self.path), [_AS_MAIN, 0])

    def _check_same_file(self) -> None:
        """Raise StoreRolledBack if the file was deleted or replaced: a write would be lost."""
        found = self._current_file_id()
        if found is None:
            raise StoreRolledBack(f"{str(self.path)!r} was taken away while it was open; put it back")
        if found != self._file_id:
            raise StoreRolledBack(f"{str(self.path)!r} was replaced while it was open; close it and open it again")

    def _current_file_id(self) -> tuple[int, int] | None:
        """Return device and inode of the file at the path, None if there is none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return (found.st_dev, found.st_ino)

    def _handle(self) -> apsw.Connection:
        """Return the SQLite handle, opened again where an earlier call may have left it in a state of its own.

        Outside of a block there is no transaction, `query_only` is off and commits are synced; all of it stays
        otherwise only when a signal handler raised twice, the second time during the rollback.
        """
        if self._closed:
            raise StoreClosed(f"{str(self.path)!r} is closed; open it again")
        if self._depth:
            return self._db
        self._used_at = time.monotonic()
        moved = self._still is not None and self._still != read_file_states(self.path)
        if (self._parked or moved) and not is_log_of_file(self.path, self._vfs, self.key):
            raise StoreRolledBack(f"the log of {str(self.path)!r} was exchanged while it was open; open it again")
        self._suspect = self._suspect or moved
        if (
            self._parked or self._suspect or self._query_only or self._unsynced or self._db.in_transaction
        ):  # fmt: skip
            self._suspect, was_parked = True, self._parked
            self._db.close()
            self._db = self._open()
            # Not before: where opening fails too, the next call tries again.
            self._suspect = self._query_only = self._unsynced = self._parked = False
            if was_parked and self.check_state is not None:
                try:
                    self.check_state()
                except BaseException:
                    self._suspect = self._parked = True
                    raise
        return self._db

    @safe_context
    def _transaction(self, begin: str, *, query_only: bool = False, synced: bool = True) -> Iterator[None]:
        with self._errors, self._lock:
            if self._depth:  # one state throughout: an inner block joins the outer one
                yield
                return
            db = self._handle()
            self._depth = 1
            try:
                if not synced:
                    self._unsynced = True
                    db.execute("PRAGMA synchronous=NORMAL")
                db.execute(begin)
                self._place = None
                self._patched, changes = False, db.total_changes()
                if query_only:
                    self._query_only = True
                    db.execute("PRAGMA query_only=ON")
                yield
                self._end_query_only()
                if self._patched or db.total_changes() != changes:
                    self._write_log_link(db)
                db.execute("COMMIT")
                self._restore_sync_mode()
            except EvimemError as error:
                self.aborted += not query_only
                self._rollback(error)
                raise
            except BaseException as error:
                self.aborted += 1  # before any call: a signal handler may raise again in the first one
                self._rollback(error)
                raise
            finally:
                self._depth, self._place, self._used_at = 0, None, time.monotonic()

    def _write_log_link(self, db: apsw.Connection) -> None:
        """Give the state that is about to be committed its link; see `log_link`."""
        with suppress(apsw.SQLError):  # of a file without tables yet, or of another program
            kept: dict[str, Any] = dict(cast(Any, db.execute(_STORE_AND_LINK).fetchall()))
            if "store" not in kept:
                return
            link = make_next_link(kept["store"], kept.get(LINK))
            db.execute(f"INSERT INTO meta VALUES ('{LINK}', ?) ON CONFLICT (key) DO UPDATE SET value = ?", (link, link))

    def _note_closed(self) -> None:
        """Note the state in which the file is left, if it was changed and no other handle writes; see `log_link`."""
        if self._readonly or not self._trusted or self._parked or self._suspect or self._db.in_transaction:
            return
        kept, self._busy_seconds = self._busy_seconds, 0.0
        try:
            self._db.execute("BEGIN IMMEDIATE")
            note_closed(self._db)
            self._db.execute("COMMIT")
        except apsw.Error:  # it is as it would be after a crash
            with suppress(apsw.Error):
                self._db.execute("ROLLBACK")
        finally:
            self._busy_seconds = kept

    def _rollback(self, error: BaseException) -> None:
        reasons = (error, error.__cause__)
        self._suspect = any(isinstance(one, (apsw.IOError, apsw.CorruptError, StoreCorrupt)) for one in reasons)
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._end_query_only()
            self._restore_sync_mode()
        except apsw.Error:
            self._suspect = True  # the handle is dropped at its next use, which rolls back

    def _end_query_only(self) -> None:
        if self._query_only:
            self._db.execute("PRAGMA query_only=OFF")
            self._query_only = False

    def _restore_sync_mode(self) -> None:
        if self._unsynced:
            self._db.execute("PRAGMA synchronous=FULL")
            self._unsynced = False


def _find_unused_bytes(file: apsw.VFSFile, size: int, count: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count * size, _PAGES_PER_READ * size):
        wanted = min(_PAGES_PER_READ * size, count * size - first)
        pages = file.xRead(wanted, first)
        if len(pages) != wanted:  # a part that cannot be seen whole is not touched
            raise apsw.IOError(f"{len(pages)} bytes read at {first}, expected {wanted}")
        yield from ((first + start, first + end) for start, end in find_unused_ranges(pages, size, first))


def read_header(path: Path, vfs: str | None = None) -> bytes:
    """Return the first bytes of a regular file, at most 100, and change nothing. Raise StoreError.

    They are read through SQLite, which keeps a descriptor open while a handle of this process holds locks on the file:
    closing one of our own would drop those locks (fcntl(2): they belong to the process), and another process could
    then reset the log under that handle.
    """
    real = path.resolve()  # SQLite opens no symbolic link
    check_usable_name(real)
    try:
        file = apsw.VFSFile(vfs or system_vfs(), str(real), [_AS_MAIN_TO_READ, 0])
        try:
            return bytes(file.xRead(HEADER_SIZE, 0))
        finally:
            file.xClose()
    except apsw.Error as error:
        raise _typed_error(error, str(path)) from error


def is_log_of_file(path: Path, vfs: str | None = None, key: Key | None = None, store: str | None = None) -> bool:
    """Return whether the log beside a file continues it; see `log_link`. Nothing is changed.

    It does where no link is in it. It does not where the file was cut, so that a page is in neither: SQLite would take
    that page for a blank one. A file that cannot be read alone, as in the middle of a checkpoint, is told by the links
    among its bytes and by `store`, the id of the memory whose mark lies there. Other processes may write meanwhile:
    a part that changed while it was read is read again. Raise StoreError.
    """
    with _TypedErrors(path), _open_log(path, vfs) as log:
        if log is None:
            return True
        from .log_states import page_size_of_header, read_log_header, read_states  # noqa: PLC0415 - numpy, not for help

        read = partial(_read_log, log)
        # Read a log that other processes write meanwhile at most 50 times.
        for _ in range(50):
            if (header := read_log_header(read)) is None:
                return True
            state = _state_without_log(path, vfs, key, page_size_of_header(header))
            if not _is_page_missing(path, read, header):
                states = set(read_states(read, header) if key is None else _encrypted_states(path, vfs, key))
                if not states or state in states:
                    return True
                if state in (None, NO_STATE) and _seems_log_of_file(
                    path, vfs, key, states, store, is_readable=state is not None
                ):
                    return True
            if (header, state) == (
                read_log_header(read),
                _state_without_log(path, vfs, key, page_size_of_header(header)),
            ):
                return False
    return True  # it is written all the time, by processes that opened it with its log


def _seems_log_of_file(
    path: Path, vfs: str | None, key: Key | None, states: set[str], store: str | None, *, is_readable: bool
) -> bool:
    """Return whether a log seems to be that of a file that cannot be read without it, or shows no table.

    A page that a checkpoint was writing may be torn, and a link in it. Where links are left among the bytes of the
    file, one must be of a state of the log, or of parts of two; where none is, the mark must be of the memory that the
    log leads to, or the log must hold every page, so that none of the file is read.
    """
    file = apsw.VFSFile(vfs or system_vfs(), str(path.resolve()), [_AS_MAIN_TO_READ, 0])
    try:
        links = list(_find_log_links(file))
    finally:
        file.xClose()
    if links:
        known = {part for state in states for part in _state_parts(state)}
        return any(not known.isdisjoint(_state_parts(link.rpartition(":")[2])) for link in links)
    if is_readable:
        return False
    view = _read_log_view(path, vfs)
    if store is None:
        return view is not None and all(page in view.pages for page in range(1, view.count + 1))
    try:
        with closing(open_snapshot(path, vfs, view, key)) as db:
            return _read_store_and_link(db).get("store", store) == store
    except apsw.Error:
        return True  # nor can it be read with the log: SQLite says so


def _state_parts(state: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a state, each with its place: of a torn one all but one are whole."""
    return ((at, state[at : at + 8]) for at in range(0, len(state), 8))


def _find_log_links(file: apsw.VFSFile) -> Iterator[str]:
    """Yield the links that stand anywhere among the bytes of a file."""
    step, longest = 1 << 20, len(make_next_link("", None))
    for at in range(0, file.xFileSize(), step):
        some = file.xRead(min(step + longest, file.xFileSize() - at), at)
        yield from (link[0].decode() for link in LINK_FORM.finditer(some))


def lacks_log(path: Path, vfs: str | None = None, key: Key | None = None) -> bool:
    """Return whether a file was not closed and no log is beside it, so that turns may be missing. Raise StoreError.

    It is read here first where it has no mark, as a backup has none, so that a wrong key is noticed here. One of an
    earlier version does not say whether it was closed; one without tables is new.
    """
    with _TypedErrors(path), _open_log(path, vfs) as log:
        from .log_states import read_log_header  # noqa: PLC0415 - numpy, as above

        if log is not None and read_log_header(partial(_read_log, log)) is not None:
            return False
        with closing(open_snapshot(path, vfs, None, key)) as db:
            if key is not None:
                _check_key(db, path)
            kept = _read_store_and_link(db)
    return LINK in kept and kept.get(CLOSED) != state_after_link(kept["store"], kept[LINK])


def note_closed(db: apsw.Connection) -> None:
    """Note in a file that its state is the last one, in a transaction of the caller."""
    kept = _read_store_and_link(db)
    state = state_after_link(kept.get("store"), kept.get(LINK))
    if LINK in kept and state is not None and state != kept.get(CLOSED):
        sql = f"INSERT INTO meta VALUES ('{CLOSED}', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        db.execute(sql, (state,))


def _is_page_missing(path: Path, read: Callable[[int, int], bytes], header: bytes) -> bool:
    """Return whether a page is neither in a file nor in its log; False for a file that is gone."""
    from .log_states import lacks_pages  # noqa: PLC0415 - numpy, as above

    with suppress(FileNotFoundError):
        return lacks_pages(read, header, path.stat().st_size)
    return False


@dataclass(frozen=True, slots=True)
class FileStates:
    """The state of a file and of its log by the system, which changes with each of them; whether there is an index."""

    file: tuple[int, ...]
    log: tuple[int, ...]
    index: bool


def read_file_states(path: Path) -> FileStates:
    """Return the states of a file, its log and the index of that."""
    return FileStates(
        _stat_file(path), _stat_file(_companion_path(path, "-wal")), _companion_path(path, "-shm").exists()
    )


def _stat_file(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _companion_path(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


@contextmanager
def _open_log(path: Path, vfs: str | None) -> Iterator[apsw.VFSFile | None]:
    """Open the log beside a file, None where there is none."""
    log = _open_log_file(path, vfs)
    try:
        yield log
    finally:
        if log is not None:
            log.xClose()


def _open_log_file(path: Path, vfs: str | None) -> apsw.VFSFile | None:
    log, flags = _companion_path(path, "-wal"), [apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_READONLY, 0]
    return apsw.VFSFile(vfs or system_vfs(), str(log.resolve()), flags) if kind_of(log) == "file" else None


def _read_log(log: apsw.VFSFile, at: int, size: int) -> bytes:
    wanted = max(0, min(size, log.xFileSize() - at))
    found = bytes(log.xRead(wanted, at)) if wanted else b""
    if len(found) != wanted:  # SQLite would take it for the end of the log
        raise apsw.IOError(f"{len(found)} bytes read at {at} of the log, expected {wanted}")
    return found


def _read_log_view(path: Path, vfs: str | None) -> LogPages | None:
    """Return the pages that the log beside a file holds; None where it holds none."""
    if (log := _open_log_file(path, vfs)) is None:
        return None
    from .log_states import page_size_of_header, read_log_header, read_page_places  # noqa: PLC0415 - numpy, as above

    read = partial(_read_log, log)
    if (header := read_log_header(read)) is None:
        log.xClose()
        return None
    view = LogPages(log, page_size_of_header(header))
    for pages, count in read_page_places(read, header):
        view.pages, view.count = pages, count
    return view


def _encrypted_states(path: Path, vfs: str | None, key: Key) -> Iterator[str]:
    """Yield the states before and after each transaction of a log whose pages only SQLite can read.

    A link that is also that of the file alone may stand in the file: it counts once the log was seen to hold another.
    Where the file with pages of the log over it cannot be read, as that of another state, a state of none is yielded.
    """
    from .log_states import page_size_of_header, read_log_header, read_page_places  # noqa: PLC0415 - numpy, as above

    with _open_log(path, vfs) as log:
        header = None if log is None else read_log_header(read := partial(_read_log, log))
        if header is None:
            return
        view = LogPages(_open_log_file(path, vfs), page_size_of_header(header), MAX_PAGES)
        try:
            with closing(open_snapshot(path, vfs, view, key)) as db:
                own, is_logged = _read_store_and_link(db).get(LINK), False
                for view.pages, view.count in read_page_places(read, header):
                    db.release_memory()  # the pages that it has read of the file
                    kept = _read_store_and_link(db)
                    store, link = kept.get("store"), kept.get(LINK)
                    is_logged = is_logged or link != own
                    if is_logged and link is not None:
                        yield link.split(":")[1]
                        yield state_after_link(store, link) or ""
        except apsw.Error:
            yield ""


def _read_store_and_link(db: apsw.Connection) -> dict[str, str]:
    try:
        return dict(cast(Any, db.execute(_STORE_AND_LINK).fetchall()))
    except apsw.SQLError:
        return {}  # all of its tables are in the log


def _state_without_log(path: Path, vfs: str | None, key: Key | None, page_size: int) -> str | None:
    """Return the state that a file is in by itself; None where it cannot be read so.

    Pages that it lacks at its end are blank: SQLite reads no page of a file that is shorter than its header says.
    """
    try:
        with closing(open_snapshot(path, vfs, LogPages(None, page_size, MAX_PAGES), key)) as db:
            kept: dict[str, Any] = dict(cast(Any, db.execute(_STORE_AND_LINK).fetchall()))
            return state_after_link(kept.get("store"), kept.get(LINK))
    except apsw.SQLError:
        return NO_STATE  # all of its tables are in the log
    except apsw.Error:
        return None


@contextmanager
def lock_exclusively(path: Path) -> Iterator[None]:
    """Keep a file for a block in which no handle has it open or opens it. Raise StoreBusy where one has."""
    with _TypedErrors(path):
        file = apsw.VFSFile(system_vfs(), str(path), [_AS_MAIN, 0])
        try:
            for lock in (apsw.SQLITE_LOCK_SHARED, apsw.SQLITE_LOCK_RESERVED, apsw.SQLITE_LOCK_EXCLUSIVE):
                file.xLock(lock)
        except apsw.BusyError as error:
            file.xClose()
            raise StoreBusy(f"{str(path)!r} is open; close it in every process, and repeat the call") from error
        except BaseException:
            file.xClose()
            raise
    try:
        yield
    finally:
        with _TypedErrors(path):
            file.xUnlock(apsw.SQLITE_LOCK_NONE)
            file.xClose()


def is_database(path: Path) -> bool:
    """Return whether a path holds a SQLite database of any program. Raise StoreError where it cannot be read."""
    if kind_of(path) != "file":
        return False
    header = read_header(path)
    return header[: len(MAGIC)] == MAGIC or is_encrypted_header(header)


def check_readable(path: Path) -> None:
    """Raise StoreError for a database, its log or the log's index: only SQLite may open them.

    Closing a descriptor of our own would drop the locks that handles of this process hold on them (`read_header`).
    """
    name = str(path)
    whose = Path(name.removesuffix("-wal").removesuffix("-shm"))
    if is_database(whose):
        what = "a SQLite database" if whose == path else "part of a SQLite database"
        raise StoreError(f"{name!r} is {what}, which is not read so; give the path of a text file")


def check_replaceable(path: Path) -> None:
    """Raise StoreError for a path at which no other file may be written: a database, a folder, a pipe, a companion."""
    check_target(path)
    if is_database(path):
        raise StoreError(f"{str(path)!r} is a SQLite database, which is never replaced; give another path")


def _check_runtime() -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < _SAFE_SQLITE:
        raise StoreError(
            f"SQLite {apsw.sqlite_lib_version()} can lose committed turns; evimem needs "
            f"{'.'.join(map(str, _SAFE_SQLITE))} or later: pip install --upgrade apsw"
        )


def _copy_database(db: apsw.Connection, target: Path, key: Key | None) -> None:
    """Copy the state of a handle into a new file, which is encrypted with a key where there is one."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    with closing(open_handle(str(target), flags, None, key)) as copy:
        copy.execute("PRAGMA journal_mode=OFF")  # no journal: a copy that is not finished is worthless
        with copy.backup("main", db, "main") as job:
            while not job.done:
                job.step(1000)
        # One file, without companions, until it is opened.
        copy.execute("PRAGMA journal_mode=DELETE").fetchall()
        note_closed(copy)


def _check_key(db: apsw.Connection, path: Path) -> None:
    """Raise WrongKey where a key does not open a file, NotAMemory where it opens that of another program."""
    try:
        found = db.pragma("application_id") if db.pragma("page_count") else APPLICATION_ID
    except apsw.NotADBError as error:
        db.close()
        raise WrongKey(f"{str(path)!r} is encrypted with another key, or its first page is damaged") from error
    if found != APPLICATION_ID:
        db.close()
        raise NotAMemory(f"{str(path)!r} is not an evimem memory; give the path of one, or of a new file")


def _check_settings(db: apsw.Connection, path: str) -> None:
    mode, sync = db.pragma("journal_mode"), db.pragma("synchronous")
    if (mode, sync) != ("wal", 2):
        db.close()
        raise StoreError(
            f"{path!r} opened with journal_mode={mode!r}, synchronous={sync!r}; expected 'wal' and 2 "
            "(network file systems cannot give it: keep the memory on a local disk)"
        )


class _TypedErrors:
    """Turns SQLite's errors into evimem's, with the path and a remedy; refuses to go on in a child of a fork.

    There, the lock may be held by a thread that the child does not have. It holds nothing itself, so that a signal
    handler may raise anywhere in it.
    """

    __slots__ = ("_path", "_pid")

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._pid = os.getpid()

    @property
    def in_its_process(self) -> bool:
        """Whether this is the process that opened the handle, and not a child of a fork."""
        return self._pid == os.getpid()

    def __enter__(self) -> None:
        if self._pid != os.getpid():
            raise StoreClosed(f"{self._path!r} was opened before a fork; open it again in the child process")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error):
            raise _typed_error(error, self._path) from error


def _typed_error(error: apsw.Error, path: str) -> StoreError:
    code = getattr(error, "extendedresult", 0)
    if isinstance(error, apsw.FullError) or code in _NO_ROOM:
        return DiskFull(f"no room to write {path!r} ({error}); nothing of this call was kept: free space and repeat it")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{path!r} stayed locked by another process ({error}); nothing was written: repeat the call")
    if isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)):
        return StoreReadOnly(f"{path!r} cannot be opened for writing ({error}); check the folder and its permissions")
    if isinstance(error, apsw.NotADBError):
        return NotAMemory(f"{path!r} is not an evimem memory ({error}); give the path of one, or of a new file")
    if isinstance(error, apsw.CorruptError) or "malformed JSON" in str(error):  # stored metadata is always whole
        return StoreCorrupt(f"{path!r} is damaged ({error}); run `evimem doctor`, or restore a backup")
    return StoreError(f"{path!r} could not be used: {type(error).__name__}: {error}")
