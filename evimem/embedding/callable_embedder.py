"""Any function from texts to rows, as an embedder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidQuery, shown
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
