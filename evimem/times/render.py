"""An interval in English words: 8 March 2024, the week before 9 June 2023, May 2023, summer 2022, since 2016.

The words are the same on every machine: no locale is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from ..types.values import Granularity, TimeSpan
from . import calendar
from .calendar import DAY, PARTS
from .date_order import Weekday
from .find_times import find_times
from .lexicon import EN, FULL_MONTHS, fold

MONTH_NAMES = tuple(name.capitalize() for name in FULL_MONTHS)
SEASON_NAMES = {first_month: name for name, first_month in EN.seasons.values.items()}
QUARTERS = dict(zip((1, 4, 7, 10), EN.ordinals.words[:4], strict=True))  # by their first month
THIRDS = {(1, 11): "early ", (11, 21): "mid-", (21, 1): "late "}


def render(span: TimeSpan, said_at: datetime | None = None, finest: Granularity = "minute") -> str:
    """Return an interval in English words, as precisely as it is known.

    Args:
        span: The interval. A vague one, without start and end, is returned in the words it was read from.
        said_at: When it was said. With it, an adjacent week or weekend is named relative to that day ("the weekend
            before 9 June 2023"), which claims no more than the speaker did; without it, by its own date.
        finest: The finest granularity in the words; "day" leaves out times of day.
    """
    if span.start is None or span.end is None:
        return span.text
    start, end = span.start.replace(tzinfo=None), span.end.replace(tzinfo=None)
    begun = onset(span)
    if begun is not None and begun != span:  # "since the beginning of April" is its own onset
        return f"since {render(begun, said_at, finest)}"
    if end - start < DAY:
        return date(start) if finest == "day" else f"{date(start)}, {_hours(start, end)}"
    today = None if said_at is None else calendar.midnight(said_at.replace(tzinfo=None))
    if span.granularity == "week":
        return _week(start, end, today)
    if span.granularity == "weekend":
        return _weekend(start, end, today)
    return _UNITS.get(span.granularity, _range)(start, end)


def date(moment: datetime) -> str:
    """Return a day as "8 March 2024"."""
    return f"{day_of_year(moment)} {moment.year}"


def day_of_year(moment: datetime) -> str:
    """Return a day as "8 March"."""
    return f"{moment.day} {MONTH_NAMES[moment.month - 1]}"


def month(moment: datetime) -> str:
    return f"{MONTH_NAMES[moment.month - 1]} {moment.year}"


def season(moment: datetime) -> str:
    year = f"{moment.year}-{(moment.year + 1) % 100:02}" if moment.month == 12 else f"{moment.year}"
    return f"{SEASON_NAMES[moment.month]} {year}"


def _hours(start: datetime, end: datetime) -> str:
    for part, (first, last) in PARTS.items():
        if start == calendar.midnight(start) + timedelta(hours=first) and end == calendar.midnight(start) + timedelta(
            hours=last
        ):
            return f"in the {part}"
    if end - start <= timedelta(minutes=1):
        return f"{start:%H:%M}"
    return f"between {start:%H:%M} and {end:%H:%M}"


def _week(start: datetime, end: datetime, today: datetime | None) -> str:
    if end == today:
        return f"the week before {date(end)}"
    if start.day == 1:
        return f"the first week of {month(start)}"
    if end.day == 1:
        return f"the last week of {month(start)}"
    return f"the week of {date(start)}" if start.weekday() == 0 else f"the week before {date(end)}"


def _weekend(start: datetime, end: datetime, today: datetime | None) -> str:
    if today is not None and end <= today < end + 7 * DAY:
        return f"the weekend before {date(today)}"
    if today is not None and start - 7 * DAY < today < start:
        return f"the weekend after {date(today)}"
    return f"the weekend of {date(start)}"


def _range(start: datetime, end: datetime) -> str:
    """Name a third of a month or whole months where the ends fit, else both ends as days."""
    last = end - timedelta(microseconds=1)
    days = calendar.midnight(start) == start and calendar.midnight(end) == end
    if days and (start.year, start.month) == (last.year, last.month) and (start.day, end.day) in THIRDS:
        return f"{THIRDS[start.day, end.day]}{month(start)}"
    if days and start.day == end.day == 1:
        return _months(start, last)
    if (start.year, start.month) == (last.year, last.month):
        return date(start) if start.day == last.day else f"{start.day} to {date(last)}"
    if start.year == last.year:
        return f"{day_of_year(start)} to {date(last)}"
    return f"{date(start)} to {date(last)}"


def _months(start: datetime, last: datetime) -> str:
    if start.month == 1 and last.month == 12:
        return f"{start.year} to {last.year}"
    if start.year != last.year:
        return f"{month(start)} to {month(last)}"
    if start.month in QUARTERS and last.month == start.month + 2:
        return f"the {QUARTERS[start.month]} quarter of {start.year}"
    return f"{MONTH_NAMES[start.month - 1]} to {month(last)}"


_UNITS: dict[str, Callable[[datetime, datetime], str]] = {
    "day": lambda start, _: date(start),
    "month": lambda start, _: month(start),
    "season": lambda start, _: season(start),
    "year": lambda start, _: str(start.year),
    "decade": lambda start, _: f"the {start.year}s",
}


_SINCE = re.compile(r"(?:ever )?since ")
_LASTING = re.compile(r"(?:(?:for|in) )?(?:the (?:past|last) )?(.*?)(?: now| already| and counting)?$")


def onset(span: TimeSpan, weekday: Weekday = "recent") -> TimeSpan | None:
    """Return the calendar unit in which an open span began: the year 2016 of "since 2016".

    The start of an interval does not show how precisely it is known; the words of the span do, so they are read again.

    Args:
        span: A span that `find_times` returned.
        weekday: The convention that the span was read with; see `find_times`.

    Returns:
        The unit, with the span's words as its text. None for a span that is not open ("a few days ago"), and for one
        that was read with the other convention.
    """
    if span.granularity != "span" or span.start is None or span.end is None:
        return None
    folded = fold(span.text)
    if since := _SINCE.match(folded):
        words = span.text[since.end() :]
    else:
        lasting = _LASTING.match(folded)
        words = f"{span.text[slice(*lasting.span(1))]} ago" if lasting else ""
    for begun in find_times(f"it began in {words}", span.end, weekday):
        if begun.start == span.start:
            return replace(begun, text=span.text)
    return None
