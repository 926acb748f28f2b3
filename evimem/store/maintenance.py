"""Work on a whole file: rebuild, change of embedder, vector index, traces, removal."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import StoreError
from ..protocols import Extractor
from ..types.trace import Trace
from .handle import StoreHandle
from .open_file import drop_mark
from .rebuild import Progress, drop_vectors, rebuild_all
from .trace_table import insert_trace, read_trace
from .user_code import as_callback, unwrap_callback_errors


def rebuild(handle: StoreHandle, extractor: Extractor, *, reread: bool, progress: Progress) -> None:
    """Derive everything again from the turns in one transaction; see `rebuild_all`."""
    with unwrap_callback_errors(), handle.writing():
        rebuild_all(handle.layers, extractor, reread=reread, progress=as_callback(progress))
    handle.drop_corpus()
    handle.after_commit()


def change_embedder(handle: StoreHandle, name: str, dimension: int) -> None:
    """Switch to another embedder; every vector is queued again."""
    with handle.writing():
        drop_vectors(handle.layers, name, dimension)
        handle.ann.drop()
    handle.drop_corpus()
    handle.after_commit()


def index_vectors(handle: StoreHandle) -> Iterator[int]:
    """Build the vector index of a large memory; yield how many vectors at a time. Searches go on meanwhile."""
    with handle.db.reading():
        corpus, origin = handle.corpus(), handle.ann_origin()
    yield from handle.ann.build(corpus, origin, lambda: handle.ann_origin() == origin)


def keep_trace(handle: StoreHandle, trace: Trace) -> int:
    """Store a trace; return its number."""
    with handle.writing():
        handle.layers.count_commit()
        return insert_trace(handle.layers, trace)


def trace(handle: StoreHandle, number: int | None) -> Trace:
    """Return a stored trace, the newest without a number. Raise InvalidQuery where there is none."""
    with handle.db.reading():
        return read_trace(handle.layers, number)


def remove(handle: StoreHandle) -> bool:
    """Delete the files of an empty memory; see `SqliteStore.remove`."""
    with handle.writing():
        if handle.layers.raw.count():
            raise StoreError(f"{str(handle.db.path)!r} holds turns; forget everything before its files are deleted")
        drop_mark(handle.db.path)  # first: a mark without its file reads as a lost memory
    removed = handle.db.remove()
    if not removed:
        handle.save_mark()
    return removed
