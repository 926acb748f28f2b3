"""Joins of an expression with a number of units before it: "two weekends before 17 July", "4 days from 3 May"."""

from __future__ import annotations

from .. import calendar
from ..calendar import WEEK, TimeInterval
from ..context import Context
from ..counting import units_from
from ..fragments import EVENT, Pattern, one_of
from ..lexicon import BETWEEN, CALENDAR_UNITS, POSITIONS
from ..rule_types import Meaning
from ..unit_counts import UnitCount
from ..unit_parts import run_of_units
from .expression import Expression
from .side_joins import adjacent, is_fine_enough

LONGEST = 72  # characters between a number of units and what it is counted from
REACH = 128  # characters before an expression in which a number of units begins that ends LONGEST before it
BEFORE = 16  # characters before a number of units in which "for" or "the first" stands
_SIDE = Pattern(rf" (?P<side>{one_of(BETWEEN['counted_from'])}) {EVENT}")
_STARTING = Pattern(rf"(?: \w{{1,12}}){{0,3}}? (?:{one_of(BETWEEN['starting'])}) (?:on )?(?:the )?")
_OF = Pattern(r" (?:of|in) (?:the )?")
_NTH = Pattern(rf"\b(?P<x>(?:the )?(?P<nth>{one_of(POSITIONS)}) )\Z")
_FOR = Pattern(r"\bfor (?:about |around )?\Z")
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
    lasting = _FOR.regex.search(ctx.folded, max(0, count.start - BEFORE), count.start)
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
    if ctx.direction(count.start, expression.end) < 0 or _FOR.regex.search(
        ctx.folded, max(0, count.start - BEFORE), count.start
    ):
        return None
    meaning = _away(expression, count, 1)
    return Expression(count.start, expression.end, meaning) if meaning else None
