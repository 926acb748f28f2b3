"""Files that are there whole or not at all; and what the system refuses to do with them, as errors of ours."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import DiskFull, StoreReadOnly

if os.name != "nt":
    import fcntl

_TEMPORARY = (".tmp", ".tmp-wal", ".tmp-shm", ".tmp-journal")
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def has_no_room(error: OSError) -> bool:
    """Return whether it is for want of room that the system refused."""
    return error.errno in _NO_ROOM


@contextmanager
def changing(what: str, kept: str) -> Iterator[None]:
    """Let what the system refuses be DiskFull or StoreReadOnly; `kept` says what the caller's call has come to."""
    try:
        yield
    except OSError as error:
        if has_no_room(error):
            raise DiskFull(f"no room to write {what} ({error}); {kept}: free space") from error
        raise StoreReadOnly(f"{what} cannot be changed ({error}); {kept}: check the folder") from error


@contextmanager
def replace_with(path: Path) -> Iterator[BinaryIO]:
    """Write a file so that after a crash either the old or the new one is there, whole."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with claim(temporary) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def claim(temporary: Path) -> BinaryIO:
    """Open a new file, which `sweep` leaves alone for as long as it is open."""
    while True:
        file = temporary.open("wb")
        _lock(file)
        if temporary.exists():
            return file
        file.close()  # swept away between the two: once more


def sweep(path: Path) -> None:
    """Delete what processes that were killed have left of this file, and of those named after it.

    They may hold text that was erased since. A process that still writes such a file holds a lock on it.
    """
    with os.scandir(path.parent) as entries:
        left = [Path(entry) for entry in entries if entry.name.startswith(f"{path.name}.") and _is_temporary(entry)]
    for file in sorted(left):  # companions of SQLite's after the file that they belong to
        base = file.with_name(f"{file.name.rpartition('.tmp')[0]}.tmp")
        if base != file and base.exists():
            continue
        try:
            with file.open("rb") as handle:
                if _lock(handle):
                    file.unlink()
        except OSError:
            continue  # another process deleted it first, or we lack the permission


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name == "nt":
        return  # Windows has no handle on a folder, and renames there are journalled
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_temporary(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(_TEMPORARY) and entry.is_file(follow_symlinks=False)


def _lock(file: BinaryIO) -> bool:
    """Lock a file, unless another has; return whether it is ours, which it never is where there are no locks."""
    if os.name == "nt":
        return True  # there, no process can delete a file that another has open
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
