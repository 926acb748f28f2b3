"""A search beside an exact scan of the same vectors: `python -m benchmarks.beside_scan 10000 100000`.

The scan is float32 by numpy, one thread, with the ten best picked; its vector is given to it, while a search reads its
question, embeds it, scores words, meaning, dialogue and dates, and reads ten turns with their facts. Both are timed by
the processor in turn, all questions at a time, because a scan empties the caches that the searches share. The chat is
that of benchmarks.speed; with `--keep FOLDER` memories are kept there and found again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread would only spin, which counts as processor time

import numpy as np

import evimem
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.types.vectors import Vectors

from .recording import add_result, record
from .scoring.result_file import Cell, ResultTable
from .speed import asked, chat, median_ms

WORDS = 22  # of a turn
ROUNDS = 7
K = 10
COLUMNS = ("rows", "search, CPU ms, p50", "exact scan, CPU ms, p50", "ratio, p50")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep memories there for the next run")
    add_result(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = tuple(row(kept(options.keep or Path(scratch), size)) for size in sorted(options.sizes))
    notes = (f"Load {os.getloadavg()[0]:.1f} at the end.",)
    record("beside_scan", options, [ResultTable("scan", "A search beside an exact scan", COLUMNS, rows, notes)])


def kept(folder: Path, size: int) -> Path:
    """Return the memory of so many generated turns, made where it is not there yet."""
    path = folder / f"{size}.evimem"
    folder.mkdir(parents=True, exist_ok=True)
    with evimem.open(path) as memory:
        if memory.stats().turns < size:
            memory.extend(chat(size, WORDS))  # what is there already is stored once
    return path


def row(path: Path) -> tuple[Cell, ...]:
    """Return the rows of a memory and the medians of a search, of a scan, and of their ratio over the rounds."""
    embedder, texts = StaticEmbedder(), asked()
    vectors = embedder.embed(texts)
    with evimem.open(path) as memory:
        memory.search("warm up")
        corpus = memory._core.store.corpus()  # type: ignore[attr-defined]
        rows = corpus.vectors * corpus.scale[:, None]  # float32

        def scan(query: Vectors) -> None:
            cosines = rows @ query
            best = np.argpartition(cosines, len(cosines) - K)[len(cosines) - K :]
            best[np.argsort(-cosines[best])]

        searched, scanned = [], []
        for _ in range(ROUNDS):
            searched.append(median_ms([lambda text=text: memory.search(text, K) for text in texts]))
            scanned.append(median_ms([lambda query=query: scan(query) for query in vectors]))
    ratios = [search / scan for search, scan in zip(searched, scanned, strict=True)]
    return len(rows), *map(statistics.median, (searched, scanned, ratios))


if __name__ == "__main__":
    main()
