"""Opening a memory: is it one, is it whole, is it the one that was closed?"""

from __future__ import annotations

from pathlib import Path

from .connection import Connection
from .errors import StoreReadOnly, StoreRolledBack
from .raw.mark import Mark, mark_path, read_mark, write_mark
from .schema import migrate


def open_checked(path: Path, vfs: str | None, busy_seconds: float) -> Connection:
    """Open or create a memory. Raise StoreRolledBack for one that its mark says held more than it does."""
    if not path.parent.is_dir():
        raise StoreReadOnly(
            f"the folder {str(path.parent)!r} of the memory {path.name!r} does not exist; create it first"
        )
    mark = read_mark(path)
    if mark is not None and (not path.exists() or path.stat().st_size == 0):
        state = "is empty" if path.exists() else "is missing"
        raise StoreRolledBack(f"{str(path)!r} {state} but held {mark.commits} commits; {_cure(path)}")
    db = Connection(path, vfs=vfs, busy_seconds=busy_seconds)
    try:
        migrate(db)
        if mark is not None:
            _check(db, mark)
    except BaseException:
        db.close()
        raise
    return db


def save_mark(db: Connection) -> None:
    """Write down how many commits are durable, and in which memory."""
    with db.writing():  # one writer at a time, so that the mark never goes back
        try:
            write_mark(db.path, _now(db))
        except OSError as error:
            raise StoreReadOnly(f"{str(mark_path(db.path))!r} cannot be written ({error}); check the folder") from error


def _now(db: Connection) -> Mark:
    values = dict(db.rows("SELECT key, value FROM meta WHERE key IN ('store', 'commits')"))
    return Mark(values["store"], int(values["commits"]))


def _check(db: Connection, mark: Mark) -> None:
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
