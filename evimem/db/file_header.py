"""What the first bytes of a file say: whether it is a SQLite database, and whether it is a memory."""

from __future__ import annotations

from pathlib import Path

from ..errors import StoreError
from .atomic_files import check_target, kind_of
from .connection import APPLICATION_ID, read_header

_MAGIC = b"SQLite format 3\0"  # the header's fields: sqlite.org/fileformat.html, section 1.3
_LOG, _LOG_INDEX = "-wal", "-shm"  # sqlite.org/wal.html


def is_database(path: Path) -> bool:
    """Return whether a path holds a SQLite database of any program. Raise StoreError where it cannot be read."""
    return kind_of(path) == "file" and read_header(path)[: len(_MAGIC)] == _MAGIC


def check_readable(path: Path) -> None:
    """Raise StoreError for a database, its log or the log's index: only SQLite may open them.

    Closing a descriptor of our own would drop the locks that handles of this process hold on them (`read_header`).
    """
    name = str(path)
    whose = Path(name.removesuffix(_LOG).removesuffix(_LOG_INDEX))
    if is_database(whose):
        what = "a SQLite database" if whose == path else "part of a SQLite database"
        raise StoreError(f"{name!r} is {what}, which is not read so; give the path of a text file")


def check_replaceable(path: Path) -> None:
    """Raise StoreError for a path at which no other file may be written: a database, a folder, a pipe, a companion."""
    check_target(path)
    if is_database(path):
        raise StoreError(f"{str(path)!r} is a SQLite database, which is never replaced; give another path")


def is_memory(header: bytes) -> bool:
    """Return whether a file that begins so is a memory: a SQLite database with our application id."""
    return header[: len(_MAGIC)] == _MAGIC and int.from_bytes(header[68:72], "big") == APPLICATION_ID
