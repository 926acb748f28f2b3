"""An HNSW index in one file next to its memory: a cache that is used only after its checksum was verified.

magic | length of the header | header (JSON) | length of the graph | blake2b of header and graph | graph
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from ..db.atomic_files import open_regular, replace_with
from ..errors import StoreError
from .hnsw import HnswIndex, Rows, SearchWidth

_LOG = logging.getLogger("evimem")
_MAGIC = b"evimANN\x01"
_START = struct.Struct("<8sI")
_CHECKSUM = struct.Struct("<Q32s")
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an index. `store` must change whenever the memory reassigns its positions."""

    store: str
    embedder: str
    dimension: int


def _description(origin: Origin, kind: str) -> dict[str, Any]:
    """Return the origin in the header of an index."""
    named = {"store": origin.store, "embedder": origin.embedder, "dimension": origin.dimension}
    # The version of the file format.
    return {"version": 1, **named, "kind": kind}


def save(path: Path, index: HnswIndex, origin: Origin) -> None:
    """Write an index so that after a crash either the old file or the new one is there, whole.

    Raise StoreError, and keep the old one, where a graph takes more room than its vectors and links can.
    """
    sizes = {"count": len(index), "ef": index.effort.ef, "measured_at": index.effort.size}
    header = orjson.dumps({**_description(origin, index.kind), **sizes})
    with replace_with(path, like=path.with_suffix("")) as file:  # the permissions of the memory
        file.write(_START.pack(_MAGIC, len(header)) + header)
        checksum_at = file.tell()
        file.write(bytes(_CHECKSUM.size))
        graph = _Digested(file, hashlib.blake2b(header, digest_size=32), most_bytes(len(index), origin.dimension))
        blocks = io.BufferedWriter(graph, _BLOCK_BYTES)  # of the many small writes of a library
        index.save(blocks)
        blocks.flush()
        file.seek(checksum_at)
        file.write(_CHECKSUM.pack(graph.length, graph.digest.digest()))


def load(path: Path, origin: Origin, positions: int, exact: Rows) -> HnswIndex | None:
    """Load the ANN file of a memory with so many positions if its origin matches; the newest may be missing from it.

    Return None where there is none, or anything is wrong with it, which is logged: it is then built from the store.
    """
    try:
        with open_regular(path) as file:
            return _read(file, origin, positions, exact)
    except FileNotFoundError:
        return None
    except (_Unusable, OSError) as error:
        why = (error.strerror or type(error).__name__) if isinstance(error, OSError) else error
        _LOG.warning("the vector index was not used, and enrich() builds it again: %s", why)
        return None


def most_bytes(vectors: int, dimension: int) -> int:
    """Return the size limit of a graph in bytes: twice float32 vectors with some 50 links each."""
    return 65_536 + vectors * (8 * dimension + 1_024)


class _Unusable(Exception):
    """The file is not an index for this memory."""


def _read(file: BinaryIO, origin: Origin, positions: int, exact: Rows) -> HnswIndex:
    header = _read_header(file)
    index = HnswIndex(origin.dimension, exact)
    for name, value in _description(origin, index.kind).items():
        if header.get(name) != value:
            raise _Unusable(f"its {name} is another")
    try:
        index.load(cast("BinaryIO", _GraphReader(file)), SearchWidth(header["ef"], header["measured_at"]))
    except Exception as error:  # whatever a library raises, the index is built again
        raise _Unusable(f"{index.kind} could not read it: {error!r}") from error
    found = index.positions()
    if len(found) != header["count"] or found.max(initial=-1) >= positions:
        raise _Unusable(
            f"it holds {len(found)} vectors up to position {found.max(initial=-1)}, "
            f"expected {header['count']!r} below {positions}"
        )
    return index


def _read_header(file: BinaryIO) -> dict[str, Any]:
    """Verify the whole file, and leave it positioned where the graph begins."""
    start = file.read(_START.size)
    if len(start) < _START.size:
        raise _Unusable("it is cut short")
    magic, length = _START.unpack(start)
    # A longer header is no header of this format.
    if magic != _MAGIC or length > (64 * 1024):
        raise _Unusable("it is not an index")
    header = file.read(length)
    checksum = file.read(_CHECKSUM.size)
    if len(header) < length or len(checksum) < _CHECKSUM.size:
        raise _Unusable("it is cut short")
    size, expected = _CHECKSUM.unpack(checksum)
    begin = file.tell()
    if os.fstat(file.fileno()).st_size != begin + size:
        raise _Unusable(f"its graph has {os.fstat(file.fileno()).st_size - begin} bytes, expected {size}")
    digest = hashlib.blake2b(header, digest_size=32)
    while block := file.read(_BLOCK_BYTES):
        digest.update(block)
    if digest.digest() != expected:
        raise _Unusable("its checksum is wrong")
    file.seek(begin)
    fields: dict[str, Any] = orjson.loads(header)
    return fields


class _Digested(io.RawIOBase):
    """A file to which a graph is written, from its start to its end, with its digest so far."""

    def __init__(self, file: BinaryIO, digest: Any, most: int) -> None:
        self.name = file.name
        self.digest = digest
        self.length = 0
        self._most = most
        self._file = file

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.length

    def write(self, data: Any) -> int:
        self.length += len(data)
        if self.length > self._most:
            what = f"the vector index {self.name!r} grew beyond {self._most} bytes, more than its vectors need"
            raise StoreError(f"{what}; it was not kept, and search goes on without it: run enrich() again")
        self.digest.update(data)
        return self._file.write(data)


class _GraphReader:
    """A file from its present position to its end, as if it began there."""

    def __init__(self, file: BinaryIO) -> None:
        self.name = file.name
        self._file = file
        self._begin = file.tell()

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def tell(self) -> int:
        return self._file.tell() - self._begin

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset + self._begin if whence == 0 else offset, whence) - self._begin
