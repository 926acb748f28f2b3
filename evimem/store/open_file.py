"""Opening a memory: is the path a memory, is the file whole, and is it the one that was closed last?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..db.atomic_files import check_not_companion_name, delete_stale_temporaries, kind_of, translate_os_errors
from ..db.connection import Connection, is_log_of_file, lacks_log, read_header
from ..db.encryption import Key
from ..db.file_format import is_encrypted_header, is_memory_header
from ..db.open_handles import require_free_descriptors
from ..db.schema import MIGRATIONS, count_migrations, migrate
from ..errors import InvalidQuery, NewerSchema, NotAMemory, StoreError, StoreReadOnly, StoreRolledBack, WrongKey
from ..raw.commit_mark import CommitMark, mark_path, read_mark, write_mark

_NO_FILE = ":memory:"  # to SQLite, a database in memory


def resolve_memory_path(path: Path) -> Path:
    """Return where a memory lies: a symbolic link is followed, so that all its names share one log and one mark.

    Raise NotAMemory for a path that is no regular file, such as a folder or a pipe, and StoreError for a name that no
    file can have, one of the files kept beside another memory, or a file with several names (hard links):
    SQLite keeps a log per name, so that a second name would open the file without the commits in the first one's log,
    and damage it. Raise InvalidQuery for ":memory:", which SQLite takes for a database without a file.
    """
    if str(path) == _NO_FILE:
        raise InvalidQuery(
            f"the path is {_NO_FILE!r}; a memory is always a file: for one that goes away, give a path in a folder "
            "that `tempfile.TemporaryDirectory()` makes"
        )
    with translate_os_errors(repr(str(path)), "nothing was opened"):
        kind = kind_of(path)
        names = path.stat().st_nlink if kind == "file" else 1
        found = path.resolve() if path.is_symlink() else path
    if kind not in (None, "file"):
        raise NotAMemory(f"{str(path)!r} is a {kind}; give the path of a memory or of a new file")
    if names > 1:
        raise StoreError(
            f"{str(path)!r} has {names} names (hard links), each with a log of its own, which would damage it; "
            "copy it to a new file with no process using it, and put the copy in its place"
        )
    check_not_companion_name(found)
    return found


def open_checked(path: Path, vfs: str | None, busy_seconds: float, key: Key | None = None) -> Connection:
    """Open or create a memory at a path that `resolve_memory_path` returned.

    Raise StoreRolledBack where its mark says that it held more, NotAMemory for a file of another program. A file that
    is refused stays byte for byte as it was, its log too: they may be all there is to restore from.
    """
    if not path.parent.is_dir():
        raise StoreReadOnly(
            f"the folder {str(path.parent)!r} of the memory {path.name!r} does not exist; create it first"
        )
    db = _connect_checked(
        path, vfs, lambda: Connection(path, vfs=vfs, busy_seconds=busy_seconds, key=key), _migrate, key
    )
    db.mark_verified()
    delete_stale_temporaries(path)
    return db


def _migrate(db: Connection) -> None:
    """Bring the tables up to date; those of a new file stand in it before anything is said, so that a copy of it tells.

    See `lacks_log`.
    """
    is_new = not count_migrations(db)
    migrate(db)
    if is_new:
        db.copy_log_into_file()


def open_copy(path: Path, key: Key | None = None) -> Connection:
    """Open another memory to read it; SQLite cannot change it.

    Raise InvalidQuery where there is no file, and the errors of `open_checked` for a file that is no memory, an empty
    one among them, or that differs from its mark.
    """
    with translate_os_errors(repr(str(path)), "nothing was read"):
        if kind_of(path) != "file":
            raise InvalidQuery(f"there is no memory at {str(path)!r}: {kind_of(path) or 'nothing'} is there")
    return open_read_only(resolve_memory_path(path), None, 5.0, key)


def open_read_only(path: Path, vfs: str | None, busy_seconds: float, key: Key | None = None) -> Connection:
    """Open a memory at a path that `resolve_memory_path` returned; neither it nor the files beside it are changed.

    Raise the errors of `open_checked`, NotAMemory for a missing file too, and StoreReadOnly for the tables of an
    earlier version, which are brought up to date only where they can be written.
    """
    if kind_of(path) != "file" and read_mark(path) is None:
        raise NotAMemory(f"there is no memory at {str(path)!r}, and to read none is made; check the path")

    def connect() -> Connection:
        return Connection(path, vfs=vfs, busy_seconds=busy_seconds, readonly=True, key=key)

    return _connect_checked(path, vfs, connect, _check_schema, key)


def _connect_checked(
    path: Path,
    vfs: str | None,
    connect: Callable[[], Connection],
    prepare: Callable[[Connection], None],
    key: Key | None,
) -> Connection:
    """Connect to a file that is a memory and not older than its mark says."""
    require_free_descriptors(str(path))
    mark = _read_commit_mark(path)
    _check_not_lost(path, mark)
    _check_is_memory(path, vfs, key)
    _check_log(path, vfs, key, mark)
    is_partial = mark is None and kind_of(path) == "file" and path.stat().st_size > 0 and lacks_log(path, vfs, key)
    db = connect()
    db.lacks_log, db.check_state = is_partial, lambda: _check_reopened(db)
    try:
        with db.raise_corrupt_on_decoding_errors():
            if mark is not None:
                _check_mark(db, mark)
            prepare(db)
    except BaseException:
        db.close()
        raise
    return db


def _check_reopened(db: Connection) -> None:
    """Raise StoreRolledBack where an older state or another memory was put in the place of a file while it was idle."""
    if (mark := _read_commit_mark(db.path)) is not None:
        _check_mark(db, mark)


def delete_commit_mark(path: Path) -> None:
    """Delete the mark of a memory that is being deleted, and temporary files of both."""
    mark_path(path).unlink(missing_ok=True)
    delete_stale_temporaries(path)


def describe_oddities(path: Path) -> list[str]:
    """Return the oddities of the files next to a memory that is not open yet; opening it corrects that."""
    if kind_of(path) != "file" or not path.stat().st_size:
        return []
    mark = mark_path(resolve_memory_path(path))
    try:
        if read_mark(resolve_memory_path(path)) is not None:
            return []
        state = "cannot be read" if mark.exists() else "is missing"
    except OSError:
        state = "cannot be read"
    return [f"the mark {mark.name!r} {state}, so that a rollback of the memory would go unnoticed; it is rewritten"]


def write_commit_mark(db: Connection) -> None:
    """Write into the mark which memory this is, and how many of its commits are durable."""
    what = f"{mark_path(db.path).name!r} next to {str(db.path)!r}"
    with (
        db.writing(),
        translate_os_errors(what, "what was committed is kept"),
    ):  # one at a time: the count never goes back
        write_mark(db.path, _current_mark(db))


def _read_commit_mark(path: Path) -> CommitMark | None:
    try:
        return read_mark(path)
    except OSError as error:
        raise StoreReadOnly(
            f"the mark {mark_path(path).name!r} next to {str(path)!r} cannot be read ({error}); make it readable, or "
            "move it away"
        ) from error


def _check_not_lost(path: Path, mark: CommitMark | None) -> None:
    """Raise StoreRolledBack for a missing or empty file whose mark or log says that it held something."""
    if path.exists() and path.stat().st_size:
        return
    state = "is empty" if path.exists() else "is missing"
    log = path.with_name(f"{path.name}-wal")
    if mark is not None:
        raise StoreRolledBack(f"{str(path)!r} {state} but held {mark.commits} commits; {_restore_advice(path)}")
    if log.exists() and log.stat().st_size:
        raise StoreRolledBack(f"{str(path)!r} {state} but its log {log.name!r} is not; {_restore_advice(path)}")


def _check_is_memory(path: Path, vfs: str | None, key: Key | None) -> None:
    """Raise NotAMemory for a file that does not begin as a memory does, before SQLite could change a byte of it.

    Raise WrongKey for one that is encrypted where there is no key, or is not where there is one.
    """
    if not path.exists():
        return
    header = read_header(path, vfs)
    # Beside a rollback journal, a memory whose creation was interrupted may have no header yet; SQLite undoes it. The
    # application id is in the first header that is ever written, so that any other id is another program's.
    interrupted = path.with_name(f"{path.name}-journal").exists() and not header.strip(b"\0")
    if is_encrypted_header(header):
        if key is None:
            raise WrongKey(f"{str(path)!r} is encrypted, by its header; give its key with key=, a command EVIMEM_KEY")
        return
    if is_memory_header(header) and key is not None:
        raise WrongKey(f"{str(path)!r} is not encrypted; leave key= out, or copy it: evimem.copy(..., target_key=)")
    if header and not interrupted and not is_memory_header(header):
        raise NotAMemory(f"{str(path)!r} is not an evimem memory; give the path of one, or of a new file")


def _check_log(path: Path, vfs: str | None, key: Key | None, mark: CommitMark | None) -> None:
    """Raise StoreRolledBack for a file beside the log of another memory, or of another state of this one, or a cut one.

    SQLite would serve a mixture of both, and blank pages for those that were cut off. Before it reads a page, and in
    an error of its own where either is unreadable.
    """
    if path.exists() and not is_log_of_file(path, vfs, key, None if mark is None else mark.store):
        log = f"{path.name}-wal"
        raise StoreRolledBack(
            f"{str(path)!r} was cut, or lies beside the log {log!r} of another state or another memory; nothing was "
            "changed: put back the file that the log belongs to, or, for a backup to take its place, run `evimem "
            f"restore BACKUP {path.name}`"
        )


def _current_mark(db: Connection) -> CommitMark:
    values = db.read_meta("store", "commits")
    return CommitMark(values["store"], int(values["commits"]))


def _check_mark(db: Connection, mark: CommitMark) -> None:
    """Raise StoreRolledBack for another memory than the mark's, or for one with fewer commits."""
    if not count_migrations(db):
        raise StoreRolledBack(
            f"{str(db.path)!r} holds nothing but held {mark.commits} commits; {_restore_advice(db.path)}"
        )
    now = _current_mark(db)
    if now.store != mark.store:
        raise StoreRolledBack(
            f"{str(db.path)!r} is another memory than the one that its mark belongs to; {_restore_advice(db.path)}"
        )
    if now.commits < mark.commits:
        raise StoreRolledBack(
            f"{str(db.path)!r} is older than it was: {now.commits} commits of at least {mark.commits}; "
            f"{_restore_advice(db.path)}"
        )


def _check_schema(db: Connection) -> None:
    """Raise NewerSchema for a later schema than is known here, NotAMemory for none."""
    found = count_migrations(db)
    if not found:
        raise NotAMemory(f"{str(db.path)!r} is a memory without tables yet; give the path of one that was used")
    if found > len(MIGRATIONS):
        raise NewerSchema(str(db.path), found, len(MIGRATIONS))
    if found < len(MIGRATIONS):
        raise StoreReadOnly(
            f"{str(db.path)!r} was written by an earlier version (schema {found}, this one reads {len(MIGRATIONS)}); "
            "open it once where it can be written"
        )


def _restore_advice(path: Path) -> str:
    mark = mark_path(path).name
    return (
        "put the file (and its -wal) back, or put a backup in its place: `evimem restore BACKUP "
        f"{path.name}`; if this is what you want, delete {mark!r}"
    )
