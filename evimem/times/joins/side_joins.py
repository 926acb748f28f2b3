"""What stands beside an expression and changes it: "the week before 9 June", "early June", "since 2016"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from .. import calendar
from ..calendar import DAY, WEEK, Interval
from ..context import Context
from ..counting import counted
from ..lexicon import ORDINALS, UNIT_COUNT, WEEKDAY, WEEKDAYS, compiled, counted_units, one_of
from ..rule_types import Reading
from ..times_of_day import part_of_day
from .found import Found

Match = re.Match[str]
Extend = Callable[[Found, Match, Context], "Reading | None"]


@dataclass(frozen=True, slots=True)
class Suffix:
    """A pattern that begins where an expression ends, and what the two mean together."""

    pattern: re.Pattern[str]
    extend: Extend


@dataclass(frozen=True, slots=True)
class Prefix:
    """A pattern that ends where an expression begins; `last` are the words it can end with, "the" left aside."""

    last: frozenset[str]
    pattern: re.Pattern[str]
    extend: Extend


def part_after(found: Found, match: Match, ctx: Context) -> Reading | None:
    """Read "Friday night", "9 June in the evening"; "Friday Night" is somebody's title."""
    if found.interval is None or not found.is_a("day"):
        return None
    if found.reading.kind == "weekday" and ctx.capital(match.start("part")):
        return replace(found.reading, weak=True)
    return Reading(part_of_day(found.interval.start, match["part"]), "part")


def week_on(found: Found, match: Match, ctx: Context) -> Reading | None:
    """Read "Tuesday week": a week after the coming Tuesday."""
    if found.reading.kind != "weekday" or found.interval is None or not ctx.complete(match.end()):
        return None
    return Reading(calendar.day(found.interval.start + WEEK))


def part_before(found: Found, match: Match, _: Context) -> Reading | None:
    """Read "the morning of 9 July"."""
    if found.interval is None or not found.is_a("day"):
        return None
    return Reading(part_of_day(found.interval.start, match["part"]), "part")


def _each_year(found: Found, change: Callable[[Interval], Interval | None]) -> Reading | None:
    """Change an expression in its own year and, where it names none, in any other."""
    if found.interval is None:
        return None
    yearly = found.reading.yearly

    def changed(year: int) -> Interval | None:
        whole = yearly(year) if yearly else None
        return change(whole) if whole else None

    return Reading(change(found.interval), yearly=changed if yearly else None)


_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}


def third(found: Found, match: Match, _: Context) -> Reading | None:
    if found.reading.kind != "date" or not found.is_a("month", "year", "season", "decade", "week"):
        return None
    index = _THIRDS[match["third"]]
    return _each_year(found, lambda whole: third_of(whole, index))


def third_of(whole: Interval, index: int) -> Interval | None:
    """Return ten days of a month, four months of a year, a month of a season, about three years of a decade."""
    start = whole.start
    if whole.granularity == "season":
        return calendar.month(start.year, start.month + index)
    edges = {
        "year": [datetime(start.year, month, 1) for month in (1, 5, 9)],
        "decade": [datetime(start.year + years, 1, 1) for years in (0, 4, 7)],
        "month": [start, start + 10 * DAY, start + 20 * DAY],
        "week": [start, start + 2 * DAY, start + 4 * DAY],
    }[whole.granularity] + [whole.end]
    return calendar.span(edges[index], edges[index + 1])


_NTH = {word: number for word, number in ORDINALS.items() if number <= 5} | {"last": -1, "final": -1}
_NTH |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5}


def nth_of(found: Found, match: Match, _: Context) -> Reading | None:
    """Read "the first weekend of August", "the last week of May", "the second half of 2024"."""
    if not found.is_a("month", "year", "season"):
        return None
    n, words = _NTH[match["nth"]], match["of"]
    return _each_year(found, lambda whole: nth_in(whole, n, words))


def nth_in(whole: Interval, n: int, words: str) -> Interval | None:
    """Return the n-th week, weekend, weekday, half... of an interval; n = -1 is the last. Weeks count from its ends."""
    if words == "weekend" or words in WEEKDAYS:
        return _nth_day(whole, n, words)
    if words == "week":
        return calendar.days_of_week(whole.end - WEEK if n < 0 else whole.start + (n - 1) * WEEK)
    if words == "half":
        middle = calendar.step("month", whole.start, 6) if whole.granularity == "year" else whole.start + 15 * DAY
        return calendar.span(middle, whole.end) if n in (-1, 2) else calendar.span(whole.start, middle)
    start = calendar.step(words, whole.end, -1) if n < 0 else calendar.step(words, whole.start, n - 1)
    return calendar.unit(words, start)


