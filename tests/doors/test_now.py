"""`now()`: the wall clock as a time that the memory takes, so that any chat can be continued."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import evimem
from evimem import InvalidQuery, Memory

MADRID = "Europe/Madrid"
SUMMER = datetime(2024, 7, 1, 10, tzinfo=timezone.utc)
IN_AUTUMN = datetime(2024, 10, 27, 1, 30, tzinfo=timezone.utc)  # 2:30 in Madrid for the second time that night


def opened(folder: Path, at: datetime = SUMMER, timezone: str | None = None) -> Memory:
    return evimem.open(folder / "m.evimem", clock=at.timestamp, timezone=timezone)


@pytest.fixture
def machine_in_lisbon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Lisbon")
        time.tzset()
        yield
    time.tzset()


def test_an_empty_memory_gets_aware_utc(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        assert memory.now() == SUMMER
        assert memory.now().utcoffset() == timedelta(0)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the machine's zone cannot be set here")
@pytest.mark.usefixtures("machine_in_lisbon")
def test_a_memory_of_naive_times_gets_the_local_time_of_the_machine(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add("Mira", "Hello.", time="2024-06-01T12:30")
        assert memory.now().isoformat() == "2024-07-01T11:00:00"


def test_a_memory_of_aware_times_gets_utc(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add("Mira", "Hello.", time="2024-06-01T12:30+02:00")
        assert memory.now().isoformat() == "2024-07-01T10:00:00+00:00"


def test_with_a_timezone_it_is_a_time_of_that_zone(tmp_path: Path) -> None:
    with opened(tmp_path, timezone=MADRID) as memory:
        assert memory.now().isoformat() == "2024-07-01T12:00:00+02:00"


def test_naive_times_of_a_timezone_stay_naive_and_local(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add("Mira", "Hello.", time="2024-06-01T12:30")
    with opened(tmp_path, IN_AUTUMN, MADRID) as memory:
        assert memory.now().isoformat() == "2024-10-27T02:30:00"
        assert memory.now().fold == 0


@pytest.mark.parametrize("zone", [None, MADRID])
@pytest.mark.parametrize("first", [None, "2024-06-01T12:30", "2024-06-01T12:30+05:30"])
def test_every_memory_takes_a_turn_that_is_said_now(tmp_path: Path, first: str | None, zone: str | None) -> None:
    if first:
        with opened(tmp_path) as memory:
            memory.add("Mira", "Hello.", time=first)
    with opened(tmp_path, IN_AUTUMN, zone) as memory:
        memory.add("Mira", "We adopted a puppy.", time=memory.now(), id="now")
        assert memory.turn("now").time == memory.now()
        assert memory.search("puppy", before=memory.now() + timedelta(1))[0].turn.id == "now"
        assert memory.ask("What did Mira adopt?", asked_at=memory.now()).trace is not None
        assert memory.check().problems == ()


def test_the_async_door_tells_the_same_time(tmp_path: Path) -> None:
    async def told() -> datetime:
        async with evimem.open_async(tmp_path / "m.evimem", clock=SUMMER.timestamp, timezone=MADRID) as memory:
            return await memory.now()

    with opened(tmp_path, timezone=MADRID) as memory:
        assert asyncio.run(told()) == memory.now()


def test_a_clock_beyond_the_calendar_is_refused(tmp_path: Path) -> None:
    with (
        evimem.open(tmp_path / "m.evimem", clock=lambda: 1e12) as memory,
        pytest.raises(InvalidQuery, match="beyond the calendar"),
    ):
        memory.now()
