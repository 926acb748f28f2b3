"""Chat models and embedders behind any OpenAI-compatible endpoint: bounded calls, typed errors, no secret in sight."""

from .chat import AsyncOpenAI, OpenAI
from .embedding import AsyncOpenAIEmbedder, OpenAIEmbedder

__all__ = ["AsyncOpenAI", "AsyncOpenAIEmbedder", "OpenAI", "OpenAIEmbedder"]
