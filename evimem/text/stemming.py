"""Porter's suffix stripping (Porter 1980), so that "adopted", "adopting" and "adopts" are one term."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VC = re.compile("v+c+")
_LETTERS = str.maketrans({**dict.fromkeys("bcdfghjklmnpqrstvwxz", "c"), **dict.fromkeys("aeiou", "v")})


class _Suffixes:
    """A table of suffixes, each with what replaces it. The longest that a word ends with is the one that counts."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table
        self._all = tuple(table)
        self._longest_first = sorted(table, key=len, reverse=True)

    def of(self, word: str) -> str:
        """Return the suffix of a word; "" where it has none of these."""
        if not word.endswith(self._all):
            return ""
        return next(suffix for suffix in self._longest_first if word.endswith(suffix))

    def replace(self, word: str, min_measure: int) -> str:
        """Replace the suffix if the measure of what stands before it is above `min_measure`."""
        suffix = self.of(word)
        if not suffix:
            return word
        start = word[: len(word) - len(suffix)]
        return start + self._table[suffix] if _measure(start) > min_measure else word


# The tables are those of the paper: step 1a, 2, 3 and 4.
_PLURALS = _Suffixes({"sses": "ss", "ies": "i", "ss": "ss", "s": ""})
_DOUBLE = _Suffixes(
    {
        "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
        "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
        "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
        "logi": "log",
    }
)  # fmt: skip
_ADJECTIVE = _Suffixes({"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""})
_LAST = _Suffixes(
    dict.fromkeys("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split(), "")
)


def porter(word: str) -> str:
    """Return the stem of a lower-case ASCII word; one or two letters are left as they are."""
    if len(word) < 3:
        return word
    word = _past_and_gerund(_PLURALS.replace(word, min_measure=-1))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _DOUBLE.replace(word, min_measure=0)
    word = _ADJECTIVE.replace(word, min_measure=0)
    return _tidy(_drop_last(word))


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
    suffix = _LAST.of(word)
    start = word[: len(word) - len(suffix)]
    kept = not suffix or _measure(start) < 2 or (suffix == "ion" and not start.endswith(("s", "t")))
    return word if kept else start


def _tidy(word: str) -> str:
    """Drop a final -e and halve a final -ll."""
    if word.endswith("e"):
        start = word[:-1]
        if _measure(start) > 1 or (_measure(start) == 1 and not _is_short(start)):
            word = start
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
