"""The words of time of each language (`lang/<code>/dates.toml`) in any spelling, and their meanings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Generic

from ..lang import ENGLISH, Language
from ..types.type_variables import T

_PLAIN = {
    "\u2019": "'",
    "\u2018": "'",
    "\u2013": "-",
    "\u2014": "-",
    "\u2011": "-",
    "\t": " ",
    "\u00a0": " ",
    "\u3000": " ",
    "\u0451": "\u0435",  # Russian is written with and without the points
}
_FOLD = str.maketrans(_PLAIN)

MAX_TEXT_CHARACTERS = 1 << 14  # characters of a text that are read, so that the work is bounded


def fold(text: str) -> str:
    """Return the text in lower case with plain quotes, hyphens and blanks, of the same length."""
    lower = text.lower()
    if text.isascii():
        return lower.replace("\t", " ")
    if len(lower) != len(text):  # a few capitals have lower-case forms of two characters
        lower = "".join(small if len(small := character.lower()) == 1 else character for character in text)
    return lower.translate(_FOLD)


_BLANKS = "(?:[ \n]{1,3})"  # other blanks are folded
_ARABIC_POINTS = "[\u064b-\u0652]"
_NUKTA = "\u093c"
_SPELLINGS = {
    **dict.fromkeys("\u0627\u0623\u0625\u0622", "[\u0627\u0623\u0625\u0622]"),  # alef with and without hamza
    **dict.fromkeys("\u064a\u0649", "[\u064a\u0649]"),
    **dict.fromkeys("\u0629\u0647", "[\u0629\u0647]"),
    **dict.fromkeys("\u0901\u0902", "[\u0901\u0902]"),
    "\u0451": "\u0435",
    "\u00e4": "(?:\u00e4|ae|a)",
    "\u00f6": "(?:\u00f6|oe|o)",
    "\u00fc": "(?:\u00fc|ue|u)",
    " ": _BLANKS,
    "-": "[- ]?",
}
_SPELLINGS |= {  # letters that are one character with their nukta, or two
    unicodedata.normalize("NFD", letter)[0]: f"(?:{unicodedata.normalize('NFD', letter)[0]}{_NUKTA}?|{letter})"
    for letter in map(chr, range(0x958, 0x960))
}
_NO_BLANKS = str.maketrans(dict.fromkeys(" \n-"))
_DROPPED = re.compile(f"[\u0300-\u036f{_NUKTA}\u0653-\u0655 \u00a0\u3000\n-]|{_ARABIC_POINTS}")
_WRITTEN_OUT = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})
_SAME = str.maketrans({"\u0901": "\u0902", "\u0649": "\u064a", "\u0629": "\u0647"})


def spellings(word: str) -> str:
    """Return the source of a pattern that matches a lower-case word in its usual spellings.

    A word after an equals sign has only the one as it is given: "=pass\u00e9" is not "passe".
    """
    if word.startswith("="):
        return re.escape(word[1:])
    if word.isascii():
        return re.escape(word).replace(r"\ ", _BLANKS).replace(r"\-", "[- ]?")
    return "".join(_letter_source(letter) for letter in unicodedata.normalize("NFC", word))


def _letter_source(letter: str) -> str:
    if letter == _NUKTA:
        return ""
    base = unicodedata.normalize("NFD", letter)[0]
    if letter in _SPELLINGS:
        return _SPELLINGS[letter]
    if base in _SPELLINGS and "\u0958" <= letter <= "\u095f":
        return _SPELLINGS[base]
    return f"[{letter}{base}]" if base != letter and base.isascii() else re.escape(letter)


def any_of(words: Iterable[str]) -> str:
    """Return the source of a group that matches any of the words, the longest first; none where there are none."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(map(spellings, longest_first))})" if longest_first else "(?!)"


