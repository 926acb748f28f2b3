"""Work on a whole memory: rebuild, change of embedder, vector index."""

from __future__ import annotations

from collections.abc import Iterator

from ..protocols import Extractor
from .handle import StoreHandle
from .rebuild import Progress, drop_vectors, rebuild_all
from .user_code import as_callback, unwrap_callback_errors


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
