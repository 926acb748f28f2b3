"""Weekdays: last Friday, next Tuesday, on Sunday, two Saturdays ago.

"Last Friday" is the most recent past Friday, or with the other convention the Friday of the ISO week before. "Next
Friday" is the Friday of the next ISO week, which is what "next" adds to "this Friday" and to plain "Friday".
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from .. import calendar
from ..calendar import DAY, WEEK
from ..context import Context
from ..lexicon import COUNT, FULL_WEEKDAYS, WEEKDAY, WEEKDAYS, quantity
from ..rule_types import Reading, rules

Match = re.Match[str]


def _weekday(start: datetime) -> Reading:
    return Reading(calendar.day(start), "weekday")


def _in_week(moment: datetime, match: Match) -> datetime:
    return calendar.week(moment).start + WEEKDAYS[match["weekday"]] * DAY


def most_recent(match: Match, ctx: Context) -> Reading:
    return _weekday(calendar.weekday_before(ctx.today, WEEKDAYS[match["weekday"]]))


def upcoming(match: Match, ctx: Context) -> Reading:
    return _weekday(calendar.weekday_after(ctx.today, WEEKDAYS[match["weekday"]]))


def last(match: Match, ctx: Context) -> Reading:
    if ctx.weekday == "previous_week":
        return _weekday(_in_week(ctx.today - WEEK, match))
    return most_recent(match, ctx)


def last_but_one(match: Match, ctx: Context) -> Reading:
    recent = last(match, ctx).interval
    return _weekday((recent.start if recent else ctx.today) - WEEK)


def next_one(match: Match, ctx: Context) -> Reading:
    return _weekday(_in_week(ctx.today + WEEK, match))


def next_but_one(match: Match, ctx: Context) -> Reading:
    return _weekday(_in_week(ctx.today + 2 * WEEK, match))


def this_one(match: Match, ctx: Context) -> Reading:
    """Return that day of this week, or the one to come when it is over and the sentence does not look back."""
    start = _in_week(ctx.today, match)
    if start < ctx.today and ctx.direction(*match.span()) >= 0:
        return upcoming(match, ctx)
    return _weekday(start)


def bare(match: Match, ctx: Context) -> Reading | None:
    """Return the most recent one where the sentence looks back, else the next; weak where it may be part of a name."""
    if match["weekday"] not in FULL_WEEKDAYS and not (match["lead"] and ctx.capital(match.start("x"))):
        return None
    back = ctx.direction(*match.span("x")) < 0
    reading = most_recent(match, ctx) if back else upcoming(match, ctx)
    return replace(reading, weak=match["one_of_many"] is not None or not ctx.complete(match.end()))


def some_ago(match: Match, ctx: Context) -> Reading:
    weeks = int(quantity(match["count"]).low) - 1
    return _weekday(calendar.weekday_before(ctx.today, WEEKDAYS[match["weekday"].rstrip("s")]) - weeks * WEEK)


_DAY = rf"(?P<weekday>{WEEKDAY})\b"
_FULL = rf"(?P<weekday>(?:{'|'.join(FULL_WEEKDAYS)})s)"
_LEAD = r"(?:(?P<lead>on|by|until|till|since|before|after|for|from) )?"
_EACH = r"a|an|the|every|every (?:other|second|third|single)|each|any|one|some|most|my|your|our|another"
_NAMED = "black|good|fat|taco"
_MANY = rf"(?P<one_of_many>(?:{_EACH}|{_NAMED}) )?"

RULES = rules(
    ("weekday", rf"\b(?:last|previous|past) {_DAY}", last),
    ("weekday", rf"\b(?:(?:this|the) (?:past|last)|this previous) {_DAY}", most_recent),
    ("weekday", rf"\b(?:the |last )?{_DAY} before last\b", last_but_one),
    ("weekday", rf"\bnext {_DAY}", next_one),
    ("weekday", rf"\b(?:the |next )?{_DAY} after next\b", next_but_one),
    ("weekday", rf"\b(?:this |the )?(?:coming|upcoming) {_DAY}", upcoming),
    ("weekday", rf"\bthis {_DAY}", this_one),
    ("weekday", rf"\b{_LEAD}{_MANY}(?P<x>{_DAY})", bare),
    ("weekday", rf"(?P<count>{COUNT}) {_FULL} ago\b", some_ago),
)
