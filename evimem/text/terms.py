"""Words and terms: texts and questions are matched by them, with case and accents folded and suffixes stripped.

Stems are those of Porter (1980), so that "adopted", "adopting" and "adopts" are one term, with a table of the English
forms that no rule connects. The stems of the shipped embedding's vocabulary are computed once, by
scripts/stem_vocabulary.py: stemming its 22,000 words takes a third of a second, which the first question of every
process would pay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import islice
from operator import add
from pathlib import Path

from ..errors import try_read
from ..lang import ENGLISH, Language
from ..lang.guess import guess_language

_VC = re.compile("v+c+")
_LETTERS = str.maketrans({**dict.fromkeys("bcdfghjklmnpqrstvwxz", "c"), **dict.fromkeys("aeiou", "v")})
# Marks that a writer may leave out: accents of Latin, Greek and Cyrillic letters, Hebrew and Arabic vowel points, the
# Arabic hamza on a carrier and the stretching tatweel, the Indic nukta, joiners. Marks that make another letter or
# syllable stay: Indic vowel signs and viramas, the voicing marks of kana, Thai vowels and tones.
_OPTIONAL = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d"
    "\u20d0-\u20f0\ufe20-\ufe2f]+"
)

# Scripts written without spaces. Where the script changes, a word mostly ends.
_IDEOGRAPHS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_SOUTHEAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_UNSPACED = _IDEOGRAPHS + _HIRAGANA + _KATAKANA + _SOUTHEAST
_SIGNS = (  # vowel signs and tones of the last group: parts of the character before them
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u17dd]*"
)
# Indic vowel signs and viramas are part of a word, but no letters for `re`: all of these blocks but the dandas.
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[\u0900-\u0963\u0966-\u0dff])"
_SPACED_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_NEEDS_CUTTING = re.compile(rf"[\u0900-\u0dff{_UNSPACED}]")
_ENDING = re.compile(r"(?:n't|'(?:s|m|re|ve|ll|d|t))$")
# Words that lost their vowel before another: French "l'appartement", Italian "dell'acqua".
_ELISIONS = {code: Language(code).words("common.elisions") for code in ("fr", "it")}
_MAY_ELIDE = re.compile(rf"\b(?:{'|'.join(sorted({*_ELISIONS['fr'], *_ELISIONS['it']}))})'(?=[^\W\d_]{{2}})")
_MAX_LENGTH = 40  # characters of a word that count; longer ones are links and encodings

STOP_WORDS = frozenset(ENGLISH.words("terms.stop_words"))

TABLE = Path(__file__).with_name("data") / "vocabulary_stems.txt"


# The tables are those of the paper: step 1a, 2, 3 and 4. Of several suffixes the longest counts: it comes first.
_PLURALS = {"sses": "ss", "ies": "i", "ss": "ss", "s": ""}
_DOUBLE = {
    "ational": "ate", "ization": "ize", "iveness": "ive", "fulness": "ful", "ousness": "ous", "tional": "tion",
    "biliti": "ble", "entli": "ent", "ousli": "ous", "ation": "ate", "alism": "al", "aliti": "al", "iviti": "ive",
    "enci": "ence", "anci": "ance", "izer": "ize", "alli": "al", "ator": "ate", "logi": "log", "bli": "ble", "eli": "e",
}  # fmt: skip
_ADJECTIVE = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ness": "", "ful": ""}
_LAST = "ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou".split()


def porter(word: str) -> str:
    """Return the stem of a lower-case ASCII word; one or two letters are left as they are."""
    if len(word) < 3:
        return word
    word = _past_and_gerund(_replace_suffix(word, _PLURALS, min_measure=-1))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_suffix(word, _DOUBLE, min_measure=0)
    word = _replace_suffix(word, _ADJECTIVE, min_measure=0)
    return _tidy(_drop_last(word))


def _suffix_of(word: str, suffixes: Iterable[str]) -> str:
    """Return the first of these suffixes that a word has, "" for none; longer ones come first."""
    return next((suffix for suffix in suffixes if word.endswith(suffix)), "")


def _replace_suffix(word: str, table: Mapping[str, str], min_measure: int) -> str:
    """Replace the suffix of a word if the measure of the stem before it is above `min_measure`."""
    start = word.removesuffix(suffix := _suffix_of(word, table))
    return start + table[suffix] if suffix and _measure(start) > min_measure else word


def _shape(word: str) -> str:
    """Return a word as a string of "c" and "v"; y is a vowel after a consonant."""
    shape = word.translate(_LETTERS)
    while (place := shape.find("y")) >= 0:
        shape = shape[:place] + ("v" if shape[:place].endswith("c") else "c") + shape[place + 1 :]
    return shape


def _measure(word: str) -> int:
    """Return Porter's measure m: how many vowel-consonant runs a word has."""
    return len(_VC.findall(_shape(word)))


def _past_and_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        start = word.removesuffix(suffix)
        if start != word and "v" in _shape(start):
            return _restore(start)
    return word


