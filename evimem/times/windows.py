"""Where in a text a rule looks for matches: only around the words and figures without which it cannot match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from .cues import GROUP_WORDS
from .lexicon import DIGIT
from .rule_types import Cues
from .rules import RULES

SHORT = 400  # characters of a text that is looked through as a whole
REACH = 80  # characters before and after the beginning of a needed word within which a match with it lies
_WORD_OR_DIGITS = re.compile(r"[a-z]+|\d+")
_NEEDED = frozenset().union(*GROUP_WORDS.values(), *(words for rule in RULES for words in rule.cues.words))


@dataclass(frozen=True)
class Windows:
    """The ranges of a folded text that are worth looking at."""

    folded: str

    def of(self, cues: Cues) -> list[tuple[int, int]]:
        """Return the ranges for a rule, in order and disjoint, around the rarest of what it needs."""
        if len(self.folded) <= SHORT:
            return [(0, len(self.folded))]
        words = GROUP_WORDS[cues.group]
        for some in cues.words:
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
            word = match.group()
            if word in _NEEDED:
                found.setdefault(word, []).append(match.start())
            elif word[0].isdigit():
                found.setdefault(DIGIT, []).append(match.start())
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
        if start - REACH > last >= 0:
            yield first, last
            first = -1
        first = max(0, start - REACH) if first < 0 else first
        last = min(end, start + REACH)
    if last >= 0:
        yield first, last
