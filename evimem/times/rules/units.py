"""Units of the calendar counted from now: last week, next month, this year, two weekends ago, in three days.

An interval is as precise as its words: "two months ago" is a month, "ten years ago" a year, "a few days ago" a range of
days. "Last week" is the seven days before today; "two weeks ago" and "next week" are ISO weeks.
"""

from __future__ import annotations

import re

from ...lang import ENGLISH
from .. import calendar
from ..calendar import DAY, WEEK, TimeInterval
from ..context import Context
from ..counting import units_from
from ..fragments import APPROXIMATELY, PREVIOUS, UPCOMING, Pattern, one_of
from ..lexicon import FULL_WEEKDAYS, PREVIOUS_WORDS, UNIT_GROUPS, UNITS, UPCOMING_WORDS, WEEKDAYS
from ..rule_types import AnyRule, Counted, count_rule, needs, rules

Match = re.Match[str]


def last(match: Match, ctx: Context) -> TimeInterval:
    """Read "last month"; "last week" by the default convention is the seven days before today."""
    name = UNITS[match["unit"]].name
    if name == "week" and ctx.weekday == "recent":
        return calendar.days_of_week(ctx.today - WEEK)
    return calendar.unit(name, calendar.step(name, ctx.today, -1))


def last_but_one(match: Match, ctx: Context) -> TimeInterval:
    """Read "the week before last"."""
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, -2))


def next_one(match: Match, ctx: Context) -> TimeInterval:
    """Read "next week"."""
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, 1))


def next_but_one(match: Match, ctx: Context) -> TimeInterval:
    """Read "the week after next"."""
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, 2))


def this_one(match: Match, ctx: Context) -> TimeInterval:
    """Read "this month"."""
    return calendar.unit(UNITS[match["unit"]].name, ctx.today)


def this_weekend(match: Match, ctx: Context) -> TimeInterval | None:
    """Return the weekend of this week, or the one that just ended when the sentence looks back at it."""
    current = calendar.weekend(ctx.today)
    if current.start <= ctx.today:
        return current
    direction = ctx.direction(*match.span()) or (1 if match["which"] in ("this", "for the") else -1)
    over = direction < 0 and (match["which"] != "this" or ctx.today.weekday() <= WEDNESDAY)
    return calendar.weekend(ctx.today - WEEK) if over else current


WEDNESDAY = 2  # up to which "this weekend" may be the one before


def upcoming_weekend(_: Match, ctx: Context) -> TimeInterval:
    """Read "the coming weekend"."""
    current = calendar.weekend(ctx.today)
    return current if current.start > ctx.today else calendar.weekend(ctx.today + WEEK)


def next_workday(match: Match, ctx: Context) -> TimeInterval:
    """Read "the next working day"."""
    return calendar.day(calendar.workday(ctx.today, -1 if match["which"] in PREVIOUS_WORDS else 1))


def away(counted: Counted, ctx: Context, sign: int) -> TimeInterval | None:
    """Return a number of units counted from now: forward with sign 1, back with sign -1."""
    moment = ctx.now
    if counted.more:  # "3 weeks and 4 days ago"
        moment = calendar.step(counted.more.unit, moment, sign * int(counted.more.number.low))
    return units_from(counted.unit, counted.number, moment, sign)


