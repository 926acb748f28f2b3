"""A pool forgets turns that are older than they are kept, at calls and by the clock of its memories."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evimem import InvalidQuery, MemoryPool
from evimem.types.values import Turn

DAY = 86_400.0
NOON = 1_714_651_200.0  # 2 May 2024, 12:00 UTC


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


def turn(name: str, day: str) -> Turn:
    return Turn(name, "", "Vera", f"I bought {name}.", f"{day}T12:00")  # type: ignore[arg-type]


def ids(pool: MemoryPool, user: str = "ana") -> list[str]:
    with pool.open(user) as memory:
        return [one.id for one in memory.turns()]


def filled(root: Path, **options: Any) -> MemoryPool:
    pool = MemoryPool(root, timezone="UTC", **options)
    with pool.open("ana") as memory:
        memory.extend([turn("a kite", "2023-05-01"), turn("a lamp", "2023-05-10"), turn("a pear", "2024-05-02")])
    return pool


def test_turns_that_are_too_old_are_forgotten_when_their_memory_is_opened(tmp_path):
    filled(tmp_path).close()
    with MemoryPool(tmp_path, retain="365d", clock=Clock()) as pool:
        assert ids(pool) == ["a lamp", "a pear"]
    assert not any(b"a kite" in file.read_bytes() for file in tmp_path.rglob("*.evimem*"))


def test_a_memory_that_stays_open_is_looked_at_once_a_day(tmp_path):
    clock = Clock()
    with filled(tmp_path, retain=timedelta(days=367, hours=6), clock=clock) as pool:
        assert ids(pool) == ["a kite", "a lamp", "a pear"]
        clock.now += 0.9 * DAY
        assert ids(pool) == ["a kite", "a lamp", "a pear"]
        clock.now += 0.2 * DAY
        assert ids(pool) == ["a lamp", "a pear"]
        clock.now += 9 * DAY

        async def seen() -> list[str]:
            async with pool.open_async("ana") as memory:
                return [one.id for one in await memory.turns()]

        assert asyncio.run(seen()) == ["a pear"]


def test_without_it_nothing_is_forgotten(tmp_path):
    with filled(tmp_path, clock=Clock()) as pool:
        assert len(ids(pool)) == 3


@pytest.mark.parametrize("retain", ["", "365", "0d", "1h", "-3d", 30, timedelta(hours=1), "999999y"])
def test_what_is_no_time_span_is_refused(tmp_path, retain):
    with pytest.raises(InvalidQuery, match="365d"):
        MemoryPool(tmp_path, retain=retain)
