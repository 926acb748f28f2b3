"""Texts to unit vectors: the embedding evimem ships, and the door for any other."""

from .adapter import CallableEmbedder
from .checked import checked, checked_rows, failure
from .static import StaticEmbedder, count_tokens
from .wordpiece import WordPiece

__all__ = ["CallableEmbedder", "StaticEmbedder", "WordPiece", "checked", "checked_rows", "count_tokens", "failure"]
