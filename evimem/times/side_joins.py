"""Joins of an expression with the words and numbers around it: "the week before 9 June", "two days before" 3 May."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..lang import ENGLISH
from . import calendar
from .calendar import DAY, PARTS, WEEK, TimeInterval, nth_in, part_of_day, run_of_units, third_of, units_from
from .context import Context
from .lexicon import (
    BETWEEN,
    CALENDAR_UNITS,
    DAYS_FROM_TODAY,
    ENDS,
    EVENT,
    POSITIONS,
    UNIT_GROUPS,
    WEEKDAY,
    WEEKDAYS,
    Pattern,
    UnitCount,
    one_of,
)
from .rule_types import Expression, Meaning

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
    if expression.meaning.kind == "date" and expression.meaning.weak:
        return None
    if expression.meaning.choices and not any(map(str.isdigit, ctx.folded[expression.start : expression.end])):
        return None  # "the second night"
    if expression.meaning.kind == "weekday" and ctx.capital(match.start("part")):
        return replace(expression.meaning, weak=True)
    return Meaning(part_of_day(expression.interval.start, match["part"]), "part")


def week_on(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "Tuesday week", "tomorrow week": a week after that day."""
    named = expression.meaning.kind == "weekday" or ctx.folded[expression.start : expression.end] in DAYS_FROM_TODAY
    if not named or expression.interval is None or not ctx.complete(match.end()):
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
    if expression.meaning.kind != "date" or not expression.is_a("month", "year", "season", "decade", "week", "span"):
        return None
    index = _THIRDS[match["third"]]
    return _each_year(expression, lambda whole: third_of(whole, index))


