"""The one place where SQL meets SQLite: a connection with the pragmas that durability needs, and typed errors."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import apsw

from ..errors import (
    UNREADABLE,
    DiskFull,
    NotAMemory,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreRolledBack,
)
from .atomic_files import changing, create_private
from .page_slack import MOST_PAGES, left_behind

APPLICATION_ID = 0x65766D6D  # "evmm": what tells a memory from any other SQLite file

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
_PRAGMAS_TO_READ = ("PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON")
_AS_MAIN = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
_AS_MAIN_TO_READ = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
_HEADER_SIZE = 100  # bytes
_AT_ONCE = 2048  # pages read at once
_LONGEST_NAP = 0.004  # seconds between two attempts at a lock that another process holds
_NO_ROOM = {apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_TRUNCATE}  # a file-size limit shows as a failed write


class Connection:
    """One SQLite handle behind one lock: safe to share between threads, refused after a fork.

    After an input or output error the handle is dropped and opened again, because what SQLite holds in memory may
    then differ from what is on disk. Until `trust`, closing leaves the file and its log as they were found.

    A missing file is created, for its owner alone. With `readonly` it must be there, and SQLite cannot change it.
    """

    def __init__(
        self, path: Path, *, vfs: str | None = None, busy_seconds: float = 5.0, readonly: bool = False
    ) -> None:
        self.path = path
        self._vfs = vfs
        self._readonly = readonly
        self._busy = busy_seconds
        self._patience = 0.0
        self._lock = threading.RLock()
        self._depth = 0
        self._closed = False
        self._suspect = False
        self._trusted = False
        self._place: tuple[int, int] | None = None
        self._mine = _Mine(self._lock, path)
        _check_runtime()
        if not readonly:
            with changing(repr(str(path)), "nothing was opened"):
                create_private(path)
        with self._mine:
            self._db = self._open()

    @property
    def usable(self) -> bool:
        """Whether the handle is open, belongs to this process, and its file lies where it lay."""
        return not self._closed and self._mine.in_its_process and self._found() == self._place

    def trust(self) -> None:
        """Take the file for what it should be: from now on its log is moved into it when the last handle closes."""
        with self._mine:
            self._trusted = True
            self._handle().config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[Any]:
        """Return every row of a query."""
        with self._mine:
            return self._handle().execute(sql, args).fetchall()

    def value(self, sql: str, args: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        with self._mine:
            row = self._handle().execute(sql, args).fetchone()
            return None if row is None else row[0]

    def execute(self, sql: str, args: Sequence[Any] = ()) -> int:
        """Run one statement; return the rowid of the last insert."""
        with self._mine:
            db = self._handle()
            db.execute(sql, args)
            return db.last_insert_rowid()

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        with self._mine:
            self._handle().executemany(sql, rows)

    def patch(self, table: str, column: str, rowid: int, pieces: Iterable[tuple[int, bytes]]) -> None:
        """Overwrite parts of a BLOB in place, each at its offset; SQLite finds its way through a long one only once."""
        with (
            self._mine,
            self._handle().blob_open("main", table, column, rowid, writeable=True) as blob,
        ):
            for offset, data in pieces:
                blob.seek(offset)
                blob.write(data)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock of the file for a block that is kept whole or not at all."""
        with self.decoding(), self._transaction("BEGIN IMMEDIATE"):
            self._check_place()  # under the lock, which `remove` holds too
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """See one state of the file throughout a block, in which nothing can be written unless a write is around it."""
        with self._mine:
            within = self._depth > 0
            with self.decoding(), self._transaction("BEGIN"):
                if within:
                    yield
                    return
                self._db.execute("PRAGMA query_only=ON")
                try:
                    yield
                finally:
                    self._db.execute("PRAGMA query_only=OFF")

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Let what cannot be read as it was written be StoreCorrupt, whatever its reader stumbled over."""
        try:
            yield
        except UnicodeError:
            raise StoreCorrupt(self._unreadable("text that is not UTF-8")) from None  # the cause would quote the text
        except UNREADABLE as error:
            raise StoreCorrupt(self._unreadable(f"what raised {type(error).__name__} when it was read")) from error

    def checkpoint(self, *, wait: bool = True) -> bool:
        """Move the log into the file and empty it; return False while another reader still needs it."""
        with self._mine:
            kept, self._busy = self._busy, self._busy if wait else 0.0
            try:
                busy, _, _ = next(self._handle().execute("PRAGMA wal_checkpoint(TRUNCATE)"))
            finally:
                self._busy = kept
            return not busy

    def blank(self) -> bool:
        """Overwrite what moving rows has left in unused parts of pages; return False where the log is not empty.

        Inside `writing`, after `checkpoint`: all that is true then stands in the file, and nobody else changes it.
        Other handles read their pages anew after the next commit, which must follow.
        """
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.exists() and log.stat().st_size:
            return False
        with self._mine:
            db = self._handle()
            size, count = db.pragma("page_size"), db.pragma("page_count")
            # Through SQLite's VFS, as in `read_header`: a descriptor of our own would drop the locks of this process.
            file = apsw.VFSFile(self._vfs or "", str(self.path), [_AS_MAIN, 0])
            try:
                found = list(_left_behind(file, size, min(count, MOST_PAGES)))
                for start, end in found:
                    file.xWrite(bytes(end - start), start)
                if found:
                    file.xSync(apsw.SQLITE_SYNC_NORMAL)
                    db.release_memory()  # else this handle would write back what it has read before
            finally:
                file.xClose()
        return True

    def backup_to(self, target: Path) -> None:
        """Copy a consistent state into a new file."""
        with self._mine:
            copy = apsw.Connection(str(target))
            try:
                copy.execute("PRAGMA journal_mode=OFF")  # nothing but the file itself, which is worth nothing half done
                with copy.backup("main", self._handle(), "main") as job:
                    while not job.done:
                        job.step(1000)
                # One file, without companions, until it is opened.
                copy.execute("PRAGMA journal_mode=DELETE").fetchall()
            finally:
                copy.close()

    def remove(self) -> bool:
        """Delete the file and its log, and close the handle; return False, and do neither, while there is another."""
        with self._mine:
            db = self._handle()
            try:
                alone: bool = db.pragma("journal_mode", "DELETE") == "delete"  # needs every other handle to be closed
                if alone:
                    db.execute("BEGIN EXCLUSIVE")  # whoever opens it now waits, and then finds that it is gone
            except apsw.BusyError:
                return False
            if alone:
                self._check_place()
                self.path.unlink()
                self.close()
            return alone

    def close(self) -> None:
        """Close the handle; a second call does nothing."""
        if not self._mine.in_its_process:
            return  # it is the parent's to close
        with self._lock:
            if not self._closed:
                with self._mine:
                    self._db.close()
            self._closed = True

    def _open(self) -> apsw.Connection:
        if self._place is not None:
            self._check_place()  # opened again: there must be the file that was open
        before = self._place or self._found()
        flags = apsw.SQLITE_OPEN_READONLY if self._readonly else apsw.SQLITE_OPEN_READWRITE
        db = apsw.Connection(str(self.path), flags=flags, vfs=self._vfs)
        db.set_busy_handler(self._wait)
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(not self._trusted))
        if self._readonly:
            for pragma in _PRAGMAS_TO_READ:
                db.execute(pragma).fetchall()
            self._place = before
            return db
        if db.readonly("main"):
            db.close()
            raise StoreReadOnly(f"{str(self.path)!r} can be read but not written; check its permissions")
        if not db.pragma("page_count"):  # a new file: it says what it is before it holds anything
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        for pragma in _PRAGMAS:
            db.execute(pragma).fetchall()  # to its end: the mode is said before the change to it is on disk
        _check_settings(db, str(self.path))
        self._place = before or self._found()
        self._check_place()
        return db

    def _wait(self, attempts: int) -> bool:
        """Nap, and say whether to try for the lock again.

        SQLite's own timeout naps longer and longer, so that under many writers an unlucky one hardly ever asks while
        the lock is free, and fails; short naps of random length give each the same chance.
        """
        if attempts == 0:
            self._patience = time.monotonic() + self._busy
        time.sleep(random.uniform(0.0, _LONGEST_NAP))
        return time.monotonic() < self._patience

    def _check_place(self) -> None:
        """Raise StoreRolledBack where the file was deleted or exchanged: what is written now would be lost with it."""
        found = self._found()
        if found is None:
            raise StoreRolledBack(f"{str(self.path)!r} was taken away while it was open; put it back")
        if found != self._place:
            raise StoreRolledBack(f"{str(self.path)!r} was exchanged while it was open; close it and open it anew")

    def _found(self) -> tuple[int, int] | None:
        """Return which file lies at the path, if one does."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return (found.st_dev, found.st_ino)

    def _unreadable(self, what: str) -> str:
        return f"{str(self.path)!r} holds {what}; run `evimem doctor`, or restore a backup"

    def _handle(self) -> apsw.Connection:
        if self._closed:
            raise StoreClosed(f"{str(self.path)!r} is closed; open it again")
        if self._suspect and self._depth == 0:
            self._db.close()
            self._db = self._open()
            self._suspect = False  # not before: where opening fails too, the next call tries again
        return self._db

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._mine:
            if self._depth:  # one state throughout: an inner block joins the outer one
                yield
                return
            self._handle().execute(begin)
            self._depth += 1
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException as error:
                reasons = (error, error.__cause__)
                self._suspect = any(isinstance(one, (apsw.IOError, apsw.CorruptError, StoreCorrupt)) for one in reasons)
                if self._db.in_transaction:
                    self._rollback()
                raise
            finally:
                self._depth -= 1

    def _rollback(self) -> None:
        try:
            self._db.execute("ROLLBACK")
        except apsw.Error:
            self._suspect = True  # the handle is dropped at its next use, which rolls back


