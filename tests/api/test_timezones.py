"""A timezone says how times are read and which day a moment is of: whatever offset it has, and whichever came first."""

import contextlib
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evimem
from evimem import InvalidQuery, InvalidTurn, Memory, Turn
from tests.sizes import few

SYDNEY, MADRID = "Australia/Sydney", "Europe/Madrid"
SAID = "We adopted a puppy yesterday."
ASKED = "When did Mira adopt a puppy?"
ZONES = [
    SYDNEY, "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/St_Johns",
    "Europe/Lisbon", "America/New_York", "Asia/Beirut", "Pacific/Chatham", "UTC",
]  # fmt: skip
MOMENTS = st.datetimes(datetime(2023, 1, 3), datetime(2025, 12, 28), timezones=st.just(timezone.utc)) | st.sampled_from(
    [datetime(2024, month, day, hour, 30, tzinfo=timezone.utc) for month, day in ((3, 31), (4, 7), (10, 27), (11, 3))
     for hour in (0, 1, 6, 14, 23)]
)  # fmt: skip


def opened(folder: Path | str, timezone: str | None = SYDNEY, name: str = "m", **more: Any) -> Memory:
    return evimem.open(Path(folder) / f"{name}.evimem", timezone=timezone, **more)


def days(memory: Memory, id: str) -> list[tuple[datetime, datetime]]:
    events = [fact.event for fact in memory.facts([id]) if fact.event is not None]
    assert all(event.start is not None and event.end is not None for event in events)
    return [(event.start.replace(tzinfo=None), event.end.replace(tzinfo=None)) for event in events]


def test_yesterday_is_that_of_the_users_calendar(tmp_path):
    with opened(tmp_path) as memory:
        memory.add("Mira", SAID, time="2024-07-01T22:00Z", id="a")  # 8:00 on 2 July in Sydney
        assert days(memory, "a") == [(datetime(2024, 7, 1), datetime(2024, 7, 2))]
        assert memory.turn("a").session == "2024-07-02"
        assert "1 July 2024" in memory.ask(ASKED).text
        assert "Mira, 2 Jul 2024: " in memory.block(ASKED).text
        assert [hit.turn.id for hit in memory.search("puppy", after="2024-07-01", before="2024-07-02")] == ["a"]
        assert memory.search("puppy", before="2024-07-01") == []


@given(st.sampled_from(ZONES), st.lists(MOMENTS, min_size=1, max_size=3, unique=True), st.randoms())
@few(8)
def test_facts_sessions_and_answers_do_not_depend_on_how_or_in_which_order_times_are_given(zone, moments, random):
    known = []
    for _ in range(2):
        order = random.sample(range(len(moments)), len(moments))
        with TemporaryDirectory() as folder, opened(folder, zone) as memory:
            for place in order:
                given = moments[place].astimezone(
                    random.choice([timezone.utc, timezone(timedelta(hours=-9.5)), ZoneInfo(zone)])
                )
                local = moments[place].astimezone(ZoneInfo(zone))
                if local.fold == 0 and random.random() < 0.5:
                    given = local.replace(tzinfo=None)
                memory.add("Mira", SAID, time=given, id=f"{place}")
            found = [(memory.turn(f"{place}").session, days(memory, f"{place}")) for place in range(len(moments))]
            known.append((found, memory.ask(ASKED, asked_at=moments[0]).text))
            assert memory.check().problems == ()
    assert known[0] == known[1]
    for moment, (session, spans) in zip(moments, known[0][0], strict=True):
        today = moment.astimezone(ZoneInfo(zone)).date()
        assert session == today.isoformat()
        assert [start.date() for start, _ in spans] == [today - timedelta(1)]


@given(st.sampled_from(ZONES), MOMENTS)
@few(8)
def test_a_day_of_a_fact_is_found_by_its_date_across_changes_of_the_clock(zone, moment):
    local = moment.astimezone(ZoneInfo(zone))
    day = datetime(local.year, 1 if local.month > 6 else 7, 15)
    with TemporaryDirectory() as folder, opened(folder, zone) as memory:
        memory.add("Mira", f"We adopted a puppy on {day:%d %B %Y}.", time=moment)
        assert len(memory.search("puppy", after=day, before=day + timedelta(1))) == 1
        assert memory.search("puppy", before=day) == []
        assert memory.search("puppy", after=day + timedelta(1)) == []


def test_a_memory_that_gets_its_timezone_later_reads_its_turns_again_when_it_is_rebuilt(tmp_path):
    turn = Turn("a", "s", "Mira", SAID, datetime(2024, 7, 1, 22, tzinfo=timezone.utc), role="user")
    with opened(tmp_path, None) as memory:
        memory.extend([turn], strict=True)
    with opened(tmp_path) as memory:
        assert memory.extend([turn]).existing == 1
        assert days(memory, "a") == [(datetime(2024, 6, 30), datetime(2024, 7, 1))]
        assert memory.check().problems == ()
        memory.rebuild()
        assert days(memory, "a") == [(datetime(2024, 7, 1), datetime(2024, 7, 2))]
        assert memory.turn("a") == turn
        assert memory.extend([turn]).existing == 1
        assert memory.check().problems == ()


