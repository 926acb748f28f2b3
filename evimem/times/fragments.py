"""Patterns of the time grammar, compiled when first used, and the fragments that several patterns share.

Patterns are written for folded text (see `fold`). One space in a pattern stands for one to three blanks in the text:
bounded, so that no run of blanks can be expensive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ..lang import ENGLISH
from .lexicon import (
    ARTICLE_NUMBERS,
    MONTHS,
    ONES,
    ORDINALS,
    PREVIOUS_WORDS,
    ROUGH_QUANTITIES,
    SEASONS,
    SIMPLE_NUMBERS,
    TENS,
    UNITS,
    UPCOMING_WORDS,
    WEEKDAYS,
)

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
