"""The words without which a text mentions no time: a cheap check that settles most turns.

Each word names the groups of rules that are worth trying; figures are looked for only in a text that has a digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..lang import ENGLISH
from .folding import LIMIT, fold
from .lexicon import (
    DAYS_FROM_TODAY,
    DECADES,
    DIGIT,
    MONTHS,
    NAMED_HOURS,
    SEASONS,
    TONIGHT,
    UNITS,
    WEEKDAYS,
)
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
_WORD = re.compile("[a-z]+")
_DIGIT = re.compile(r"\d")
# The words of a holiday's name by the longest of them: "new" and "day" stand in too many texts that name none.
_HOLIDAYS: dict[str, list[frozenset[str]]] = {}
for _name in HOLIDAYS:
    _parts = frozenset(_WORD.findall(_name))
    _HOLIDAYS.setdefault(max(sorted(_parts), key=len), []).append(_parts)
_HOLIDAY_WORDS = frozenset(_HOLIDAYS)

_MARKS = _KNOWN | _HOLIDAY_WORDS | {"day"}
_GROUPS_OF_MARKS = {
    word: (*_GROUPS.get(word, ()), "any", *(("holiday",) if word in _HOLIDAY_WORDS else ())) for word in _MARKS
}


def mentions_time(text: str) -> bool:
    """Return whether a text has a word or figure that a time expression needs.

    Without one `find_times` finds nothing. With one it may still find nothing. Only the first LIMIT (16,384)
    characters are read.
    """
    return bool(cues(fold(text[:LIMIT]))[0])


def places(folded: str) -> dict[str, list[int]]:
    """Return where a folded text has the cues of each group of rules; now and then inside of longer words."""
    found: dict[str, list[int]] = {}
    for word in _MARKS.intersection(_WORD.findall(folded)):
        starts = list(_starts(word, folded))
        for group in _GROUPS_OF_MARKS[word]:
            found.setdefault(group, []).extend(starts)
    digits = [match.start() for match in _DIGIT.finditer(folded)]
    for group in ("any", *FIGURES):
        found.setdefault(group, []).extend(digits)
    return {group: sorted(starts) for group, starts in found.items()}


def _starts(word: str, folded: str) -> Iterator[int]:
    at = folded.find(word)
    while at >= 0:
        yield at
        at = folded.find(word, at + len(word))


def cues(folded: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the groups of rules worth trying on a folded text, and its words.

    DIGIT stands for its digits. With any other group there is the group "any"; a text without a cue has no group.
    """
    words = frozenset(_WORD.findall(folded))
    groups = {group for word in _KNOWN & words for group in _GROUPS[word]}
    if any(name <= words for word in _HOLIDAY_WORDS & words for name in _HOLIDAYS[word]):
        groups.add("holiday")
    if _DIGIT.search(folded):
        words |= {DIGIT}
        groups |= {group for group, pattern in FIGURES.items() if pattern.search(folded)}
    return frozenset(groups | {"any"}) if groups else frozenset(), words
