"""`FastembedReranker`: a cross-encoder of fastembed, which runs on this machine by ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import MissingExtra


class FastembedReranker:
    """A `Reranker` that is a cross-encoder of fastembed.

        FastembedReranker("Xenova/ms-marco-MiniLM-L-6-v2")

    Args:
        model: The name of a model that fastembed lists, which it may download; or a `TextCrossEncoder` that you made.

    Raises:
        MissingExtra: The model is a name, and fastembed is not installed.
    """

    def __init__(self, model: Any) -> None:
        self._model = _load(model) if isinstance(model, str) else model

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the model's score of each text, larger is better."""
        return list(self._model.rerank(query, list(texts)))


def _load(name: str) -> Any:
    try:
        from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("FastembedReranker", "fastembed") from error
    return TextCrossEncoder(model_name=name)
