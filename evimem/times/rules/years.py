"""Years and decades: in 2016, from 2014 to 2018, the 90s, the early 1980s."""

from __future__ import annotations

import re
from datetime import datetime

from .. import calendar
from ..calendar import Interval
from ..context import Context
from ..lexicon import compiled
from ..rule_types import rules

Match = re.Match[str]


def bare(match: Match, ctx: Context) -> Interval | None:
    """Read a year where a word before it says so and no noun follows that it would count."""
    if _COUNTS.match(ctx.folded, match.end("x")):
        return None
    return calendar.year(int(match["x"]))


def range_of(match: Match, _: Context) -> Interval | None:
    return calendar.span(datetime(int(match["first"]), 1, 1), datetime(int(match["last"]) + 1, 1, 1))


def decade(match: Match, ctx: Context) -> Interval | None:
    """Read "the 90s", "the 1990s", "the nineties": of the short forms the latest decade that has begun."""
    word = match["decade"]
    number = _DECADES[word] if word in _DECADES else int(word)
    if number >= 100:
        return (
            calendar.span(datetime(number, 1, 1), datetime(number + 100, 1, 1))
            if _is_century(number)
            else calendar.decade(number)
        )
    if _DEGREES.search(ctx.folded, *ctx.sentence(*match.span())):
        return None
    century = ctx.today.year - ctx.today.year % 100
    return calendar.decade(century + number - (100 if century + number > ctx.today.year else 0))


def _is_century(number: int) -> bool:
    """Say whether "the 1800s" and "the 1900s" are meant; "the 2000s" have been a decade so far."""
    return number % 100 == 0 and number < 2000


_TENS = "twenties thirties forties fifties sixties seventies eighties nineties".split()
_DECADES = {word: number for number, word in zip(range(20, 100, 10), _TENS, strict=True)}
_YEAR = r"(?:1[5-9]|20)\d\d"
_DEGREES = compiled(r"\b(?:degrees|temperatures?|temps?|weather|hot|warm|fahrenheit|humid|highs?|lows?|points)\b|[°%]")
_COUNTS = compiled(
    r"(?:(?: |-)?(?:%|percent|people|words|steps|dollars|euros|pounds|bucks|miles|meters|metres|kilometers|km|kg|grams"
    r"|calories|points|hours|days|minutes|seconds|years|times|pages|square|feet|followers|subscribers|views|copies|units"
    r"|pieces|votes|pm|am|mah|mm|cm|lbs|k|guests|members|students|employees|customers|users)\b|[.,:/]\d|-\d)"
)

_X = rf"(?P<x>{_YEAR})(?![\w%])"
_LED = r"(?:in|since|during|year|by|until|till|around|circa|from|before|after|late|early|mid|through)[ -]"
_PART = r"(?:summer|winter|spring|autumn|fall|end|beginning|start|middle|part|half|quarter|back) (?:of|in) "
_TO = r"(?: ?- ?| (?:to|until|till|through) )"
_DECADE = rf"(?P<decade>(?:1[5-9]\d|20\d|[2-9])0(?='?s\b)|{'|'.join(_TENS)})"

RULES = rules(
    ("number", rf"\b{_LED}{_X}", bare),
    ("number", rf"\b{_PART}{_X}", bare),
    ("number", rf"\b{_YEAR}(?:,| and|, and| or) {_X}", bare),
    ("number", rf"(?<![\w.,:/$#-]){_X} (?:was|has been|is going|will be|had been)\b", bare),
    ("number", rf"\b(?:from|in|during|of) (?P<x>(?P<first>{_YEAR}){_TO}(?P<last>{_YEAR}))(?![\w%])", range_of),
    ("number", rf"\bbetween (?P<x>(?P<first>{_YEAR}) and (?P<last>{_YEAR}))(?![\w%])", range_of),
    ("decade", rf"\bthe (?:(?:early|mid|late|\w{{1,8}})[ -])?(?P<x>'?{_DECADE}(?:'?s\b)?)(?!\w)", decade),
)
