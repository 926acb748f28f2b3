"""An HNSW index on disk: the file that the library writes, and a description beside it, which says whose it is.

It is a cache: it is used only after its checksum, which spans both files, was verified, and is otherwise built again.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ..db.atomic_files import open_regular, replace_with
from .hnsw import HnswIndex, Rows, SearchWidth


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an index. `store` must change whenever the memory reassigns its positions."""

    store: str
    embedder: str
    dimension: int


def save_index(path: Path, index: HnswIndex, origin: Origin) -> None:
    """Write an index, each of its files so that after a crash the old or the new one is there, whole.

    Between the two, the checksum fits neither and the index is built again. Raise OSError, and keep the old graph,
    where there is no room.
    """
    effort = {"ef": index.effort.ef, "measured_at": index.effort.size}
    description = {**asdict(origin), "library": index.library, **effort}
    with replace_with(path, like=path.with_suffix("")) as file:  # the permissions of the memory
        temporary = Path(file.name)
        if index.save(temporary) != temporary.stat().st_size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.name)
        with open_regular(temporary) as graph:
            checksum = _checksum(graph, description)
    with replace_with(description_path(path), like=path) as file:
        file.write(orjson.dumps({**description, "checksum": checksum}))


def load_index(path: Path, origin: Origin, positions: int, exact: Rows) -> HnswIndex | None:
    """Load the index of a memory with so many positions if its origin matches; the newest may be missing from it.

    Return None where there is none, or anything is wrong with it, which is logged: it is then built from the store.
    """
    try:
        with open_regular(path) as graph, open_regular(description_path(path)) as file:
            return _read(graph, file.read(), origin, positions, exact)
    except FileNotFoundError:
        return None
    except (_Unusable, OSError) as error:
        why = (error.strerror or type(error).__name__) if isinstance(error, OSError) else error
        logging.getLogger("evimem").warning("the vector index was not used, and enrich() builds it again: %s", why)
        return None


def description_path(path: Path) -> Path:
    """Return the path of the description of an index."""
    return path.with_name(f"{path.name}.json")


class _Unusable(Exception):
    """The files are not an index for this memory."""


def _read(graph: BinaryIO, described: bytes, origin: Origin, positions: int, exact: Rows) -> HnswIndex:
    try:
        description: dict[str, Any] = orjson.loads(described)
        checksum = description.pop("checksum")
        if _checksum(graph, description) != checksum:
            raise _Unusable("its checksum is wrong")
        index = HnswIndex(origin.dimension, exact, effort=SearchWidth(description["ef"], description["measured_at"]))
        for name, value in {**asdict(origin), "library": index.library}.items():
            if description[name] != value:
                raise _Unusable(f"its {name} is another")
        path = Path(graph.name)
        index.load(path)
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        raise _Unusable(f"it cannot be read: {error!r}") from error
    if not os.path.samestat(os.fstat(graph.fileno()), path.stat()):
        raise _Unusable("another process has just replaced it")
    if (last := index.positions().max(initial=-1)) >= positions:
        raise _Unusable(f"it holds position {last}, expected {positions} positions")
    return index


def _checksum(graph: BinaryIO, description: Mapping[str, Any]) -> str:
    digest = hashlib.blake2b(orjson.dumps(description), digest_size=32)
    while block := graph.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()
