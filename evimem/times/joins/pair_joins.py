"""Joins of two adjacent expressions: "August" + "last year", "Friday" + "at 7 pm", "from March" + "to May 2022"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import calendar
from ..calendar import DAY, WEEK
from ..fragments import Pattern, one_of
from ..lexicon import BETWEEN
from ..rule_types import Meaning
from .expression import Expression

Join = Callable[[Expression, Expression], "Meaning | None"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A join of two expressions: `between` matches all that lies between them, `lead` what ends before the first.

    What `lead` matches belongs to the joined expression ("from" in "from March to May"). `join` returns None when the
    two do not belong together.
    """

    lead: Pattern
    between: Pattern
    join: Join


def weekday_and_date(left: Expression, right: Expression) -> Meaning | None:
    """Join "Friday" and "9 June": the date is the more precise."""
    for named, date in ((left, right), (right, left)):
        if named.meaning.kind == "weekday" and date.meaning.kind == "date" and date.is_a("day"):
            return Meaning(date.interval, yearly=date.meaning.yearly)
    return None


def weekday_in_week(left: Expression, right: Expression) -> Meaning | None:
    """Join "Tuesday" and "next week". With a weekday "last week" is the ISO week, not the seven days before today."""
    for named, week in ((left, right), (right, left)):
        if named.meaning.kind == "weekday" and named.interval and week.interval and week.is_a("week", "weekend"):
            monday = calendar.week(week.interval.start).start
            return Meaning(calendar.day(monday + named.interval.start.weekday() * DAY))
    return None


def in_that_year(left: Expression, right: Expression) -> Meaning | None:
    """Join "August" and "last year"."""
    for dated, year in ((left, right), (right, left)):
        if dated.meaning.yearly is not None and year.interval is not None and year.is_a("year"):
            return Meaning(dated.meaning.yearly(year.interval.start.year))
    return None


def day_and_clock(left: Expression, right: Expression) -> Meaning | None:
    """Join "yesterday" or "this evening" and "4 pm"; "at 7" is a time only with a part of the day."""
    for day, time in ((left, right), (right, left)):
        clock = time.meaning.clock
        if clock is None or day.interval is None or not (day.meaning.kind == "part" or day.is_a("day")):
            continue
        if day.meaning.kind == "part":
            return Meaning(clock.within(day.interval) or day.interval)
        return Meaning(clock.on(day.interval.start)) if clock.sure or clock.minutes % 60 else day.meaning
    return None


def through(left: Expression, right: Expression) -> Meaning | None:
    """Join the ends of a range; a first end without a year takes the year of the last one."""
    first, last = left.interval, right.interval
    if first is None or last is None:
        return None
    if left.meaning.yearly is not None:
        for year in (last.start.year, last.start.year - 1):
            dated = left.meaning.yearly(year)
            if dated is not None and dated.start < last.start:
                first = dated
                break
    if left.meaning.kind == "weekday" and right.meaning.kind == "date":
        first = calendar.day(calendar.weekday_before(last.start, first.start.weekday()))
    elif left.meaning.kind == right.meaning.kind == "weekday" and first.start > last.start:
        last = calendar.day(last.start + WEEK)
    if first.start >= last.start:
        return None
    return Meaning(calendar.span(first.start, last.start if last.granularity == "minute" else last.end))


_NOTHING = Pattern(r"$")
_AT = rf"(?:{one_of(BETWEEN['same_day'])} )?"
SAME_DAY = Pair(_NOTHING, Pattern(rf",? {_AT}(?:exactly )?"), day_and_clock)
SAME_YEAR = Pair(_NOTHING, Pattern(rf",? (?:{one_of(BETWEEN['same_year'])} )?(?:the )?"), in_that_year)
CLOSE: tuple[Pair, ...] = (
    Pair(_NOTHING, Pattern(r"[.,]? (?:the |on |on the )?\(?"), weekday_and_date),
    Pair(_NOTHING, Pattern(r",? (?:of |in |on |at )?"), weekday_in_week),
    SAME_YEAR,
    SAME_DAY,
)
RANGES: tuple[Pair, ...] = (
    Pair(
        Pattern(r"\b(?:from|between) (?:the )?$"), Pattern(r" (?:to|until|till|through|and) (?:the )?| ?- ?"), through
    ),
    Pair(_NOTHING, Pattern(r" (?:to|through|until|till) (?:the )?|-"), through),
)
