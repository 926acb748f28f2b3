"""A number of calendar units before or after a moment, as precise as the number and the unit allow."""

from __future__ import annotations

from datetime import datetime

from . import calendar
from .calendar import TimeInterval
from .lexicon import Quantity
from .times_of_day import part_of_day

# Finer units that count a half: "a year and a half" is 18 months.
FINER = {"decade": ("year", 10), "year": ("month", 12), "month": ("week", 4), "week": ("day", 7), "day": ("hour", 24)}
FINER |= {"hour": ("minute", 60), "weekend": ("day", 7), "quarter": ("month", 3)}


def units_from(name: str, number: Quantity, moment: datetime, sign: int) -> TimeInterval | None:
    """Return the unit that lies so many units after a moment (sign 1) or before it (sign -1).

    When the number is a range, return the span from the nearest to the farthest unit.
    """
    if name == "night":
        if number.low == number.high:
            return part_of_day(calendar.step("day", moment, sign * int(number.low)), "night")
        name = "day"
    if number.low % 1:
        name, parts = FINER[name]
        number = Quantity(number.low * parts, number.high * parts)
    ends = [calendar.unit(name, calendar.step(name, moment, sign * int(n))) for n in (number.low, number.high)]
    if ends[0] == ends[1]:
        return ends[0]
    return calendar.span(min(end.start for end in ends), max(end.end for end in ends))
