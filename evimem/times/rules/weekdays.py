"""Weekdays: last Friday, next Tuesday, on Sunday, two Saturdays ago.

"Last Friday" is the most recent past Friday, or by the other convention the Friday of the ISO week before. "Next
Friday" is the Friday of the next ISO week: that is the difference to "this Friday" and plain "Friday".
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from .. import calendar
from ..calendar import DAY, WEEK
from ..context import Context
from ..fragments import PREVIOUS, UPCOMING, WEEKDAY, one_of
from ..lexicon import BEFORE, FULL_WEEKDAYS, PREVIOUS_WORDS, UPCOMING_WORDS, WEEKDAYS
from ..rule_types import AnyRule, Counted, Meaning, count_rule, needs, rules

Match = re.Match[str]


def _weekday(start: datetime) -> Meaning:
    return Meaning(calendar.day(start), "weekday")


def _in_week(moment: datetime, match: Match) -> datetime:
    return calendar.week(moment).start + WEEKDAYS[match["weekday"]] * DAY


def most_recent(match: Match, ctx: Context) -> Meaning:
    return _weekday(calendar.weekday_before(ctx.today, WEEKDAYS[match["weekday"]]))


def upcoming(match: Match, ctx: Context) -> Meaning:
    return _weekday(calendar.weekday_after(ctx.today, WEEKDAYS[match["weekday"]]))


def last(match: Match, ctx: Context) -> Meaning:
    """Read "last Friday" by the convention of the caller."""
    if ctx.weekday == "previous_week":
        return _weekday(_in_week(ctx.today - WEEK, match))
    return most_recent(match, ctx)


def last_but_one(match: Match, ctx: Context) -> Meaning:
    """Read "the Friday before last"."""
    recent = last(match, ctx).interval
    return _weekday((recent.start if recent else ctx.today) - WEEK)


def next_one(match: Match, ctx: Context) -> Meaning:
    """Read "next Friday"."""
    return _weekday(_in_week(ctx.today + WEEK, match))


def next_but_one(match: Match, ctx: Context) -> Meaning:
    """Read "the Friday after next"."""
    return _weekday(_in_week(ctx.today + 2 * WEEK, match))


def this_one(match: Match, ctx: Context) -> Meaning:
    """Read "this Friday": that of this ISO week, or the next one when it is over and the tense does not look back."""
    start = _in_week(ctx.today, match)
    if start < ctx.today and ctx.direction(*match.span()) >= 0:
        return upcoming(match, ctx)
    return _weekday(start)


def bare(match: Match, ctx: Context) -> Meaning | None:
    """Read "Friday": the most recent where the tense looks back, else the next; weak where it may be part of a name."""
    if match["weekday"] not in FULL_WEEKDAYS and not (match["lead"] and ctx.capital(match.start("x"))):
        return None
    back = ctx.direction(*match.span("x")) < 0
    reading = most_recent(match, ctx) if back else upcoming(match, ctx)
    return replace(reading, weak=match["one_of_many"] is not None or not ctx.complete(match.end()))


def some_ago(counted: Counted, ctx: Context) -> Meaning:
    """Read "two Saturdays ago"."""
    weeks = int(counted.number.low) - 1
    return _weekday(calendar.weekday_before(ctx.today, WEEKDAYS[counted.unit]) - weeks * WEEK)


_DAY = rf"(?P<weekday>{WEEKDAY})\b"
_LEAD = rf"(?:(?P<lead>{one_of(BEFORE['weekday'])}) )?"
_MANY = rf"(?P<one_of_many>{one_of(BEFORE['one_of_many'])} )?"

RULES: tuple[AnyRule, ...] = (
    *rules(
        (needs("weekday", PREVIOUS_WORDS), rf"\b{PREVIOUS} {_DAY}", last),
        (
            needs("weekday", PREVIOUS_WORDS),
            rf"\b(?:(?:this|the) (?:past|last)|this previous) {_DAY}",
            most_recent,
        ),
        (needs("weekday", ["before"]), rf"\b(?:the |last )?{_DAY} before last\b", last_but_one),
        (needs("weekday", ["next"]), rf"\bnext {_DAY}", next_one),
        (needs("weekday", ["after"]), rf"\b(?:the |next )?{_DAY} after next\b", next_but_one),
        (needs("weekday", UPCOMING_WORDS), rf"\b(?:this |the )?{UPCOMING} {_DAY}", upcoming),
        (needs("weekday", ["this"]), rf"\bthis {_DAY}", this_one),
        (needs("weekday"), rf"\b{_LEAD}{_MANY}(?P<x>{_DAY})", bare),
    ),
    count_rule(needs("weekday", ["ago"]), "", r"(?P<x> ago)\b", some_ago, units=FULL_WEEKDAYS),
)
