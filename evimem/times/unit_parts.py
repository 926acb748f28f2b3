"""Parts of an interval: its thirds, its n-th week or weekday, its first or last days."""

from __future__ import annotations

from datetime import datetime

from . import calendar
from .calendar import DAY, WEEK, TimeInterval
from .lexicon import UNITS, WEEKDAYS


def third_of(whole: TimeInterval, index: int) -> TimeInterval | None:
    """Return a third: ten days of a month, four months of a year, a month of a season or quarter, 3 years of a decade.

    `index` is 0, 1 or 2.
    """
    start = whole.start
    if whole.granularity == "span" and whole.end != calendar.first_of_month(start.year, start.month + 3):
        return None  # no quarter
    if whole.granularity in ("season", "span"):
        return calendar.month(start.year, start.month + index)
    known = {
        "year": [datetime(start.year, month, 1) for month in (1, 5, 9)],
        "decade": [datetime(start.year + years, 1, 1) for years in (0, 4, 7)],
        "month": [start, start + 10 * DAY, start + 20 * DAY],
        "week": [start, start + 2 * DAY, start + 4 * DAY],
    }
    edges = [*known.get(whole.granularity, ()), whole.end]
    if len(edges) == 1:
        return None  # "the end of the day"
    return calendar.span(edges[index], edges[index + 1])


def nth_in(whole: TimeInterval, n: int, words: str) -> TimeInterval | None:
    """Return the n-th week, weekend, weekday, half or other unit of an interval; n = -1 is the last."""
    return nth_part(
        whole, n, WEEKDAYS[words] if words in WEEKDAYS else "half" if words == "half" else UNITS[words].name
    )


def nth_part(whole: TimeInterval, n: int, name: str | int) -> TimeInterval | None:
    """Return the n-th of the units of a name, or of a weekday, in an interval; n = -1 is the last.

    The first week is the first seven days, the last week the last seven.
    """
    if name == "weekend" or isinstance(name, int):
        return _nth_day(whole, n, name)
    if name == "week":
        return calendar.days_of_week(whole.end - WEEK if n < 0 else whole.start + (n - 1) * WEEK)
    if name == "half":
        middle = calendar.step("month", whole.start, 6) if whole.granularity == "year" else whole.start + 15 * DAY
        return calendar.span(middle, whole.end) if n in (-1, 2) else calendar.span(whole.start, middle)
    if name == "workday":
        return calendar.day(calendar.workday(whole.end if n < 0 else whole.start - DAY, n))
    start = calendar.step(name, whole.end, -1) if n < 0 else calendar.step(name, whole.start, n - 1)
    return calendar.unit(name, start)


def _nth_day(whole: TimeInterval, n: int, name: str | int) -> TimeInterval | None:
    weekday = name if isinstance(name, int) else calendar.SATURDAY
    if n < 0:
        start = calendar.weekday_before(whole.end, weekday)
    else:
        start = calendar.weekday_after(whole.start - DAY, weekday) + (n - 1) * WEEK
    if not whole.start <= start < whole.end:
        return None
    return calendar.day(start) if isinstance(name, int) else calendar.weekend(start)


def run_of_units(whole: TimeInterval, n: int, name: str, count: int) -> TimeInterval | None:
    """Return the first so many units of an interval, or with n = -1 the last; None when there are not so many."""
    if n < 0:
        start, end = calendar.step(name, whole.end, -count), whole.end
    else:
        start, end = whole.start, calendar.step(name, whole.start, count)
    return calendar.span(start, end) if whole.start <= start and end <= whole.end else None