def _left_behind(file: apsw.VFSFile, size: int, count: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count * size, _AT_ONCE * size):
        wanted = min(_AT_ONCE * size, count * size - first)
        pages = file.xRead(wanted, first)
        if len(pages) != wanted:  # what cannot be seen whole is not touched
            raise apsw.IOError(f"{len(pages)} bytes read at {first}, expected {wanted}")
        yield from ((first + start, first + end) for start, end in left_behind(pages, size, first))


def read_header(path: Path, vfs: str | None = None) -> bytes:
    """Return the first bytes of a regular file, at most 100, and change nothing. Raise StoreError.

    They are read through SQLite, which keeps a descriptor open while a handle of this process holds locks on the file:
    closing one of our own would drop those locks (fcntl(2): they belong to the process), and another process could
    then reset the log under that handle.
    """
    try:
        file = apsw.VFSFile(vfs or "", str(path.resolve()), [_AS_MAIN_TO_READ, 0])  # SQLite opens no symbolic link
        try:
            return bytes(file.xRead(_HEADER_SIZE, 0))
        finally:
            file.xClose()
    except apsw.Error as error:
        raise _typed(error, str(path)) from error


def _check_runtime() -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < _SAFE_SQLITE:
        raise StoreError(
            f"SQLite {apsw.sqlite_lib_version()} can lose committed turns; evimem needs "
            f"{'.'.join(map(str, _SAFE_SQLITE))} or later: pip install --upgrade apsw"
        )


