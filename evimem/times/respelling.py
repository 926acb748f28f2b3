"""Misspelt names of months, weekdays and days in their usual spelling, and how places in it map back to the text.

A name is recognized when two neighbouring letters are swapped, a letter is left out or doubled, or it is written in one
of the listed ways ("wensday", "2moro"). Only names of at least six letters are, and no form that is a word of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ..lang import ENGLISH
from .folding import fold
from .lexicon import DAYS_FROM_TODAY, FULL_MONTHS, FULL_WEEKDAYS

SHORTEST = 6  # letters of a name whose misspellings are recognized
_WORD = re.compile("[a-z]+")
_WORDS = frozenset(ENGLISH.words("times.words_like_names"))


@dataclass(frozen=True, slots=True)
class Respelled:
    """A text with usual spellings. `changes` are the places of each change in it, in the text, and how they differ.

    A change is the end of the replaced word in the new text and how many characters the text is longer up to there.
    """

    text: str
    ends: tuple[int, ...] = ()
    longer: tuple[int, ...] = ()

    def place(self, at: int) -> int:
        """Return the place in the original text of a place in the new one, for the edge of a word."""
        index = bisect_right(self.ends, at)
        return at + (self.longer[index - 1] if index else 0)


@cache
def misspellings() -> Mapping[str, str]:
    """Return the names by their misspellings."""
    found: dict[str, str] = {}
    for name in (*FULL_MONTHS, *FULL_WEEKDAYS, *DAYS_FROM_TODAY):
        if len(name) >= SHORTEST:
            found |= dict.fromkeys(_variants(name), name)
    listed = {word: name for name, words in ENGLISH.lists("times.misspellings").items() for word in words}
    names = frozenset((*FULL_MONTHS, *FULL_WEEKDAYS, *DAYS_FROM_TODAY))
    return {word: name for word, name in (found | listed).items() if word not in _WORDS and word not in names}


def _variants(name: str) -> Iterator[str]:
    for at in range(1, len(name)):
        yield name[:at] + name[at + 1 :]
        yield name[:at] + name[at] + name[at:]
        if at + 1 < len(name):
            yield name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def respelled(text: str) -> Respelled:
    """Return a text with the names in their usual spelling."""
    known = misspellings()
    folded = fold(text)
    parts, ends, longer = [], [], []
    at = length = 0
    for match in _WORD.finditer(folded):
        name = known.get(match.group())
        if name is None:
            continue
        parts += [text[at : match.start()], name.capitalize() if text[match.start()].isupper() else name]
        length += match.start() - at + len(name)
        at = match.end()
        ends.append(length)
        longer.append(at - length)
    return Respelled("".join((*parts, text[at:])), tuple(ends), tuple(longer))