def spelling_key(word: str) -> str:
    """Return the common key of all spellings of a word: no accents, points, blanks and hyphens."""
    if word.isascii():
        return word.lower().translate(_NO_BLANKS)
    return _DROPPED.sub("", unicodedata.normalize("NFKD", word.lower())).translate(_SAME)


_WORD = re.compile(r"[^\W\d_]+")


def words_of(folded: str) -> frozenset[str]:
    """Return the words of a folded text in Latin letters, without accents."""
    return as_written(folded if folded.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKD", folded)))


def as_written(folded: str) -> frozenset[str]:
    """Return the words of a folded text with their accents."""
    # The same words of a text in ASCII are found in two thirds of the time.
    return frozenset(re.findall(r"[A-Za-z]+", folded) if folded.isascii() else _WORD.findall(folded))


_ACCENTS = re.compile("[\u0300-\u036f]")


def _longest_word(phrase: str) -> str:
    return max(sorted(words_of(phrase.lower())), key=len, default="")


class SpelledTable(Generic[T]):
    """The meanings of words, found by any of their spellings. `source` is a pattern of all of them."""

    def __init__(self, table: Mapping[str, T]) -> None:
        self.words = tuple(table)
        self.values = {word.removeprefix("="): value for word, value in table.items()}
        self.source: str = any_of(table)
        written_out = (word.translate(_WRITTEN_OUT) for word in self.values)
        self.whole_words = frozenset(map(_longest_word, (*self.values, *written_out)))
        self._spelled = {spelling_key(word): value for word, value in self.values.items()}
        self._spelled |= {spelling_key(word.translate(_WRITTEN_OUT)): value for word, value in self.values.items()}

    def get(self, word: str) -> T | None:
        """Return the meaning of a word, as it is spelled in a text; None for another word."""
        return self._spelled.get(spelling_key(word))

    def of(self, word: str) -> T:
        """Return the meaning of a word, as it is spelled in a text; raise ValueError for another word."""
        found = self.get(word)
        if found is None:
            raise ValueError(f"{word!r} is none of these words")
        return found


_DIGITS = {sign: value for value, signs in enumerate(("〇零", *"一二三四五六七八九")) for sign in signs}
_DIGITS |= {"两": 2, "兩": 2}
_TEN = "十"
_OR_BLANK = re.compile("[- \n]+")
IDEOGRAPHS = f"[{''.join(_DIGITS)}{_TEN}]"


def number(text: str, words: SpelledTable[int]) -> int:
    """Return the number that figures, words or ideographs stand for; raise ValueError where they are no number."""
    if text.isdecimal():
        return int(text)
    if _TEN in text:
        tens, _, ones = text.partition(_TEN)
        return 10 * (_digits(tens) if tens else 1) + (_digits(ones) if ones else 0)
    if all(sign in _DIGITS for sign in text):
        return _digits(text)
    found, parts = words.get(text), _OR_BLANK.split(text)
    if found is None and len(parts) == 2:  # "twenty-one"
        ten, one = map(words.of, parts)
        found = ten + one if ten > 10 and ten % 10 == 0 and 0 < one < 10 else None
    if found is None:
        raise ValueError(f"{text!r} is no number")
    return found


def _digits(signs: str) -> int:
    """Return the number that ideographs spell digit by digit: 二〇一八 is 2018."""
    if not signs or any(sign not in _DIGITS for sign in signs):
        raise ValueError(f"{signs!r} is no number")
    return int("".join(str(_DIGITS[sign]) for sign in signs))


@dataclass(frozen=True, slots=True)
class Quantity:
    """How many: exact when low equals high, else a range ("a few" is two to five)."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        return self.low == self.high


FEW = Quantity(2, 5)
# Which one a word beside a unit, weekday, month or season names: the last (-1), this one (0), the next (1).
RELATIVES = {
    "last_but_one": -2, "last": -1, "recent": -1, "the_recent": -1, "gone": -1, "this": 0, "current": 0, "that": 0,
    "next": 1, "coming": 1, "the_coming": 1, "next_but_one": 2,
}  # fmt: skip
_OR = re.compile(r"\s+or\s+|\s+to\s+|-")


class _Table(cached_property["SpelledTable[T]"]):
    """A table of a language, read when it is first asked for."""

    def __init__(self, read: Callable[[DateWords], SpelledTable[T]]) -> None:
        super().__init__(read)


@dataclass(frozen=True)
class DateWords:
    """The meanings of the words of a language, in any spelling; a table that the language lacks is empty."""

    language: Language

    @cached_property
    def writing(self) -> tuple[str, ...]:
        """How the language writes and counts.

        `spaces` between its words, `latin` letters, `joins_prefixes` small words; `since_follows` its time;
        `weekday_by_week` and `next_by_week`: "last Friday" and "next Friday" are those of the week before and after;
        `rolling_week`: "last week" is the seven days before today; `small_weekdays`: a capital makes a weekday a name.
        """
        return self.language.words("dates.writing")

    @cached_property
    def has_spaces(self) -> bool:
        return "spaces" in self.writing

    @cached_property
    def joins_prefixes(self) -> bool:
        """Whether small words are written together with the next one."""
        return "joins_prefixes" in self.writing

    @cached_property
    def latin(self) -> bool:
        """Whether the words can be told apart and have no signs that are no letters."""
        return "latin" in self.writing

    def words_in(self, name: str) -> tuple[str, ...]:
        """Return the words of a slot, of a list, or of a table; none where the language has no such list."""
        if name in _OF_SLOTS:
            return tuple(getattr(self, _OF_SLOTS[name]).words)
        if name == "full_weekday":
            return tuple(self.names_by_place("weekdays", 0))
        if name == "last_or_next":
            return tuple(word for word in self.relatives.words if self.relatives.of(word.removeprefix("=")) != "this")
        name = _OTHER_NAMES.get(name, name)
        try:
            return self.language.words(name if name.startswith("people.") else f"dates.{name}")
        except KeyError:
            return tuple(self.table(name))

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table; an empty one where the language has none."""
        try:
            return self.language.table(f"dates.{name}")
        except KeyError:
            return {}

    def lists(self, name: str) -> Mapping[str, tuple[str, ...]]:
        """Return a table whose values are lists of words."""
        return {key: self.words_in(f"{name}.{key}") for key in self.table(name)}

    @cached_property
    def days(self) -> SpelledTable[tuple[int, ...]]:
        """Days by their distance from today; two distances where the tense decides."""
        days = self.table("days").items()
        return SpelledTable({word: tuple(n) if isinstance(n, list) else (n,) for word, n in days})

    @cached_property
    def weekdays(self) -> SpelledTable[int]:
        names = self.names_by_place("weekdays", 0)
        shorts = {name: number for number, name in enumerate(self.words_in("short_weekdays"))}
        endings = self.words_in("weekday_endings")  # "Freitagabend" is one word
        return SpelledTable(names | shorts | {name + end: day for name, day in names.items() for end in endings})

    @cached_property
    def full_months(self) -> frozenset[str]:
        return frozenset(self.language.words("common.months"))

    @cached_property
    def rough(self) -> SpelledTable[Quantity]:
        """Quantities that are no one number."""
        rough = {words: Quantity(*ends) for words, ends in self.table("rough_quantities").items()}
        return SpelledTable(rough | dict.fromkeys(self.words_in("a_few"), FEW))

    @cached_property
    def day_parts(self) -> SpelledTable[tuple[int, str]]:
        """Phrases for a part of a certain day: its distance from today, and the part."""
        return SpelledTable({phrase: (day, part) for phrase, (day, part) in self.table("day_parts").items()})

    @cached_property
    def holidays(self) -> SpelledTable[str]:
        """Holidays by the rule of their day, which `lang/en/holidays.toml` explains."""
        if self.language.code != "en":
            return self._spelling_table("holidays")
        return SpelledTable({name: rule for rule, names in ENGLISH.lists("holidays.dates").items() for name in names})

    months = _Table[int](lambda words: SpelledTable(words.names_by_place("months", 1)))
    seasons = _Table[int](lambda words: SpelledTable(words.table("seasons")))  # by their first month
    numbers = _Table[int](lambda words: SpelledTable({**words.table("numbers"), **words.table("article_numbers")}))
    thirds = _Table[int](lambda words: SpelledTable(words.table("thirds")))  # beginning (0), middle (1) and end (2)
    ordinals = _Table[int](lambda words: SpelledTable(words.table("ordinals")))  # which of several; -1 is the last
    decades = _Table[int](lambda words: SpelledTable(words.table("decades")))  # by the tens of their years
    vague = _Table[int](lambda words: SpelledTable(dict.fromkeys(words.words_in("vague_words"), 0)))
    sides = _Table[int](lambda words: SpelledTable(words.table("sides")))  # before (-1) and after (1) another day
    relatives = _Table[str](lambda words: words._spelling_table("relative"))  # by their names in RELATIVES
    parts = _Table[str](lambda words: words._spelling_table("parts"))
    units = _Table[str](lambda words: words._spelling_table("units"))
    phrases = _Table[tuple[str, int]](lambda words: words._counts_by_phrase("phrases"))  # a unit, and how far it is
    amounts = _Table[tuple[str, int]](
        lambda words: words._counts_by_phrase("amounts")
    )  # a number of units: an Arabic dual

    def quantity(self, text: str) -> Quantity:
        """Return how many a text says, of "two or three" and "2-3" a range. Raise ValueError where it says none."""
        if (known := self.rough.get(text)) is not None:
            return known
        with suppress(ValueError):
            return Quantity(*2 * (number(text, self.numbers),))
        ends = [
            float(end.replace(",", ".")) if end[0].isdigit() else number(end, self.numbers) for end in _OR.split(text)
        ]
        return Quantity(min(ends), max(ends))

    def names_by_place(self, key: str, first: int) -> dict[str, int]:
        """Return the names of a list of common.toml, and their other spellings, by their place in it."""
        names = {name: place for place, name in enumerate(self.language.words(f"common.{key}"), start=first)}
        also = self.language.lists("common.also")
        return names | {other: place for name, place in names.items() for other in also.get(name, ())}

    def _counts_by_phrase(self, key: str) -> SpelledTable[tuple[str, int]]:
        table = self.table(key)
        return SpelledTable({phrase: (unit, n) for unit, phrases in table.items() for phrase, n in phrases.items()})

    def _spelling_table(self, key: str) -> SpelledTable[str]:
        return SpelledTable({word: name for name, words in self.lists(key).items() for word in words})


# The tables whose words a slot stands for, and other names of lists.
_OF_SLOTS = {
    "weekday": "weekdays", "month": "months", "season": "seasons", "part": "parts", "unit": "units", "side": "sides",
    "relative": "relatives", "phrase": "phrases", "third": "thirds", "named_day": "days", "day_part": "day_parts",
    "ordinal": "ordinals", "holiday": "holidays", "amounts": "amounts", "vague": "vague", "decade": "decades",
}  # fmt: skip
_OTHER_NAMES = {"short_weekday": "short_weekdays", "this": "relative.this", "week_phrase": "phrases.week"}


@cache
def date_words(code: str) -> DateWords:
    """Return the words of time of the language of a code."""
    return DateWords(Language(code))


# ---- English words for other modules

EN = date_words("en")
FULL_MONTHS = {name: number for number, name in enumerate(ENGLISH.words("common.months"), start=1)}
FULL_WEEKDAYS = {name: number for number, name in enumerate(ENGLISH.words("common.weekdays"))}
SIMPLE_NUMBERS: dict[str, int] = dict(ENGLISH.table("dates.numbers"))
TENS = {word: number for word, number in SIMPLE_NUMBERS.items() if 20 <= number < 100}
