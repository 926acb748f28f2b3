"""The words of the time grammar and what they stand for, from `lang/en/times.toml`, in text as it is read."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from ..lang import ENGLISH

_PLAIN = {"\u2019": "'", "\u2018": "'", "\u2013": "-", "\u2014": "-", "\u2011": "-", "\t": " ", "\u00a0": " "}
_FOLD = str.maketrans(_PLAIN)

LIMIT = 1 << 14  # characters of a text that are read, so that the work is bounded


def fold(text: str) -> str:
    """Return the text in lower case with plain quotes, hyphens and blanks, of the same length."""
    lower = text.lower()
    if text.isascii():
        return lower.replace("\t", " ")
    if len(lower) != len(text):  # a few capitals have lower-case forms of two characters
        lower = "".join(small if len(small := character.lower()) == 1 else character for character in text)
    return lower.translate(_FOLD)


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


_SPACE = re.compile(r"\[[^\]]*\]|\(\?<[!=][^)]*\)| ")


@dataclass(frozen=True)
class Pattern:
    """A pattern of the grammar. It is compiled at its first use: most processes need only a few of the patterns.

    A space in `source` matches one to three blanks, except inside a set or a lookbehind, where it stays one space.
    """

    source: str

    @cached_property
    def regex(self) -> re.Pattern[str]:
        blanks = r"(?:[ \n]{1,3})"
        return re.compile(_SPACE.sub(lambda match: blanks if match.group() == " " else match.group(), self.source))

    @cached_property
    def expression(self) -> str | int:
        """The group that marks the expression in a match: `x` where there is one, else the whole."""
        return "x" if "x" in self.regex.groupindex else 0


def one_of(words: Iterable[str]) -> str:
    """Return a group that matches any of the words, the longest first."""
    return "(?:" + "|".join(sorted(words, key=lambda word: (-len(word), word))) + ")"


MONTH = one_of(MONTHS)
WEEKDAY = one_of(WEEKDAYS)
SEASON = one_of(SEASONS)
UNIT = one_of(UNITS)
PREVIOUS = one_of(PREVIOUS_WORDS)
UPCOMING = one_of(UPCOMING_WORDS)

_NOT_INSIDE = r"(?<![\w.,:/$-])"
# Tens and ones as two groups: the 144 compounds as alternatives take 15 ms to compile in each of 15 patterns.
_NUMBER = rf"(?:{one_of(TENS)}(?:(?: |-){one_of(ONES)})?|{one_of(word for word in SIMPLE_NUMBERS if word not in TENS)})"
_FIGURE = r"\d{1,4}(?:[.,]5)?"
COUNT = (
    rf"{_NOT_INSIDE}(?:{one_of(ROUGH_QUANTITIES)}|{one_of(ARTICLE_NUMBERS)}"
    rf"|(?:{_FIGURE}|{_NUMBER})(?:(?: or | to |-)(?:{_FIGURE}|{_NUMBER}))?)(?![\w:/])"
)
ADJECTIVE = rf"(?:{one_of(ENGLISH.words('times.unit_adjectives'))} )?"
YEAR = r"(?:1[5-9]\d\d|2[01]\d\d|'\d\d)(?![\d%])"
DAY_NUMBER = rf"(?:[0-3]?\d(?:st|nd|rd|th)?|{one_of(ORDINALS)})"
APPROXIMATELY = rf"(?:(?:just |only |a little |a bit |well )?{one_of(ENGLISH.words('times.approximations'))} )?"

# An event whose date follows, after "before" or "after": "my birthday on" 20 May, "moving to Porto in" 2021.
EVENT = (
    rf"(?P<event>(?:{one_of(ENGLISH.words('times.owners'))}|[a-z]{{2,12}}ing)"
    rf"(?: (?!{one_of(ENGLISH.words('times.new_clause'))}\b)[\w'-]{{1,16}}){{1,4}} (?:on|in) )?(?:the )?"
)

# The end of the text, punctuation, or a word that can follow a complete time expression.
FOLLOWED = Pattern(
    r"(?:'s)?(?:\s*$|\s*[^\w\s'$-]|[ ]+-"
    rf"|[ \n]{{1,3}}(?:{one_of(ENGLISH.words('times.followers'))}(?![\w'])|[^\w\s$]))"
)


def year_number(words: str) -> int:
    """Return the year that a match of YEAR names; two digits are read within 1950 to 2049."""
    if words.startswith("'"):
        short = int(words[1:])
        return short + (1900 if short >= 50 else 2000)
    return int(words)


def day_number(words: str) -> int:
    """Return the day of the month that a match of DAY_NUMBER names."""
    words = " ".join(words.split())
    return ORDINALS[words] if words in ORDINALS else int(words.rstrip("stndrh"))


LONGEST = 48  # characters before a unit in which its number is looked for

# "Two Saturdays", "five summers": the name of the unit is that of the day or season.
_COUNTED_UNITS = UNITS | {f"{name}s": CalendarUnit(name) for name in (*FULL_WEEKDAYS, *SEASONS)}
SIZES = {name: size for size, name in enumerate(ENGLISH.words("times.sizes_of_units"), start=1)}
_UNIT_OF_COUNT = Pattern(
    rf"(?<![a-z])(?P<unit>{one_of(_COUNTED_UNITS)})\b(?:'s?)?"
    r"(?:(?P<half> and a half)|(?P<or_two> or two)| or so)?"
)
_NUMBER_BEFORE = Pattern(rf"(?P<count>{COUNT})(?P<half> and a half)?(?: |-)?{ADJECTIVE}\Z")


@dataclass(frozen=True, slots=True)
class UnitCount:
    """The half-open range of characters of a number with its unit, the unit by name, and how many of them."""

    start: int
    end: int
    unit: str
    number: Quantity

    def larger(self, other: UnitCount) -> bool:
        """Return whether the unit is larger than that of another count."""
        return SIZES.get(self.unit, 0) > SIZES.get(other.unit, 9)


def unit_counts(folded: str) -> Iterator[UnitCount]:
    """Yield the numbers of units in a folded text in order: 2 weeks of "in two weeks"."""
    for match in _UNIT_OF_COUNT.regex.finditer(folded):
        number = _NUMBER_BEFORE.regex.search(folded, max(0, match.start() - LONGEST), match.start())
        if number is not None:
            yield _unit_count(number, match)


def _unit_count(number: re.Match[str], unit: re.Match[str]) -> UnitCount:
    meant = _COUNTED_UNITS[" ".join(unit["unit"].split())]
    many = quantity(number["count"], and_a_half=bool(number["half"] or unit["half"]))
    if unit["or_two"]:  # "a day or two ago"
        many = Quantity(many.low, 2)
    return UnitCount(number.start(), unit.end(), meant.name, Quantity(many.low * meant.count, many.high * meant.count))


SHORTEST = 6  # letters of a name whose misspellings are recognized
_LETTERS = re.compile("[a-z]+")
_LIKE_NAMES = frozenset(ENGLISH.words("times.words_like_names"))


@dataclass(frozen=True, slots=True)
class Respelled:
    """A text with usual spellings. `changes` are the places of each change in it, in the text, and how they differ.

    A change is the end of the replaced word in the new text and how many characters the text is longer up to there.
    """

    text: str
    ends: tuple[int, ...] = ()
    longer: tuple[int, ...] = ()

    def place(self, at: int) -> int:
        """Return the place in the original text of a place in the new one, for the edge of a word."""
        index = bisect_right(self.ends, at)
        return at + (self.longer[index - 1] if index else 0)


@cache
def misspellings() -> Mapping[str, str]:
    """Return the names by their misspellings."""
    found: dict[str, str] = {}
    for name in (*FULL_MONTHS, *FULL_WEEKDAYS, *DAYS_FROM_TODAY):
        if len(name) >= SHORTEST:
            found |= dict.fromkeys(_variants(name), name)
    listed = {word: name for name, words in ENGLISH.lists("times.misspellings").items() for word in words}
    names = frozenset((*FULL_MONTHS, *FULL_WEEKDAYS, *DAYS_FROM_TODAY))
    return {word: name for word, name in (found | listed).items() if word not in _LIKE_NAMES and word not in names}


def _variants(name: str) -> Iterator[str]:
    for at in range(1, len(name)):
        yield name[:at] + name[at + 1 :]
        yield name[:at] + name[at] + name[at:]
        if at + 1 < len(name):
            yield name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def respelled(text: str) -> Respelled:
    """Return a text with the names in their usual spelling."""
    known = misspellings()
    folded = fold(text)
    parts, ends, longer = [], [], []
    at = length = 0
    for match in _LETTERS.finditer(folded):
        name = known.get(match.group())
        if name is None:
            continue
        parts += [text[at : match.start()], name.capitalize() if text[match.start()].isupper() else name]
        length += match.start() - at + len(name)
        at = match.end()
        ends.append(length)
        longer.append(at - length)
    return Respelled("".join((*parts, text[at:])), tuple(ends), tuple(longer))
