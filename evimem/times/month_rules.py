"""Months, seasons, quarters, years, decades and holidays: May 2023, last summer, Q3 2022, the 90s, at Christmas.

Seasons are northern and meteorological. A month that is also a verb or a first name ("May I", "April said") and a
season ("fall off") need a word before them that makes them a time, and so does a holiday ("the Christmas tree").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from ..lang import ENGLISH
from . import calendar
from .calendar import DAY, TimeInterval
from .context import PRESENT, RELATIVE, Context, Yearly, follows_naming, is_subject, last, nearest, relative
from .lexicon import (
    BEFORE,
    DECADES,
    DIGIT,
    FULL_MONTHS,
    FULL_WEEKDAYS,
    MONTH,
    MONTHS,
    NOT_BEFORE,
    PREVIOUS_WORDS,
    SEASON,
    SEASONS,
    UPCOMING_WORDS,
    WEEKDAY,
    YEAR,
    Pattern,
    one_of,
    year_number,
)
from .rule_types import AnyRule, Counted, Meaning, count_rule, needs, rules

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

MONTH_RULES: tuple[AnyRule, ...] = (
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


LONGEST_RANGE = 100  # years of a range


def bare_year(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "in 2016", unless a noun follows that the number counts ("in 2016 steps")."""
    if _COUNTED.regex.match(ctx.folded, match.end("x")):
        return None
    return calendar.year(int(match["x"]))


def short(match: Match, _: Context) -> TimeInterval:
    """Read "in '16"."""
    return calendar.year(year_number(match["x"]))


def range_of(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "from 2014 to 2018", both years included."""
    if _COUNTED.regex.match(ctx.folded, match.end("x")):
        return None
    if int(match["last"]) - int(match["first"]) > LONGEST_RANGE:
        return None
    return calendar.span(datetime(int(match["first"]), 1, 1), datetime(int(match["last"]) + 1, 1, 1))


def decade(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the 90s", "the 1990s", "the nineties"; a short form is the latest decade that has begun."""
    word = match["decade"]
    number = DECADES[word] if word in DECADES else int(word)
    if number >= 100:
        return (
            calendar.span(datetime(number, 1, 1), datetime(number + 100, 1, 1))
            if _is_century(number)
            else calendar.decade(number)
        )
    if _DEGREES.regex.search(ctx.folded, *ctx.sentence(*match.span())):
        return None
    century = ctx.today.year - ctx.today.year % 100
    return calendar.decade(century + number - (100 if century + number > ctx.today.year else 0))


def _is_century(number: int) -> bool:
    """Return whether a number is a century: "the 1800s" and "the 1900s" are, "the 2000s" are a decade."""
    return number % 100 == 0 and number < 2000


_YEAR = r"(?:1[5-9]|20)\d\d"
_DEGREES = Pattern(rf"\b{one_of(ENGLISH.words('times.degree_words'))}\b|[°%]")
_COUNTED = Pattern(rf"(?:(?: |-)?(?:%|{one_of(NOT_BEFORE['year'])})\b|[.,:/]\d|-\d)")

_X = rf"(?P<x>{_YEAR})(?![\w%])"
_YEAR_LEAD = rf"{one_of(BEFORE['year'])}[ -]"
_PART_OF = rf"{one_of(BEFORE['part_of_year'])} (?:of|in) "
_TO = r"(?: ?- ?| (?:to|until|till|through) )"
_DECADE = rf"(?P<decade>(?:1[5-9]\d|20\d|[2-9])0(?='?s\b)|{one_of(DECADES)})"

YEAR_RULES = rules(
    (needs("year", BEFORE["year"]), rf"\b{_YEAR_LEAD}{_X}", bare_year),
    (needs("year", ["of", "in"]), rf"\b{_PART_OF}{_X}", bare_year),
    (needs("year"), rf"\b{_YEAR}(?:,| and|, and| or) {_X}", bare_year),
    (
        needs("year", ["was", "been", "going", "will"]),
        rf"(?<![\w.,:/$#-]){_X} (?:was|has been|is going|will be|had been)\b",
        bare_year,
    ),
    (needs("number", BEFORE["year"]), rf"\b{_YEAR_LEAD}(?P<x>'\d\d)(?![\w%'])", short),
    (needs("year"), rf"\bit (?:was|is|were) (?:back in )?{_X}", bare_year),
    (
        needs("year"),
        rf"(?<![\w.,:/$#-])(?P<x>(?P<first>{_YEAR})(?: ?- ?| (?:to|until|through) )(?P<last>{_YEAR}))"
        r"(?![\w%/-]|[.,]\d)",
        range_of,
    ),
    (needs("year"), rf"\b(?:from|in|during|of) (?P<x>(?P<first>{_YEAR}){_TO}(?P<last>{_YEAR}))(?![\w%])", range_of),
    (needs("year", ["between"]), rf"\bbetween (?P<x>(?P<first>{_YEAR}) and (?P<last>{_YEAR}))(?![\w%])", range_of),
    (
        needs("decade", ["the"]),
        rf"\bthe (?:(?:early|mid|late|\w{{1,8}})[ -])?(?P<x>'?{_DECADE}(?:'?s\b)?)(?!\w)",
        decade,
    ),
)


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
SURELY = timedelta(days=35)  # how near a holiday is of which no verb tells which one is meant
NEAR_ONE = timedelta(days=7)  # how near one of two days of the same name is when it is the one that is meant


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
    unsure = match["lead"] == "at" and direction in (0, PRESENT) and near and abs(near.start - ctx.today) > SURELY
    weak = weak or bool(unsure) or not (match["lead"] or match["weekend"] or soon) or ctx.habitual(*match.span("x"))
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
    near = [start for start in days if abs(start - ctx.today) <= NEAR_ONE]
    return Meaning(calendar.day(near[0]), weak=not ctx.complete(match.end())) if len(near) == 1 else None


LONGEST_OPINION = 16  # characters before a holiday that hold such a verb
_OPINION = Pattern(rf"\b{one_of(ENGLISH.words('times.opinions'))} \Z")
_JUDGED = Pattern(r"(?: is|'s) (?:an?|my|our|so|such|always|never|about|for|more|the (?:best|worst|most))\b")
_ON_DAY = Pattern(rf"(?: is|'s) (?:on )?(?:this |next )?{WEEKDAY}\b")
_NO_DAY = "(?:the|a|an|my|our|happy|merry)"  # "the Thanksgiving turkey", "Happy New Year"

HOLIDAY_RULES = rules(
    (
        needs("holiday"),
        rf"\b(?:(?P<lead>{one_of(BEFORE['holiday'])}) )?(?P<article>{_NO_DAY} )?"
        rf"(?P<x>(?:{RELATIVE} )?(?P<holiday>{one_of(HOLIDAYS)})"
        rf"(?P<weekend> (?:long )?(?:weekend|wknd))?(?:(?:, ?| of | in | )(?P<year>{YEAR}))?)(?!\w)",
        holiday,
    ),
)
