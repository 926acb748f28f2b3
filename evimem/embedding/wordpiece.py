"""WordPiece as BERT uncased has it: the longest known piece first, then the longest known continuation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from .character_classes import split_words

UNKNOWN = "[UNK]"
_LONGEST_WORD = 100  # characters; BERT gives up on longer ones
_REMEMBERED = 50_000  # words; then it starts afresh, so that a long ingest stays small


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
        self.unknown = self._number[UNKNOWN]
        self._longest_piece = max(map(len, self._pieces))
        self._known: dict[str, tuple[int, ...]] = {}

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

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:  # never kept: its length is the writer's choice
            return (self.unknown,)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
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
