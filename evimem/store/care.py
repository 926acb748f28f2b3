"""Work on a whole memory: rebuild, change of embedder, vector index."""

from __future__ import annotations

from collections.abc import Iterator

from ..protocols import Extractor
from .handle import StoreHandle
from .rebuild import drop_vectors, rebuild_slices
from .writes import Held


def rebuild(handle: StoreHandle, extractor: Extractor, *, reread: bool = False) -> Iterator[int]:
    """See `Keeper.rebuild`."""
    slices, going = rebuild_slices(handle.layers, extractor, reread=reread), True
    while going:
        with handle.writing():
            held, read, rewrote, going = Held(handle.db), 0, False, False
            for turns, changed in slices:
                read, rewrote = read + turns, rewrote or changed
                if going := held.long_enough():
                    break
            handle.layers.count_commit(rewrote=rewrote)
        handle.after_commit()
        handle.db.give_way()
        yield read


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
