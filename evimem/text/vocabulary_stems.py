"""The stems of the shipped embedding's vocabulary, computed once by scripts/stem_vocabulary.py.

Stemming its 22,000 words takes a third of a second, which the first question of every process would pay.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .terms import stem

TABLE = Path(__file__).with_name("data") / "vocabulary_stems.txt"


@cache
def vocabulary_stems() -> tuple[str, ...]:
    """Return the stem of each piece of the vocabulary, in its order; "" for a piece that is no word."""
    return tuple(TABLE.read_text(encoding="utf-8").removesuffix("\n").split("\n"))


def stem_pieces(pieces: Iterable[str]) -> list[str]:
    """Compute the table from the pieces of a vocabulary. Continuations ("##ing"), marks and numbers are no words."""
    return [stem(piece) if piece.isalpha() else "" for piece in pieces]
