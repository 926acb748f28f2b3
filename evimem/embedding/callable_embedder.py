"""Any function from texts to rows, as an embedder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..types.vectors import Vectors


class CallableEmbedder:
    """Embeds with a function that turns a list of texts into one row each; evimem checks and normalizes the rows.

    The name is stored with the memory and compared when it is opened, so it must name the model:

        CallableEmbedder(SentenceTransformer("all-MiniLM-L6-v2").encode, "all-MiniLM-L6-v2", 384)
        CallableEmbedder(TextEmbedding("BAAI/bge-small-en-v1.5").embed, "bge-small-en-v1.5", 384)    # fastembed
    """

    def __init__(self, function: Callable[[list[str]], Iterable[Any]], name: str, dimension: int) -> None:
        if not name or dimension < 1:
            raise ValueError(f"expected a name and a positive dimension, got {name!r} and {dimension!r}")
        self._function = function
        self.name = name
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the function's rows, in the order of the texts."""
        rows = self._function(list(texts))
        return np.asarray(rows if isinstance(rows, np.ndarray) else list(rows))
