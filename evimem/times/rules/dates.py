"""Dates with a day: 9 June 2023, June 9th, the fifth of May, 3-9 June, 2023-06-09, 6/9/2023, on the 15th.

Without a year it is the nearest one that the tense of its sentence allows. In numeric dates the month is first where it
can be (6/9/2023 is June 9, 25/12/2022 is Christmas); with dots the day is first (9.6.2023).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from .. import calendar
from ..calendar import DAY, TimeInterval
from ..context import Context
from ..fragments import DAY_NUMBER, MONTH, YEAR, day_number, one_of, year_number
from ..lexicon import BEFORE, DIGIT, MONTHS, NOT_BEFORE, ORDINAL_WORDS
from ..rule_types import Meaning, needs, rules
from ..yearly import Yearly, nearest, nearest_of
from .months import VERBS

Match = re.Match[str]


def iso(match: Match, _: Context) -> TimeInterval:
    """Read "2023-06-09" and "2023/6/9"."""
    return calendar.day(datetime(int(match["year"]), int(match["month"]), int(match["day"])))


def iso_with_clock(match: Match, ctx: Context) -> TimeInterval:
    """Read "2023-06-09T16:30" as a minute."""
    start = iso(match, ctx).start
    return calendar.minute(start + timedelta(hours=int(match["hour"]), minutes=int(match["minute"])))


def _yearless(yearly: Yearly, span: tuple[int, int], ctx: Context) -> Meaning:
    return Meaning(nearest(yearly, ctx.today, ctx.direction(*span)), yearly=yearly)


def _day_of_year(month: int, day: int) -> Yearly:
    return lambda year: calendar.day(datetime(year, month, day))


def _month_and_day(match: Match) -> tuple[int, int]:
    first, second = int(match["first"]), int(match["second"])
    return (second, first) if match["mark"] == "." or first > 12 else (first, second)


def numeric(match: Match, _: Context) -> TimeInterval:
    """Read "6/9/2023" and "9.6.2023"."""
    month, day = _month_and_day(match)
    year = match["year"] if len(match["year"]) == 4 else f"'{match['year']}"
    return calendar.day(datetime(year_number(year), month, day))


def numeric_without_year(match: Match, ctx: Context) -> Meaning:
    """Read "on 6/9"."""
    return _yearless(_day_of_year(*_month_and_day(match)), match.span("x"), ctx)


def _is_month(match: Match, ctx: Context) -> bool:
    """Return whether a month's name next to a number is one: in "5 may do" and "march 3 miles" it is a verb."""
    if match["month"] not in VERBS:
        return True
    if match["year"] or match["of"] or not match["day"].isdigit():
        return True
    return ctx.capital(match.start("month")) and ctx.complete(match.end())


def named(match: Match, ctx: Context) -> Meaning | None:
    """Read "9 June 2023", "June 9th" and "the fifth of May"."""
    if not _is_month(match, ctx):
        return None
    yearly = _day_of_year(MONTHS[match["month"]], day_number(match["day"]))
    if match["year"]:
        return Meaning(yearly(year_number(match["year"])))
    return _yearless(yearly, match.span(), ctx)


def days_of_month(match: Match, ctx: Context) -> Meaning | None:
    """Read "3-9 June" and "the 3rd and 4th of June"; "3 and 9 June" are not adjacent days and no interval."""
    month, first, last = MONTHS[match["month"]], day_number(match["day"]), day_number(match["last"])
    if not _is_month(match, ctx) or (match["and"] and last != first + 1):
        return None

    def yearly(year: int) -> TimeInterval | None:
        return calendar.span(datetime(year, month, first), datetime(year, month, last) + DAY)

    if match["year"]:
        return Meaning(yearly(year_number(match["year"])))
    return _yearless(yearly, match.span(), ctx)


def of_a_month(match: Match, ctx: Context) -> TimeInterval:
    """Read "the 15th of last month"."""
    month = calendar.shift_months(ctx.today.replace(day=1), {"last": -1, "this": 0, "next": 1}[match["which"]])
    return calendar.day(month.replace(day=day_number(match["day"])))


