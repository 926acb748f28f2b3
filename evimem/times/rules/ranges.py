"""Intervals from or to now, or from the expression before: the past three weeks, for two years, three days later."""

from __future__ import annotations

import re
from functools import partial

from .. import calendar
from ..calendar import DAY, WEEK, TimeInterval
from ..context import Context
from ..counting import counted
from ..fragments import APPROXIMATELY, COUNT, UNIT, UNIT_COUNT, counted_units, one_of
from ..lexicon import BEFORE, NOT_BEFORE, UNIT_GROUPS, UNITS, Quantity, quantity
from ..rule_types import Meaning, rules
from .units import away

Match = re.Match[str]


def _length(match: Match) -> tuple[str, int]:
    """Return unit and number of an interval; of a range ("a few") the larger number, to leave nothing out."""
    unit = UNITS[match["unit"]]
    number = quantity(match["count"]) if match["count"] else Quantity(1, 1)
    return "day" if unit.name == "night" else unit.name, int(number.high) * unit.count


def rolling(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the past three weeks", "over the last year": up to today."""
    name, count = _length(match)
    end = ctx.now if name in ("minute", "hour") else ctx.today
    if (name, count) == ("week", 1):
        return calendar.days_of_week(end - WEEK)
    return calendar.span(calendar.step(name, end, -count), end)


def coming(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the next few days": from tomorrow on, unless the sentence looks back ("the next two days were hard")."""
    if ctx.direction(*match.span("x")) < 0:
        return None
    name, count = _length(match)
    start = ctx.now if name in ("minute", "hour") else ctx.today + DAY
    return calendar.span(start, calendar.step(name, start, count))


def lasting(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "I've had it for three years": from the beginning of that unit until now."""
    begun = away(match, ctx, -1)
    return begun and calendar.span(begun.start, ctx.now)


def later(match: Match, _: Context, sign: int) -> Meaning:
    """Read "three days later", which counts from the expression before it and is vague without one."""
    name, number = counted_units(match)
    return Meaning(None, "later", later=lambda base: counted(name, number, base.start, sign))


def following(match: Match, ctx: Context) -> Meaning | None:
    """Read "the next day", "the week before", after an expression that they count from."""
    if not ctx.complete(match.end()):
        return None
    name = UNITS[match["unit"]].name
    sign = -1 if "previous" in match.group() or "before" in match.group() else 1
    return Meaning(None, "later", later=lambda base: counted(name, Quantity(1, 1), base.start, sign), weak=True)


_MANY = rf"(?P<count>{COUNT}) (?:more )?(?P<unit>{UNIT})\b"
_ONE = rf"(?P<count>)?(?P<unit>{one_of(UNIT_GROUPS['rolling'])})\b(?! (?:of|before)\b)"
_PERFECT = r"\b(?:have|has|'ve|haven't|hasn't|'s been)\b[^.!?\n]{0,60}? "
_NEGATED = r"\b(?:haven't|hasn't|have not|has not|never)\b[^.!?\n]{0,60}? "
_UNIT = rf"(?P<unit>{one_of(UNIT_GROUPS['narrative'])})"
_THROUGH = one_of(BEFORE["rolling"])

RULES = rules(
    ("unit past last", rf"(?P<x>\b(?:the |these )?(?:past|last) {_MANY})(?! of\b)", rolling),
    ("unit", rf"\b{_THROUGH} (?P<x>(?:the|this) (?:past|last) {_ONE})", rolling),
    ("unit", rf"(?P<x>\bthe past {_ONE})", rolling),
    ("unit next coming", rf"(?P<x>\b(?:the |these )?(?:next|coming) {_MANY})(?! of\b)", coming),
    ("unit", rf"\b{_THROUGH} (?P<x>the (?:next|coming) {_ONE})", coming),
    (
        "unit for",
        rf"{_PERFECT}(?P<x>for {APPROXIMATELY}(?:the (?:past|last) )?{UNIT_COUNT}(?: now| already| and counting)?\b)",
        lasting,
    ),
    ("unit in", rf"{_NEGATED}(?P<x>in {APPROXIMATELY}{UNIT_COUNT})", lasting),
    ("unit already counting", rf"(?P<x>(?:\bfor {APPROXIMATELY})?{UNIT_COUNT} (?:already|and counting)\b)", lasting),
    ("unit now", rf"(?P<x>\bfor {APPROXIMATELY}{UNIT_COUNT} now\b)", lasting),
    ("unit been", rf"\bbeen [^.!?\n]{{0,40}}?(?P<x>{UNIT_COUNT} (?:now|already)\b)", lasting),
    ("ago later after afterwards", rf"{UNIT_COUNT} (?:later|after that|afterwards)\b", partial(later, sign=1)),
    ("ago earlier before beforehand", rf"{UNIT_COUNT} (?:earlier|before that|beforehand)\b", partial(later, sign=-1)),
    ("any", rf"\bthe (?:next|following|previous) {_UNIT}\b", following),
    (
        "any",
        rf"\bthe {_UNIT} (?:before|after)\b(?! {one_of(NOT_BEFORE['story'])}\b)",
        following,
    ),
)
