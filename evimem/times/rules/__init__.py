"""The rules of single expressions, a module for each kind; of two that match the same words the earlier one wins."""

from ..rule_types import AnyRule
from . import (
    clocks,
    dates,
    days,
    foreign,
    holidays,
    months,
    parts_of_units,
    ranges,
    units,
    vague,
    weekdays,
    years,
)

RULES: tuple[AnyRule, ...] = (
    *days.RULES,
    *weekdays.RULES,
    *units.RULES,
    *parts_of_units.RULES,
    *ranges.RULES,
    *dates.RULES,
    *months.RULES,
    *years.RULES,
    *holidays.RULES,
    *clocks.RULES,
    *vague.RULES,
    *foreign.RULES,
)

__all__ = ["RULES"]
