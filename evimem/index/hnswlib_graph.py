"""HNSW by hnswlib, the faster library where it is installed (the extra `hnswlib`: it is distributed as source)."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

import hnswlib
import numpy as np
from numpy.typing import NDArray

from ..db.atomic_files import claim, temporary_path
from ..db.safe_context import safe_context
from ..types.vectors import Neighbours, Vectors

_SEED = 1
_ROOM = 1024


class HnswlibGraph:
    """Stores float32. hnswlib reads and writes by path only, so a temporary copy lies in the same folder meanwhile.

    A process that is killed leaves it there with the vectors: its name is one that `atomic_files.sweep` knows.
    """

    def __init__(self, dimension: int, m: int, ef_construction: int) -> None:
        self._dimension = dimension
        self._index = hnswlib.Index("ip", dimension)
        self._index.init_index(_ROOM, ef_construction=ef_construction, M=m, random_seed=_SEED)
        self._searching = threading.Lock()
        self.kind: str = f"hnswlib-{version('hnswlib')}-float32"

    @property
    def room(self) -> int:
        """How many vectors fit before the index must be reallocated."""
        return int(self._index.get_max_elements())

    def reserve(self, size: int) -> None:
        """Grow ahead of time: hnswlib refuses vectors beyond its capacity."""
        if size > self.room:
            self._index.resize_index(max(size, self.room * 3 // 2))

    def add(self, positions: NDArray[np.int64], vectors: Vectors) -> None:
        self._index.add_items(vectors, positions, num_threads=1)

    def search(self, vector: Vectors, k: int, ef: int) -> Neighbours | None:
        with self._searching:  # hnswlib keeps ef in the index, not in the query
            self._index.set_ef(ef)
            try:
                positions, distances = self._index.knn_query(vector, k, num_threads=1)
            except RuntimeError:  # "Cannot return the results in a contiguous 2D array"
                return None
        return Neighbours(positions[0].astype(np.int64), np.float32(1) - distances[0])

    def positions(self) -> NDArray[np.int64]:
        return np.sort(np.asarray(self._index.get_ids_list(), dtype=np.int64))

    def rows(self, positions: NDArray[np.int64]) -> Vectors:
        return np.asarray(self._index.get_items(positions), dtype=np.float32)

    def save(self, file: BinaryIO) -> None:
        with _claimed(Path(file.name).with_suffix("").with_suffix(".tmp")) as path:  # of a file that is temporary too
            self._index.save_index(str(path))
            with path.open("rb") as saved:
                shutil.copyfileobj(saved, file)

    def load(self, file: BinaryIO) -> None:
        with _claimed(temporary_path(Path(file.name))) as path:
            with path.open("wb") as copy:
                shutil.copyfileobj(file, copy)
            index = hnswlib.Index("ip", self._dimension)
            index.load_index(str(path))
        self._index = index


@safe_context
def _claimed(path: Path) -> Iterator[Path]:
    try:
        with claim(path):
            yield path
    finally:
        path.unlink(missing_ok=True)
