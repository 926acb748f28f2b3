"""The high-water mark: a small file next to a memory that shows whether it was rolled back, emptied or replaced."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import orjson

from ..db.atomic_files import has_no_room, replace_with

EVERY = 64  # commits between two marks; what is lost inside that window goes undetected


@dataclass(frozen=True, slots=True)
class Mark:
    """The memory that a mark belongs to, and how many commits it had at least."""

    store: str
    commits: int


def mark_path(path: Path) -> Path:
    """Return where the mark of a memory lies."""
    return path.with_name(path.name + ".mark")


def read_mark(path: Path) -> Mark | None:
    """Return the mark of a memory, or None where there is none or it is not readable as one."""
    try:
        raw = mark_path(path).read_bytes()
    except FileNotFoundError:
        return None
    body, _, check = raw.rstrip(b"\n").rpartition(b" ")
    if blake2b(body, digest_size=8).hexdigest().encode() != check:
        return None  # a torn mark proves nothing; the next commit writes a whole one
    fields = orjson.loads(body)
    return Mark(fields["store"], fields["commits"])


def write_mark(path: Path, mark: Mark) -> None:
    """Replace the mark in one step that survives a power cut; where there is no room for that, overwrite it."""
    body = orjson.dumps({"store": mark.store, "commits": mark.commits})
    line = body + b" " + blake2b(body, digest_size=8).hexdigest().encode() + b"\n"
    try:
        with replace_with(mark_path(path)) as file:
            file.write(line)
    except OSError as error:
        if not has_no_room(error) or not mark_path(path).exists():
            raise
        _overwrite(mark_path(path), line)


def _overwrite(path: Path, line: bytes) -> None:
    """Put a line into the room that a file has: torn by a power cut, it proves nothing and is rewritten."""
    with path.open("rb+") as file:
        file.write(line)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
