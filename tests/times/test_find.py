from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from evimem.errors import InvalidQuery
from evimem.times import find_times, locate_times, mentions_time

TUESDAY = datetime(2024, 3, 12, 18, 20)


def test_two_weekends_ago_is_a_weekend():
    (found,) = find_times("We met two weekends ago.", said_at=TUESDAY)
    assert (found.start, found.end) == (datetime(2024, 3, 2), datetime(2024, 3, 4))
    assert (found.granularity, found.text) == ("weekend", "two weekends ago")


@pytest.mark.parametrize(
    ("text", "recent", "previous_week"),
    [
        ("last Monday", datetime(2024, 3, 11), datetime(2024, 3, 4)),
        ("last Friday", datetime(2024, 3, 8), datetime(2024, 3, 8)),
        ("last week", datetime(2024, 3, 5), datetime(2024, 3, 4)),
    ],
)
def test_the_weekday_convention_can_be_chosen(text: str, recent: datetime, previous_week: datetime):
    assert find_times(text, TUESDAY)[0].start == recent
    assert find_times(text, TUESDAY, weekday="previous_week")[0].start == previous_week


def test_an_unknown_convention_raises_an_error_that_lists_the_known_ones():
    with pytest.raises(InvalidQuery, match="'sunday' but must be one of 'recent', 'previous_week'"):
        find_times("last Monday", TUESDAY, weekday="sunday")


@pytest.mark.parametrize("zone", [None, timezone.utc, timezone(timedelta(hours=-9)), ZoneInfo("Europe/Vienna")])
def test_times_have_the_time_zone_of_said_at(zone):
    (found,) = find_times("since yesterday", TUESDAY.replace(tzinfo=zone))
    assert found.start == datetime(2024, 3, 11, tzinfo=zone)
    assert found.end == TUESDAY.replace(tzinfo=zone)
    assert found.start.tzinfo is found.end.tzinfo is zone


def test_a_located_time_has_the_range_of_its_words():
    text = "Yesterday I slept,  and the weekend before\n9 June  we sailed at İzmir last May."
    found = locate_times(text, TUESDAY)
    assert [located.time.text for located in found] == ["Yesterday", "the weekend before\n9 June", "last May"]
    assert all(text[located.start : located.end] == located.time.text for located in found)


def test_of_an_expression_that_is_not_read_whole_no_part_is_read():
    assert find_times("I left Friday before 9 June.", TUESDAY) == []
    assert find_times("It was a week last Friday.", TUESDAY) == []


@pytest.mark.parametrize("day", ["2000-04-23", "2008-03-23", "2011-04-24", "2016-03-27", "2025-04-20", "2038-04-25"])
def test_easter_is_on_its_known_dates(day: str):
    assert find_times(f"Easter {day[:4]}", TUESDAY)[0].start == datetime.fromisoformat(day)


def test_a_vague_phrase_keeps_its_words_and_no_interval():
    (found,) = find_times("I quit a while ago.", TUESDAY)
    assert (found.start, found.end, found.granularity, found.text) == (None, None, "vague", "a while ago")


def test_tense_decides_between_the_last_and_the_next_weekday():
    starts = [find_times(text, TUESDAY)[0].start for text in ("We met on Friday.", "We'll meet on Friday.")]
    assert starts == [datetime(2024, 3, 8), datetime(2024, 3, 15)]


def test_a_text_without_time_has_none():
    assert find_times("What did Jon do when he was sad?", TUESDAY) == []
    assert not mentions_time("What did Jon do when he was sad?")
    assert mentions_time("Where did they go in July 2022?")


def test_dates_that_do_not_exist_are_no_dates():
    assert find_times("It fell on 2023-02-29, on 13/13/2023 or 32 May.", TUESDAY) == []
    assert find_times("We'll win in 99999999999 years.", TUESDAY) == []


@pytest.mark.parametrize(
    "text",
    [
        "It fell on 31 June 2023.",
        "On June 9 25 guests came.",
        "We met a hundred and ten days ago.",
        "She left 3 years, 2 months and 4 days ago.",
        "The call was at 7 past 3pm.",
        "In Q3 FY24 we grew.",
        "It was built in May 300 BC.",
    ],
)
def test_beside_a_number_that_is_not_understood_nothing_is_read(text: str):
    assert find_times(text, TUESDAY) == []


