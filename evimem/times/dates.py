"""Dates as such: 9 June 2023, June 9th, 2023-06-09, May 2023, on the 15th, in 2016, Q3 2022, summer 2022, the 90s.

A date without a year is the nearest past one unless its sentence looks ahead. In numbers the month stands first
(6/9/2023 is June 9) unless it cannot be one; with dots the day does (9.6.2023).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from . import calendar as cal
from .calendar import DAY, Interval
from .context import Context
from .lexicon import DAY_NUMBER, FULL_MONTHS, MONTH, MONTHS, SEASON, SEASONS, WEEKDAY, WEEKDAYS, YEAR
from .lexicon import compiled, day_number, year_number
from .rule import Reading, Rule

Match = re.Match[str]
Yearly = Callable[[int], Interval | None]


def candidates(yearly: Yearly, year: int, reach: int) -> list[Interval]:
    """Return the occurrences of a yearly date around a year; 29 February skips most."""
    found = []
    for number in range(year - reach, year + reach + 1):
        try:
            interval = yearly(number)
        except ValueError:
            continue
        if interval is not None:
            found.append(interval)
    return found


def nearest(yearly: Yearly, ctx: Context, direction: int) -> Interval | None:
    """Return the latest occurrence that has begun, or the earliest that is not over when looking ahead.

    Without a direction a month or season is a past one, and a day the nearest of both.
    """
    around = candidates(yearly, ctx.today.year, 1) or candidates(yearly, ctx.today.year, 8)
    past = [interval for interval in around if interval.start <= ctx.today]
    future = [interval for interval in around if interval.end > ctx.today]
    if direction == 0 and past and future and past[-1].granularity == "day":
        direction = -1 if ctx.today - past[-1].start <= future[0].start - ctx.today else 1
    return (future[0] if future else None) if direction > 0 else (past[-1] if past else None)


def _yearless(yearly: Yearly, match: Match, ctx: Context) -> Reading:
    direction = ctx.direction(*match.span("x" if "x" in match.re.groupindex else 0))
    return Reading(nearest(yearly, ctx, direction), yearly=yearly)


def month_of_year(number: int) -> Yearly:
    return lambda year: cal.month(year, number)


def day_of_year(month: int, day: int) -> Yearly:
    return lambda year: cal.day(datetime(year, month, day))


def iso_date(match: Match, ctx: Context) -> Reading:
    start = datetime(int(match["year"]), int(match["month"]), int(match["day"]))
    if match["hour"] is None:
        return Reading(cal.day(start))
    return Reading(cal.minute(start + timedelta(hours=int(match["hour"]), minutes=int(match["minute"]))))


def iso_month(match: Match, ctx: Context) -> Interval:
    return cal.month(int(match["year"]), _month(int(match["month"])))


def _month(number: int) -> int:
    if not 1 <= number <= 12:
        raise ValueError(number)
    return number


def numeric_date(match: Match, ctx: Context) -> Reading:
    first, second, year = int(match["first"]), int(match["second"]), match["year"]
    month, day = (second, first) if match["mark"] == "." or first > 12 else (first, second)
    if year is None:
        return _yearless(day_of_year(month, day), match, ctx)
    return Reading(cal.day(datetime(year_number(year if len(year) == 4 else f"'{year}"), month, day)))


def _is_month(match: Match, ctx: Context) -> bool:
    """Say whether a month's name beside a number is one: "5 may be enough" and "march 3 miles" are not."""
    word, at = match["month"], match.start("month")
    if word not in ("may", "march", "mar"):
        return True
    sure = match["year"] or not match["day"].isdigit() or match["of"]
    return bool(sure) or (ctx.capital(at) and ctx.complete(match.end()))


def full_date(match: Match, ctx: Context) -> Reading | None:
    if not _is_month(match, ctx):
        return None
    month, day = MONTHS[match["month"]], day_number(match["day"])
    yearly = day_of_year(month, day)
    if match["year"]:
        return Reading(yearly(year_number(match["year"])))
    datetime(2000, month, day)  # a leap year: refuses 31 June
    return _yearless(yearly, match, ctx)


def date_range(match: Match, ctx: Context) -> Reading | None:
    if not _is_month(match, ctx):
        return None
    month, first, last = MONTHS[match["month"]], day_number(match["day"]), day_number(match["last"])

    def yearly(year: int) -> Interval | None:
        return cal.span(datetime(year, month, first), datetime(year, month, last) + DAY)

    return Reading(yearly(year_number(match["year"]))) if match["year"] else _yearless(yearly, match, ctx)


def month_and_year(match: Match, ctx: Context) -> Interval:
    return cal.month(year_number(match["year"]), MONTHS[match["month"]])


NAMES_TOO = frozenset({"april", "june", "august", "may", "march"})
_SURE = frozenset({"in", "since", "until", "till", "mid", "early", "late", "during", "throughout"})


