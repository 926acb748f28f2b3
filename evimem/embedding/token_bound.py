"""How many tokens a text has at most, whichever of the common tokenizers reads it.

cl100k, o200k, Llama 3's and Qwen's split a text at words and merge bytes within them, so that a text costs no more than
its parts. The costs of the words of the shipped vocabulary and of each character, in the dearest of the four, stand in
`data/token_bounds.bin`, which `python -m benchmarks.token_bounds` writes. A word that is not there costs as much as its
parts do, a figure and a mark one each.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

FILE = Path(__file__).parent / "data" / "token_bounds.bin"
LISTED_CHARACTERS = 1 << 16  # the characters whose costs are listed, two bits each, after a byte a word
MAX_STRADDLED_CHARACTERS = 24  # characters in a row, of which a merge may straddle two
UNLISTED_COST = 255  # a word of which some form costs more than four tokens: its letters count
_PARTS = re.compile(
    r" ?[A-Za-z]+"  # a word
    r"|'(?:s|t|re|ve|m|ll|d)(?![A-Za-z])"
    r"| ?[!-/:-@\[-`{-~]{1,24}"  # marks
    rf"|[^\x00-\x7f]{{1,{MAX_STRADDLED_CHARACTERS}}}"
    r"|.",
    re.DOTALL,
)
_LETTERS = re.compile("(?:##)?[a-z]+")


def token_bound(text: str) -> int:
    """Return a number of tokens that no common tokenizer exceeds for a text."""
    return sum(map(_of_part, _PARTS.findall(text)))


@lru_cache(maxsize=1 << 13)  # the same few words make up most of a conversation
def _of_part(said: str) -> int:
    if not said.isascii():
        return sum(map(_costs().of_character, said)) + len(said) // MAX_STRADDLED_CHARACTERS
    if said[-1].isalpha():
        return 1 if said[0] == "'" else _costs().of_word(said)
    return len(said.lstrip(" ")) or 1


@dataclass(frozen=True, slots=True)
class _Costs:
    """The listed costs: a byte a piece of the vocabulary, two bits a character."""

    words: dict[str, int]
    characters: bytes

    def of_word(self, said: str) -> int:
        """Return the tokens that letters cost, a space before them included."""
        word = said.lstrip(" ")
        spaced, low = len(said) > len(word), word.lower()
        if word != low and word != low.capitalize():
            return len(word)
        cost = self._of_piece(low, (0 if spaced else 1) + (0 if word == low else 2))
        return cost if cost else self._of_parts(low, spaced=spaced, capital=word != low)

    def _of_piece(self, piece: str, form: int) -> int:
        listed = self.words.get(piece, UNLISTED_COST)
        return 0 if listed == UNLISTED_COST else (listed >> (2 * form) & 3) + 1

    def _of_parts(self, word: str, *, spaced: bool, capital: bool) -> int:
        total, start, cuts = 0, 0, 0
        while start < len(word):
            form = (0 if spaced else 1) + (2 if capital else 0) if start == 0 else 0
            for end in range(min(len(word), start + 18), start, -1):
                cost = self._of_piece(word[start:end] if start == 0 else f"##{word[start:end]}", form)
                if cost:
                    break
            else:
                end, cost = start + 1, 1
            total, start, cuts = total + cost, end, cuts + 1
        # A merge may straddle a cut and leave a rest on either side.
        least = -(-2 * len(word) // 5) + spaced
        return min(len(word) + spaced, max(total + (cuts > 1) + cuts // 3, least))

    def of_character(self, character: str) -> int:
        """Return the tokens that a character costs by itself."""
        code = ord(character)
        if code < LISTED_CHARACTERS:
            return (self.characters[code >> 2] >> (2 * (code & 3)) & 3) + 1
        # Emoji: three tokens at most, where other rare characters take four.
        return 3 if code in range(0x1F000, 0x1FB00) else 4


@cache
def _costs() -> _Costs:
    values = zlib.decompress(FILE.read_bytes())
    pieces = (FILE.parent / "vocabulary.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    words = {piece: value for piece, value in zip(pieces, values, strict=False) if _LETTERS.fullmatch(piece)}
    return _Costs(words, values[len(pieces) :])
