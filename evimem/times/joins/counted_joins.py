"""Joins of an expression with a number of units before it: "two weekends before 17 July"."""

from __future__ import annotations

from .. import calendar
from ..calendar import WEEK
from ..context import Context
from ..counting import units_from
from ..fragments import Pattern, one_of
from ..lexicon import BETWEEN
from ..rule_types import Meaning
from ..unit_counts import UnitCount
from .expression import Expression
from .side_joins import adjacent

LONGEST = 24  # characters between a number of units and what it is counted from
_SIDE = Pattern(rf" (?P<side>{one_of(BETWEEN['counted_from'])}) ")


def counted_from(expression: Expression, ctx: Context) -> Expression | None:
    """Join "two weekends before" + "17 July", "three days after" + "Christmas", "a week from" + "Friday"."""
    for count in ctx.counts:
        if not 0 < expression.start - count.end <= LONGEST:
            continue
        side = _SIDE.regex.fullmatch(ctx.folded, count.end, expression.start)
        meaning = side and _counted_from(expression, count, side["side"])
        if meaning:
            return Expression(count.start, expression.end, meaning)
    return None


def _counted_from(expression: Expression, count: UnitCount, side: str) -> Meaning | None:
    base, sign = expression.interval, -1 if side in ("before", "prior to") else 1
    if base is None or base.granularity in ("minute", "hour"):
        return None
    if count.unit == "weekend":
        first = adjacent(base, "weekend", "before" if sign < 0 else "after")
        return Meaning(first and calendar.weekend(first.start + sign * (int(count.number.low) - 1) * WEEK))
    if count.unit == "week" and expression.is_a("day") and count.number.low == count.number.high:
        return Meaning(calendar.day(base.start + sign * int(count.number.low) * WEEK))
    return Meaning(units_from(count.unit, count.number, base.start, sign))