@pytest.mark.parametrize("first", ["2024-07-01T12:00", "2024-07-01T12:00Z"])
def test_the_other_kind_of_times_is_refused_alike_by_every_call(tmp_path, first):
    other = "2024-07-02T12:00" if first.endswith("Z") else "2024-07-02T12:00Z"
    line = {"role": "user", "content": "Hello."}
    with opened(tmp_path, None) as memory:
        memory.add("Mira", SAID, time=first, id="a")
        says = "this memory holds .* times; open it with timezone="
        for call in (
            lambda: memory.add("Mira", "Hello.", time=other),
            lambda: memory.extend([Turn("b", "s", "Mira", "Hello.", datetime.fromisoformat(other))], strict=True),
            lambda: memory.remember([line], session="s", time=other),
        ):
            with pytest.raises(InvalidTurn, match=says):
                call()
        report = memory.extend([Turn("b", "s", "Mira", "Hello.", datetime.fromisoformat(other))])
        assert report.refused == 1
        assert memory.remember([{**line, "created_at": other}], session="s").refused == 1
        assert [turn.id for turn in memory.turns()] == ["a"]


@pytest.mark.parametrize("zone", [None, SYDNEY])
@pytest.mark.parametrize("first", [None, "2024-06-01T12:30", "2024-06-01T12:30Z"])
def test_now_is_taken_wherever_a_time_is(tmp_path, first, zone):
    if first:
        with opened(tmp_path, None) as memory:
            memory.add("Mira", "Hello.", time=first)
    with opened(tmp_path, zone, clock=datetime(2024, 7, 1, 22, tzinfo=timezone.utc).timestamp) as memory:
        memory.add("Mira", SAID, time="now", id="a")
        memory.extend([Turn("b", "s", "Mira", SAID, "now")], strict=True)
        memory.remember([{"role": "user", "content": "Hi there."}], session="r", time="now")
        assert {memory.turn("a").time, memory.turn("b").time, next(memory.turns(session="r")).time} == {memory.now()}
        assert memory.ask(ASKED, asked_at="now").citations
        assert memory.block(ASKED, asked_at="now").turns
        assert memory.search("puppy", before="now", asked_at="now")
        assert [hit.turn.session for hit in memory.search("puppy", after="now")] == ["r"]
        assert [turn.id for turn in memory.turns(after="now")][:2] == ["a", "b"]
        assert memory.forget(before="now").turns == bool(first)


@pytest.mark.parametrize(("order", "answer"), [("dmy", "3 April 2024"), ("mdy", "4 March 2024")])
def test_a_memory_keeps_how_its_dates_are_written(tmp_path, order, answer):
    with opened(tmp_path, None, date_order=order) as memory:
        memory.add("Nigel", "My exam is on 03/04/2024.", time="2024-03-01T10:00", id="MOT")
    with opened(tmp_path, None) as memory:
        memory.add("Nigel", "My flight is on 03/04/2024.", time="2024-03-01T10:00", id="passport")
        assert "03/04/2024" in memory.ask("When is Nigel's exam?").text
        assert {fact.event.start for fact in memory.facts(["MOT", "passport"]) if fact.event} == {
            datetime.strptime(answer, "%d %B %Y")
        }
        assert memory.check().problems == ()


@pytest.mark.parametrize(("zone", "month"), [("Europe/London", 4), ("America/Chicago", 3), ("America/Toronto", None)])
def test_the_country_of_the_timezone_tells_how_dates_are_written(tmp_path, zone, month):
    with opened(tmp_path, zone) as memory:
        memory.add("Nigel", "My exam is on 03/04/2024.", time="now", id="a")
        assert [start.month for start, _ in days(memory, "a")] == ([month] if month else [])


def test_an_import_into_another_zone_is_read_there(tmp_path):
    with opened(tmp_path, None, "utc") as memory:
        memory.add("Mira", SAID, time="2024-07-01T22:00Z", id="a")
        memory.export(tmp_path / "x.jsonl")
    with opened(tmp_path) as memory:
        assert memory.import_(tmp_path / "x.jsonl").added == 1
        assert days(memory, "a") == [(datetime(2024, 7, 1), datetime(2024, 7, 2))]
        assert memory.check().problems == ()


def test_content_without_an_id_is_known_again_after_a_timezone_was_given(tmp_path):
    for zone in (None, SYDNEY, SYDNEY):
        with opened(tmp_path, zone) as memory:
            memory.add("Mira", SAID, time="2024-07-01T22:00Z", session="s")
            memory.rebuild()
            assert len(list(memory.turns())) == 1


def test_another_order_is_read_after_a_rebuild(tmp_path):
    with opened(tmp_path, None) as memory:
        memory.add("Nigel", "My exam is on 03/04/2024.", time="2024-03-01T10:00", id="a")
        assert days(memory, "a") == []
        assert "March 2024" not in memory.ask("When is Nigel's exam?").text.replace("1 March 2024", "")
    with opened(tmp_path, None, date_order="dmy") as memory:
        memory.rebuild()
        assert days(memory, "a") == [(datetime(2024, 4, 3), datetime(2024, 4, 4))]


