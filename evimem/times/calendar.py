"""Calendar units as half-open intervals (days, weekends, weeks, months, seasons, years), and steps between them.

All moments are naive wall-clock times; `find_times` adds the time zone of the turn. Steps that leave the years 1 to
9999 raise OverflowError or ValueError; `possible` turns both into "no time".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..types.values import Granularity

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
SATURDAY = 5
BEFORE_DAWN = timedelta(hours=4)


@dataclass(frozen=True, slots=True)
class TimeInterval:
    """A half-open interval of wall-clock time. `granularity` names its unit; an irregular interval is a "span"."""

    start: datetime
    end: datetime
    granularity: Granularity


def span(start: datetime, end: datetime) -> TimeInterval | None:
    """Return the interval between two moments as a span, or None when it would be empty."""
    return TimeInterval(start, end, "span") if start < end else None


def minute(moment: datetime) -> TimeInterval:
    start = moment.replace(second=0, microsecond=0)
    return TimeInterval(start, start + timedelta(minutes=1), "minute")


def hour(moment: datetime) -> TimeInterval:
    start = moment.replace(minute=0, second=0, microsecond=0)
    return TimeInterval(start, start + timedelta(hours=1), "hour")


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def waking_day(moment: datetime) -> datetime:
    """Return midnight of the day that has not ended for one who is awake: before 4 o'clock that of the day before.

    A moment at 0:00 is a date whose hour is not known.
    """
    known = moment != midnight(moment) and moment > datetime.min + DAY
    return midnight(moment - BEFORE_DAWN if known else moment)


def day(moment: datetime) -> TimeInterval:
    start = midnight(moment)
    return TimeInterval(start, start + DAY, "day")


def week(moment: datetime) -> TimeInterval:
    """Return the ISO week, Monday to Monday, that contains a moment."""
    monday = midnight(moment) - moment.weekday() * DAY
    return TimeInterval(monday, monday + WEEK, "week")


def days_of_week(start: datetime) -> TimeInterval:
    """Return the seven days that begin on a day, whichever weekday it is."""
    return TimeInterval(start, start + WEEK, "week")


def weekend(moment: datetime) -> TimeInterval:
    """Return the Saturday and Sunday of the ISO week that contains a moment."""
    saturday = week(moment).start + SATURDAY * DAY
    return TimeInterval(saturday, saturday + 2 * DAY, "weekend")


def month(year: int, number: int) -> TimeInterval:
    """Return a month of a year; numbers outside of 1 to 12 are months of the years before and after."""
    return TimeInterval(first_of_month(year, number), first_of_month(year, number + 1), "month")


def first_of_month(year: int, number: int) -> datetime:
    years, index = divmod(number - 1, 12)
    return datetime(year + years, index + 1, 1)


def quarter(year: int, number: int) -> TimeInterval | None:
    return span(first_of_month(year, 3 * number - 2), first_of_month(year, 3 * number + 1))


def season(year: int, first: int) -> TimeInterval:
    """Return the three months from a first month on: 3 is the northern, meteorological spring, 12 the winter."""
    return TimeInterval(first_of_month(year, first), first_of_month(year, first + 3), "season")


def year(number: int) -> TimeInterval:
    return TimeInterval(datetime(number, 1, 1), datetime(number + 1, 1, 1), "year")


def decade(number: int) -> TimeInterval:
    first = number - number % 10
    return TimeInterval(datetime(first, 1, 1), datetime(first + 10, 1, 1), "decade")


def weekday_before(moment: datetime, weekday: int) -> datetime:
    """Return midnight of the last such weekday that lies wholly before the day of a moment."""
    return midnight(moment) - ((moment.weekday() - weekday - 1) % 7 + 1) * DAY


def weekday_after(moment: datetime, weekday: int) -> datetime:
    """Return midnight of the first such weekday after the day of a moment."""
    return midnight(moment) + ((weekday - moment.weekday() - 1) % 7 + 1) * DAY


def nth_weekday(year: int, number: int, weekday: int, n: int) -> datetime:
    """Return the n-th such weekday of a month; n = -1 is the last one."""
    if n < 0:
        return weekday_before(first_of_month(year, number + 1), weekday)
    return weekday_after(first_of_month(year, number) - DAY, weekday) + (n - 1) * WEEK


def easter(year: int) -> datetime:
    """Return Easter Sunday in the Gregorian calendar.

    Source: the anonymous Gregorian algorithm in Meeus, Astronomical Algorithms, chapter 8; the letters are its own.
    """
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    l = (32 + 2 * e + 2 * i - h - k) % 7  # noqa: E741
    m = (a + 11 * h + 19 * l) // 433
    number = (h + l - 7 * m + 90) // 25
    return datetime(year, number, (h + l - 7 * m + 33 * number + 19) % 32)


def shift_months(moment: datetime, count: int) -> datetime:
    """Return the same day a number of months later, or the last day of a month that is too short for it."""
    first = first_of_month(moment.year, moment.month + count)
    last = (first_of_month(first.year, first.month + 1) - DAY).day
    return moment.replace(year=first.year, month=first.month, day=min(moment.day, last))


def workday(moment: datetime, count: int) -> datetime:
    """Return the day so many working days, Monday to Friday, later or earlier."""
    step_by = DAY if count > 0 else -DAY
    for _ in range(abs(count)):
        moment += step_by
        while moment.weekday() >= SATURDAY:
            moment += step_by
    return moment


_UNITS: dict[str, Callable[[datetime], TimeInterval]] = {
    "minute": minute,
    "hour": hour,
    "day": day,
    "workday": day,
    "weekend": weekend,
    "week": week,
    "month": lambda moment: month(moment.year, moment.month),
    "quarter": lambda moment: _known(quarter(moment.year, (moment.month + 2) // 3)),
    "year": lambda moment: year(moment.year),
    "decade": lambda moment: decade(moment.year),
}
_STEPS: dict[str, Callable[[datetime, int], datetime]] = {
    "minute": lambda moment, count: moment + timedelta(minutes=count),
    "hour": lambda moment, count: moment + timedelta(hours=count),
    "day": lambda moment, count: moment + count * DAY,
    "workday": workday,
    "weekend": lambda moment, count: moment + count * WEEK,
    "week": lambda moment, count: moment + count * WEEK,
    "month": shift_months,
    "quarter": lambda moment, count: shift_months(moment, 3 * count),
    "year": lambda moment, count: shift_months(moment, 12 * count),
    "decade": lambda moment, count: shift_months(moment, 120 * count),
}


def _known(interval: TimeInterval | None) -> TimeInterval:
    assert interval is not None  # a quarter is never empty
    return interval


def unit(name: str, moment: datetime) -> TimeInterval:
    """Return the calendar unit that contains a moment: "month" of 8 March is the whole of March."""
    return _UNITS[name](moment)


def step(name: str, moment: datetime, count: int) -> datetime:
    """Return the moment a number of calendar units later, or earlier when the count is negative."""
    return _STEPS[name](moment, count)
