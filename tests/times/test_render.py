from datetime import datetime

import pytest

from evimem.times import find_times, onset, render

THURSDAY = datetime(2023, 6, 15, 9, 30)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We met yesterday.", "14 June 2023"),
        ("We met last Friday.", "9 June 2023"),
        ("We met yesterday at 4 pm.", "14 June 2023, 16:00"),
        ("We met last night.", "14 June 2023, in the evening"),
        ("We met an hour ago.", "15 June 2023, between 08:00 and 09:00"),
        ("We met last week.", "the week before 15 June 2023"),
        ("We met the week before 9 June.", "the week before 9 June 2023"),
        ("We'll meet next week.", "the week of 19 June 2023"),
        ("We met in the first week of May.", "the first week of May 2023"),
        ("We met in the last week of May.", "the last week of May 2023"),
        ("We met last weekend.", "the weekend before 15 June 2023"),
        ("We'll meet this weekend.", "the weekend after 15 June 2023"),
        ("We met two weekends ago.", "the weekend of 3 June 2023"),
        ("We met last month.", "May 2023"),
        ("We met in early May.", "early May 2023"),
        ("We met in mid-May.", "mid-May 2023"),
        ("We met at the end of May.", "late May 2023"),
        ("We met last summer.", "summer 2022"),
        ("We met last winter.", "winter 2022-23"),
        ("We met last year.", "2022"),
        ("We met in the 90s.", "the 1990s"),
        ("Q3 2022 was good.", "the third quarter of 2022"),
        ("We met between March and May.", "March to May 2023"),
        ("I worked there from 2014 to 2018.", "2014 to 2018"),
        ("We were away 3-9 June.", "3 to 9 June 2023"),
        ("We were away from 28 May to 3 June.", "28 May to 3 June 2023"),
        ("We met a few days ago.", "10 to 13 June 2023"),
        ("We've known each other since 2016.", "since 2016"),
        ("I've been here since January.", "since January 2023"),
        ("I've had it for three years.", "since 2020"),
        ("I haven't slept since last Monday.", "since 12 June 2023"),
        ("We met a while ago.", "a while ago"),
    ],
)
def test_an_interval_is_rendered_as_precisely_as_it_is_known(text: str, words: str):
    assert render(find_times(text, THURSDAY)[0], THURSDAY) == words


def test_without_said_at_a_weekend_is_named_by_its_saturday():
    assert render(find_times("We met last weekend.", THURSDAY)[0]) == "the weekend of 10 June 2023"


def test_the_time_of_day_can_be_left_out():
    assert render(find_times("We met last night at 9.", THURSDAY)[0], finest="day") == "14 June 2023"


@pytest.mark.parametrize(
    ("text", "start", "granularity"),
    [
        ("I've lived here since 2016.", datetime(2016, 1, 1), "year"),
        ("I've lived here for 3 years now.", datetime(2020, 1, 1), "year"),
        ("I've had this cough for about two weeks.", datetime(2023, 5, 29), "week"),
        ("We've dated since last Friday.", datetime(2023, 6, 9), "day"),
        ("We've been married for a year and a half.", datetime(2021, 12, 1), "month"),
    ],
)
def test_the_onset_of_an_open_span_is_the_unit_that_it_names(text: str, start: datetime, granularity: str):
    begun = onset(find_times(text, THURSDAY)[0])
    assert begun is not None
    assert (begun.start, begun.granularity) == (start, granularity)


@pytest.mark.parametrize("text", ["We met a few days ago.", "We'll meet in a few days.", "It ran from 2014 to 2018."])
def test_a_span_that_is_not_open_has_no_onset(text: str):
    assert onset(find_times(text, THURSDAY)[0]) is None


def test_a_span_has_no_onset_under_another_convention():
    (since,) = find_times("It has rained since last Monday.", datetime(2023, 6, 14), weekday="previous_week")
    assert onset(since) is None
    assert onset(since, weekday="previous_week").start == datetime(2023, 6, 5)


def test_an_open_span_that_begins_in_a_part_of_a_month_is_rendered():
    said_at = datetime(2022, 1, 19, 20)
    (span,) = find_times("Nothing since the beginning of April.", said_at)
    assert "April" in render(span, said_at)
