"""Dates in figures: the order that a text shows, else the caller's, its language's or its country's, else silence."""

from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem import InvalidQuery, find_times
from evimem.times.date_order import order_of_zone

SAID = datetime(2024, 3, 12, 10)
THIRD_OF_APRIL, FOURTH_OF_MARCH = datetime(2024, 4, 3), datetime(2024, 3, 4)
OF_ORDER = {"dmy": [THIRD_OF_APRIL], "mdy": [FOURTH_OF_MARCH], "ymd": [], None: []}
WRITTEN = {"dmy": "{0:%d}{1}{0:%m}{1}{0:%Y}", "mdy": "{0:%m}{1}{0:%d}{1}{0:%Y}", "ymd": "{0:%Y}{1}{0:%m}{1}{0:%d}"}
SENTENCES = {
    "en": "The car test is due on {}.",
    "fr": "Le contrat date du {} et je l'ai signé.",
    "de": "Die Rechnung ist vom {} und ich habe sie bezahlt.",
    "es": "La factura es del {} y ya la pagué.",
    "it": "La fattura è del {} e l'ho pagata.",
    "pt": "A fatura é de {} e já a paguei.",
    "hi": "बिल की तारीख़ {} है।",
    "ar": "تاريخ الفاتورة {}.",
    "ru": "{} мы переехали в Казань.",
    "el": "Μετακομίσαμε στις {} στην Πάτρα.",
    "tr": "Tatilim {}'de bitti.",
}


def starts(text: str, at: datetime = SAID, order: str | None = None) -> list[datetime | None]:
    return [time.start and time.start.replace(tzinfo=None) for time in find_times(text, at, date_order=order)]


@pytest.mark.parametrize("order", OF_ORDER)
@pytest.mark.parametrize("date", ["03/04/2024", "3/4/2024", "3-4-2024"])
def test_a_date_of_two_readings_is_read_in_the_order_given_or_not_at_all(date: str, order: str | None) -> None:
    for text in (f"The car test is due on {date}.", f"{date} was the day.", f"Paid ({date})"):
        assert starts(text, order=order) == OF_ORDER[order]


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("mark", ["/", ".", "-"])
@given(day=st.datetimes(datetime(1950, 1, 1), datetime(2049, 12, 31)), order=st.sampled_from(["dmy", "mdy"]))
def test_every_day_is_read_in_its_order_in_every_language(language: str, mark: str, day: datetime, order: str) -> None:
    written = WRITTEN[order].format(day, mark)
    found = starts(SENTENCES[language].format(written), order=order)
    assert found == [day.replace(hour=0, minute=0, second=0, microsecond=0)]


@pytest.mark.parametrize("language", [code for code in SENTENCES if code != "en"])
def test_a_language_that_writes_the_day_first_decides(language: str) -> None:
    assert starts(SENTENCES[language].format("03/04/2024")) == [THIRD_OF_APRIL]


@pytest.mark.parametrize("order", OF_ORDER)
@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("The wedding is on 25/12/2024 and the christening on 05/11/2024.", datetime(2024, 11, 5)),
        ("The wedding is on 12/25/2024 and the christening on 05/11/2024.", datetime(2024, 5, 11)),
        ("The wedding is on 25.12.2024 and the christening on 05/11/24.", datetime(2024, 11, 5)),
    ],
)
def test_another_date_of_the_text_shows_the_order(text: str, second: datetime, order: str | None) -> None:
    assert starts(text, order=order) == [datetime(2024, 12, 25), second]


def test_dates_that_show_two_orders_leave_the_third_unread() -> None:
    text = "Paid on 25/12/2024 and on 12/26/2024, due on 05/11/2024."
    assert starts(text) == [datetime(2024, 12, 25), datetime(2024, 12, 26)]


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/London", THIRD_OF_APRIL),
        ("Australia/Sydney", THIRD_OF_APRIL),
        ("America/Mexico_City", THIRD_OF_APRIL),
        ("America/New_York", FOURTH_OF_MARCH),
        ("Pacific/Honolulu", FOURTH_OF_MARCH),
        ("America/Toronto", None),
        ("Asia/Tokyo", None),
        ("UTC", None),
    ],
)
def test_the_country_of_a_timezone_decides_for_english(zone: str, day: datetime | None) -> None:
    at = SAID.replace(tzinfo=ZoneInfo(zone))
    assert starts(SENTENCES["en"].format("03/04/2024"), at) == ([] if day is None else [day])
    assert starts(SENTENCES["es"].format("03/04/2024"), at) == [THIRD_OF_APRIL]


@given(st.sampled_from(sorted(available_timezones())))
def test_no_zone_without_a_country_decides(name: str) -> None:
    of_no_country = "/" not in name and name.upper() == name and name not in {"PRC", "ROC", "ROK", "GB", "NZ"}
    assert not (of_no_country or name.startswith(("Etc/", "SystemV/"))) or order_of_zone(ZoneInfo(name)) is None


@pytest.mark.parametrize(
    ("written", "order", "day"),
    [
        ("04/11/87", "dmy", datetime(1987, 11, 4)),
        ("04/11/87", "mdy", datetime(1987, 4, 11)),
        ("87/11/04", "ymd", datetime(1987, 11, 4)),
        ("03.04.24", "dmy", THIRD_OF_APRIL),
        ("04/11/87", None, None),
        ("04/11/87", "ymd", None),
        ("20-10-24", "dmy", None),
    ],
)
def test_two_digits_of_a_year_are_read_whole_or_not_at_all(written: str, order: str | None, day: datetime) -> None:
    assert starts(f"I was born on {written}.", order=order) == ([] if day is None else [day])


@pytest.mark.parametrize("text", ["We meet on {} at 4 pm.", "We meet at 4 pm on {}.", "Doors at 4pm, {}."])
def test_the_hour_of_an_unread_day_is_not_one_of_today(text: str) -> None:
    assert starts(text.format("07/08/2024")) == []
    assert starts(text.format("07/08")) == []


@pytest.mark.parametrize(("weekday", "day"), [("Fri", datetime(2024, 6, 7)), ("Sat", datetime(2024, 7, 6))])
def test_a_weekday_beside_a_date_shows_which_it_is(weekday: str, day: datetime) -> None:
    for order in OF_ORDER:
        assert starts(f"{weekday} 6/7 we fly", order=order) == [day]


@pytest.mark.parametrize(
    "text",
    [
        "2023년 10월 3일에 이사했어요.",
        "3 Ekim 2023'te evlendik.",
        "3. října 2023 jsme odjeli.",
        "3 октября 2023 мы уехали.",
        "3.10.2023 мы уехали.",
    ],
)
def test_whole_dates_of_further_languages_are_read(text: str) -> None:
    assert starts(text) == [datetime(2023, 10, 3)]


@pytest.mark.parametrize("order", ["dd", "DMY", 7, ""])
def test_what_is_no_order_is_refused(order: object) -> None:
    with pytest.raises(InvalidQuery, match="expected 'dmy', 'mdy', 'ymd'"):
        find_times("today", SAID, date_order=order)  # type: ignore[arg-type]
