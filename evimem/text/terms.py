"""Words and terms: what texts and questions are matched by."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ..lang import ENGLISH
from .irregular_forms import BASE
from .stemming import porter

# Scripts written without spaces (Thai, kana, CJK ideographs) are split into characters.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+(?:'(?:(?![{_UNSPACED}])[^\W_])+)*")
_ENDING = re.compile(r"(?:n't|'(?:s|m|re|ve|ll|d|t))$")
_MAX_LENGTH = 40  # characters of a word that count; longer ones are links and encodings

STOP_WORDS = frozenset(ENGLISH.words("terms.stop_words"))


def words(text: str) -> list[str]:
    """Return the words of a text in order: case folded, without accents and contracted endings ("'s", "n't")."""
    return [_bare(word) for word in _WORD.findall(_plain(text))]


def terms(text: str) -> list[str]:
    """Return the stems of a text in order, without stop words."""
    return [term for word in _WORD.findall(_plain(text)) if (term := _term(word))]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem that a word shares with its inflections, irregular English ones included."""
    bare = _bare(word)[:_MAX_LENGTH]
    bare = BASE.get(bare, bare)
    return porter(bare) if bare.isascii() and bare.isalpha() else bare


@lru_cache(maxsize=1 << 16)
def _term(word: str) -> str:
    bare = _bare(word)
    return "" if bare in STOP_WORDS else stem(bare)


def _bare(word: str) -> str:
    return _ENDING.sub("", word)


def _plain(text: str) -> str:
    """Fold case, straighten apostrophes and strip accents."""
    folded = text.casefold().replace("\u2019", "'")
    if folded.isascii():
        return folded
    return "".join(char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char))
