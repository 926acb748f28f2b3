"""Putting a backup in the place of a memory, whatever lies beside it: the log of a killed process, a mark, an index."""

from __future__ import annotations

import os
import re
import time
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from ..db.atomic_files import (
    check_target,
    create_temporary,
    delete_stale_temporaries,
    kind_of,
    sync_folder,
    translate_os_errors,
)
from ..db.connection import Connection, lock_exclusively
from ..db.encryption import Key
from ..errors import InvalidQuery, StoreError
from ..raw.commit_mark import CommitMark, read_mark, write_mark
from ..raw.turn_log import RawLog
from .erase import forget_where
from .handle import StoreHandle
from .nearest import MIN_ROWS, AnnIndexCache
from .open_file import open_checked, open_copy, resolve_memory_path


@dataclass(frozen=True, slots=True)
class Restored:
    """How many turns were put back, how many of the backup's were erased again, and where the replaced file lies.

    None stands for a number that is not known, and for no file.
    """

    turns: int
    forgotten: int | None
    replaced: Path | None


def put_back(backup: Path, target: Path, key: Key | None = None) -> Restored:
    """Put a copy of a backup in the place of a memory that no process has open.

    Turns that the memory had forgotten or replaced since are erased from the copy, where the memory can still be read.
    Its files are set aside. After a crash either the one or the other is opened, or neither until this is repeated.

    Raises:
        InvalidQuery: There is no memory at `backup`, or both paths are those of one file.
        StoreBusy: The memory is open.
        StoreCorrupt: A turn of the backup is not as it was stored.
        StoreError: `target` is another memory, or one of the files cannot be used.
    """
    backup, target = resolve_memory_path(backup), resolve_memory_path(target)
    check_target(target)
    if kind_of(backup) == kind_of(target) == "file" and os.path.samefile(backup, target):
        raise InvalidQuery(f"{str(target)!r} is both the backup and the memory; give the path of the backup first")
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    delete_stale_temporaries(target)
    with closing(open_copy(backup, key)) as copy:
        store = copy.read_meta_value("store") or ""
        _check_same_memory(target, store, backup, key)
        try:
            with (
                translate_os_errors(repr(str(target)), "what is not there yet is put there by the next call"),
                create_temporary(temporary),
            ):
                copy.backup_to(temporary)
                turns, commits, forgotten = _apply_later_erasures(temporary, target, key)
                replaced = _replace_files(temporary, target, CommitMark(store, commits))
        finally:
            for end in ("", "-wal", "-shm", "-journal", ".ann", ".ann.json", ".mark"):
                temporary.with_name(temporary.name + end).unlink(missing_ok=True)
    return Restored(turns, forgotten, replaced)


def _check_same_memory(target: Path, store: str, backup: Path, key: Key | None) -> None:
    """Raise StoreError where the files at the target are known to be of another memory than the backup."""
    mark = read_mark(target)
    other = mark.store if mark else None
    if other is None and kind_of(target) == "file" and target.stat().st_size:
        try:
            with closing(Connection(target, readonly=True, key=key)) as db:
                other = db.read_meta_value("store")
        except StoreError:
            return  # too damaged to say; it is set aside
    if other not in (None, store):
        raise StoreError(
            f"{str(target)!r} is another memory than {backup.name!r} is a copy of; nothing was changed: give the path "
            "of that memory, or move the files of this one away first"
        )


def _apply_later_erasures(temporary: Path, target: Path, key: Key | None) -> tuple[int, int, int | None]:
    """Erase from a copy the turns erased in the memory that it replaces; return its turns, its commits, the erased."""
    with closing(open_checked(temporary, None, 5.0, key)) as db:
        found = db.read_meta("embedder", "dimension", "segment")
        known = AnnIndexCache(temporary, MIN_ROWS)
        handle = StoreHandle(db, int(found["dimension"]), int(found["segment"]), time.time, known)
        with handle.writing():
            handle.identify(found["embedder"], None, None, None)
        forgotten: int | None = None
        if kind_of(target) == "file":
            with suppress(StoreError, InvalidQuery):  # nothing can be read of it
                forgotten = forget_where(handle, as_in=target).turns
        turns = sum(len(page) for page in RawLog(db).read_pages())  # reads each, and refuses one that is damaged
        return turns, int(db.read_meta_value("commits") or 0), forgotten


def _replace_files(temporary: Path, target: Path, mark: CommitMark) -> Path | None:
    """Set the files of the target aside and put the new file there.

    The mark stays until the last step: a process that opens the path in between refuses the file.
    """
    log = target.with_name(f"{target.name}-wal")
    there = kind_of(target) == "file"
    if not there and kind_of(log) != "file":
        temporary.replace(target)
        write_mark(target, mark)
        return None
    with lock_exclusively(target) if there else nullcontext():
        old = read_mark(target) or mark
        write_mark(target, old)
        aside = _free_aside_path(target)
        if there:
            target.replace(aside)
        if kind_of(log) == "file":
            log.replace(aside.with_name(f"{aside.name}-wal"))
        write_mark(aside, old)
        for end in ("-shm", ".ann", ".ann.json"):  # made anew; that of forgotten turns is not kept
            target.with_name(target.name + end).unlink(missing_ok=True)
        sync_folder(target.parent)
        temporary.replace(target)
        write_mark(target, mark)
    return aside


def _free_aside_path(target: Path) -> Path:
    """Return the next free name; where a call was killed between file and log, the name that the file was given."""
    form = re.compile(rf"{re.escape(target.name)}\.replaced-([1-9][0-9]*)")
    taken = [int(found[1]) for one in target.parent.iterdir() if (found := form.fullmatch(one.name))]
    return target.with_name(f"{target.name}.replaced-{max(taken, default=0) + target.exists() or 1}")
