"""Texts to unit vectors: the embedding evimem ships, and the door for any other."""

from .checked_embedder import CallableEmbedder, checked, checked_rows, failure
from .static_embedder import StaticEmbedder, WordPiece, count_tokens

__all__ = ["CallableEmbedder", "StaticEmbedder", "WordPiece", "checked", "checked_rows", "count_tokens", "failure"]
