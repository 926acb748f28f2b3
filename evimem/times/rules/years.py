"""Years and decades: in 2016, from 2014 to 2018, the 90s, the early 1980s."""

from __future__ import annotations

import re
from datetime import datetime

from ...lang import ENGLISH
from .. import calendar
from ..calendar import TimeInterval
from ..context import Context
from ..fragments import Pattern, one_of, year_number
from ..lexicon import BEFORE, DECADES, NOT_BEFORE
from ..rule_types import needs, rules

Match = re.Match[str]
LONGEST = 100  # years of a range


def bare(match: Match, ctx: Context) -> TimeInterval | None:
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
    if int(match["last"]) - int(match["first"]) > LONGEST:
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
_LEAD = rf"{one_of(BEFORE['year'])}[ -]"
_PART = rf"{one_of(BEFORE['part_of_year'])} (?:of|in) "
_TO = r"(?: ?- ?| (?:to|until|till|through) )"
_DECADE = rf"(?P<decade>(?:1[5-9]\d|20\d|[2-9])0(?='?s\b)|{one_of(DECADES)})"

RULES = rules(
    (needs("year", BEFORE["year"]), rf"\b{_LEAD}{_X}", bare),
    (needs("year", ["of", "in"]), rf"\b{_PART}{_X}", bare),
    (needs("year"), rf"\b{_YEAR}(?:,| and|, and| or) {_X}", bare),
    (
        needs("year", ["was", "been", "going", "will"]),
        rf"(?<![\w.,:/$#-]){_X} (?:was|has been|is going|will be|had been)\b",
        bare,
    ),
    (needs("number", BEFORE["year"]), rf"\b{_LEAD}(?P<x>'\d\d)(?![\w%'])", short),
    (needs("year"), rf"\bit (?:was|is|were) (?:back in )?{_X}", bare),
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
