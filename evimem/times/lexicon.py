"""The words of the time grammar and the values they stand for, from `lang/en/times.toml`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..lang import ENGLISH

FULL_MONTHS = {name: number for number, name in enumerate(ENGLISH.words("times.months"), start=1)}
FULL_WEEKDAYS = {name: number for number, name in enumerate(ENGLISH.words("times.weekdays"))}
MONTHS = FULL_MONTHS | {
    short: FULL_MONTHS[name] for name, shorts in ENGLISH.lists("times.month_abbreviations").items() for short in shorts
}
WEEKDAYS = FULL_WEEKDAYS | {
    short: FULL_WEEKDAYS[name]
    for name, shorts in ENGLISH.lists("times.weekday_abbreviations").items()
    for short in shorts
}
SEASONS: dict[str, int] = dict(ENGLISH.table("times.seasons"))
DECADES: dict[str, int] = dict(ENGLISH.table("times.decades"))
DAYS_FROM_TODAY: dict[str, int] = dict(ENGLISH.table("times.days_from_today"))
ENDS: dict[str, str] = dict(ENGLISH.table("times.ends"))
TONIGHT = ENGLISH.words("times.tonight")
NAMED_HOURS: dict[str, int] = dict(ENGLISH.table("times.named_hours"))
PREVIOUS_WORDS = ENGLISH.words("times.previous")
UPCOMING_WORDS = ENGLISH.words("times.upcoming")
BEFORE = ENGLISH.lists("times.before")
BETWEEN = ENGLISH.lists("times.between")
NOT_BEFORE = ENGLISH.lists("times.not_before")
UNIT_GROUPS = ENGLISH.lists("times.unit_groups")

# Number words without an article; the compounds of TENS and ONES ("twenty-one") are in NUMBERS only.
SIMPLE_NUMBERS: dict[str, int] = dict(ENGLISH.table("times.numbers"))
ARTICLE_NUMBERS: dict[str, int] = dict(ENGLISH.table("times.article_numbers"))
ONES = {word: number for word, number in SIMPLE_NUMBERS.items() if number < 10}
TENS = {word: number for word, number in SIMPLE_NUMBERS.items() if 20 <= number < 100}
NUMBERS = SIMPLE_NUMBERS | ARTICLE_NUMBERS
NUMBERS |= {f"{ten}{dash}{one}": TENS[ten] + ONES[one] for ten in TENS for one in ONES for dash in "- "}

ORDINALS: dict[str, int] = dict(ENGLISH.table("times.ordinals"))
ORDINALS |= {
    f"{ten}{dash}{word}": TENS[ten] + number
    for ten in TENS
    for word, number in ENGLISH.table("times.ordinals").items()
    for dash in "- "
    if number < 10 and TENS[ten] + number <= 31  # days of a month
}
DIGIT = "0"  # stands for any digit among the words of a text
NTH = ("st", "nd", "rd", "th")  # the letters of "15th" among the words of a text
ORDINAL_WORDS = frozenset(ENGLISH.table("times.ordinals"))
POSITIONS = {word: number for word, number in ORDINALS.items() if number <= 5}
POSITIONS |= ENGLISH.table("times.positions")


@dataclass(frozen=True, slots=True)
class Quantity:
    """How many: exact when low equals high, else a range ("a few" is two to five)."""

    low: float
    high: float


ROUGH_QUANTITIES = {words: Quantity(*ends) for words, ends in ENGLISH.table("times.rough_quantities").items()}
_OR = re.compile(r" or | to |-")


def quantity(words: str, *, and_a_half: bool = False) -> Quantity:
    """Return the value of a match of COUNT; "two or three" and "2-3" are ranges."""
    words = " ".join(words.split())
    if words in ROUGH_QUANTITIES:
        return ROUGH_QUANTITIES[words]
    half = 0.5 if and_a_half else 0
    ends = [_number(word) + half for word in ([words] if words in NUMBERS else _OR.split(words))]
    return Quantity(min(ends), max(ends))


def _number(word: str) -> float:
    return NUMBERS[word] if word in NUMBERS else float(word.replace(",", "."))


@dataclass(frozen=True, slots=True)
class CalendarUnit:
    """A unit of the calendar, and how many of them a word means ("fortnight" is two weeks)."""

    name: str
    count: int = 1


_SINGULAR = {word: CalendarUnit(name) for name, words in ENGLISH.lists("times.units").items() for word in words}
_SINGULAR |= {
    word: CalendarUnit(value["unit"], value["count"]) for word, value in ENGLISH.table("times.multiple_units").items()
}
CALENDAR_UNITS = frozenset(unit.name for unit in _SINGULAR.values())
UNITS = _SINGULAR | {f"{word}s": unit for word, unit in _SINGULAR.items()}
