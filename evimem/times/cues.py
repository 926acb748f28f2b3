"""The words without which a text mentions no time: a cheap check that settles most turns.

Each word names the groups of rules that are worth trying; figures are looked for only in a text that has a digit.
"""

from __future__ import annotations

import re

from ..lang import ENGLISH
from ..lang.guess import ENGLISH_OR_UNKNOWN, language_of
from .folding import LIMIT, fold
from .lexicon import (
    DAYS_FROM_TODAY,
    DECADES,
    MONTHS,
    NAMED_HOURS,
    SEASONS,
    TONIGHT,
    UNITS,
    WEEKDAYS,
)
from .other_languages import may_mention_dates
from .rules.holidays import HOLIDAYS
from .times_of_day import PARTS

_CUES = ENGLISH.lists("times.cues")
WORDS: dict[str, set[str]] = {
    "day": {*DAYS_FROM_TODAY, *TONIGHT, *PARTS},
    "unit": {*UNITS, *_CUES["unit"]} - {"day"},  # "day" alone stands in too many texts that name no time
    "ago": {*_CUES["ago"]},
    "weekday": {*WEEKDAYS, *(f"{name}s" for name in WEEKDAYS)},
    "month": {*MONTHS},
    "season": {*SEASONS, *(f"{name}s" for name in SEASONS)},
    "holiday": {re.split("[^a-z]", name)[0] for name in HOLIDAYS},
    "decade": {*DECADES},
    "clock": {*NAMED_HOURS, *PARTS, *_CUES["clock"]},
    "vague": {*_CUES["vague"]},
}
FIGURES = {
    "number": re.compile(r"(?:1[5-9]|2[01])\d\d|\d\d?[/.-]\d|\d(?:st|nd|rd|th)|q[1-4]|'\d"),
    "decade": re.compile(r"\d0'?s"),
    "clock": re.compile(r"\d[ \n]{0,3}[ap]\.?m|\d:\d\d"),
}
_GROUPS = {word: [group for group, words in WORDS.items() if word in words] for word in set().union(*WORDS.values())}
_KNOWN = frozenset(_GROUPS)
_LETTERS = re.compile("[a-z]+")
_DIGIT = re.compile(r"\d")


def mentions_time(text: str) -> bool:
    """Return whether a text has a word or figure that a time expression needs.

    Without one `find_times` finds nothing. With one it may still find nothing. Only the first LIMIT (16,384)
    characters are read.
    """
    language = language_of(text)
    if language not in ENGLISH_OR_UNKNOWN:
        return may_mention_dates(language, fold(text[:LIMIT]))
    return bool(cues(fold(text[:LIMIT]))[0])


def cues(folded: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the groups of rules worth trying on a folded text, and its words.

    With any other group there is the group "any"; a text without a cue has no group.
    """
    words = frozenset(_LETTERS.findall(folded))
    groups = {group for word in _KNOWN & words for group in _GROUPS[word]}
    if _DIGIT.search(folded):
        groups |= {group for group, pattern in FIGURES.items() if pattern.search(folded)}
    return frozenset(groups | {"any"}) if groups else frozenset(), words
