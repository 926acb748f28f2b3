"""Two expressions that are one: "August" + "last year", "Friday" + "at 7 pm", "from March" + "to May 2022"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .. import calendar
from ..calendar import DAY, WEEK
from ..lexicon import compiled
from ..rule_types import Reading
from .found import Found

Join = Callable[[Found, Found], "Reading | None"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbours: `lead` stands before the first and joins the whole, `between` is all that lies between them."""

    lead: re.Pattern[str]
    between: re.Pattern[str]
    join: Join


def weekday_and_date(left: Found, right: Found) -> Reading | None:
    """Join "Friday" and "9 June": the date says more."""
    for named, date in ((left, right), (right, left)):
        if named.reading.kind == "weekday" and date.reading.kind == "date" and date.is_a("day"):
            return Reading(date.interval, yearly=date.reading.yearly)
    return None


def weekday_in_week(left: Found, right: Found) -> Reading | None:
    """Join "Tuesday" and "next week". Of "last week", which else counts back from today, it takes the ISO week."""
    for named, week in ((left, right), (right, left)):
        if named.reading.kind == "weekday" and named.interval and week.interval and week.is_a("week", "weekend"):
            monday = calendar.week(week.interval.start).start
            return Reading(calendar.day(monday + named.interval.start.weekday() * DAY))
    return None


def in_that_year(left: Found, right: Found) -> Reading | None:
    """Join "August" and "last year"."""
    for dated, year in ((left, right), (right, left)):
        if dated.reading.yearly is not None and year.interval is not None and year.is_a("year"):
            return Reading(dated.reading.yearly(year.interval.start.year))
    return None


def day_and_clock(left: Found, right: Found) -> Reading | None:
    """Join "yesterday" or "this evening" and "4 pm"; an hour alone needs the part of the day to be a time."""
    for day, time in ((left, right), (right, left)):
        clock = time.reading.clock
        if clock is None or day.interval is None or not (day.reading.kind == "part" or day.is_a("day")):
            continue
        if day.reading.kind == "part":
            return Reading(clock.within(day.interval) or day.interval)
        return Reading(clock.on(day.interval.start)) if clock.sure or clock.minutes % 60 else day.reading
    return None


def through(left: Found, right: Found) -> Reading | None:
    """Join the ends of a range; a first end without a year takes the last one's."""
    first, last = left.interval, right.interval
    if first is None or last is None:
        return None
    if left.reading.yearly is not None:
        for year in (last.start.year, last.start.year - 1):
            dated = left.reading.yearly(year)
            if dated is not None and dated.start < last.start:
                first = dated
                break
    if left.reading.kind == "weekday" and right.reading.kind == "date":
        first = calendar.day(calendar.weekday_before(last.start, first.start.weekday()))
    elif left.reading.kind == right.reading.kind == "weekday" and first.start > last.start:
        last = calendar.day(last.start + WEEK)
    if first.start >= last.start:
        return None
    return Reading(calendar.span(first.start, last.start if last.granularity == "minute" else last.end))


_NOTHING = compiled(r"$")
_OR_ON = r"(?:at |around |at around |about |on |by |from |in )?"
SAME_DAY = Pair(_NOTHING, compiled(rf",? {_OR_ON}(?:exactly )?"), day_and_clock)
SAME_YEAR = Pair(_NOTHING, compiled(r",? (?:of |in |at |on |around |over )?(?:the )?"), in_that_year)
CLOSE: tuple[Pair, ...] = (
    Pair(_NOTHING, compiled(r"[.,]? (?:the |on |on the )?\(?"), weekday_and_date),
    Pair(_NOTHING, compiled(r",? (?:of |in |on |at )?"), weekday_in_week),
    SAME_YEAR,
    SAME_DAY,
)
RANGES: tuple[Pair, ...] = (
    Pair(
        compiled(r"\b(?:from|between) (?:the )?$"), compiled(r" (?:to|until|till|through|and) (?:the )?| ?- ?"), through
    ),
    Pair(_NOTHING, compiled(r" (?:to|through|until|till) (?:the )?|-"), through),
)