def _check_settings(db: apsw.Connection, path: str) -> None:
    mode, sync = db.pragma("journal_mode"), db.pragma("synchronous")
    if (mode, sync) != ("wal", 2):
        db.close()
        raise StoreError(
            f"{path!r} opened with journal_mode={mode!r}, synchronous={sync!r}; expected 'wal' and 2 "
            "(network file systems cannot give it: keep the memory on a local disk)"
        )


class _Mine:
    """Holds the lock of a handle, and turns SQLite's errors into evimem's, with the path and what to do.

    In a child of a fork, where nobody would ever give the lock back, it says so instead. A class, and one, because it
    wraps every statement.
    """

    __slots__ = ("_acquire", "_path", "_pid", "_release")

    def __init__(self, lock: threading.RLock, path: Path) -> None:
        self._acquire, self._release = lock.acquire, lock.release
        self._path = str(path)
        self._pid = os.getpid()

    @property
    def in_its_process(self) -> bool:
        """Whether this is the process that opened the handle, and not a child of a fork."""
        return self._pid == os.getpid()

    def __enter__(self) -> None:
        if self._pid != os.getpid():
            raise StoreClosed(f"{self._path!r} was opened before a fork; open it again in the child process")
        self._acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()
        if isinstance(error, apsw.Error):
            raise _typed(error, self._path) from error


def _typed(error: apsw.Error, path: str) -> StoreError:
    code = getattr(error, "extendedresult", 0)
    if isinstance(error, apsw.FullError) or code in _NO_ROOM:
        return DiskFull(f"no room to write {path!r} ({error}); nothing of this call was kept: free space and repeat it")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{path!r} stayed locked by another process ({error}); nothing was written: repeat the call")
    if isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)):
        return StoreReadOnly(f"{path!r} cannot be opened for writing ({error}); check the folder and its permissions")
    if isinstance(error, apsw.NotADBError):
        return NotAMemory(f"{path!r} is not an evimem memory ({error}); give the path of one, or of a new file")
    if isinstance(error, apsw.CorruptError):
        return StoreCorrupt(f"{path!r} is damaged ({error}); run `evimem doctor`, or restore a backup")
    return StoreError(f"{path!r} could not be used: {type(error).__name__}: {error}")