def bare_month(match: Match, ctx: Context) -> Reading | None:
    """Read a month by its name; one that is also a verb or a first name needs a word before it that says so."""
    word, lead = match["month"], match["lead"]
    reading = _yearless(month_of_year(FULL_MONTHS[word]), match, ctx)
    if word not in NAMES_TOO:
        return reading
    sure = lead in _SURE or (lead is not None and ctx.capital(match.start("month")))
    noun = word in ("may", "march", "august") and not ctx.capital(match.start("month"))
    return replace(reading, weak=not sure or ((noun or lead not in _SURE) and not ctx.complete(match.end())))


def turned(match: Match, ctx: Context, yearly: Yearly) -> Interval | None:
    """Return the last, this or next occurrence: a whole past one, the one of now, or one yet to begin."""
    around = candidates(yearly, ctx.today.year, 2)
    turn = match["turn"].split()[-1]
    if turn in ("last", "past", "previous"):
        return next((interval for interval in reversed(around) if interval.end <= ctx.today), None)
    if turn in ("next", "upcoming", "coming", "following"):
        return next((interval for interval in around if interval.start > ctx.today), None)
    current = [interval for interval in around if interval.start <= ctx.today < interval.end]
    direction = ctx.direction(*match.span())
    if current or direction == 0:
        return current[0] if current else yearly(ctx.today.year)
    return nearest(yearly, ctx, direction)


def turned_month(match: Match, ctx: Context) -> Reading | None:
    word = match["month"]
    if word in ("may", "march") and not ctx.capital(match.start("month")):
        return None
    yearly = month_of_year(MONTHS[word])
    return Reading(turned(match, ctx, yearly), yearly=yearly)


def season_of_year(first: int) -> Yearly:
    return lambda year: cal.season(year, first)


def turned_season(match: Match, ctx: Context) -> Reading:
    yearly = season_of_year(SEASONS[match["season"]])
    return Reading(turned(match, ctx, yearly), yearly=yearly)


def season_and_year(match: Match, ctx: Context) -> Interval:
    return cal.season(year_number(match["year"]), SEASONS[match["season"]])


def the_season(match: Match, ctx: Context) -> Reading | None:
    if not ctx.complete(match.end()) or ctx.habitual(*match.span()):
        return None
    return _yearless(season_of_year(SEASONS[match["season"]]), match, ctx)


def day_of_month(match: Match, ctx: Context) -> Interval | None:
    """Read "the 15th", the past one unless the sentence looks ahead, and "the 15th of last month"."""
    day, which = day_number(match["day"]), match["which"]
    month = ctx.today.replace(day=1)
    if which:
        month = cal.shift_months(month, {"last": -1, "this": 0, "next": 1}[which])
        return cal.day(month.replace(day=day))
    if match["lead"] is None or not ctx.complete(match.end()):
        return None
    ahead = ctx.direction(*match.span()) > 0
    for months in range(0, 14) if ahead else range(0, -14, -1):
        first = cal.shift_months(month, months)
        found = first + (day - 1) * DAY
        if found.month == first.month and (found >= ctx.today if ahead else found <= ctx.today):
            return cal.day(found)
    return None


def quarter(match: Match, ctx: Context) -> Interval | None:
    number = int(match["number"])
    if match["year"]:
        return cal.quarter(year_number(match["year"]), number)
    return nearest(lambda year: cal.quarter(year, number), ctx, ctx.direction(*match.span()))


NOT_YEARS = compiled(
    r"(?: ?(?:%|percent|people|words|steps|dollars|euros|pounds|miles|meters|metres|km|kg|calories|points|hours|days|minutes|seconds|years|times|pages|square|feet|followers|subscribers|views|copies|units|bucks|pieces|votes|pm|am|mah|mm|cm|lbs|k)\b|[.,:/]\d|-\d)"
)


def bare_year(match: Match, ctx: Context) -> Interval | None:
    if NOT_YEARS.match(ctx.folded, match.end("x")):
        return None
    return cal.year(int(match["x"]))


def year_range(match: Match, ctx: Context) -> Interval | None:
    return cal.span(datetime(int(match["first"]), 1, 1), datetime(int(match["last"]) + 1, 1, 1))


_DECADES = {
    word: n for n, word in enumerate("twenties thirties forties fifties sixties seventies eighties nineties".split(), 2)
}


def decade(match: Match, ctx: Context) -> Interval | None:
    """Read "the 90s", "the 1990s", "the nineties": the latest such decade that has begun."""
    word = match["decade"]
    number = 10 * _DECADES[word] if word in _DECADES else int(word)
    if number >= 100:
        return cal.decade(number)
    if _WARM.search(ctx.folded, *ctx.sentence(*match.span())):
        return None
    century = ctx.today.year - ctx.today.year % 100
    return cal.decade(century + number if century + number <= ctx.today.year else century - 100 + number)


_WARM = re.compile(
    r"\b(?:degrees|temperature|temps?|weather|hot|warm|fahrenheit|humid|highs?|lows?|score[sd]?|points)\b|[°%]"
)
_OF_YEAR = rf"(?:,? (?P<year>{YEAR})\b)"
_NUMBERED = rf"(?P<day>{DAY_NUMBER})"
_NAMED = rf"(?P<month>{MONTH})\b\.?"
_FULL = rf"(?P<month>{'|'.join(FULL_MONTHS)})"
_FREE = r"(?<![\w/.:$#-])"
_TURN = r"(?P<turn>(?:this )?(?:last|past|previous)|(?:this )?(?:coming|upcoming)|next|this)"
_NOT_COUNTED = r"(?!\d|[.,:]\d|[ -]?(?:miles|km|people|times|percent|%|kids|days|hours|weeks|minutes|dollars|years|points|am|pm|a\.m|p\.m))"

