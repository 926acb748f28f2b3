"""Words and terms: what a text is indexed and asked by."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .irregular_forms import BASE
from .stemming import porter

# Scripts written without spaces (kana, CJK ideographs, Thai) are split into characters.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+(?:'(?:(?![{_UNSPACED}])[^\W_])+)*")
_ENDING = re.compile(r"(?:n't|'(?:s|m|re|ve|ll|d|t))$")
_LONGEST = 40  # characters of a word that count; longer ones are links and encodings

_STOP_WORDS = """
    a about after again all also am an and any are aren as at be because been before being both but by can cannot could
    couldn did didn do does doesn doing don down during each few for from further had hadn has hasn have haven having he
    her here hers herself him himself his how i if in into is isn it its itself just let me more most my myself no nor
    not now of off on once only or other our ours ourselves out over own same shan she should shouldn so some such than
    that the their theirs them themselves then there these they this those through to too under until up very was wasn
    we were weren what when where which while who whom why will with won would wouldn you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def words(text: str) -> list[str]:
    """Return the words of a text in order: case folded, accents and contracted endings ("'s", "n't") taken off."""
    return [_bare(word) for word in _WORD.findall(_plain(text))]


def terms(text: str) -> list[str]:
    """Return the stems of a text in order, stop words left out."""
    return [term for word in _WORD.findall(_plain(text)) if (term := _term(word))]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem that stands for a word and its inflections, irregular English ones among them."""
    bare = _bare(word)[:_LONGEST]
    bare = BASE.get(bare, bare)
    return porter(bare) if bare.isascii() and bare.isalpha() else bare


@lru_cache(maxsize=1 << 16)
def _term(word: str) -> str:
    bare = _bare(word)
    return "" if bare in STOP_WORDS else stem(bare)


def _bare(word: str) -> str:
    return _ENDING.sub("", word)


def _plain(text: str) -> str:
    """Fold case, and strip accents and curls where there are any."""
    folded = text.casefold().replace("\u2019", "'")
    if folded.isascii():
        return folded
    return "".join(char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char))
