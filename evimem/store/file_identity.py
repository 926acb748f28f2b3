"""What must match between a file and the memory that opens it: embedder, dimension and, in a pool, its owner."""

from __future__ import annotations

from ..errors import DimensionMismatch, EmbedderMismatch, StoreError
from .layers import Layers


def check_identity(layers: Layers, name: str, dimension: int, owner: str | None) -> None:
    """Record embedder, dimension, segment size and owner in a new file; compare them with those of an old one.

    Inside a transaction of the caller.

    Raises:
        EmbedderMismatch: The file was made with an embedder of another name.
        DimensionMismatch: The embedder has the same name and another dimension.
        StoreError: The file belongs to another user of a pool.
    """
    kept, width, owned = (layers.meta(key) for key in ("embedder", "dimension", "owner"))
    if owned != owner and kept is not None and owner is not None:
        raise StoreError(f"{layers.db.name!r} belongs to another user of a pool; put that user's own file back")
    if kept is None or width is None:
        layers.set_meta("embedder", name)
        layers.set_meta("dimension", str(dimension))
        layers.set_meta("segment", str(layers.segments.size))
        if owner is not None:
            layers.set_meta("owner", owner)
    elif kept != name:
        raise EmbedderMismatch(name, kept)
    elif int(width) != dimension:
        raise DimensionMismatch(dimension, int(width))
