"""Where in a text a rule looks for matches: only around the words and figures without which it cannot match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from .cues import places
from .lexicon import DIGIT
from .rule_types import Cues

SHORT = 112  # characters of a text that is looked through as a whole
REACH = 72  # characters before and after the beginning of a needed word within which a match with it lies
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Windows:
    """The ranges of a folded text, with its words, that are worth looking at."""

    folded: str
    words: frozenset[str]

    def of(self, cues: Cues) -> list[tuple[int, int]]:
        """Return the ranges for a rule, in order and disjoint, around the rarest of what it needs."""
        if len(self.folded) <= SHORT:
            return [(0, len(self.folded))]
        key = min((cues.group, *cues.words), key=lambda key: len(self._starts(key)))
        return self._around(key)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        return places(self.folded)

    @cached_property
    def _found(self) -> dict[frozenset[str] | str, list[int]]:
        return {}

    @cached_property
    def _ranges(self) -> dict[frozenset[str] | str, list[tuple[int, int]]]:
        return {}

    def _starts(self, key: frozenset[str] | str) -> list[int]:
        """Return where the cues of a group, or some words, begin; now and then inside of longer words."""
        if key not in self._found:
            if isinstance(key, str):
                self._found[key] = self._places.get(key, [])
            else:
                self._found[key] = sorted(start for word in key & self.words for start in self._occurrences(word))
        return self._found[key]

    def _occurrences(self, word: str) -> Iterator[int]:
        if word == DIGIT:
            yield from (match.start() for match in _DIGITS.finditer(self.folded))
            return
        at = self.folded.find(word)
        while at >= 0:
            yield at
            at = self.folded.find(word, at + len(word))

    def _around(self, key: frozenset[str] | str) -> list[tuple[int, int]]:
        if key not in self._ranges:
            self._ranges[key] = list(_merged(self._starts(key), len(self.folded)))
        return self._ranges[key]


def _merged(starts: Iterable[int], end: int) -> Iterator[tuple[int, int]]:
    first = last = -1
    for start in starts:
        if start - REACH > last >= 0:
            yield first, last
            first = -1
        first = max(0, start - REACH) if first < 0 else first
        last = min(end, start + REACH)
    if last >= 0:
        yield first, last
