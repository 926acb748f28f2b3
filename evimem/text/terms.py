"""Words and terms: what texts and questions are matched by."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from operator import add

from ..lang import ENGLISH, Language
from ..lang.guess import language_of
from ..types.attempt import attempt
from .irregular_forms import BASE
from .plain_letters import plain
from .stemming import porter

# Scripts written without spaces. Where the script changes, a word mostly ends.
_IDEOGRAPHS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_SOUTHEAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_UNSPACED = _IDEOGRAPHS + _HIRAGANA + _KATAKANA + _SOUTHEAST
_SIGNS = (  # vowel signs and tones of the last group: parts of the character before them
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u17dd]*"
)
_CHARACTER = re.compile(rf"(?=[{_SOUTHEAST}])[^\W_]{_SIGNS}|[{_IDEOGRAPHS}{_HIRAGANA}{_KATAKANA}]")
# Indic vowel signs and viramas are part of a word, but no letters for `re`: all of these blocks but the dandas.
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[\u0900-\u0963\u0966-\u0dff])"
_WORD = re.compile(
    rf"(?P<ideographs>[{_IDEOGRAPHS}]+)"
    rf"|(?P<run>[{_HIRAGANA}\u30fc]+|[{_KATAKANA}]+|(?:(?=[{_SOUTHEAST}])[^\W_]{_SIGNS})+)"
    rf"|{_LETTER}+(?:'{_LETTER}+)*"
)
_SPACED_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_NEEDS_CUTTING = re.compile(rf"[\u0900-\u0dff{_UNSPACED}]")
_ENDING = re.compile(r"(?:n't|'(?:s|m|re|ve|ll|d|t))$")
# Words that lost their vowel before another: French "l'appartement", Italian "dell'acqua".
_ELISIONS = {code: Language(code).words("common.elisions") for code in ("fr", "it")}
_MAY_ELIDE = re.compile(rf"\b(?:{'|'.join(sorted({*_ELISIONS['fr'], *_ELISIONS['it']}))})'(?=[^\W\d_]{{2}})")
_MAX_LENGTH = 40  # characters of a word that count; longer ones are links and encodings

STOP_WORDS = frozenset(ENGLISH.words("terms.stop_words"))


def words(text: str) -> list[str]:
    """Return the words of a text in order: case folded, without accents, contracted endings ("'s", "n't"), elisions.

    What is written without spaces is cut into pairs of neighbouring characters, the usual stand-in for its words. An
    ideograph is often a word by itself and follows alone as well; another character counts alone where it stands alone.
    """
    return [_bare(word) for word in _raw_words(text)]


def terms(text: str) -> list[str]:
    """Return the stems of a text in order, without stop words."""
    return [term for word in _raw_words(text) if (term := _ascii_term(word) if word.isascii() else _other_stem(word))]


def plainest(text: str) -> list[str]:
    """Return the terms of a text for which `terms` fails: its runs of letters and figures, stemmed where that works."""
    return [attempt(word, stem, word).value for word in _PLAIN_WORD.findall(text.casefold())]


def stem(word: str) -> str:
    """Return the stem that a word shares with its inflections, irregular English ones included."""
    return _ascii_stem(word) if word.isascii() else _other_stem(word)


@lru_cache(maxsize=1 << 16)
def _ascii_stem(word: str) -> str:
    bare = _bare(word)[:_MAX_LENGTH]
    bare = BASE.get(bare, bare)
    return porter(bare) if bare.isalpha() else bare


def _other_stem(word: str) -> str:
    if "'" not in word:  # nothing to take off that leaves ASCII
        return word[:_MAX_LENGTH]
    bare = _bare(word)[:_MAX_LENGTH]
    return _ascii_stem(bare) if bare.isascii() else bare


@lru_cache(maxsize=1 << 16)
def _ascii_term(word: str) -> str:
    bare = _bare(word)
    return "" if bare in STOP_WORDS else stem(bare)


def _bare(word: str) -> str:
    return _ENDING.sub("", word) if "'" in word else word


def _raw_words(text: str) -> list[str]:
    folded = plain(text)
    if _MAY_ELIDE.search(folded) and language_of(text) in _ELISIONS:
        folded = _MAY_ELIDE.sub(" ", folded)
    if folded.isascii() or _NEEDS_CUTTING.search(folded) is None:
        return _SPACED_WORD.findall(folded)
    return _words_of_any_script(folded)


def _words_of_any_script(folded: str) -> list[str]:
    found: list[str] = []
    for match in _WORD.finditer(folded):
        if match.lastgroup is None:
            found.append(match.group())
            continue
        alone = match.lastgroup == "ideographs"  # each a character by itself
        characters = [*match.group()] if alone else _CHARACTER.findall(match.group())
        pairs = list(map(add, characters, islice(characters, 1, None)))
        found += pairs or characters
        if pairs and alone:
            found += characters
    return found
