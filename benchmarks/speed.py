"""How fast a memory takes turns in and finds them, by size: python benchmarks/speed.py 10000 100000 [--long].

Everything runs offline in one process on generated chat (a seed, a Zipf vocabulary, 22 words a turn, 25 turns a
session). Rates are of the whole `extend`: rules, postings, vectors, durable. Compare the ratios of one run.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import apsw

import evimem

SEED = 7
PEOPLE = ("Mira", "Tomas", "Elio", "Katrin")
VERBS = "went bought saw lost painted started finished visited cooked fixed called missed planned liked".split()
TIMES = ("yesterday", "last week", "in May", "two years ago", "tomorrow", "", "", "", "", "")
QUESTIONS = (
    "Where did Mira go last summer?",
    "What did Tomas buy for the garden?",
    "When did Elio start painting?",
    "Who visited Katrin in May?",
    "Which things did Mira lose?",
)


def chat(count: int, words: int, first: int = 0) -> Iterator[evimem.Turn]:
    """Yield turns with common and rare words, as a Zipf law has them."""
    chance = random.Random(SEED + first)
    start = datetime(2020, 1, 1) + timedelta(minutes=7 * first)
    for number in range(count):
        rare = " ".join(f"thing{min(60_000, int(chance.paretovariate(1.0)))}" for _ in range(words // 3))
        common = " ".join(chance.choice(VERBS) + f" the item{chance.randrange(400)}" for _ in range(words // 6))
        text = f"I {chance.choice(VERBS)} {rare} {chance.choice(TIMES)} and then I {common}."
        place = first + number
        yield evimem.Turn(
            f"t{place}", f"s{place // 25}", PEOPLE[place % 4], text, start + timedelta(minutes=7 * number)
        )


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def median_ms(calls: list[Callable[[], object]]) -> float:
    return statistics.median(seconds(call) for call in calls) * 1000


def bare_commit_ms(folder: Path) -> float:
    """Return what a commit with one small row costs in SQLite at the same settings: the floor of an `add`."""
    db = apsw.Connection(str(folder / "bare.db"))
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("CREATE TABLE t (x)")
    insert = [lambda: db.execute("INSERT INTO t VALUES (?)", ("x" * 200,))] * 100
    figure = median_ms(list(insert))
    db.close()
    return figure


def measure(size: int, words: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="evimem-speed-") as name:
        folder = Path(name)
        path = folder / "m.evimem"
        with evimem.open(path) as memory:
            rate = size / seconds(lambda: memory.extend(chat(size, words)))
            extra = list(chat(60, words, first=size))
            one = median_ms([lambda turn=turn: memory.extend([turn]) for turn in extra])
        opened = seconds(lambda: evimem.open(path).close())
        with evimem.open(path) as memory:
            first = seconds(lambda: memory.search("warm up"))
            found = median_ms([lambda q=q: memory.search(q) for q in QUESTIONS * 6])
        return {
            "turns": size,
            "ingest turns/s": rate,
            "add p50 ms": one,
            "bare commit ms": bare_commit_ms(folder),
            "open ms": opened * 1000,
            "first search ms": first * 1000,
            "search p50 ms": found,
            "file MB": sum(file.stat().st_size for file in folder.glob("m.evimem*")) / 1e6,
            "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def import_ms() -> float:
    code = "import time; t = time.perf_counter(); import evimem; print(time.perf_counter() - t)"
    runs = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    return statistics.median(runs) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--long", action="store_true", help="messages of 220 words instead of 22")
    options = parser.parse_args()
    rows = [measure(size, 220 if options.long else 22) for size in options.sizes]
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, import evimem {import_ms():.0f} ms")
    for name in rows[0]:
        print(f"{name:>16}", *(f"{row[name]:>12,.1f}" for row in rows))
    for small, large in itertools.pairwise(rows):
        grown = math.log(large["turns"] / small["turns"])
        for name in ("search p50 ms", "first search ms"):
            print(f"{name} grows as n^{math.log(large[name] / small[name]) / grown:.2f}")
        taken = (large["turns"] / large["ingest turns/s"]) / (small["turns"] / small["ingest turns/s"])
        print(f"ingest time grows as n^{math.log(taken) / grown:.2f}")


if __name__ == "__main__":
    main()
