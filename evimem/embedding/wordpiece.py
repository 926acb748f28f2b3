"""WordPiece as in BERT uncased: characters cleaned and split into words, then the longest known pieces first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from weakref import WeakSet

UNKNOWN = "[UNK]"
_LONGEST_WORD = 100  # characters; BERT gives up on longer ones
_WORDS_KEPT = 50_000  # words; then it starts afresh, so that a long ingest stays small

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
_CONTROLS = {code: None for code in (*range(0x20), 0x7F) if chr(code) not in "\t\n\r"}
_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_WORDS_BEYOND_ASCII = re.compile(r"[^\s!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")
_FOLDS_KEPT = 1 << 16  # characters; a chat uses a few hundred, and a hostile text could name a million


class WordPiece:
    """Splits texts into pieces of a vocabulary; a piece that continues a word begins with ##.

    Safe to use from any thread.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._pieces = tuple(vocabulary)
        self._number = {piece: number for number, piece in enumerate(self._pieces)}
        if UNKNOWN not in self._number or len(self._number) != len(self._pieces):
            raise ValueError(
                f"a vocabulary needs {UNKNOWN!r} and no piece twice, got {len(self._pieces)} pieces, "
                f"{len(self._number)} distinct; give the vocabulary.txt that was written with the vectors"
            )
        self.unknown: int = self._number[UNKNOWN]
        self._longest_piece = max(map(len, self._pieces))
        self._known: dict[str, tuple[int, ...]] = {}
        _IN_USE.add(self)

    @classmethod
    def load(cls, path: Path) -> WordPiece:
        """Read a vocabulary file: one piece a line, numbered from 0."""
        return cls(path.read_text(encoding="utf-8").rstrip("\n").split("\n"))

    def __len__(self) -> int:
        return len(self._pieces)

    def ids(self, text: str) -> list[int]:
        """Return the numbers of the pieces of a text; `unknown` for a word that has none."""
        numbers: list[int] = []
        known = self._known
        for word in split_words(text):
            numbers += known.get(word) or self._learn(word)
        return numbers

    def tokens(self, text: str) -> list[str]:
        """Return the pieces of a text; [UNK] for a word that has none."""
        return self.pieces(self.ids(text))

    def pieces(self, numbers: Iterable[int]) -> list[str]:
        """Return the pieces of these numbers."""
        return [self._pieces[number] for number in numbers]

    def count(self, text: str) -> int:
        """Return how many pieces a text has."""
        return len(self.ids(text))

    def forget_words(self) -> None:
        """Drop the words that were split before: they are kept to split them faster."""
        self._known.clear()

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:  # never kept: its length is the writer's choice
            return (self.unknown,)
        if len(self._known) >= _WORDS_KEPT:
            self.forget_words()
        numbers = self._known[word] = self._split(word)
        return numbers

    def _split(self, word: str) -> tuple[int, ...]:
        numbers = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            reach = min(len(word), start + self._longest_piece - len(mark))
            for end in range(reach, start, -1):
                number = self._number.get(mark + word[start:end])
                if number is not None:
                    break
            else:
                return (self.unknown,)
            numbers.append(number)
            start = end
        return tuple(numbers)


_IN_USE: WeakSet[WordPiece] = WeakSet()


def forget_words() -> None:
    """Drop the words that any `WordPiece` of this process has kept."""
    for pieces in list(_IN_USE):
        pieces.forget_words()


def split_words(text: str) -> list[str]:
    """Return the words of a text: lower case, without accents, each punctuation mark and ideograph on its own."""
    pattern = _WORDS
    if not text.isascii():
        text = text.translate(_FOLDED)
        pattern = _WORDS_BEYOND_ASCII
    if not text.isprintable():
        text = text.translate(_CONTROLS)
    return pattern.findall(text.lower())


class _Folded(dict[int, str]):
    """A table for `str.translate` that folds each character beyond ASCII when it is first met, and leaves ASCII."""

    def __missing__(self, code: int) -> str:
        folded = chr(code) if code < 0x80 else _fold(chr(code))
        if len(self) < _FOLDS_KEPT:
            self[code] = folded
        return folded


_FOLDED = _Folded()


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
