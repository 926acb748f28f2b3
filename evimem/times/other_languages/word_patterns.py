"""Patterns for words as people spell them: accents, points and hyphens left out, umlauts written out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")

_BLANKS = "(?:[ \u00a0\u3000\n]{1,3})"
_ARABIC_POINTS = "[\u064b-\u0652]"
_NUKTA = "\u093c"
_SPELLINGS = {
    **dict.fromkeys("\u0627\u0623\u0625\u0622", "[\u0627\u0623\u0625\u0622]"),  # alef with and without hamza
    **dict.fromkeys("\u064a\u0649", "[\u064a\u0649]"),
    **dict.fromkeys("\u0629\u0647", "[\u0629\u0647]"),
    **dict.fromkeys("\u0901\u0902", "[\u0901\u0902]"),
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
_DROPPED = re.compile(f"[\u0300-\u036f{_NUKTA}\u0653-\u0655 \u00a0\u3000\n-]|{_ARABIC_POINTS}")
_WRITTEN_OUT = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})
_SAME = str.maketrans({"\u0901": "\u0902", "\u0649": "\u064a", "\u0629": "\u0647"})


def spellings(word: str) -> str:
    """Return the source of a pattern that matches a lower-case word in its usual spellings.

    A word after an equals sign has only the one as it is given: "=pass\u00e9" is not "passe".
    """
    if word.startswith("="):
        return re.escape(word[1:])
    return "".join(_spelled(letter) for letter in unicodedata.normalize("NFC", word))


def _spelled(letter: str) -> str:
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
    """Return what all spellings of a word have in common: no accents, points, blanks and hyphens."""
    return _DROPPED.sub("", unicodedata.normalize("NFKD", word.lower())).translate(_SAME)


class SpelledTable(Generic[T]):
    """What words stand for, found by any of their spellings. `source` is a pattern of all of them."""

    def __init__(self, table: Mapping[str, T]) -> None:
        self.source: str = any_of(table)
        spelled = {word.removeprefix("="): value for word, value in table.items()}
        self._values = {spelling_key(word): value for word, value in spelled.items()}
        self._values |= {spelling_key(word.translate(_WRITTEN_OUT)): value for word, value in spelled.items()}

    def of(self, word: str) -> T:
        """Return what a word stands for, as it is spelled in a text; raise ValueError for another word."""
        try:
            return self._values[spelling_key(word)]
        except KeyError:
            raise ValueError(f"{word!r} is none of these words") from None
