"""The default embedder: a mean of token vectors, no network and no model to run."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import EmbedderError
from ..types.vectors import Vectors
from .artifact import VOCABULARY, Quantized, digest_artifact, read_artifact
from .wordpiece import WordPiece

SHIPPED = Path(__file__).with_name("data") / "static-minilm-256.safetensors"
_SHIPPED_DIMENSION = 256
_SLICE = 4096  # tokens summed at once: a text of 1 MiB must not take 1 KiB a token


class StaticEmbedder:
    """Embeds a text as the normalized mean of its tokens' vectors.

    Without a path it is the embedding that evimem ships, read once a process, at the first text. With one it is
    another artifact of that format, named after its file and its content. Safe to use from any thread.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._table: _Table | None = None
        self.name: str = SHIPPED.stem
        self.dimension: int = _SHIPPED_DIMENSION
        if path is not None:
            self._table = _read_table(Path(path))
            self.name = f"{Path(path).stem}-{digest_artifact(Path(path))}"
            self.dimension = self._table.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), dimension), float32; a row of zeros for a text without a known token.

        Args:
            texts: Any number of texts of any length.
        """
        table = self._table or _shipped_table()
        return table.embed(texts)


def count_tokens(text: str) -> int:
    """Return how many tokens a text has, in the pieces of the shipped vocabulary: the unit of token budgets."""
    return _shipped_wordpiece().count(text)


class _Table:
    """Token vectors in memory, kept as int8: 7.7 MB instead of 30, and nothing to convert on loading."""

    def __init__(self, quantized: Quantized, wordpiece: WordPiece, path: Path) -> None:
        if len(wordpiece) != len(quantized.vectors):
            raise EmbedderError(
                f"{str(path)!r} has {len(quantized.vectors)} rows but its {VOCABULARY!r} {len(wordpiece)} pieces; "
                "keep the two files that were written together",
                retryable=False,
            )
        self.dimension = quantized.vectors.shape[1]
        self._vectors = quantized.vectors
        self._scale = quantized.scale[:, None].copy()
        self._scale[wordpiece.unknown] = 0  # an unknown word has no direction
        self._wordpiece = wordpiece

    def embed(self, texts: Sequence[str]) -> Vectors:
        sums = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for index, text in enumerate(texts):
            numbers = self._wordpiece.ids(text)
            for start in range(0, len(numbers), _SLICE):
                part = numbers[start : start + _SLICE]
                rows = self._vectors.take(part, axis=0) * self._scale.take(part, axis=0)
                sums[index] += np.add.reduce(rows, axis=0)
        norms = np.sqrt(np.add.reduce(sums * sums, axis=1, keepdims=True))
        sums /= np.where(norms > 0, norms, np.float32(1))
        return sums


def _read_table(path: Path) -> _Table:
    return _Table(read_artifact(path), _read_wordpiece(path), path)


def _read_wordpiece(path: Path) -> WordPiece:
    vocabulary = path.with_name(VOCABULARY)
    try:
        return WordPiece.load(vocabulary)
    except (OSError, ValueError) as error:
        raise EmbedderError(f"no vocabulary in {str(vocabulary)!r}: {error}", retryable=False) from error


_loading = threading.RLock()


def _shipped_table() -> _Table:
    with _loading:
        return _shipped_table_once()


def _shipped_wordpiece() -> WordPiece:
    with _loading:
        return _shipped_wordpiece_once()


@lru_cache(maxsize=1)
def _shipped_table_once() -> _Table:
    return _Table(read_artifact(SHIPPED), _shipped_wordpiece(), SHIPPED)


@lru_cache(maxsize=1)
def _shipped_wordpiece_once() -> WordPiece:
    return _read_wordpiece(SHIPPED)


def _renew_lock() -> None:
    global _loading  # noqa: PLW0603 - a fork may have copied it locked by a thread that the child does not have
    _loading = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
