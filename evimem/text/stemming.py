"""Porter's suffix stripping (Porter 1980), so that "adopted", "adopting" and "adopts" are one term."""

from __future__ import annotations

import re

# The tables are those of the paper: step 1a, 2, 3 and 4.
_VC = re.compile("v+c+")
_PLURALS = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_DOUBLE_SUFFIXES = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_ADJECTIVE_SUFFIXES = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_LAST_SUFFIXES = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
)  # fmt: skip


def porter(word: str) -> str:
    """Return the stem of a lower-case ASCII word; one or two letters are left as they are."""
    if len(word) < 3:
        return word
    word = _past_and_gerund(_replace(word, _PLURALS, min_measure=-1))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _DOUBLE_SUFFIXES, min_measure=0)
    word = _replace(word, _ADJECTIVE_SUFFIXES, min_measure=0)
    return _tidy(_drop_last(word))


def _shape(word: str) -> str:
    """Return a word as a string of "c" and "v"; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return Porter's measure m: how many vowel-consonant runs a word has."""
    return len(_VC.findall(_shape(word)))


def _replace(word: str, suffixes: tuple[tuple[str, str], ...], min_measure: int) -> str:
    """Replace the longest suffix that matches if the measure of what stands before it is above `min_measure`."""
    found = max((pair for pair in suffixes if word.endswith(pair[0])), key=lambda pair: len(pair[0]), default=None)
    if found is None:
        return word
    start = word[: len(word) - len(found[0])]
    return start + found[1] if _measure(start) > min_measure else word


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
    suffix = max((s for s in _LAST_SUFFIXES if word.endswith(s)), key=len, default="")
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
