"""Any function from texts to rows as an embedder, and the check of every embedder's output before it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import DimensionMismatch, EmbedderError, EvimemError, InvalidQuery, shown
from ..protocols import AsyncEmbedder, Embedder
from ..types.vectors import Vectors


class CallableEmbedder:
    """An embedder from any function that turns a list of texts into one row of numbers each.

    The name is stored with the memory and compared when it is opened, so it must identify the model:

        CallableEmbedder(SentenceTransformer("all-MiniLM-L6-v2").encode, "all-MiniLM-L6-v2", 384)
        CallableEmbedder(TextEmbedding("BAAI/bge-small-en-v1.5").embed, "bge-small-en-v1.5", 384)    # fastembed

    evimem converts the rows to float32 and normalizes them to length 1. Rows of another number, width or with values
    that are not finite raise EmbedderError or DimensionMismatch; an exception of the function becomes an EmbedderError.

    Attributes:
        name: The name of the model, not empty.
        dimension: The number of values in a row, at least 1.
    """

    def __init__(self, function: Callable[[list[str]], Iterable[Any]], name: str, dimension: int) -> None:
        """Wrap a function.

        Args:
            function: Called with a list of texts; returns one row of `dimension` numbers per text, in order.
            name: The name of the model, not empty.
            dimension: The number of values in a row, at least 1.

        Raises:
            InvalidQuery: The name is no text or empty, the dimension no whole number from 1, or the function is none.
        """
        if not isinstance(name, str) or not name or not isinstance(dimension, int) or dimension < 1:
            raise InvalidQuery(f"expected a name and a positive dimension, got {shown(name)} and {shown(dimension)}")
        if not callable(function):
            raise InvalidQuery(f"function is of type {type(function).__name__}; expected a function of texts")
        self._function = function
        self.name = name
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the function's rows for `texts`, in order: shape (len(texts), dimension), unchecked."""
        rows = self._function(list(texts))
        return np.asarray(rows if isinstance(rows, np.ndarray) else list(rows))


def embed_checked(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed texts: one float32 unit row each, or a row of zeros. Raise EmbedderError or DimensionMismatch otherwise."""
    if not texts:
        return checked_rows(embedder, (), 0)
    try:
        rows = embedder.embed(texts)
    except EvimemError:
        raise
    except Exception as error:
        raise failure(embedder, error) from error
    return checked_rows(embedder, rows, len(texts))


def failure(embedder: Embedder | AsyncEmbedder, error: Exception) -> EmbedderError:
    """Return the error for an embedder that raised; its message stays in the cause, since it may quote a turn."""
    return EmbedderError(f"embedder {embedder.name!r} failed with {type(error).__name__}; its own error is the cause")


def checked_rows(embedder: Embedder | AsyncEmbedder, rows: Any, count: int) -> Vectors:
    """Return the embedder's rows for `count` texts, normalized; rows that are unit already stay as they are."""
    if count == 0:
        return np.zeros((0, embedder.dimension), dtype=np.float32)
    try:
        with np.errstate(over="ignore"):  # values beyond float32 become infinite and are refused below
            matrix: Vectors = np.asarray(np.asarray(rows), dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise _wrong_rows(embedder, "rows that are not numbers of one length", count) from error
    if matrix.ndim != 2 or len(matrix) != count:
        raise _wrong_rows(embedder, f"shape {matrix.shape!r}", count)
    if matrix.shape[1] != embedder.dimension:
        raise DimensionMismatch(matrix.shape[1], embedder.dimension)
    if not np.isfinite(matrix).all():
        raise _wrong_rows(embedder, "a value that is not finite", count)
    return _normalize(matrix)


def _normalize(matrix: Vectors) -> Vectors:
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))[:, None]
    # Rows whose length differs from 1 by less than 1e-5 stay as they are.
    unit = (np.abs(norms - 1) < 1e-5) | (norms == 0)
    return matrix if unit.all() else (matrix / np.where(unit, 1.0, norms)).astype(np.float32)


def _wrong_rows(embedder: Embedder | AsyncEmbedder, got: str, count: int) -> EmbedderError:
    return EmbedderError(
        f"embedder {embedder.name!r} returned {got}, expected {count} row(s) of {embedder.dimension} finite numbers; "
        "correct the embedder",
        retryable=False,
        of_texts=True,
    )
