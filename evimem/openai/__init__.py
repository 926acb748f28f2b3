"""Chat models and embedders behind any OpenAI-compatible endpoint: calls with deadlines, typed errors, redacted."""

from .clients import AsyncOpenAI, AsyncOpenAIEmbedder, OpenAI, OpenAIEmbedder

__all__ = ["AsyncOpenAI", "AsyncOpenAIEmbedder", "OpenAI", "OpenAIEmbedder"]
