"""Months, seasons and quarters: May 2023, in August, last summer, the spring of 2021, Q3 2022.

Seasons are the northern, meteorological ones. A month that is also a verb or a first name ("May I", "April said")
needs a word before it that makes it a month, and a season too ("fall off", "Summer is my sister").
"""

from __future__ import annotations

import re
from dataclasses import replace

from .. import calendar
from ..calendar import Interval
from ..context import Context
from ..lexicon import COUNT, FULL_MONTH, FULL_MONTHS, MONTH, MONTHS, SEASON, SEASONS, YEAR, quantity, year_number
from ..rule_types import Reading, rules
from ..yearly import TURN, Yearly, last, nearest, turned

Match = re.Match[str]
NAMES_TOO = frozenset({"april", "june", "august", "may", "march"})
WORDS_TOO = frozenset({"may", "march", "august"})
SURE = frozenset({"in", "since", "until", "till", "mid", "early", "late", "during", "throughout"})


def _month(number: int) -> Yearly:
    return lambda year: calendar.month(year, number)


def _season(first: int) -> Yearly:
    return lambda year: calendar.season(year, first)


def month_and_year(match: Match, _: Context) -> Interval:
    return calendar.month(year_number(match["year"]), MONTHS[match["month"]])


def bare_month(match: Match, ctx: Context) -> Reading:
    """Read a month by its name, weakly when nothing shows that the word is one."""
    word, lead, end = match["month"], match["lead"], match.end()
    yearly = _month(FULL_MONTHS[word])
    reading = Reading(nearest(yearly, ctx.today, ctx.direction(*match.span("x"))), yearly=yearly)
    if word not in NAMES_TOO:
        return reading
    capital = ctx.capital(match.start("x"))
    led = lead in SURE or (lead is not None and capital)
    alone = lead in SURE and (capital or word not in WORDS_TOO)
    return replace(reading, weak=not led or not (alone or ctx.complete(end)))


def turned_month(match: Match, ctx: Context) -> Reading | None:
    word = match["month"]
    if word in ("may", "march", "mar") and not ctx.capital(match.start("month")):
        return None
    yearly = _month(MONTHS[word])
    return Reading(turned(match["turn"], yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)


def season_and_year(match: Match, _: Context) -> Interval:
    return calendar.season(year_number(match["year"]), SEASONS[match["season"]])


def turned_season(match: Match, ctx: Context) -> Reading:
    yearly = _season(SEASONS[match["season"]])
    return Reading(turned(match["turn"], yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)


def season_before_last(match: Match, ctx: Context) -> Interval | None:
    return last(_season(SEASONS[match["season"]]), ctx.today, 2)


def seasons_ago(match: Match, ctx: Context) -> Interval | None:
    return last(_season(SEASONS[match["season"]]), ctx.today, int(quantity(match["count"]).low))


def bare_season(match: Match, ctx: Context) -> Reading | None:
    """Read "in the summer", and without the article only where the sentence looks back or ahead at it."""
    direction = ctx.direction(*match.span("x"))
    if ctx.habitual(*match.span()) or not (match["the"] or direction):
        return None
    yearly = _season(SEASONS[match["season"]])
    return Reading(nearest(yearly, ctx.today, direction), yearly=yearly, weak=not ctx.complete(match.end()))


def quarter_of_year(match: Match, _: Context) -> Interval | None:
    return calendar.quarter(year_number(match["year"]), int(match["number"]))


def bare_quarter(match: Match, ctx: Context) -> Reading:
    number = int(match["number"])

    def yearly(year: int) -> Interval | None:
        return calendar.quarter(year, number)

    return Reading(nearest(yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)


_SEASON = rf"(?P<season>{SEASON})\b"
_LEAD = (
    r"(?P<lead>in|since|until|till|by|from|between|during|mid|early|late|through|throughout|of|around|for|and|to|before"
    r"|after|or|starting)"
)
_NOT_A_SUMMER = r"(?! (?:camp|school|job|break|house|semester|jam|dress)\b)"

RULES = rules(
    ("month", rf"\b(?P<month>{MONTH})\b\.?(?:, ?| of | |-)?(?P<year>{YEAR})(?!\w)", month_and_year),
    ("month", rf"\b(?:{_LEAD}[ -])?(?P<x>(?P<month>{FULL_MONTH}))\b", bare_month),
    ("month", rf"(?<!\bthe )\b{TURN} (?P<month>{MONTH})\b", turned_month),
    ("season", rf"\b{_SEASON}(?: of | in |, ?| )(?P<year>{YEAR})(?!\w)", season_and_year),
    ("season", rf"(?<!\bthe )\b{TURN} {_SEASON}{_NOT_A_SUMMER}", turned_season),
    ("season", rf"\b(?:the )?{_SEASON} before last\b", season_before_last),
    ("season", rf"(?P<count>{COUNT}) (?P<season>{SEASON})s ago\b", seasons_ago),
    (
        "season",
        rf"\b(?:in|over|during|through|throughout|since|for|until) (?P<x>(?P<the>the ){_SEASON})(?! from\b)",
        bare_season,
    ),
    ("season", rf"\b(?:in|since|until) (?P<x>(?P<the>the )?{_SEASON})(?! from\b)", bare_season),
    ("number", rf"\bq(?P<number>[1-4])(?:,? (?:of |in )?)(?P<year>{YEAR})(?!\w)", quarter_of_year),
    ("number", r"\bq(?P<number>[1-4])(?!\w)", bare_quarter),
)
