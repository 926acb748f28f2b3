"""Numbers as texts write them: figures of any script, number words, and the ideographs of Chinese and Japanese."""

from __future__ import annotations

from .word_patterns import SpelledTable

_DIGITS = {sign: value for value, signs in enumerate(("〇零", *"一二三四五六七八九")) for sign in signs}
_DIGITS |= {"两": 2, "兩": 2}
_TEN = "十"
IDEOGRAPHS = f"[{''.join(_DIGITS)}{_TEN}]"


def number(text: str, words: SpelledTable[int]) -> int:
    """Return the number that figures, a word or ideographs stand for; raise ValueError where they are no number."""
    if text.isdecimal():
        return int(text)
    if _TEN in text:
        tens, _, ones = text.partition(_TEN)
        return 10 * (_digits(tens) if tens else 1) + (_digits(ones) if ones else 0)
    if all(sign in _DIGITS for sign in text):
        return _digits(text)
    return words.of(text)


def _digits(signs: str) -> int:
    """Return the number that ideographs spell digit by digit: 二〇一八 is 2018."""
    if not signs or any(sign not in _DIGITS for sign in signs):
        raise ValueError(f"{signs!r} is no number")
    return int("".join(str(_DIGITS[sign]) for sign in signs))
