"""Months, seasons and quarters: May 2023, in August, last summer, the spring of 2021, Q3 2022.

Seasons are northern and meteorological. A month that is also a verb or a first name ("May I", "April said") and a
season ("fall off", "Summer is my sister") need a word before them that makes them a time.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...lang import ENGLISH
from .. import calendar
from ..calendar import TimeInterval
from ..context import PRESENT, Context
from ..fragments import MONTH, SEASON, YEAR, one_of, year_number
from ..given_names import follows_naming, is_subject
from ..lexicon import BEFORE, DIGIT, FULL_MONTHS, MONTHS, NOT_BEFORE, PREVIOUS_WORDS, SEASONS, UPCOMING_WORDS
from ..rule_types import AnyRule, Counted, Meaning, count_rule, needs, rules
from ..yearly import RELATIVE, Yearly, last, nearest, relative

Match = re.Match[str]
_AMBIGUOUS = ENGLISH.lists("times.ambiguous_months")
VERBS = frozenset(_AMBIGUOUS["verb"])
WORDS = frozenset(_AMBIGUOUS["word"])
NAMES = frozenset(_AMBIGUOUS["name"])
CERTAIN = frozenset(BEFORE["certain_month"])


def _month(number: int) -> Yearly:
    return lambda year: calendar.month(year, number)


def _season(first: int) -> Yearly:
    return lambda year: calendar.season(year, first)


def month_and_year(match: Match, _: Context) -> TimeInterval:
    """Read "May 2023"."""
    return calendar.month(year_number(match["year"]), MONTHS[match["month"]])


def bare_month(match: Match, ctx: Context) -> Meaning | None:
    """Read a month by its name; weak when nothing shows that the word is a month."""
    word, lead, end = match["month"], match["lead"], match.end()
    if follows_naming(match.start("x"), ctx) or (word in NAMES and is_subject(end, ctx)):
        return None
    yearly = _month(MONTHS[word])
    reading = Meaning(nearest(yearly, ctx.today, ctx.direction(*match.span("x"))), yearly=yearly)
    if word not in FULL_MONTHS:
        led = word not in VERBS and (lead in CERTAIN or (lead is not None and ctx.capital(match.start("x"))))
        return replace(reading, weak=not led or not ctx.complete(end))
    if word not in NAMES:
        return replace(reading, weak=lead in ("in", "during") and ctx.habitual(*match.span("x")))
    capital = ctx.capital(match.start("x"))
    led = lead in CERTAIN or (lead is not None and capital)
    alone = lead in CERTAIN and (capital or word not in WORDS)
    return replace(reading, weak=not led or not (alone or ctx.complete(end)))


def relative_month(match: Match, ctx: Context) -> Meaning | None:
    """Read "last May"; "this march" is a month with a capital letter only."""
    word = match["month"]
    if word in VERBS and not ctx.capital(match.start("month")):
        return None
    yearly = _month(MONTHS[word])
    return Meaning(relative(match["relative"], yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)


def season_and_year(match: Match, _: Context) -> TimeInterval:
    """Read "the spring of 2021"."""
    return calendar.season(year_number(match["year"] or f"'{match['short']}"), SEASONS[match["season"]])


def relative_season(match: Match, ctx: Context) -> Meaning:
    """Read "last summer"."""
    yearly = _season(SEASONS[match["season"]])
    return Meaning(relative(match["relative"], yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)


def season_before_last(match: Match, ctx: Context) -> TimeInterval | None:
    return last(_season(SEASONS[match["season"]]), ctx.today, 2)


def seasons_ago(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "five summers ago"."""
    return last(_season(SEASONS[counted.unit]), ctx.today, int(counted.number.low))


def bare_season(match: Match, ctx: Context) -> Meaning | None:
    """Read "in the summer"; without the article only where the sentence looks back or ahead."""
    direction = ctx.direction(*match.span("x"))
    if ctx.habitual(*match.span()) or abs(direction) <= PRESENT:
        return None  # "in the winter I love skiing"
    yearly = _season(SEASONS[match["season"]])
    return Meaning(nearest(yearly, ctx.today, direction), yearly=yearly, weak=not ctx.complete(match.end()))


