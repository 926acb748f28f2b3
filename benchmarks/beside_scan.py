"""A search beside an exact scan of the same vectors: `python -m benchmarks.beside_scan 10000 100000 --keep FOLDER`.

The scan is float32 by numpy, one thread, with the ten best picked; its vector is given to it, while a search reads its
question, embeds it, scores words, meaning, dialogue and dates, and reads ten turns with their facts. Both are timed in
turn by the processor. The chat is that of benchmarks.speed; memories are kept in the folder and found there again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread would only spin, which counts as processor time

import numpy as np

import evimem
from evimem.bench.result_file import Cell, ResultTable
from evimem.embedding import StaticEmbedder

from .recording import add_result, record
from .speed import asked, chat

WORDS = 22  # of a turn
ROUNDS = 5
COLUMNS = ("rows", "search, CPU ms, p50", "exact scan, CPU ms, p50", "ratio, p50")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER", help="where memories are kept")
    add_result(parser)
    options = parser.parse_args()
    rows = tuple(row(kept(options.keep, size)) for size in sorted(options.sizes))
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
    """Return the rows of a memory and the medians: of a search, of a scan after it, and of their ratio."""
    embedder, searched, scanned = StaticEmbedder(), [], []
    with evimem.open(path) as memory:
        memory.search("warm up")
        corpus = memory._core.store._handle.corpus()  # type: ignore[attr-defined]
        rows = corpus.vectors * corpus.scale[:, None]  # float32
        for text in asked() * ROUNDS:
            query = embedder.embed([text])[0]
            began = time.process_time()
            memory.search(text)
            between = time.process_time()
            cosines = rows @ query
            best = np.argpartition(cosines, len(cosines) - 10)[len(cosines) - 10 :]
            best[np.argsort(-cosines[best])]
            searched.append(between - began)
            scanned.append(time.process_time() - between)
    ratios = [search / scan for search, scan in zip(searched, scanned, strict=True)]
    return len(rows), 1000 * statistics.median(searched), 1000 * statistics.median(scanned), statistics.median(ratios)


if __name__ == "__main__":
    main()
