"""Stretches that touch now or an earlier expression: the past three weeks, for two years, three days later."""

from __future__ import annotations

import re
from functools import partial

from .. import calendar
from ..calendar import DAY, WEEK, Interval
from ..context import Context
from ..counting import counted
from ..lexicon import ABOUT, COUNT, UNIT, UNIT_COUNT, UNITS, Quantity, counted_units, quantity
from ..rule_types import Reading, rules
from .units import away

Match = re.Match[str]


def _length(match: Match) -> tuple[str, int]:
    """Return how far a stretch goes; of a range ("a few") its longer end, since it bounds what happened in it."""
    unit = UNITS[match["unit"]]
    number = quantity(match["count"]) if match["count"] else Quantity(1, 1)
    return "day" if unit.name == "night" else unit.name, int(number.high) * unit.count


def rolling(match: Match, ctx: Context) -> Interval | None:
    """Read "the past three weeks", "over the last year": up to the day it is said on."""
    name, count = _length(match)
    end = ctx.now if name in ("minute", "hour") else ctx.today
    if (name, count) == ("week", 1):
        return calendar.days_of_week(end - WEEK)
    return calendar.span(calendar.step(name, end, -count), end)


def coming(match: Match, ctx: Context) -> Interval | None:
    """Read "the next few days": from tomorrow on, unless a story is told ("the next two days were hard")."""
    if ctx.direction(*match.span("x")) < 0:
        return None
    name, count = _length(match)
    start = ctx.now if name in ("minute", "hour") else ctx.today + DAY
    return calendar.span(start, calendar.step(name, start, count))


def lasting(match: Match, ctx: Context) -> Interval | None:
    """Read "I've had it for three years": begun in that unit, and open until now."""
    begun = away(match, ctx, -1)
    return begun and calendar.span(begun.start, ctx.now)


def later(match: Match, _: Context, sign: int) -> Reading:
    """Read "three days later", which counts from the expression before it and is vague without one."""
    name, number = counted_units(match)
    return Reading(None, "later", later=lambda base: counted(name, number, base.start, sign))


def following(match: Match, ctx: Context) -> Reading | None:
    """Read "the next day", "the week before", in a story that has named a time."""
    if not ctx.complete(match.end()):
        return None
    name = UNITS[match["unit"]].name
    sign = -1 if "previous" in match.group() or "before" in match.group() else 1
    return Reading(None, "later", later=lambda base: counted(name, Quantity(1, 1), base.start, sign), weak=True)


_MANY = rf"(?P<count>{COUNT}) (?:more )?(?P<unit>{UNIT})\b"
_ONE = r"(?P<count>)?(?P<unit>week|month|quarter|year|decade|hour)\b(?! (?:of|before)\b)"
_PERFECT = r"\b(?:have|has|'ve|haven't|hasn't|'s been)\b[^.!?\n]{0,60}? "
_NOT = r"\b(?:haven't|hasn't|have not|has not|never)\b[^.!?\n]{0,60}? "
_UNIT = r"(?P<unit>day|night|week|weekend|month|year)"

RULES = rules(
    ("unit", rf"(?P<x>\b(?:the |these )?(?:past|last) {_MANY})(?! of\b)", rolling),
    ("unit", rf"\b(?:over|in|during|within|for|throughout) (?P<x>(?:the|this) (?:past|last) {_ONE})", rolling),
    ("unit", rf"(?P<x>\bthe past {_ONE})", rolling),
    ("unit", rf"(?P<x>\b(?:the |these )?(?:next|coming) {_MANY})(?! of\b)", coming),
    ("unit", rf"\b(?:over|in|during|within|for|throughout) (?P<x>the (?:next|coming) {_ONE})", coming),
    (
        "unit",
        rf"{_PERFECT}(?P<x>for {ABOUT}(?:the (?:past|last) )?{UNIT_COUNT}(?: now| already| and counting)?\b)",
        lasting,
    ),
    ("unit", rf"{_NOT}(?P<x>in {ABOUT}{UNIT_COUNT})", lasting),
    ("unit", rf"(?P<x>(?:\bfor {ABOUT})?{UNIT_COUNT} (?:already|and counting)\b)", lasting),
    ("unit", rf"(?P<x>\bfor {ABOUT}{UNIT_COUNT} now\b)", lasting),
    ("unit", rf"\bbeen [^.!?\n]{{0,40}}?(?P<x>{UNIT_COUNT} (?:now|already)\b)", lasting),
    ("ago", rf"{UNIT_COUNT} (?:later|after that|afterwards)\b", partial(later, sign=1)),
    ("ago", rf"{UNIT_COUNT} (?:earlier|before that|beforehand)\b", partial(later, sign=-1)),
    ("any", rf"\bthe (?:next|following|previous) {_UNIT}\b", following),
    (
        "any",
        rf"\bthe {_UNIT} (?:before|after)\b(?! (?:last|next|that|this|the|my|our|we|i|he|she|they|it)\b)",
        following,
    ),
)
