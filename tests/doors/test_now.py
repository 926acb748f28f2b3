"""`now()`: the wall clock as a time that the memory takes, so that any chat can be continued."""

import time
from datetime import datetime, timezone
from pathlib import Path

import pytest

import evimem
from evimem import Memory

MADRID = "Europe/Madrid"
SUMMER = datetime(2024, 7, 1, 10, tzinfo=timezone.utc)
IN_AUTUMN = datetime(2024, 10, 27, 1, 30, tzinfo=timezone.utc)  # 2:30 in Madrid for the second time that night


def opened(folder: Path, at: datetime = SUMMER, timezone: str | None = None) -> Memory:
    return evimem.open(folder / "m.evimem", clock=at.timestamp, timezone=timezone)


@pytest.fixture
def machine_in_lisbon(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Lisbon")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the machine's zone cannot be set here")
@pytest.mark.usefixtures("machine_in_lisbon")
def test_a_memory_of_naive_times_gets_the_local_time_of_the_machine(tmp_path):
    with opened(tmp_path) as memory:
        memory.add("Mira", "Hello.", time="2024-06-01T12:30")
        assert memory.now().isoformat() == "2024-07-01T11:00:00"


@pytest.mark.parametrize(
    ("first", "zone", "at", "now"),
    [
        (None, None, SUMMER, "2024-07-01T10:00:00+00:00"),
        ("2024-06-01T12:30+02:00", None, SUMMER, "2024-07-01T10:00:00+00:00"),
        (None, MADRID, SUMMER, "2024-07-01T12:00:00+02:00"),
        ("2024-06-01T12:30", MADRID, IN_AUTUMN, "2024-10-27T02:30:00"),  # naive times stay naive, and local
    ],
)
def test_now_is_a_time_as_the_memory_takes_them(tmp_path, first, zone, at, now):
    if first:
        with opened(tmp_path) as memory:
            memory.add("Mira", "Hello.", time=first)
    with opened(tmp_path, at, zone) as memory:
        assert (memory.now().isoformat(), memory.now().fold) == (now, 0)