def ago(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "two weeks ago", "two weeks back"."""
    if counted.words["back"] == "back" and not ctx.complete(counted.end):
        return None  # "a week back home"
    return away(counted, ctx, -1)


def ago_to_the_day(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "a year ago today", "exactly a year ago", "a week ago Friday", "a year ago this month"."""
    words = counted.words.get("to") or ""
    start = calendar.weekday_before(ctx.today, WEEKDAYS[words]) if words in WEEKDAYS else ctx.today
    start -= DAY if words == "yesterday" else 0 * DAY
    then = calendar.step("day" if counted.unit == "night" else counted.unit, start, -int(counted.number.low))
    return calendar.unit(words if words in ("week", "weekend", "month") else "day", then)


def dated_since(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "it's been two months since we met": when they met."""
    return away(counted, ctx, -1)


def from_now(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "two weeks from now"; "two weeks from today" is a day."""
    if counted.words["base"] == "today" and counted.number.low == counted.number.high:
        unit = "day" if counted.unit == "night" else counted.unit
        return calendar.day(calendar.step(unit, ctx.today, int(counted.number.low)))
    return away(counted, ctx, 1)


def within(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "within two weeks": from today on, of hours from now on; a duration where the sentence looks back."""
    if counted.more or ctx.direction(counted.start, counted.end) < 0:
        return None
    start = ctx.now if counted.unit in ("minute", "hour") else ctx.today
    return calendar.span(start, calendar.step(counted.unit, start, int(counted.number.high)))


def ahead(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "in two weeks", unless it is a duration ("I read it in two days", "best in ten years")."""
    start, end = counted.start, counted.end
    duration = _DURATION.regex.search(ctx.folded, max(0, start - 40), start)
    if ctx.folded.startswith("a min", start) and counted.unit == "minute":
        return None  # "in a minute" means soon
    if duration or ctx.direction(start, end) < 0 or not ctx.complete(end):
        return None
    return away(counted, ctx, 1)


_DURATION = Pattern(rf"\b(?:{one_of(ENGLISH.words('times.duration_cues'))}|\w{{2,}}est)\b[^.,!?\n]{{0,24}} $")
_UNIT = rf"(?P<unit>{one_of(UNIT_GROUPS['relative'])})"
_CURRENT = rf"(?P<unit>{one_of(UNIT_GROUPS['current'])})"

RULES: tuple[AnyRule, ...] = (
    *rules(
        (needs("unit", UPCOMING_WORDS), rf"\b(?:the |this )?{UPCOMING} weekend\b", upcoming_weekend),
        (
            needs("unit", PREVIOUS_WORDS),
            rf"(?<!\bthe )\b(?:this )?{PREVIOUS} (?:long )?{_UNIT}\b(?! before| and a half| of\b)",
            last,
        ),
        (
            needs("unit", PREVIOUS_WORDS),
            r"\bthe (?:past|last) (?:long )?(?P<unit>weekend|wknd)\b(?! (?:before|of|in)\b)",
            last,
        ),
        (needs("unit", ["before"]), rf"\b(?:the )?{_UNIT} before last\b", last_but_one),
        (
            needs("unit", ["next", *UPCOMING_WORDS]),
            rf"(?<!\bthe )\b(?:next|(?:this )?{UPCOMING}) (?:long )?{_UNIT}\b(?! of\b)",
            next_one,
        ),
        (needs("unit", ["after"]), rf"\b(?:the )?{_UNIT} after next\b", next_but_one),
        (needs("unit", ["this", "current"]), rf"\b(?:this|the current) {_CURRENT}\b", this_one),
        (
            needs("unit", ["next", "following", *PREVIOUS_WORDS]),
            rf"\b(?:the )?(?P<which>next|following|{PREVIOUS}) (?:working day|business day|work ?day)\b",
            next_workday,
        ),
        (needs("unit", ["on"]), r"\bon (?P<x>the next (?P<unit>week|month|year))\b", next_one),
        (
            needs("unit", ["weekend", "wknd"]),
            r"\b(?P<which>this|for the|over the|at the|on the) (?:(?:long|bank holiday) )?(?:weekend|wknd)\b(?! of\b)",
            this_weekend,
        ),
    ),
    count_rule(
        needs("unit", ["within"]), rf"(?P<x>\bwithin (?:the next |the coming )?{APPROXIMATELY})", r"(?! of\b)", within
    ),
    count_rule(needs("ago", ["ago", "back"]), "", r"(?P<x> (?P<back>ago|back))\b", ago),
    count_rule(
        needs("ago", ["ago"]),
        "",
        r"(?P<x> ago (?:on |this |last )?"
        rf"(?P<to>today|to the day|yesterday|(?<=this )(?:week|weekend|month)|{one_of(FULL_WEEKDAYS)}))\b",
        ago_to_the_day,
    ),
    count_rule(needs("ago", ["exactly"]), r"(?P<x>\bexactly )", r"(?P<x> ago)\b", ago_to_the_day),
    count_rule(
        needs("ago", ["since"]),
        rf"\b(?:it's|it is|been)(?: already| only| just)? {APPROXIMATELY}",
        r" since\b",
        dated_since,
    ),
    count_rule(needs("ago", ["now", "today", "hence"]), "", r"(?P<x> (?:from (?P<base>now|today)|hence))\b", from_now),
    count_rule(needs("unit", ["in"]), rf"\bin {APPROXIMATELY}", r"(?P<x>(?: time)?)(?! of\b)", ahead),
)
