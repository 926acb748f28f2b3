"""Copying a memory into a new file while it is in use."""

from __future__ import annotations

import os
from pathlib import Path

from ..db.atomic_files import changing, check_target, claim, sweep, sync_folder
from ..db.connection import Connection
from ..errors import StoreError

_COMPANIONS = ("-wal", "-shm", "-journal")  # files that SQLite may leave next to a database


def write_backup(db: Connection, target: Path) -> None:
    """Copy a memory into a new file that appears under its name only when it is whole and on disk.

    Raises:
        StoreError: The target exists, or is no path of a regular file.
        StoreReadOnly, DiskFull: It cannot be written; no backup is left.
    """
    check_target(target)
    if target.exists():
        raise StoreError(
            f"{str(target)!r} exists already; a backup is never written over another file: give a new path"
        )
    sweep(target)  # temporary files of backups that were killed
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with changing(repr(str(target)), "there is no backup"), claim(temporary):
            db.backup_to(temporary)
        with changing(repr(str(target)), "there is no backup"):
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(target)
    finally:
        for leftover in (temporary, *(temporary.with_name(temporary.name + end) for end in _COMPANIONS)):
            leftover.unlink(missing_ok=True)
    sync_folder(target.parent)