def few_days_of(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "the last few days of May" and "the first days of 2024" as its end or beginning."""
    if not expression.is_a("month", "year"):
        return None
    return _each_year(expression, lambda whole: third_of(whole, 2 if POSITIONS[match["nth"]] < 0 else 0))


def nth_of(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "the first weekend of August", "the last week of May", "the second half of 2024"."""
    if not expression.is_a("month", "year", "season"):
        return None
    n, words = POSITIONS[match["nth"]], match["of"]
    if words == "half" and match["in"]:
        return None  # "the second half in December"
    return _each_year(expression, lambda whole: nth_in(whole, n, words))


def unit_next_to(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "the week before 9 June"."""
    base = expression.interval
    if base is None or base.granularity in ("minute", "hour"):
        return None
    if match["event"] and not is_fine_enough(expression, match["unit"]):
        return None
    interval = adjacent(base, match["unit"], match["side"])
    return Meaning(interval) if interval else None


def is_fine_enough(event: Expression, unit: str) -> bool:
    """Return whether the date of an event is known so well that a unit counts from it: no week from "in June"."""
    return (
        event.is_a("day")
        or (event.is_a("month") and unit in ("month", "year"))
        or (event.is_a("year") and unit == "year")
    )


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


def weekend_of(expression: Expression, _: Match, __: Context) -> Meaning | None:
    """Read "the 4th of July weekend": the weekend of its week, of a Monday the one before it."""
    if expression.meaning.kind != "date" or not expression.is_a("day"):
        return None
    if expression.meaning.choices and expression.meaning.yearly is None:
        return None  # "the first weekend"
    return _each_year(
        expression, lambda day: calendar.weekend(day.start - (DAY if day.start.weekday() == 0 else 0 * DAY))
    )


def week_from(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "week commencing 14 October", "week ending Sunday": the seven days from or up to that day."""
    if expression.interval is None or not expression.is_a("day"):
        return None
    interval = expression.interval
    return Meaning(calendar.days_of_week(interval.end - WEEK if match["ending"] else interval.start))


def end_of_day(expression: Expression, _: Match, __: Context) -> Meaning | None:
    """Read "EOD Friday": that day."""
    return replace(expression.meaning, weak=False) if expression.is_a("day") else None


def this_time(expression: Expression, _: Match, ctx: Context) -> Meaning | None:
    """Read "this time next week": the day that is so far from today."""
    unit = ctx.folded[expression.start : expression.end].split()[-1]
    if expression.interval is None or unit not in ("week", "month", "year"):
        return None
    sign = 1 if expression.interval.start > ctx.today else -1
    return Meaning(calendar.day(calendar.step(unit, ctx.today, sign)))


def rest_of(expression: Expression, _: Match, ctx: Context) -> Meaning | None:
    """Read "the rest of August": from its beginning, or from today where it has begun."""
    base = expression.interval
    if base is None or not expression.is_a("month", "year", "season", "week", "weekend"):
        return None
    return Meaning(calendar.span(max(base.start, ctx.today), base.end) or base)


SUFFIXES = (
    Suffix(Pattern(rf",? (?:in the |at )?{_PART}\b"), part_after),
    Suffix(Pattern(r" week\b"), week_on),
    Suffix(Pattern(r" (?:weekend|wknd)\b"), weekend_of),
)


def _prefix(last: str, pattern: str, extend: Extend) -> Prefix:
    return Prefix(frozenset(last.split()), Pattern(rf"{pattern}\Z"), extend)


PREFIXES = (
    _prefix(
        "commencing beginning starting ending c b of w/c w/b wc",
        r"\b(?:the )?(?:week (?:commencing|beginning|starting|(?P<ending>ending))|w/c|w/b|wc) (?:on )?(?:the )?",
        week_from,
    ),
    _prefix(
        " ".join(word for words in ENDS for word in (words.split()[-1], "on")),
        rf"\b{one_of(ENDS)} (?:on )?",
        end_of_day,
    ),
    _prefix("time", r"\bthis time ", this_time),
    _prefix("of", r"\b(?:the )?(?:rest|remainder) of (?:the )?", rest_of),
    _prefix("of", rf"\b(?:the )?{_PART} of (?:the )?", part_before),
    _prefix("early mid late of in", rf"\b(?:the )?{_THIRD}(?: |-)(?:the )?", third),
    _prefix("of in", r"\b(?:the )?(?P<nth>first|last|final) (?:few )?(?:days|weeks) (?:of|in) ", few_days_of),
    _prefix("of in", rf"\b(?:the )?(?P<nth>{one_of(POSITIONS)}) {_COUNTED_UNIT} (?:of|(?P<in>in)) ", nth_of),
    _prefix(
        "before after of following on in",
        rf"\b(?:the )?{_UNIT} (?P<side>before|after|of|following) {EVENT}",
        unit_next_to,
    ),
)
SINCE = _prefix("since about around", r"\b(?:ever )?since (?:about |around )?(?:the )?", open_since)


LONGEST = 72  # characters between a number of units and what it is counted from
REACH = 128  # characters before an expression in which a number of units begins that ends LONGEST before it
BEFORE = 16  # characters before a number of units in which "for" or "the first" stands
_SIDE = Pattern(rf" (?P<side>{one_of(BETWEEN['counted_from'])}) {EVENT}")
_STARTING = Pattern(rf"(?: \w{{1,12}}){{0,3}}? (?:{one_of(BETWEEN['starting'])}) (?:on )?(?:the )?")
_OF = Pattern(r" (?:of|in) (?:the )?")
_NTH = Pattern(rf"\b(?P<x>(?:the )?(?P<nth>{one_of(POSITIONS)}) )\Z")
_LASTING_FOR = Pattern(r"\bfor (?:about |around )?\Z")
_LASTING = Pattern(r" for (?:about |around )?")


def counted_from(expression: Expression, ctx: Context) -> Expression | None:
    """Join "two weekends before" + "17 July", "a week from" + "Friday", "the first three days of" + "November"."""
    for count in ctx.counts_between(expression.start - REACH, expression.end + LONGEST + 1):
        if count.unit not in CALENDAR_UNITS:
            continue  # "the last two Saturdays of May"
        if 0 < expression.start - count.end <= LONGEST:
            for join in (_from_side, _run_from, _part_of, _from_today):
                joined = join(expression, count, ctx)
                if joined is not None:
                    return joined
        elif 0 < count.start - expression.end <= LONGEST and _LASTING.regex.fullmatch(
            ctx.folded, expression.end, count.start
        ):
            return _begun(expression, count, ctx)
    return None


def _from_side(expression: Expression, count: UnitCount, ctx: Context) -> Expression | None:
    """Read "three days after Christmas"; with "for" before it, "two weeks from 3 May" is a run of days."""
    side = _SIDE.regex.fullmatch(ctx.folded, count.end, expression.start)
    if side is None:
        return None
    lasting = _LASTING_FOR.regex.search(ctx.folded, max(0, count.start - BEFORE), count.start)
    if side["side"] == "from" and lasting:
        return _run(expression, count)
    if side["side"] == "on" and count.unit != "week":
        return None  # "it starts 3 months on Friday"
    if side["side"] == "from" and count.unit == "day" and expression.meaning.kind == "date":
        return None  # "two days from 1 April": of a week with two days
    if side["event"] and not is_fine_enough(expression, count.unit):
        return None
    meaning = _away(expression, count, -1 if side["side"] in ("before", "prior to") else 1)
    return Expression(count.start, expression.end, meaning) if meaning else None


def _away(expression: Expression, count: UnitCount, sign: int) -> Meaning | None:
    base = expression.interval
    if base is None or base.granularity in ("minute", "hour"):
        return None
    if count.unit == "weekend":
        first = adjacent(base, "weekend", "before" if sign < 0 else "after")
        return Meaning(first and calendar.weekend(first.start + sign * (int(count.number.low) - 1) * WEEK))
    if count.unit == "week" and expression.is_a("day") and count.number.low == count.number.high:
        return Meaning(calendar.day(base.start + sign * int(count.number.low) * WEEK))
    return Meaning(units_from(count.unit, count.number, base.start, sign))


def _run_from(expression: Expression, count: UnitCount, ctx: Context) -> Expression | None:
    """Read "4 days off starting Wednesday"."""
    starting = _STARTING.regex.fullmatch(ctx.folded, count.end, expression.start)
    return _run(expression, count) if starting else None


def _run(expression: Expression, count: UnitCount) -> Expression | None:
    whole = _units_on(expression, count)
    return Expression(count.start, expression.end, Meaning(whole)) if whole else None


def _units_on(expression: Expression, count: UnitCount) -> TimeInterval | None:
    base = expression.interval
    if base is None or count.number.low != count.number.high or not expression.is_a("day", "month", "minute"):
        return None
    return calendar.span(base.start, calendar.step(count.unit, base.start, int(count.number.low)))


def _begun(expression: Expression, count: UnitCount, ctx: Context) -> Expression | None:
    """Read "from Monday for two weeks", "starting 3 May for ten days"."""
    before = ctx.folded[max(0, expression.start - BEFORE) : expression.start].split()
    if not before or before[-1] not in ("from", *BETWEEN["starting"]):
        return None
    whole = _units_on(expression, count)
    return Expression(expression.start, count.end, Meaning(whole)) if whole else None


def _part_of(expression: Expression, count: UnitCount, ctx: Context) -> Expression | None:
    """Read "the first three days of November", "the last two weeks of August"."""
    nth = _NTH.regex.search(ctx.folded, max(0, count.start - BEFORE), count.start)
    if nth is None or not _OF.regex.fullmatch(ctx.folded, count.end, expression.start):
        return None
    n, base, yearly = POSITIONS[nth["nth"]], expression.interval, expression.meaning.yearly
    if base is None or n not in (1, -1) or count.number.low != count.number.high:
        return None
    number = int(count.number.low)

    def part(whole: TimeInterval | None) -> TimeInterval | None:
        return run_of_units(whole, n, count.unit, number) if whole else None

    meaning = Meaning(part(base), yearly=(lambda year: part(yearly(year))) if yearly else None)
    return Expression(nth.start(), expression.end, meaning)


def _from_today(expression: Expression, count: UnitCount, ctx: Context) -> Expression | None:
    """Read "a week today", "a fortnight tomorrow", "a week Friday": so many weeks after that day."""
    if count.unit != "week" or not expression.is_a("day") or ctx.folded[count.end : expression.start] != " ":
        return None
    if ctx.folded.startswith(("last ", "yesterday"), expression.start):
        meaning = _away(expression, count, -1)
        return Expression(count.start, expression.end, meaning) if meaning else None
    if ctx.direction(count.start, expression.end) < 0 or _LASTING_FOR.regex.search(
        ctx.folded, max(0, count.start - BEFORE), count.start
    ):
        return None
    meaning = _away(expression, count, 1)
    return Expression(count.start, expression.end, meaning) if meaning else None
