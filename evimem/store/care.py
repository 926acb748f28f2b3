"""Work on a whole file: rebuild, change of embedder, vector index, backup, removal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..db.atomic_files import changing, check_target, claim, sweep, sync_folder
from ..errors import StoreBusy, StoreError
from ..protocols import Extractor
from .handle import StoreHandle
from .open_file import drop_mark
from .rebuild import Progress, drop_vectors, rebuild_all
from .user_code import as_callback, unwrap_callback_errors

_COMPANIONS = ("-wal", "-shm", "-journal")  # files that SQLite may leave next to a database


def rebuild(
    handle: StoreHandle, extractor: Extractor, *, reread: bool = False, progress: Progress = lambda turns: None
) -> None:
    """See `Keeper.rebuild`."""
    with unwrap_callback_errors(), handle.writing():
        rebuild_all(handle.layers, extractor, reread=reread, progress=as_callback(progress))
    handle.drop_corpus()
    handle.after_commit()


def change_embedder(handle: StoreHandle, name: str, dimension: int) -> None:
    """See `Keeper.change_embedder`."""
    with handle.writing():
        drop_vectors(handle.layers, name, dimension)
        handle.ann.drop()
    handle.drop_corpus()
    handle.after_commit()


def index_vectors(handle: StoreHandle) -> Iterator[int]:
    """See `Keeper.index_vectors`."""
    with handle.db.reading():
        corpus, origin = handle.corpus(), handle.ann_origin()
    yield from handle.ann.build(corpus, origin, lambda: handle.ann_origin() == origin)


def remove(handle: StoreHandle) -> bool:
    """See `Keeper.remove`."""
    try:
        with handle.writing():
            if handle.layers.raw.count():
                raise StoreError(f"{str(handle.db.path)!r} holds turns; forget everything before its files are deleted")
            drop_mark(handle.db.path)  # first: a mark without its file reads as a lost memory
    except StoreBusy:  # another handle writes
        return False
    removed = handle.db.remove()
    if not removed:
        handle.save_mark()
    return removed


def backup(handle: StoreHandle, target: Path) -> None:
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
            handle.db.backup_to(temporary)
        with changing(repr(str(target)), "there is no backup"):
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(target)
    finally:
        for leftover in (temporary, *(temporary.with_name(temporary.name + end) for end in _COMPANIONS)):
            leftover.unlink(missing_ok=True)
    sync_folder(target.parent)
