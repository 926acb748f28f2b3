"""The words without which a text mentions no time: the cheap first look that most turns end with.

Each word names the groups of rules that it makes worth trying; figures are looked at only in a text that has one.
"""

from __future__ import annotations

import re

from .lexicon import LIMIT, MONTHS, SEASONS, UNITS, WEEKDAYS, fold
from .rules.holidays import FEASTS

WORDS: dict[str, set[str]] = {
    "day": set("today yesterday tomorrow tomorow tmrw tmr yday tonight tonite morning afternoon evening".split()),
    "unit": {*UNITS, "evening"} - {"day"},
    "ago": set("ago back later earlier hence since now today after afterwards before beforehand".split()),
    "weekday": {*WEEKDAYS, *(f"{name}s" for name in WEEKDAYS)},
    "month": {*MONTHS},
    "season": {*SEASONS, *(f"{name}s" for name in SEASONS)},
    "feast": {re.split("[^a-z]", name)[0] for name in FEASTS},
    "decade": set("twenties thirties forties fifties sixties seventies eighties nineties".split()),
    "clock": set("noon midnight midday clock past quarter morning afternoon evening night".split()),
    "vague": set("recently lately late ago back other someday nowadays point soon future".split()),
}
FIGURES = {
    "number": re.compile(r"(?:1[5-9]|2[01])\d\d|\d\d?[/.-]\d|\d(?:st|nd|rd|th)|q[1-4]|'\d"),
    "decade": re.compile(r"\d0'?s"),
    "clock": re.compile(r"\d[ \n]{0,3}[ap]\.?m|\d:\d\d"),
}
_GROUPS = {word: [group for group, words in WORDS.items() if word in words] for word in set().union(*WORDS.values())}
_KNOWN = frozenset(_GROUPS)
_LETTERS = re.compile("[a-z]+")
_FIGURE = re.compile(r"\d")


def mentions_time(text: str) -> bool:
    """Say whether a text holds a word or figure that a time could be made of; else `find_times` finds nothing."""
    return bool(cues(fold(text[:LIMIT])))


def cues(folded: str) -> frozenset[str]:
    """Return the groups of rules that a folded text gives cause to try, "any" among them unless there is none."""
    words = _LETTERS.findall(folded)
    groups = (
        set() if _KNOWN.isdisjoint(words) else {group for word in _KNOWN.intersection(words) for group in _GROUPS[word]}
    )
    if _FIGURE.search(folded):
        groups |= {group for group, pattern in FIGURES.items() if pattern.search(folded)}
    return frozenset(groups | {"any"}) if groups else frozenset()
