"""The rules, and the words without which none of them is tried: a cheap check that settles most turns.

Each word names the groups of rules that are worth trying; figures are looked for only in a text that has a digit. In a
long text a rule looks only around the words and figures without which it cannot match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..lang import ENGLISH
from ..lang.guess import ENGLISH_OR_UNKNOWN, language_of
from .calendar import PARTS
from .clock_rules import CLOCK_RULES
from .date_rules import DATE_RULES, FOREIGN_RULES
from .day_rules import DAY_RULES, WEEKDAY_RULES
from .lexicon import (
    BEFORE,
    DAYS_FROM_TODAY,
    DECADES,
    DIGIT,
    ENDS,
    LIMIT,
    MONTHS,
    NAMED_HOURS,
    ORDINAL_WORDS,
    SEASONS,
    TENS,
    TONIGHT,
    UNITS,
    WEEKDAYS,
    fold,
    misspellings,
)
from .month_rules import HOLIDAY_RULES, HOLIDAYS, MONTH_RULES, YEAR_RULES
from .other_languages import may_mention_dates
from .rule_types import AnyRule, Cues
from .unit_rules import PART_RULES, RANGE_RULES, UNIT_RULES, VAGUE_RULES

RULES: tuple[AnyRule, ...] = (  # of two that match the same words the earlier one wins
    *DAY_RULES, *WEEKDAY_RULES, *UNIT_RULES, *PART_RULES, *RANGE_RULES, *DATE_RULES, *MONTH_RULES, *YEAR_RULES,
    *HOLIDAY_RULES, *CLOCK_RULES, *VAGUE_RULES, *FOREIGN_RULES,
)  # fmt: skip


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
    "number": re.compile(r"(?:1[5-9]|2[01])\d\d|\d\d?[/.-]\d|\d(?:st|nd|rd|th)|[qh][1-4]|'\d|\dh"),
    "figures": re.compile(r"\d[/.-]\d|\dh\b"),
    "year": re.compile(r"(?:1[5-9]|20)\d\d"),
    "decade": re.compile(r"\d0'?s"),
    "day": re.compile(r"\b2(?:mo|mr|ni)"),
    "clock": re.compile(r"\d[ \n]{0,3}[ap]\.?m|\d[:h]\d\d|\d[snrt][tdh] [0-2]\d{3}"),
}
_GROUPS = {word: [group for group, words in WORDS.items() if word in words] for word in set().union(*WORDS.values())}
_KNOWN = frozenset(_GROUPS)
_WORD = re.compile("[a-z]+")
_DIGIT = re.compile(r"\d")
# Names of several words, each by the longest of them: "new" and "day" stand in too many texts that name no time.
_PHRASES: dict[str, list[tuple[frozenset[str], str]]] = {}
for _group, _names in (("holiday", HOLIDAYS), ("unit", ENDS)):
    for _name in _names:
        _parts = frozenset(_WORD.findall(_name))
        _PHRASES.setdefault(max(sorted(_parts), key=len), []).append((_parts, _group))
_PHRASE_WORDS = frozenset(_PHRASES)
_DAY_IN_WORDS = re.compile(rf"\b(?:{'|'.join(BEFORE['sure_day'])}) the (?:{'|'.join((*TENS, *ORDINAL_WORDS))})\b")

# The words that an expression of a group has one of; DIGIT stands for its figures.
_MARKS = {
    group: {*WORDS.get(group, ()), *(word for word, names in _PHRASES.items() for _, of in names if of == group)}
    for group in (*WORDS, "holiday")
}
GROUP_WORDS: dict[str, frozenset[str]] = {
    group: frozenset((*_MARKS.get(group, ()), *((DIGIT,) if group in FIGURES else ()))) for group in (*_MARKS, *FIGURES)
}
GROUP_WORDS["number"] |= ORDINAL_WORDS
GROUP_WORDS["any"] = frozenset().union(*GROUP_WORDS.values(), {"day"})


def mentions_time(text: str) -> bool:
    """Return whether a text has a word or figure that a time expression needs.

    Without one `find_times` finds nothing. With one it may still find nothing. Only the first LIMIT (16,384)
    characters are read.
    """
    folded = fold(text[:LIMIT])
    language = language_of_times(text, folded)
    if language not in ENGLISH_OR_UNKNOWN:
        return may_mention_dates(language, folded)
    groups, words = cues(folded)
    return bool(groups) or not misspellings().keys().isdisjoint(words)


def language_of_times(text: str, folded: str) -> str:
    """Return the language whose dates are read in a text: that of the text, but English where it has "2moro"."""
    return "en" if FIGURES["day"].search(folded) else language_of(text)


def cues(folded: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the groups of rules worth trying on a folded text, and its words.

    DIGIT stands for its digits. With any other group there is the group "any"; a text without a cue has no group.
    """
    words = frozenset(_WORD.findall(folded))
    groups = {group for word in _KNOWN & words for group in _GROUPS[word]}
    groups |= {group for word in _PHRASE_WORDS & words for parts, group in _PHRASES[word] if parts <= words}
    if not groups and not ORDINAL_WORDS.isdisjoint(words) and _DAY_IN_WORDS.search(folded):
        groups.add("number")
    if _DIGIT.search(folded):
        words |= {DIGIT}
        groups |= {group for group, pattern in FIGURES.items() if pattern.search(folded)}
    return frozenset(groups | {"any"}) if groups else frozenset(), words


SHORT = 400  # characters of a text that is looked through as a whole
WINDOW_REACH = 80  # characters before and after the beginning of a needed word within which a match with it lies
_WORD_OR_DIGITS = re.compile(r"[a-z]+|\d+")
_NEEDED = frozenset().union(*GROUP_WORDS.values(), *(words for rule in RULES for words in rule.cues.words))


@dataclass(frozen=True)
class Windows:
    """The ranges of a folded text that are worth looking at."""

    folded: str

    def of(self, cues: Cues) -> list[tuple[int, int]]:
        """Return the ranges for a rule, in order and disjoint, around the rarest of the words it needs."""
        if len(self.folded) <= SHORT:
            return [(0, len(self.folded))]
        words = cues.words[0] if cues.words else GROUP_WORDS[cues.group]
        for some in cues.words[1:]:
            if len(self._starts(some)) < len(self._starts(words)):
                words = some
        if words not in self._ranges:
            self._ranges[words] = list(_merged(self._starts(words), len(self.folded)))
        return self._ranges[words]

    @cached_property
    def _ranges(self) -> dict[frozenset[str], list[tuple[int, int]]]:
        return {}

    @cached_property
    def _found(self) -> dict[frozenset[str], list[int]]:
        return {}

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where the text has each word that some rule needs."""
        found: dict[str, list[int]] = {}
        for match in _WORD_OR_DIGITS.finditer(self.folded):
            word = DIGIT if match.group().isdigit() else match.group()
            if word in _NEEDED:
                found.setdefault(word, []).append(match.start())
        return found

    def _starts(self, words: frozenset[str]) -> list[int]:
        starts = self._found.get(words)
        if starts is None:
            places = self._places
            starts = sorted(start for word in places.keys() & words for start in places[word])
            self._found[words] = starts
        return starts


def _merged(starts: Iterable[int], end: int) -> Iterator[tuple[int, int]]:
    first = last = -1
    for start in starts:
        if start - WINDOW_REACH > last >= 0:
            yield first, last
            first = -1
        first = max(0, start - WINDOW_REACH) if first < 0 else first
        last = min(end, start + WINDOW_REACH)
    if last >= 0:
        yield first, last
