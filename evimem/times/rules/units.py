"""Units of the calendar counted from now: last week, next month, this year, two weekends ago, in three days.

A unit is as precise as it was said: "two months ago" is a month, "ten years ago" a year, "a few days ago" a range of
days. "Last week" counts back from today, the seven days before it; "two weeks ago" and "next week" are ISO weeks.
"""

from __future__ import annotations

import re

from .. import calendar
from ..calendar import DAY, WEEK, Interval
from ..context import Context
from ..counting import counted
from ..lexicon import ABOUT, FULL_WEEKDAYS, UNIT_COUNT, UNITS, WEEKDAYS, compiled, counted_units, one_of
from ..rule_types import rules

Match = re.Match[str]


def last(match: Match, ctx: Context) -> Interval:
    """Return the unit before the current one; a week, with the shipped convention, as the seven days before today."""
    name = UNITS[match["unit"]].name
    if name == "week" and ctx.weekday == "recent":
        return calendar.days_of_week(ctx.today - WEEK)
    return calendar.unit(name, calendar.step(name, ctx.today, -1))


def last_but_one(match: Match, ctx: Context) -> Interval:
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, -2))


def next_one(match: Match, ctx: Context) -> Interval:
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, 1))


def next_but_one(match: Match, ctx: Context) -> Interval:
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, 2))


def this_one(match: Match, ctx: Context) -> Interval:
    return calendar.unit(UNITS[match["unit"]].name, ctx.today)


def edge_of_the(match: Match, ctx: Context) -> Interval:
    """Read "the month" in "the end of the month": this one, or the one before when an end is looked back at."""
    name = match["unit"]
    ended = match["edge"].startswith("end") and ctx.direction(*match.span()) < 0
    return calendar.unit(name, calendar.step(name, ctx.today, -1 if ended else 0))


def part_of_this(match: Match, ctx: Context) -> Interval | None:
    unit = calendar.unit(UNITS[match["unit"]].name, ctx.today)
    if match["part"] == "earlier":
        return calendar.span(unit.start, ctx.today) or calendar.day(ctx.today)
    return calendar.span(ctx.today + DAY, unit.end) or calendar.day(ctx.today)


def this_weekend(match: Match, ctx: Context) -> Interval | None:
    """Return the weekend of this week, or the one that just ended when the sentence looks back at it."""
    current = calendar.weekend(ctx.today)
    if current.start <= ctx.today:
        return current
    direction = ctx.direction(*match.span()) or (1 if match["which"] in ("this", "for the") else -1)
    return calendar.weekend(ctx.today - WEEK) if direction < 0 else current


def coming_weekend(_: Match, ctx: Context) -> Interval:
    current = calendar.weekend(ctx.today)
    return current if current.start > ctx.today else calendar.weekend(ctx.today + WEEK)


def away(match: Match, ctx: Context, sign: int) -> Interval | None:
    name, number = counted_units(match)
    return counted(name, number, ctx.now, sign)


def ago(match: Match, ctx: Context) -> Interval | None:
    if match["back"] == "back" and not ctx.complete(match.end()):
        return None  # "a week back home"
    return away(match, ctx, -1)


def ago_to_the_day(match: Match, ctx: Context) -> Interval | None:
    """Read "a year ago today", "a week ago Friday", "a year ago this month"."""
    words = match["to"]
    start = calendar.weekday_before(ctx.today, WEEKDAYS[words]) if words in WEEKDAYS else ctx.today
    start -= DAY if words == "yesterday" else 0 * DAY
    name, number = counted_units(match)
    then = calendar.step("day" if name == "night" else name, start, -int(number.low))
    return calendar.unit(words if words in ("week", "month") else "day", then)


def dated_since(match: Match, ctx: Context) -> Interval | None:
    """Read "it's been two months since ...", which dates what follows."""
    return away(match, ctx, -1)


def from_now(match: Match, ctx: Context) -> Interval | None:
    return away(match, ctx, 1)


def ahead(match: Match, ctx: Context) -> Interval | None:
    """Read "in two weeks", unless that is how long something took ("I read it in two days", "best in ten years")."""
    start, end = match.span()
    how_long = _HOW_LONG.search(ctx.folded, max(0, start - 40), start)
    if how_long or ctx.direction(start, end) < 0 or not ctx.complete(end):
        return None
    return away(match, ctx, 1)


_HOW_LONG = compiled(
    r"\b(?:times?|minutes|hours|days|weeks|months|once|twice|best|worst|first|most|only|least|can|could|able|done"
    r"|\w{2,}est)\b[^.,!?\n]{0,24} $"
)
_BIG = r"(?P<unit>week|weekend|wknd|month|quarter|year|decade)"
_LAST = r"(?:(?:this )?(?:last|past|previous))"
_EDGE = r"(?P<edge>beginning|start|middle|end|early|later|late)"

RULES = rules(
    ("unit", rf"(?<!\bthe )\b{_LAST} {_BIG}\b(?! before| and a half| of\b)", last),
    ("unit", r"\bthe (?:past|last) (?P<unit>weekend|wknd)\b(?! (?:before|of|in)\b)", last),
    ("unit", rf"\b(?:the )?{_BIG} before last\b", last_but_one),
    ("unit", rf"(?<!\bthe )\b(?:next|(?:this )?(?:coming|upcoming)) {_BIG}\b(?! of\b)", next_one),
    ("unit", r"\b(?:the |this )?(?:coming|upcoming) weekend\b", coming_weekend),
    ("unit", rf"\b(?:the )?{_BIG} after next\b", next_but_one),
    ("unit", r"\b(?:this|the current) (?P<unit>week|month|quarter|year|decade)\b", this_one),
    (
        "unit",
        rf"\b{_EDGE} (?:of |in |on in )?(?P<x>the (?P<unit>week|month|year))\b(?! (?:of|before|after)\b)",
        edge_of_the,
    ),
    ("unit", r"\b(?P<part>earlier|later) (?:on )?(?:in )?this (?P<unit>week|month|year)\b", part_of_this),
    ("unit", r"\b(?P<which>this|for the|over the|at the|on the) weekend\b(?! of\b)", this_weekend),
    ("ago", rf"{UNIT_COUNT} (?P<back>ago|back)\b", ago),
    (
        "ago",
        rf"{UNIT_COUNT} ago (?:on |this |last )?"
        rf"(?P<to>today|yesterday|(?<=this )(?:week|month)|{one_of(FULL_WEEKDAYS)})\b",
        ago_to_the_day,
    ),
    (
        "ago",
        rf"\b(?:it's|it is|been)(?: already| only| just)? {ABOUT}(?P<x>{UNIT_COUNT}) since\b",
        dated_since,
    ),
    ("ago", rf"{UNIT_COUNT} (?:from (?:now|today)|hence)\b", from_now),
    ("unit", rf"\bin {ABOUT}(?!a min)(?P<x>{UNIT_COUNT})(?: time)?(?! of\b)", ahead),
)