def quarter_of_year(match: Match, _: Context) -> TimeInterval | None:
    return calendar.quarter(year_number(match["year"]), int(match["number"]))


def half_of_year(match: Match, ctx: Context) -> Meaning:
    """Read "H1 2025" and "H2"."""
    first = 6 * int(match["number"]) - 5

    def yearly(year: int) -> TimeInterval | None:
        return calendar.span(calendar.first_of_month(year, first), calendar.first_of_month(year, first + 6))

    if match["year"]:
        return Meaning(yearly(year_number(match["year"])))
    return Meaning(nearest(yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)


def bare_quarter(match: Match, ctx: Context) -> Meaning:
    number = int(match["number"])

    def yearly(year: int) -> TimeInterval | None:
        return calendar.quarter(year, number)

    return Meaning(nearest(yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)


_SEASON = rf"(?P<season>{SEASON})\b"
_LEAD = rf"(?P<lead>{one_of(BEFORE['month'])})"
_NO_COMPOUND = rf"(?! {one_of(NOT_BEFORE['season'])}\b)"

_RELATIVE_WORDS = ("this", "next", *PREVIOUS_WORDS, *UPCOMING_WORDS)

RULES: tuple[AnyRule, ...] = (
    *rules(
        (
            needs("month", [DIGIT]),
            rf"\b(?P<month>{MONTH})\b\.?(?:, ?| of | |-)?(?P<year>{YEAR})(?!\w)",
            month_and_year,
        ),
        (
            needs("month", [DIGIT]),
            rf"(?<![\w.,:/$#-])(?P<year>[12]\d{{3}}),? (?P<month>{MONTH})\b(?! ?\d)",
            month_and_year,
        ),
        (needs("month"), rf"\b(?:{_LEAD}[ -])?(?P<x>(?P<month>{MONTH}))\b", bare_month),
        (needs("month", _RELATIVE_WORDS), rf"(?<!\bthe )\b{RELATIVE} (?P<month>{MONTH})\b", relative_month),
        (
            needs("season", [DIGIT]),
            rf"\b{_SEASON}(?:(?: of | in |, ?| )(?P<year>{YEAR})| of (?P<short>\d\d))(?![\w:%])",
            season_and_year,
        ),
        (
            needs("season", _RELATIVE_WORDS),
            rf"(?<!\bthe )\b{RELATIVE} {_SEASON}{_NO_COMPOUND}",
            relative_season,
        ),
        (needs("season", ["before"]), rf"\b(?:the )?{_SEASON} before last\b", season_before_last),
    ),
    count_rule(needs("season", ["ago"]), "", r"(?P<x> ago)\b", seasons_ago, units=SEASONS),
    *rules(
        (
            needs("season", ["the"]),
            rf"\b{one_of(BEFORE['season'])} (?P<x>(?P<the>the ){_SEASON})(?! from\b)",
            bare_season,
        ),
        (
            needs("season", ["in", "since", "until", "early", "mid", "late", "of"]),
            r"\b(?:in|since|until|early|mid|late|(?:start|beginning|middle|end) of)(?: |-)"
            rf"(?P<x>(?P<the>the )?{_SEASON})(?! from\b)",
            bare_season,
        ),
        (
            needs("number", ["q"]),
            rf"\bq(?P<number>[1-4])(?:,? (?:of |in )?)(?P<year>{YEAR})(?!\w)",
            quarter_of_year,
        ),
        (needs("number", ["q"]), r"\bq(?P<number>[1-4])(?!\w)", bare_quarter),
        (
            needs("number", ["h"]),
            rf"\bh(?P<number>[12])(?:(?:,? (?:of |in )?)(?P<year>{YEAR}))?(?!\w)",
            half_of_year,
        ),
    ),
)
