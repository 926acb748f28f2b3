"""The words of the grammar and what they stand for, and the pattern fragments made of them.

Patterns are written over folded text (lower case, straight apostrophes, plain hyphens, see `fold`), where one space in
a pattern stands for up to three blanks in the text: bounded, so that no run of blanks can be expensive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

_PLAIN = {"\u2019": "'", "\u2018": "'", "\u2013": "-", "\u2014": "-", "\u2011": "-", "\t": " ", "\u00a0": " "}
_FOLD = str.maketrans(_PLAIN)
_SPACE = re.compile(r"\[[^\]]*\]|\(\?<[!=][^)]*\)| ")


LIMIT = 1 << 14  # characters of a text that are read, so that the work is bounded


def fold(text: str) -> str:
    """Return the text in lower case with plain quotes, hyphens and blanks, character for character as long."""
    lower = text.lower()
    if text.isascii():
        return lower.replace("\t", " ")
    if len(lower) != len(text):  # a few capitals have lower-case forms of two characters
        lower = "".join(small if len(small := character.lower()) == 1 else character for character in text)
    return lower.translate(_FOLD)


def one_of(words: Iterable[str]) -> str:
    """Return a group that matches any of the words, the longest first."""
    return "(?:" + "|".join(sorted(words, key=lambda word: (-len(word), word))) + ")"


class _WhenUsed:
    """A pattern that is compiled at its first use: all of them at once would take half a second of every start."""

    __slots__ = ("_pattern", "_source")

    def __init__(self, source: str) -> None:
        self._source = source
        self._pattern: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._pattern is None:
            self._pattern = re.compile(self._source)
        return getattr(self._pattern, name)


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of the grammar, in which a space is one to three blanks.

    Not so inside a set or a lookbehind, where it stays one.
    """
    source = _SPACE.sub(lambda match: r"(?:[ \n]{1,3})" if match.group() == " " else match.group(), pattern)
    return cast("re.Pattern[str]", _WhenUsed(source))


_MONTH_NAMES = "january february march april may june july august september october november december".split()
_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday".split()
FULL_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
FULL_WEEKDAYS = {name: number for number, name in enumerate(_WEEKDAY_NAMES)}
MONTHS = FULL_MONTHS | {name[:3]: number for name, number in FULL_MONTHS.items()} | {"sept": 9}
WEEKDAYS = FULL_WEEKDAYS | {name[:3]: number for name, number in FULL_WEEKDAYS.items()}
WEEKDAYS |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}

_ONES = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen
""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = {word: number for number, word in enumerate(_ONES, start=1)}
NUMBERS |= {word: number for number, word in zip(range(20, 100, 10), _TENS, strict=True)}
NUMBERS |= {f"{ten}{dash}{one}": NUMBERS[ten] + NUMBERS[one] for ten in _TENS for one in _ONES[:9] for dash in "- "}
NUMBERS |= {"a": 1, "an": 1, "a dozen": 12, "a hundred": 100, "one hundred": 100}

_FIRSTS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth
""".split()
ORDINALS = {word: number for number, word in enumerate(_FIRSTS, start=1)} | {"thirtieth": 30}
ORDINALS |= {f"twenty{dash}{_FIRSTS[n]}": 21 + n for n in range(9) for dash in "- "}
ORDINALS |= {f"thirty{dash}first": 31 for dash in "- "}


@dataclass(frozen=True, slots=True)
class Quantity:
    """How many: exact when low equals high, else honestly a range ("a few" is two to five)."""

    low: float
    high: float


ROUGHLY = {
    "a couple of": Quantity(2, 3), "a couple": Quantity(2, 3), "couple of": Quantity(2, 3), "couple": Quantity(2, 3),
    "a few": Quantity(2, 5), "few": Quantity(2, 5), "several": Quantity(3, 7), "half a": Quantity(0.5, 0.5),
    "half an": Quantity(0.5, 0.5),
}  # fmt: skip


def quantity(words: str, *, and_a_half: bool = False) -> Quantity:
    """Return what a match of COUNT says; "two or three" and "2-3" are ranges."""
    words = " ".join(words.split())
    if words in ROUGHLY:
        return ROUGHLY[words]
    half = 0.5 if and_a_half else 0
    ends = [_number(word) + half for word in ([words] if words in NUMBERS else _OR.split(words))]
    return Quantity(min(ends), max(ends))


def _number(word: str) -> float:
    return NUMBERS[word] if word in NUMBERS else float(word.replace(",", "."))


_OR = re.compile(r" or | to |-")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of the calendar, and how many of them a word means ("fortnight" is two weeks)."""

    name: str
    count: int = 1


