"""Chat models and embedders behind any OpenAI-compatible endpoint: calls with deadlines, typed errors, redacted."""

from .chat_client import AsyncOpenAI, OpenAI
from .embedding_client import AsyncOpenAIEmbedder, OpenAIEmbedder

__all__ = ["AsyncOpenAI", "AsyncOpenAIEmbedder", "OpenAI", "OpenAIEmbedder"]
