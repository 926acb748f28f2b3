"""What BERT's uncased tokenizer makes of characters: drops some, strips accents, sets marks and ideographs apart."""

from __future__ import annotations

import re
import unicodedata

_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_CONTROLS = {code: None for code in (*range(0x20), 0x7F) if chr(code) not in "\t\n\r"}
_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_WORDS_BEYOND_ASCII = re.compile(r"[^\s!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")
_REMEMBERED = 20_000  # characters; a chat uses a few hundred, and a hostile text could name a million


def split_words(text: str) -> list[str]:
    """Return the words of a text: lower case, without accents, each punctuation mark and ideograph on its own."""
    pattern = _WORDS
    if not text.isascii():
        text = _BEYOND_ASCII.sub(_folded, text)
        pattern = _WORDS_BEYOND_ASCII
    if not text.isprintable():
        text = text.translate(_CONTROLS)
    return pattern.findall(text.lower())


def _folded(match: re.Match[str]) -> str:
    char = match[0]
    folded = _FOLDED.get(char)
    if folded is None:
        folded = _fold(char)
        if len(_FOLDED) < _REMEMBERED:
            _FOLDED[char] = folded
    return folded


_FOLDED: dict[str, str] = {}


def _fold(char: str) -> str:
    """Clean, strip, lower and space one character beyond ASCII; each alone, so that no sigma is a final one."""
    category = unicodedata.category(char)
    if char == "\N{REPLACEMENT CHARACTER}" or (category[0] == "C" and category != "Cn"):
        return ""
    letters = "".join(part for part in unicodedata.normalize("NFD", char) if unicodedata.category(part) != "Mn")
    folded = "".join(f" {part} " if unicodedata.category(part)[0] == "P" else part for part in letters.lower())
    return f" {folded} " if _is_ideograph(ord(char)) else folded


def _is_ideograph(code: int) -> bool:
    return any(first <= code <= last for first, last in _IDEOGRAPHS)
