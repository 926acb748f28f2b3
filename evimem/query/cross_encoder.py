"""`CrossEncoderReranker`: a cross-encoder of sentence-transformers, which runs on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import MissingExtra


class CrossEncoderReranker:
    """A `Reranker` that is a cross-encoder of sentence-transformers.

        CrossEncoderReranker("cross-encoder/ms-marco-MiniLM-L6-v2")

    Args:
        model: The name or path of a model with one score a pair, which sentence-transformers loads and may download;
            or a `CrossEncoder` that you made.

    Raises:
        MissingExtra: The model is a name, and sentence-transformers is not installed.
    """

    def __init__(self, model: Any) -> None:
        self._model = _load(model) if isinstance(model, str) else model

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the model's score of each text, larger is better."""
        scores: Sequence[float] = self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        return scores


def _load(name: str) -> Any:
    try:
        from sentence_transformers import CrossEncoder  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("CrossEncoderReranker", "sentence-transformers") from error
    return CrossEncoder(name)
