"""Folded text: lower case, straight apostrophes, plain hyphens and blanks, each character in its old place."""

from __future__ import annotations

_PLAIN = {"\u2019": "'", "\u2018": "'", "\u2013": "-", "\u2014": "-", "\u2011": "-", "\t": " ", "\u00a0": " "}
_FOLD = str.maketrans(_PLAIN)

LIMIT = 1 << 14  # characters of a text that are read, so that the work is bounded


def fold(text: str) -> str:
    """Return the text in lower case with plain quotes, hyphens and blanks, of the same length."""
    lower = text.lower()
    if text.isascii():
        return lower.replace("\t", " ")
    if len(lower) != len(text):  # a few capitals have lower-case forms of two characters
        lower = "".join(small if len(small := character.lower()) == 1 else character for character in text)
    return lower.translate(_FOLD)
