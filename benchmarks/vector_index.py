"""HNSW beside what a memory does without it: recall@10, processor time and memory as an index grows.

    python -m benchmarks.vector_index                       # 10,000 and 50,000 vectors, about two minutes
    python -m benchmarks.vector_index --sizes 100000 --data words

Vectors are generated from a seed: `speech` embeds pairs of sentences of our chats, `words` sentences of random words,
`clusters` has about 40 vectors per cluster with a decaying spectrum, `noise` has no structure. Queries are generated
alike and are not in the index. Times are medians of processor times, which depend little on other load. Without a
graph, few facts are compared one by one, and passages and many facts by their sketches, of which the nearest are.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evimem.edges.fact_vectors import FactMatrix
from evimem.embedding.static_embedder import SHIPPED, StaticEmbedder, WordPiece
from evimem.index.hnsw import HnswIndex
from evimem.index.ranking import SEARCH_EFFORT
from evimem.index.sketches import Sketches, StoredVectors
from evimem.text.sentences import sentences
from evimem.types.vectors import Vectors

from .recording import add_result, record
from .scoring.labelled_chats import read_chats
from .scoring.result_file import Cell, ResultTable

DIMENSION = 256
QUERIES = 300
BATCH = 5000
MILLI = 1e3
COLUMNS = (
    "vectors", "n", "build, CPU s", "ef", "recall@10", "graph, CPU ms", "all compared, CPU ms",
    "sketches, CPU ms", "recall@10 of sketches", "bytes a vector",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantized:
    """Vectors as the store keeps them: one byte per value and one scale per row."""

    levels: NDArray[np.int8]
    scale: Vectors

    def rows(self, positions: NDArray[np.int64]) -> Vectors:
        """Return the vectors at these positions."""
        rows: Vectors = self.levels[positions].astype(np.float32) * self.scale[positions]
        return rows


def words(count: int, rng: np.random.Generator) -> Vectors:
    """Return embeddings of random sentences, frequent words more often."""
    pieces = WordPiece.load(SHIPPED.with_name("vocabulary.txt")).pieces(range(1000, 25_000))
    known = [piece for piece in pieces if piece.isalpha() and len(piece) > 2]
    embedder = StaticEmbedder()
    lengths = rng.integers(6, 30, count)
    ranks = (len(known) * rng.random(int(lengths.sum())) ** 3).astype(int)
    sentences = [" ".join(known[rank] for rank in part) for part in np.split(ranks, np.cumsum(lengths)[:-1])]
    return np.vstack([embedder.embed(sentences[start : start + BATCH]) for start in range(0, count, BATCH)])


def speech(count: int, rng: np.random.Generator) -> Vectors:
    """Return embeddings of pairs of sentences of our chats, drawn at random: texts whose words belong together."""
    chats = (chat for folder in ("chats", "fresh") for chat in read_chats(Path(__file__).parent / folder))
    turns = [turn.text for chat in chats for turn in chat.turns]
    said = [text[start:end] for text in turns for start, end in sentences(text)]
    embedder = StaticEmbedder()
    pairs = [f"{said[one]} {said[two]}" for one, two in rng.integers(len(said), size=(count, 2))]
    rows = np.vstack([embedder.embed(pairs[start : start + BATCH]) for start in range(0, count, BATCH)])
    rows[~rows.any(axis=1)] = rows[0]  # of a pair without a word that the embedder knows
    return rows


def clusters(count: int, rng: np.random.Generator) -> Vectors:
    """Return vectors around centres, one centre per 40 vectors."""
    spectrum = (np.arange(1, DIMENSION + 1) ** -0.35).astype(np.float32)
    centres = rng.standard_normal((max(count // 40, 1), DIMENSION), dtype=np.float32)
    vectors = centres[rng.integers(0, len(centres), count)]
    vectors += np.float32(0.75) * rng.standard_normal((count, DIMENSION), dtype=np.float32)
    return unit(vectors * spectrum)


def noise(count: int, rng: np.random.Generator) -> Vectors:
    """Return random directions: the worst case of approximate search."""
    return unit(rng.standard_normal((count, DIMENSION), dtype=np.float32))


def unit(vectors: Vectors) -> Vectors:
    """Return vectors of length one."""
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def measured(make: Callable[[int, np.random.Generator], Vectors], sizes: Sequence[int]) -> Iterator[tuple[Cell, ...]]:
    """Grow one index as a memory does; yield its row of the table at each size, beside the searches without it."""
    most = max(sizes)
    vectors = make(most + QUERIES, np.random.default_rng(most))
    vectors, queries = vectors[:most], vectors[most:]
    scale = np.abs(vectors).max(axis=1, keepdims=True) / np.float32(127)
    stored = Quantized(np.rint(vectors / scale).astype(np.int8), scale)
    vectors = stored.rows(np.arange(most))  # what exact search would compare with
    index, built, done = HnswIndex(DIMENSION, stored.rows), 0.0, 0
    for size in sorted(sizes):
        began = time.process_time()
        for start in range(done, size, BATCH):
            index.add(range(start, min(start + BATCH, size)), vectors[start : min(start + BATCH, size)])
        built, done = built + time.process_time() - began, size
        ways = _ways(index, stored, size)
        costs: dict[str, list[float]] = {name: [] for name in ways}
        shares: dict[str, list[float]] = {name: [] for name in ways}
        for query in queries:
            scores = vectors[:size] @ query
            least = np.partition(scores, -10)[-10] - 1e-6
            for name, way in ways.items():
                began = time.process_time()
                found = way(query)
                costs[name].append(time.process_time() - began)
                shares[name].append((scores[found] >= least).sum() / 10)
        median = {name: float(np.median(some)) * MILLI for name, some in costs.items()}
        recall = {name: float(np.mean(some)) for name, some in shares.items()}
        yield (
            make.__name__,
            size,
            built,
            index.effort.width_for(size, 10),
            recall["graph"],
            median["graph"],
            median["facts"],
            median["sketches"],
            recall["sketches"],
            stored_length(index) // size,
        )


def _ways(index: HnswIndex, stored: Quantized, size: int) -> dict[str, Callable[[Vectors], NDArray[np.int64]]]:
    """Return what finds the ten nearest: the graph, facts compared one by one, and passages by their sketches."""
    places, everything = np.arange(size), np.ones(size, np.bool_)
    scale = stored.scale[:size, 0]
    facts = FactMatrix(places, places, places, stored.levels[:size], scale.astype(np.float64))
    sketches, kept = Sketches(), StoredVectors(stored.levels[:size], scale)

    def by_sketch(query: Vectors) -> NDArray[np.int64]:
        near = sketches.nearest(kept, query, everything, max(SEARCH_EFFORT.sketched, size // 64)).astype(np.int64)
        return near[np.argpartition(stored.rows(near) @ query, -10)[-10:]]

    return {
        "graph": lambda query: index.search(query, 10).positions,
        "facts": lambda query: np.array(facts.nearest_rows(query, places, 10)),
        "sketches": by_sketch,
    }


DATA = {"speech": speech, "words": words, "clusters": clusters, "noise": noise}


def stored_length(index: HnswIndex) -> int:
    """Return how many bytes the graph and its vectors take, in memory as in the file."""
    with tempfile.TemporaryDirectory() as folder:
        return index.save(Path(folder) / "graph")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Recall, time and memory of HNSW against exact search.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=["speech", "words"])
    add_result(parser)
    options = parser.parse_args()
    rows = tuple(row for data in options.data for row in measured(DATA[data], options.sizes))
    table = ResultTable("graphs", "HNSW beside what a memory does without it", COLUMNS, rows)
    record("vector_index", options, [table])


if __name__ == "__main__":
    main()
