"""Days and their parts, counted from today: yesterday, the day after tomorrow, this morning, last night."""

from __future__ import annotations

import re

from .. import calendar
from ..calendar import DAY, Interval
from ..context import Context
from ..lexicon import one_of
from ..rule_types import Reading, rules
from ..times_of_day import part_of_day

Match = re.Match[str]


def named_day(match: Match, ctx: Context) -> Interval:
    initial = match.group()[:3]
    return calendar.day(ctx.today + (-1 if initial[0] == "y" else 0 if initial == "tod" else 1) * DAY)


def day_but_one(match: Match, ctx: Context) -> Interval:
    return calendar.day(ctx.today + (-2 if match["before"] else 2) * DAY)


def part_of_today(match: Match, ctx: Context) -> Reading:
    return Reading(part_of_day(ctx.today, match["part"]), "part")


def tonight(_: Match, ctx: Context) -> Reading:
    return Reading(part_of_day(ctx.today, "night"), "part")


def last_night(_: Match, ctx: Context) -> Reading:
    return Reading(part_of_day(ctx.today - DAY, "night"), "part")


def night_before_last(_: Match, ctx: Context) -> Reading:
    return Reading(part_of_day(ctx.today - 2 * DAY, "night"), "part")


def rest_of_today(match: Match, ctx: Context) -> Interval | None:
    return calendar.span(ctx.now, ctx.today + DAY) if match["part"] == "later" else calendar.span(ctx.today, ctx.now)


# "Today's world" is an age, and "tomorrow never comes" a saying.
_ERA = "world society youth kids children young generation market economy climate technology standards age"
_AGE = rf"(?! never\b|'s {one_of(_ERA.split())}\b)"

RULES = rules(
    ("day", rf"\b(?:today|yesterday|tomorrow|tomorow|tmrw|tmr|yday)\b{_AGE}", named_day),
    ("day", r"\b(?:the )?day (?:(?P<before>before yesterday)|after tomorrow)\b", day_but_one),
    ("day", r"\bthis (?P<part>morning|afternoon|evening)\b", part_of_today),
    ("day", r"\b(?:tonight|tonite)\b", tonight),
    ("day", r"\b(?P<part>earlier|later) (?:on )?today\b", rest_of_today),
    ("unit", r"\blast (?:night|evening)\b", last_night),
    ("unit", r"\bthe night before last\b", night_before_last),
)
