"""Texts to unit vectors: the embedding evimem ships, and the door for any other."""

from .callable_embedder import CallableEmbedder
from .checked_embedder import checked, checked_rows, failure
from .static_embedder import StaticEmbedder, count_tokens
from .wordpiece import WordPiece

__all__ = ["CallableEmbedder", "StaticEmbedder", "WordPiece", "checked", "checked_rows", "count_tokens", "failure"]
