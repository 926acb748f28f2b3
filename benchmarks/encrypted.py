"""Processor time of an encrypted memory beside a plain one: `PYTHONPATH=SITE python -m benchmarks.encrypted 2000`.

It needs `apsw-sqlite3mc` in the place of `apsw`, such as in a folder SITE that `pip install --no-deps --target SITE
apsw-sqlite3mc` made. Both kinds run the same build, in turn, three rounds each; a figure is the least of the rounds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread would only spin, which counts as processor time

import evimem

from .speed import asked, chat

KINDS: dict[str, dict[str, bytes | str]] = {
    "plain": {},
    "32 bytes": {"key": b"k" * 32},
    "passphrase": {"key": "a passphrase"},
}
ROUNDS = 3
ADDS, OPENINGS, WORDS_A_TURN = 50, 20, 22


def milliseconds(work: Callable[[], object], times: int) -> float:
    """Return the processor time of a call, of so many that the work does."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start) / times


def measure(path: Path, key: dict[str, bytes | str], turns: list[evimem.Turn]) -> dict[str, float]:
    """Return milliseconds a call of each verb, on a new memory of these turns at a path."""
    later, questions = turns[-ADDS:], asked()
    found: dict[str, float] = {}
    with evimem.open(path, **key) as memory:
        found["extend, a turn"] = milliseconds(lambda: memory.extend(turns[:-ADDS]), len(turns) - ADDS)
        found["add"] = milliseconds(lambda: [memory.extend([turn]) for turn in later], ADDS)
        memory.enrich()
        memory.search(questions[0])
        found["search"] = milliseconds(lambda: [memory.search(one) for one in questions], len(questions))
        found["forget a turn"] = milliseconds(lambda: memory.forget([later[0].id]), 1)
    found["open"] = milliseconds(lambda: [evimem.open(path, **key).close() for _ in range(OPENINGS)], OPENINGS)
    return found


def main() -> None:
    """Print a table of milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", type=int, nargs="?", default=2000)
    turns = list(chat(parser.parse_args().turns, WORDS_A_TURN))
    least: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            for kind, key in KINDS.items():
                for verb, took in measure(Path(folder) / f"{kind}{number}", key, turns).items():
                    least[kind][verb] = min(took, least[kind].get(verb, took))
    print(f"{len(turns)} turns, milliseconds of a processor:")
    for verb in least["plain"]:
        print(f"{verb:16}" + "".join(f"  {kind} {least[kind][verb]:8.3f}" for kind in KINDS))


if __name__ == "__main__":
    main()
