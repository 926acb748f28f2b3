"""Calendar units as half-open intervals, steps between them, their parts, and times of day.

All moments are naive wall-clock times; `find_times` adds the time zone of the turn. Steps that leave the years 1 to
9999 raise OverflowError or ValueError; `possible` turns both into "no time".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..lang import ENGLISH
from ..types.values import Granularity
from .lexicon import Quantity

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
SATURDAY = 5


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
    return midnight(moment - timedelta(hours=4) if known else moment)


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


def weekend_beside(moment: datetime, side: int) -> TimeInterval:
    """Return the last weekend before the day of a moment (-1), or the first one after it (1)."""
    return weekend(weekday_after(moment, SATURDAY) if side > 0 else weekday_before(moment, SATURDAY + 1))


def month(year: int, number: int) -> TimeInterval:
    """Return a month of a year; numbers outside of 1 to 12 are months of the years before and after."""
    return TimeInterval(first_of_month(year, number), first_of_month(year, number + 1), "month")


def first_of_month(year: int, number: int) -> datetime:
    years, index = divmod(number - 1, 12)
    return datetime(year + years, index + 1, 1)


def quarter(year: int, number: int) -> TimeInterval:
    return TimeInterval(first_of_month(year, 3 * number - 2), first_of_month(year, 3 * number + 1), "span")


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


def shift_months(moment: datetime, count: int) -> datetime:
    """Return the same day a number of months later, or the last day of a month that is too short for it."""
    first = first_of_month(moment.year, moment.month + count)
    last = (first_of_month(first.year, first.month + 1) - DAY).day
    return moment.replace(year=first.year, month=first.month, day=min(moment.day, last))


UNITS: dict[str, Callable[[datetime], TimeInterval]] = {
    "minute": minute,
    "hour": hour,
    "day": day,
    "night": day,
    "weekend": weekend,
    "week": week,
    "month": lambda moment: month(moment.year, moment.month),
    "quarter": lambda moment: quarter(moment.year, (moment.month + 2) // 3),
    "year": lambda moment: year(moment.year),
    "decade": lambda moment: decade(moment.year),
}
_STEPS: dict[str, Callable[[datetime, int], datetime]] = {
    "minute": lambda moment, count: moment + timedelta(minutes=count),
    "hour": lambda moment, count: moment + timedelta(hours=count),
    "day": lambda moment, count: moment + count * DAY,
    "night": lambda moment, count: moment + count * DAY,
    "weekend": lambda moment, count: moment + count * WEEK,
    "week": lambda moment, count: moment + count * WEEK,
    "month": shift_months,
    "quarter": lambda moment, count: shift_months(moment, 3 * count),
    "year": lambda moment, count: shift_months(moment, 12 * count),
    "decade": lambda moment, count: shift_months(moment, 120 * count),
}


def unit(name: str, moment: datetime) -> TimeInterval:
    """Return the calendar unit that contains a moment: "month" of 8 March is the whole of March."""
    return UNITS[name](moment)


def step(name: str, moment: datetime, count: int) -> datetime:
    """Return the moment a number of calendar units later, or earlier when the count is negative."""
    return _STEPS[name](moment, count)


# Finer units that count a half: "a year and a half" is 18 months.
FINER = {"decade": ("year", 10), "year": ("month", 12), "month": ("week", 4), "week": ("day", 7), "day": ("hour", 24)}
FINER |= {"hour": ("minute", 60), "weekend": ("day", 7), "quarter": ("month", 3)}


def units_from(name: str, number: Quantity, moment: datetime, sign: int) -> TimeInterval | None:
    """Return the unit that lies so many units after a moment (sign 1) or before it (sign -1).

    When the number is a range, return the span from the nearest to the farthest unit.
    """
    if name == "night":
        if number.low == number.high:
            return part_of_day(step("day", moment, sign * int(number.low)), "night")
        name = "day"
    if number.low % 1:
        name, parts = FINER[name]
        number = Quantity(number.low * parts, number.high * parts)
    ends = [unit(name, step(name, moment, sign * int(n))) for n in (number.low, number.high)]
    if ends[0] == ends[1]:
        return ends[0]
    return span(min(end.start for end in ends), max(end.end for end in ends))


def third_of(whole: TimeInterval, index: int) -> TimeInterval | None:
    """Return a third: ten days of a month, four months of a year, a month of a season or quarter, 3 years of a decade.

    `index` is 0, 1 or 2.
    """
    start = whole.start
    if whole.granularity == "span" and whole.end != first_of_month(start.year, start.month + 3):
        return None  # no quarter
    if whole.granularity in ("season", "span"):
        return month(start.year, start.month + index)
    known = {
        "year": [datetime(start.year, month, 1) for month in (1, 5, 9)],
        "decade": [datetime(start.year + years, 1, 1) for years in (0, 4, 7)],
        "month": [start, start + 10 * DAY, start + 20 * DAY],
        "week": [start, start + 2 * DAY, start + 4 * DAY],
    }
    edges = [*known.get(whole.granularity, ()), whole.end]
    if len(edges) == 1:
        return None  # "the end of the day"
    return span(edges[index], edges[index + 1])


def nth_part(whole: TimeInterval, n: int, name: str | int) -> TimeInterval | None:
    """Return the n-th of the units of a name, or of a weekday, in an interval; n = -1 is the last.

    The first week is the first seven days, the last week the last seven.
    """
    if name == "weekend" or isinstance(name, int):
        return _nth_day(whole, n, name)
    if name == "week":
        return days_of_week(whole.end - WEEK if n < 0 else whole.start + (n - 1) * WEEK)
    if name == "half":
        middle = step("month", whole.start, 6) if whole.granularity == "year" else whole.start + 15 * DAY
        return span(middle, whole.end) if n in (-1, 2) else span(whole.start, middle)
    if name not in UNITS:
        return None  # "the first fortnight"
    start = step(name, whole.end, -1) if n < 0 else step(name, whole.start, n - 1)
    return unit(name, start)


def _nth_day(whole: TimeInterval, n: int, name: str | int) -> TimeInterval | None:
    weekday = name if isinstance(name, int) else SATURDAY
    start = weekday_before(whole.end, weekday) if n < 0 else weekday_after(whole.start - DAY, weekday) + (n - 1) * WEEK
    if not whole.start <= start < whole.end:
        return None
    return day(start) if isinstance(name, int) else weekend(start)


HALF_DAY = 12 * 60  # minutes


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes from midnight.

    `sure` is False where am and pm are both possible ("at 7"): such a clock is read only within a part of the day.
    `length` is how many minutes it lasts, where it is told until when.
    """

    minutes: int
    sure: bool = True
    length: int = 1

    def on(self, day: datetime) -> TimeInterval:
        """Return this time on a day, as a minute, or as a span that begins with it."""
        start = minute(midnight(day) + timedelta(minutes=self.minutes))
        if self.length == 1:
            return start
        return TimeInterval(start.start, start.start + timedelta(minutes=self.length), "span")

    def until(self, last: Clock) -> Clock | None:
        """Return this time lasting until a later one of the day; None where that is earlier."""
        length = last.minutes - self.minutes
        return Clock(self.minutes, sure=self.sure and last.sure, length=length) if length > 1 else None

    def within(self, part: TimeInterval) -> TimeInterval | None:
        """Return the minute inside a part of the day, am or pm as the part requires; None when neither is in it.

        The hours before dawn belong to the morning and to the night before: 4:12 this morning, 2:17 last night.
        """
        if self.length > 1:
            return self.on(part.start)
        early = self.minutes % HALF_DAY
        for minutes in (early, early + HALF_DAY):
            moment = midnight(part.start) + timedelta(minutes=minutes)
            if part.start <= moment < part.end:
                return minute(moment)
        is_night, is_morning = part.start.hour >= PARTS["evening"][0], part.end.hour == HALF_DAY // 60
        if early >= 60 * PARTS["morning"][0] or not (is_night or is_morning):
            return None
        return minute(midnight(part.start) + timedelta(days=is_night, minutes=early))


PARTS: dict[str, tuple[int, int]] = {
    name: (first, last) for name, (first, last) in ENGLISH.table("dates.parts_of_day").items()
}


def part_of_day(day: datetime, part: str) -> TimeInterval | None:
    """Return the morning, afternoon, evening or night of a day."""
    first, last = PARTS[part]
    start = midnight(day)
    return span(start + timedelta(hours=first), start + timedelta(hours=last))
