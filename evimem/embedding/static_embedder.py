"""The default embedder: a mean of token vectors, no network and no model to run.

Its file has int8 rows with one scale each, as safetensors, beside a vocabulary: row i of the embedding is
`vectors[i] * scale[i]`, for the piece on line i (from 0) of vocabulary.txt. Text is cut into pieces as in BERT uncased:
characters cleaned and split into words, then the longest known pieces first.
"""

from __future__ import annotations

import os
import re
import threading
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ..errors import EmbedderError
from ..types.vectors import Vectors

VOCABULARY = "vocabulary.txt"
LENGTH_BYTES = 8  # of the header of a safetensors file
TENSORS: dict[str, tuple[str, np.dtype[Any]]] = {"scale": ("F32", np.dtype("<f4")), "vectors": ("I8", np.dtype("i1"))}
UNKNOWN = "[UNK]"
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

SHIPPED = Path(__file__).with_name("data") / "static-minilm-256.safetensors"
_SLICE_TOKENS = 4096  # tokens summed at once: a text of 1 MiB must not take 1 KiB a token

_loading = threading.RLock()


@dataclass(frozen=True, slots=True)
class Quantized:
    """A matrix as one byte a value: row i is `vectors[i] * scale[i]`."""

    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]


def read_artifact(path: Path) -> Quantized:
    """Read the vectors that `scripts/distill_embedding.py` wrote. Raise EmbedderError."""
    try:
        data = path.read_bytes()
        start = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        header = orjson.loads(data[LENGTH_BYTES:start])
        found = {name: _read_tensor(header[name], memoryview(data)[start:], *kind) for name, kind in TENSORS.items()}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise _unreadable_error(path, error) from error
    return Quantized(found["vectors"], found["scale"])


def _read_tensor(entry: Mapping[str, Any], body: memoryview, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    first, end = entry["data_offsets"]
    if entry["dtype"] != name or end > len(body):
        raise ValueError(f"a tensor is {entry!r}, expected {name} within {len(body)} bytes")
    return np.frombuffer(body[first:end], dtype).reshape(entry["shape"])


def _unreadable_error(path: Path, error: Exception) -> EmbedderError:
    return EmbedderError(
        f"the embedding that evimem ships cannot be read from {str(path)!r}: {error}; install evimem again",
        retryable=False,
    )


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
            numbers += known.get(word) or self._split_and_cache(word)
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

    def _split_and_cache(self, word: str) -> tuple[int, ...]:
        # BERT reads a word of over 100 characters as unknown.
        if len(word) > 100:  # never kept: its length is the writer's choice
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


def forget_words() -> None:
    """Drop the words that `StaticEmbedder` and `count_tokens` have kept."""
    if _shipped_wordpiece.cache_info().currsize:
        _shipped_wordpiece().forget_words()


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
    return f" {folded} " if any(first <= ord(char) <= last for first, last in _IDEOGRAPHS) else folded


class StaticEmbedder:
    """Embeds a text as the normalized mean of its tokens' vectors.

    The embedding that evimem ships, read once a process, at the first text. Safe to use from any thread.
    """

    name: str = SHIPPED.stem
    dimension: int = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), dimension), float32; a row of zeros for a text without a known token.

        Args:
            texts: Any number of texts of any length.
        """
        with _loading:
            table, pieces = _shipped_table(), _shipped_wordpiece()
        sums = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for index, text in enumerate(texts):
            numbers = pieces.ids(text)
            for start in range(0, len(numbers), _SLICE_TOKENS):
                part = numbers[start : start + _SLICE_TOKENS]
                rows = table.vectors.take(part, axis=0) * table.scale.take(part, axis=0)
                sums[index] += np.add.reduce(rows, axis=0)
        norms = np.sqrt(np.add.reduce(sums * sums, axis=1, keepdims=True))
        sums /= np.where(norms > 0, norms, np.float32(1))
        return sums


def count_tokens(text: str) -> int:
    """Return how many tokens a text has, in the pieces of the shipped vocabulary: the unit of token budgets."""
    with _loading:
        pieces = _shipped_wordpiece()
    return pieces.count(text)


@lru_cache(maxsize=1)
def _shipped_table() -> Quantized:
    """Return the vectors of pieces, kept as int8: 7.7 MB instead of 30. The unknown one has no direction."""
    found = read_artifact(SHIPPED)
    scale = found.scale[:, None].copy()
    scale[_shipped_wordpiece().unknown] = 0
    return Quantized(found.vectors, scale)


@lru_cache(maxsize=1)
def _shipped_wordpiece() -> WordPiece:
    path = SHIPPED.with_name(VOCABULARY)
    try:
        return WordPiece.load(path)
    except (OSError, ValueError) as error:
        raise _unreadable_error(path, error) from error


def _renew_lock() -> None:
    global _loading  # noqa: PLW0603 - a fork may have copied it locked by a thread that the child does not have
    _loading = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