def _restore(start: str) -> str:
    """Restore a base from which -ed or -ing was cut: conflat -> conflate, hopp -> hop, fil -> file."""
    if start.endswith(("at", "bl", "iz")):
        return start + "e"
    if len(start) > 1 and start[-1] == start[-2] and _shape(start)[-1] == "c" and start[-1] not in "lsz":
        return start[:-1]
    return start + "e" if _measure(start) == 1 and _is_short(start) else start


def _is_short(word: str) -> bool:
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _drop_last(word: str) -> str:
    start = word.removesuffix(suffix := _suffix_of(word, _LAST))
    kept = not suffix or _measure(start) < 2 or (suffix == "ion" and not start.endswith(("s", "t")))
    return word if kept else start


def _tidy(word: str) -> str:
    """Drop a final -e and halve a final -ll."""
    if word.endswith("e"):
        start = word[:-1]
        if _measure(start) > 1 or (_measure(start) == 1 and not _is_short(start)):
            word = start
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


_CANDRABINDU, _ANUSVARA = "\u0901", "\u0902"  # Hindi writes a nasal vowel with either mark


def plain(text: str) -> str:
    """Return a text with case, accents and optional marks folded, and straight apostrophes."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFKD", folded).replace(_CANDRABINDU, _ANUSVARA).replace("\u2019", "'")
    return unicodedata.normalize("NFC", _OPTIONAL.sub("", decomposed))  # kana and Hangul are one character again


# The base of each, its past and its participle.
IRREGULAR_VERBS = tuple(
    (base, past, *(rest or [past]))
    for base, past, *rest in (one.split("/") for one in ENGLISH.words("verbs.irregular"))
)


def _base_forms() -> dict[str, str]:
    unmapped = frozenset(ENGLISH.words("terms.unmapped_verb_forms"))
    bases = {form: base for base, *forms in IRREGULAR_VERBS for form in forms if form not in {base, *unmapped}}
    for entry in (*ENGLISH.words("terms.more_verb_forms"), *ENGLISH.words("terms.irregular_nouns")):
        base, form = entry.split("/")
        bases[form] = base
    return bases


BASE = _base_forms()
"""The base of each irregular form that shares its stem."""


def words(text: str) -> list[str]:
    """Return the words of a text in order: case folded, without accents, contracted endings ("'s", "n't"), elisions.

    Text without spaces is cut into pairs of neighbouring characters, the usual stand-in for its words. An
    ideograph is often a word by itself and follows alone as well; another character counts alone where it stands alone.
    """
    return [_bare(word) for word in _raw_words(text)]


def terms(text: str) -> list[str]:
    """Return the stems of a text in order, without stop words."""
    return [term for word in _raw_words(text) if (term := _ascii_term(word) if word.isascii() else _other_stem(word))]


def plainest(text: str) -> list[str]:
    """Return the terms of a text for which `terms` fails: its runs of letters and figures, stemmed where that works."""
    return [try_read(word, stem, word).value for word in _PLAIN_WORD.findall(text.casefold())]


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
    if _MAY_ELIDE.search(folded) and guess_language(text) in _ELISIONS:
        folded = _MAY_ELIDE.sub(" ", folded)
    if folded.isascii() or _NEEDS_CUTTING.search(folded) is None:
        return _SPACED_WORD.findall(folded)
    return _words_of_any_script(folded)


@cache  # compiled for the first text that needs cutting: they take milliseconds
def _character() -> re.Pattern[str]:
    return re.compile(rf"(?=[{_SOUTHEAST}])[^\W_]{_SIGNS}|[{_IDEOGRAPHS}{_HIRAGANA}{_KATAKANA}]")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<ideographs>[{_IDEOGRAPHS}]+)"
        rf"|(?P<run>[{_HIRAGANA}\u30fc]+|[{_KATAKANA}]+|(?:(?=[{_SOUTHEAST}])[^\W_]{_SIGNS})+)"
        rf"|{_LETTER}+(?:'{_LETTER}+)*"
    )


def _words_of_any_script(folded: str) -> list[str]:
    found: list[str] = []
    for match in _word().finditer(folded):
        if match.lastgroup is None:
            found.append(match.group())
            continue
        alone = match.lastgroup == "ideographs"  # each a character by itself
        characters = [*match.group()] if alone else _character().findall(match.group())
        pairs = list(map(add, characters, islice(characters, 1, None)))
        found += pairs or characters
        if pairs and alone:
            found += characters
    return found


@cache
def vocabulary_stems() -> tuple[str, ...]:
    """Return the stem of each piece of the vocabulary, in its order; "" for a piece that is no word."""
    return tuple(TABLE.read_text(encoding="utf-8").removesuffix("\n").split("\n"))


def stem_pieces(pieces: Iterable[str]) -> list[str]:
    """Compute the table from the pieces of a vocabulary. Continuations ("##ing"), marks and numbers are no words."""
    return [stem(piece) if piece.isalpha() else "" for piece in pieces]
