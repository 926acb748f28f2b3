"""Dates, lengths of time, numbers and amounts in sentences, most likely first, and arithmetic over resolved dates.

Where no sentence states when something happened, the last resort is the day on which it was mentioned.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evimem.lang import ENGLISH
from evimem.offline.matching import Match, Matches, strength
from evimem.offline.quotation import NUMBER
from evimem.text.terms import stem
from evimem.times import Conventions, Located, locate_times
from evimem.times.lexicon import SIMPLE_NUMBERS
from evimem.types.values import TimeSpan

from .word_lists import any_span_word

_any = ENGLISH.any_of_source

WORDS = ("zero", *(word for word, number in SIMPLE_NUMBERS.items() if number <= 20))  # by value
ABOUT = rf"(?:{any_span_word('approximately')}\s+)?"
SIZE = re.compile(
    rf"\b{ABOUT}{NUMBER}(?:\s*(?:x|by)\s*{NUMBER})?[\s-]*"
    r"(?:square\s+)?(?:mm|cm|km|m\u00b2|m|(?:centi|kilo|milli)?met(?:er|re)s?|inch(?:es)?|foot|feet|ft|yards?|miles?|acres?"
    rf"|hectares?|lit(?:er|re)s?)\b(?:\s+(?:{any_span_word('dimensions')}|away))?"
    rf"(?:\s+(?:and|by)\s+{NUMBER}\s+{any_span_word('dimensions')}\b)?",
    re.IGNORECASE,
)
UNIT = rf"{_any('questions.answer_units')}s?"
DURATION = re.compile(
    rf"\b{ABOUT}(?:{NUMBER}|an?|(?:a\s+)?(?:few|couple(?:\s+of)?)|several|half\s+an?)"
    rf"(?:\s*(?:-|\u2013|to)\s*{NUMBER})?(?:\s+and\s+a\s+half)?[\s-]+{UNIT}\b(?:\s+and\s+a\s+half\b)?",
    re.IGNORECASE,
)
COUNT = re.compile(
    r"(?!\bone\b(?:\s+(?:of|that|who|is|was|day|more|another|thing)\b|[.,!?;]|$))"
    rf"(?<![\w$\u00a3\u20ac:.,/-])(?:{NUMBER}(?:\s*(?:%|percent\b))?|once|twice|(?:a\s+)?(?:few|couple|dozen)|several)"
    r"(?![\w:]|/\d)",
    re.IGNORECASE,
)
_REACH = 30.0  # characters over which nearness falls to 1/e
_WORD = re.compile(r"\w+")

_FUTURE = re.compile(
    r"\b(?:will|going\s+to|planning|plans?|planned|hoping|upcoming|next|is\s+\w+\s+\w+ing)\b", re.IGNORECASE
)
_PAST = re.compile(r"\b(?:did|was|were|had|has|have|\w+ed)\b", re.IGNORECASE)
WITHIN = 0.45  # least strength of a dated sentence, as a share of the strongest one's
SAME_TURN = 0.1
TENSE = 0.5
NEAR = 0.2
ASKED = 0.4
_SENTENCES = 12  # that are searched for dates
PRICED = re.compile(
    rf"\b(?:how\s+much|what)\b.*\b{any_span_word('priced')}\b(?!\s+attention)",
    re.IGNORECASE,
)
OFTEN = re.compile(
    rf"\b(?:{ABOUT}(?:once|twice|{NUMBER}\s+times|(?:a\s+)?(?:few|couple(?:\s+of)?)\s+times)"
    r"(?:\s+or\s+\w+)?\s+(?:a|an|per|every|each)\s+\w+"
    r"|every\s+(?:other\s+|single\s+|few\s+)?\w+|(?:daily|weekly|monthly|yearly|each\s+\w+))\b",
    re.IGNORECASE,
)
_AGE = re.compile(
    rf"\b{ABOUT}{NUMBER}[\s-]+years?[\s-]+old\b"
    rf"|(?<=\bis\s)(?:{NUMBER})\b(?=\s*(?:[.,;!?]|and\b|now\b|today\b|$))"
    rf"|(?<=\bturns\s)(?:{NUMBER})\b|(?<=\bturned\s)(?:{NUMBER})\b|(?<=\baged\s)(?:{NUMBER})\b",
    re.IGNORECASE,
)
_MEASURES = (
    (re.compile(r"\bhow\s+old\b", re.IGNORECASE), _AGE),
    (re.compile(rf"\bhow\s+{any_span_word('size_questions')}\b", re.IGNORECASE), SIZE),
)
_ORDINALS: dict[str, int] = {
    word: number for word, number in ENGLISH.table("dates.ordinals").items() if 2 <= number <= 10
}
ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b(?!\s+(?:of|to|time)\b)", re.IGNORECASE)
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}  # mean lengths
_WHOLE = 0.98  # of a unit that a distance must reach to be given in that unit
_ROUND_UP = 0.1  # of a unit: a distance this little short of a whole number is that number
_NEAR_WORDS = 0.3  # what standing near the words of the question adds to a phrase, as a share of the best strength
_BETWEEN = re.compile(
    r"\bbetween\s+(.+?)\s+and\s+(.+?)\s*\?*$|\b(?:after)\s+(.+?)\s+(?:did|was|were|had)\s+(.+?)\s*\?*$", re.IGNORECASE
)
_ASKED_UNIT = re.compile(rf"\bhow\s+many\s+({UNIT})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dated:
    """A time, the sentence it was read from, and the characters of its words.

    `mentioned` is True where it is only the day on which the sentence was said.
    """

    time: TimeSpan
    match: Match
    span: tuple[int, int]
    strength: float
    mentioned: bool = False


def dated(matches: Matches, found: Sequence[Match], conventions: Conventions) -> list[Dated]:
    """Return the times of the best sentences, most likely first; last comes the day on which the best one was said.

    `conventions` say what "last Friday" and 03/04/2024 mean, as in `evimem.find_times`.
    """
    if not found:
        return []
    strengths = {id(m): strength(m) for m in found[:_SENTENCES]}
    top = max(strengths.values())
    best_turn = max(found[:_SENTENCES], key=lambda m: strengths[id(m)]).unit.turn.id
    candidates = [
        Dated(
            located.time,
            m,
            (located.start, located.end),
            strengths[id(m)] / top + _bonus(matches, m, located, best_turn),
        )
        for m in found[:_SENTENCES]
        if not m.unit.caption
        for located in _located(m, conventions)
        if located.time.start is not None
    ]
    candidates = [c for c in candidates if c.strength >= WITHIN]
    candidates.sort(key=lambda c: -c.strength)
    best = max(found[:_SENTENCES], key=lambda m: strengths[id(m)])
    return [*candidates, Dated(day_of(best.unit.turn.time), best, best.unit.span, 0.0, mentioned=True)]


def _located(m: Match, conventions: Conventions) -> list[Located]:
    """Return the times of a sentence; the whole turn is read, since "three days later" counts from an earlier one."""
    start, end = m.unit.span
    found = locate_times(m.unit.turn.text, m.unit.turn.time, conventions)
    return [located for located in found if start <= located.start < end]


def _bonus(matches: Matches, m: Match, located: Located, best_turn: str) -> float:
    question = matches.analysis.question
    said = m.unit.turn.time
    begins = located.time.start
    assert begins is not None
    later = begins.date() > said.date()
    wrong = later if _PAST.search(question) and not _FUTURE.search(question) else False
    wrong = wrong or (not later and begins.date() < said.date() and bool(_FUTURE.search(question)))
    near = nearness(matches, m, located.start, located.end)
    asked = matches.analysis.times
    inside = ASKED * (1 if any(_overlap(located.time, span) for span in asked) else -1) if asked else 0.0
    return SAME_TURN * (m.unit.turn.id == best_turn) - TENSE * wrong + NEAR * near + inside


def _overlap(one: TimeSpan, other: TimeSpan) -> bool:
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end


@dataclass(frozen=True, slots=True)
class StatedQuantity:
    """A phrase of a sentence that states a quantity."""

    match: Match
    span: tuple[int, int]
    text: str
    strength: float


def stated(matches: Matches, found: list[Match], pattern: re.Pattern[str], within: float = 0.5) -> list[StatedQuantity]:
    """Return the phrases that match a pattern in the best sentences, most likely first; else those in weaker ones."""
    return _stated(matches, found, pattern, within) or _stated(matches, found, pattern, 0.0)


def _stated(matches: Matches, found: list[Match], pattern: re.Pattern[str], within: float) -> list[StatedQuantity]:
    top = max((strength(m) for m in found), default=0.0)
    phrases = [
        StatedQuantity(
            m, hit.span(), hit[0], strength(m) / top + _NEAR_WORDS * nearness(matches, m, hit.start(), hit.end())
        )
        for m in found
        if top > 0 and strength(m) >= within * top and not m.unit.caption
        for hit in pattern.finditer(m.unit.turn.text, *m.unit.span)
    ]
    return sorted(phrases, key=lambda said: -said.strength)


def measure(question: str) -> re.Pattern[str] | None:
    """Return the pattern of the measure that a question asks for: an age or a size."""
    return next((form for asked, form in _MEASURES if asked.search(question)), None)


def two_events(question: str) -> tuple[str, str] | None:
    """Return the two events whose distance in time is asked for, in the question's words."""
    found = _BETWEEN.search(question)
    if found is None:
        return None
    first, second = [part for part in found.groups() if part]
    return first, second


