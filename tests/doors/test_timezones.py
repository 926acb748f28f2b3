"""Naive and aware times together: `timezone=` says how naive ones are read."""

import contextlib
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

import evimem
from evimem import InvalidQuery, Memory, Turn

MADRID = "Europe/Madrid"


def said(id: str, time: str, text: str = "We adopted a puppy yesterday.") -> Turn:
    return Turn(id, "s", "Mira", text, datetime.fromisoformat(time))


def instants(memory: Memory) -> dict[str, int]:
    return dict(memory._core.store.db.rows("SELECT id, instant FROM turn"))


def test_naive_and_aware_times_mix_and_keep_the_order_of_utc(tmp_path):
    with evimem.open(tmp_path / "m.evimem", timezone=MADRID) as memory:
        memory.extend([said("b", "2024-07-01T12:30"), said("a", "2024-07-01T10:00+00:00")], strict=True)
        assert [turn.id for turn in memory.context("a", 1, 1)] == ["a", "b"]  # 12:30 in Madrid is 10:30 in UTC
        assert memory.turn("b").time.isoformat() == "2024-07-01T12:30:00+02:00"
        assert instants(memory)["b"] - instants(memory)["a"] == 30 * 60 * 1_000_000
        assert memory.check().problems == ()


def test_the_hour_that_a_clock_repeats_keeps_its_order(tmp_path):
    zone = ZoneInfo(MADRID)
    first, second = (datetime(2024, 10, 27, 2, 30, fold=fold, tzinfo=zone) for fold in (0, 1))
    with evimem.open(tmp_path / "m.evimem", timezone=MADRID) as memory:
        for name, time in (("late", second), ("early", first + timedelta(minutes=20))):
            memory.add("Mira", "Hello there.", time=time, id=name, session="s")
        assert [turn.id for turn in memory.context("late", 1, 1)] == ["early", "late"]
        assert memory.check().problems == ()


def test_the_timezone_is_kept_in_the_file(tmp_path):
    with evimem.open(tmp_path / "m.evimem", timezone=MADRID) as memory:
        memory.add("Mira", "Hello.", time="2024-07-01T12:30", id="a")
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "Hello.", time="2024-01-01T12:30", id="b")
        assert memory.turn("b").time.utcoffset() == timedelta(hours=1)
        assert memory.search("hello", before="2024-01-01T12:31")[0].turn.id == "b"
        memory.forget(everything=True)
        memory.add("Mira", "Hello.", time="2024-01-01T12:30", id="c")
        assert memory.turn("c").time.tzinfo is not None
    with pytest.raises(InvalidQuery, match="reads naive times in 'Europe/Madrid'"):
        evimem.open(tmp_path / "m.evimem", timezone="Asia/Tokyo")


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../../etc/passwd", "/etc/passwd", "a\x00b", 7, "x" * 5000, "."])
def test_what_is_no_timezone_is_refused(tmp_path, name):
    with pytest.raises(InvalidQuery, match="expected an IANA name"):
        evimem.open(tmp_path / "m.evimem", timezone=name)


@pytest.mark.parametrize("time", ["0001-01-01T00:00", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00+00:00"])
@pytest.mark.parametrize("offset", ["", "Z"])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_time_at_the_edge_of_the_calendar_is_kept_or_refused(tmp_path, time, offset, zone):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "Hello.", time=f"2024-07-01T12:30{offset}")
    with evimem.open(tmp_path / "m.evimem", timezone=zone) as memory:
        report = memory.extend([said("edge", time)])
        assert report.added + report.refused == 1
        assert memory.check().problems == ()
        for bound in (time, time[:16]):
            with contextlib.suppress(InvalidQuery):
                memory.search("hello", before=bound, asked_at=bound)


def test_what_is_derived_from_a_zone_of_the_caller_is_derived_again_alike(memory):
    zone = ZoneInfo(MADRID)
    memory.add("Mira", "We moved to Porto six months ago.", time=datetime(2024, 7, 1, 12, tzinfo=zone))
    assert memory.check().problems == ()


def test_the_bounds_of_a_search_and_of_forgetting_are_read_in_the_timezone(tmp_path):
    with evimem.open(tmp_path / "m.evimem", timezone=MADRID) as memory:
        memory.extend([said("a", "2024-07-01T10:00Z", "Hello."), said("b", "2024-07-01T13:00", "Hello.")], strict=True)
        assert [hit.turn.id for hit in memory.search("hello", after="2024-07-01T12:30")] == ["b"]
        assert memory.forget(before="2024-07-01T12:01").turns == 1
        assert [turn.id for turn in memory.turns()] == ["b"]


def test_an_export_of_the_other_kind_of_times_is_imported_with_its_facts(tmp_path):
    for number, offset in enumerate(("", "+00:00")):
        with evimem.open(tmp_path / f"{number}.evimem") as memory:
            memory.extend([said("a", f"2024-07-01T10:00{offset}")])
            memory.export(tmp_path / f"{number}.jsonl")
    for number, offset in enumerate(("", "+00:00")):
        with evimem.open(tmp_path / f"other-{number}.evimem", timezone=MADRID) as memory:
            memory.extend([said("z", f"2024-07-01T10:00{offset}")])
            assert memory.import_(tmp_path / f"{1 - number}.jsonl").added == 1
            assert memory.facts(["a"])
            assert memory.check().problems == ()