def bare_day(match: Match, ctx: Context) -> Meaning:
    """Read "the 15th", the nearest that the tense allows; weak where it may count something else."""
    month, days = ctx.today.replace(day=1), (day_number(match["day"]) - 1) * DAY
    firsts = [calendar.shift_months(month, months) for months in range(-2, 3)]
    occurrences = [calendar.day(first + days) for first in firsts if (first + days).month == first.month]
    weak = match["lead"] is None or not ctx.complete(match.end())
    return Meaning(nearest_of(occurrences, ctx.today, ctx.direction(*match.span("x"))), weak=weak)


_NOT_INSIDE = r"(?<![\w.,:/$#-])"
_YEAR = rf"(?:\.?(?:, ?|-| )?(?P<year>{YEAR})(?!\w))?"
_DAY = rf"(?P<day>{DAY_NUMBER})(?!\w)"
_LAST = rf"(?P<last>{DAY_NUMBER})(?!\w)"
_TO = r"(?: ?- ?| (?:to|through|until|till|(?P<and>and)) )(?:the )?"
_MONTH = rf"(?P<month>{MONTH})\b"
_ISO = r"(?P<year>[12]\d{3})(?P<mark>[-/])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)"
_CLOCK = r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d(?:\.\d{1,6})?)?z?"
_TWO = r"(?P<first>\d\d?)(?P<mark>[./-])(?P<second>\d\d?)"
# A number after a month's name may count what follows: "in March 10 people came".
_NO_COUNT = rf"(?![.,:]?\d|(?: |-)?(?:am|pm|a\.m|p\.m|%|{one_of(NOT_BEFORE['day_of_month'])})\b)"

_NUMBER = needs("number")
_DAY_AND_MONTH = needs("month", [DIGIT], ORDINAL_WORDS)

RULES = rules(
    (_NUMBER, rf"{_NOT_INSIDE}{_ISO}(?![\w/-])", iso),
    (_NUMBER, rf"{_NOT_INSIDE}{_ISO}[t ]{_CLOCK}(?![\w/-])", iso_with_clock),
    (_NUMBER, rf"{_NOT_INSIDE}{_TWO}(?P=mark)(?P<year>[12]\d{{3}})(?![\w/-]|\.\d)", numeric),
    (_NUMBER, rf"{_NOT_INSIDE}(?P<first>\d\d?)(?P<mark>/)(?P<second>\d\d?)/(?P<year>\d\d)(?![\w/-]|\.\d)", numeric),
    (
        needs("number", BEFORE["numeric_date"]),
        rf"\b{one_of(BEFORE['numeric_date'])} (?P<x>(?P<first>\d\d?)(?P<mark>/)(?P<second>\d\d?))(?![\w/.-])",
        numeric_without_year,
    ),
    (
        _DAY_AND_MONTH,
        rf"(?:\bthe )?{_NOT_INSIDE}(?<!\d )(?P<day>{DAY_NUMBER})(?: day)?(?: |-)?(?P<of>of )?{_MONTH}{_YEAR}(?!\w)",
        named,
    ),
    (_DAY_AND_MONTH, rf"\b{_MONTH}\.? (?P<of>the )?{_DAY}{_NO_COUNT}{_YEAR}", named),
    (
        _DAY_AND_MONTH,
        rf"{_NOT_INSIDE}{_DAY}{_TO}{_LAST} (?P<of>of )?{_MONTH}{_YEAR}",
        days_of_month,
    ),
    (
        _DAY_AND_MONTH,
        rf"\b{_MONTH}\.? (?P<of>the )?{_DAY}{_TO}{_LAST}{_NO_COUNT}{_YEAR}",
        days_of_month,
    ),
    (
        needs("number", ["month"]),
        r"\bthe (?P<day>\d\d?(?:st|nd|rd|th)) of (?P<which>last|this|next) month\b",
        of_a_month,
    ),
    (
        needs("number", ["the"]),
        rf"\b(?:(?P<lead>{one_of(BEFORE['day_of_month'])}) )?(?P<x>the (?P<day>\d\d?(?:st|nd|rd|th)))\b",
        bare_day,
    ),
)
