"""What forgetting leaves in the process and lets back in: nothing of the forgotten words."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

import evimem
from evimem import InvalidQuery, Memory, Trace, UnknownTurn, replay
from evimem.doors.word_caches import word_caches

RARE = b"quimbyzz"  # bytes: the test itself must not hold the text that it looks for


def tell(memory: Memory, id: str = "a", speaker: str = "Mira") -> None:
    memory.add(speaker, f"My sister {RARE.decode().title()} bought a kite.", time="2024-03-12T18:20", id=id)
    memory.add("Tomas", "We had tea.", time="2024-03-12T18:21", id=f"{id}2")


def texts_held() -> list[str]:
    """Return the texts with the rare word that any object of this process refers to."""
    gc.collect()
    found = []
    for holder in gc.get_objects():
        for held in gc.get_referents(holder):
            if type(held) is str and RARE in held.lower().encode("utf-8", "replace"):
                found.append(type(holder).__name__)
    return found


def test_no_word_of_a_forgotten_turn_is_cached_in_the_process(memory: Memory) -> None:
    tell(memory)
    memory.search(f"Who is {RARE.decode()}?")
    memory.ask(f"What did {RARE.decode().title()} buy?")
    assert texts_held(), "nothing was cached, so that this says nothing"
    memory.forget(turns=["a"])
    assert texts_held() == []


def test_every_cache_of_words_is_bounded_and_emptied(memory: Memory) -> None:
    tell(memory)
    memory.ask("What did Mira's sister buy?")
    assert any(cache.cache_info().currsize for cache in word_caches())
    memory.forget(everything=True)
    assert all(cache.cache_info().currsize == 0 for cache in word_caches())


def test_a_trace_that_cites_a_forgotten_turn_is_not_kept(memory: Memory) -> None:
    tell(memory)
    trace = memory.ask("What did Mira's sister buy?").trace
    assert memory.keep_trace(trace) == 1
    memory.forget(turns=["a"])
    with pytest.raises(UnknownTurn, match="'a'"):
        memory.keep_trace(trace)
    with pytest.raises(UnknownTurn, match="'a'"):
        memory.keep_trace(Trace.from_json(trace.to_json()))
    with pytest.raises(InvalidQuery, match="no trace"):
        memory.trace()


def test_a_replay_of_a_forgotten_turn_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    tell(memory)
    trace = memory.ask("What did Mira's sister buy?").trace
    memory.forget(turns=["a"])
    with pytest.raises(evimem.TraceMismatch):
        replay(trace, memory)
    memory.close()
    assert not any(RARE in path.read_bytes().lower() for path in tmp_path.iterdir())


def test_a_speaker_is_forgotten_with_every_turn_and_their_name(memory: Memory) -> None:
    tell(memory)
    report = memory.forget(speaker="Mira")
    assert (report.status, report.turns, memory.stats().speakers) == ("erased", 1, ("Tomas",))
    assert memory.forget(speaker="Mira").turns == 0
    with pytest.raises(InvalidQuery, match="session, speaker"):
        memory.forget(speaker="Tomas", session="s")


def test_the_async_door_forgets_a_speaker_too(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with evimem.open_async(tmp_path / "m.evimem") as memory:
            await memory.add("Mira", "Hello.", time="2024-03-12T18:20")
            await memory.add("Tomas", "Hello.", time="2024-03-12T18:20")
            return (await memory.forget(speaker="Mira")).turns

    assert asyncio.run(scenario()) == 1