def between(one: TimeSpan, other: TimeSpan, question: str) -> str | None:
    """Return the distance of two times in the unit asked for, else in the largest unit it reaches."""
    if one.start is None or other.start is None:
        return None
    days = abs((other.start - one.start).total_seconds()) / 86_400
    asked = _ASKED_UNIT.search(question)
    unit = asked[1].rstrip("s").lower() if asked else _largest(days)
    return amount(max(1, round(days / _DAYS.get(unit, 1.0))), unit)


def since(start: datetime, until: datetime) -> str | None:
    """Return how long ago a moment was, in whole units of the largest it reaches; None for less than a day."""
    days = (until - start).total_seconds() / 86_400
    if days < 1:
        return None
    unit = _largest(days)
    return amount(max(1, math.floor(days / _DAYS[unit] + _ROUND_UP)), unit)


def amount(number: int, unit: str) -> str:
    """Return a number with its unit in words: "two weeks"."""
    return f"{in_words(number)} {unit}{'' if number == 1 else 's'}"


def in_words(number: int) -> str:
    """Return a small number as a word."""
    return WORDS[number] if 0 <= number < len(WORDS) else str(number)


def ordinal(word: str) -> int:
    """Return the number of an ordinal: 4 of "fourth"."""
    return _ORDINALS[word.lower()]


def _largest(days: float) -> str:
    for unit in ("year", "month", "week"):
        if days >= _DAYS[unit] * _WHOLE:
            return unit
    return "day"


def day_of(moment: datetime) -> TimeSpan:
    """Return the calendar day of a moment."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    # The last day that a datetime can hold ends with its last moment.
    last = datetime.max.replace(tzinfo=start.tzinfo)
    return TimeSpan(start, start + min(timedelta(days=1), last - start), "day", "")


def nearness(matches: Matches, m: Match, begins: int, ends: int) -> float:
    """Return how close a range of characters is to the words of the question: 1 when next to all of them, down to 0."""
    stems = {stem(word) for word in matches.weights}
    close: dict[str, float] = {}
    for found in _WORD.finditer(m.unit.turn.text, *m.unit.span):
        said = stem(found[0].casefold())
        if said in stems:
            apart = max(begins - found.end(), found.start() - ends, 0)
            close[said] = max(close.get(said, 0.0), math.exp(-apart / _REACH))
    return sum(close.values()) / max(1, len(stems))
