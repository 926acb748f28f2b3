"""Which language a text is in, guessed from its scripts and its frequent words.

Only signs against English count: a short or mixed text without a clear sign is taken for English, whose rules
were made for texts like that.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from itertools import repeat
from pathlib import Path

from . import ENGLISH, Language

OTHER = "other"  # a language without tables of its own
ENGLISH_OR_UNKNOWN = frozenset(("en", ""))
_MIN_LONG_TEXT_WORDS = 9  # words of a text that is not short; without any English word it is in another language
_MIN_LANGUAGE_SIGNS = 2  # signs of a language that a text must have
_LATIN = ("fr", "de", "es", "it", "pt", "nl")  # written in Latin letters, and told apart by their words
LANGUAGES = tuple(sorted(path.name for path in Path(__file__).parent.iterdir() if (path / "common.toml").exists()))

_WORD = re.compile(r"\b[^\W\d_]+\b")  # not the letters of "2moro"
_LATIN_LETTERS = re.compile("[a-z\u00df-\u024f]")
# Words of scripts that belong to one of the languages; of those written without spaces, pairs of characters.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]{1,2}")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]{1,2}")),
    ("hi", re.compile("[\u0900-\u097f]+")),
    ("ar", re.compile("[\u0600-\u06ff\u0750-\u077f]+")),
    ("ru", re.compile("[\u0400-\u052f]+")),
    (
        OTHER,
        re.compile("[\u0370-\u03ff\u0530-\u05ff\u0700-\u074f\u0780-\u08ff\u0980-\u1fff\u3100-\u31bf\uac00-\ud7af]+"),
    ),
)
_BEYOND_LATIN = re.compile("|".join(pattern.pattern for _, pattern in _SCRIPTS))
_TURKISH = re.compile(r"\d'(?:[dt][ea]n?|y?[eaiu\u0131\u00fc]|n?[iu\u0131\u00fc]n)\b")  # endings of numbers: 2018'den
_OF_OTHERS = re.compile("[\u0105\u0107\u0119\u011f\u0131\u0142\u0144\u015b\u015f\u017a\u017c]")  # Polish and Turkish
_NOT_ARABIC = re.compile("[\u067e\u0686\u0698\u06af\u0679\u0688\u0691\u06ba\u06d2]")  # letters of Persian and Urdu

# Letters of Ukrainian, Belarusian, Serbian and Macedonian.
_NOT_RUSSIAN = re.compile("[\u0456\u0457\u0454\u0491\u045e\u0452\u0458\u0459\u045a\u045b\u045f\u0453\u045c\u0455]")


def guess_language(text: str) -> str:
    """Return the code of the language of a text: "en", one of LANGUAGES, OTHER, or "" where nothing shows it.

    Only the first 400 characters are looked at.
    """
    # Guess by the first 400 characters.
    return _guess_uncached(text[:400].lower())


def is_english(text: str) -> bool:
    """Return whether a text may be read by English rules: it is English, or too short or mixed to say."""
    return guess_language(text) in ENGLISH_OR_UNKNOWN


@lru_cache(8)  # a turn is asked about several times while it is added; few, because texts are forgotten
def _guess_uncached(text: str) -> str:
    words = _WORD.findall(text)
    if not text.isascii():
        words = [word for word in words if _LATIN_LETTERS.match(word)]
    balance = sum(map(_english_weights().get, words, repeat(0)))
    if text.isascii():
        # A surplus of two English words outweighs every other sign.
        return "en" if balance >= 2 else _guess_by_latin_words(words, text)[0]
    scripts = _count_languages_by_script(text)
    language, score = _guess_by_latin_words(words, text)
    if language != "en" and sum(_OF_OTHERS.search(word) is not None for word in words) >= _MIN_LANGUAGE_SIGNS:
        return OTHER
    if not scripts:
        return language
    foreign, count = scripts.most_common(1)[0]
    return foreign if count > score else language


def _count_languages_by_script(text: str) -> Counter[str]:
    if not _BEYOND_LATIN.search(text):
        return Counter()
    found = Counter({language: len(pattern.findall(text)) for language, pattern in _SCRIPTS})
    if found["ja"]:
        found["ja"] += found.pop("zh")
    for language, letters in (("ar", _NOT_ARABIC), ("ru", _NOT_RUSSIAN)):
        if found[language] and letters.search(text):
            found[OTHER] += found.pop(language)
    return +found


def _guess_by_latin_words(words: list[str], text: str) -> tuple[str, float]:
    """Return the language that the words of a text in Latin letters speak for, and how strongly they do.

    A word of one language counts 1; one that English texts have as well counts a half for both, like a letter that
    English lacks; a few words of the second kind alone show nothing.
    """
    known, shared = _languages_by_word(), ENGLISH["common.in_other_languages_too"]
    hits = Counter(language for word in words for language in known.get(word, ()))
    english = hits.pop("en", 0) + sum(word in shared and word in ENGLISH["terms.stop_words"] for word in words) / 2
    if hits:
        # At most three letters that English lacks count in one text.
        letters = {code: min(sum(map(text.count, _special_letters(code))), 3) for code in hits}
        language = max(_LATIN, key=lambda code: hits[code] + letters.get(code, 0) / 2)
        own = sum(word not in shared and language in known.get(word, ()) for word in words)
        score = own + (hits[language] - own + letters[language]) / 2
        # One is enough for a short text with at most one shared word that may be English.
        enough = _MIN_LANGUAGE_SIGNS if len(words) >= _MIN_LONG_TEXT_WORDS or english >= 1 else 1
        shown = own + letters[language] >= 1
        if not shown:  # by words that English texts have as well, if there are many and English is hardly spoken for
            # Three different words of a language show it, though English texts have each of them.
            shown = len(_words_of_language(language, words)) >= 3 and score > 2 * english
        if shown and score >= enough and score > english:
            return language, score
    if (
        english == 0
        and len(words) >= _MIN_LONG_TEXT_WORDS
        and sum(word not in known for word in words) * 3 >= len(words) * 2
    ):
        return OTHER, len(words)
    if english == 0 and _TURKISH.search(text):
        return OTHER, len(words)
    return ("en" if english else ""), english


def _words_of_language(language: str, words: list[str]) -> set[str]:
    return {word for word in words if language in _languages_by_word().get(word, ())}


@cache
def _special_letters(language: str) -> str:
    return "".join(Language(language).words("common.letters"))


@cache
def _languages_by_word() -> dict[str, tuple[str, ...]]:
    """Return the languages that a word speaks for. A word of several speaks for each, but none that is also English."""
    found: dict[str, tuple[str, ...]] = {}
    for language in _LATIN:
        own = Language(language)
        names = (*own.words("common.weekdays"), *own.words("common.months"), *own.words("common.of_time"))
        for word in {*own.words("common.function_words"), *(part for name in names for part in name.split("-"))}:
            found[word] = (*found.get(word, ()), language)
    frequent, of_time = ENGLISH.words("common.frequent_words"), ENGLISH.words("common.of_time")
    english = (
        ENGLISH["terms.stop_words"].union(frequent, of_time, ENGLISH.words("common.names_of_the_calendar"))
        - ENGLISH["common.in_other_languages_too"]
    )
    return found | dict.fromkeys(english, ("en",))


@cache
def _english_weights() -> dict[str, float]:
    """Return for each known word how much it speaks for English (1), or against it."""
    shared = ENGLISH["common.in_other_languages_too"]
    return {
        word: 1 if codes == ("en",) else -0.5 if word in shared else -1 for word, codes in _languages_by_word().items()
    }