def test_an_order_of_dates_that_is_none_is_refused(tmp_path):
    with pytest.raises(InvalidQuery, match="expected 'dmy'"):
        opened(tmp_path, date_order="day first")


def said(id: str, time: str, text: str = "We adopted a puppy yesterday.") -> Turn:
    return Turn(id, "s", "Mira", text, datetime.fromisoformat(time))


def instants(memory: Memory) -> dict[str, int]:
    return dict(memory._core.store.db.rows("SELECT id, instant FROM turn"))


def test_naive_and_aware_times_mix_and_keep_the_order_of_utc(tmp_path):
    with opened(tmp_path, MADRID) as memory:
        memory.extend([said("b", "2024-07-01T12:30"), said("a", "2024-07-01T10:00+00:00")], strict=True)
        assert [turn.id for turn in memory.context("a", 1, 1)] == ["a", "b"]  # 12:30 in Madrid is 10:30 in UTC
        assert memory.turn("b").time.isoformat() == "2024-07-01T12:30:00+02:00"
        assert instants(memory)["b"] - instants(memory)["a"] == 30 * 60 * 1_000_000
        assert memory.check().problems == ()


def test_the_hour_that_a_clock_repeats_keeps_its_order(tmp_path):
    zone = ZoneInfo(MADRID)
    first, second = (datetime(2024, 10, 27, 2, 30, fold=fold, tzinfo=zone) for fold in (0, 1))
    with opened(tmp_path, MADRID) as memory:
        for name, time in (("late", second), ("early", first + timedelta(minutes=20))):
            memory.add("Mira", "Hello there.", time=time, id=name, session="s")
        assert [turn.id for turn in memory.context("late", 1, 1)] == ["early", "late"]
        assert memory.check().problems == ()


def test_the_timezone_is_kept_in_the_file(tmp_path):
    with opened(tmp_path, MADRID) as memory:
        memory.add("Mira", "Hello.", time="2024-07-01T12:30", id="a")
    with opened(tmp_path, None) as memory:
        memory.add("Mira", "Hello.", time="2024-01-01T12:30", id="b")
        assert memory.turn("b").time.utcoffset() == timedelta(hours=1)
        assert memory.search("hello", before="2024-01-01T12:31")[0].turn.id == "b"
        memory.forget(everything=True)
        memory.add("Mira", "Hello.", time="2024-01-01T12:30", id="c")
        assert memory.turn("c").time.tzinfo is not None
    with pytest.raises(InvalidQuery, match="reads naive times in 'Europe/Madrid'"):
        opened(tmp_path, "Asia/Tokyo")


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../../etc/passwd", "/etc/passwd", "a\x00b", 7, "x" * 5000, "."])
def test_what_is_no_timezone_is_refused(tmp_path, name):
    with pytest.raises(InvalidQuery, match="expected an IANA name"):
        opened(tmp_path, name)


@pytest.mark.parametrize("time", ["0001-01-01T00:00", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00+00:00"])
@pytest.mark.parametrize("offset", ["", "Z"])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_time_at_the_edge_of_the_calendar_is_kept_or_refused(tmp_path, time, offset, zone):
    with opened(tmp_path, None) as memory:
        memory.add("Mira", "Hello.", time=f"2024-07-01T12:30{offset}")
    with opened(tmp_path, zone) as memory:
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
    with opened(tmp_path, MADRID) as memory:
        memory.extend([said("a", "2024-07-01T10:00Z", "Hello."), said("b", "2024-07-01T13:00", "Hello.")], strict=True)
        assert [hit.turn.id for hit in memory.search("hello", after="2024-07-01T12:30")] == ["b"]
        assert memory.forget(before="2024-07-01T12:01").turns == 1
        assert [turn.id for turn in memory.turns()] == ["b"]


def test_an_export_of_the_other_kind_of_times_is_imported_with_its_facts(tmp_path):
    for number, offset in enumerate(("", "+00:00")):
        with opened(tmp_path, None, f"{number}") as memory:
            memory.extend([said("a", f"2024-07-01T10:00{offset}")])
            memory.export(tmp_path / f"{number}.jsonl")
    for number, offset in enumerate(("", "+00:00")):
        with opened(tmp_path, MADRID, f"other-{number}") as memory:
            memory.extend([said("z", f"2024-07-01T10:00{offset}")])
            assert memory.import_(tmp_path / f"{1 - number}.jsonl").added == 1
            assert memory.facts(["a"])
            assert memory.check().problems == ()


SUMMER = datetime(2024, 7, 1, 10, tzinfo=timezone.utc)
IN_AUTUMN = datetime(2024, 10, 27, 1, 30, tzinfo=timezone.utc)  # 2:30 in Madrid for the second time that night


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
    with opened(tmp_path, None, clock=SUMMER.timestamp) as memory:
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
        with opened(tmp_path, None) as memory:
            memory.add("Mira", "Hello.", time=first)
    with opened(tmp_path, zone, clock=at.timestamp) as memory:
        assert (memory.now().isoformat(), memory.now().fold) == (now, 0)
