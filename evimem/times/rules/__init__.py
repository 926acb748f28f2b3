"""The rules of single expressions, one module for each kind; of two that match the same words the earlier one wins."""

from ..rule import Rule
from . import clocks, dates, days, feasts, foreign, months, stretches, units, vague, weekdays, years

RULES: tuple[Rule, ...] = (
    *days.RULES,
    *weekdays.RULES,
    *units.RULES,
    *stretches.RULES,
    *dates.RULES,
    *months.RULES,
    *years.RULES,
    *feasts.RULES,
    *clocks.RULES,
    *vague.RULES,
    *foreign.RULES,
)

__all__ = ["RULES"]