def _nth_day(whole: Interval, n: int, words: str) -> Interval | None:
    weekday = calendar.SATURDAY if words == "weekend" else WEEKDAYS[words]
    if n < 0:
        start = calendar.weekday_before(whole.end, weekday)
    else:
        start = calendar.weekday_after(whole.start - DAY, weekday) + (n - 1) * WEEK
    if not whole.start <= start < whole.end:
        return None
    return calendar.weekend(start) if words == "weekend" else calendar.day(start)


def unit_beside(found: Found, match: Match, _: Context) -> Reading | None:
    base = found.interval
    if base is None or base.granularity in ("minute", "hour"):
        return None
    interval = beside(base, match["unit"], match["side"])
    return Reading(interval) if interval else None


def beside(base: Interval, name: str, side: str) -> Interval | None:
    """Read "the week before 9 June" as the seven days before it, "the Friday before" as the last one before."""
    before = side == "before"
    if side == "of":
        return (
            calendar.unit(name, base.start) if name in ("week", "weekend") and base.end - base.start <= WEEK else None
        )
    if name in WEEKDAYS or name == "weekend":
        weekday = WEEKDAYS.get(name, calendar.SATURDAY)
        start = (
            calendar.weekday_before(base.start, weekday) if before else calendar.weekday_after(base.end - DAY, weekday)
        )
        return calendar.weekend(start) if name == "weekend" else calendar.day(start)
    if name == "week" and base.granularity in ("day", "weekend", "span"):
        return calendar.days_of_week(base.start - WEEK if before else base.end)
    if name in ("day", "night"):
        day = base.start - DAY if before else base.end
        return calendar.day(day) if name == "day" else part_of_day(day, "night")
    return calendar.unit(name, calendar.step(name, base.start, -1 if before else 1))


def count_beside(found: Found, match: Match, _: Context) -> Reading | None:
    """Read "two weekends before 17 July", "three days after Christmas", "a week from Friday"."""
    base, sign = found.interval, -1 if match["side"] in ("before", "prior to") else 1
    if base is None or base.granularity in ("minute", "hour"):
        return None
    name, number = counted_units(match)
    if name == "weekend":
        first = beside(base, name, "before" if sign < 0 else "after")
        return Reading(first and calendar.weekend(first.start + sign * (int(number.low) - 1) * WEEK))
    if name == "week" and found.is_a("day") and number.low == number.high:
        return Reading(calendar.day(base.start + sign * int(number.low) * WEEK))
    return Reading(counted(name, number, base.start, sign))


def open_since(found: Found, _: Match, ctx: Context) -> Reading | None:
    """Read "since 2016": from then until now, so of two years or weekdays it could be, the past one."""
    base = found.interval
    if base is not None and base.start >= ctx.now:
        if found.reading.yearly is not None:
            base = found.reading.yearly(base.start.year - 1)
        elif found.reading.kind == "weekday":
            base = calendar.day(base.start - WEEK)
    since = calendar.span(base.start, ctx.now) if base else None
    return Reading(since) if since else None


_WITHIN = rf"day|weekend|week|month|quarter|half|{WEEKDAY}"
_COUNTED_FROM = "before|after|prior to|from|following|on"
_PART = r"(?P<part>morning|afternoon|evening|night)"
_BESIDE = rf"(?P<unit>day|night|week|weekend|month|year|{WEEKDAY})"
_THIRD = r"(?:(?:very )?(?P<third>early|mid|late|(?:beginning|start|middle|end)(?= of | in ))(?: part of| in| of)?)"
SUFFIXES = (
    Suffix(compiled(rf",? (?:in the |at )?{_PART}\b"), part_after),
    Suffix(compiled(r" week\b"), week_on),
)


def _prefix(last: str, pattern: str, extend: Extend) -> Prefix:
    return Prefix(frozenset(last.split()), compiled(rf"{pattern}$"), extend)


PREFIXES = (
    _prefix("of", rf"\b(?:the )?{_PART} of (?:the )?", part_before),
    _prefix("early mid late of in", rf"\b(?:the )?{_THIRD}(?: |-)(?:the )?", third),
    _prefix("of in", rf"\b(?:the )?(?P<nth>{one_of(_NTH)}) (?P<of>{_WITHIN}) (?:of|in) ", nth_of),
    _prefix(
        "before after of following", rf"\b(?:the )?{_BESIDE} (?P<side>before|after|of|following) (?:the )?", unit_beside
    ),
    _prefix("before after to from following on", rf"{UNIT_COUNT} (?P<side>{_COUNTED_FROM}) ", count_beside),
)
SINCE = _prefix("since about around", r"\b(?:ever )?since (?:about |around )?(?:the )?", open_since)
