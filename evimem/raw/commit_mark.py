"""The high-water mark: a small file next to a memory that shows whether it was rolled back, emptied or replaced."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import orjson

from ..db.atomic_files import is_disk_full, open_regular, replace_with

COMMITS_PER_MARK = 64  # commits between two marks that are synced: a power cut leaves one of the last so many


@dataclass(frozen=True, slots=True)
class CommitMark:
    """The memory that a mark belongs to (`store`, a random id), and how many commits it had at least."""

    store: str
    commits: int


def mark_path(path: Path) -> Path:
    """Return the path of a memory's mark."""
    return path.with_name(path.name + ".mark")


def read_mark(path: Path) -> CommitMark | None:
    """Return the mark of a memory; None where it is missing or torn. Raise OSError where the path is no file."""
    try:
        with open_regular(mark_path(path)) as file:
            # A mark has some hundred bytes.
            raw = file.read(4096)
    except FileNotFoundError:
        return None
    body, _, checksum = raw.rstrip(b"\n").rpartition(b" ")
    if _hash_body(body) != checksum:
        return None  # a torn mark proves nothing; the next commit writes a whole one
    try:
        fields = orjson.loads(body)
        mark = CommitMark(fields["store"], fields["commits"])
    except (ValueError, LookupError, TypeError):
        return None
    return mark if type(mark.store) is str and type(mark.commits) is int else None


def write_mark(path: Path, mark: CommitMark) -> None:
    """Replace the mark of a memory in one step that survives a power cut; overwrite it where there is no room for that.

    A new mark has the permissions of the memory.
    """
    try:
        with replace_with(mark_path(path), like=path) as file:
            file.write(_format_mark(mark))
    except OSError as error:
        if not is_disk_full(error) or not mark_path(path).is_file():
            raise
        _overwrite_mark(mark_path(path), mark)


def raise_mark(path: Path, mark: CommitMark) -> None:
    """Write the mark of a commit where the last one stands, unless that is of a later commit or of another memory.

    It is not synced: it holds against a process that is killed and against other files in the memory's place, and a
    power cut may leave the last one that was. Nothing is raised where it cannot be written, for the next may be.
    """
    with suppress(OSError):
        last = read_mark(path)
        if last is not None and last.store == mark.store and last.commits < mark.commits:
            _overwrite_mark(mark_path(path), mark, synced=False)


def _hash_body(body: bytes) -> bytes:
    return blake2b(body, digest_size=8).hexdigest().encode()


def _format_mark(mark: CommitMark) -> bytes:
    body = orjson.dumps({"store": mark.store, "commits": mark.commits})
    return body + b" " + _hash_body(body) + b"\n"


def _overwrite_mark(path: Path, mark: CommitMark, *, synced: bool = True) -> None:
    """Write a mark where the old one stands. A power cut may tear it, which the checksum shows."""
    with path.open("rb+") as file:
        file.write(_format_mark(mark))
        file.truncate()
        file.flush()
        if synced:
            os.fsync(file.fileno())
