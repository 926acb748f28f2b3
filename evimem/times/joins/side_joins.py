"""Joins of an expression with the words around it: "the week before 9 June", "early June", "since 2016"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from ...lang import ENGLISH
from .. import calendar
from ..calendar import DAY, WEEK, TimeInterval
from ..context import Context
from ..fragments import WEEKDAY, Pattern, one_of
from ..lexicon import POSITIONS, UNIT_GROUPS, WEEKDAYS
from ..rule_types import Meaning
from ..times_of_day import PARTS, part_of_day
from .expression import Expression

Match = re.Match[str]
Extend = Callable[[Expression, Match, Context], "Meaning | None"]


@dataclass(frozen=True, slots=True)
class Suffix:
    """A pattern of what follows an expression; `extend` returns what both mean together, None when they do not join."""

    pattern: Pattern
    extend: Extend


@dataclass(frozen=True, slots=True)
class Prefix:
    """A pattern of what precedes an expression; `last` are the words it can end with, apart from "the"."""

    last: frozenset[str]
    pattern: Pattern
    extend: Extend


def part_after(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "Friday night", "9 June in the evening"; "Friday Night" is a title."""
    if expression.interval is None or not expression.is_a("day"):
        return None
    if expression.meaning.kind == "weekday" and ctx.capital(match.start("part")):
        return replace(expression.meaning, weak=True)
    return Meaning(part_of_day(expression.interval.start, match["part"]), "part")


def week_on(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "Tuesday week": a week after the coming Tuesday."""
    if expression.meaning.kind != "weekday" or expression.interval is None or not ctx.complete(match.end()):
        return None
    return Meaning(calendar.day(expression.interval.start + WEEK))


def part_before(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "the morning of 9 July"."""
    if expression.interval is None or not expression.is_a("day"):
        return None
    return Meaning(part_of_day(expression.interval.start, match["part"]), "part")


def _each_year(expression: Expression, change: Callable[[TimeInterval], TimeInterval | None]) -> Meaning | None:
    """Apply a change to an expression, and where it names no year to the expression in any other year."""
    if expression.interval is None:
        return None
    yearly = expression.meaning.yearly

    def changed(year: int) -> TimeInterval | None:
        whole = yearly(year) if yearly else None
        return change(whole) if whole else None

    return Meaning(change(expression.interval), yearly=changed if yearly else None)


_THIRDS: dict[str, int] = dict(ENGLISH.table("times.thirds"))


def third(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "early June", "the end of 2022"."""
    if expression.meaning.kind != "date" or not expression.is_a("month", "year", "season", "decade", "week"):
        return None
    index = _THIRDS[match["third"]]
    return _each_year(expression, lambda whole: third_of(whole, index))


def third_of(whole: TimeInterval, index: int) -> TimeInterval | None:
    """Return a third: ten days of a month, four months of a year, a month of a season, 3 or 4 years of a decade.

    `index` is 0, 1 or 2.
    """
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


def nth_of(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "the first weekend of August", "the last week of May", "the second half of 2024"."""
    if not expression.is_a("month", "year", "season"):
        return None
    n, words = POSITIONS[match["nth"]], match["of"]
    return _each_year(expression, lambda whole: nth_in(whole, n, words))


def nth_in(whole: TimeInterval, n: int, words: str) -> TimeInterval | None:
    """Return the n-th week, weekend, weekday, half or other unit of an interval; n = -1 is the last.

    The first week is the first seven days, the last week the last seven.
    """
    if words == "weekend" or words in WEEKDAYS:
        return _nth_day(whole, n, words)
    if words == "week":
        return calendar.days_of_week(whole.end - WEEK if n < 0 else whole.start + (n - 1) * WEEK)
    if words == "half":
        middle = calendar.step("month", whole.start, 6) if whole.granularity == "year" else whole.start + 15 * DAY
        return calendar.span(middle, whole.end) if n in (-1, 2) else calendar.span(whole.start, middle)
    start = calendar.step(words, whole.end, -1) if n < 0 else calendar.step(words, whole.start, n - 1)
    return calendar.unit(words, start)


def _nth_day(whole: TimeInterval, n: int, words: str) -> TimeInterval | None:
    weekday = calendar.SATURDAY if words == "weekend" else WEEKDAYS[words]
    if n < 0:
        start = calendar.weekday_before(whole.end, weekday)
    else:
        start = calendar.weekday_after(whole.start - DAY, weekday) + (n - 1) * WEEK
    if not whole.start <= start < whole.end:
        return None
    return calendar.weekend(start) if words == "weekend" else calendar.day(start)


def unit_next_to(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "the week before 9 June"."""
    base = expression.interval
    if base is None or base.granularity in ("minute", "hour"):
        return None
    interval = adjacent(base, match["unit"], match["side"])
    return Meaning(interval) if interval else None


def adjacent(base: TimeInterval, name: str, side: str) -> TimeInterval | None:
    """Return the unit or weekday before or after an interval, or (side "of") the week or weekend that contains it.

    The week before a day is the seven days before it; other units are those of the calendar.
    """
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


def open_since(expression: Expression, _: Match, ctx: Context) -> Meaning | None:
    """Read "since 2016": from then until now; a year or weekday that is ambiguous is the past one."""
    base = expression.interval
    if base is not None and base.start >= ctx.now:
        if expression.meaning.yearly is not None:
            base = expression.meaning.yearly(base.start.year - 1)
        elif expression.meaning.kind == "weekday":
            base = calendar.day(base.start - WEEK)
    since = calendar.span(base.start, ctx.now) if base else None
    return Meaning(since) if since else None


_PART = rf"(?P<part>{one_of(PARTS)})"
_UNIT = rf"(?P<unit>{one_of(UNIT_GROUPS['narrative'])}|{WEEKDAY})"
_COUNTED_UNIT = rf"(?P<of>{one_of(UNIT_GROUPS['counted'])}|{WEEKDAY})"
_THIRD = r"(?:(?:very )?(?P<third>early|mid|late|(?:beginning|start|middle|end)(?= of | in ))(?: part of| in| of)?)"
SUFFIXES = (
    Suffix(Pattern(rf",? (?:in the |at )?{_PART}\b"), part_after),
    Suffix(Pattern(r" week\b"), week_on),
)


def _prefix(last: str, pattern: str, extend: Extend) -> Prefix:
    return Prefix(frozenset(last.split()), Pattern(rf"{pattern}$"), extend)


PREFIXES = (
    _prefix("of", rf"\b(?:the )?{_PART} of (?:the )?", part_before),
    _prefix("early mid late of in", rf"\b(?:the )?{_THIRD}(?: |-)(?:the )?", third),
    _prefix("of in", rf"\b(?:the )?(?P<nth>{one_of(POSITIONS)}) {_COUNTED_UNIT} (?:of|in) ", nth_of),
    _prefix(
        "before after of following", rf"\b(?:the )?{_UNIT} (?P<side>before|after|of|following) (?:the )?", unit_next_to
    ),
)
SINCE = _prefix("since about around", r"\b(?:ever )?since (?:about |around )?(?:the )?", open_since)
