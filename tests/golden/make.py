"""Writes the golden memories of the current schema: run once when a schema is released, and never again for it.

    python -m tests.golden.make

They hold what is hard to carry over: jobs that are queued or failed, forgotten ids, replaced facts, facts by a model,
traces, odd text, sealed and open segments, two users of a pool, and a memory whose process ended without closing it.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import evimem
from evimem import Memory, MemoryPool, Turn
from evimem.db.schema import MIGRATIONS
from evimem.store.sqlite import SqliteStore
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Found, Trace
from tests.doubles import FakeClock, WordEmbedder

HERE = Path(__file__).parent
EMBEDDER = WordEmbedder(32)
USERS = ("ana", "Žofie 🪁/..")
START = datetime(2024, 3, 12, 9)
SAID = (
    ("Mira", "user", "I live in Lisbon and I love my violin."),
    ("Tomas", "user", "We adopted a puppy called Biscuit last Friday."),
    ("Mira", "user", "Which breed is it?"),
    ("Tomas", "user", "A spaniel! My sister Ines chose the name."),
    ("assistant", "assistant", "Mira prefers window seats."),
    ("Mira", "user", "I moved to Porto two weeks ago. I no longer like coffee."),
    ("Žofie", "user", "Straße, naïve café, ピアノ, 👩\u200d👩\u200d👧, \u202eright to left, \x00 and a lone \ud83d."),
    ("Tomas", "user", "'; DROP TABLE turn; -- %s {x} \\ \U000e0041"),
)


class Away(WordEmbedder):
    """The same embedder while it cannot be reached."""

    def embed(self, texts: object) -> object:  # type: ignore[override]
        raise ConnectionError("the embedding server is down")


def said(count: int) -> list[Turn]:
    """Return the turns of a golden memory; every third has a caption, every fourth a note."""
    return [
        Turn(
            f"t{number}", f"s{number // 9}", speaker, f"{text} ({number})", START + timedelta(hours=7 * number),
            "a dog on a beach" if number % 3 == 0 else None, role, {"note": [number, "ž"]} if number % 4 == 0 else {},
        )
        for number in range(count)
        for speaker, role, text in [SAID[number % len(SAID)]]
    ]  # fmt: skip


def reply(request: Complete) -> str:
    """Find what a model would find in one turn, and nothing usable in another."""
    text = request.prompt.rpartition("<turn")[2]
    if "violin" in text:
        fact = {"subject": "Mira", "predicate": "owns", "object": "violin", "quote": "my violin", "kind": "state"}
        return json.dumps({"facts": [{**fact, "when": ""}]})
    return "I would rather not." if "DROP TABLE" in text else '{"facts": []}'


@contextmanager
def small_segments() -> Iterator[None]:
    """Let a small memory have sealed segments too; the size is kept in the file."""
    with patch.dict(SqliteStore.__init__.__kwdefaults__, segment=16):  # type: ignore[arg-type]
        yield


def fill(memory: Memory, clock: FakeClock) -> None:
    """Give a memory a past: turns, facts by a model, dead letters, a trace, forgetting, and queued jobs."""
    memory.extend(said(44), strict=True)
    for _ in range(4):
        memory.enrich()
        clock.advance(86_400.0)
    memory.keep_trace(Trace("Where does Mira live?", "iris", (Found(1, "anchor", ("t0", "t5")),)))
    memory.forget(turns=["t3", "t20"])
    memory.forget(session="s2")
    memory._core.embedder = Away(EMBEDDER.dimension)
    memory.extend([replace(turn, id=f"late-{turn.id}") for turn in said(5)])


def crashed(path: Path) -> None:
    """Leave a memory as a process does that ends without closing it."""
    pid = os.fork()
    if not pid:
        memory = evimem.open(path, embedder=EMBEDDER, clock=FakeClock(1.7e9))
        memory.extend(said(6), strict=True)
        os._exit(0)
    os.waitpid(pid, 0)
    path.with_name(f"{path.name}-shm").unlink()


def main() -> None:
    """Write the files of the current schema into a folder of their own."""
    folder = HERE / f"schema-{len(MIGRATIONS)}"
    if folder.exists():
        sys.exit(f"{folder} exists: golden files are never written again")
    folder.mkdir()
    crashed(folder / "crashed.evimem")
    with small_segments():
        clock = FakeClock(1.7e9)
        model = ScriptedModel(then=reply)
        with evimem.open(folder / "memory.evimem", llm=model, embedder=EMBEDDER, clock=clock) as memory:
            fill(memory, clock)
        with MemoryPool(folder / "pool", embedder=EMBEDDER, clock=clock) as pool:
            for user, first in zip(USERS, (0, 20), strict=True):
                with pool.open(user) as memory:
                    memory.extend(said(first + 20)[first:], strict=True)


if __name__ == "__main__":
    main()
