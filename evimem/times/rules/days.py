"""Days and their parts, counted from today: yesterday, the day after tomorrow, this morning, last night."""

from __future__ import annotations

import re
from datetime import datetime

from .. import calendar
from ..calendar import DAY, TimeInterval
from ..context import AHEAD, Context
from ..fragments import one_of
from ..lexicon import DAYS_FROM_TODAY, DIGIT, NOT_BEFORE, TONIGHT
from ..rule_types import Meaning, needs, rules
from ..times_of_day import PARTS, part_of_day

Match = re.Match[str]


def named_day(match: Match, ctx: Context) -> TimeInterval:
    distance = DAYS_FROM_TODAY[match.group()]
    return calendar.day(ctx.today + distance * DAY if distance else _this_day(match, ctx, AHEAD))


def _this_day(match: Match, ctx: Context, ahead: int) -> datetime:
    """Return the day of today: before 4 o'clock the one that has not ended, unless the sentence looks ahead."""
    return ctx.today if ctx.direction(*match.span()) >= ahead else ctx.waking_day


def day_but_one(match: Match, ctx: Context) -> TimeInterval:
    return calendar.day(ctx.today + (-2 if match["before"] else 2) * DAY)


def part_of_today(match: Match, ctx: Context) -> Meaning:
    day = ctx.today if match["part"] == "morning" else _this_day(match, ctx, 0)
    return Meaning(part_of_day(day, match["part"]), "part")


def tonight(match: Match, ctx: Context) -> Meaning:
    return Meaning(part_of_day(_this_day(match, ctx, 0), "night"), "part")


def last_night(_: Match, ctx: Context) -> Meaning:
    return Meaning(part_of_day(ctx.today - DAY, "night"), "part")


def night_before_last(_: Match, ctx: Context) -> Meaning:
    return Meaning(part_of_day(ctx.today - 2 * DAY, "night"), "part")


def rest_of_today(match: Match, ctx: Context) -> TimeInterval | None:
    return calendar.span(ctx.now, ctx.today + DAY) if match["part"] == "later" else calendar.span(ctx.today, ctx.now)


# "Today's world" is an era, and "tomorrow never comes" a saying.
_NO_ERA = rf"(?! never\b|'s {one_of(NOT_BEFORE['today'])}\b)"

RULES = rules(
    (needs("day", [*DAYS_FROM_TODAY, DIGIT]), rf"\b{one_of(DAYS_FROM_TODAY)}\b{_NO_ERA}", named_day),
    (
        needs("day", DAYS_FROM_TODAY),
        r"\b(?:the )?day (?:(?P<before>before yesterday)|after tomorrow)\b",
        day_but_one,
    ),
    (needs("day", ["this"]), rf"\bthis (?P<part>{one_of(part for part in PARTS if part != 'night')})\b", part_of_today),
    (needs("day", [*TONIGHT, DIGIT]), rf"\b{one_of(TONIGHT)}\b", tonight),
    (needs("day", ["today"]), r"\b(?P<part>earlier|later) (?:on )?today\b", rest_of_today),
    (needs("unit", ["last"], ["night", "evening"]), r"\blast (?:night|evening)\b", last_night),
    (needs("unit", ["last"]), r"\bthe night before last\b", night_before_last),
)
