"""How recall and cost move with size and with the depth of a chain: `python -m benchmarks.scaling 1000 10000`.

The synthetic set (scoring/synthetic.py) from one seed, with the same people and questions at every size and more
filler between them. A chain of n needs n turns: the question names the first person and the relations. Times are of
the processor, which other work on the machine lengthens less than those of a clock. A million turns take about a
quarter of an hour and 2 GB of disk; reading and linking the facts of as many takes hours (`--facts-up-to`).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import evimem

from .recording import add_result, record
from .scoring.bootstrap import percentile
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import found_all, recall
from .scoring.synthetic import synthetic_chat

DEPTH = 10
PEOPLE = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depth", type=int, default=4, help="turns of the longest chain (4)")
    parser.add_argument("--facts-up-to", type=int, metavar="TURNS", help="search facts up to this size only")
    add_result(parser)
    options = parser.parse_args()
    most = options.facts_up_to or max(options.sizes)
    columns = [column(size, options.seed, options.depth, facts=size <= most) for size in sorted(options.sizes)]
    head = ("", *(f"{size:,} turns" for size in sorted(options.sizes)))
    tables = []
    for key, title in (("sizes", "Recall and cost by size and depth, synthetic"), ("calls", "Calls beside a search")):
        found = [one[key] for one in columns]
        rows: tuple[tuple[Cell, ...], ...] = tuple((name, *(one.get(name) for one in found)) for name in found[0])
        tables.append(ResultTable(key, title, head, rows))
    record("scaling", options, tables)


def column(size: int, seed: int, depth: int, *, facts: bool) -> dict[str, dict[str, Cell]]:
    """Return the figures of one size by table and name: recall by kind of question and times; calls beside a search.

    Without `facts` none are read or searched.
    """
    chat = synthetic_chat(seed, turns=size, people=PEOPLE, depth=depth)
    told = [one for one in chat.questions if one.evidence]
    found: dict[str, list[float]] = {}
    times: list[float] = []
    calls: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        started = time.process_time()
        memory.extend(chat.turns, strict=True)
        rate = len(chat.turns) / (time.process_time() - started)
        memory.search("warm up")
        beside: dict[str, Callable[[str], object]] = {"block, 800 tokens, CPU ms": partial(memory.block, tokens=800)}
        if facts:
            memory.enrich()
            memory.search_facts("warm up")
            beside["search_facts, k=10, CPU ms"] = partial(memory.search_facts, k=DEPTH)
        for one in told:
            started = time.process_time()
            ranked = [hit.turn.id for hit in memory.search(one.text, DEPTH)]
            times.append(1000 * (time.process_time() - started))
            calls.setdefault("search, k=10, CPU ms", []).append(times[-1])
            for name, call in beside.items():
                started = time.process_time()
                call(one.text)
                calls.setdefault(name, []).append(1000 * (time.process_time() - started))
            found.setdefault(f"R@{DEPTH}, {one.kind}", []).append(recall(ranked, one.evidence, DEPTH))
            if len(one.evidence) > 1:
                found.setdefault(f"All@{DEPTH}, {one.kind}", []).append(found_all(ranked, one.evidence, DEPTH))
    means: dict[str, Cell] = {name: sum(values) / len(values) for name, values in sorted(found.items())}
    cost = {
        "questions": len(told),
        "ingest, turns/CPU s": rate,
        "search, CPU ms, p50": percentile(times, 0.5),
        "search, CPU ms, p99": percentile(times, 0.99),
    }
    return {"sizes": {**means, **cost}, "calls": {name: percentile(one, 0.5) for name, one in calls.items()}}


if __name__ == "__main__":
    main()
