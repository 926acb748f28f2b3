"""Holidays: Christmas, New Year's Eve, Thanksgiving (of the United States), Easter.

A holiday is a date only after a word that makes it one ("at Christmas", "last Easter"), and not when a noun follows of
which it is a part ("the Christmas tree").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from ...lang import ENGLISH
from .. import calendar
from ..calendar import DAY, TimeInterval
from ..context import Context
from ..fragments import WEEKDAY, YEAR, Pattern, one_of, year_number
from ..lexicon import BEFORE, FULL_WEEKDAYS
from ..rule_types import Meaning, needs, rules
from ..yearly import RELATIVE, nearest, relative

MONDAY = 0
DayOfYear = Callable[[int], datetime]


def day_of_year(rule: str) -> DayOfYear:
    """Return the function from a year to the day of a rule in `holidays.toml`, which explains the four forms."""
    words = rule.split()
    if words[0] == "easter":
        return lambda year: calendar.easter(year) + int(words[1]) * DAY
    if len(words) == 1:
        month, day = map(int, rule.split("-"))
        return lambda year: datetime(year, month, day)
    month, weekday, n = int(words[0]), FULL_WEEKDAYS[words[1]], int(words[2])
    days_after = int(words[3]) if len(words) > 3 else 0
    return lambda year: calendar.nth_weekday(year, month, weekday, n) + days_after * DAY


HOLIDAYS: dict[str, DayOfYear] = {
    name: day_of_year(rule) for rule, names in ENGLISH.lists("holidays.dates").items() for name in names
}
ELSEWHERE: dict[str, DayOfYear] = {
    name: day_of_year(rule) for rule, names in ENGLISH.lists("holidays.elsewhere").items() for name in names
}
SOON = timedelta(days=14)  # a holiday that is so near is meant as a day even without a word that makes it one
NEAR = timedelta(days=7)  # how near one of two days of the same name is when it is the one that is meant


def _yearly(name: str, *, weekend: bool) -> Callable[[int], TimeInterval]:
    """Return the day of a holiday by year, or its weekend: the one before a Monday, else that of its ISO week."""
    start = HOLIDAYS[name]
    if not weekend:
        return lambda year: calendar.day(start(year))
    return lambda year: calendar.weekend(start(year) - (DAY if start(year).weekday() == MONDAY else 0 * DAY))


def holiday(match: re.Match[str], ctx: Context) -> Meaning | None:
    """Read "at Christmas", "last Easter", "Thanksgiving 2022", "Labor Day weekend"."""
    name = " ".join(match["holiday"].split())
    if name in ELSEWHERE:
        return _one_of_two(name, match, ctx)
    yearly = _yearly(name, weekend=bool(match["weekend"]))
    if match["year"]:
        return Meaning(yearly(year_number(match["year"])))
    if match["lead"] == "in the" and not match["year"]:
        return None  # "in the New Year" is some time after it
    direction = ctx.direction(*match.span("x"))
    weak = not (match["weekend"] or ctx.complete(match.end()) or _ON_DAY.regex.match(ctx.folded, match.end()))
    if match["relative"]:
        return Meaning(relative(match["relative"], yearly, ctx.today, direction), yearly=yearly, weak=weak)
    near = nearest(yearly, ctx.today, direction)
    soon = near is not None and ctx.today <= near.start <= ctx.today + SOON and not _in_general(match, ctx)
    weak = weak or not (match["lead"] or match["weekend"] or soon) or ctx.habitual(*match.span("x"))
    return Meaning(near, yearly=yearly, weak=weak)


def _in_general(match: re.Match[str], ctx: Context) -> bool:
    """Return whether a holiday is spoken of in general: "I hate Christmas", "Christmas is a lot of work"."""
    start = match.start("x")
    opinion = _OPINION.regex.search(ctx.folded, max(0, start - LONGEST_OPINION), start)
    judged = _JUDGED.regex.match(ctx.folded, match.end())
    return bool(match["article"] or opinion or judged)


def _one_of_two(name: str, match: re.Match[str], ctx: Context) -> Meaning | None:
    """Read "Mother's Day", which differs by country: the one of the two days that is near, alone or nearer."""
    if match["article"] or match["year"] or match["relative"] or ctx.habitual(*match.span("x")):
        return None
    days = [start(ctx.today.year) for start in (HOLIDAYS[name], ELSEWHERE[name])]
    near = [start for start in days if abs(start - ctx.today) <= NEAR]
    return Meaning(calendar.day(near[0]), weak=not ctx.complete(match.end())) if len(near) == 1 else None


LONGEST_OPINION = 16  # characters before a holiday that hold such a verb
_OPINION = Pattern(rf"\b{one_of(ENGLISH.words('times.opinions'))} \Z")
_JUDGED = Pattern(r"(?: is|'s) (?:an?|my|our|so|such|always|never|about|for|more|the (?:best|worst|most))\b")
_ON_DAY = Pattern(rf"(?: is|'s) (?:on )?(?:this |next )?{WEEKDAY}\b")
_NO_DAY = "(?:the|a|an|my|our|happy|merry)"  # "the Thanksgiving turkey", "Happy New Year"

RULES = rules(
    (
        needs("holiday"),
        rf"\b(?:(?P<lead>{one_of(BEFORE['holiday'])}) )?(?P<article>{_NO_DAY} )?"
        rf"(?P<x>(?:{RELATIVE} )?(?P<holiday>{one_of(HOLIDAYS)})"
        rf"(?P<weekend> (?:long )?(?:weekend|wknd))?(?:(?:, ?| of | in | )(?P<year>{YEAR}))?)(?!\w)",
        holiday,
    ),
)