def test_dates_outside_of_the_years_1_to_9999_are_left_out():
    assert find_times("We'll fly in two decades.", datetime(3, 1, 1))[0].start == datetime(20, 1, 1)
    assert find_times("Ten years ago we flew.", datetime(3, 1, 1)) == []
    assert find_times("tomorrow, next week, next year", datetime(9999, 12, 31)) == []


@pytest.mark.parametrize(
    ("text", "said", "start"),
    [
        ("What a mad day today.", "2020-06-21T00:38", datetime(2020, 6, 20)),
        ("What a mad day today.", "2020-06-21T05:00", datetime(2020, 6, 21)),
        ("Tonight was the best night.", "2025-01-01T00:14", datetime(2024, 12, 31, 18)),
        ("Heute war ich müde, und du?", "2024-01-03T00:37", datetime(2024, 1, 2)),
    ],
)
def test_before_four_o_clock_today_is_the_day_that_has_not_ended(text: str, said: str, start: datetime):
    assert [time.start for time in find_times(text, datetime.fromisoformat(said))] == [start]


@pytest.mark.parametrize(
    ("before", "text", "start"),
    [
        ("how was the summer of 2019?", "we sailed in August", datetime(2019, 8, 1)),
        ("what happened in 1916?", "on the 4th of May we moved", datetime(1916, 5, 4)),
        ("wann wart ihr in Island, 2017?", "anfang april waren wir zurück", datetime(2017, 4, 1)),
        ("it was in 2019", "last August we sailed", datetime(2023, 8, 1)),
    ],
)
def test_a_date_without_a_year_is_of_the_year_that_the_chat_speaks_of(before: str, text: str, start: datetime):
    earlier = TUESDAY - timedelta(minutes=9)
    assert [time.start for time in find_times(text, TUESDAY, before=[(before, earlier)])] == [start]
    long_ago = find_times(text, TUESDAY, before=[(before, TUESDAY - timedelta(days=9))])
    assert long_ago == find_times(text, TUESDAY)


@pytest.mark.parametrize(
    ("question", "answer", "day"),
    [
        ("When did the fridge pack up?", "Sunday, in the middle of the roast", -1),
        ("When do you leave?", "Sunday, in the middle of the night", 1),
        ("Quand est-ce que tu es tombé ?", "Dimanche, sur le chemin de la gare", -1),
    ],
)
def test_a_weekday_without_a_verb_looks_where_the_question_does(question: str, answer: str, day: int):
    found = find_times(answer, TUESDAY, before=[(question, TUESDAY - timedelta(minutes=2))])
    assert [time.start.weekday() for time in found if time.start] == [6]
    assert [time.start > TUESDAY for time in found if time.start] == [day > 0]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('The card says "see you on Friday" and no name.', 0),
        ('"See you on Friday!"', 1),
        ("Elle a écrit « je viens demain » et elle n'est pas venue.", 0),
        ('It says "since 9 June 2023" on the door.', 1),
    ],
)
def test_what_is_quoted_counts_from_another_day(text: str, count: int):
    assert len(find_times(text, TUESDAY)) == count


def test_the_last_saturdays_of_a_month_raise_nothing():
    assert find_times("It rained the last three Saturdays of June.", TUESDAY) == []


@pytest.mark.parametrize(
    ("before", "said", "start"),
    [
        (["Barbecue on Saturday 14 September?"], "we can do it a week later", datetime(2024, 9, 21)),
        (["Visite le 24 ?", "Impossible, mardi 24 je travaille."], "plutôt le lendemain alors", datetime(2024, 9, 25)),
        (["Ist der Umzug am 17. September?"], "dann halt am Samstag drauf", datetime(2024, 9, 21)),
        (["On 3 September, or 5 September?"], "the day after, then", None),  # which of both nothing shows
        (["How are you?"], "the day after, then", None),
    ],
)
def test_what_counts_from_a_time_is_read_by_the_last_message_that_tells_one(before, said, start):
    at = datetime(2024, 8, 31, 12)
    when = [time.start for time in find_times(said, at, before=[(text, at) for text in before])]
    assert when == ([start] if start else [])
