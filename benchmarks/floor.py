"""Costs of calls beside a floor: `python -m benchmarks.floor [--waiting 300000] [--server postgresql://...]`.

The floor of a turn is a synced SQLite row with a vector of the same embedder, that of other calls a search of the same
memory. Times are of the processor, in one process: read ratios. A dated search is timed right after `extend`, while the
facts of all its turns wait; `--waiting` sets the larger number of them. Forgotten turns are among the first 4,096, and
beyond them. Descriptors are counted of 20 memories, right after a call of each and two seconds later. With `--server`,
40 users are read and written by 10 threads of this process, and calls that were told `StoreBusy` are counted.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

import apsw

import evimem
from benchmarks.speed import QUESTIONS, SEED, asked, chat, median_ms, seconds
from evimem.embedding.static_embedder import StaticEmbedder

from .recording import add_result, record
from .scoring.result_file import Cell, ResultTable

BATCH_TURNS = 256
DATED = ("What did she say on 3 January 2020?", "What happened last week?", "Who visited in May 2020?")
USERS, THREADS, CALLS = 40, 10, 1_600


def replies(count: int) -> Iterable[evimem.Turn]:
    """Yield turns of a user and an assistant whose replies have 2 to 8 kB."""
    chance = random.Random(SEED)
    texts = [turn.text for turn in chat(2_000, 22)]
    for number in range(count):
        size = chance.randint(2_000, 8_000) if number % 2 else 120
        text = " ".join(chance.choices(texts, k=size // 100))[:size]
        said = datetime(2024, 1, 1) + timedelta(minutes=number)
        role = "assistant" if number % 2 else "user"
        yield evimem.Turn(f"t{number}", "s", role, text, said, role=role)


def floor_ms(path: Path, turns: list[evimem.Turn]) -> float:
    """Return the time a turn of storing a text and its vector in SQLite, a batch a synced transaction."""
    embedder, db = StaticEmbedder(), apsw.Connection(str(path))
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("CREATE TABLE t (id, text, vector)")

    def store() -> None:
        for start in range(0, len(turns), BATCH_TURNS):
            some = turns[start : start + BATCH_TURNS]
            vectors = embedder.embed([turn.text for turn in some])
            rows = ((turn.id, turn.text, row.tobytes()) for turn, row in zip(some, vectors, strict=True))
            with db:
                db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)

    found = seconds(store) * 1000 / len(turns)
    db.close()
    return found


def ingest(folder: Path, name: str, turns: list[evimem.Turn]) -> tuple[Cell, ...]:
    """Return the row of what it costs to store turns, their facts left waiting."""
    with evimem.open(folder / f"{name}.evimem") as memory:
        memory.extend(turns[:BATCH_TURNS])  # what a process reads once
        own = seconds(lambda: memory.extend(turns[BATCH_TURNS:])) * 1000 / (len(turns) - BATCH_TURNS)
    floor = floor_ms(folder / f"{name}.db", turns)
    return f"extend, {name} turns", own, floor, own / floor


def dated_search(folder: Path, count: int) -> tuple[Cell, ...]:
    """Return the row of a search with a date beside turns whose facts wait."""
    with evimem.open(folder / f"waiting {count}.evimem") as memory:
        memory.extend(chat(count, 22))
        for question in QUESTIONS:
            memory.search(question)
        plain = median_ms([lambda q=q: memory.search(q) for q in QUESTIONS * 3])
        dated = max(seconds(lambda q=q: memory.search(q)) * 1000 for q in DATED)
        waiting = memory.health().pending.get("facts", 0)
    return f"the slowest first dated search, {waiting:,} turns waiting", dated, plain, dated / plain


def after_forgetting(folder: Path, count: int, first: int) -> tuple[Cell, ...]:
    """Return the row of the next search after a turn was forgotten."""
    plain, after = list[float](), list[float]()
    with evimem.open(folder / f"forgetting {first}.evimem") as memory:
        memory.extend(chat(count, 22))
        for question in asked():
            memory.search(question)
        for number, question in enumerate(asked()):
            plain.append(seconds(lambda q=question: memory.search(q)))
            memory.forget([f"t{first + 37 * number}"])
            after.append(seconds(lambda q=question: memory.search(q)))
    own, floor = (sorted(some)[len(some) // 2] * 1000 for some in (after, plain))
    return f"search after forgetting turn {first:,} or so of {count:,}", own, floor, own / floor


def descriptors(folder: Path, count: int = 20) -> list[tuple[Cell, ...]]:
    """Return the rows of how many descriptors an open memory holds, in use and idle; the floor is the goal."""
    with ExitStack() as opened:
        before = len(os.listdir("/proc/self/fd"))
        memories = [opened.enter_context(evimem.open(folder / f"open {number}.evimem")) for number in range(count)]
        for memory in memories:
            memory.add("Mira", "Hello!", time="2024-03-12T18:20")
        in_use = len(os.listdir("/proc/self/fd")) - before
        time.sleep(2)
        idle = len(os.listdir("/proc/self/fd")) - before
    rows = (("descriptors of a memory right after a call", in_use), ("two seconds later", idle))
    return [(name, found / count, 2, found / count / 2) for name, found in rows]


def refused(address: str) -> list[tuple[Cell, ...]]:
    """Return the rows of how many calls of many threads a server's memories refuse, of how many."""
    told, made = Counter[str](), Counter[str]()

    def call(number: int) -> None:
        kind = ("search", "turns", "add", "block")[number % 4]
        made[kind] += 1
        try:
            with pool.open(f"floor {number % USERS}") as memory:
                if kind == "add":
                    memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20", id=f"t{number}")
                elif kind == "turns":
                    list(memory.turns(limit=5))
                else:
                    getattr(memory, kind)("When did Mira move?")
        except evimem.StoreBusy:
            told[kind] += 1

    with evimem.MemoryPool(address) as pool, ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(call, range(CALLS)))
    return [(f"StoreBusy of {kind}, calls", told[kind], made[kind], told[kind] / made[kind]) for kind in sorted(made)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=300_000, help="turns whose facts wait")
    parser.add_argument("--server", help="the address of a PostgreSQL server")
    add_result(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evimem-floor-") as name:
        folder = Path(name)
        rows = [ingest(folder, "short", list(chat(4_000, 22))), ingest(folder, "long", list(replies(600)))]
        rows += [dated_search(folder, count) for count in (10_000, options.waiting)]
        rows += [after_forgetting(folder, 10_000, first) for first in (100, 6_000)]
        rows += descriptors(folder)
    if options.server:
        rows += refused(options.server)
    columns = ("", "found, ms or number", "floor", "ratio")
    note = f"Load {os.getloadavg()[0]:.1f} at the end."
    record("floor", options, [ResultTable("floor", "Calls beside their floor", columns, tuple(rows), (note,))])


if __name__ == "__main__":
    main()
