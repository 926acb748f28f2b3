"""HNSW graphs of two libraries: voyager, which has wheels for every platform, and hnswlib, the faster one, an extra."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

import numpy as np
import voyager
from numpy.typing import NDArray

from ..db.atomic_files import claim, temporary_path
from ..db.safe_context import safe_context
from ..types.vectors import Neighbours, Vectors

if TYPE_CHECKING or find_spec("hnswlib"):
    import hnswlib

Positions = NDArray[np.int64]
_GRAPH_LINKS = 24
_EF_CONSTRUCTION = 128
_GRAPH_SEED = 1


class Graph(Protocol):
    """The methods that `HnswIndex` needs of a library. The caller ensures one writer at a time and no reader meanwhile.

    `kind` names the library, its version and how it stores vectors: a saved graph is read by its own kind only.
    """

    @property
    def kind(self) -> str: ...

    def reserve(self, size: int) -> None:
        """Make room for so many vectors ahead of time, half as many again as there are."""
        ...

    def add(self, positions: Positions, vectors: Vectors) -> None: ...

    def search(self, vector: Vectors, k: int, ef: int) -> Neighbours | None:
        """Return k neighbours, or None where the graph does not reach so many."""
        ...

    def positions(self) -> Positions: ...

    def save(self, file: BinaryIO) -> None: ...

    def load(self, file: BinaryIO) -> None:
        """Load the graph that `save` wrote, from the position of the file to its end."""
        ...


def default_graph(dimension: int) -> Graph:
    """Return a graph of hnswlib where it is installed, else of voyager."""
    return HnswlibGraph(dimension) if find_spec("hnswlib") else VoyagerGraph(dimension)


class VoyagerGraph:
    """Stores a byte a value: 0.47 KB a vector of 256 instead of 1.24."""

    def __init__(self, dimension: int, m: int = _GRAPH_LINKS, ef_construction: int = _EF_CONSTRUCTION) -> None:
        self._storage = voyager.StorageDataType.Float8
        self._index = voyager.Index(
            voyager.Space.Cosine, dimension, m, ef_construction, _GRAPH_SEED, storage_data_type=self._storage
        )
        self.kind: str = f"voyager-{version('voyager').split('.')[0]}-{self._storage.name.lower()}"

    def reserve(self, size: int) -> None:
        if size > self._index.max_elements:
            self._index.resize(max(size, self._index.max_elements * 3 // 2))

    def add(self, positions: Positions, vectors: Vectors) -> None:
        self._index.add_items(vectors, positions.tolist(), num_threads=1)  # two threads build another graph each time

    def search(self, vector: Vectors, k: int, ef: int) -> Neighbours | None:
        try:
            positions, distances = self._index.query(vector, k, 1, max(k, ef))
        except voyager.RecallError:
            return None
        return Neighbours(positions.astype(np.int64), np.float32(1) - distances)

    def positions(self) -> Positions:
        return np.sort(np.fromiter(self._index.ids, np.int64, len(self._index)))

    def save(self, file: BinaryIO) -> None:
        self._index.save(file)

    def load(self, file: BinaryIO) -> None:
        self._index = voyager.Index.load(file, voyager.Space.Cosine, self._index.num_dimensions, self._storage)


class HnswlibGraph:
    """Stores float32. hnswlib reads and writes by path only, so a temporary copy lies in the same folder meanwhile.

    A process that is killed leaves it there with the vectors: its name is one that `atomic_files.sweep` knows.
    """

    def __init__(self, dimension: int, m: int = _GRAPH_LINKS, ef_construction: int = _EF_CONSTRUCTION) -> None:
        self._index = hnswlib.Index("ip", dimension)
        self._index.init_index(1024, ef_construction=ef_construction, M=m, random_seed=_GRAPH_SEED)
        self._searching = threading.Lock()
        self.kind: str = f"hnswlib-{version('hnswlib')}-float32"

    def reserve(self, size: int) -> None:
        if size > (room := int(self._index.get_max_elements())):
            self._index.resize_index(max(size, room * 3 // 2))

    def add(self, positions: Positions, vectors: Vectors) -> None:
        self._index.add_items(vectors, positions, num_threads=1)

    def search(self, vector: Vectors, k: int, ef: int) -> Neighbours | None:
        with self._searching:  # hnswlib keeps ef in the index, not in the query
            self._index.set_ef(ef)
            try:
                positions, distances = self._index.knn_query(vector, k, num_threads=1)
            except RuntimeError:  # "Cannot return the results in a contiguous 2D array"
                return None
        return Neighbours(positions[0].astype(np.int64), np.float32(1) - distances[0])

    def positions(self) -> Positions:
        return np.sort(np.asarray(self._index.get_ids_list(), dtype=np.int64))

    def save(self, file: BinaryIO) -> None:
        with _claim(Path(file.name).with_suffix("").with_suffix(".tmp")) as path:  # of a file that is temporary too
            self._index.save_index(str(path))
            with path.open("rb") as saved:
                shutil.copyfileobj(saved, file)

    def load(self, file: BinaryIO) -> None:
        with _claim(temporary_path(Path(file.name))) as path:
            with path.open("wb") as copy:
                shutil.copyfileobj(file, copy)
            index = hnswlib.Index("ip", self._index.dim)
            index.load_index(str(path))
        self._index = index


@safe_context
def _claim(path: Path) -> Iterator[Path]:
    try:
        with claim(path):
            yield path
    finally:
        path.unlink(missing_ok=True)
