"""Cost of filters: `python -m benchmarks.filters 2000 100000`.

Searches generated chat (`benchmarks.speed`) of which 50 turns match, by session and by metadata, in one process, and
prints medians of processor time and each one's ratio to the session filter. The rest of the turns have metadata, too.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import evimem

from .speed import QUESTIONS, chat

MATCHING = 50
FILTERS: Mapping[str, dict[str, Any]] = {
    "session": {"session": "group1"},
    "where equal": {"where": {"namespace": ["users", "group1"]}},
    "where nested": {"where": {"of": {"group": "group1"}}},
    "where $prefix": {"where": {"namespace": {"$prefix": ["users", "group1"]}}},
    "where $in": {"where": {"group": {"$in": ["group1", "none"]}}},
    "where $gte": {"where": {"number": {"$gte": 0, "$lt": MATCHING}}},
    "where $ne": {"where": {"group": {"$ne": "group1"}}},
    "none": {},
}


def grouped(count: int) -> Iterator[evimem.Turn]:
    """Yield turns in groups of 50, which their session and their metadata name."""
    groups = max(1, count // MATCHING)
    for number, turn in enumerate(chat(count, 22)):
        group = f"group{number % groups}"
        kept = {"namespace": ["users", group], "of": {"group": group}, "group": group, "number": number}
        yield replace(turn, session=group, metadata=kept)


def median_cpu_ms(memory: evimem.Memory, wanted: dict[str, Any]) -> float:
    """Return the median processor time of a search."""
    found = []
    for question in QUESTIONS * 6:
        began = time.process_time()
        hits = memory.search(question, **wanted)
        found.append(time.process_time() - began)
        if not hits:
            raise ValueError(f"{wanted} finds nothing")
    return statistics.median(found) * 1000


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="+", metavar="TURNS")
    for size in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
            memory.extend(grouped(size))
            memory.search("warm up")
            times = {name: median_cpu_ms(memory, wanted) for name, wanted in FILTERS.items()}
        print(f"\n| {size:,} turns | CPU ms | against session |\n|---|---|---|")
        for name, spent in times.items():
            print(f"| {name} | {spent:.2f} | {spent / times['session']:.2f} |")


if __name__ == "__main__":
    main()
