"""How long the last turns of a session take: `python -m benchmarks.newest --turns 100000`.

Generated chat (seeded) in one memory; `Memory.turns(session=..., limit=20, newest=True)` of sessions from its
beginning to its end, warm, in milliseconds of wall-clock time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import evimem

from .recording import add_result, record
from .scoring.bootstrap import percentile
from .scoring.result_file import ResultTable
from .speed import chat

WORDS = 22
LIMIT = 20
SESSIONS = 200  # that are listed
BATCH = 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=100_000)
    add_result(parser)
    options = parser.parse_args()
    turns = list(chat(options.turns, WORDS))
    names = list(dict.fromkeys(turn.session for turn in turns))
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(turns, strict=True)
        times = []
        for name in names[:: max(1, len(names) // SESSIONS)]:
            started = time.perf_counter()
            found = list(memory.turns(session=name, limit=LIMIT, newest=True))
            times.append(1000 * (time.perf_counter() - started))
            if not found or {turn.session for turn in found} != {name}:
                raise SystemExit(f"expected turns of session {name!r}, got {len(found)}")
    rows = tuple((f"p{share}", percentile(times, share / 100)) for share in (50, 95, 99))
    title = f"The last {LIMIT} turns of a session, in {options.turns:,} turns"
    record("newest", options, [ResultTable("times", title, ("", "ms"), (*rows, ("sessions listed", len(times))))])


if __name__ == "__main__":
    main()
