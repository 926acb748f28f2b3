"""Build a memory from many exported chats: `python examples/build_offline.py archive.evimem exports/*`.

No model and no network. Stop it at any time and run it again: what is stored is skipped.
"""

from __future__ import annotations

import sys
from pathlib import Path

import evimem
from evimem.loaders import load
from evimem.loaders.conversation import RefusedItem


def add(memory: evimem.Memory, path: Path) -> int:
    """Store one file of whatever format; return how many items of it were refused."""
    refused: list[RefusedItem] = []
    for conversation in load(path, refuse=refused.append):
        report = memory.extend(conversation.turns)
        unfit = [status for status in report.statuses if status.outcome == "refused"]
        refused += [RefusedItem(path.name, status.reason or "") for status in unfit]
        print(f"{path.name}: {report.added} added, {report.existing} known, {report.facts} facts")
    for item in refused:
        print(f"  refused: {item}")
    return len(refused)


def main() -> int:
    """Add every file, work off what was queued, and verify the whole."""
    with evimem.open(sys.argv[1]) as memory:
        refused = sum(add(memory, Path(name)) for name in sys.argv[2:])
        memory.enrich()  # what a large memory left for later: its edges and its vector index
        health = memory.check()
        stats = memory.stats()
    print(f"{stats.turns} turns of {', '.join(stats.speakers)}; {stats.bytes / 1e6:.1f} MB; {health.status}")
    return 0 if health.status == "ok" and not refused else 1


if __name__ == "__main__":
    sys.exit(main())
