"""The words and forms in which a language speaks of times, from `lang/<code>`, compiled for one reader.

A form is a pattern with slots: "il y a {amount}", "{day} de {month}( de {year})?". A blank in it matches one to three
blanks and a letter its usual spellings. Brackets, bars and question marks are those of regular expressions, as is what
a backslash precedes; < and > enclose the expression where the form has words around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from ...lang import Language
from .date_words import RELATIVES, DateWords
from .form_slots import AS, SYNTAX, check_slots
from .numerals import IDEOGRAPHS
from .word_patterns import any_of, spellings

_NAME = re.compile(r"\?P<\w+>")
_BRACKETS = {"(": "(?:", "<": "(?P<x>", ">": ")"}
_LETTER = "\\w\u0900-\u0963\u064b-\u0652"  # with the signs of Devanagari and the points of Arabic
_ARABIC_PREFIX = "[\u0648\u0641\u0628\u0644]"  # "and", "so", "in", "for" are written together with the next word
_SENTENCE_END = "[.!?;\n\u3002\uff01\uff1f\u0964\u061f]"


@dataclass(frozen=True)
class DateGrammar:
    """The patterns of expressions of time in a language."""

    words: DateWords

    @cached_property
    def forms(self) -> Mapping[str, tuple[re.Pattern[str], ...]]:
        """The patterns of the language by what they express. Raise ValueError for one that its reader cannot read."""
        forms = self.words.language.lists("dates.forms")
        for name, form in ((name, form) for name, some in forms.items() for form in some):
            check_slots(name, form)
        return {name: tuple(map(self._pattern, some)) for name, some in forms.items()}

    @cached_property
    def between(self) -> frozenset[str]:
        """What may stand between two parts of one expression."""
        return frozenset(self.words.language.words("dates.between"))

    @cached_property
    def range(self) -> frozenset[str]:
        """What may stand between the first and the last day of a range."""
        return frozenset(self.words.language.words("dates.range"))

    @cached_property
    def since(self) -> re.Pattern[str]:
        """The word for "since" right before a time, or right after it."""
        since = any_of(self.words.language.words("dates.since"))
        return re.compile(rf"\s?{since}" if self.words.since_follows else rf"(?<![{_LETTER}]){since}\s?$")

    @cached_property
    def habit(self) -> re.Pattern[str]:
        """What stands right before the time of a habit: every, each."""
        return self._right_before("dates.habit")

    @cached_property
    def habit_of_a_weekday(self) -> re.Pattern[str]:
        """What stands right before a weekday or a part of it that recurs: French "le"."""
        return self._right_before("dates.habit_of_a_weekday")

    @cached_property
    def tense(self) -> re.Pattern[str]:
        """Words that look back or ahead; a star in a list stands for the rest of a word, and whole words go first."""
        back, ahead = self.words.language.words("dates.looking_back"), self.words.language.words("dates.looking_ahead")
        start, end = (f"(?<![{_LETTER}])", f"(?![{_LETTER}])") if self.words.spaced else ("", "")
        whole = f"(?P<back>{any_of(_whole(back))})|(?P<ahead>{any_of(_whole(ahead))})"
        return re.compile(f"{start}(?:{whole}|(?P<will>{_stems(ahead, 1)})|(?P<was>{_stems(back, 2)})){end}")

    def _right_before(self, key: str) -> re.Pattern[str]:
        words = self.words.language.words(key)
        start = f"(?<![{_LETTER}])" if self.words.spaced else ""
        return re.compile(rf"{start}{any_of(words)}\s?$" if words else "(?!)")

    @cached_property
    def sentence_end(self) -> re.Pattern[str]:
        return re.compile(_SENTENCE_END)

    def _pattern(self, form: str) -> re.Pattern[str]:
        return self._standing_alone(self._source(form))

    def any_form(self, names: Iterable[str]) -> re.Pattern[str]:
        """Return a pattern that is found where any of these forms is, without its slots, faster than each by itself."""
        forms = self.words.language.lists("dates.forms")
        source = "|".join(_NAME.sub("?:", self._source(form)) for name in names for form in forms.get(name, ()))
        # Without spaces a form is tried at every character, and most stand in none.
        first = "" if self.words.spaced else rf"(?=[\d{re.escape(''.join(sorted({*source})))}])"
        return self._standing_alone(f"{first}(?:{source})")

    def _standing_alone(self, source: str) -> re.Pattern[str]:
        if not self.words.spaced:
            return re.compile(rf"(?<!\d)(?:{source})")
        start = f"(?:(?<![{_LETTER}])|(?<=(?<![{_LETTER}]){_ARABIC_PREFIX}))"
        return re.compile(f"{start}(?:{source})(?![{_LETTER}])")

    def _source(self, form: str) -> str:
        return "".join(self._element(*found.groups()) for found in SYNTAX.finditer(form))

    def _element(self, slot: str | None, syntax: str | None, text: str) -> str:
        if slot is not None:
            return self._slots[slot]
        return _BRACKETS.get(syntax, syntax) if syntax is not None else spellings(text)

    @cached_property
    def _slots(self) -> Mapping[str, str]:
        figures = r"\d{1,2}" if self.words.spaced else rf"(?:\d{{1,2}}|{IDEOGRAPHS}{{1,3}})"
        count = rf"(?:\d{{1,3}}|{figures}|{self.words.numbers.source}|{self.words.a_few.source})"
        year = r"\d{4}" if self.words.spaced else rf"(?:\d{{4}}|{IDEOGRAPHS}{{4}})"
        amount = (
            rf"(?P<count>{count}){spellings(' ') if self.words.spaced else ' ?'}(?P<unit>{self.words.units.source})"
        )
        sources = {
            "weekday": self.words.weekdays.source,
            "month": self.words.months.source,
            "season": self.words.seasons.source,
            "part": self.words.parts.source,
            "relative": self.words.relatives.source,
            "phrase": self.words.phrases.source,
            "third": self.words.thirds.source,
            "unit": self.words.units.source,
            "named_day": self.words.days.source,
            "day_part": self.words.day_parts.source,
            "half": any_of(self.words.language.words("dates.half")),
            "minute": r"[0-5]\d(?!\d)",
            "year": rf"{year}(?!\d)",
            **dict.fromkeys(("day", "number", "hour"), rf"{figures}(?!\d)"),
        }
        variants = {
            "short_weekday": any_of(self.words.language.words("dates.short_weekdays")),
            "full_weekday": any_of(self.words.named("weekdays", 0)),
            "last_or_next": any_of(self._words_of(*RELATIVES.keys() - {"this"})),
            "week_phrase": any_of(self.words.language.table("dates.phrases").get("week", {})),
            "this": any_of(self._words_of("this")),
        }
        slots = {name: f"(?P<{name}>{source})" for name, source in sources.items()}
        slots |= {slot: f"(?P<{AS[slot]}>{source})" for slot, source in variants.items()}
        return slots | {"amount": f"(?:{amount}|(?P<amount>{self.words.amounts.source}))"}

    def _words_of(self, *names: str) -> list[str]:
        return [word for name in names for word in self.words.language.lists("dates.relative").get(name, ())]


def _whole(words: Iterable[str]) -> list[str]:
    return [word for word in words if "*" not in word]


def _stems(words: Iterable[str], least: int) -> str:
    """Return a pattern for the words of a list that have a star in them, with their accents.

    The star stands for `least` to 20 letters: endings of the past are short, and end short words of other kinds too.
    """
    letters = f"[{_LETTER}]{{{least},20}}"
    return "|".join(letters.join(map(re.escape, word.split("*"))) for word in words if "*" in word) or "(?!)"


@cache
def grammar(code: str) -> DateGrammar:
    """Return what the language of a code says of times."""
    return DateGrammar(DateWords(Language(code)))
