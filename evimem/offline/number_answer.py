"""How long and how many: phrases that say it, and arithmetic over resolved dates where none does."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime

from ..types.values import TimeSpan
from .match_sentences import Match, Matches, nearness, strength

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred thousand".split()
_SPELLED = "|".join((*_TENS, *_WORDS[1:]))
_NUMBER = rf"(?:\d+(?:[.,]\d+)*|(?:{_SPELLED})(?:[- ](?:and[- ])?(?:{_SPELLED}))*)"
_UNIT = r"(?:second|minute|hour|day|night|week|weekend|fortnight|month|year|decade)s?"
_ABOUT = r"(?:(?:about|around|almost|nearly|roughly|over|under|more than|less than|just under|at least)\s+)?"
DURATION = re.compile(
    rf"\b{_ABOUT}(?:{_NUMBER}|an?|(?:a\s+)?(?:few|couple(?:\s+of)?)|several|half\s+an?)"
    rf"(?:\s*(?:-|\u2013|to)\s*{_NUMBER})?(?:\s+and\s+a\s+half)?[\s-]+{_UNIT}\b(?:\s+and\s+a\s+half\b)?",
    re.IGNORECASE,
)
COUNT = re.compile(
    r"(?!\bone\b(?:\s+(?:of|that|who|is|was|day|more|another|thing)\b|[.,!?;]|$))"
    rf"(?<![\w$\u00a3\u20ac:.,/-])(?:{_NUMBER}(?:\s*(?:%|percent\b))?|once|twice|(?:a\s+)?(?:few|couple|dozen)|several)"
    r"(?![\w:]|/\d)",
    re.IGNORECASE,
)
MONEY = re.compile(
    r"[$\u00a3\u20ac]\s?\d+(?:[.,]\d+)*(?:\s?(?:k|million))?"
    rf"|\b{_NUMBER}\s+(?:pounds|dollars|euros|bucks|quid|pence|cents)\b",
    re.IGNORECASE,
)
PRICED = re.compile(
    r"\b(?:how\s+much|what)\b.*\b(?:cost|costs|pay|paid|price|priced|spend|spent|charged?|budget|earn|earns|earned)\b(?!\s+attention)",
    re.IGNORECASE,
)
OFTEN = re.compile(
    rf"\b(?:{_ABOUT}(?:once|twice|{_NUMBER}\s+times|(?:a\s+)?(?:few|couple(?:\s+of)?)\s+times)"
    r"(?:\s+or\s+\w+)?\s+(?:a|an|per|every|each)\s+\w+"
    r"|every\s+(?:other\s+|single\s+|few\s+)?\w+|(?:daily|weekly|monthly|yearly|each\s+\w+))\b",
    re.IGNORECASE,
)
_AGE = re.compile(
    rf"\b{_ABOUT}{_NUMBER}[\s-]+years?[\s-]+old\b"
    rf"|(?<=\bis\s)(?:{_NUMBER})\b(?=\s*(?:[.,;!?]|and\b|now\b|today\b|$))"
    rf"|(?<=\bturns\s)(?:{_NUMBER})\b|(?<=\bturned\s)(?:{_NUMBER})\b|(?<=\baged\s)(?:{_NUMBER})\b",
    re.IGNORECASE,
)
SIZE = re.compile(
    rf"\b{_ABOUT}{_NUMBER}(?:\s*(?:x|by)\s*{_NUMBER})?[\s-]*"
    r"(?:square\s+)?(?:mm|cm|km|m\u00b2|m|(?:centi|kilo|milli)?met(?:er|re)s?|inch(?:es)?|foot|feet|ft|yards?|miles?|acres?"
    r"|hectares?|lit(?:er|re)s?)\b(?:\s+(?:long|wide|high|tall|deep|away))?"
    rf"(?:\s+(?:and|by)\s+{_NUMBER}\s+(?:long|wide|high|tall|deep)\b)?",
    re.IGNORECASE,
)
_MEASURES = (
    (re.compile(r"\bhow\s+old\b", re.IGNORECASE), _AGE),
    (re.compile(r"\bhow\s+(?:tall|high|big|large|wide|deep|far)\b", re.IGNORECASE), SIZE),
)
_ORDINALS = {word: n for n, word in enumerate("second third fourth fifth sixth seventh eighth ninth tenth".split(), 2)}
ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b(?!\s+(?:of|to|time)\b)", re.IGNORECASE)
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
_BETWEEN = re.compile(
    r"\bbetween\s+(.+?)\s+and\s+(.+?)\s*\?*$|\b(?:after)\s+(.+?)\s+(?:did|was|were|had)\s+(.+?)\s*\?*$", re.IGNORECASE
)
_ASKED_UNIT = re.compile(rf"\bhow\s+many\s+({_UNIT})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A phrase of a sentence that states a quantity."""

    match: Match
    span: tuple[int, int]
    text: str
    strength: float


def stated(matches: Matches, found: list[Match], pattern: re.Pattern[str], within: float = 0.5) -> list[Said]:
    """Return the phrases of a form in the best sentences, most likely first; where they have none, in weaker ones."""
    return _stated(matches, found, pattern, within) or _stated(matches, found, pattern, 0.0)


def _stated(matches: Matches, found: list[Match], pattern: re.Pattern[str], within: float) -> list[Said]:
    top = max((strength(m) for m in found), default=0.0)
    phrases = [
        Said(m, hit.span(), hit[0], strength(m) / top + 0.3 * nearness(matches, m, hit.start(), hit.end()))
        for m in found
        if top > 0 and strength(m) >= within * top and not m.unit.caption
        for hit in pattern.finditer(m.unit.turn.text, *m.unit.span)
    ]
    return sorted(phrases, key=lambda said: -said.strength)


def measure(question: str) -> re.Pattern[str] | None:
    """Return the form of what is measured, where a question asks for an age or a size."""
    return next((form for asked, form in _MEASURES if asked.search(question)), None)


def two_events(question: str) -> tuple[str, str] | None:
    """Return the two events whose distance is asked for, in the question's words."""
    found = _BETWEEN.search(question)
    if found is None:
        return None
    first, second = [part for part in found.groups() if part]
    return first, second


def between(one: TimeSpan, other: TimeSpan, question: str) -> str | None:
    """Return the distance of two times in the unit asked for, else in the largest that fits."""
    if one.start is None or other.start is None:
        return None
    days = abs((other.start - one.start).total_seconds()) / 86_400
    asked = _ASKED_UNIT.search(question)
    unit = asked[1].rstrip("s").lower() if asked else _largest(days)
    return amount(max(1, round(days / _DAYS.get(unit, 1.0))), unit)


def since(start: datetime, until: datetime) -> str | None:
    """Return how long ago a moment was, in whole units of the largest that fits."""
    days = (until - start).total_seconds() / 86_400
    if days < 1:
        return None
    unit = _largest(days)
    return amount(max(1, math.floor(days / _DAYS[unit] + 0.1)), unit)


def amount(number: int, unit: str) -> str:
    """Return a number with its unit in words: "two weeks"."""
    return f"{in_words(number)} {unit}{'' if number == 1 else 's'}"


def in_words(number: int) -> str:
    """Return a small number as a word."""
    return _WORDS[number] if 0 <= number < len(_WORDS) else str(number)


def ordinal(word: str) -> int:
    """Return the number of an ordinal: 4 of "fourth"."""
    return _ORDINALS[word.lower()]


def _largest(days: float) -> str:
    for unit in ("year", "month", "week"):
        if days >= _DAYS[unit] * 0.98:
            return unit
    return "day"
