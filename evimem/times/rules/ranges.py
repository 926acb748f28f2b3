"""Intervals from or to now, or from the expression before: the past three weeks, for two years, three days later."""

from __future__ import annotations

import re
from functools import partial

from .. import calendar
from ..calendar import DAY, WEEK, TimeInterval
from ..context import Context
from ..counting import units_from
from ..fragments import APPROXIMATELY, WEEKDAY, one_of
from ..lexicon import BEFORE, NOT_BEFORE, UNIT_GROUPS, UNITS, WEEKDAYS, Quantity
from ..rule_types import AnyRule, Counted, Meaning, count_rule, needs, rules
from .units import away

Match = re.Match[str]


def _until_now(unit: str, count: int, ctx: Context) -> TimeInterval | None:
    """Return so many units up to today; of a range ("a few") the larger number, to leave nothing out."""
    end = ctx.now if unit in ("minute", "hour") else ctx.today
    if (unit, count) == ("week", 1):
        return calendar.days_of_week(end - WEEK)
    return calendar.span(calendar.step(unit, end, -count), end)


def _from_now(unit: str, count: int, start: int, end: int, ctx: Context) -> TimeInterval | None:
    if ctx.direction(start, end) < 0:
        return None
    first = ctx.now if unit in ("minute", "hour") else ctx.today + DAY
    return calendar.span(first, calendar.step(unit, first, count))


def _day_for_night(unit: str) -> str:
    return "day" if unit == "night" else unit


def rolling(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "the past three weeks": up to today."""
    return _until_now(_day_for_night(counted.unit), int(counted.number.high), ctx)


def rolling_one(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "over the last year": up to today."""
    return _until_now(_day_for_night(UNITS[match["unit"]].name), UNITS[match["unit"]].count, ctx)


def coming(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "the next few days": from tomorrow on, unless the sentence looks back ("the next two days were hard")."""
    return _from_now(_day_for_night(counted.unit), int(counted.number.high), counted.start, counted.end, ctx)


def coming_one(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "over the next year", as `coming` does."""
    return _from_now(_day_for_night(UNITS[match["unit"]].name), UNITS[match["unit"]].count, *match.span("x"), ctx)


def lasting(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "I've had it for three years": from the beginning of that unit until now."""
    begun = away(counted, ctx, -1)
    return begun and calendar.span(begun.start, ctx.now)


def later(counted: Counted, _: Context, sign: int) -> Meaning:
    """Read "three days later", which counts from the expression before it and is vague without one."""
    return Meaning(None, "later", later=lambda base: units_from(counted.unit, counted.number, base.start, sign))


def following(match: Match, ctx: Context) -> Meaning | None:
    """Read "the next day", "the week before", after an expression that they count from."""
    if not ctx.complete(match.end()):
        return None
    if match["unit"] in WEEKDAYS:
        weekday = WEEKDAYS[match["unit"]]
        return Meaning(
            None, "later", later=lambda base: calendar.day(calendar.weekday_after(base.end - DAY, weekday)), weak=True
        )
    name = UNITS[match["unit"]].name
    sign = -1 if "previous" in match.group() or "before" in match.group() else 1
    return Meaning(None, "later", later=lambda base: units_from(name, Quantity(1, 1), base.start, sign), weak=True)


_ONE = rf"(?P<unit>{one_of(UNIT_GROUPS['rolling'])})\b(?! (?:of|before)\b)"
_PERFECT = r"\b(?:have|has|'ve|haven't|hasn't|'s been)\b[^.!?\n]{0,60}? "
_NEGATED = r"\b(?:haven't|hasn't|have not|has not|never)\b[^.!?\n]{0,60}? "
_UNIT = rf"(?P<unit>{one_of(UNIT_GROUPS['narrative'])})"
_THROUGH = one_of(BEFORE["rolling"])
_FOR = needs("unit", ["for"])

RULES: tuple[AnyRule, ...] = (
    count_rule(needs("unit", ["past", "last"]), r"(?P<x>\b(?:the |these )?(?:past|last) )", r"(?! of\b)", rolling),
    *rules(
        (
            needs("unit", ["past", "last"]),
            rf"\b{_THROUGH} (?P<x>(?:the|this) (?:past|last) {_ONE})",
            rolling_one,
        ),
        (needs("unit", ["past"]), rf"(?P<x>\bthe past {_ONE})", rolling_one),
    ),
    count_rule(needs("unit", ["next", "coming"]), r"(?P<x>\b(?:the |these )?(?:next|coming) )", r"(?! of\b)", coming),
    *rules((needs("unit", ["next", "coming"]), rf"\b{_THROUGH} (?P<x>the (?:next|coming) {_ONE})", coming_one)),
    count_rule(
        _FOR,
        rf"{_PERFECT}(?P<x>for {APPROXIMATELY}(?:the (?:past|last) )?)",
        r"(?P<x>(?: now| already| and counting)?)\b",
        lasting,
    ),
    count_rule(needs("unit", ["in"]), rf"{_NEGATED}(?P<x>in {APPROXIMATELY})", "", lasting),
    count_rule(
        needs("unit", ["already", "counting"]),
        rf"(?P<x>(?:\bfor {APPROXIMATELY})?)",
        r"(?P<x> (?:already|and counting))\b",
        lasting,
    ),
    count_rule(_FOR, rf"(?P<x>\bfor {APPROXIMATELY})", r"(?P<x> now)\b", lasting),
    count_rule(
        needs("unit", ["since"]), rf"(?P<x>\bsince {APPROXIMATELY})", r"(?! ago| later| before| after)", lasting
    ),
    count_rule(needs("unit", ["been"]), r"\bbeen [^.!?\n]{0,40}?", r"(?P<x> (?:now|already))\b", lasting),
    count_rule(
        needs("ago", ["later", "after", "afterwards"]),
        "",
        r"(?P<x> (?:later|after that|afterwards))\b",
        partial(later, sign=1),
    ),
    count_rule(
        needs("ago", ["earlier", "before", "beforehand"]),
        "",
        r"(?P<x> (?:earlier|before that|beforehand))\b",
        partial(later, sign=-1),
    ),
    *rules(
        (
            needs("any", ["next", "following", "previous"]),
            rf"\bthe (?:next|following|previous) {_UNIT}\b",
            following,
        ),
        (needs("weekday", ["following"]), rf"\bthe following (?P<unit>{WEEKDAY})\b", following),
        (
            needs("any", ["before", "after"]),
            rf"\bthe {_UNIT} (?:before|after)\b(?! {one_of(NOT_BEFORE['story'])}\b)",
            following,
        ),
    ),
)
