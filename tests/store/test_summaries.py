"""Summaries of a store for pages, in a file and on a server: the counts are those of a listing."""

from collections import Counter
from datetime import date, datetime, timedelta, timezone

import pytest

import evimem
from evimem.loaders.examples import load_example
from evimem.types.stored import statements

PLACES = ("file", "server")


@pytest.fixture(params=PLACES)
def memory(request, tmp_path):
    if request.param == "file":
        opened = evimem.open(tmp_path / "m.evimem")
    else:
        opened = evimem.open(request.getfixturevalue("postgres"), user=str(tmp_path))
    with opened as memory:
        yield memory


@pytest.fixture
def held(memory):
    memory.extend(load_example("friends"), strict=True)
    return memory


def test_days_sessions_and_speakers_are_counted_as_a_listing_has_them(held):
    store, turns = held._core.store, list(held.turns())
    days = Counter(turn.time.date() for turn in turns)
    assert {one.day: one.turns for one in store.count_turns_by_day()} == days
    assert [one.day for one in store.count_turns_by_day()] == sorted(days)
    after, before = datetime(2024, 4, 1), datetime(2024, 9, 1)
    within = [turn for turn in turns if after <= turn.time < before]
    found = store.summarize_sessions(after, before, 100)
    assert {one.session: one.turns for one in found} == Counter(turn.session for turn in within)
    assert all(one.first == min(turn.time for turn in within if turn.session == one.session) for one in found)
    assert [one.last for one in found] == sorted((one.last for one in found), reverse=True)
    assert store.summarize_sessions(after, before, 2) == found[:2]
    assert {one.name: one.count for one in store.count_turns_by_speaker(9)} == Counter(turn.speaker for turn in turns)


def test_subjects_are_counted_as_the_facts_have_them(held):
    held.enrich()
    facts = statements(held.facts([turn.id for turn in held.turns()]))
    found = held._core.store.count_facts_by_subject(100)
    assert {one.name: one.count for one in found} == Counter(fact.subject for fact in facts)
    assert [one.count for one in found] == sorted((one.count for one in found), reverse=True)


def test_a_day_is_that_of_the_memorys_own_clock(memory):
    zone = timezone(timedelta(hours=9))
    memory.add("Mira", "Good morning.", time=datetime(2024, 3, 13, 1, tzinfo=zone), session="a")
    memory.add("Mira", "Good night.", time=datetime(2024, 3, 12, 23, tzinfo=zone), session="b")
    store = memory._core.store
    assert [(one.day, one.turns) for one in store.count_turns_by_day()] == [
        (date(2024, 3, 12), 1),
        (date(2024, 3, 13), 1),
    ]
    found = store.summarize_sessions(datetime(2024, 3, 12, tzinfo=zone), datetime(2024, 3, 13, tzinfo=zone), 9)
    assert [(one.session, one.first) for one in found] == [("b", datetime(2024, 3, 12, 23, tzinfo=zone))]


def test_traces_are_listed_newest_first_and_by_the_turns_that_they_read(held):
    store = held._core.store
    kept = [held.keep_trace(held.ask(question).trace) for question in ("When is the wedding?", "Who has a boat?")]
    assert [one.number for one in store.list_traces(9)] == kept[::-1]
    assert [one.number for one in store.list_traces(1)] == kept[1:]
    read = sorted(set(held.trace(kept[0]).read) - set(held.trace(kept[1]).read))
    assert [one.number for one in store.list_traces(9, read[:1])] == kept[:1]
    assert store.list_traces(9, ["no such turn"]) == ()


def test_the_jobs_of_a_turn_are_told_until_they_are_done(held):
    store = held._core.store
    (job,) = store.jobs_of_turn("s1:4")
    assert (job.kind, job.state, job.attempts, job.reason) == ("facts", "pending", 0, None)
    held.enrich()
    assert store.jobs_of_turn("s1:4") == ()
    assert store.jobs_of_turn("no such turn") == ()


def test_an_empty_memory_has_nothing_to_count(memory):
    store = memory._core.store
    assert (
        store.count_turns_by_day(),
        store.count_turns_by_speaker(9),
        store.count_facts_by_subject(9),
        store.list_traces(9),
    ) == ((), (), (), ())
