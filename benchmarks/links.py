"""Time to link facts, and to check their links, by the size of a memory: `python -m benchmarks.links 1000 10000`.

The chat of `benchmarks.speed`. All links are dropped and made again from the stored vectors, a page of 256 facts at a
time, as `enrich` does; then they are checked as `doctor` does. "found" is the share of the links that comparing a fact
with all others would give, and "weight" that of their summed cosines, over some facts evenly spaced. The exponent is
that of the time from the size before: 1 is linear, 2 is comparing each with each.
"""

from __future__ import annotations

import argparse
import math
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import evimem
from evimem.bench.result_file import Cell, ResultTable
from evimem.db.connection import Connection
from evimem.edges import EdgeGraph
from evimem.edges.link_rules import PER_FACT, threshold

from .recording import add_result, record
from .speed import chat

PAGE = 256
SAMPLE = 400
ROUNDING = 1e-4
EARLIER = "SELECT weight FROM edge WHERE target = ?"  # said in the order of the rows: the target is the later fact
ROWS = "SELECT row, seq, vector, scale FROM fact_vector JOIN fact USING (row) ORDER BY row"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    add_result(parser)
    options = parser.parse_args()
    columns: list[dict[str, Cell]] = []
    for size in sorted(options.sizes):
        columns.append(column(size))
        for name in ("link", "check"):
            exponent = grown(columns[-2], columns[-1], f"{name}, s") if len(columns) > 1 else None
            columns[-1][f"{name}, exponent"] = exponent
        print(columns[-1], flush=True)
    rows: tuple[tuple[Cell, ...], ...] = tuple((name, *(one[name] for one in columns)) for name in columns[0])
    head = ("", *(f"{size:,} turns" for size in sorted(options.sizes)))
    record("links", options, [ResultTable("sizes", "Links between facts by size", head, rows)])


def column(size: int) -> dict[str, Cell]:
    """Return the figures of one size by name."""
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(chat(size, 22), strict=True)
        memory.enrich()
        layers = memory._core.store._handle.layers
        least = threshold(layers.meta("embedder") or "")
        found = layers.db.rows(ROWS)
        numbers, turns = np.array([row[:2] for row in found]).T
        scales = np.array([row[3] for row in found], np.float32)
        vectors = np.stack([np.frombuffer(row[2], np.int8) for row in found]) * scales[:, None]
        graph = EdgeGraph(layers.db)
        with layers.db.writing():
            graph.clear()
        began = time.process_time()
        for start in range(0, len(vectors), PAGE):
            with layers.db.writing():
                graph.link(numbers[start : start + PAGE].tolist(), vectors[start : start + PAGE], least)
        linked = time.process_time() - began
        began = time.process_time()
        with layers.db.reading():
            wrong = graph.count_wrong(least)
        checked = time.process_time() - began
        share, weight = kept(layers.db, vectors, turns, numbers, least)
    return {
        "facts": len(vectors),
        "link, s": linked,
        "check, s": checked,
        "wrong": wrong,
        "found": share,
        "weight": weight,
        "MB at most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def kept(
    db: Connection, vectors: NDArray[np.float32], turns: NDArray[np.int64], rows: NDArray[np.int64], least: float
) -> tuple[float, float]:
    """Return the share of the links of some facts that are stored, of those that comparing with all gives, and weights.

    A link counts as found where one as good is: among equals another may be kept.
    """
    wanted, found = 0, 0
    weights = np.zeros(2)
    for at in np.linspace(1, len(rows) - 1, min(SAMPLE, len(rows) - 1)).astype(int).tolist():
        cosines = vectors[:at] @ vectors[at]
        cosines[turns[:at] == turns[at]] = -1
        best = np.sort(cosines)[::-1][:PER_FACT]
        best = np.minimum(1.0, best[best >= least])
        stored = [weight for (weight,) in db.rows(EARLIER, (int(rows[at]),))]
        wanted += len(best)
        found += sum(weight >= best[-1] - ROUNDING for weight in stored) if len(best) else 0
        weights += sum(stored), float(best.sum())
    return found / wanted, float(weights[0] / weights[1])


def grown(before: dict[str, Cell], after: dict[str, Cell], name: str) -> Cell:
    """Return the exponent with which a figure grew with the number of facts."""
    facts, figure = ((after[key], before[key]) for key in ("facts", name))
    return math.log(float(figure[0]) / float(figure[1])) / math.log(float(facts[0]) / float(facts[1]))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
