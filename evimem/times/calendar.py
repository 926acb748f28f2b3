"""The calendar as half-open intervals: a day, a weekend, a week, a month, a season, a feast, and steps between them.

Everything here is naive wall-clock time; the caller puts the time zone of the turn back on. Steps that leave the
years 1 to 9999 raise OverflowError or ValueError, which the one caller that reads expressions turns into silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..types.values import Granularity

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
SATURDAY = 5


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open stretch of wall-clock time. `granularity` names the unit it is; an irregular one is a span."""

    start: datetime
    end: datetime
    granularity: Granularity


def span(start: datetime, end: datetime) -> Interval | None:
    """Return the irregular interval between two moments, or None when it would be empty."""
    return Interval(start, end, "span") if start < end else None


def minute(moment: datetime) -> Interval:
    start = moment.replace(second=0, microsecond=0)
    return Interval(start, start + timedelta(minutes=1), "minute")


def hour(moment: datetime) -> Interval:
    start = moment.replace(minute=0, second=0, microsecond=0)
    return Interval(start, start + timedelta(hours=1), "hour")


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime) -> Interval:
    start = midnight(moment)
    return Interval(start, start + DAY, "day")


def week(moment: datetime) -> Interval:
    """Return the ISO week, Monday to Monday, that holds a moment."""
    monday = midnight(moment) - moment.weekday() * DAY
    return Interval(monday, monday + WEEK, "week")


def days_of_week(start: datetime) -> Interval:
    """Return the seven days from a day on, whichever weekday it is."""
    return Interval(start, start + WEEK, "week")


def weekend(moment: datetime) -> Interval:
    """Return the Saturday and Sunday of the ISO week that holds a moment."""
    saturday = week(moment).start + SATURDAY * DAY
    return Interval(saturday, saturday + 2 * DAY, "weekend")


def month(year: int, number: int) -> Interval:
    """Return a month; numbers outside 1 to 12 reach into the years before and after."""
    return Interval(first_of_month(year, number), first_of_month(year, number + 1), "month")


def first_of_month(year: int, number: int) -> datetime:
    years, index = divmod(number - 1, 12)
    return datetime(year + years, index + 1, 1)


def quarter(year: int, number: int) -> Interval | None:
    return span(first_of_month(year, 3 * number - 2), first_of_month(year, 3 * number + 1))


def season(year: int, first: int) -> Interval:
    """Return the meteorological season (northern) whose first month is given; winter begins in December."""
    return Interval(first_of_month(year, first), first_of_month(year, first + 3), "season")


def year(number: int) -> Interval:
    return Interval(datetime(number, 1, 1), datetime(number + 1, 1, 1), "year")


def decade(number: int) -> Interval:
    first = number - number % 10
    return Interval(datetime(first, 1, 1), datetime(first + 10, 1, 1), "decade")


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
    """Return the Sunday of Easter in the Gregorian calendar (Meeus' algorithm, whose letters these are)."""
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
    """Return the same day some months on, or the last day of a month that is too short for it."""
    first = first_of_month(moment.year, moment.month + count)
    last = (first_of_month(first.year, first.month + 1) - DAY).day
    return moment.replace(year=first.year, month=first.month, day=min(moment.day, last))


_UNITS: dict[str, Callable[[datetime], Interval]] = {
    "minute": minute,
    "hour": hour,
    "day": day,
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
    "weekend": lambda moment, count: moment + count * WEEK,
    "week": lambda moment, count: moment + count * WEEK,
    "month": shift_months,
    "quarter": lambda moment, count: shift_months(moment, 3 * count),
    "year": lambda moment, count: shift_months(moment, 12 * count),
    "decade": lambda moment, count: shift_months(moment, 120 * count),
}


def _known(interval: Interval | None) -> Interval:
    assert interval is not None  # a quarter is never empty
    return interval


def unit(name: str, moment: datetime) -> Interval:
    """Return the unit of the calendar that holds a moment, of 8 March by month the whole of March."""
    return _UNITS[name](moment)


def step(name: str, moment: datetime, count: int) -> datetime:
    """Return the moment a number of units later, or earlier when the count is negative."""
    return _STEPS[name](moment, count)
