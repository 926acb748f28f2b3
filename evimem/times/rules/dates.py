"""Dates with a day: 9 June 2023, June 9th, the fifth of May, 3-9 June, 2023-06-09, 6/9/2023, on the 15th.

Without a year it is the nearest one that the sentence's tense allows. In figures the month stands first (6/9/2023 is
June 9) unless it cannot be one (25/12/2022); with dots the day does (9.6.2023).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from .. import calendar
from ..calendar import DAY, Interval
from ..context import Context
from ..lexicon import DAY_NUMBER, MONTH, MONTHS, YEAR, day_number, year_number
from ..rule_types import Reading, rules
from ..yearly import Yearly, chosen, nearest

Match = re.Match[str]


def iso(match: Match, _: Context) -> Interval:
    return calendar.day(datetime(int(match["year"]), int(match["month"]), int(match["day"])))


def iso_with_clock(match: Match, ctx: Context) -> Interval:
    start = iso(match, ctx).start
    return calendar.minute(start + timedelta(hours=int(match["hour"]), minutes=int(match["minute"])))


def _yearless(yearly: Yearly, span: tuple[int, int], ctx: Context) -> Reading:
    return Reading(nearest(yearly, ctx.today, ctx.direction(*span)), yearly=yearly)


def _day_of_year(month: int, day: int) -> Yearly:
    return lambda year: calendar.day(datetime(year, month, day))


def _in_figures(match: Match) -> tuple[int, int]:
    first, second = int(match["first"]), int(match["second"])
    return (second, first) if match["mark"] == "." or first > 12 else (first, second)


def figures(match: Match, _: Context) -> Interval:
    month, day = _in_figures(match)
    year = match["year"] if len(match["year"]) == 4 else f"'{match['year']}"
    return calendar.day(datetime(year_number(year), month, day))


def figures_without_year(match: Match, ctx: Context) -> Reading:
    return _yearless(_day_of_year(*_in_figures(match)), match.span("x"), ctx)


def _is_month(match: Match, ctx: Context) -> bool:
    """Say whether a month's name beside a number is one: in "5 may do" and "march 3 miles" it is not."""
    if match["month"] not in ("may", "march", "mar"):
        return True
    if match["year"] or match["of"] or not match["day"].isdigit():
        return True
    return ctx.capital(match.start("month")) and ctx.complete(match.end())


def named(match: Match, ctx: Context) -> Reading | None:
    if not _is_month(match, ctx):
        return None
    yearly = _day_of_year(MONTHS[match["month"]], day_number(match["day"]))
    if match["year"]:
        return Reading(yearly(year_number(match["year"])))
    return _yearless(yearly, match.span(), ctx)


def days_of_month(match: Match, ctx: Context) -> Reading | None:
    """Read "3-9 June" and "the 3rd and 4th of June"; "3 and 9 June" are no stretch."""
    month, first, last = MONTHS[match["month"]], day_number(match["day"]), day_number(match["last"])
    if not _is_month(match, ctx) or (match["and"] and last != first + 1):
        return None

    def yearly(year: int) -> Interval | None:
        return calendar.span(datetime(year, month, first), datetime(year, month, last) + DAY)

    if match["year"]:
        return Reading(yearly(year_number(match["year"])))
    return _yearless(yearly, match.span(), ctx)


def of_a_month(match: Match, ctx: Context) -> Interval:
    month = calendar.shift_months(ctx.today.replace(day=1), {"last": -1, "this": 0, "next": 1}[match["which"]])
    return calendar.day(month.replace(day=day_number(match["day"])))


def bare_day(match: Match, ctx: Context) -> Reading:
    """Read "the 15th", the nearest that the sentence's tense allows; weak where it may count something else."""
    month, days = ctx.today.replace(day=1), (day_number(match["day"]) - 1) * DAY
    firsts = [calendar.shift_months(month, months) for months in range(-2, 3)]
    around = [calendar.day(first + days) for first in firsts if (first + days).month == first.month]
    weak = match["lead"] is None or not ctx.complete(match.end())
    return Reading(chosen(around, ctx.today, ctx.direction(*match.span("x"))), weak=weak)


_FREE = r"(?<![\w.,:/$#-])"
_YEAR = rf"(?:\.?(?:, ?|-| )?(?P<year>{YEAR})(?!\w))?"
_DAY = rf"(?P<day>{DAY_NUMBER})(?!\w)"
_LAST = rf"(?P<last>{DAY_NUMBER})(?!\w)"
_TO = r"(?: ?- ?| (?:to|through|until|till|(?P<and>and)) )(?:the )?"
_MONTH = rf"(?P<month>{MONTH})\b"
_ISO = r"(?P<year>[12]\d{3})(?P<mark>[-/])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)"
_CLOCK = r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d(?:\.\d{1,6})?)?z?"
_TWO = r"(?P<first>\d\d?)(?P<mark>[./-])(?P<second>\d\d?)"
# What a number after a month's name may count instead: "in March 10 people came".
_COUNTS = (
    r"(?![.,:]?\d|(?: |-)?(?:am|pm|a\.m|p\.m|%|percent|people|times|kids|miles|km|minutes|hours|days|weeks|months|years"
    r"|points|dollars)\b)"
)

RULES = rules(
    ("number", rf"{_FREE}{_ISO}(?![\w/-])", iso),
    ("number", rf"{_FREE}{_ISO}[t ]{_CLOCK}(?![\w/-])", iso_with_clock),
    ("number", rf"{_FREE}{_TWO}(?P=mark)(?P<year>[12]\d{{3}})(?![\w/-]|\.\d)", figures),
    ("number", rf"{_FREE}(?P<first>\d\d?)(?P<mark>/)(?P<second>\d\d?)/(?P<year>\d\d)(?![\w/-]|\.\d)", figures),
    (
        "number",
        r"\b(?:on|by|until|till|since|before|after) (?P<x>(?P<first>\d\d?)(?P<mark>/)(?P<second>\d\d?))(?![\w/.-])",
        figures_without_year,
    ),
    (
        "month",
        rf"(?:\bthe )?{_FREE}(?<!\d )(?P<day>{DAY_NUMBER})(?: day)?(?: |-)?(?P<of>of )?{_MONTH}{_YEAR}(?!\w)",
        named,
    ),
    ("month", rf"\b{_MONTH}\.? (?P<of>the )?{_DAY}{_COUNTS}{_YEAR}", named),
    (
        "month",
        rf"{_FREE}{_DAY}{_TO}{_LAST} (?P<of>of )?{_MONTH}{_YEAR}",
        days_of_month,
    ),
    (
        "month",
        rf"\b{_MONTH}\.? (?P<of>the )?{_DAY}{_TO}{_LAST}{_COUNTS}{_YEAR}",
        days_of_month,
    ),
    ("number", r"\bthe (?P<day>\d\d?(?:st|nd|rd|th)) of (?P<which>last|this|next) month\b", of_a_month),
    (
        "number",
        r"\b(?:(?P<lead>on|by|until|till|since|before|after|around|from) )?(?P<x>the (?P<day>\d\d?(?:st|nd|rd|th)))\b",
        bare_day,
    ),
)
