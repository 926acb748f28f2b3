"""Opening a memory: is it one, is it whole, is it the one that was closed?"""

from __future__ import annotations

from pathlib import Path

from ..db.atomic_files import changing, sweep
from ..db.connection import APPLICATION_ID, Connection
from ..db.schema import migrate, version
from ..errors import NotAMemory, StoreReadOnly, StoreRolledBack
from ..raw.commit_mark import Mark, mark_path, read_mark, write_mark


def open_checked(path: Path, vfs: str | None, busy_seconds: float) -> Connection:
    """Open or create a memory. Raise StoreRolledBack for one that its mark says held more than it does.

    What is refused is left byte for byte as it was: the file and its log may be all there is to put things right.
    """
    if not path.parent.is_dir():
        raise StoreReadOnly(
            f"the folder {str(path.parent)!r} of the memory {path.name!r} does not exist; create it first"
        )
    mark = read_mark(path)
    _check_there(path, mark)
    _check_ours(path)
    db = Connection(path, vfs=vfs, busy_seconds=busy_seconds)
    try:
        with db.decoding():
            if mark is not None:
                _check(db, mark)
            migrate(db)
    except BaseException:
        db.close()
        raise
    db.trust()
    sweep(path)
    return db


def drop_mark(path: Path) -> None:
    """Delete the mark of a memory that is to be deleted, and what a crash may have left of one."""
    mark_path(path).unlink(missing_ok=True)
    sweep(path)


def notes(path: Path) -> list[str]:
    """Return problems of the files next to a memory that is not open yet; opening it repairs them."""
    if not path.is_file() or not path.stat().st_size or read_mark(path) is not None:
        return []
    mark = mark_path(path)
    state = "cannot be read" if mark.exists() else "is missing"
    return [f"the mark {mark.name!r} {state}, so that a rollback of the memory could not be detected; it is rewritten"]


def save_mark(db: Connection) -> None:
    """Write down how many commits are durable, and in which memory."""
    what = f"{mark_path(db.path).name!r} next to {str(db.path)!r}"
    with db.writing(), changing(what, "what was committed is kept"):  # one at a time, so that the mark never goes back
        write_mark(db.path, _now(db))


def _check_there(path: Path, mark: Mark | None) -> None:
    """Raise StoreRolledBack for a file that is missing or empty where its companions say that it held something."""
    if path.exists() and path.stat().st_size:
        return
    state = "is empty" if path.exists() else "is missing"
    log = path.with_name(f"{path.name}-wal")
    if mark is not None:
        raise StoreRolledBack(f"{str(path)!r} {state} but held {mark.commits} commits; {_cure(path)}")
    if log.exists() and log.stat().st_size:
        raise StoreRolledBack(f"{str(path)!r} {state} but its log {log.name!r} is not; {_cure(path)}")


def _check_ours(path: Path) -> None:
    """Raise NotAMemory for what does not begin as a memory does, before SQLite could change a byte of it."""
    if not path.is_file() or path.with_name(f"{path.name}-journal").exists():
        return  # with a journal, SQLite first undoes what a crash interrupted
    with path.open("rb") as file:
        head = file.read(100)
    if head and (head[:16] != b"SQLite format 3\x00" or int.from_bytes(head[68:72], "big") != APPLICATION_ID):
        raise NotAMemory(f"{str(path)!r} is not an evimem memory; give the path of one, or of a new file")


def _now(db: Connection) -> Mark:
    values = dict(db.rows("SELECT key, value FROM meta WHERE key IN ('store', 'commits')"))
    return Mark(values["store"], int(values["commits"]))


def _check(db: Connection, mark: Mark) -> None:
    if not version(db):
        raise StoreRolledBack(f"{str(db.path)!r} holds nothing but held {mark.commits} commits; {_cure(db.path)}")
    now = _now(db)
    if now.store != mark.store:
        raise StoreRolledBack(
            f"{str(db.path)!r} is another memory than the one that its mark belongs to; {_cure(db.path)}"
        )
    if now.commits < mark.commits:
        raise StoreRolledBack(
            f"{str(db.path)!r} is older than it was: {now.commits} commits of at least {mark.commits}; {_cure(db.path)}"
        )


def _cure(path: Path) -> str:
    mark = mark_path(path).name
    return f"put the file (and its -wal) back, or restore a backup; if this is what you want, delete {mark!r}"