RULES_SOURCE = (
    ("number", rf"{_FREE}(?P<year>[12]\d{{3}})-(?P<month>\d\d?)-(?P<day>\d\d?)(?:[t ](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d(?:\.\d{{1,6}})?)?z?)?(?![\w/-])", iso_date),
    ("number", rf"{_FREE}(?P<year>[12]\d{{3}})/(?P<month>\d\d?)/(?P<day>\d\d?)(?P<hour>)?(?![\w/-])", iso_date),
    ("number", rf"{_FREE}(?P<first>\d\d?)(?P<mark>/)(?P<second>\d\d?)/(?P<year>[12]\d{{3}}|\d\d)(?![\w/-])", numeric_date),
    ("number", rf"{_FREE}(?P<first>\d\d?)(?P<mark>\.)(?P<second>\d\d?)\.(?P<year>[12]\d{{3}})(?![\w/-]|\.\d)", numeric_date),
    ("number", rf"{_FREE}(?P<first>\d\d?)(?P<mark>-)(?P<second>\d\d?)-(?P<year>[12]\d{{3}})(?![\w/-])", numeric_date),
    ("number", r"\b(?:on|by|until|till|since|before|after) (?P<x>(?P<first>\d\d?)(?P<mark>/)(?P<second>\d\d?)(?P<year>)?)(?![\w/.-])", numeric_date),
    ("month", rf"(?:\bthe )?(?<![\w.,:/$#])(?<!\d[ -]){_NUMBERED}(?: day)?[ -]?(?P<of> ?of )?{_NAMED}-?{_OF_YEAR}?(?!\w)", full_date),
    ("month", rf"\b{_NAMED} (?P<of>the )?{_NUMBERED}{_NOT_COUNTED}(?!\w){_OF_YEAR}?", full_date),
    ("month", rf"(?<![\w.,:/$#]){_NUMBERED} ?(?:-|to|through|until|till|and) ?(?P<last>{DAY_NUMBER}) (?P<of>of )?{_NAMED}{_OF_YEAR}?(?!\w)", date_range),
    ("month", rf"\b{_NAMED} (?P<of>the )?{_NUMBERED} ?(?:-|to|through|until|till) ?(?:the )?(?P<last>{DAY_NUMBER}){_NOT_COUNTED}(?!\w){_OF_YEAR}?", date_range),
    ("month", rf"\b{_NAMED}(?:,| of|-)? ?(?P<year>{YEAR})\b", month_and_year),
    ("month", rf"\b(?:(?P<lead>in|since|until|till|by|from|between|during|mid|early|late|through|of|around|for|and|to|before|after|or|throughout|beginning|end|starting)[ -])?(?P<x>{_FULL})\b(?!')", bare_month),
    ("month", rf"\b(?<!the ){_TURN} {_NAMED}(?!\w)", turned_month),
    ("season", rf"(?<!\bthe )\b{_TURN} (?P<season>{SEASON})\b(?! (?:camp|school|job|break|house|semester|jam))", turned_season),
    ("season", rf"\b(?P<season>{SEASON})(?: of| in|,)? (?P<year>{YEAR})\b", season_and_year),
    ("season", rf"\b(?:in|over|during|through|throughout|since|for|by|until|this past) (?P<x>the (?P<season>{SEASON}))\b", the_season),
    ("number", rf"\b(?:(?P<lead>on|by|until|till|since|before|after|around|for|from) )?(?P<x>the (?P<day>\d\d?(?:st|nd|rd|th))(?: of (?P<which>last|this|next) month)?)\b", day_of_month),
    ("number", rf"\bq(?P<number>[1-4])(?:,? (?:of )?(?P<year>{YEAR}))?(?!\w)", quarter),
    ("number", r"\b(?:in|since|of|during|year|by|until|till|around|circa|from|before|after|late|early|mid|for|through|to)[ -](?P<x>(?:1[5-9]|20)\d\d)(?![\w%])", bare_year),
    ("number", r"(?<![\w.,:/$#-])(?P<x>(?:19|20)\d\d) (?:was|has been|is going|will be|had been)\b", bare_year),
    ("number", r"\b(?:from|between|in|during|of) (?P<x>(?P<first>(?:1[5-9]|20)\d\d) ?(?:-|to|and|until|till|through) ?(?P<last>(?:1[5-9]|20)\d\d))(?![\w%])", year_range),
    ("decade", rf"\bthe (?:(?:early|mid|late)[ -])?(?P<x>'?(?P<decade>(?:1[5-9]\d|20\d|[2-9])0(?='?s\b)|{'|'.join(_DECADES)})(?:'?s)?)\b", decade),
)  # fmt: skip
RULES = tuple(Rule(cue, compiled(pattern), read) for cue, pattern, read in RULES_SOURCE)
