"""Texts to unit vectors: the embedding that evimem ships, and the check of any other."""

from .static_embedder import count_tokens

__all__ = ["count_tokens"]
