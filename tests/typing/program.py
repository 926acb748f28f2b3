"""A user's program: what type checkers in strict mode infer of both doors, and what it does when it runs."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import evimem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator  # noqa: F401 - in types that stand as text

    from typing_extensions import assert_type

    from evimem.types.trace import Event
else:

    def assert_type(value: object, _: object) -> object:
        return value


NOON = datetime(2024, 3, 12, 12, tzinfo=timezone.utc)


def converse(memory: evimem.Memory) -> str:
    assert_type(memory.add("Mira", "I moved to Porto.", time=NOON, metadata={"trip": 1}), evimem.AddReport)
    memory.extend([evimem.Turn("t2", "s", "Tomas", "It rains.", NOON)], replace=True)
    memory.remember([{"role": "user", "content": "I like tea."}], session="chat", time=memory.now())
    hits = assert_type(memory.search("Porto", 3, where={"trip": {"$gte": 1}}, on_event=heard), "list[evimem.Hit]")
    answer = assert_type(memory.ask("Where does Mira live?", on_event=heard), evimem.Answer)
    pieces = assert_type(
        memory.ask("Where does Mira live?", stream=True), "Iterator[Event | str | evimem.Restarted | evimem.Answer]"
    )
    last = [piece for piece in pieces if isinstance(piece, evimem.Answer)][-1]
    block = assert_type(memory.block("Where does Mira live?", tokens=200), evimem.Block)
    assert_type([citation.quote for citation in answer.citations], "list[str]")
    assert_type(answer.tier, evimem.Tier)
    assert_type(memory.facts(about="Mira"), "tuple[evimem.Fact, ...]")
    assert_type(memory.turns(limit=1), "Iterator[evimem.Turn]")
    assert_type(memory.forget(speaker="Tomas"), evimem.EraseReport)
    return f"{hits[0].turn.text} {last.kind == answer.kind} {block.tokens > 0}"


async def converse_later(memory: evimem.AsyncMemory) -> str:
    assert_type(await memory.add("Mira", "I moved to Leeds.", time="2024-05-01T12:00Z"), evimem.AddReport)
    hits = assert_type(await memory.search("Leeds"), "list[evimem.Hit]")
    assert_type(await memory.ask("Where does Mira live?"), evimem.Answer)
    pieces = assert_type(
        memory.ask("Where does Mira live?", stream=True),
        "AsyncIterator[Event | str | evimem.Restarted | evimem.Answer]",
    )
    async for piece in pieces:
        assert not isinstance(piece, evimem.Restarted)
    assert_type(await memory.turns(limit=1), "list[evimem.Turn]")
    return hits[0].turn.text


async def serve(pool: evimem.MemoryPool) -> str:
    async with pool.open_async("mira") as memory:
        return await converse_later(assert_type(memory, evimem.AsyncMemory))


def heard(event: Event) -> None:
    assert event.iteration >= 0


def main(folder: Path) -> list[str]:
    with evimem.open(folder / "m.evimem") as memory:
        said = [converse(memory)]
    with evimem.MemoryPool(folder / "users", capacity=4, wait_seconds=1.0) as pool:
        said.append(asyncio.run(serve(pool)))
        assert_type(pool.count() + pool.bytes(), int)
    return said


if __name__ == "__main__":
    for line in main(Path(sys.argv[1])):
        print(line)  # noqa: T201
