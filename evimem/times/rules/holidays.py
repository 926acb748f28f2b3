"""Days that have a name: Christmas, New Year's Eve, Thanksgiving (of the United States), Easter.

A feast is a date only with a word before it that makes it one ("at Christmas", "last Easter"), and not when a noun
follows that it belongs to ("the Christmas tree").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from .. import calendar
from ..calendar import DAY, Interval
from ..context import Context
from ..lexicon import YEAR, one_of, year_number
from ..rule_types import Reading, rules
from ..yearly import TURN, nearest, turned

MONDAY, THURSDAY, SATURDAY, SUNDAY = 0, 3, 5, 6


def fixed(month: int, day: int) -> Callable[[int], datetime]:
    return lambda year: datetime(year, month, day)


def movable(month: int, weekday: int, n: int) -> Callable[[int], datetime]:
    return lambda year: calendar.nth_weekday(year, month, weekday, n)


def after_easter(days: int) -> Callable[[int], datetime]:
    return lambda year: calendar.easter(year) + days * DAY


FEASTS: dict[str, Callable[[int], datetime]] = {
    "new year's day": fixed(1, 1), "new years day": fixed(1, 1), "new year's": fixed(1, 1), "new year": fixed(1, 1),
    "new year's eve": fixed(12, 31), "new years eve": fixed(12, 31), "nye": fixed(12, 31), "epiphany": fixed(1, 6),
    "martin luther king day": movable(1, MONDAY, 3), "mlk day": movable(1, MONDAY, 3), "groundhog day": fixed(2, 2),
    "valentine's day": fixed(2, 14), "valentines day": fixed(2, 14), "valentine's": fixed(2, 14),
    "presidents' day": movable(2, MONDAY, 3), "presidents day": movable(2, MONDAY, 3),
    "st patrick's day": fixed(3, 17), "st. patrick's day": fixed(3, 17), "st paddy's day": fixed(3, 17),
    "international women's day": fixed(3, 8), "april fools' day": fixed(4, 1), "april fools": fixed(4, 1),
    "april fool's day": fixed(4, 1), "earth day": fixed(4, 22), "may day": fixed(5, 1), "cinco de mayo": fixed(5, 5),
    "mother's day": movable(5, SUNDAY, 2), "mothers day": movable(5, SUNDAY, 2), "memorial day": movable(5, MONDAY, -1),
    "father's day": movable(6, SUNDAY, 3), "fathers day": movable(6, SUNDAY, 3), "juneteenth": fixed(6, 19),
    "independence day": fixed(7, 4), "bastille day": fixed(7, 14), "labor day": movable(9, MONDAY, 1),
    "labour day": movable(9, MONDAY, 1), "columbus day": movable(10, MONDAY, 2), "halloween": fixed(10, 31),
    "all saints' day": fixed(11, 1), "veterans day": fixed(11, 11), "veteran's day": fixed(11, 11),
    "remembrance day": fixed(11, 11), "thanksgiving": movable(11, THURSDAY, 4),
    "thanksgiving day": movable(11, THURSDAY, 4),
    "black friday": lambda year: calendar.nth_weekday(year, 11, THURSDAY, 4) + DAY,
    "cyber monday": lambda year: calendar.nth_weekday(year, 11, THURSDAY, 4) + 4 * DAY,
    "christmas": fixed(12, 25), "christmas day": fixed(12, 25), "xmas": fixed(12, 25), "christmas eve": fixed(12, 24),
    "xmas eve": fixed(12, 24), "boxing day": fixed(12, 26),
    "mardi gras": after_easter(-47), "ash wednesday": after_easter(-46), "palm sunday": after_easter(-7),
    "good friday": after_easter(-2), "easter": after_easter(0), "easter sunday": after_easter(0),
    "easter monday": after_easter(1), "pentecost": after_easter(49),
}  # fmt: skip


def _yearly(name: str, *, weekend: bool) -> Callable[[int], Interval]:
    """Return the day of a feast by year, or the weekend beside it: before a Monday, else of its week."""
    start = FEASTS[name]
    if not weekend:
        return lambda year: calendar.day(start(year))
    return lambda year: calendar.weekend(start(year) - (DAY if start(year).weekday() == MONDAY else 0 * DAY))


def feast(match: re.Match[str], ctx: Context) -> Reading | None:
    yearly = _yearly(" ".join(match["feast"].split()), weekend=bool(match["weekend"]))
    if match["year"]:
        return Reading(yearly(year_number(match["year"])))
    direction = ctx.direction(*match.span("x"))
    weak = not match["weekend"] and not ctx.complete(match.end())
    if match["turn"]:
        return Reading(turned(match["turn"], yearly, ctx.today, direction), yearly=yearly, weak=weak)
    weak = weak or not (match["lead"] or match["weekend"]) or ctx.habitual(*match.span("x"))
    return Reading(nearest(yearly, ctx.today, direction), yearly=yearly, weak=weak)


_LEAD = r"on|at|for|over|by|before|after|since|until|till|around|during|was|is|of|from|to|it's|in the"

RULES = rules(
    (
        "feast",
        rf"\b(?:(?P<lead>{_LEAD}) )?(?P<x>(?:{TURN} )?(?P<feast>{one_of(FEASTS)})(?P<weekend> weekend)?"
        rf"(?:(?:, ?| of | in | )(?P<year>{YEAR}))?)(?!\w)",
        feast,
    ),
)
