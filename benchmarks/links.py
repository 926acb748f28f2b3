"""Time to link facts, and to check their links, by the size of a memory: `python -m benchmarks.links 1000 10000`.

`--locomo FILE --window 512` links the turns of real conversations instead, as one memory, with a smaller window: how
much is found beyond a window shows where most of a memory lies there, and such memories are too large to ask for.

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
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import evimem
from evimem.db.connection import Connection
from evimem.edges import fact_vectors
from evimem.edges.edge_table import EdgeGraph, similarity_threshold
from evimem.edges.fact_vectors import PER_FACT
from evimem.loaders import load

from .recording import add_result, data_set, record
from .scoring.result_file import Cell, ResultTable
from .speed import chat

PAGE = 256
SAMPLE = 400
ROUNDING = 1e-4
EARLIER = """
SELECT weight FROM edge JOIN fact AS one ON one.row = source JOIN fact AS two ON two.row = target
WHERE ?1 IN (source, target) AND (CASE ?1 WHEN source THEN (one.instant, one.row) > (two.instant, two.row)
ELSE (two.instant, two.row) > (one.instant, one.row) END)"""
ROWS = "SELECT row, seq, vector, scale FROM fact_vector JOIN fact USING (row) ORDER BY instant, row"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--locomo", type=data_set("locomo"))
    parser.add_argument("--window", type=int, default=fact_vectors.WINDOW_FACTS)
    add_result(parser)
    options = parser.parse_args()
    fact_vectors.WINDOW_FACTS = options.window
    columns: list[dict[str, Cell]] = []
    if options.locomo:
        print(column(turn for one in load(options.locomo) for turn in one.turns))
    for size in sorted(options.sizes):
        columns.append(column(chat(size, 22)))
        for name in ("link", "check"):
            exponent = grown(columns[-2], columns[-1], f"{name}, s") if len(columns) > 1 else None
            columns[-1][f"{name}, exponent"] = exponent
        print(columns[-1], flush=True)
    if not columns:
        return
    rows: tuple[tuple[Cell, ...], ...] = tuple((name, *(one[name] for one in columns)) for name in columns[0])
    head = ("", *(f"{size:,} turns" for size in sorted(options.sizes)))
    record("links", options, [ResultTable("sizes", "Links between facts by size", head, rows)])


def column(turns: Iterable[evimem.Turn]) -> dict[str, Cell]:
    """Return the figures of a memory of these turns by name."""
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(replace(turn, id=f"{number}") for number, turn in enumerate(turns))
        memory.enrich()
        db = memory._core.store.db
        least = similarity_threshold(db.read_meta_value("embedder") or "")
        found = db.rows(ROWS)
        numbers, seqs = np.array([row[:2] for row in found]).T
        scales = np.array([row[3] for row in found], np.float32)
        vectors = np.stack([np.frombuffer(row[2], np.int8) for row in found]) * scales[:, None]
        graph = EdgeGraph(db)
        with db.writing():
            graph.delete_all()
        began = time.process_time()
        for start in range(0, len(vectors), PAGE):
            with db.writing():
                graph.link_facts(numbers[start : start + PAGE].tolist(), vectors[start : start + PAGE], least)
        linked = time.process_time() - began
        began = time.process_time()
        with db.reading():
            wrong = graph.count_facts_with_wrong_edges(least)
        checked = time.process_time() - began
        share, weight = kept(db, vectors, seqs, numbers, least)
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
    return float(found / wanted), float(weights[0] / weights[1])


def grown(before: dict[str, Cell], after: dict[str, Cell], name: str) -> Cell:
    """Return the exponent with which a figure grew with the number of facts."""
    facts, figure = ((after[key], before[key]) for key in ("facts", name))
    return math.log(float(figure[0]) / float(figure[1])) / math.log(float(facts[0]) / float(facts[1]))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