_SINGULAR = {
    "minute": Unit("minute"), "min": Unit("minute"), "hour": Unit("hour"), "hr": Unit("hour"), "day": Unit("day"),
    "night": Unit("night"), "weekend": Unit("weekend"), "wknd": Unit("weekend"), "week": Unit("week"),
    "wk": Unit("week"), "fortnight": Unit("week", 2), "month": Unit("month"), "quarter": Unit("quarter"),
    "year": Unit("year"), "yr": Unit("year"), "decade": Unit("decade"),
}  # fmt: skip
UNITS = _SINGULAR | {f"{word}s": unit for word, unit in _SINGULAR.items()}

MONTH = one_of(MONTHS)
FULL_MONTH = one_of(FULL_MONTHS)
WEEKDAY = one_of(WEEKDAYS)
SEASON = one_of(SEASONS)
UNIT = one_of(UNITS)
_FREE = r"(?<![\w.,:/$-])"
_COUNTED = one_of([word for word in NUMBERS if not word.startswith("a")])
_FIGURE = r"\d{1,4}(?:[.,]5)?"
COUNT = (
    rf"{_FREE}(?:{one_of(ROUGHLY)}|{one_of(['an', 'a', 'a dozen', 'a hundred'])}"
    rf"|(?:{_FIGURE}|{_COUNTED})(?:(?: or | to |-)(?:{_FIGURE}|{_COUNTED}))?)(?![\w:/])"
)
_GOOD = "(?:(?:more|good|full|whole|solid) )?"
UNIT_COUNT = (
    rf"(?P<count>{COUNT})(?P<half> and a half)?(?: |-)?{_GOOD}(?P<unit>{UNIT})\b(?:'s?)?(?P<half_too> and a half)?"
)
YEAR = r"(?:1[5-9]\d\d|2[01]\d\d|'\d\d)(?![\d%])"
DAY_NUMBER = rf"(?:[0-3]?\d(?:st|nd|rd|th)?|{one_of(ORDINALS)})"
ABOUT = (
    r"(?:(?:just |only |a little |a bit |well )?"
    r"(?:about|around|roughly|approximately|almost|nearly|over|under|more than|less than|at least|like|maybe|only|just)"
    r" )?"
)


def counted_units(match: re.Match[str]) -> tuple[str, Quantity]:
    """Return the unit that a match of UNIT_COUNT names, and how many of them."""
    unit = UNITS[match["unit"]]
    number = quantity(match["count"], and_a_half=bool(match["half"] or match["half_too"]))
    if match["count"].split()[-1] in ("of", "couple") and unit.name not in ("minute", "hour", "day", "night"):
        number = Quantity(2, 2)  # "a couple of weeks": the unit is coarse enough for the word to mean two
    return unit.name, Quantity(number.low * unit.count, number.high * unit.count)


def year_number(words: str) -> int:
    """Return the year that a match of YEAR names; two digits are read within 1970 to 2069."""
    if words.startswith("'"):
        short = int(words[1:])
        return short + (1900 if short >= 70 else 2000)
    return int(words)


def day_number(words: str) -> int:
    """Return the day of the month that a match of DAY_NUMBER names."""
    words = " ".join(words.split())
    return ORDINALS[words] if words in ORDINALS else int(words.rstrip("stndrh"))


# Words that may follow a complete time expression. Any other word turns a bare "Sunday" into part of a name ("Sunday
# dress"), and "the 15th" into part of a count ("the 15th floor").
_FOLLOWERS = """
    a about after afternoon again all alone already also although am an and are aren't around as at be because been
    before but by can can't could did didn't do does doesn't don't during early each either else even evening every
    everyone exactly except finally first for from had hadn't has have he he'd he'll he's her here hers him his how
    however i i'd i'll i'm i've if in instead into is isn't it it'll it's its just last late later let let's like
    literally lol may maybe me midnight might mine morning most must my myself near never next night no noon nope not
    now of off ok okay on once only or our ours out over perhaps please probably really right same she she'd she'll
    she's should since sir so some someone somehow soon sounds still than thanks that that's the their them then there
    there's these they they'd they'll they're they've this those though through till to together tomorrow tonight too
    two under unless until up us very via was wasn't we we'd we'll we're we've well went were weren't what when where
    whether which while who why will with within without won't works would wouldn't yeah yes you you'd you'll you're
    you've your yours
""".split()
FOLLOWS = re.compile(rf"(?:'s)?(?:\s*$|\s*[^\w\s'$-]|[ ]+-|[ \n]{{1,3}}(?:{one_of(_FOLLOWERS)}(?![\w'])|[^\w\s$]))")
